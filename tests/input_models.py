"""input_models.py FOLDER NET:WAY...: small networks, pictures of many shapes, and what torch says of them where pictures enter
in another way than by default.

FOLDER gets resnet.safetensors and vit.safetensors, both of 2 outputs, three.safetensors of 3; net.pt, the ResNet as a module
for tools/python/examples/protocol.py that has the numbers of NUMBERS inside; photos/c0 and photos/c1.
WAY.e.npy and WAY.z.npy, of a vit vit_WAY, are features and logits by torchvision's transforms. WAY: a row of `ways`."""
import sys
from pathlib import Path

import numpy as np
import torch
import torchvision.transforms as T
from PIL import Image
from torchvision.models.resnet import BasicBlock, ResNet
from torchvision.transforms.functional import InterpolationMode, pil_to_tensor

import vit_models
from network_models import save, unsettle

NUMBERS = ((0.4, 0.5, 0.7), (0.2, 0.35, 0.6), 127.5)
IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225), 255)
VIT = (192, 2, 16, 4, 0, 1, False, 2)              # width, blocks, patch, patches a side, registers, placed, scale, outputs
linear, cubic = InterpolationMode.BILINEAR, InterpolationMode.BICUBIC

# the square, mean, std and scale
ways = {
    "own": (T.Compose([T.Resize(80, linear), T.CenterCrop(64)]), IMAGENET),
    "cropped": (T.Compose([T.Resize(80, cubic), T.CenterCrop(64)]), NUMBERS),
    "squeezed": (T.Resize((64, 64), linear), ((0,) * 3, (1,) * 3, 255)),
    "tight": (T.Compose([T.Resize(72, linear), T.CenterCrop(64)]), NUMBERS),
    "vit_own": (T.Compose([T.Resize(64, cubic), T.CenterCrop(64)]), IMAGENET),
}


def entered(x, numbers):
    """Bytes as floats (n, 3, side, side) -> the network's input."""
    mean, std = (torch.tensor(v, dtype=x.dtype).view(3, 1, 1) for v in numbers[:2])
    return (x / numbers[2] - mean) / std


class Rescaled(torch.nn.Module):
    """The network behind ImageNet's numbers, which protocol.py has taken."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        mean, std = (torch.tensor(v).view(3, 1, 1) for v in IMAGENET[:2])
        return self.net(entered(torch.round((x * std + mean) * 255), NUMBERS))


def photos(folder):
    files = sorted((folder / "photos").rglob("*.png"))
    return files, [Image.open(p).convert("RGB") for p in files]


def squares(folder, way):
    return torch.stack([pil_to_tensor(ways[way][0](p)) for p in photos(folder)[1]])


def look(folder, net, way):
    rgb, numbers = squares(folder, way), ways[way][1]
    if net == "vit":
        state = torch.load(folder / "vit.pt")
        # vit_models.look takes bytes less ImageNet's numbers: such bytes, not whole ones, that these numbers come out
        x, (mean, std, _) = entered(rgb.double(), numbers), IMAGENET
        mean, std = (torch.tensor(v, dtype=torch.float64).view(3, 1, 1) for v in (mean, std))
        return vit_models.look(state, ((x * std + mean) * 255).permute(0, 2, 3, 1), 3, VIT[2], VIT[5], "")
    model, seen = torch.load(folder / "net.pt").net, []
    model.fc.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    with torch.no_grad():
        logits = model(entered(rgb.float(), numbers))
    return seen[0], logits


def make(folder):
    draw = np.random.default_rng(4)
    for k in range(48):
        path = folder / "photos" / f"c{k // 24}" / f"{k:02d}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        high, wide = draw.integers(8, 20, 2)
        rgb = draw.integers(0, 256, (high, wide, 3)) * draw.uniform(0.2, 1, 3)
        Image.fromarray(rgb.astype(np.uint8).repeat(9, 0).repeat(9, 1)).save(path)
    torch.manual_seed(3)
    net = unsettle(ResNet(BasicBlock, [1, 1, 1, 1], num_classes=2))
    torch.save(Rescaled(net), folder / "net.pt")
    with torch.no_grad():                              # half of the answers are each class, and none is a tie
        gap = look(folder, "resnet", "cropped")[1]
        net.fc.bias[1] -= (gap[:, 1] - gap[:, 0]).quantile(0.5)
    torch.save(Rescaled(net), folder / "net.pt")
    save(folder / "resnet.safetensors", net.state_dict())
    save(folder / "three.safetensors", unsettle(ResNet(BasicBlock, [1, 1, 1, 1], num_classes=3)).state_dict())
    state = vit_models.make(*VIT, "")
    torch.save(state, folder / "vit.pt")
    save(folder / "vit.safetensors", state)


def main(folder, *looks):
    make(Path(folder))
    for net, way in (words.split(":") for words in looks):
        out = f"{folder}/vit_{way}" if net == "vit" else f"{folder}/{way}"
        feature, logit = look(Path(folder), net, way)
        np.save(f"{out}.e.npy", feature.float().numpy())
        np.save(f"{out}.z.npy", logit.float().numpy())


if __name__ == "__main__":
    import input_models                                # so that torch.load finds Rescaled there

    input_models.main(*sys.argv[1:])
