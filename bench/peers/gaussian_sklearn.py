#!/usr/bin/env python3
"""scikit-learn's time for what `spotter bench gaussian` does first, on the same numbers, in one run: the log likelihood with
its slopes of a Gaussian process of 300 points with nine length scales, and mean and deviation at 1,000 points.

    gaussian_sklearn.py [build/spotter] [rounds]      - in place of the program: a line a case of the peer alone

One thread on both sides. A round times ours and theirs in turn; the ratio is taken within it. Needs scikit-learn.
"""
import json
import os
import statistics
import subprocess
import sys
import time

for name in "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS":
    os.environ[name] = "1"

import numpy as np  # noqa: E402: after the number of threads
from sklearn.gaussian_process import GaussianProcessRegressor  # noqa: E402
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel  # noqa: E402

from barlow_sklearn import normal, uniform  # noqa: E402

N, D, ASKED = 300, 9, 1000


def rows():
    """bench_gaussian.c: open_process"""
    x = uniform(np.arange((N + ASKED) * D, dtype=float) + 1, 0.6180339887, 0.4142135624).reshape(-1, D)
    y = np.sin(3 * x[:N, 0]) + x[:N, 1] + 0.1 * normal(1e9 + np.arange(N, dtype=float))
    return x, (y - y.mean()) / y.std()


def ours(spotter):
    out = subprocess.run([spotter, "bench", "gaussian", "--device", "cpu", "--threads", "1", "--json"], check=True,
                         capture_output=True, text=True).stdout
    return [row["median_s"] for row in json.loads(out)[:2]]


def seconds(what):
    took = []
    for _ in range(7):
        start = time.perf_counter()
        what()
        took.append(time.perf_counter() - start)
    return statistics.median(took)


def main():
    spotter = sys.argv[1] if len(sys.argv) > 1 else "build/spotter"
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    x, z = rows()
    kernel = ConstantKernel(1.0) * Matern(np.ones(D), nu=2.5)
    fitted = GaussianProcessRegressor(kernel + WhiteKernel(1e-2), alpha=0, optimizer=None).fit(x[:N], z)
    asked = GaussianProcessRegressor(kernel, alpha=1e-2, optimizer=None).fit(x[:N], z)

    def theirs():
        return [seconds(lambda: fitted.log_marginal_likelihood(fitted.kernel_.theta, eval_gradient=True)),
                seconds(lambda: asked.predict(x[N:], return_std=True))]

    if spotter == "-":
        for case, took in zip(("likelihood and slopes, 300 points, 9 lengths", "posterior of 1,000, 300 points"), theirs()):
            print(f"gaussian\t{case}\t{took:.6f}")
        return
    ratios = []
    for _ in range(rounds):
        mine, peer = ours(spotter), theirs()
        ratios.append([p / m for p, m in zip(peer, mine)])
        print(" ".join(f"{name}: ours {1e3 * m:.2f} ms, scikit-learn {1e3 * p:.2f} ms, ratio {p / m:.1f};"
                       for name, m, p in zip(("likelihood", "posterior"), mine, peer)))
    print("median ratios", *(f"{statistics.median(r):.1f}" for r in zip(*ratios)))


main()
