#!/usr/bin/env python3
"""scikit-learn's time for the 32 mixtures that `spotter bench mixture` fits, on the same points and threads, in one run.

    mixture_sklearn.py [build/spotter] [threads]      - in place of the program: scikit-learn alone, once

Both start from k-means++ of their own draws. Needs python3-sklearn.
"""
import json
import statistics
import subprocess
import sys
import time
import warnings

import numpy as np

GROUPS = 16


def normal(i, first, second):
    return np.sqrt(-2 * np.log((i + 1) * first % 1)) * np.cos(2 * np.pi * ((i + 1) * second % 1))


def points(n, problem=0):
    """bench_mixture.c: fill"""
    i = np.arange(n) + problem * n
    g = i * 7 % GROUPS % (GROUPS - i % 5)
    spread, logit = 0.03 + 0.004 * g, 4 - 0.5 * g
    return np.stack([(g + 1) * 0.7548776662 % 1 + spread * normal(i, 0.6180339887, 0.4142135624),
                     (g + 1) * 0.5698402910 % 1 + spread * normal(i, 0.7320508076, 0.2360679775),
                     0.025 / (1 + np.exp(-logit - normal(i, 0.6457513111, 0.3166247904)))], 1).astype("f4").astype(float)


def fit(x, most, threads):
    """Seconds for K = 1..most with BIC, the best K, and iterations times components."""
    from sklearn.mixture import GaussianMixture
    from threadpoolctl import threadpool_limits

    with threadpool_limits(threads), warnings.catch_warnings():
        warnings.filterwarnings("ignore")
        start = time.perf_counter()
        fits = [GaussianMixture(k, random_state=0).fit(x) for k in range(1, most + 1)]
        bic = [f.bic(x) for f in fits]
        took = time.perf_counter() - start
    return took, 1 + int(np.argmin(bic)), sum(f.n_iter_ * f.n_components for f in fits)


def ours(spotter, threads):
    out = subprocess.run([spotter, "bench", "mixture", "--device", "cpu", "--threads", str(threads), "--json"], check=True,
                         capture_output=True, text=True).stdout
    return json.loads(out)[0]["median_s"]


def main():
    spotter = sys.argv[1] if len(sys.argv) > 1 else "build/spotter"
    threads = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    if spotter == "-":
        print(f"scikit-learn: {fit(points(3000), 32, threads)[0]:.3f} s")
        return
    times = [ours(spotter, threads)]
    peers = []
    for _ in range(3):
        took, best, work = fit(points(3000), 32, threads)
        print(f"scikit-learn: {took:.3f} s, K={best}, {work} iterations x components")
        peers.append(took)
    times.append(ours(spotter, threads))
    mine, peer = statistics.median(times), statistics.median(peers)
    print(f"spotter {mine * 1e3:.2f} ms, scikit-learn {peer * 1e3:.0f} ms, {threads} threads: {peer / mine:.1f} times as fast")


if __name__ == "__main__":
    main()
