#!/usr/bin/env python3
"""Times of numpy, scikit-learn, faiss and fastcluster for what `spotter bench influence`, `svm`, `density`, `dbscan_group`,
`neighbours`, `kmeans` and `ward` do, on the same numbers and threads.

    newer_sklearn.py [threads] [op ...]      a line a case: op, case, peer, seconds; without ops all of them

influence: the Hessian and its 50 leading eigenvectors by LAPACK (scipy), k-means with 25 centres from one start. svm: LinearSVC
with the hinge loss for 7 values of C and two folds, then on all rows; svc is the same with SVC, which the authors use. density:
scikit-learn's nearest neighbours alone, without a solver of the programme. dbscan_group: neighbours and DBSCAN as Cleanlab's
Datalab calls them. neighbours: the ten nearest, by faiss and by scikit-learn. kmeans: 30 clusters from one start. ward: the
tree alone, by fastcluster from vectors and by scikit-learn, which both use one thread. Needs sklearn; a peer that is not there
is left out.
"""
import importlib.util
import itertools
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


def neighbours_faiss(x, p):
    import faiss

    index = faiss.IndexFlatL2(x.shape[1])
    index.add(x)
    return index.search(x, 11)          # a row is its own neighbour there


def kmeans(x, p):
    """by_kmeans.c's rows: of length 1, less their mean, of mean squared length 1, with the confidence."""
    from sklearn.cluster import KMeans

    z = x / np.linalg.norm(x, axis=1, keepdims=True)
    z -= z.mean(0)
    z = np.column_stack([z / np.sqrt((z ** 2).sum(1).mean()), p])
    return KMeans(30, n_init=1, random_state=0).fit_predict(z.astype(np.float32))


def ward_fastcluster(x, p):
    import fastcluster

    return fastcluster.linkage_vector(x.astype(float), "ward")


def ward_sklearn(x, p):
    from sklearn.cluster import ward_tree

    return ward_tree(x.astype(float))


CASES = {   # op: cases with rows, features and spread; what is timed with the words for it
    "influence": ([("3,200 x 512", 3200, 512, 4)], {"SciPy and scikit-learn": influence}),
    "svm": ([("3,200 x 512", 3200, 512, 4)], {"scikit-learn's LinearSVC": svm}),
    "svc": ([("3,200 x 512", 3200, 512, 4)], {"scikit-learn's SVC": svc}),
    "density": ([("3,200 x 512", 3200, 512, 4)], {"scikit-learn's neighbours alone": density}),
    "dbscan_group": ([("3,200 x 512", 3200, 512, 0.7)], {"scikit-learn": dbscan_group}),
    "neighbours": ([("3,200 x 512, the ten nearest", 3200, 512, 4), ("20,000 x 512, the ten nearest", 20000, 512, 4)],
                   {"faiss": neighbours_faiss, "scikit-learn": density}),
    "kmeans": ([("3,200 x 512", 3200, 512, 4)], {"scikit-learn": kmeans}),
    "ward": ([("3,200 x 512", 3200, 512, 4), ("20,000 x 64", 20000, 64, 4)],
             {"scikit-learn, the tree alone": ward_sklearn, "fastcluster, the tree alone": ward_fastcluster}),
}


def main():
    from threadpoolctl import threadpool_limits

    warnings.filterwarnings("ignore")
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    if importlib.util.find_spec("faiss"):
        import faiss
        faiss.omp_set_num_threads(threads)
    with threadpool_limits(threads):
        for op in sys.argv[2:] or CASES:
            cases, peers = CASES[op]
            for (case, n, d, spread), (peer, what) in itertools.product(cases, peers.items()):
                x, p = data(n, d, spread)
                try:
                    what(x[:200], p[:200])
                except ImportError as lacking:
                    print(f"# {lacking}", flush=True)
                    continue
                since = time.perf_counter()
                what(x, p)
                print(f"{op}\t{case}\t{peer}\t{time.perf_counter() - since:.4f}", flush=True)


if __name__ == "__main__":
    main()
