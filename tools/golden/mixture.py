"""Writes tests/golden/mixture.bin: scikit-learn's GaussianMixture from given responsibilities.

    mixture.py OUT      (scikit-learn 1.2.1 made the committed file)

Little endian. int32 cases; per case int32 n, d, ks, float64 soft, float32 x (n, d); for k = 1..ks: uint8 start (n),
float64 log-likelihood, BIC, int32 iterations, converged, float64 weights, means, covariances, uint8 label (n).
EM starts from (1 - soft) * onehot(start) + soft / k. The ridge is 1e-6, tol 1e-3, 100 iterations at most.
"""
import sys
import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture

CASES = [  # n, d, largest k, blobs, soft, empty: components without a point at the start
    # 1 and 6 dimensions take the path that is not compiled apart
    (400, 3, 12, 7, 0.0, 0), (157, 2, 5, 4, 0.0, 0), (130, 4, 4, 3, 0.3, 0), (200, 6, 4, 3, 0.3, 0), (90, 1, 3, 2, 0.0, 0),
    (70, 2, 4, 3, 0.0, 1)]


class From(GaussianMixture):
    def _initialize_parameters(self, x, random_state):
        self._initialize(x, self.resp)


warnings.filterwarnings("ignore")
r = np.random.RandomState(7)
with open(sys.argv[1], "wb") as out:
    def put(a, kind):
        out.write(np.asarray(a, kind).tobytes())

    put(len(CASES), "<i4")
    for n, d, ks, blobs, soft, empty in CASES:
        which = r.randint(0, blobs, n)
        spread = r.randn(blobs, d, d) * 0.06
        x = (r.rand(blobs, d)[which] + np.einsum("nij,nj->ni", spread[which], r.randn(n, d))).astype("f4")
        put([n, d, ks], "<i4")
        put(soft, "<f8")
        put(x, "<f4")
        for k in range(1, ks + 1):
            start = KMeans(max(1, k - empty), n_init=1, random_state=k).fit_predict(x)
            g = From(k)
            g.resp = (1 - soft) * np.eye(k)[start] + soft / k
            x64 = x.astype(float)
            label = g.fit(x64).predict(x64)
            put(start, "u1")
            put([g.score(x64) * n, g.bic(x64)], "<f8")
            put([g.n_iter_, g.converged_], "<i4")
            for a in (g.weights_, g.means_, g.covariances_):
                put(a, "<f8")
            put(label, "u1")
