#!/usr/bin/env python3
"""Losses of torchvision's ResNet-18, width 16, by softmax cross-entropy on eight pictures of four classes, as
spot_model_train_pixels trains it; weights are those of resnet18.py.

    softmax.py > tests/golden/softmax.txt

Prints, in double precision, the losses of six steps by Adam, SGD and RMSprop, and by Adam with a triplet loss on the features
(weight 0.5, margin 0.2) and against FGSM (4/256); each line ends with the greatest relative error of PyTorch's single
precision.
"""
import sys

import numpy as np
import torch

ARGUMENTS, sys.argv = sys.argv, sys.argv[:1] + ["16", "64", "8", "4", "1", "6"]
import resnet18  # noqa: E402  (it reads its sizes from the command line)


def pictures(precision):
    rgb = np.floor(256 * resnet18.unit(3000, 8 * 64 * 64 * 3)).reshape(8, 64, 64, 3)
    x = (rgb / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    return torch.from_numpy(x).permute(0, 3, 1, 2).to(precision), torch.arange(8) % 4


def triplets(f, y):
    u = torch.nn.functional.normalize(f)
    apart = (u[:, None] - u[None]).square().sum(2)
    same = y[:, None] == y[None]
    valid = (same & ~torch.eye(len(y), dtype=bool))[:, :, None] & ~same[:, None, :]
    return torch.relu(apart[:, :, None] - apart[:, None, :] + 0.2)[valid].mean()


def attack(net, x, y):
    """FGSM on pixel values, which stay in [0, 1]; the running statistics are put back."""
    state = {k: v.clone() for k, v in net.state_dict().items()}
    mean, std = (torch.tensor(v, dtype=x.dtype)[:, None, None] for v in ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]))
    moved = x.clone().requires_grad_()
    slope, = torch.autograd.grad(torch.nn.functional.cross_entropy(net(moved), y), moved)
    net.load_state_dict(state)
    return ((x * std + mean + 4 / 256 * slope.sign()).clamp(0, 1) - mean) / std


def train(kind, precision):
    net = resnet18.narrow(precision)
    rule = (torch.optim.SGD(net.parameters(), 2e-3, momentum=0.9, weight_decay=1e-4) if kind == "sgd"
            else torch.optim.RMSprop(net.parameters(), 1e-4) if kind == "rmsprop"
            else torch.optim.Adam(net.parameters(), 3e-4))
    x, y = pictures(precision)
    features = []
    net.avgpool.register_forward_hook(lambda _, __, out: features.append(out.flatten(1)))
    losses = []
    for _ in range(6):
        moved = attack(net, x, y) if kind == "fgsm" else x
        rule.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(moved), y)
        if kind == "triplet":
            loss = loss + 0.5 * triplets(features[-1], y)
        loss.backward()
        rule.step()
        losses.append(float(loss))
    return np.array(losses)


print("# torch", torch.__version__)
for kind in ("adam", "sgd", "rmsprop", "triplet", "fgsm"):
    want, own = train(kind, torch.float64), train(kind, torch.float32)
    print(kind, *(f"{v:.10g}" for v in want), f"{np.abs(own / want - 1).max():.2g}")
