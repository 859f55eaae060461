#!/usr/bin/env python3
"""strata.py > tests/golden/strata.txt: tails of sums of independent hypergeometric numbers by scipy.stats.hypergeom and
numpy.convolve. A line: strata, then rows, group, covered of each, then inside, then the tail."""
import numpy as np
from scipy.stats import hypergeom

r = np.random.default_rng(5)
for strata in (1, 1, 2, 3, 5, 10, 40):
    for least, most in ((2, 60), (100, 2000)):
        cells, total = [], np.ones(1)
        for _ in range(strata):
            rows = int(r.integers(least, most))
            group, covered = int(r.integers(0, rows // 2 + 1)), int(r.integers(0, rows // 3 + 1))
            cells.append((rows, group, covered))
            total = np.convolve(total, hypergeom.pmf(np.arange(covered + 1), rows, group, covered))
        mean = sum(g * k / n for n, g, k in cells)
        for inside in (int(mean), int(1.3 * mean) + 1, int(1.8 * mean) + 2):
            print(strata, *(v for cell in cells for v in cell), inside, repr(float(total[inside:].sum())))
