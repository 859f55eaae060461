#!/usr/bin/env python3
"""Spotlight's time in PyTorch for what `spotter bench spotlight` does, on the same rows and threads.

    spotlight_torch.py [threads] [UPSTREAM]

With UPSTREAM, a folder with the official repository (gregdeon/spotlight), its own run_spotlight is timed; without, the same
step as it stands there, in our words: the distances by way of a d x d precision matrix, gradients by autograd, Adam, the
plateau rule. Every step costs the same, so 40 are timed, after 20, and the time of ten spotlights of 1,000 is given. Needs
python3-torch (1.13 was measured).
"""
import contextlib
import io
import os
import sys
import time

import numpy as np

N, D, GROUPS, STEPS, LIGHTS, WARM, TIMED = 3200, 512, 16, 1000, 10, 20, 40


def rows():
    """bench_spotlight.c: fill"""
    i, j = np.arange(N)[:, None], np.arange(D)[None]
    g = i % GROUPS
    x = 2 * ((g + 1) * (j + 1) * 0.6180339887 % 1) + (i + 1) * (j + 1) * 0.7548776662 % 1
    p = 1 / (1 + np.exp(3 - 0.5 * g - (i + 1) * 0.5698402910 % 1))
    return x.astype("f4"), -np.log(p[:, 0]).astype("f4")


def official(upstream, x, loss, schedule):
    sys.path.insert(0, upstream)
    from torch_spotlight.spotlight import run_spotlight

    with contextlib.redirect_stdout(io.StringIO()):
        run_spotlight(x, loss, 0.01 * N, True, schedule, 1, 1e-2)


def ours(x, loss, schedule):
    import torch

    x, loss, least = torch.tensor(x), torch.tensor(loss), 0.01 * N
    mean, a = torch.zeros(D, requires_grad=True), torch.tensor(np.log(1e-4), requires_grad=True)
    adam = torch.optim.Adam([mean, a], lr=1e-2)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(adam, factor=0.5, patience=20)
    for width in schedule:
        adam.zero_grad()
        off = x - mean
        far = torch.sum((off @ (torch.eye(D) * torch.exp(a))) * off, axis=1)
        k = torch.clamp(1 - far, min=0)
        total = k.sum()
        objective = (k / total) @ loss
        if total < least + width:
            objective = objective - (total - least - width) ** 2 / width ** 2
        (-objective).backward()
        adam.step()
        plateau.step(-objective.detach())


def main():
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    upstream = sys.argv[2] if len(sys.argv) > 2 else os.environ.get("SPOTLIGHT_UPSTREAM")
    try:
        import torch
    except ImportError:
        sys.exit("spotlight_torch.py needs PyTorch: apt install python3-torch")
    torch.set_num_threads(threads)
    x, loss = rows()
    schedule = np.geomspace(0.99 * N, 0.05 * 0.01 * N, STEPS)
    took = []
    for count in (WARM, WARM + TIMED):
        start = time.perf_counter()
        if upstream:
            official(upstream, x, loss, schedule[:count])
        else:
            ours(x, loss, schedule[:count])
        took.append(time.perf_counter() - start)
    each = (took[1] - took[0]) / TIMED
    what = "official code" if upstream else "the official step in our words"
    print(f"PyTorch {torch.__version__}, {what}: {1e3 * each:.2f} ms a step, ten spotlights of {STEPS}: "
          f"{each * STEPS * LIGHTS:.1f} s")


if __name__ == "__main__":
    main()
