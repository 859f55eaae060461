#!/usr/bin/env python3
"""Spotlight, Domino, Barlow and GEORGE on the ECs of a run whose views are in its cache, against their peers on the same
views: one sweep of ours, wall time, against the sum of theirs.

    method_peers.py RUN [build/spotter] [--threads 2] [--ecs N]

The peers are those of the single benches: the domino package, Spotlight's step in PyTorch (40 steps of each EC's 10,000 are
timed), scikit-learn for Barlow, umap-learn and scikit-learn for GEORGE. What it takes them to read a view is not counted; of
ours all is, from starting the program to its last segment. Needs what those benches need; scikit-learn 1.2 with umap-learn
0.5.6, which both umap-learn and the domino package can live with, was measured.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np

import barlow_sklearn
import domino_pypi
import george_sklearn
import spotlight_torch

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tensors  # noqa: E402

METHODS = """bdms:
  - {method: spotlight, steps: 1000}
  - {method: domino}
  - {method: barlow, representation: model}
  - {method: george}
"""


def ours(spotter, run, folder, ecs, threads):
    """Seconds of a sweep that has the models' views and nothing after them."""
    fresh = os.path.join(folder, "run")
    os.makedirs(fresh)
    shutil.copytree(os.path.join(run, "cache"), os.path.join(fresh, "cache"),
                    ignore=shutil.ignore_patterns("*.points", "*.found"))
    with open(os.path.join(run, "config.yaml")) as f:
        before, after = re.fullmatch(r"(.*?)^bdms:\n.*?(^metric:.*)", f.read(), re.S | re.M).groups()
    config = os.path.join(folder, "methods.yaml")
    with open(config, "w") as f:
        f.write(before + METHODS + after)
    start = time.perf_counter()
    subprocess.run([spotter, "sweep", config, "--out", fresh, "--limit", str(ecs), "--device", "cpu", "--no-pictures",
                    "--threads", str(threads)], check=True, capture_output=True)
    return time.perf_counter() - start


def spotlight(x, loss):
    schedule, took = np.geomspace(0.99 * len(x), 0.0005 * len(x), 1000), []
    for count in (5, 45):
        start = time.perf_counter()
        spotlight_torch.ours(x, loss, schedule[:count])
        took.append(time.perf_counter() - start)
    return (took[1] - took[0]) / 40 * 10000


def george(umap, x, loss):
    start = time.perf_counter()
    points = umap.UMAP(n_neighbors=10, min_dist=0.0).fit_transform(x / np.linalg.norm(x, axis=1, keepdims=True))
    george_sklearn.george(points.astype(float), loss)
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run")
    parser.add_argument("spotter", nargs="?", default="build/spotter")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--ecs", type=int, default=20)
    o = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = str(o.threads)
    warnings.filterwarnings("ignore")
    import torch
    import umap
    domino = domino_pypi.load()
    torch.set_num_threads(o.threads)
    total = dict(spotlight=0.0, domino=0.0, barlow=0.0, george=0.0)
    with tempfile.TemporaryDirectory() as folder:
        first = ours(o.spotter, o.run, os.path.join(folder, "0"), o.ecs, o.threads)
        for ec in range(o.ecs):
            path = os.path.join(folder, "view.safetensors")
            subprocess.run([o.spotter, "view", o.run, "--ec", str(ec), "--out", path], check=True, capture_output=True)
            x, confidence = tensors.read(path, "feature", "confidence")
            loss = -np.log(np.maximum(confidence, 1e-7))
            if ec == 0:
                george(umap, x[:300], loss[:300])                      # numba compiles
            spotlight_torch.D = x.shape[1]
            total["spotlight"] += spotlight(x, loss)
            # fp64: in fp32 the package's variances, mean square less squared mean, go negative on such views; it gives up
            total["domino"] += domino_pypi.fit(domino, x.astype(float), confidence, o.threads)[0]
            total["barlow"] += barlow_sklearn.fit(x, confidence < 0.5)[0]
            total["george"] += george(umap, x, loss)
        second = ours(o.spotter, o.run, os.path.join(folder, "1"), o.ecs, o.threads)
    for name, seconds in total.items():
        print(f"{name}: {seconds:.1f} s")
    mine, theirs = min(first, second), sum(total.values())
    print(f"{o.ecs} ECs: spotter {first:.2f} and {second:.2f} s, peers {theirs:.1f} s, {o.threads} threads: "
          f"{theirs / mine:.1f} times as fast")


if __name__ == "__main__":
    main()
