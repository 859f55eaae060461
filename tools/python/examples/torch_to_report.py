"""torch_to_report.py IMAGES REPORT: from a PyTorch classifier to a report. IMAGES holds a folder of pictures per class."""
import sys
import torch
from torchvision import datasets, models, transforms
import spotter

shape = transforms.Compose([transforms.Resize(64), transforms.CenterCrop(64), transforms.ToTensor(),
                            transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))])     # as in training
images = datasets.ImageFolder(sys.argv[1], shape)
model = models.resnet18(num_classes=len(images.classes)).eval()          # yours, trained
seen = spotter.look(model, torch.utils.data.DataLoader(images, batch_size=64))
found = spotter.discover(*seen)
print(found)
found.report(sys.argv[2])
