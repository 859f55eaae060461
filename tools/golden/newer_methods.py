"""Writes tests/golden/newer_methods.bin: answers of scipy, scikit-learn and cleanlab for influence, svm, density, dbscan_group.

    newer_methods.py OUT      (scikit-learn 1.2.1, scipy 1.10.1, cleanlab 2.9.0 made the committed file)

Little endian; int32, float32 features and probabilities, else float64. A data set is n, d, x (n, d), p (n).
1. influence: data, dims, l (dims) and v (dims, d + 1), the greatest eigenvalues of the Hessian and their vectors; clusters,
   then for each cluster of k-means, by errors x error rate: rows, row (rows); the same for the sets of the rule.
2. svm: data, z (n, d) float64; for each C = 1e-6, ..., 1: the objective on all rows by SciPy, that of LinearSVC, LinearSVC's
   balanced accuracy by two folds; the decision values (n) at the best C, by SciPy.
3. density: cases; for each n, k, m, lambda, loss (n), neighbours (n, k), float32 x (n, 2), and the greatest f found by SLSQP
   from many starts and by all sets of m rows.
4. dbscan_group: cases; for each data, then cluster (n) after the drop of small ones, the flagged cluster (-1: none), for each
   cluster in the order of its number its score.
"""
import itertools
import struct
import sys
import types
import warnings

import numpy as np
from cleanlab.datalab.internal.issue_manager.underperforming_group import UnderperformingGroupIssueManager as Group
from scipy.optimize import minimize
from sklearn.cluster import KMeans
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import NearestNeighbors
from sklearn.svm import LinearSVC

out = open(sys.argv[1], "wb")
r = np.random.RandomState(11)
warnings.filterwarnings("ignore")


def ints(*v):
    out.write(struct.pack(f"<{len(v)}i", *v))


def put(a, kind="<f8"):
    out.write(np.ascontiguousarray(a, kind).tobytes())


def data(x, p):
    ints(*x.shape)
    put(x, "<f4")
    put(p, "<f4")


def groups(n, d, count, spread, wrong):
    """Rows around `count` places; the classifier fails in the groups `wrong`."""
    of = r.randint(0, count, n)
    x = (4 * r.randn(count, d)[of] + spread * r.randn(n, d)).astype("f4")
    p = np.where(np.isin(of, wrong), 0.05 + 0.3 * r.rand(n), 0.6 + 0.35 * r.rand(n)).astype("f4")
    return x, p, of


def listed(sets, error):
    sets = sorted(sets, key=lambda s: -error[s].sum() ** 2 / len(s))
    ints(len(sets))
    for s in sets:
        ints(len(s), *np.sort(s))


def rule(mu, right, rows, depth, accuracy, least, most, branches):
    if right[rows].mean() < accuracy:
        return [rows]
    if depth >= most or len(rows) < least:
        return []
    label = KMeans(branches, n_init=50, random_state=0).fit_predict(mu[rows])
    return [s for b in range(branches) for s in
            rule(mu, right, rows[label == b], depth + 1, accuracy, least, most, branches)]


def influence():
    x, p, _ = groups(160, 9, 4, 0.3, [2])
    dims = 6
    data(x, p)
    ints(dims)
    wide = np.hstack([x.astype(float), np.ones((len(x), 1))])
    p = p.astype(float)
    h = (wide.T * (p * (1 - p))) @ wide + 1e-6 * np.eye(wide.shape[1])
    value, vector = np.linalg.eigh(h)
    value, vector = value[::-1][:dims], vector.T[::-1][:dims]
    put(value)
    put(vector)
    mu = ((p - 1)[:, None] * wide) @ (vector.T / np.sqrt(value))
    label = KMeans(3, n_init=200, random_state=0).fit_predict(mu)
    ints(3)
    listed([np.flatnonzero(label == k) for k in range(3)], 1 - p)
    found = rule(mu, p >= 0.5, np.arange(len(x)), 0, 0.5, 8, 4, 2)
    print("influence", np.round(value, 2), np.bincount(label), [len(s) for s in found])
    listed(found, 1 - p)


def machine(z, sign, bound):
    """Weights with the intercept last: the dual by SciPy, then its equations solved for the multipliers within bounds."""
    rows = np.hstack([z, np.ones((len(z), 1))]) * sign[:, None]
    q = rows @ rows.T
    s = minimize(lambda a: (a @ q @ a / 2 - a.sum(), q @ a - 1), bound / 2, jac=True, bounds=[(0, b) for b in bound],
                 method="L-BFGS-B", options={"maxiter": 200000, "maxfun": 1000000, "ftol": 1e-17, "gtol": 1e-13, "maxcor": 60})
    free = (s.x > 1e-9 * bound) & (s.x < (1 - 1e-9) * bound)
    a = np.where(free, 0, s.x)
    a[free] = np.linalg.lstsq(q[np.ix_(free, free)], 1 - q[free] @ a, rcond=None)[0]
    if (a < 0).any() or (a > bound).any() or free.sum() == 0:
        a = s.x
    return a @ rows, a.sum() - a @ q @ a / 2


