#!/usr/bin/env python3
"""What torchvision's ResNet-18 makes of weights and images that both sides compute from the same hash.

    resnet18.py [width size batch outputs precision] > tests/golden/resnet18.txt

Prints logits in training mode, the loss, three entries and the norm of each gradient, ten losses by Adam and by SGD,
and logits in evaluation mode after them. Default: width 16, size 64, batch 9, 1 output, double precision.
"""
import sys

import numpy as np
import torch
import torchvision
from torchvision.models.resnet import BasicBlock, ResNet

WIDTH, SIZE, BATCH, OUTPUTS = (int(a) for a in (sys.argv[1:5] or (16, 64, 9, 1)))
TYPE = torch.float32 if sys.argv[5:] == ["float"] else torch.float64
STEPS, LR = 10, {"adam": 3e-4, "sgd": 2e-3}


def unit(tensor, count):
    """count numbers in [0, 1) that belong to a tensor's number: a 32-bit mix of tensor and index."""
    x = (np.arange(1, count + 1, dtype=np.uint64) * 2654435761 + (tensor + 1) * 2246822519) & 0xFFFFFFFF
    for shift, factor in ((15, 2246822519), (13, 3266489917)):
        x = ((x ^ (x >> np.uint64(shift))) * factor) & 0xFFFFFFFF
    return ((x ^ (x >> np.uint64(16))) / 2.0**32).astype(np.float64)


def narrow():
    net = ResNet(BasicBlock, [2, 2, 2, 2], num_classes=OUTPUTS)
    net.inplanes = WIDTH
    net.conv1 = torch.nn.Conv2d(3, WIDTH, 7, 2, 3, bias=False)
    net.bn1 = torch.nn.BatchNorm2d(WIDTH)
    for i in range(4):
        setattr(net, f"layer{i + 1}", net._make_layer(BasicBlock, WIDTH << i, 2, stride=1 if i == 0 else 2))
    net.fc = torch.nn.Linear(8 * WIDTH, OUTPUTS)
    for t, (name, value) in enumerate(net.state_dict().items()):
        if not value.dtype.is_floating_point or "running" in name:
            continue
        u = unit(t, value.numel())
        if value.dim() == 4:
            u = (2 * u - 1) * np.sqrt(6 / (value.shape[0] * value.shape[2] * value.shape[3]))
        elif name.startswith("fc"):
            u = (2 * u - 1) / np.sqrt(8 * WIDTH)
        else:
            u = (name.endswith("weight")) + 0.4 * (u - 0.5)
        value.copy_(torch.from_numpy(u.astype(np.float32)).reshape(value.shape))
    return net.to(TYPE).to(memory_format=torch.channels_last)


def batch(step):
    x = (4 * (unit(1000 + step, BATCH * SIZE * SIZE * 3) - 0.5)).astype(np.float32).reshape(BATCH, SIZE, SIZE, 3)
    y = (unit(2000 + step, BATCH * OUTPUTS) > 0.5).astype(np.float32).reshape(BATCH, OUTPUTS)
    return torch.from_numpy(x).permute(0, 3, 1, 2).to(TYPE), torch.from_numpy(y).to(TYPE)


def line(name, values):
    print(name, *(f"{float(v):.9g}" for v in values))


def main():
    loss_of = torch.nn.functional.binary_cross_entropy_with_logits
    print("# torch", torch.__version__, "torchvision", torchvision.__version__, TYPE)
    print(WIDTH, SIZE, BATCH, OUTPUTS, STEPS)
    net = narrow()
    x, y = batch(0)
    logits = net(x)
    loss_of(logits, y).backward()
    line("logits", logits.flatten())
    for name, p in net.named_parameters():
        g = p.grad.flatten() if p.dim() != 4 else p.grad.contiguous().flatten()
        n = g.numel()
        line(name, (g.double().norm(), g[0], g[n // 2], g[n - 1]))
    for kind in ("adam", "sgd"):
        net = narrow()
        rule = (torch.optim.Adam(net.parameters(), LR[kind]) if kind == "adam"
                else torch.optim.SGD(net.parameters(), LR[kind], momentum=0.9, weight_decay=1e-4))
        losses = []
        for step in range(STEPS):
            x, y = batch(step)
            rule.zero_grad()
            loss = loss_of(net(x), y)
            loss.backward()
            rule.step()
            losses.append(loss)
        line(kind, losses)
        net.eval()
        with torch.no_grad():
            line(kind + "_eval", net(batch(0)[0]).flatten())


main()
