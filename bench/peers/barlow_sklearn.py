#!/usr/bin/env python3
"""scikit-learn's time for what `spotter bench barlow` does, on the same rows, in one run: mutual_info_classif of 512 features,
the 128 best, an entropy tree of depth 11 over them, and the leaf of each row.

    barlow_sklearn.py [build/spotter] [threads]      - in place of the program: scikit-learn alone, once

The information is shared among `threads` where scikit-learn can (1.5 and newer; it starts processes for that). Needs
scikit-learn.
"""
import inspect
import json
import statistics
import subprocess
import sys
import time

import numpy as np

N, D, KEPT, DEPTH = 3200, 512, 128, 11


def uniform(i, a, b):
    return (i * a + i * i * b % 1) % 1


def normal(i):
    u, v = uniform(i + 1, 0.6180339887, 0.4142135624), uniform(i + 1, 0.7320508076, 0.2360679775)
    return np.sqrt(-2 * np.log(u + 1e-9)) * np.cos(6.283185307179586 * v)


def rows():
    """bench_barlow.c: fill"""
    i = np.arange(N, dtype=float)
    x = np.maximum(0, normal(i[:, None] * D + np.arange(D)) + 0.7).astype("f4")
    reason = 1.2 * normal(1e9 + i)
    for j in range(4):
        reason = reason + (-1 if j % 2 else 1) * x[:, j * D // 4].astype(float)
    return x, reason > 2.7


def fit(x, fails, threads=1):
    """Seconds, and leaves of the tree."""
    from sklearn.feature_selection import mutual_info_classif
    from sklearn.tree import DecisionTreeClassifier

    share = dict(n_jobs=threads) if threads > 1 and "n_jobs" in inspect.signature(mutual_info_classif).parameters else {}
    start = time.perf_counter()
    information = mutual_info_classif(x, fails, random_state=0, **share)
    told = time.perf_counter()
    chosen = x[:, np.argsort(information)[-KEPT:]]
    tree = DecisionTreeClassifier(criterion="entropy", max_depth=DEPTH, class_weight={0: 1, 1: (~fails).sum() / fails.sum()})
    tree.fit(chosen, fails).apply(chosen)
    end = time.perf_counter()
    return end - start, told - start, tree.get_n_leaves()


def ours(spotter, threads):
    out = subprocess.run([spotter, "bench", "barlow", "--device", "cpu", "--threads", str(threads), "--json"], check=True,
                         capture_output=True, text=True).stdout
    return json.loads(out)[0]["median_s"]


def main():
    spotter = sys.argv[1] if len(sys.argv) > 1 else "build/spotter"
    threads = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    x, fails = rows()
    if spotter == "-":
        fit(x[:400], fails[:400], threads)
        print(f"scikit-learn: {fit(x, fails, threads)[0]:.3f} s")
        return
    times, peers = [ours(spotter, threads)], []
    for _ in range(3):
        took, information, leaves = fit(x, fails, threads)
        print(f"scikit-learn: {took:.3f} s, of it {information:.3f} s for the information; {fails.sum()} of {N} rows fail, "
              f"{leaves} leaves")
        peers.append(took)
    times.append(ours(spotter, threads))
    mine, peer = statistics.median(times), statistics.median(peers)
    print(f"spotter {mine * 1e3:.2f} ms, scikit-learn {peer * 1e3:.0f} ms, {threads} threads: {peer / mine:.1f} times as fast")


if __name__ == "__main__":
    main()
