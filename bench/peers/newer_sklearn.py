#!/usr/bin/env python3
"""Times of numpy and scikit-learn for what `spotter bench influence`, `svm`, `density`, `dbscan_group` and `ward` do, on
the same numbers and threads.

    newer_sklearn.py [threads]

influence: the Hessian and its 50 leading eigenvectors by LAPACK (scipy), k-means with 25 centres from one start. svm: LinearSVC
with the hinge loss for 7 values of C and two folds, then on all rows; svc is the same with SVC, which the authors use. density:
the nearest neighbours alone, without a solver of the programme. dbscan_group: neighbours and DBSCAN as Cleanlab's Datalab calls
them. ward: the tree alone, by fastcluster from vectors and by scikit-learn, which uses one thread; `ward` is the faster. Needs
sklearn; fastcluster from PyPI where ward is to be compared with it.
"""
import importlib.util
import sys
import time
import warnings

import numpy as np

GROUPS = 16


def noise(i):
    h = (np.asarray(i, np.uint64) * np.uint64(2654435761)).astype(np.uint32)
    h = (h ^ h >> np.uint32(15)) * np.uint32(2246822519)
    h = (h ^ h >> np.uint32(13)) * np.uint32(3266489917)
    return ((h ^ h >> np.uint32(16)) + 0.5) / 2.0 ** 32 - 0.5


def data(n, d, spread):
    """bench_newer.c: fill_rows"""
    i, j = np.arange(n)[:, None], np.arange(d)
    x = noise(900000007 + i % GROUPS * 1000 + j) + spread * noise(i * d + j)
    i = i[:, 0]
    fails = (i % GROUPS < 2) != (noise(500000003 + i) < -0.45)
    return x.astype("f4"), (np.where(fails, 0.15, 0.85) + 0.25 * noise(700000001 + i)).astype("f4")


def influence(x, p):
    from scipy.linalg import eigh
    from sklearn.cluster import KMeans

    wide = np.hstack([x.astype(float), np.ones((len(x), 1))])
    p = p.astype(float)
    h = (wide.T * (p * (1 - p))) @ wide + 1e-6 * np.eye(wide.shape[1])
    dims = min(50, len(h))
    value, vector = eigh(h, subset_by_index=(len(h) - dims, len(h) - 1))
    mu = ((p - 1)[:, None] * wide) @ (vector / np.sqrt(value))
    return KMeans(25, n_init=1, random_state=0).fit_predict(mu)


def machines(x, p, make):
    from sklearn.model_selection import cross_val_score

    z = x.astype(float)
    z = (z - z.mean(0)) / z.std(0)
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    right = p >= 0.5
    score = [cross_val_score(make(c), z, right, cv=2, scoring="balanced_accuracy").mean() for c in 10.0 ** np.arange(-6, 1)]
    return make(10.0 ** (int(np.argmax(score)) - 6)).fit(z, right).decision_function(z)


def svm(x, p):
    from sklearn.svm import LinearSVC

    return machines(x, p, lambda c: LinearSVC(C=c, loss="hinge", class_weight="balanced", random_state=0))


def svc(x, p):
    from sklearn.svm import SVC

    return machines(x, p, lambda c: SVC(C=c, kernel="linear", class_weight="balanced"))


def density(x, p):
    from sklearn.neighbors import NearestNeighbors

    return NearestNeighbors(n_neighbors=10).fit(x).kneighbors()


def dbscan_group(x, p):
    from sklearn.cluster import DBSCAN
    from sklearn.neighbors import NearestNeighbors

    return DBSCAN(metric="precomputed").fit_predict(
        NearestNeighbors(n_neighbors=10, metric="cosine").fit(x).kneighbors_graph(mode="distance"))


def ward_fastcluster(x, p):
    import fastcluster

    return fastcluster.linkage_vector(x.astype(float), "ward")


def ward_sklearn(x, p):
    from sklearn.cluster import ward_tree

    return ward_tree(x.astype(float))


def main():
    from threadpoolctl import threadpool_limits

    warnings.filterwarnings("ignore")
    with threadpool_limits(int(sys.argv[1]) if len(sys.argv) > 1 else 2):
        trees = []
        for what in (influence, svm, svc, density, dbscan_group, ward_sklearn, ward_fastcluster):
            if what is ward_fastcluster and not importlib.util.find_spec("fastcluster"):
                continue
            x, p = data(3200, 512, 0.7 if what is dbscan_group else 4)
            what(x[:200], p[:200])
            since = time.perf_counter()
            what(x, p)
            seconds = time.perf_counter() - since
            if what.__name__.startswith("ward_"):
                trees.append(seconds)
            print(f"{what.__name__}: {seconds:.3f} s", flush=True)
        print(f"ward: {min(trees):.3f} s")


if __name__ == "__main__":
    main()
