"""tests/golden/variance.txt: variance matrices and their 16 features by numpy. tests/test_variance.c has their input.

For each of SETTINGS the matrix of each signal, then the count of points in each window; in the end the features of three other
matrices, one of them with cells without a value."""
import os

import numpy as np

TARGETS, IMAGES, SIGNALS, RANGE = 11, 7, 2, 0.6
SETTINGS = [(13, 6, 2.0, 8, False), (13, 6, 2.0, 8, True), (9, 4, 0.5, 32, False), (10, 5, 10.0, 3, False)]


def wave(i, a, b):
    i = np.asarray(i, "f8")
    return np.sin(a * i + b * i * i).astype("f4")


def points(grid, binned):
    """Places (count, 2) in cells and values (signals, count) of all ordered pairs of two images of a target."""
    i = np.arange(TARGETS * IMAGES).reshape(TARGETS, IMAGES)
    distance = np.abs(wave(i, 2, 0.003)).astype("f4") * np.float32(0.7)
    distance[:, 0] = 0
    signal = np.stack([wave(i, 3 + s, 0.001) for s in range(SIGNALS)])
    distance[wave(i, 5, 0.002) > 0.9] = np.nan
    where, value = [], []
    for t in range(TARGETS):
        held = [j for j in range(IMAGES) if 0 <= distance[t, j] <= np.float32(RANGE)]
        for j in held:
            for k in held:
                if j != k:
                    where.append((distance[t, j], distance[t, k]))
                    value.append(np.abs(signal[:, t, j] - signal[:, t, k]))
    where = np.minimum(np.array(where) * (np.float32(grid) / np.float32(RANGE)), np.float32(grid))
    if binned:
        where = np.minimum(np.floor(where), grid - 1) + 0.5
    return where.astype("f8"), np.array(value, "f8").T


def matrices(grid, kernel, sigma, nearest, binned):
    where, value = points(grid, binned)
    matrix, count = np.zeros((SIGNALS, grid, grid)), np.zeros((grid, grid))
    for a in range(grid):
        for b in range(grid):
            squares = ((where - (a + 0.5, b + 0.5)) ** 2).sum(1)
            order = np.sort(squares.round(9))
            last = order[min(nearest, len(order)) - 1]
            near, tied = squares.round(9) < last, squares.round(9) == last
            left = min(nearest, len(order)) - near.sum()
            u = (value[:, near].sum(1) + left * value[:, tied].mean(1)) / min(nearest, len(order))
            inside = squares < (kernel / 2) ** 2
            phi = np.exp(-squares[inside] / (2 * sigma ** 2))
            matrix[:, a, b] = (u + (phi * value[:, inside]).sum(1)) / (1 + phi.sum())
            count[a, b] = inside.sum()
    return matrix, count


def ratio(a, b):
    return a / b if b else 0.0


def features(m, part):
    g = len(m)
    scale = np.nanmean(m) * g / (g - 1)
    lines = [np.diagonal(m, -i) for i in range(g - 1)]
    lines = [line[~np.isnan(line)] for line in lines]
    discontinuity = sum(len(line) / g * line.std() for line in lines if len(line))
    other = m[::-1, ::-1].T                                   # other[a, b] = m[g - 1 - b, g - 1 - a]
    corner = np.add.outer(np.arange(g), np.arange(g)) < g - 1
    asymmetry = np.nanmean(np.abs(m - other)[corner])
    low = np.where(np.tril(np.ones((g, g))) > 0, m, np.nan)
    vertical, horizontal, diagonal = low[1:] - low[:-1], low[:, :-1] - low[:, 1:], low[1:, :-1] - low[:-1, 1:]
    wstd = [np.mean([np.nanstd(line) for line in of if (~np.isnan(line)).sum() > 1]) for of in (vertical, horizontal.T)]
    return [np.nanmean(m), np.nanmean(m ** 2), np.nanstd(m), (m[~np.isnan(m)] > 0.15).mean(), ratio(discontinuity, scale),
            ratio(asymmetry, scale), np.nanmean(vertical), np.nanstd(vertical), wstd[0], np.nanmean(horizontal),
            np.nanstd(horizontal), wstd[1], np.nanmean(diagonal), np.nanstd(diagonal),
            np.mean([ratio(np.nanmean(vertical), wstd[0]), ratio(np.nanmean(horizontal), wstd[1]),
                     ratio(np.nanmean(diagonal), np.nanstd(diagonal))]),
            np.nansum(np.abs(m - part))]


def pictured(g, kind):
    i = np.arange(g * g).reshape(g, g)
    m = np.abs(wave(i, 0.37, 0.0005)).astype("f8")
    if kind == 1:
        m[wave(i, 1.7, 0.001) > 0.6] = np.nan
    return m


rows = []
for setting in SETTINGS:
    matrix, count = matrices(*setting)
    rows += [m.ravel() for m in matrix] + [count.ravel()]
for g, kind in [(12, 0), (17, 1), (3, 0)]:
    rows.append(features(pictured(g, kind), np.abs(wave(np.arange(g * g).reshape(g, g), 0.39, 0.0004)).astype("f8")))
with open(os.path.join(os.path.dirname(__file__), "../../tests/golden/variance.txt"), "w") as f:
    for row in rows:
        f.write(" ".join(f"{v:.9g}" for v in row) + "\n")
