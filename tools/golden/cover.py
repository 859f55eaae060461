"""tests/golden/cover.txt: density and coverage (5 neighbours), precision and recall (3) by the package prdc, of features that
tests/test_cover.c makes.

prdc 0.2, numpy 2.4.6 and scikit-learn 1.9.1 made the committed file. A line for each case: real and generated pictures,
columns, density, coverage, precision, recall."""
import os

import numpy as np
from prdc import compute_prdc

CASES = [(12, 12, 3), (40, 20, 8), (33, 70, 5), (150, 200, 16), (1000, 300, 4)]


def wave(n, d, a, b):
    i = np.arange(n * d, dtype=np.float64)
    return np.sin(a * i + b * i * i).astype(np.float32).reshape(n, d)


lines = []
for n, m, d in CASES:
    real, made = wave(n, d, 3, 0.01), np.float32(0.75) * wave(m, d, 5, 0.02) + np.float32(0.25)
    five, three = (compute_prdc(real.astype(np.float64), made.astype(np.float64), nearest_k=k) for k in (5, 3))
    lines.append([n, m, d, five["density"], five["coverage"], three["precision"], three["recall"]])
with open(os.path.join(os.path.dirname(__file__), "../../tests/golden/cover.txt"), "w") as f:
    for line in lines:
        f.write(" ".join(f"{v:.17g}" for v in line) + "\n")
