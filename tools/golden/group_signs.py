"""Writes tests/golden/group_signs.txt: the p of sums by the signs of their groups' parts, by numpy, all signs looked at.

    group_signs.py OUT_DIR

Per case: rows, groups; of each row its group and its value; P(sum with random signs >= sum), P(<=); the mean per row and its
95 % interval by Student's t of the groups' parts, cut at -1 and 1 (scipy.stats.t's quantile).
"""
import sys
from itertools import product

import numpy as np
from scipy.stats import t

rng, out = np.random.default_rng(7), []
for m, rows, rate in ((1, 5, 0.2), (2, 8, 0.25), (4, 20, 0.2), (5, 5, None), (7, 60, 0.3), (12, 200, 0.15), (16, 90, 0.4)):
    group = np.concatenate([np.arange(m), rng.integers(0, m, rows - m)])
    if rate is None:
        value = np.array([1, -1, 1, 0, 1.0])               # one part is 0, and sums are equal
    else:
        value = (rng.random(rows) < rate + 0.3 * (group % 3 == 0)) - rate
    part = np.bincount(group, value, m)
    sums = np.array(list(product((-1, 1), repeat=m))) @ part
    near = 1e-9 * np.abs(part).sum()
    mean, low, high = value.mean(), -1.0, 1.0
    if m > 1:
        n = np.bincount(group, minlength=m)
        half = t.ppf(0.975, m - 1) * np.sqrt(m / (m - 1) * ((part - mean * n) ** 2).sum()) / rows
        low, high = max(-1, mean - half), min(1, mean + half)
    out += [rows, m, *np.column_stack([group, value]).ravel(), (sums >= part.sum() - near).mean(),
            (sums <= part.sum() + near).mean(), mean, low, high]
with open(f"{sys.argv[1]}/group_signs.txt", "w") as f:
    f.writelines(f"{v:.17g}\n" for v in out)
