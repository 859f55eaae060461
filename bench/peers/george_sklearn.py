#!/usr/bin/env python3
"""scikit-learn's time for what `spotter bench george` and `spotter bench multiaccuracy` do, on the same numbers and threads.

    george_sklearn.py [threads]

GEORGE's clustering: mixtures of 2 to 10 components from 3 starts each, silhouettes of every one, 5 pieces of each cluster of
the best, silhouettes before and after. Multiaccuracy: 10 rounds of three Ridge regressions, in fp32 as the features are.
Needs python3-sklearn.
"""
import sys
import time
import warnings

import numpy as np

GROUPS = 16


def noise(i):
    h = (np.asarray(i, np.uint64) * np.uint64(2654435761)).astype(np.uint32)
    h = (h ^ h >> np.uint32(15)) * np.uint32(2246822519)
    h = (h ^ h >> np.uint32(13)) * np.uint32(3266489917)
    return ((h ^ h >> np.uint32(16)) + 0.5) / 2.0 ** 32 - 0.5


def data(n, d):
    """bench_george.c: fill"""
    i, j = np.arange(n)[:, None], np.arange(d)
    x = 8 * noise(900000007 + i % GROUPS * 1000 + j) + 2 * noise(i * d + j)
    i = i[:, 0]
    return x.astype("f4"), (np.where(i % GROUPS < 2, 0.15, 0.9) + 0.15 * noise(700000001 + i)).astype("f4")


def george(x, loss):
    from sklearn.metrics import silhouette_samples
    from sklearn.mixture import GaussianMixture

    def mixture(points, k):
        return GaussianMixture(k, n_init=3, random_state=0).fit_predict(points)

    best = (-2, None)
    for k in range(2, 11):
        label = mixture(x, k)
        s = silhouette_samples(x, label)
        score = np.mean([s[label == q].mean() for q in np.unique(label)])
        if score >= best[0]:
            best = (score, label)
    label = best[1]
    pieces = 5 * label
    for q in np.unique(label):
        pieces[label == q] += mixture(x[label == q], 5)
    before, after = silhouette_samples(x, label), silhouette_samples(x, pieces)
    return [(before[pieces == q].mean(), after[pieces == q].mean(), loss[pieces == q].mean()) for q in np.unique(pieces)]


def multiaccuracy(x, confidence):
    from sklearn.linear_model import Ridge

    n = len(x)
    p = confidence.astype(float)
    z = np.log(p / (1 - p))
    order = np.random.RandomState(0).permutation(n)
    learn, others = order[:int(0.7 * n)], order[int(0.7 * n):]
    parts = [p > 0.5, p <= 0.5, np.ones(n, bool)]
    for _ in range(10):
        p = 1 / (1 + np.exp(-z))
        slope = -np.where(p >= 0.1, 1 / p, 20 - 100 * p)
        best = (-np.inf, None, None)
        for part in parts:
            a, b = learn[part[learn]], others[part[others]]
            r = Ridge(alpha=1).fit(x[a], slope[a])
            score = np.mean(r.predict(x[b]) * (p[b] - 1))
            if score > best[0]:
                best = (score, part, r)
        z = z - 0.1 * (x @ best[2].coef_ + best[2].intercept_) * best[1]


def main():
    from threadpoolctl import threadpool_limits

    warnings.filterwarnings("ignore")
    with threadpool_limits(int(sys.argv[1]) if len(sys.argv) > 1 else 2):
        for name, what, d in (("george", george, 2), ("multiaccuracy", multiaccuracy, 512)):
            x, confidence = data(3200, d)
            argument = -np.log(confidence) if what is george else confidence
            what(x[:200], argument[:200])
            since = time.perf_counter()
            what(x.astype(float) if what is george else x, argument)
            print(f"{name}: {time.perf_counter() - since:.3f} s")


if __name__ == "__main__":
    main()
