"""UMAP of umap-learn (GEORGE's settings: 10 neighbours, min_dist 0; with defaults: 15 and 0.1) on n x d blobs: seconds.

    umap_peer.py [n] [d] [threads]
--george: with its settings alone. The input is that of bench_embed.c's row `umap` in kind (10 blobs), not in bits; pass
--input=FILE for raw float32 (n, d). numba compiles in a first run that is not timed. Without a seed umap-learn uses all
threads, with one it uses one: both are told. Needs umap-learn from PyPI."""
import os, sys, time, warnings

args = [a for a in sys.argv[1:] if not a.startswith("--")]
n, d, threads = [int(a) for a in args + ["3200", "512", "2"][len(args):]]
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = str(threads)
warnings.filterwarnings("ignore")

import numpy as np
try:
    import umap
except ImportError:
    sys.exit("umap_peer.py: there is no umap-learn for this Python; pip install umap-learn")

source = [a[8:] for a in sys.argv[1:] if a.startswith("--input=")]
if source:
    x = np.fromfile(source[0], np.float32).reshape(n, d)
else:
    rng = np.random.default_rng(1)
    x = (4 * rng.standard_normal((10, d))[np.arange(n) % 10] + rng.standard_normal((n, d))).astype(np.float32)
for settings in (dict(n_neighbors=10, min_dist=0.0), dict(n_neighbors=15, min_dist=0.1))[:1 if "--george" in sys.argv else 2]:
    for seed in (None, 0):
        umap.UMAP(random_state=seed, n_epochs=20, **settings).fit_transform(x)
        t0 = time.perf_counter()
        umap.UMAP(random_state=seed, **settings).fit_transform(x)
        print(f"umap-learn {umap.__version__} n={n} d={d} threads={threads} neighbours={settings['n_neighbors']} "
              f"{'one thread, seeded' if seed == 0 else 'all threads'}: {time.perf_counter() - t0:.2f} s", flush=True)
