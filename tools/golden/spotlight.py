"""Writes tests/golden/spotlight.bin: traces of the official Spotlight code (gregdeon/spotlight) on a view of a real EC.

    spotlight.py UPSTREAM VIEW.npz OUT

UPSTREAM holds the official repository (torch_spotlight/); VIEW has feature (n, d) and confidence (n) of one EC. The
committed file was made by commit 0480c37 with PyTorch 1.13, from the first 240 rows and the 32 columns of greatest variance.
The code runs as it is, but in double precision, for in single its sums' noise moves steps of the learning rate; with the
older Gaussian kernel where a case says so (it is still in the file, unused); and, with full precision, with the singular
vectors under the name that this PyTorch gives them and without the random noise that is added to V before.

Few rows under a spotlight, long steps and full precision make the iteration chaotic: features changed by 1e-15 then change
the official code's own trace by 1e-3. The cases were chosen where it is not.

Little endian. int32 n, d, cases; float32 x (n, d); float64 loss (n). Per case int32 kernel (0 Gaussian, 1 compact), full,
steps, patience, every, after: the case by whose final weights k the losses were multiplied first, 1 - k / max k (-1: none);
float64 min_weight, learning rate; (steps, 3) objective, total weight, learning rate; for each `every` steps weights (n).
"""
import contextlib
import io
import sys

import numpy as np
import torch

ROWS, COLUMNS, EVERY = 240, 32, 200
CASES = [   # kernel, full, steps, patience, rate, min_weight, after
    ("gaussian", 0, 1000, 10, 1e-2, 0.02, -1), ("compact", 0, 1000, 10, 4e-3, 0.05, -1),
    ("gaussian", 0, 1000, 20, 5e-3, 0.05, 0), ("compact", 0, 1000, 20, 1e-3, 0.05, 1),
    ("gaussian", 1, 400, 10, 2e-3, 0.05, -1), ("compact", 1, 400, 10, 2e-3, 0.05, -1)]


def with_old_name(svd):
    def call(a):
        u, s, vh = svd(a)
        return type("Svd", (), {"U": u, "S": s, "V": vh})
    return call


def run(spotlight, x, loss, kernel, full, steps, patience, rate, least):
    """The official trace, and the weights each time that it prints."""
    seen = []
    weights = spotlight.md_adversary_weights

    def noted(*args):
        out = weights(*args)
        seen.append(out[1].detach().numpy().copy())
        return out

    spotlight.squared_distance_kernel = spotlight.gaussian_probs if kernel == "gaussian" else compact
    spotlight.md_adversary_weights = noted
    schedule = np.geomspace(len(x) - least, 0.05 * least, steps)
    with contextlib.redirect_stdout(io.StringIO()):
        _, last, objective, total, rates, _, _ = spotlight.run_spotlight(
            x, loss, least, not full, schedule, 1, rate, scheduler_patience=patience, print_every=EVERY)
    spotlight.md_adversary_weights = weights
    each = EVERY + 1    # once a step, and once more where it prints
    printed = [seen[(k + 1) * each - 1] for k in range(steps // EVERY)]
    assert len(seen) == steps + steps // EVERY and np.array_equal(printed[-1], last)
    return np.stack([objective, total, rates], 1), printed


upstream, view, path = sys.argv[1:]
sys.path.insert(0, upstream)
from torch_spotlight import spotlight  # noqa: E402

compact = spotlight.squared_distance_kernel
torch.set_default_dtype(torch.float64)
torch.linalg.svd = with_old_name(torch.linalg.svd)
torch.rand = lambda *shape, device=None: torch.zeros(*shape)
v = np.load(view)
column = np.sort(np.argsort(-v["feature"].var(0))[:COLUMNS])
x = v["feature"][:ROWS, column].astype("f4")
first = -np.log(np.maximum(v["confidence"][:ROWS].astype(float), 1e-7))
final = []
with open(path, "wb") as out:
    def put(a, kind):
        out.write(np.asarray(a, kind).tobytes())

    put([ROWS, COLUMNS, len(CASES)], "<i4")
    put(x, "<f4")
    put(first, "<f8")
    for kernel, full, steps, patience, rate, fraction, after in CASES:
        loss = first if after < 0 else first * (1 - final[after] / final[after].max())
        trace, printed = run(spotlight, x.astype(float), loss, kernel, full, steps, patience, rate, fraction * ROWS)
        final.append(printed[-1])
        put([kernel == "compact", full, steps, patience, EVERY, after], "<i4")
        put([fraction, rate], "<f8")
        put(trace, "<f8")
        put(printed, "<f8")
        print(kernel, full, trace[-1], len(np.unique(trace[:, 2])))
