"""tests/golden/shifts.txt: impact and slope of shifts by numpy and SciPy, from the counts that tests/test_shifts.c makes.

For each of the axes linear, probit, logit and each shift: classes used, with too few pictures, with none; impact, slope,
intercept, correlation; the models' accuracies on the base and on the shift."""
import os

import numpy as np
from scipy.stats import linregress, norm

CLASSES, MODELS, SHIFTS, LEAST = 12, 7, 3, 5


def wave(i, a, b, most):
    return int(np.floor(abs(float(np.float32(np.sin(a * i + b * 0.01 * i * float(i))))) * 0.999 * most))


def counts(s):
    pictures = np.array([wave(k + 40 * s, 3, 1, 14) if s else 20 + k for k in range(CLASSES)])
    right = np.array([[wave(m * CLASSES + k + 7 * s, 5, 2 + s, pictures[k] + 1) for k in range(CLASSES)]
                      for m in range(MODELS)])
    return pictures, right


def limited(accuracy, n):
    return np.clip(accuracy, 0.5 / n, 1 - 0.5 / n)


axes = [lambda p, n: p, lambda p, n: norm.ppf(limited(p, n)), lambda p, n: np.log(limited(p, n) / (1 - limited(p, n)))]
base_pictures, base_right = counts(0)
lines = []
for place in axes:
    for s in range(1, SHIFTS + 1):
        pictures, right = counts(s)
        used = pictures >= LEAST
        base = (base_right[:, used] / base_pictures[used]).mean(1)
        shift = (right[:, used] / pictures[used]).mean(1)
        fit = linregress(place(base, base_pictures[used].sum()), place(shift, pictures[used].sum()))
        lines.append([used.sum(), ((pictures > 0) & ~used).sum(), (pictures == 0).sum(), (base - shift).mean(), fit.slope,
                      fit.intercept, fit.rvalue, *base, *shift])
with open(os.path.join(os.path.dirname(__file__), "../../tests/golden/shifts.txt"), "w") as f:
    for line in lines:
        f.write(" ".join(f"{v:.17g}" for v in line) + "\n")
