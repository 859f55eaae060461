"""network_models.py FOLDER: for each line NAME of stdin a ResNet as its user has it, with random weights and random running
statistics: NAME.pt, the module as torch.save writes it, and NAME.safetensors, its tensors with that user's names and types.
NAME: a row of `cases`. It is said again when its files are there. PyTorch takes longer to start than to write a network."""
import sys

import torch
from torchvision.models import resnet
from torchvision.models.resnet import BasicBlock, Bottleneck, ResNet

import tensor_files

KINDS = {torch.float32: "F32", torch.float64: "F64", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64"}


def save(path, state):
    """As the safetensors package would."""
    raw = {k: v.contiguous().view(torch.int16) if v.dtype == torch.bfloat16 else v.contiguous() for k, v in state.items()}
    tensor_files.write(path, {k: (KINDS[v.dtype], v.shape, raw[k].numpy().tobytes()) for k, v in state.items()})


def unsettle(net):
    """No number stays at its default; activations stay near 1."""
    for m in net.modules():
        if isinstance(m, torch.nn.BatchNorm2d):
            m.running_mean.normal_(0, 0.2)
            m.running_var.uniform_(0.5, 2)
            torch.nn.init.uniform_(m.weight, 0.4, 0.9)
            torch.nn.init.normal_(m.bias, 0, 0.2)
    return net.eval()


def cifar(net):
    net.conv1, net.maxpool = torch.nn.Conv2d(3, 64, 3, 1, 1, bias=False), torch.nn.Identity()
    return net


def behind(net, head):
    net.fc = head
    return net


def numbered(net):
    return torch.nn.Sequential(*list(net.children())[:-1], torch.nn.Flatten(), net.fc)


class Tuned(torch.nn.Module):
    """A body without its head, and a head beside it."""

    def __init__(self, net, outputs):
        super().__init__()
        self.head = torch.nn.Linear(net.fc.in_features, outputs, bias=False)
        self.backbone = behind(net, torch.nn.Identity())

    def forward(self, x):
        return self.head(self.backbone(x))


def put(state, prefix):
    return {prefix + k: v for k, v in state.items()}


def cast(state, kind):
    return {k: v.to(kind) if v.is_floating_point() else v for k, v in state.items()}


def uncounted(state):
    return {k: v for k, v in state.items() if "num_batches" not in k}


def shortcuts(state):
    return {k.replace("downsample", "shortcut").replace("fc.", "linear."): v for k, v in state.items()}


# a network, and what its user's file makes of its state_dict
cases = {
    "resnet50": (lambda: resnet.resnet50(num_classes=11), dict),
    "resnet101": (lambda: resnet.resnet101(num_classes=3), lambda s: put(s, "_orig_mod.")),
    "resnet18": (lambda: behind(resnet.resnet18(), torch.nn.Sequential(torch.nn.Dropout(), torch.nn.Linear(512, 5))),
                 lambda s: put(uncounted(s), "module.")),
    "resnet34": (lambda: Tuned(resnet.resnet34(), 7), lambda s: cast(put(s, "model."), torch.float64)),
    "half": (lambda: resnet.resnet50(num_classes=4), lambda s: cast(put(s, "module._orig_mod."), torch.float16)),
    "bfloat": (lambda: resnet.resnet18(num_classes=4), lambda s: cast(put(s, "net."), torch.bfloat16)),
    "cifar": (lambda: cifar(resnet.resnet18(num_classes=10)), shortcuts),
    "wide": (lambda: resnet.wide_resnet50_2(num_classes=4), dict),
    "odd": (lambda: ResNet(Bottleneck, [1, 2, 1, 1], num_classes=6), dict),
    "shallow": (lambda: ResNet(BasicBlock, [3, 1, 2, 1], num_classes=6), dict),
    "numbered": (lambda: numbered(resnet.resnet18(num_classes=6)), dict),
}


def main(folder, name):
    torch.manual_seed(5)
    make, write = cases[name]
    net = unsettle(make())
    if name in ("half", "bfloat"):                 # the numbers that the file keeps
        net.load_state_dict(cast(cast(net.state_dict(), torch.float16 if name == "half" else torch.bfloat16), torch.float32))
    torch.save(net, f"{folder}/{name}.pt")
    save(f"{folder}/{name}.safetensors", write(net.state_dict()))


if __name__ == "__main__":
    import network_models                          # so that torch.load finds Tuned there

    for line in sys.stdin:
        network_models.main(sys.argv[1], line.strip())
        print(line.strip(), flush=True)
