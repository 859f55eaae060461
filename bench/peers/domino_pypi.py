#!/usr/bin/env python3
"""The `domino` package's time for what `spotter bench domino` does, PCA and mixture, on the same features, in one run.

    domino_pypi.py [build/spotter] [threads]      - in place of the program: the package alone, once

Needs scikit-learn, and from PyPI domino 0.1.5 (--no-deps) and tqdm. The package is of April 2022: load() stands in for its
table library, which nothing here uses, for private names that scikit-learn has renamed or changed since, and for one of numpy.
"""
import importlib
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time
import types
import warnings

import numpy as np

GROUPS = 24


def load():
    """The package's module of DominoSlicer and DominoMixture, without what else the package imports."""
    import sklearn.mixture._base as base
    from sklearn.utils import check_array

    spec = importlib.util.find_spec("domino")
    if not spec:
        sys.exit("domino_pypi.py: the package domino is not there: pip install --no-deps domino==0.1.5, and tqdm")
    sys.modules["meerkat"] = types.ModuleType("meerkat")
    sys.modules["meerkat"].DataPanel = dict
    for name, folder in (("domino", ""), ("domino._slice", "_slice")):
        module = sys.modules[name] = types.ModuleType(name)
        module.__path__ = [os.path.join(list(spec.submodule_search_locations)[0], folder)]
    if not hasattr(base, "_check_X"):
        base._check_X = lambda X, n_components=None, n_features=None, ensure_min_samples=1: check_array(
            X, dtype=[np.float64, np.float32], ensure_min_samples=ensure_min_samples)
    np.infty = np.inf
    module = importlib.import_module("domino._slice.domino")
    if not hasattr(module.DominoMixture, "_check_initial_parameters"):
        module.DominoMixture._check_initial_parameters = lambda self, X: self._check_parameters(X)
    if not hasattr(module.DominoMixture, "_check_n_features"):
        module.DominoMixture._check_n_features = lambda self, X, reset: setattr(self, "n_features_in_", X.shape[1])
    module.DominoMixture._print_verbose_msg_init_end = lambda self, *bound: None      # it says nothing; newer ones want more
    return module


def features(n, d, problem=0):
    """bench_domino.c: fill"""
    i = np.arange(n)[:, None] + problem * n
    j = np.arange(d)[None, :]
    g = i * 7 % GROUPS % (GROUPS - i % 5)
    fine = 3.46 * (43758.5453 * (2 + np.sin(12.9898 * i + 78.233 * j)) % 1 - 0.5)
    slow = sum(np.sin(0.37 * (g + 1) * (r + 1) + 0.11 * j * (r + 1)) / (r + 1) for r in range(3))
    x = np.maximum(slow + 0.5 * fine + 0.4, 0).astype("f4")
    confidence = (1 / (1 + np.exp(-(3 - 0.3 * g + fine[:, :1])))).astype("f4")[:, 0]
    return x, confidence


def fit(module, x, confidence, threads):
    """Seconds to fit and predict, the mixture's iterations, and its bound."""
    from threadpoolctl import threadpool_limits

    slicer = module.DominoSlicer(n_slices=10, y_log_likelihood_weight=10, y_hat_log_likelihood_weight=10, random_state=0)
    module.tqdm = lambda steps, **_: steps      # its bar takes time of its own
    data = dict(embeddings=x, targets=np.ones(len(x), int), pred_probs=confidence)
    with threadpool_limits(threads), warnings.catch_warnings():
        warnings.filterwarnings("ignore")
        start = time.perf_counter()
        slicer.fit(**data).predict(**data)
        took = time.perf_counter() - start
    return took, slicer.mm.n_iter_, slicer.mm.lower_bound_


def ours(spotter, threads):
    out = subprocess.run([spotter, "bench", "domino", "--device", "cpu", "--threads", str(threads), "--json"], check=True,
                         capture_output=True, text=True).stdout
    return json.loads(out)[0]["median_s"]


def main():
    spotter = sys.argv[1] if len(sys.argv) > 1 else "build/spotter"
    threads = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    module = load()
    x, confidence = features(3200, 512)
    if spotter == "-":
        print(f"domino: {min(fit(module, x, confidence, threads)[0] for _ in range(2)):.4f} s")
        return
    times = [ours(spotter, threads)]
    peers = []
    for _ in range(3):
        took, iterations, bound = fit(module, x, confidence, threads)
        print(f"domino: {took:.4f} s, {iterations} iterations, bound {bound:.6f}")
        peers.append(took)
    times.append(ours(spotter, threads))
    mine, peer = statistics.median(times), statistics.median(peers)
    print(f"spotter {mine * 1e3:.2f} ms, domino {peer * 1e3:.0f} ms, {threads} threads: {peer / mine:.1f} times as fast")


if __name__ == "__main__":
    main()
