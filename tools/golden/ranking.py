"""Writes tests/golden/ranking.bin: precision at k, average precision and coherence of hypotheses by scikit-learn and SciPy.

    ranking.py OUT      (scikit-learn 1.2.1 and SciPy 1.10.1 made the committed file)

dcbench: precision_score of the rows whose ordinal rank (scipy.stats.rankdata of the negated scores) is at most k, and
average_precision_score, of the slice or its complement with the greatest average precision. GESD: hits among a slice's first k
members / min(k, size). Coherence: edges of kneighbors_graph inside a slice / (its rows * 10). Little endian: int32 cases; per
case int32 n, d, blindspots, hypotheses; float32 x (n, d), confidence (n); uint32 mask (n); per hypothesis int32 size, rows,
soft, float32 weight (n) where soft; float64 dcbench P@10, P@25, AP, gesd P@10, P@25, AP; float64 coherence of each hypothesis.
"""
import sys

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import average_precision_score, precision_score
from sklearn.neighbors import kneighbors_graph

r = np.random.RandomState(11)


def first(scores, k):
    return rankdata(-scores, method="ordinal") <= k


def dcbench(truth, rankings):
    ap = [average_precision_score(truth, s) for s in rankings]
    best = rankings[int(np.argmax(ap))]
    return [precision_score(truth, first(best, 10)), precision_score(truth, first(best, 25)), max(ap)]


def gesd(truth, slices, n):
    """slices: pairs of members and the scores that order them."""
    def precision(members, scores, k):
        taken = members[np.argsort(-scores, kind="stable")][:k]
        return truth[taken].sum() / min(k, truth.sum())

    def whole(members, scores, others):
        s = others.copy()
        s[members] = s.max() + 1 + scores - scores.min()
        return average_precision_score(truth, s)

    return [max(precision(m, s, k) for m, s, _ in slices) for k in (10, 25)] + [max(whole(m, s, o) for m, s, o in slices)]


def case(n, d, blindspots, soft, ties, sign=1):
    mask = np.zeros(n, "u4")
    for m in range(blindspots):
        mask[r.choice(n, max(3, n // (6 + 3 * m)), replace=False)] |= 1 << m
    x = (r.randn(n, d) + 2 * (mask[:, None] == np.arange(1, d + 1))).astype("f4")
    confidence = r.rand(n).astype("f4")
    found, rankings, slices = [], [], []
    for k, is_soft in enumerate(soft):
        near = sign * (mask >> (k % blindspots) & 1).astype(float) + r.randn(n) * (0.3 + 0.3 * k)
        members = np.flatnonzero(near > 0.6)
        weight = (1 / (1 + np.exp(-3 * near))).astype("f4")
        if ties:
            weight = np.round(weight, 1).astype("f4")
        found.append((members, weight if is_soft else None))
        inside = np.zeros(n)
        inside[members] = 1
        w = weight.astype(float)
        rankings.append(w if is_soft else inside)
        slices.append((members, w[members] if is_soft else np.zeros(len(members)), w if is_soft else np.zeros(n)))
    complements = [-s for s in rankings]
    want = np.zeros((blindspots, 6))
    for m in range(blindspots):
        truth = (mask >> m & 1).astype(int)
        want[m] = dcbench(truth, rankings + complements) + gesd(truth, slices, n)
    graph = kneighbors_graph(x.astype(float), 10)
    coherence = [graph[m][:, m].sum() / (10 * len(m)) for m, _ in found]
    return x, confidence, mask, blindspots, found, want.mean(0), coherence


CASES = [case(400, 5, 3, [1, 1, 0, 1, 0], False), case(300, 4, 2, [1, 1, 1], True), case(250, 4, 2, [0, 0, 0, 0], False),
         case(40, 3, 2, [0, 1], False), case(16, 3, 1, [1, 0], True), case(500, 8, 4, [1] * 10, False),
         case(200, 4, 2, [1, 0], False, -4)]
with open(sys.argv[1], "wb") as out:
    def put(values, kind):
        out.write(np.ascontiguousarray(values, dtype=kind).tobytes())

    put(len(CASES), "<i4")
    for x, confidence, mask, blindspots, found, want, coherence in CASES:
        put([*x.shape, blindspots, len(found)], "<i4")
        put(x, "<f4")
        put(confidence, "<f4")
        put(mask, "<u4")
        for members, weight in found:
            put(len(members), "<i4")
            put(members, "<i4")
            put(weight is not None, "<i4")
            if weight is not None:
                put(weight, "<f4")
        put(want, "<f8")
        put(coherence, "<f8")
        print(x.shape, np.round(want, 4), np.round(coherence, 3))
