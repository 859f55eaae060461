"""Writes tests/golden/ward.bin: Ward's trees by scipy, their cuts by scikit-learn.

    ward.py OUT      (scipy 1.10.1 and scikit-learn 1.2.1 made the committed file)

Little endian. int32 cases; per case int32 n, d, cuts, float32 x (n, d), float64 height (n - 1), ascending; per cut int32 k,
int32 label (n). scikit-learn merges by its own code; where scipy's tree has the same cut, it is written.
"""
import sys

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score


def cases():
    r = np.random.RandomState(3)
    centre = r.randn(9, 5) * 6
    yield centre[np.arange(150) % 9] + r.randn(150, 5)
    yield r.randn(140, 33)                                          # no clusters
    x = r.randn(90, 4)
    x[60:] = x[:30]                                                 # pairs of equal rows
    yield x
    yield 1e6 + r.randn(70, 3)                                      # far from the origin
    yield np.exp(r.randn(130, 1) * 3)                               # one column, of many sizes
    yield r.randn(2, 3)


with open(sys.argv[1], "wb") as out:
    def put(a, kind):
        out.write(np.ascontiguousarray(a, kind).tobytes())

    every = [x.astype("f4") for x in cases()]
    put(len(every), "<i4")
    for x in every:
        x64 = x.astype(float)
        tree = linkage(x64, "ward")
        cuts = [k for k in (2, 3, 7, 20, 50) if k <= len(x) // 2] or [2]
        put([*x.shape, len(cuts)], "<i4")
        put(x, "<f4")
        put(np.sort(tree[:, 2]), "<f8")
        for k in cuts:
            label = AgglomerativeClustering(k, linkage="ward").fit_predict(x64)
            assert adjusted_rand_score(label, fcluster(tree, k, "maxclust")) == 1
            put(k, "<i4")
            put(label, "<i4")
