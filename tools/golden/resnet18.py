#!/usr/bin/env python3
"""What torchvision's ResNet-18, or 34, makes of weights and images that both sides compute from the same hash.

    resnet18.py [width size batch outputs batches steps [18|34]] > tests/golden/resnet18.txt
    resnet18.py 16 64 7 3 2 4 34 > tests/golden/resnet34.txt

Prints, in double precision: of `batches` batches the logits in training mode and of each gradient its root mean square
and 8 entries; losses of `steps` steps by Adam and by SGD, and logits in evaluation mode after them. The lines own.* tell
how far torchvision's single precision is from that: logits and worst gradient of each batch; losses and logits after training.
Default: width 16, size 64, batch 9, 1 output, 3 batches, 10 steps.
"""
import sys

import numpy as np
import torch
import torchvision
from torchvision.models.resnet import BasicBlock, ResNet

WIDTH, SIZE, BATCH, OUTPUTS, BATCHES, STEPS = (int(a) for a in (sys.argv[1:7] or (16, 64, 9, 1, 3, 10)))
KIND = f"resnet{sys.argv[7]}" if len(sys.argv) > 7 else "resnet18"
LAYERS = [3, 4, 6, 3] if KIND == "resnet34" else [2, 2, 2, 2]
ENTRIES, LR = 8, {"adam": 3e-4, "sgd": 2e-3}


def unit(tensor, count):
    """count numbers in [0, 1) that belong to a tensor's number: a 32-bit mix of tensor and index."""
    x = (np.arange(1, count + 1, dtype=np.uint64) * 2654435761 + (tensor + 1) * 2246822519) & 0xFFFFFFFF
    for shift, factor in ((15, 2246822519), (13, 3266489917)):
        x = ((x ^ (x >> np.uint64(shift))) * factor) & 0xFFFFFFFF
    return ((x ^ (x >> np.uint64(16))) / 2.0**32).astype(np.float64)


def narrow(precision):
    net = ResNet(BasicBlock, LAYERS, num_classes=OUTPUTS)
    net.inplanes = WIDTH
    net.conv1 = torch.nn.Conv2d(3, WIDTH, 7, 2, 3, bias=False)
    net.bn1 = torch.nn.BatchNorm2d(WIDTH)
    for i in range(4):
        setattr(net, f"layer{i + 1}", net._make_layer(BasicBlock, WIDTH << i, LAYERS[i], stride=1 if i == 0 else 2))
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
    return net.to(precision).to(memory_format=torch.channels_last)


def batch(step, precision):
    x = (4 * (unit(1000 + step, BATCH * SIZE * SIZE * 3) - 0.5)).astype(np.float32).reshape(BATCH, SIZE, SIZE, 3)
    y = (unit(2000 + step, BATCH * OUTPUTS) > 0.5).astype(np.float32).reshape(BATCH, OUTPUTS)
    return torch.from_numpy(x).permute(0, 3, 1, 2).to(precision), torch.from_numpy(y).to(precision)


def line(name, values):
    print(name, *(f"{float(v):.9g}" for v in values))


LOSS = torch.nn.functional.binary_cross_entropy_with_logits


def gradients(precision):
    """Of each batch: its logits, then of each parameter the gradient's root mean square and entries."""
    net = narrow(precision)
    for step in range(BATCHES):
        x, y = batch(step, precision)
        net.zero_grad()
        logits = net(x)
        LOSS(logits, y).backward()
        yield "logits", logits.detach().flatten().double()
        for name, p in net.named_parameters():
            g = p.grad.contiguous().flatten().double()
            at = torch.arange(ENTRIES) * (g.numel() - 1) // (ENTRIES - 1)
            yield name, torch.cat((g.square().mean().sqrt()[None], g[at]))


def train(kind, precision):
    """The losses, and the logits after them."""
    net = narrow(precision)
    rule = (torch.optim.Adam(net.parameters(), LR[kind]) if kind == "adam"
            else torch.optim.SGD(net.parameters(), LR[kind], momentum=0.9, weight_decay=1e-4))
    losses = []
    for step in range(STEPS):
        x, y = batch(step, precision)
        rule.zero_grad()
        loss = LOSS(net(x), y)
        loss.backward()
        rule.step()
        losses.append(float(loss))
    net.eval()
    with torch.no_grad():
        return torch.tensor(losses).double(), net(batch(0, precision)[0]).flatten().double()


def of_scale(got, want):
    return (got - want).abs().max() / want.abs().max()


def of_gradient(got, want):
    """What test_resnet.c's off_gradient computes."""
    return max((got - want)[1:].square().mean().sqrt() / want[0], abs(got[0] / want[0] - 1))


def main():
    print("# torch", torch.__version__, "torchvision", torchvision.__version__)
    print(WIDTH, SIZE, BATCH, OUTPUTS, STEPS, BATCHES, *([] if KIND == "resnet18" else [KIND]))
    wanted = list(gradients(torch.float64))
    pairs = [(name, got, want) for (_, got), (name, want) in zip(gradients(torch.float32), wanted)]
    each = len(pairs) // BATCHES
    line("own.logits", (of_scale(got, want) for name, got, want in pairs[::each]))
    line("own.gradients", (max(of_gradient(got, want) for _, got, want in pairs[b * each + 1:(b + 1) * each])
                           for b in range(BATCHES)))
    for name, want in wanted:
        line(name, want)
    for kind in ("adam", "sgd"):
        (losses, logits), (own, own_logits) = train(kind, torch.float64), train(kind, torch.float32)
        line("own." + kind, ((own / losses - 1).abs().max(), of_scale(own_logits, logits)))
        line(kind, losses)
        line(kind + "_eval", logits)


if __name__ == "__main__":
    main()
