#!/usr/bin/env python3
"""PyTorch's times for bench/bench_model.c's rows: ResNet-18, fp32, channels last, on THREADS (default 2) threads.

    resnet_torch.py [THREADS]      one line a row: op, case, median seconds, images a second
"""
import statistics
import sys
import time

import torch
from torchvision.models.resnet import BasicBlock, ResNet

torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 2)


def resnet(width):
    net = ResNet(BasicBlock, [2, 2, 2, 2], num_classes=1)
    if width != 64:
        net.inplanes = width
        net.conv1 = torch.nn.Conv2d(3, width, 7, 2, 3, bias=False)
        net.bn1 = torch.nn.BatchNorm2d(width)
        for i in range(4):
            setattr(net, f"layer{i + 1}", net._make_layer(BasicBlock, width << i, 2, stride=1 if i == 0 else 2))
        net.fc = torch.nn.Linear(8 * width, 1)
    return net.to(memory_format=torch.channels_last)


def median(run, times=7):
    run(), run()
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def report(op, width, size, batch, seconds):
    print(f"{op}\twidth {width}, {size} px, batch {batch}\t{seconds:.4f}\t{batch / seconds:.1f}", flush=True)


print("# torch", torch.__version__, "threads", torch.get_num_threads())
for width, size, batch in ((64, 64, 64), (64, 224, 16), (32, 64, 64)):
    net = resnet(width)
    x = torch.randn(batch, 3, size, size).to(memory_format=torch.channels_last)
    y = (torch.arange(batch) % 2).float()[:, None]
    rule = torch.optim.Adam(net.parameters(), 1e-4)

    def step():
        rule.zero_grad()
        torch.nn.functional.binary_cross_entropy_with_logits(net(x), y).backward()
        rule.step()

    def look():
        with torch.no_grad():
            net(x)

    report("train", width, size, batch, median(step))
    net.eval()
    report("infer", width, size, batch, median(look))
