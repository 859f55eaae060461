#!/usr/bin/env python3
"""PyTorch's times for bench/bench_model.c's rows: ResNet-18, channels last, on THREADS (default 2) threads, in fp32 and bf16
(autocast), eager and compiled; ResNet-34 and AlexNet, in fp32, eager.

    resnet_torch.py [THREADS] [--eager] [--rows]    a line a case: op, case, which PyTorch, median seconds
        --eager: nothing is compiled, as where PyTorch finds no C++ compiler
        --rows: ResNet-18 alone, in rounds (rounds.py)
"""
import contextlib
import sys

import torch
from torch import nn
from torchvision.models import AlexNet
from torchvision.models.resnet import BasicBlock, ResNet

import rounds

threads = [a for a in sys.argv[1:] if not a.startswith("--")]
torch.set_num_threads(int(threads[0]) if threads else 2)
COMPILES = hasattr(torch, "compile") and "--eager" not in sys.argv


def alexnet(w):
    net = AlexNet(num_classes=1)
    for i, layer in {0: nn.Conv2d(3, w, 11, 4, 2), 3: nn.Conv2d(w, 3 * w, 5, 1, 2), 6: nn.Conv2d(3 * w, 6 * w, 3, 1, 1),
                     8: nn.Conv2d(6 * w, 4 * w, 3, 1, 1), 10: nn.Conv2d(4 * w, 4 * w, 3, 1, 1)}.items():
        net.features[i] = layer
    for i, layer in {1: nn.Linear(144 * w, 64 * w), 4: nn.Linear(64 * w, 64 * w), 6: nn.Linear(64 * w, 1)}.items():
        net.classifier[i] = layer
    return net.to(memory_format=torch.channels_last)


def resnet(width, layers=(2, 2, 2, 2)):
    net = ResNet(BasicBlock, layers, num_classes=1)
    if width != 64:
        net.inplanes = width
        net.conv1 = torch.nn.Conv2d(3, width, 7, 2, 3, bias=False)
        net.bn1 = torch.nn.BatchNorm2d(width)
        for i in range(4):
            setattr(net, f"layer{i + 1}", net._make_layer(BasicBlock, width << i, layers[i], stride=1 if i == 0 else 2))
        net.fc = torch.nn.Linear(8 * width, 1)
    return net.to(memory_format=torch.channels_last)


def resnet34(width):
    return resnet(width, (3, 4, 6, 3))


def half(on):
    return torch.autocast("cpu", dtype=torch.bfloat16) if on else contextlib.nullcontext()


class Bench:
    """A network with its input and its rule: a training step and a look."""

    def __init__(self, net, size, batch, bf16, compiled):
        self.net, self.bf16, self.run = net, bf16, torch.compile(net) if compiled else net
        self.x = torch.randn(batch, 3, size, size).to(memory_format=torch.channels_last)
        self.y = (torch.arange(batch) % 2).float()[:, None]
        self.rule = torch.optim.Adam(net.parameters(), 1e-4)

    def step(self):
        self.net.train()
        self.rule.zero_grad()
        with half(self.bf16):
            z = self.run(self.x)
        torch.nn.functional.binary_cross_entropy_with_logits(z.float(), self.y).backward()
        self.rule.step()

    def look(self):
        self.net.eval()
        with torch.no_grad(), half(self.bf16):
            self.run(self.x)


def cases(rows):
    for width, size, batch in ((64, 64, 64), (64, 224, 16), (32, 64, 64)):
        for bf16 in (False, True):
            for compiled in (False, True)[:1 + COMPILES]:
                words = f"width {width}, {size} px, batch {batch}" + (", bf16" if bf16 else "")
                who = f"PyTorch, {'autocast, ' if bf16 else ''}{'compiled' if compiled else 'eager'}"
                yield words, who, Bench(resnet(width), size, batch, bf16, compiled)
    for make, name in () if rows else ((resnet34, "ResNet-34"), (alexnet, "AlexNet")):
        for width in 16, 32:
            yield f"{name}, width {width}, 64 px, batch 64", "PyTorch, eager", Bench(make(width), 64, 64, False, False)


def main():
    print("# torch", torch.__version__, "threads", torch.get_num_threads())
    rounds.play([(op, case, who, work) for case, who, bench in cases("--rows" in sys.argv)
                 for op, work in (("train", bench.step), ("infer", bench.look))])


main()
