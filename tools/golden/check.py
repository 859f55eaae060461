"""tests/golden/check.txt: intervals and probabilities of SciPy for differences such as the nightly verdict looks at.

A case is: n m, the n values of now (or differences, m = 0), the m of before, then the mean, the ends of the BCa intervals of
95 % and 90 % over 200,000 resamples, how far ours of 10,000 may be off, and the one-sided probability by randomization over
200,000 draws. statsmodels' Holm of five probabilities stands in tests/test_nights.c and is checked here."""
import os

import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests

assert np.allclose(multipletests([0.01, 0.04, 0.03, 0.005, 0.6], method="holm")[1], [0.04, 0.09, 0.09, 0.025, 0.6])

rng = np.random.default_rng(1)
m = rng.integers(1, 4, 120)
ease = rng.beta(4, 1, 120)
now, before = rng.binomial(m, ease) / m, rng.binomial(m, ease) / m
rare = np.where(rng.random(100) < 0.1, -1.0 / rng.integers(1, 4, 100), 0)
other = rng.binomial(2, 0.6, 90) / 2
cases = [(now - before, []), (rare, []), (now[:80], other), (before[:60] * 0.5, other[:40] - 0.3)]


def mean(x, axis):
    return x.mean(axis)


def difference(x, y, axis):
    return x.mean(axis) - y.mean(axis)


def p_of(x, y):
    d = abs(x.mean() - (y.mean() if len(y) else 0))
    sign = np.sign(x.mean() - (y.mean() if len(y) else 0))
    if not len(y):
        drawn = (rng.choice([-1, 1], (200000, len(x))) * x).mean(1)
    else:
        pool = np.concatenate([x, y])
        order = np.argsort(rng.random((200000, len(pool)), dtype=np.float32), 1)[:, :len(x)]
        part = pool[order].sum(1)
        drawn = part / len(x) - (pool.sum() - part) / len(y)
    return (np.sum(sign * drawn >= d - 1e-9) + 1) / 200001


with open(os.path.join(os.path.dirname(__file__), "../../tests/golden/check.txt"), "w") as f:
    for x, y in cases:
        x, y = np.asarray(x, float), np.asarray(y, float)
        data, f_of = ((x, y), difference) if len(y) else ((x,), mean)
        ends = [stats.bootstrap(data, f_of, n_resamples=200000, batch=2000, confidence_level=level, method="BCa",
                                vectorized=True, random_state=1).confidence_interval for level in (0.95, 0.90)]
        m_of = x.mean() - (y.mean() if len(y) else 0)
        tolerance = 0.06 * (ends[0].high - ends[0].low)
        row = [len(x), len(y), *x, *y, m_of, *ends[0], *ends[1], tolerance, p_of(x, y)]
        f.write(" ".join("%.12g" % v for v in row) + "\n")
