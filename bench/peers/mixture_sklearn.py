"""scikit-learn's time for the same 32 mixtures that `spotter bench mixture` fits, with BIC.

    mixture_sklearn.py POINTS [threads]

POINTS: float32 rows of 3 columns, as bench_mixture.c writes them where SPOT_BENCH_POINTS names a file. Run both under
one lock on the same cores. Prints the median of three runs in seconds and the K of least BIC.
"""
import sys
import time
import warnings

import numpy as np
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

x = np.fromfile(sys.argv[1], "f4").reshape(-1, 3).astype(float)
threads = int(sys.argv[2]) if len(sys.argv) > 2 else 2
warnings.filterwarnings("ignore")
seconds = []
with threadpool_limits(threads):
    for repeat in range(3):
        start = time.perf_counter()
        bic = [GaussianMixture(k, random_state=0).fit(x).bic(x) for k in range(1, 33)]
        seconds.append(time.perf_counter() - start)
print(f"scikit-learn, {len(x)} points, {threads} threads: median {np.median(seconds):.3f} s, K={1 + int(np.argmin(bic))}")
