"""t-SNE of scikit-learn (Barnes-Hut, its defaults) on n x d blobs: seconds, and KL(P || Q) with the exact Q.

    tsne_sklearn.py [n] [d] [threads] [--opentsne]      --opentsne: openTSNE's seconds, too, with its defaults
The input is that of bench_embed.c's row `tsne` in kind (10 blobs), not in bits; pass --input FILE for raw float32 (n, d)."""
import os, sys, time

args = [a for a in sys.argv[1:] if not a.startswith("--")]
n, d, threads = [int(a) for a in args + ["3000", "512", "2"][len(args):]]
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = str(threads)

import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.manifold import TSNE
from sklearn.manifold._t_sne import _joint_probabilities_nn
from sklearn.neighbors import NearestNeighbors

source = [a[8:] for a in sys.argv[1:] if a.startswith("--input=")]
if source:
    x = np.fromfile(source[0], np.float32).reshape(n, d)
else:
    rng = np.random.default_rng(1)
    x = (4 * rng.standard_normal((10, d))[np.arange(n) % 10] + rng.standard_normal((n, d))).astype(np.float32)
t0 = time.perf_counter()
model = TSNE(init="pca", learning_rate="auto", n_jobs=threads, random_state=0)
y = model.fit_transform(x).astype(np.float64)
seconds = time.perf_counter() - t0
if "--opentsne" in sys.argv:
    from openTSNE import TSNE as OpenTSNE
    t0 = time.perf_counter()
    OpenTSNE(n_jobs=threads, random_state=0).fit(x)
    print(f"openTSNE tsne n={n} d={d} threads={threads}: {time.perf_counter() - t0:.2f} s")
near = NearestNeighbors(n_neighbors=min(n - 1, 91)).fit(x).kneighbors_graph(mode="distance")
near.data **= 2
p = _joint_probabilities_nn(near, 30, 0).tocoo()
q = squareform(1 / (1 + pdist(y, "sqeuclidean")))
kl = (p.data * np.log(p.data * q.sum() / q[p.row, p.col])).sum()
print(f"scikit-learn tsne n={n} d={d} threads={threads}: {seconds:.2f} s, KL {kl:.4f} "
      f"(its own figure {model.kl_divergence_:.4f})")
