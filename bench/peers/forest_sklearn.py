#!/usr/bin/env python3
"""scikit-learn's and shap's time for what `spotter bench forest` does, on the same rows, in one run: a random forest of 100
trees on 167 x 64, and TreeSHAP of 83 rows.

    forest_sklearn.py [build/spotter] [threads] [rounds]      - in place of the program: a line a case of the peers alone

A round times ours and theirs in turn; the ratio is taken within it. n_jobs is `threads`; of shap, which uses one thread, only
shap_values is timed. Needs scikit-learn and shap.
"""
import json
import os
import statistics
import subprocess
import sys
import time

import numpy as np

from barlow_sklearn import normal

ROWS, LEFT_OUT, D = 167, 83, 64


def rows():
    """bench_forest.c: fill_rows"""
    i = np.arange(ROWS + LEFT_OUT, dtype=float)
    x = normal(i[:, None] * D + np.arange(D)).astype("f4")
    s = normal(1e9 + i)
    for j in range(4):
        s = s + (-0.7 if j % 2 else 1) * x[:, j].astype(float)
    return x, (s > -0.8).astype(int) + (s > 0.3)


def ours(spotter, threads):
    out = subprocess.run([spotter, "bench", "forest", "--device", "cpu", "--threads", str(threads), "--json"], check=True,
                         capture_output=True, text=True).stdout
    return [json.loads(out)[k]["median_s"] for k in (0, 2)]


def seconds(what):
    took = []
    for _ in range(5):
        start = time.perf_counter()
        what()
        took.append(time.perf_counter() - start)
    return statistics.median(took)


def theirs(x, y, threads):
    import shap
    from sklearn.ensemble import RandomForestClassifier
    forest = RandomForestClassifier(100, n_jobs=threads, random_state=0)
    fit = seconds(lambda: forest.fit(x[:ROWS], y[:ROWS]))
    explainer = shap.TreeExplainer(forest)
    return [fit, seconds(lambda: explainer.shap_values(x[ROWS:]))]


def main():
    spotter = sys.argv[1] if len(sys.argv) > 1 else "build/spotter"
    threads = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    os.environ["OMP_NUM_THREADS"] = str(threads)
    x, y = rows()
    if spotter == "-":
        for case, took in zip(("100 trees, 167 x 64, 3 classes", "TreeSHAP of 83 rows"), theirs(x, y, threads)):
            print(f"forest\t{case}\t{took:.6f}")
        return
    got = [(ours(spotter, threads), theirs(x, y, threads)) for _ in range(rounds)]
    for k, name in enumerate(("forest of 100 trees", "TreeSHAP of 83 rows")):
        ratios = sorted(t[k] / o[k] for o, t in got)
        print(f"{name}, {threads} threads: spotter {statistics.median(o[k] for o, _ in got) * 1e3:.2f} ms, peer "
              f"{statistics.median(t[k] for _, t in got) * 1e3:.1f} ms, ratio {statistics.median(ratios):.1f} "
              f"({ratios[0]:.1f} to {ratios[-1]:.1f})")


if __name__ == "__main__":
    main()
