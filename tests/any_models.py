"""any_models.py FOLDER SEED [NET...]: small networks in the forms that --model takes, and torch's own numbers.

FOLDER gets net.ts, where this torch can net.pt2 and net.onnx, and weights.pt of torchvision's mobilenet_v3_small, all with 3
outputs; for each NET, "net" or "mobilenet", NET.e.npy and NET.z.npy, the input of the last linear layer and the logits for the
pictures below FOLDER/photos, of 64 pixels a side."""
import sys
import warnings
from pathlib import Path

import numpy as np
import torch
import torchvision
from PIL import Image

warnings.simplefilter("ignore")


class Net(torch.nn.Module):
    """Two linear layers behind a convolution: the embedding is the input of the second."""

    def __init__(self):
        super().__init__()
        self.conv, self.inner = torch.nn.Conv2d(3, 8, 5, stride=4), torch.nn.Linear(8, 12)
        self.head = torch.nn.Linear(12, 3)

    def forward(self, x):
        return self.head(torch.relu(self.inner(torch.relu(self.conv(x)).mean((2, 3)))))


def make(folder, seed):
    torch.manual_seed(seed)
    net, mobile, x = Net().eval(), torchvision.models.mobilenet_v3_small(num_classes=3).eval(), torch.randn(2, 3, 64, 64)
    torch.save(net.state_dict(), folder / "net.pt")
    torch.save(mobile.state_dict(), folder / "weights.pt")
    torch.save(mobile, folder / "pickle.pt")
    torch.jit.trace(net, x).save(str(folder / "net.ts"))
    names = {"input_names": ["x"], "output_names": ["logits"], "dynamic_axes": {"x": {0: "n"}, "logits": {0: "n"}}}
    try:
        torch.onnx.export(net, x, str(folder / "net.onnx"), **names, **({"dynamo": False} if hasattr(torch, "export") else {}))
    except Exception as e:                             # a torch that needs the package onnx for it
        print(f"no net.onnx: {e}")
    if hasattr(torch, "export"):
        n = torch.export.Dim("n", min=1, max=1024)
        torch.export.save(torch.export.export(net, (x,), dynamic_shapes=({0: n},)), folder / "net.pt2")
    photos, draw = folder / "photos", np.random.default_rng(3)
    for k in range(3):
        (photos / f"c{k}").mkdir(parents=True, exist_ok=True)
        for i in range(24):
            rgb = draw.integers(0, 128, (8, 8, 3)) + 100 * (np.arange(3) == k)
            Image.fromarray(rgb.astype(np.uint8).repeat(8, 0).repeat(8, 1)).save(photos / f"c{k}" / f"{i:02d}.png")


def look(name, folder):
    net = Net() if name == "net" else torchvision.models.mobilenet_v3_small(num_classes=3)
    net.load_state_dict(torch.load(folder / ("net.pt" if name == "net" else "weights.pt")))
    seen, last = [], [m for m in net.modules() if isinstance(m, torch.nn.Linear)][-1]
    last.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    rgb = np.stack([np.asarray(Image.open(p)) for p in sorted((folder / "photos").rglob("*.png"))])
    mean, std = (torch.tensor(v).view(3, 1, 1) for v in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
    with torch.no_grad():
        logits = net.eval()((torch.from_numpy(rgb).permute(0, 3, 1, 2).float() / 255 - mean) / std)
    np.save(folder / f"{name}.e.npy", seen[0].numpy())
    np.save(folder / f"{name}.z.npy", logits.numpy())


if __name__ == "__main__":
    make(Path(sys.argv[1]), int(sys.argv[2]))
    for net in sys.argv[3:]:
        look(net, Path(sys.argv[1]))
