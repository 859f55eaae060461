"""Writes tests/golden/planespot.bin: what PlaneSpot's recipe gives with scikit-learn's mixture on a planted map.

    planespot.py OUT      (scikit-learn 1.2.1 made the committed file)

Six groups on a map, each with its own confidence. The mixture starts at random here and elsewhere there,
so the script insists that five seeds give the same clusters; then the answer does not depend on the start. Little endian:
int32 n; float32 map (n, 2), confidence (n); int32 variants; per variant int32 norm, order, k_min, k_max, hypotheses; per
hypothesis float64 score, mean error, int32 size, rows.
"""
import sys
import warnings

import numpy as np
from sklearn.mixture import GaussianMixture

MINMAX, RELEASED, SOFT, HARD = 0, 1, 0, 1
VARIANTS = [(MINMAX, SOFT, 1, 12), (MINMAX, HARD, 1, 12), (RELEASED, SOFT, 1, 12), (MINMAX, SOFT, 4, 12)]
TOP = 10


def hypotheses(at, confidence, norm, order, k_min, k_max, seed):
    low, high = at.min(0).astype(float), at.max(0).astype(float)
    plane = ((at - low) / (high if norm == RELEASED else high - low)).astype("f4")
    x = np.c_[plane, (0.025 * confidence.astype(float)).astype("f4")].astype(float)
    fits = [GaussianMixture(k, random_state=seed).fit(x) for k in range(k_min, k_max + 1)]
    label = min(fits, key=lambda g: g.bic(x)).predict(x)
    found = []
    for k in range(label.max() + 1):
        rows = np.flatnonzero(label == k)
        if not len(rows):
            continue
        error = 1 - confidence[rows].astype(float)
        ranked = (confidence[rows] < 0.5).mean() if order == HARD else error.mean()
        found.append((len(rows) * ranked**2, error.mean(), rows))
    return sorted(found, key=lambda h: -h[0])[:TOP]


warnings.filterwarnings("ignore")
r = np.random.RandomState(11)
size = [60, 45, 80, 50, 70, 55]
centre = np.array([[-30, -10], [-5, 40], [20, -35], [45, 30], [10, 5], [-35, 45]])
logit = np.array([-2.5, 1.5, 3.0, -1.0, 2.2, 0.9])     # the last: unsure but seldom wrong, so that the two orders differ
noise = np.array([1.2, 1.2, 1.2, 1.2, 1.2, 0.6])
which = r.permutation(np.repeat(np.arange(6), size))
at = (centre[which] + 2.0 * r.randn(len(which), 2)).astype("f4")
confidence = (1 / (1 + np.exp(-logit[which] - noise[which] * r.randn(len(which))))).astype("f4")
with open(sys.argv[1], "wb") as out:
    def put(a, kind):
        out.write(np.asarray(a, kind).tobytes())

    put(len(which), "<i4")
    put(at, "<f4")
    put(confidence, "<f4")
    put(len(VARIANTS), "<i4")
    for variant in VARIANTS:
        answers = [hypotheses(at, confidence, *variant, seed) for seed in range(5)]
        for other in answers[1:]:
            assert [list(h[2]) for h in other] == [list(h[2]) for h in answers[0]], variant
        put([*variant, len(answers[0])], "<i4")
        for score, error, rows in answers[0]:
            put([score, error], "<f8")
            put([len(rows), *rows], "<i4")
        print(variant, [(len(h[2]), round(h[0], 2), round(h[1], 3)) for h in answers[0]])
