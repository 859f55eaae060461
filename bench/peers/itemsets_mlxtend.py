#!/usr/bin/env python3
"""mlxtend's time for bench/bench_itemsets.c's row: FP-growth and rules of the same 1,712 pictures, support .005, confidence
.1; needs `pip install mlxtend`."""
import time

import mlxtend
import numpy
import pandas
from mlxtend.frequent_patterns import association_rules, fpgrowth

KINDS, OF_KIND, MOST, PICTURES, KEYWORDS = 20, 20, 16, 1712, 515


def pictures():
    x = 1

    def draw(below):
        nonlocal x
        x = (x * 1664525 + 1013904223) & 0xffffffff
        return (x >> 16) % below

    for _ in range(PICTURES):
        kind, items = draw(KINDS), []
        for k in range(OF_KIND):
            if draw(100) < 60 // (1 + k // 2) and len(items) < MOST - 1:
                items.append((kind * 7 + k) % (KINDS * OF_KIND))
        yield items + [KINDS * OF_KIND + (kind * 5 + draw(6)) % (KEYWORDS - KINDS * OF_KIND)]


def main():
    there = numpy.zeros((PICTURES, KEYWORDS), bool)
    for row, items in enumerate(pictures()):
        there[row, items] = True
    frame, times = pandas.DataFrame(there), []
    for _ in range(3):
        start = time.perf_counter()
        sets = fpgrowth(frame, min_support=.005)
        rules = association_rules(sets, metric="confidence", min_threshold=.1)
        times.append(time.perf_counter() - start)
    print(f"mlxtend {mlxtend.__version__}: {sorted(times)[1]:.4f} s; {len(sets)} sets, {len(rules)} rules; keywords of a "
          f"picture {there.sum(1).mean():.2f}")


main()
