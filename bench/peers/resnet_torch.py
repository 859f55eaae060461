#!/usr/bin/env python3
"""PyTorch's times for bench/bench_model.c's rows: ResNet-18, channels last, on THREADS (default 2) threads: in fp32, eager, and
in bf16 (autocast), the faster of eager and compiled; ResNet-34 and AlexNet, in fp32.

    resnet_torch.py [THREADS] [--eager]    one line a row: op, case, median seconds, images a second; # what was timed
                                           --eager: nothing is compiled, as where PyTorch finds no C++ compiler
"""
import contextlib
import statistics
import sys
import time

import torch
from torch import nn
from torchvision.models import AlexNet
from torchvision.models.resnet import BasicBlock, ResNet

threads = [a for a in sys.argv[1:] if a != "--eager"]
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


def median(run, times=7):
    run(), run()
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def report(op, width, size, batch, seconds, more="", name=""):
    print(f"{op}\t{name}width {width}, {size} px, batch {batch}{more}\t{seconds:.4f}\t{batch / seconds:.1f}", flush=True)


def half(on):
    return torch.autocast("cpu", dtype=torch.bfloat16) if on else contextlib.nullcontext()


def times(net, size, batch, bf16, compiled):
    """Seconds of a training step and of a look."""
    run = torch.compile(net) if compiled else net
    x = torch.randn(batch, 3, size, size).to(memory_format=torch.channels_last)
    y = (torch.arange(batch) % 2).float()[:, None]
    rule = torch.optim.Adam(net.parameters(), 1e-4)

    def step():
        rule.zero_grad()
        with half(bf16):
            z = run(x)
        torch.nn.functional.binary_cross_entropy_with_logits(z.float(), y).backward()
        rule.step()

    def look():
        with torch.no_grad(), half(bf16):
            run(x)

    train = median(step)
    net.eval()
    return train, median(look)


print("# torch", torch.__version__, "threads", torch.get_num_threads())
for width, size, batch in ((64, 64, 64), (64, 224, 16), (32, 64, 64)):
    for bf16 in (False, True):
        seconds = []
        for compiled in (False, True)[:1 + COMPILES]:
            seconds.append(times(resnet(width), size, batch, bf16, compiled))
            print(f"# width {width}, {size} px, batch {batch}, {'bf16' if bf16 else 'fp32'}, "
                  f"{'compiled' if compiled else 'eager'}: train {seconds[-1][0]:.4f} s, look {seconds[-1][1]:.4f} s",
                  flush=True)
        for k, op in enumerate(("train", "infer")):
            report(op, width, size, batch, min(s[k] for s in seconds) if bf16 else seconds[0][k], ", bf16" if bf16 else "")
for make, name in (resnet34, "ResNet-34, "), (alexnet, "AlexNet, "):
    for width in 16, 32:
        for op, seconds in zip(("train", "infer"), times(make(width), 64, 64, False, False)):
            report(op, width, 64, 64, seconds, name=name)
