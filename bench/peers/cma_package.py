#!/usr/bin/env python3
"""The time that the package cma takes beside the function, for what `spotter bench examiner` does with cma: ten searches of
1,000 points of nine factors on a bowl, populations of 10.

    cma_package.py [build/spotter] [rounds]      - in place of the program: the package alone, once

A round times ours and theirs in turn, on one thread; the ratio is taken within it. Needs cma.
"""
import json
import os
import subprocess
import sys
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"
import cma  # noqa: E402
import numpy as np  # noqa: E402


def ours(spotter):
    out = subprocess.run([spotter, "bench", "examiner", "--device", "cpu", "--threads", "1", "--json"], check=True,
                         capture_output=True, text=True).stdout
    return next(r["median_s"] for r in json.loads(out) if r["case"].startswith("cma"))


def theirs():
    start = time.perf_counter()
    for run in range(10):
        first = np.random.default_rng(run).random(9)
        search = cma.CMAEvolutionStrategy(first, 0.25, dict(popsize=10, seed=run + 1, verbose=-9, bounds=[0, 1]))
        for _ in range(100):
            x = np.asarray(search.ask())
            search.tell(list(x), ((x - 0.5)**2).sum(1).tolist())
    return time.perf_counter() - start


spotter = sys.argv[1] if len(sys.argv) > 1 else "build/spotter"
if spotter == "-":
    print(f"cma: {theirs():.4f} s")
    sys.exit()
for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 3):
    a, b = ours(spotter), theirs()
    print("cma, 10 x 1,000: %.1f ms, the package %.0f ms, ratio %.0f" % (1e3 * a, 1e3 * b, b / a), flush=True)
