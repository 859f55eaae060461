#!/usr/bin/env python3
"""A synthetic classifier to discover in: clusters in 512 dimensions, some of them planted where it errs.

    planted.py FOLDER [rows] [dimensions] [classes] [seed]

Writes FOLDER/e.npy (rows, dimensions), y.npy (int64), p.npy (the true class's probability) and planted.npy (int64: which
planted blindspot a row is in, or -1). A class has 40 clusters of unequal size that lie near a plane of 20 dimensions, and noise
in all; in three of them the classifier is wrong nine times in ten, elsewhere once in fifty.
"""
import os
import sys

import numpy as np


def main():
    folder = sys.argv[1]
    rows, d, classes, seed = [int(sys.argv[i]) if len(sys.argv) > i else v for i, v in ((2, 20000), (3, 512), (4, 1), (5, 0))]
    r = np.random.default_rng(seed)
    e, y = np.empty((rows, d), np.float32), np.sort(r.integers(classes, size=rows))
    p, planted = np.empty(rows, np.float32), np.full(rows, -1, np.int64)
    for c in range(classes):
        own = np.flatnonzero(y == c)
        plane = r.standard_normal((20, d)) / np.sqrt(d)
        share = r.dirichlet(np.full(40, 3.0))
        centre, spread = 6 * r.standard_normal((40, 20)), r.uniform(0.5, 1.5, 40)
        cluster = r.choice(40, len(own), p=share)
        inside = centre[cluster] + spread[cluster, None] * r.standard_normal((len(own), 20))
        for at in range(0, len(own), 4096):
            part = slice(at, at + 4096)
            e[own[part]] = inside[part] @ plane + 0.02 * r.standard_normal((len(own[part]), d))
        hidden = np.argsort(-share)[[5, 10, 15]]
        hit = np.full(len(own), -1)
        for k, h in enumerate(hidden):
            hit[cluster == h] = k
        planted[own] = hit
        wrong = r.random(len(own)) < np.where(hit >= 0, 0.9, 0.02)
        p[own] = np.where(wrong, r.uniform(0.01, 0.4, len(own)), r.uniform(0.6, 0.99, len(own)))
    os.makedirs(folder, exist_ok=True)
    order = r.permutation(rows)
    for name, a in (("e", e), ("y", y.astype(np.int64)), ("p", p), ("planted", planted)):
        np.save(os.path.join(folder, name + ".npy"), a[order])


if __name__ == "__main__":
    main()