def svm():
    x, p, _ = groups(150, 7, 6, 2.5, [1, 4])
    p = np.where(r.rand(len(p)) < 0.1, 1 - p, p).astype("f4")
    data(x, p)
    right = np.where(p.astype(float) >= 0.5, 1, -1)
    z = (x - x.mean(0, dtype=float)) / x.std(0, dtype=float)
    z = (z / np.linalg.norm(z, axis=1, keepdims=True)).astype("f4").astype(float)
    put(z)
    best, scores = None, []
    for c in 10.0 ** np.arange(-6, 1):
        s = LinearSVC(C=c, loss="hinge", class_weight="balanced", tol=1e-9, max_iter=1000000)
        score = cross_val_score(s, z, right, cv=2, scoring="balanced_accuracy").mean()
        s.fit(z, right)
        weight = c * len(z) / 2 / np.where(right == 1, (right == 1).sum(), (right == -1).sum())
        w, dual = machine(z, right, weight)
        objective = [(v ** 2).sum() / 2 + weight @ np.maximum(0, 1 - right * (z @ v[:-1] + v[-1]))
                     for v in (w, np.append(s.coef_, s.intercept_))]
        print("svm", c, objective, (objective[0] - dual) / dual, score)
        put([*objective, score])
        scores.append(score)
        if best is None or score > best[0]:
            best = (score, c, z @ w[:-1] + w[-1])
    put(best[2])


def density():
    cases = 12
    ints(cases)
    for case in range(cases):
        n, k, m = (10, 3, 3) if case < 6 else (14, 4, 4)
        lam = (0.5, 1, 3)[case % 3]
        x = r.randn(n, 2).astype("f4")
        p = r.rand(n).astype("f4")
        loss = 1 - p.astype(float)
        near = np.sort(NearestNeighbors(n_neighbors=k).fit(x.astype(float)).kneighbors(return_distance=False), 1)
        q = np.zeros((n, n))
        np.put_along_axis(q, near, 1, 1)
        q = q + q.T

        def f(w):
            return -(loss @ w + lam / k * w @ q @ w / 2)

        best = max(-f(np.isin(np.arange(n), s).astype(float)) for s in itertools.combinations(range(n), m))
        whole = best
        for _ in range(60):
            w = r.rand(n)
            w *= m / max(w.sum(), m)
            s = minimize(f, w, jac=lambda w: -(loss + lam / k * q @ w), bounds=[(0, 1)] * n, method="SLSQP",
                         constraints={"type": "ineq", "fun": lambda w: m - w.sum(), "jac": lambda w: -np.ones(n)},
                         options={"maxiter": 500, "ftol": 1e-12})
            best = max(best, -s.fun)
        print("density", case, n, lam, round(whole, 4), round(best, 4))
        ints(n, k, m)
        put([lam])
        put(loss)
        put(near, "<i4")
        put(x, "<f4")
        put(p, "<f4")
        put([best])


def clusters(x, p):
    cosine = x.shape[1] > 3
    graph = NearestNeighbors(n_neighbors=10, metric="cosine" if cosine else "euclidean").fit(x.astype(float)) \
        .kneighbors_graph(mode="distance")
    me = types.SimpleNamespace(clustering_kwargs={}, OUTLIER_CLUSTER_LABELS=Group.OUTLIER_CLUSTER_LABELS,
                               NO_UNDERPERFORMING_CLUSTER_ID=Group.NO_UNDERPERFORMING_CLUSTER_ID, threshold=0.1,
                               min_cluster_samples=5)
    label = Group.perform_clustering(me, graph)
    kept = Group.filter_cluster_ids(me, label)
    scores, worst, _ = Group.get_underperforming_clusters(me, label, kept, np.ones(len(x), int), np.stack([1 - p, p], 1))
    print("dbscan_group", len(kept), {k: round(v, 3) for k, v in scores.items()}, worst, (label < 0).sum())
    ints(*np.where(np.isin(label, kept), label, -1))
    ints(worst if worst >= 0 else -1, len(kept))
    put([scores.get(k, 1) for k in sorted(kept)])


def dbscan():
    ints(3)
    x, p, of = groups(120, 6, 5, 0.5, [0])
    data(x, p)
    clusters(x, p)
    x, p, of = groups(130, 2, 6, 0.25, [3])
    p[of == 3] /= 20
    data(x, p)
    clusters(x, p)
    x = r.randn(90, 5).astype("f4")
    p = r.rand(90).astype("f4")
    data(x, p)
    clusters(x, p)


influence()
svm()
density()
dbscan()
