"""Writes tests/golden/trust_region.txt: the trust region of TuRBO-1 (Eriksson et al. 2019, section 2 and appendix), in NumPy.

    trust_region.py OUT_DIR

It minimises, as the paper does; the test negates. Per walk: dims, batch, successes, failures in a row; first best
value; number of batches; per batch its least value, then side, best and 1, or 0 where the region ends; center, length
scales, low and high ends of the box (dims each) at the last side.
"""
import sys

import numpy as np

r = np.random.RandomState(4)
out = []


def walk(dims, batch, chance, steps):
    successes, failures = 3, int(np.ceil(max(4 / batch, dims / batch)))
    length, least, most = 0.8, 0.5 ** 7, 1.6
    best, good, bad = 2.0, 0, 0
    rows = []
    for _ in range(steps):
        value = best - 0.02 * r.rand() if r.rand() < chance else best + r.rand() - 0.0005
        if value < best - 1e-3 * abs(best):
            good, bad = good + 1, 0
        else:
            good, bad = 0, bad + 1
        if good == successes:
            length, good = min(2 * length, most), 0
        elif bad == failures:
            length, bad = length / 2, 0
        best = min(best, value)
        rows.append([value, length, best, float(length >= least)])
        if length < least:
            break
    center, scale = r.rand(dims), np.exp(r.randn(dims))
    weight = scale / scale.mean()
    weight = weight / np.prod(weight ** (1.0 / dims))
    low, high = (np.clip(center + s * weight * length / 2, 0, 1) for s in (-1, 1))
    out.extend([dims, batch, successes, failures, 2.0, len(rows), *np.ravel(rows), *center, *scale, *low, *high])


walk(3, 10, 0.5, 40)
walk(9, 10, 0.8, 40)
walk(9, 1, 0.3, 120)
walk(12, 5, 0.1, 40)
with open(sys.argv[1] + "/trust_region.txt", "w") as f:
    f.write("".join(f"{v:.17g}\n" for v in out))
