"""Writes tests/golden/domino.bin: the `domino` package (0.1.5) and scikit-learn from given responsibilities, and
scikit-learn's k-means from given centres.

    domino_mixture.py OUT      (domino 0.1.5 on scikit-learn 1.2.1 made the committed file; see bench/peers/domino_pypi.py)

Little endian. int32 cases; per case int32 n, d, k, classes, full, iterations, converged; float64 gamma, gamma_hat;
float32 x (n, d); uint8 y (n); float32 p (n, classes); float64 start (n, k), bounds (iterations), weights, means,
covariances, P, Q; int32 kept (min(k, 5)), the slices in the package's order; uint8 slice (n), the place in it of the one
that it puts each row in. Where both gammas are 0 scikit-learn itself is the oracle, and P, Q, kept and slice are of no
use. All is fitted in float64. Then int32 cases of k-means; per case int32 n, d, k, iterations; float64 inertia; float32 x
(n, d); float64 start (k, d), centres (k, d); int32 label (n).
"""
import os
import sys
import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bench/peers"))
from domino_pypi import load

CASES = [  # n, d, k, classes, full, gamma, gamma_hat, both labels
    (250, 20, 9, 2, 0, 10, 10, 0), (190, 13, 8, 2, 0, 5, 2, 1), (150, 7, 10, 3, 0, 1, 1, 1), (220, 5, 6, 2, 1, 3, 3, 1),
    (160, 9, 5, 2, 0, 0, 0, 1), (170, 4, 4, 2, 1, 0, 0, 1)]
KMEANS = [(300, 16, 12), (100, 3, 5), (40, 5, 8)]
SLICES = 5

warnings.filterwarnings("ignore")
upstream = load()
upstream.tqdm = lambda steps, **_: steps
r = np.random.RandomState(5)


def features(n, d, groups):
    """Rectified, in groups, as a network's are."""
    g = r.randint(0, groups, n)
    return np.maximum(r.randn(groups, d)[g] + 0.5 * r.randn(n, d) * (0.5 + r.rand(groups, d)[g]), 0).astype("f4"), g


class From(GaussianMixture):
    def _initialize_parameters(self, x, random_state):
        self._initialize(x, self.start)

    def _compute_lower_bound(self, _, norm):
        self.bounds.append(norm)
        return norm


class Domino(upstream.DominoMixture):
    def _initialize(self, x, y, y_hat, resp):
        self.start = resp.copy()
        super()._initialize(x, y, y_hat, resp)

    def _compute_lower_bound(self, _, norm):
        self.bounds.append(norm)
        return norm


def case(put, n, d, k, classes, full, gamma, gamma_hat, both):
    x, g = features(n, d, 6)
    y = (r.rand(n) * classes).astype(int) if both else np.ones(n, int)
    y[: classes if both else 0] = np.arange(classes)[: classes if both else 0]
    score = 2.5 * np.eye(classes)[y] * (g % 3 != 0)[:, None] + r.randn(n, classes)
    p = (np.exp(score) / np.exp(score).sum(1, keepdims=True)).astype("f4")
    kind = dict(n_components=k, covariance_type="full" if full else "diag")
    m = Domino(init_params="confusion", y_log_likelihood_weight=gamma, y_hat_log_likelihood_weight=gamma_hat, random_state=3,
               confusion_noise=1e-2, **kind)
    m.bounds = []
    x64, p64 = x.astype("f8"), p.astype("f8")
    m.fit(x64, y, p64)
    proba = m.predict_proba(x64, y, p64)
    if not gamma:
        s = From(**kind)
        s.start, s.bounds = m.start, []
        s.fit(x64)
        proba = s.predict_proba(x64)
        m.weights_, m.means_, m.covariances_, m.n_iter_, m.converged_, m.bounds = (
            s.weights_, s.means_, s.covariances_, s.n_iter_, s.converged_, s.bounds)
    kept = (-np.abs((m.y_hat_probs - m.y_probs).max(axis=1))).argsort(kind="stable")[:SLICES]
    put([n, d, k, classes, full, m.n_iter_, m.converged_], "<i4")
    put([gamma, gamma_hat], "<f8")
    put(x, "<f4")
    put(y, "u1")
    put(p, "<f4")
    put(m.start, "<f8")
    for a in (m.bounds, m.weights_, m.means_, m.covariances_, m.y_probs, m.y_hat_probs):
        put(a, "<f8")
    put(kept, "<i4")
    put(proba[:, kept].argmax(1), "u1")
    print(n, d, k, m.n_iter_, m.converged_, m.bounds[-1], kept)


def kmeans(put, n, d, k):
    x, _ = features(n, d, k)
    start = x[r.permutation(n)[:k]].astype("f8")
    m = KMeans(k, init=start, n_init=1, algorithm="lloyd").fit(x.astype("f8"))
    put([n, d, k, m.n_iter_], "<i4")
    put(m.inertia_, "<f8")
    put(x, "<f4")
    put(start, "<f8")
    put(m.cluster_centers_, "<f8")
    put(m.labels_, "<i4")
    print(n, d, k, m.n_iter_, m.inertia_)


with open(sys.argv[1], "wb") as out:
    def write(a, kind):
        out.write(np.asarray(a, kind).tobytes())

    write(len(CASES), "<i4")
    for c in CASES:
        case(write, *c)
    write(len(KMEANS), "<i4")
    for c in KMEANS:
        kmeans(write, *c)
