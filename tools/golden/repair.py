"""Writes tests/golden/repair.bin: balanced logistic regressions by scikit-learn, and the worst groups after a last layer was
fitted again with them.

    repair.py OUT      (scikit-learn 1.2.1 made the committed file)

Little endian: int32 cases; per case int32 n, d; float64 x (n, d); uint8 y (n); float64 weight (n), c, coefficients (d),
intercept. Then int32 repairs; per repair int32 positives, negatives, d, blindspots, hypotheses; float32 features of both;
uint32 mask (positives); per hypothesis int32 size, rows; float64 worst accuracies without groups, with the true groups, with
the groups found. Groups of the first fit: class_weight="balanced", of the others: sample weights.
"""
import sys

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_sample_weight

r = np.random.RandomState(3)


def logistic(x, y, c, **how):
    m = LogisticRegression(C=c, solver="newton-cholesky", tol=1e-13, max_iter=1000, class_weight=how.get("class_weight"))
    return m.fit(x, y, sample_weight=how.get("sample_weight"))


def fit_case(n, d, c, rate, apart):
    x = r.randn(n, d) * np.exp(r.randn(d))
    y = (r.rand(n) < rate).astype("u1")
    x[:, 0] += apart * y
    weight = r.rand(n) if rate > 0.4 else compute_sample_weight("balanced", y)
    m = logistic(x, y, c, sample_weight=weight)
    if rate <= 0.4:
        own = logistic(x, y, c, class_weight="balanced")
        assert np.allclose(own.coef_, m.coef_, atol=1e-8)
    return x, y, weight, c, m.coef_[0], m.intercept_[0]


def weights(group, negatives):
    """group: of the positives to fit, -1 for none."""
    n = len(group) + negatives
    names, size = np.unique(group, return_counts=True)
    of = dict(zip(names, size))
    return np.array([n / (2 * len(names) * of[g]) for g in group] + [n / (2 * negatives)] * negatives)


def repair_case(positives, negatives, d, blindspots, near):
    mask = np.zeros(positives, "u4")
    for m in range(blindspots):
        mask[r.choice(positives, positives // (8 + 4 * m), replace=False)] |= 1 << m
    x, other = r.randn(positives, d) + 1.2, r.randn(negatives, d) - 0.2
    for m in range(blindspots):
        x[(mask >> m & 1) == 1, :] -= 1.6            # they look like negatives, but for one feature
        x[(mask >> m & 1) == 1, m] += 3
    x, other = x.astype("f4"), other.astype("f4")
    found = []
    for m in range(blindspots):
        found.append(np.flatnonzero((mask >> m & 1) + near * r.randn(positives) > 0.5))
    fitted = np.concatenate([x[::2], other[::2]]).astype(float)
    y = np.r_[np.ones(len(x[::2])), np.zeros(len(other[::2]))]
    scale = StandardScaler().fit(fitted)
    measured = scale.transform(np.concatenate([x[1::2], other[1::2]]).astype(float))
    lowest = [(mask[::2] >> m & 1).astype(bool) for m in range(blindspots)]
    true, mine = np.full(len(x[::2]), -1), np.full(len(x[::2]), -1)
    for m in reversed(range(blindspots)):
        true[lowest[m]] = m
        mine[found[m][found[m] % 2 == 0] // 2] = m
    n0 = len(other[::2])
    models = [logistic(scale.transform(fitted), y, 1, class_weight="balanced"),
              logistic(scale.transform(fitted), y, 1, sample_weight=weights(true, n0)),
              logistic(scale.transform(fitted), y, 1, sample_weight=weights(mine, n0))]
    worst = []
    for m in models:
        margin = m.decision_function(measured)
        assert np.abs(margin).min() > 1e-4           # no accuracy hangs on a last digit
        hit = (margin > 0) == np.r_[np.ones(len(x[1::2])), np.zeros(len(other[1::2]))]
        of = mask[1::2]
        sets = [np.flatnonzero(of >> k & 1) for k in range(blindspots)]
        sets += [np.flatnonzero(of == 0), np.arange(len(of), len(hit))]
        worst.append(min(hit[s].mean() for s in sets if len(s)))
    return x, other, mask, blindspots, found, worst


FITS = [fit_case(200, 5, 1, 0.5, 1), fit_case(150, 8, 0.1, 0.2, 3), fit_case(60, 40, 10, 0.3, 30), fit_case(80, 3, 100, 0.6, 0)]
REPAIRS = [repair_case(301, 280, 6, 2, 0.2), repair_case(400, 150, 8, 3, 0.6), repair_case(120, 200, 5, 1, 2)]
with open(sys.argv[1], "wb") as out:
    def put(values, kind):
        out.write(np.ascontiguousarray(values, dtype=kind).tobytes())

    put(len(FITS), "<i4")
    for x, y, weight, c, v, b in FITS:
        put(x.shape, "<i4")
        put(x, "<f8")
        put(y, "u1")
        for values in (weight, c, v, b):
            put(values, "<f8")
    put(len(REPAIRS), "<i4")
    for x, other, mask, blindspots, found, worst in REPAIRS:
        put([len(x), len(other), x.shape[1], blindspots, len(found)], "<i4")
        put(x, "<f4")
        put(other, "<f4")
        put(mask, "<u4")
        for rows in found:
            put(len(rows), "<i4")
            put(rows, "<i4")
        put(worst, "<f8")
        print(x.shape, len(other), np.round(worst, 4))
