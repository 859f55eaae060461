#!/usr/bin/env python3
"""bench/claims.py SPOTTER noise|third|truth|planted N [RUN|METHODS]: what `discover` confirms.

noise   scikit-learn's perceptron with 64 hidden units on its 1,797 digits, fitted on 300, looked at on the others; features are
        the hidden units. The probabilities are shuffled within each class N times; counts the shuffles with a confirmed slice.
third   The networks of RUN, a sweep of twelve ECs. N searches in 500 test images of each EC; compares the excess of the
        confirmed slices with their excess on the validation images, which are drawn apart from the test images. (Thirds of one
        small set of rows would not do: where one part has more of the errors the others have fewer.)
truth   The first N ECs of RUN. Of each method alone, how much of the planted blindspots its confirmed slices cover, and how
        many of them are in no blindspot.
planted N worlds of one class: 2,000 rows in four clouds of 16 columns, of which 8 % are wrong, 50 of them in a cloud of their
        own, of which 40 % are wrong. Counts the worlds with a confirmed slice, by METHODS (the default ones).

Its figures are in bench/results/claims.jsonl."""
import csv
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import warnings

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

import tensors

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


def discover(program, folder, arrays, seed, methods=METHODS):
    for name, a in zip("eyp", arrays):
        np.save(os.path.join(folder, name + ".npy"), a)
    spotter(program, folder, "discover", "-e", "e.npy", "-y", "y.npy", "-p", "p.npy", "-m", methods, "--seed", str(seed),
            "--threads", "1", "--replace", "--out", "found")
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


def planted(program, times, methods="joinspot,ward"):
    confirmed = tests = 0
    for t in range(times):
        r = np.random.default_rng(50000 + t)
        e = r.normal(size=(2000, 16)).astype("f4")
        e[np.arange(50, 2000), r.integers(0, 4, 1950)] += 4
        e[:50, 8:12] += 3
        wrong = r.random(2000) < np.where(np.arange(2000) < 50, 0.4, 0.08)
        p = np.where(wrong, r.uniform(0.1, 0.45, 2000), r.uniform(0.55, 0.95, 2000)).astype("f4")
        with tempfile.TemporaryDirectory() as folder:
            proof = discover(program, folder, (e, np.zeros(2000, "i4"), np.stack([p, 1 - p], 1)), t, methods)["proof"]
        confirmed += proof["confirmed"] > 0
        tests += proof["tests"]
    print(f"{methods}: {confirmed} of {times} worlds have a confirmed slice; {tests / times:.0f} tests each")


def judge_on_new(program, folder, seen, new, seed):
    """The confirmed slices of `seen`, each with its excess on `new`."""
    found = discover(program, folder, seen, seed)
    for name, a in zip("eyp", new):
        np.save(os.path.join(folder, "new_" + name + ".npy"), a)
    told = spotter(program, folder, "assign", "found", "-e", "new_e.npy", "-y", "new_y.npy", "-p", "new_p.npy", "--json",
                   "--out", "new.csv")
    fresh = {(s["class_number"], s["rank"]): s for s in json.loads(told)["slices"]}
    for number, s in slices_of(found):
        on_new = fresh.get((number, s["rank"]))
        if s["proof"]["claim"] == "confirmed" and on_new and on_new["rows"]:
            yield s["proof"], on_new["rows"], on_new["excess"]["value"]


def third(program, times, run="third", ecs=12, rows=500):
    by_method = {}
    for ec in range(ecs):
        with tempfile.TemporaryDirectory() as folder:
            views = []
            for split in ("test", "val"):
                spotter(program, folder, "view", os.path.abspath(run), "--ec", str(ec), "--split", split, "--out", split)
                views.append(tensors.read(os.path.join(folder, split), "feature", "label", "confidence"))
            for t in range(times):
                some = np.random.default_rng(1000 * ec + t).permutation(len(views[0][0]))[:rows]
                for proof, n, excess in judge_on_new(program, folder, [a[some] for a in views[0]], views[1], t):
                    for method in sorted({q["method"] for q in proof["pieces"]}) + ["all"]:
                        by_method.setdefault(method, []).append((n, proof["excess"], proof["to_expect"], excess))
    print("method                slices   new rows   excess on new rows / shown (shrunk)   / judged")
    for method, found in by_method.items():
        n, judged, shown, own = np.array(found).T
        print(f"{method:20} {len(n):7} {n.sum():10.0f} {own.mean() / shown.mean():25.3f} {own.mean() / judged.mean():20.3f}")


def confirmed_rows(folder):
    """The rows of each confirmed slice."""
    with open(os.path.join(folder, "found", "slices.csv"), newline="") as f:
        rows = {}
        for line in csv.DictReader(f):
            if line["claim"] == "confirmed":
                rows.setdefault((line["class"], line["rank"]), set()).add(int(line["id"]))
    return list(rows.values())


def truth(program, ecs, run):
    told = {}
    learned = dict(sqlite3.connect(os.path.join(run, "results.sqlite")).execute("select ec, learned from ecs"))
    for ec in range(ecs):
        with tempfile.TemporaryDirectory() as folder:
            spotter(program, folder, "view", os.path.abspath(run), "--ec", str(ec), "--out", "test")
            *arrays, bits = tensors.read(os.path.join(folder, "test"), "feature", "label", "confidence", "blindspots")
            spots = [set(np.flatnonzero(bits >> m & 1)) for m in range(32) if (bits >> m & 1).any()]
            for method in METHODS.split(","):
                slices = []
                if (arrays[2] <= 0.5).any():            # else there is nothing to find
                    discover(program, folder, arrays, 0, method)
                    slices = confirmed_rows(folder)
                of = [[s for s in slices if len(s & b) >= 0.8 * len(s)] for b in spots]
                found = [k for k, b in enumerate(spots) if len(set().union(*of[k]) & b) >= 0.8 * len(b)]
                told.setdefault(method, []).append((learned.get(ec), len(spots), len(found), sum(len(of[k]) for k in found),
                                                    len(slices), sum(not any(s in o for o in of) for s in slices)))
    print("method               ECs      DR  slices a found blindspot  confirmed  in no blindspot   where none is planted")
    for method, lines in told.items():
        n = np.array([line[1:] for line in lines if line[0] and line[1]], float)
        none = [line[4] for line in lines if line[0] and not line[1]]
        print(f"{method:20} {len(n):3} {(n[:, 1] / n[:, 0]).mean():7.3f} {n[:, 2].sum() / max(1, n[:, 1].sum()):25.2f} "
              f"{n[:, 3].sum():10.0f} {n[:, 4].sum():16.0f}   {none}")


if __name__ == "__main__":
    run = {"noise": noise, "third": third, "truth": truth, "planted": planted}[sys.argv[2]]
    run(os.path.abspath(sys.argv[1]), int(sys.argv[3]), *sys.argv[4:])
