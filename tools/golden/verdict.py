"""tests/golden/verdict.txt: Spearman's rank correlations by SciPy with percentile intervals of a bootstrap over pairs.

Each case: n, x (n), y (n), the correlation, the ends of its 95 % interval over 20,000 draws."""
import os

import numpy as np
from scipy.stats import spearmanr

rng = np.random.default_rng(18)
here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "..", "..", "tests", "golden", "verdict.txt"), "w") as f:
    for n, noise, steps in ((14, 0.5, 100), (18, 0.7, 8), (40, 1.5, 5), (40, 0.2, 40)):
        x = np.round(rng.uniform(size=n) * steps) / steps
        y = np.round((x + noise * rng.normal(size=n)) * steps) / steps
        drawn = []
        for _ in range(20000):
            k = rng.integers(0, n, n)
            if np.ptp(x[k]) > 0 and np.ptp(y[k]) > 0:
                drawn.append(spearmanr(x[k], y[k])[0])
        numbers = [n, *x, *y, spearmanr(x, y)[0], *np.percentile(drawn, [2.5, 97.5])]
        f.write(" ".join(f"{v:.17g}" for v in numbers) + "\n")
