#!/usr/bin/env python3
"""Time of numpy and SciPy for `spotter bench proof` on the same rows, errors and tests: the errors of each class's judging rows
are drawn 9,999 times (by choice, which takes a quarter of permuted's time), the wrong rows of all tests are one product of
matrices a class, and the least p of tests that are as sure or less decides (Westfall and Young 1993, step-down).

    proof_numpy.py [threads]      a line a case: op, case, seconds
"""
import os
import sys
import time

THREADS = sys.argv[1] if len(sys.argv) > 1 else "1"
os.environ.update(OMP_NUM_THREADS=THREADS, OPENBLAS_NUM_THREADS=THREADS)

import numpy as np
from scipy.stats import hypergeom

DRAWS, AT_ONCE, EQUAL = 9999, 500, 1 + 1e-9


def below(a, b, percent):
    """bench_proof.c: has_below"""
    h = (np.asarray(a, np.uint64) * np.uint64(2654435761) + np.uint64(b * 2246822519 % 2 ** 32)).astype(np.uint32)
    h = (h ^ h >> np.uint32(15)) * np.uint32(2246822519)
    h = (h ^ h >> np.uint32(13)) * np.uint32(3266489917)
    return ((h ^ h >> np.uint32(16)) >> np.uint32(16)).astype(np.uint64) * np.uint64(100) < np.uint64(percent << 16)


def families(classes, rows, tests):
    """Of each judging part its classes: errors, and the tests' rows as a matrix of 0 and 1."""
    for judging in (0, 1):
        found = []
        for k in range(classes):
            at = k * rows + np.arange(judging, rows, 2)
            wrong, covered = below(at, 1, 10), []
            for number in range(k * tests, (k + 1) * tests):
                if number % 2 == judging:
                    in_it = below(at, number + 2, 2 + number % 20)
                    if number % 10 == 0:
                        in_it |= wrong & below(at, number + 100002, 50)
                    covered.append(in_it)
            found.append((wrong, np.array(covered, np.float32)))
        yield found


def corrected(family, rng):
    """p of a family's tests, corrected for their number; a test's p is that of the hypergeometric distribution."""
    p, drawn = [], []
    for wrong, covered in family:
        sizes, own = covered.sum(1).astype(int), (covered @ wrong.astype(np.float32)).astype(int)
        tails = [np.cumsum(hypergeom.pmf(np.arange(min(n, wrong.sum()) + 1), len(wrong), wrong.sum(), n)[::-1])[::-1]
                 for n in sizes]                     # hypergeom.sf adds up anew for each number
        p += [tail[n] for tail, n in zip(tails, own)]
        of_class = []
        for first in range(0, DRAWS, AT_ONCE):
            count = min(AT_ONCE, DRAWS - first)
            errors = np.zeros((count, len(wrong)), np.float32)
            for draw in errors:
                draw[rng.choice(len(wrong), wrong.sum(), replace=False, shuffle=False)] = 1
            of_class.append((errors @ covered.T).astype(np.int64))
        hits = np.concatenate(of_class)
        drawn += [tail[hits[:, t]] for t, tail in enumerate(tails)]
    p, drawn = np.array(p), np.array(drawn)
    order = np.argsort(p)
    least = np.minimum.accumulate(drawn[order][::-1])[::-1]
    share = (1 + (least <= p[order, None] * EQUAL).sum(1)) / (1 + DRAWS)
    out = np.empty(len(p))
    out[order] = np.minimum(2 * np.maximum.accumulate(share), 1)
    return out


for case, shape in (("10 classes", (10, 10000, 60)), ("one class", (1, 100000, 600))):
    both, rng = list(families(*shape)), np.random.default_rng(0)
    start = time.perf_counter()
    found = [corrected(family, rng) for family in both]
    seconds = time.perf_counter() - start
    confirmed = sum((p <= 0.05).sum() for p in found)
    print(f"proof\t9,999 draws, 600 tests, 100,000 rows in {case}\t{seconds:.3f}\n# {confirmed} tests up to 0.05", flush=True)
