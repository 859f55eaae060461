"""predictor_models.py FOLDER: networks whose running statistics and weights are none of the defaults, as PyTorch and as Spotter
keep them: narrow.pt and alexnet.pt, modules of width 16, wide.pt and deep.pt, the state dicts of torchvision's ResNet-18 and
ResNet-34; each as .safetensors."""
import sys

import torch
import torchvision

from network_models import save

sys.path.insert(0, "../tools/golden")
FOLDER, sys.argv = sys.argv[1], sys.argv[:1] + ["16", "64", "8", "5", "1", "1"]
import alexnet  # noqa: E402  (they read their sizes from the command line)
import resnet18  # noqa: E402


def unsettle(net, rate=0.05):
    """A few steps change every weight and every running statistic."""
    torch.manual_seed(1)
    rule = torch.optim.SGD(net.parameters(), rate)
    for _ in range(3):
        rule.zero_grad()
        net(torch.randn(8, 3, 64, 64)).square().mean().backward()
        rule.step()
    return net


narrow, wide = unsettle(resnet18.narrow(torch.float32)), unsettle(torchvision.models.resnet18(num_classes=7))
torch.save(narrow, f"{FOLDER}/narrow.pt")
deep, flat = unsettle(torchvision.models.resnet34(num_classes=7)), unsettle(alexnet.narrow(torch.float32), 0.001)
torch.save(wide.state_dict(), f"{FOLDER}/wide.pt")
torch.save(deep.state_dict(), f"{FOLDER}/deep.pt")
torch.save(flat, f"{FOLDER}/alexnet.pt")
for name, net in ("narrow", narrow), ("wide", wide), ("deep", deep), ("alexnet", flat):
    save(f"{FOLDER}/{name}.safetensors", net.state_dict())
