"""torch_to_report.py IMAGES REPORT: from a PyTorch classifier to a report. IMAGES holds a folder of pictures per class."""
import sys
import torch
from torchvision import datasets, models, transforms
from spotter import PlaneSpot

shape = transforms.Compose([transforms.Resize(64), transforms.CenterCrop(64), transforms.ToTensor()])
images = datasets.ImageFolder(sys.argv[1], shape)
model = models.resnet18(num_classes=len(images.classes)).eval()          # yours, trained
embed = torch.nn.Sequential(*list(model.children())[:-1], torch.nn.Flatten())
with torch.no_grad():
    features = torch.cat([embed(x) for x, _ in torch.utils.data.DataLoader(images, batch_size=64)])
    probs = model.fc(features).softmax(1)
paths, names = zip(*((path, images.classes[k]) for path, k in images.samples))
PlaneSpot(n_slices=10, reduce="pca").fit(features, names, probs, ids=paths, images=paths).report(sys.argv[2])
