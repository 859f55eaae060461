#!/usr/bin/env python3
"""numpy's and SciPy's times for bench/bench_rbf.c's exact matrix of one signal, on the same points; the numbers are compared.

    rbf_scipy.py build/spotter [threads] [stride]      seconds for all cells

numpy goes cell by cell, vectorised over the points, which are sorted along one axis. SciPy's cKDTree gives each cell its points
(query_ball_point) and all cells their 32 nearest (query), on all threads. Both take every 37th cell (stride), because all take
minutes; the time of these cells is multiplied. The tree and the nearest points of all cells are counted whole."""
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
from scipy.spatial import cKDTree

TARGETS, IMAGES, GRID, KERNEL, SIGMA, NEAREST, RANGE = 1712, 33, 128, 32, 10.0, 32, np.float32(0.75)


def sequence(i, step):
    return ((i + 1) * step) % 1


def make_points():
    """Places (count, 2) in cells, and values."""
    i = np.arange(TARGETS * IMAGES, dtype="f8").reshape(TARGETS, IMAGES)
    distance = (float(RANGE) * sequence(i, 0.6180339887498949)).astype("f4")
    distance[:, 0] = 0
    far = distance.astype("f8")
    signal = (1 / (1 + far * far) + 0.2 * sequence(i, 0.7548776662466927)).astype("f4")
    x = distance * (np.float32(GRID) / RANGE)
    j, k = np.nonzero(~np.eye(IMAGES, dtype=bool))
    where = np.stack([x[:, j].ravel(), x[:, k].ravel()], 1).astype("f8")
    return where, np.abs(signal[:, j] - signal[:, k]).ravel().astype("f8")


def value_of(squares, value, u):
    phi = np.exp(squares * (-0.5 / SIGMA ** 2))
    return (u + phi @ value) / (1 + phi.sum())


def by_numpy(where, value, cells):
    """The points of a cell's rows lie together. Where 32 points are within the window, so are the nearest ones."""
    order = np.argsort(where[:, 0])
    x, y, value = where[order, 0].copy(), where[order, 1].copy(), value[order]
    out = []
    for a, b in cells:
        first, last = np.searchsorted(x, (a - KERNEL / 2, a + KERNEL / 2))
        squares = (x[first:last] - a) ** 2 + (y[first:last] - b) ** 2
        inside = np.flatnonzero(squares < (KERNEL / 2) ** 2)
        squares, own = squares[inside], value[first + inside]
        if len(own) >= NEAREST:
            u = own[np.argpartition(squares, NEAREST - 1)[:NEAREST]].mean()
        else:
            every = (x - a) ** 2 + (y - b) ** 2
            u = value[np.argpartition(every, NEAREST - 1)[:NEAREST]].mean()
        out.append(value_of(squares, own, u))
    return np.array(out)


def by_tree(tree, where, value, cells, nearest, threads):
    out = []
    for first in range(0, len(cells), 32):
        some = cells[first:first + 32]
        for cell, u, found in zip(some, nearest[first:first + 32],
                                  tree.query_ball_point(some, KERNEL / 2, workers=threads, return_sorted=False)):
            found = np.array(found, dtype=np.intp)
            squares = ((where[found] - cell) ** 2).sum(1)
            out.append(value_of(squares, value[found], u))
    return np.array(out)


def main():
    spotter, threads, stride = sys.argv[1], int((sys.argv[2:] or ["2"])[0]), int((sys.argv[3:] or ["37"])[0])
    where, value = make_points()
    grid = np.stack(np.mgrid[0:GRID, 0:GRID], -1).reshape(-1, 2) + 0.5
    chosen = np.arange(0, GRID * GRID, stride)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "matrix")
        said = subprocess.run([spotter, "bench", "rbf", "--device", "cpu", "--json", "--threads", str(threads)], check=True,
                              capture_output=True, text=True, env={**os.environ, "SPOT_BENCH_MATRIX": path}).stdout
        ours = np.fromfile(path, "f4")
    start = time.perf_counter()
    numpys = by_numpy(where, value, grid[chosen])
    numpy_seconds = (time.perf_counter() - start) * GRID * GRID / len(chosen)
    start = time.perf_counter()
    tree = cKDTree(where)
    nearest = value[tree.query(grid, NEAREST, workers=threads)[1]].mean(1)
    whole = time.perf_counter() - start
    start = time.perf_counter()
    trees = by_tree(tree, where, value, grid[chosen], nearest[chosen], threads)
    tree_seconds = whole + (time.perf_counter() - start) * GRID * GRID / len(chosen)
    off = max(np.abs(numpys - ours[chosen]).max(), np.abs(trees - ours[chosen]).max()) / ours.max()
    mine = {row["case"]: row["median_s"] for row in json.loads(said)}
    for case, seconds in mine.items():
        print(f"spotter, {case}: {seconds:.4f} s")
    print(f"{len(chosen)} cells differ by {off:.1e} of the greatest value at most")
    print(f"numpy: {numpy_seconds:.1f} s\nSciPy: {tree_seconds:.1f} s")
    if not off < 1e-5:
        sys.exit("the numbers differ")


main()
