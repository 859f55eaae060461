"""Writes tests/golden/umap.bin: what umap-learn makes of a small real view, and how good its maps are.

    umap.py FEATURES.npy OUT      (umap-learn 0.5.12 and scikit-learn 1.9.1 made the committed file)

FEATURES (n, d) are those of one EC of configs/mini_synthetic.yaml; 500 of its rows on 32 principal components go into
the file. Little endian: int32 n, d; float32 x (n, d); int32 curves, each float64 min_dist, spread, a, b; int32 settings,
each int32 neighbours, normalise, float64 min_dist, float32 rho (n), sigma (n), int32 pairs, int16 (pairs, 2), float32
weight (pairs) of the fuzzy union with i < j, then for maps of 2 and of 1 dimensions float64 trustworthiness, recall: of 15
neighbours, means over five seeds.
"""
import struct
import sys
import warnings

import numpy as np
import umap
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA
from sklearn.manifold import trustworthiness
from umap.umap_ import find_ab_params, fuzzy_simplicial_set

N, D, SEEDS, K = 500, 32, 5, 15
CURVES = [(0.1, 1), (0, 1), (0.5, 1), (0.99, 1), (0.25, 2), (0, 0.5), (0.001, 3)]
SETTINGS = [(15, 0, 0.1), (10, 1, 0.0)]


def nearest(x, k):
    distance = cdist(x, x)      # scikit-learn's are not quite 0 between equal rows
    column = np.argsort(distance, 1, kind="stable")[:, :k]
    return np.take_along_axis(distance, column, 1).astype("f4"), column


def recall(x, y):
    a, b = nearest(x, K + 1)[1][:, 1:], nearest(y, K + 1)[1][:, 1:]
    return np.mean([len(set(i) & set(j)) / K for i, j in zip(a, b)])


def setting(neighbours, normalise, min_dist, x):
    if normalise:
        x = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-6)
    distance, column = nearest(x, neighbours)
    union, sigma, rho = fuzzy_simplicial_set(x, neighbours, np.random.RandomState(0), "euclidean", knn_indices=column,
                                             knn_dists=distance)[:3]
    union = union.tocoo()
    keep = union.row < union.col
    order = np.lexsort((union.col[keep], union.row[keep]))
    pairs = np.c_[union.row[keep], union.col[keep]][order]
    parts = [struct.pack("<iid", neighbours, normalise, min_dist), rho.astype("<f4").tobytes(), sigma.astype("<f4").tobytes(),
             struct.pack("<i", len(pairs)), pairs.astype("<i2").tobytes(), union.data[keep][order].astype("<f4").tobytes()]
    for dim in (2, 1):
        maps = [umap.UMAP(n_components=dim, n_neighbors=neighbours, min_dist=min_dist, random_state=s).fit_transform(x)
                for s in range(SEEDS)]
        figures = np.array([(trustworthiness(x, y, n_neighbors=K), recall(x, y)) for y in maps])
        print(f"{neighbours} neighbours, {dim} dimensions: trustworthiness and recall {figures.mean(0).round(4)}, "
              f"deviations {figures.std(0).round(4)}")
        parts.append(struct.pack("<dd", *figures.mean(0)))
    return b"".join(parts)


warnings.filterwarnings("ignore")
x = np.load(sys.argv[1]).astype(np.float64)
x = PCA(D, svd_solver="full").fit_transform(x[np.random.RandomState(0).permutation(len(x))[:N]]).astype("<f4")
curves = b"".join(struct.pack("<4d", m, s, *find_ab_params(s, m)) for m, s in CURVES)
with open(sys.argv[2], "wb") as out:
    out.write(struct.pack("<ii", N, D) + x.tobytes() + struct.pack("<i", len(CURVES)) + curves)
    out.write(struct.pack("<i", len(SETTINGS)) + b"".join(setting(*s, x) for s in SETTINGS))
