#!/usr/bin/env python3
"""bench/claims.py SPOTTER noise|third N: what `discover` confirms of a real classifier (RESULTS, "Slices that are proved").

The classifier is scikit-learn's perceptron with 64 hidden units on its 1,797 digits: fitted on 300, looked at on the others;
features are the hidden units. `noise` shuffles the probabilities within each class N times and counts the shuffles in which a
slice is confirmed. `third` divides the rows N times in three parts, searches and judges on two of them, and compares the excess
of the confirmed slices there with the excess on the third."""
import json
import os
import subprocess
import sys
import tempfile
import warnings

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

METHODS = "ward,kmeans,planespot-pca,planespot-tsne,spotlight,domino,barlow,george,multiaccuracy,mistakes,joinspot"


def classifier():
    digits = load_digits()
    x, y = digits.data / 16, digits.target
    order = np.random.default_rng(0).permutation(len(y))
    fitted, rows = order[:300], order[300:]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        net = MLPClassifier((64,), max_iter=300, random_state=0).fit(x[fitted], y[fitted])
    hidden = np.maximum(x[rows] @ net.coefs_[0] + net.intercepts_[0], 0)
    return hidden.astype("f4"), y[rows].astype("i4"), net.predict_proba(x[rows]).astype("f4")


def spotter(program, folder, *words):
    done = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"claims: {' '.join(words)}: {done.stderr}")
    return done.stdout


def discover(program, folder, arrays, seed):
    for name, a in zip("eyp", arrays):
        np.save(os.path.join(folder, name + ".npy"), a)
    spotter(program, folder, "discover", "-e", "e.npy", "-y", "y.npy", "-p", "p.npy", "-m", METHODS, "--seed", str(seed),
            "--threads", "1", "--out", "found")
    with open(os.path.join(folder, "found", "slices.json")) as f:
        return json.load(f)


def slices_of(found):
    """(class number, slice) of every merged slice."""
    return [(f["class_number"], s) for f in found["findings"] if f.get("merged") for s in f["slices"]]


def noise(program, times):
    e, y, p = classifier()
    confirmed = tests = 0
    for t in range(times):
        r = np.random.default_rng(1000 + t)
        shuffled = p.copy()
        for c in range(10):
            rows = np.flatnonzero(y == c)
            shuffled[rows] = p[r.permutation(rows)]
        with tempfile.TemporaryDirectory() as folder:
            proof = discover(program, folder, (e, y, shuffled), t)["proof"]
        confirmed += proof["confirmed"] > 0
        tests += proof["tests"]
        if (t + 1) % 50 == 0 or t + 1 == times:
            print(f"{t + 1} shuffles: {confirmed} with a confirmed slice; {tests / (t + 1):.0f} tests each", flush=True)


def third(program, times):
    e, y, p = classifier()
    rows = {}
    for t in range(times):
        part = np.random.default_rng(2000 + t).permutation(len(y)) % 3
        with tempfile.TemporaryDirectory() as folder:
            found = discover(program, folder, [a[part < 2] for a in (e, y, p)], t)
            for name, a in zip("eyp", (e, y, p)):
                np.save(os.path.join(folder, "new_" + name + ".npy"), a[part == 2])
            told = spotter(program, folder, "assign", "found", "-e", "new_e.npy", "-y", "new_y.npy", "-p", "new_p.npy", "--json",
                           "--out", "new.csv")
        new = {(s["class_number"], s["rank"]): s for s in json.loads(told)["slices"]}
        for number, s in slices_of(found):
            on_new = new.get((number, s["rank"]))
            if s["proof"]["claim"] != "confirmed" or not on_new or not on_new["rows"]:
                continue
            judged = s["proof"]["excess"], s["proof"]["shrunk_excess"], on_new["excess"]["value"]
            for method in sorted({q["method"] for q in s["proof"]["pieces"]}) + ["all"]:
                rows.setdefault(method, []).append((on_new["rows"], *judged))
    print("method                slices   new rows   on new rows / shown (shrunk)   / judged")
    for method, found in rows.items():
        n, judged, shown, own = np.array(found).T
        print(f"{method:20} {len(n):7} {n.sum():10.0f} {(n * own).sum() / (n * shown).sum():20.3f} "
              f"{(n * own).sum() / (n * judged).sum():20.3f}")


if __name__ == "__main__":
    {"noise": noise, "third": third}[sys.argv[2]](os.path.abspath(sys.argv[1]), int(sys.argv[3]))
