"""Writes tests/golden/plain.bin: the slices of kmeans, ward and mistakes, by scikit-learn and numpy.

    plain.py OUT      (scikit-learn 1.2.1 made the committed file)

Little endian. int32 n, d, float32 x (n, d), float32 confidence (n); then for k-means with 8 clusters, Ward with 8, Ward with 20
and the mistakes: int32 slices; per slice, best first, float64 score, int32 rows, int32 row (rows), ascending.

The eight groups are far apart, so that k-means has one optimum; it is the best of 50 starts.
"""
import sys

import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.metrics import silhouette_score

r = np.random.RandomState(4)
n, d, groups = 240, 7, 8
group = np.arange(n) % groups
x = ((r.randn(groups, d) * 4)[group] + r.randn(n, d) * 0.7).astype("f4")
right = np.where((group == 2) | (group == 5), 0.15, 0.9) + r.rand(n) * 0.1
right[(group < 2) & (r.rand(n) < 0.4)] = 0.3                         # a part of two more groups
confidence = right.astype("f4")
error = 1 - confidence.astype(float)


def unit(rows):
    u = x[rows].astype(float)
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    u -= u.mean(0)
    return u / np.sqrt((u**2).sum(1).mean())


def slices(label, rows):
    made = [rows[label == k] for k in np.unique(label)]
    scored = [(len(s) * error[s].mean()**2, s) for s in made]
    return sorted(scored, key=lambda s: -s[0])


everyone = np.arange(n)
both = np.hstack([unit(everyone), confidence[:, None].astype(float)])
wrong = np.flatnonzero(error > 0.5)
mine = unit(wrong)
cuts = [AgglomerativeClustering(k).fit_predict(mine) for k in range(2, 8)]
judged = [silhouette_score(mine, cut) for cut in cuts]
print(len(wrong), "wrong;", np.round(judged, 4))
answers = [slices(KMeans(8, n_init=50, random_state=0).fit_predict(both), everyone),
           slices(AgglomerativeClustering(8).fit_predict(both), everyone),
           slices(AgglomerativeClustering(20).fit_predict(both), everyone),
           slices(cuts[int(np.argmax(judged))], wrong)]
with open(sys.argv[1], "wb") as out:
    def put(a, kind):
        out.write(np.ascontiguousarray(a, kind).tobytes())

    put([n, d], "<i4")
    put(x, "<f4")
    put(confidence, "<f4")
    for answer in answers:
        put(len(answer), "<i4")
        for score, rows in answer:
            put(score, "<f8")
            put(len(rows), "<i4")
            put(rows, "<i4")
