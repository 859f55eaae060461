#!/usr/bin/env python3
"""bench/power.py one|ten NUMBER N: where the proof of `discover` loses planted groups, on N worlds whose truth is known.

one RATE    2,000 rows of one class, 8 % of them wrong, and a cloud of 50 of which this share is
            wrong; at 0.08 there is nothing to find
ten MORE    ten classes of 500 rows, 5 to 30 % wrong, and five groups of 25 to 100 rows that fail so much more often

Counts planted groups: confirmed by the proof; whose slice would be confirmed if it were the only test (p at half the level in
one of the halves); if the slices of the planted groups, and no others, were tested (Bonferroni); with Bonferroni's correction
over all tests. A slice is a group's if half of its rows are the group's and it has a quarter of them. Of one class also: the
group's own rows as one test, on half of the rows at half the level, and on all of them. Then, by numpy, how often two halves
find something in clusters that all fail alike, if their p of the slices that they found are joined by Stouffer's sum.

Runs the library that SPOTTER_LIBRARY names."""
import ctypes as ct
import os
import sys

import numpy as np
from scipy.stats import hypergeom, norm

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools", "python"))
from spotter import _library as side  # noqa: E402

LEVEL = 0.05


def one_class(rate, t):
    r = np.random.default_rng([31337, t])
    e = r.normal(size=(2000, 16))
    e[np.arange(50, 2000), r.integers(0, 4, 1950)] += 4
    e[:50, 8:12] += 3
    group = np.where(np.arange(2000) < 50, 0, -1)
    return e, np.zeros(2000, "i4"), r.random(2000) < np.where(group == 0, rate, 0.08), group


def ten_classes(more, t):
    r = np.random.default_rng([41414, t, int(100 * more)])
    y = np.repeat(np.arange(10), 500).astype("i4")
    centre, part = r.normal(0, 3, (10, 3, 16)), r.integers(0, 3, 5000)
    e = centre[y, part] + r.normal(size=(5000, 16))
    base = r.uniform(0.05, 0.3, 10)
    rate, group = base[y].copy(), np.full(5000, -1)
    for g in range(5):
        k, size = int(r.choice(10)), int(r.choice([25, 50, 75, 100]))
        rows = r.choice(np.flatnonzero((y == k) & (group < 0)), size, replace=False)
        e[rows] = e[rows].mean(0) + r.normal(0, 2.5, 16) + r.normal(size=(size, 16))
        group[rows], rate[rows] = g, min(base[k] + more, 1)
    return e, y, r.random(5000) < rate, group


def tests_of(c, e, y, wrong, group, seed):
    """(confirmed, rows, rows of each planted group, part, p) of each test, and the groups' sizes."""
    e, classes = np.ascontiguousarray(e, "f4"), max(2, int(y.max()) + 1)
    p = np.full((len(e), classes), 0.2 / (classes - 1), "f4")
    p[np.arange(len(e)), np.where(wrong, (y + 1 + np.arange(len(e)) % (classes - 1)) % classes, y)] = 0.8
    own = np.ascontiguousarray(p[np.arange(len(e)), y])
    names = (ct.c_char_p * classes)(*[b"c%d" % k for k in range(classes)])
    s = side.Subject(n=len(e), d=e.shape[1], classes=classes, feature=e.ctypes.data, target=y.ctypes.data, prob=p.ctypes.data,
                     confidence=own.ctypes.data, class_name=names, group=None, groups=0)
    o, proof, found = side.lib.spot_discover_defaults(), side.lib.spot_proof_defaults(), side.Findings()
    proof.seed, o.cls, o.neighbours, o.proof = seed, -3 if y.any() else -2, 0, ct.pointer(proof)
    c("spot_discover", ct.byref(found), ct.byref(s), ct.byref(o))
    out, groups = [], range(int(group.max()) + 1)
    for f in found.finding[:found.count]:
        for t in f.slice[:f.slices]:
            if t.proof:
                q, rows = t.proof.contents, np.array(t.row[:t.size])
                hit = [int((group[rows] == g).sum()) for g in groups]
                out += [(q.claim == 2, t.size, hit, z.part, z.p) for z in q.piece[:q.pieces]]
    side.lib.spot_findings_close(ct.byref(found))
    return out, [int((group == g).sum()) for g in groups]


def least(tests, part):
    return min([t[4] for t in tests if t[3] == part], default=1)


def run(c, kind, number, times):
    told = dict.fromkeys(("planted groups", "the proof", "alone", "planted slices only", "Bonferroni", "own rows, a half",
                          "own rows, all"), 0)
    tests, any_found = 0, 0
    for t in range(times):
        e, y, wrong, group = one_class(number, t) if kind == "one" else ten_classes(number, t)
        all_tests, sizes = tests_of(c, e, y, wrong, group, t)
        tests, any_found = tests + len(all_tests), any_found + any(x[0] for x in all_tests)
        for g, size in enumerate(sizes):
            mine = [x for x in all_tests if 2 * x[2][g] >= x[1] and 4 * x[2][g] >= size]
            p = min(least(mine, 0), least(mine, 1))
            told["planted groups"] += 1
            told["the proof"] += any(x[0] for x in mine)
            told["alone"] += p <= LEVEL / 2
            told["planted slices only"] += p <= LEVEL / 2 / len(sizes)
            told["Bonferroni"] += any(x[4] <= LEVEL / 2 / sum(z[3] == x[3] for z in all_tests) for x in mine)
        if kind == "one":
            own, half = wrong[:50].sum(), wrong[:25].sum()
            told["own rows, all"] += hypergeom.sf(own - 1, 2000, wrong.sum(), 50) <= LEVEL
            told["own rows, a half"] += hypergeom.sf(half - 1, 1000, half + wrong[50:1025].sum(), 25) <= LEVEL / 2
    print(f"{kind} {number}, {times} worlds: {any_found} confirm a slice; {tests / times:.0f} tests each; "
          + ", ".join(f"{k} {v}" for k, v in told.items() if v), flush=True)


def joined():
    r, n = np.random.default_rng(1), 200000
    for clusters in (5, 10, 30):
        a, b, i = r.normal(size=(n, clusters)), r.normal(size=(n, clusters)), np.arange(n)
        first, second = b[i, a.argmax(1)], a[i, b.argmax(1)]
        sums = norm.sf((first + second) / 2 ** 0.5) <= LEVEL
        apart = np.minimum(norm.sf(first), norm.sf(second)) <= LEVEL / 2
        print(f"{clusters} equal clusters: joined {100 * sums.mean():.1f} %, joined where both found the same "
              f"{100 * (sums & (a.argmax(1) == b.argmax(1))).mean():.1f} %, each at half the level {100 * apart.mean():.1f} %")


if __name__ == "__main__":
    with side.Context("cpu", 1) as context:
        run(context, sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))
    joined()
