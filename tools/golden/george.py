"""Writes tests/golden/george.bin: silhouettes and the choice of a number of clusters, of scikit-learn.

    george.py VIEW OUT      (scikit-learn 1.2.1 made the committed file; VIEW: cache/*/*.view of a run of mini_synthetic)

Little endian. int32 cases; per case int32 n, d, labellings, search, float32 x (n, d); per labelling int32 k, uint16 label (n),
float64 silhouette (n), float64 score, the unweighted mean over clusters of their mean silhouettes. With search the labellings
are the best of 20 starts of a mixture of 2, 3, ... components, and int32 chosen follows: the last of the best score.
Distances are scipy's, coordinate by coordinate; scikit-learn's own lose half their digits where points are near.
"""
import struct
import sys
import warnings

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.manifold import TSNE
from sklearn.metrics import silhouette_samples
from sklearn.mixture import GaussianMixture


def view(path):
    b = open(path, "rb").read()
    n, d = struct.unpack_from("<ii", b, len(b) - struct.unpack_from("<Q", b, 8)[0])
    return np.frombuffer(b, "<f4", n * d, len(b) - struct.unpack_from("<Q", b, 8)[0] + 8).reshape(n, d)


def judge(x, label):
    s = silhouette_samples(cdist(x, x), label, metric="precomputed")
    return s, np.mean([s[label == k].mean() for k in np.unique(label)])


def mixture(x, k):
    return GaussianMixture(k, n_init=20, random_state=0).fit_predict(x)


def cases():
    feature = view(sys.argv[1])[:400]
    x = feature / np.linalg.norm(feature, axis=1, keepdims=True)
    yield TSNE(random_state=0, init="pca", learning_rate="auto").fit_transform(x), None
    r = np.random.RandomState(5)
    centre = r.randn(6, 2) * 8
    yield centre[np.arange(200) % 6] + r.randn(200, 2), None
    x = r.randn(70, 130)
    x[40:50] = x[0]                                                 # equal points
    first = r.randint(0, 3, 70)
    alone, holes, wide = first.copy(), 5 * first, r.randint(0, 40, 70)
    alone[7] = 3                                                    # a point by itself; empty clusters between
    yield x, [first, alone, holes, wide]
    yield np.repeat(r.randn(2, 1), 20, 0), [np.arange(40) // 20, np.arange(40) % 2]


warnings.filterwarnings("ignore")
with open(sys.argv[2], "wb") as out:
    def put(a, kind):
        out.write(np.asarray(a, kind).tobytes())

    every = list(cases())
    put(len(every), "<i4")
    for x, labels in every:
        x = x.astype("f4")
        x64 = x.astype(float)
        search = labels is None
        labels = labels or [mixture(x64, k) for k in range(2, 11)]
        put([*x.shape, len(labels), search], "<i4")
        put(x, "<f4")
        scores = []
        for label in labels:
            s, score = judge(x64, label)
            put(label.max() + 1, "<i4")
            put(label, "<u2")
            put(s, "<f8")
            put(score, "<f8")
            scores.append(score)
        if search:
            chosen = 2 + max(i for i, s in enumerate(scores) if s == max(scores))
            print(chosen, np.round(scores, 4))
            put(chosen, "<i4")
