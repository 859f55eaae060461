#!/usr/bin/env python3
"""PlaneSpot with t-SNE put together from openTSNE and scikit-learn, against spotter discover on the same rows.

    opentsne.py FOLDER [spotter] [threads]

FOLDER is what planted.py writes. openTSNE: perplexity 30, 250 + 750 iterations, its own (approximate) neighbours, FFT; then
GaussianMixture for K = 1..32 on the two scaled coordinates and 0.025 x confidence, least BIC. Seconds of the clock and of the
CPU: where other programs run beside it, those of the CPU are to be compared. Needs openTSNE (PyPI) and scikit-learn.
"""
import os
import resource
import subprocess
import sys
import tempfile
import time

THREADS = int(sys.argv[3]) if len(sys.argv) > 3 else 2
os.environ.update(OMP_NUM_THREADS=str(THREADS), OPENBLAS_NUM_THREADS=str(THREADS))


def clock(who=resource.RUSAGE_SELF):
    used = resource.getrusage(who)
    return time.perf_counter(), used.ru_utime + used.ru_stime


def say(name, start, end, kb):
    print(f"{name}: {end[0] - start[0]:.1f} s, {end[1] - start[1]:.1f} s of CPU, {kb / 1e6:.2f} GB", flush=True)


def ours(spotter, folder):
    with tempfile.TemporaryDirectory() as out:
        start = clock(resource.RUSAGE_CHILDREN)
        subprocess.run([spotter, "discover", "--embeddings", folder + "/e.npy", "--labels", folder + "/y.npy", "--probs",
                        folder + "/p.npy", "--class", "all", "--method", "planespot-tsne", "--device", "cpu", "--threads",
                        str(THREADS), "--no-report", "--no-fit", "--out", out], check=True, capture_output=True)
        end = clock(resource.RUSAGE_CHILDREN)
    say("spotter", start, end, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    return end[0] - start[0], end[1] - start[1]


def main():
    import numpy as np
    from openTSNE import TSNE
    from sklearn.mixture import GaussianMixture

    folder, spotter = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "build/spotter"
    wall, cpu = ours(spotter, folder)
    e, p = np.load(folder + "/e.npy"), np.load(folder + "/p.npy")
    start = clock()
    at = np.asarray(TSNE(perplexity=30, n_iter=750, n_jobs=THREADS, random_state=0).fit(e))
    middle = clock()
    say("openTSNE", start, middle, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    r = np.column_stack([(at - at.min(0)) / (at.max(0) - at.min(0)), 0.025 * p])
    best = min((GaussianMixture(k, random_state=0).fit(r) for k in range(1, 33)), key=lambda m: m.bic(r))
    best.predict(r)
    end = clock()
    say("mixtures", middle, end, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    say("peer", start, end, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    print(f"ratio: {(end[0] - start[0]) / wall:.2f} by the clock, {(end[1] - start[1]) / cpu:.2f} by the CPU")


if __name__ == "__main__":
    main()
