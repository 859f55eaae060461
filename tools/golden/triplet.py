#!/usr/bin/env python3
"""The triplet loss of kernels/net/triplet.h and its gradient, by PyTorch's autograd in double precision, for
tests/test_triplet.c.

    triplet.py > tests/golden/triplet.txt

A case is a line: the margin, seven rows of five features, the loss (weight 0.5) and its gradient by the features. Classes are
0 1 0 2 0 1 0. In the second case the rows of a class are near, so that most triplets are satisfied.
"""
import numpy as np
import torch

CLASSES = torch.tensor([0, 1, 0, 2, 0, 1, 0])


def loss_of(f, margin):
    u = torch.nn.functional.normalize(f)
    apart = (u[:, None] - u[None]).square().sum(2)
    same = CLASSES[:, None] == CLASSES[None]
    excess = torch.relu(apart[:, :, None] - apart[:, None, :] + margin)
    valid = (same & ~torch.eye(7, dtype=bool))[:, :, None] & ~same[:, None, :]
    return 0.5 * excess[valid].mean()


print("# torch", torch.__version__)
rng = np.random.default_rng(3)
for margin, near in (0.2, 0), (0.2, 1), (1, 0):
    values = rng.normal(size=(7, 5)) + near * 4 * np.eye(5)[CLASSES.numpy()]
    f = torch.tensor(values.astype(np.float32).astype(np.float64), requires_grad=True)
    loss = loss_of(f, margin)
    loss.backward()
    print(margin, *(f"{v:.9g}" for v in f.detach().flatten()), f"{float(loss):.17g}",
          *(f"{v:.12g}" for v in f.grad.flatten()))
