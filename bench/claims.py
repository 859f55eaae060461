#!/usr/bin/env python3
"""bench/claims.py PROGRAM noise N | planted FIRST N | truth RUN CASE | apart RUN N, and KEY=VALUE...: what `discover` confirms.

noise    scikit-learn's perceptron with 64 hidden units on its 1,797 digits, fitted on 300, looked at on the others; features
         are the hidden units. The probabilities are shuffled within each class N times; counts the shuffles with a confirmed
         slice, by all methods of METHODS in one search.
planted  N worlds of one class, of the seeds FIRST and after: 2,000 rows in four clouds of 16 columns, of which 8 % are wrong,
         50 of them in a cloud of their own, of which 40 % are wrong. Counts the worlds with a confirmed slice, by the default
         methods, each of them, k-means and all three.
truth    The networks of RUN, a finished sweep with --keep views. By the default methods and by each of METHODS alone: the share
         of the planted blindspots that confirmed slices cover, mean over the ECs that count and have a blindspot; slices that
         are in no blindspot; slices that are confirmed where none is planted. CASE names the run.
apart    The same networks, of a run with --keep all. N searches by METHODS in 500 test images of each EC that counts; the mean
         excess of the confirmed slices on the validation images, which are drawn apart from the test images, over the mean that
         discover expects. (Thirds of one small set of rows would not do: where one part has more of the errors the others have
         fewer.)

KEY: machine, load, commit, numbers, date, command must be given, `null` is a value; note may be. Prints lines for
bench/results/claims.jsonl. Intervals redraw ECs 2,000 times. One process for each core that it may use."""
import csv
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import warnings
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

import tensors
from ecs import interval
from results import about

METHODS = {"ward": "Ward", "kmeans": "k-means", "planespot-pca": "PlaneSpot on PCA", "planespot-tsne": "PlaneSpot on t-SNE",
           "spotlight": "Spotlight", "domino": "Domino", "barlow": "Barlow", "george": "GEORGE",
           "multiaccuracy": "Multiaccuracy", "mistakes": "mistakes", "joinspot": "joinspot"}
DEFAULT = {"joinspot,ward": "joinspot and Ward, the default"}
SEARCHES = {**DEFAULT, "ward": "Ward", "joinspot": "joinspot", "kmeans": "k-means",
            "joinspot,ward,kmeans": "joinspot, Ward and k-means"}
DRAWS, ROWS, COVERED = 2000, 500, 0.8          # COVERED: of a slice within its blindspot, and of a blindspot within its slices


# ---- the program ----

def spotter(program, folder, *words):
    done = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"claims: {' '.join(words)}: {done.stderr}")
    return done.stdout


def discover(program, folder, arrays, seed, methods):
    for name, a in zip("eyp", arrays):
        np.save(os.path.join(folder, name + ".npy"), a)
    spotter(program, folder, "discover", "-e", "e.npy", "-y", "y.npy", "-p", "p.npy", "-m", methods, "--seed", str(seed),
            "--threads", "1", "--replace", "--out", "found")
    with open(os.path.join(folder, "found", "slices.json")) as f:
        return json.load(f)


def view(program, run, ec, split, *names):
    with tempfile.TemporaryDirectory() as folder:
        spotter(program, folder, "view", os.path.abspath(run), "--ec", str(ec), "--split", split, "--out", "view")
        return [x.copy() for x in tensors.read(os.path.join(folder, "view"), *names)]


def ecs_that_count(run):
    path = os.path.join(run, "results.sqlite")
    if not os.path.exists(path):
        sys.exit(f"claims: {run} has no results.sqlite: it is no finished sweep, or its shards are not merged")
    return [ec for ec, learned in sqlite3.connect(path).execute("select ec, learned from ecs order by ec") if learned]


def in_all_cores(job, arguments):
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(job, *zip(*arguments)))


# ---- errors without structure, and worlds with one cause ----

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


def shuffled_search(program, arrays, t):
    e, y, p = arrays
    r, shuffled = np.random.default_rng(1000 + t), p.copy()
    for c in range(10):
        rows = np.flatnonzero(y == c)
        shuffled[rows] = p[r.permutation(rows)]
    with tempfile.TemporaryDirectory() as folder:
        proof = discover(program, folder, (e, y, shuffled), t, ",".join(METHODS))["proof"]
    return proof["confirmed"] > 0, proof["tests"]


def noise(program, say, times):
    arrays, times = classifier(), int(times)
    confirmed, tests = zip(*in_all_cores(shuffled_search, [(program, arrays, t) for t in range(times)]))
    wrong = int((arrays[2].argmax(1) != arrays[1]).sum())
    say("a slice is confirmed", "errors without structure: scikit-learn's digits, a perceptron, answers shuffled within each "
        "class, eleven methods", sum(confirmed), "shuffles", of=times, asked=times // 20, better="lower",
        note=f"{len(arrays[1]):,} rows, {wrong} wrong, a family of {np.mean(tests):.0f} tests")


def world_search(program, seed, methods):
    r = np.random.default_rng(seed)
    e = r.normal(size=(2000, 16)).astype("f4")
    e[np.arange(50, 2000), r.integers(0, 4, 1950)] += 4
    e[:50, 8:12] += 3
    wrong = r.random(2000) < np.where(np.arange(2000) < 50, 0.4, 0.08)
    p = np.where(wrong, r.uniform(0.1, 0.45, 2000), r.uniform(0.55, 0.95, 2000)).astype("f4")
    with tempfile.TemporaryDirectory() as folder:
        proof = discover(program, folder, (e, np.zeros(2000, "i4"), np.stack([p, 1 - p], 1)), seed, methods)["proof"]
    return proof["confirmed"] > 0, proof["tests"]


def planted(program, say, first, times):
    first, times = int(first), int(times)
    for methods, name in SEARCHES.items():
        confirmed, tests = zip(*in_all_cores(world_search, [(program, first + t, methods) for t in range(times)]))
        case = f"planted worlds {first} to {first + times - 1}: {name}"
        say("worlds with a confirmed slice", case, sum(confirmed), "worlds", of=times, asked=4 * times // 5, better="higher",
            note="50 of 2,000 rows in one cloud, 40 % wrong against 8 %, one class")
        say("tests in a family", case, round(float(np.mean(tests)), 1), "tests")


# ---- networks of a sweep ----

def confirmed_rows(folder):
    """the rows of each confirmed slice"""
    rows = {}
    with open(os.path.join(folder, "found", "slices.csv"), newline="") as f:
        for line in csv.DictReader(f):
            if line["claim"] == "confirmed":
                rows.setdefault((line["class"], line["rank"]), set()).add(int(line["id"]))
    return list(rows.values())


def compared(program, run, ec):
    """for each search: blindspots, those covered, slices of these, confirmed slices, those in no blindspot"""
    *arrays, bits = view(program, run, ec, "test", "feature", "label", "confidence", "blindspots")
    spots = [set(np.flatnonzero(bits >> m & 1)) for m in range(32) if (bits >> m & 1).any()]
    out = []
    for methods in {**DEFAULT, **METHODS}:
        slices = []
        if (arrays[2] <= 0.5).any():            # else there is nothing to find
            with tempfile.TemporaryDirectory() as folder:
                discover(program, folder, arrays, 0, methods)
                slices = confirmed_rows(folder)
        of = [[s for s in slices if len(s & b) >= COVERED * len(s)] for b in spots]
        found = [k for k, b in enumerate(spots) if len(set().union(*of[k]) & b) >= COVERED * len(b)]
        out.append((len(spots), len(found), sum(len(of[k]) for k in found), len(slices),
                    sum(not any(s in o for o in of) for s in slices)))
    return out


def percentiles(values):
    """of means over redrawn ECs"""
    draws = np.random.default_rng(1).integers(0, len(values), (DRAWS, len(values)))
    return dict(zip(("low", "high"), (round(float(q), 3) + 0.0 for q in interval(values, draws))))


def truth(program, say, run, case):
    of_ecs = np.array(in_all_cores(compared, [(program, run, ec) for ec in ecs_that_count(run)]), float)
    spotted, without = of_ecs[of_ecs[:, 0, 0] > 0], of_ecs[of_ecs[:, 0, 0] == 0]
    covered = spotted[:, :, 1] / spotted[:, :, 0]
    for i, name in enumerate({**DEFAULT, **METHODS}.values()):
        where, own = f"{case}: {name}", spotted[:, i].sum(0)
        say("blindspots that confirmed slices cover", where, round(covered[:, i].mean(), 3), of=len(covered),
            **percentiles(covered[:, i]))
        if i:
            less = covered[:, 0] - covered[:, i]
            say("covered, the default minus it", where, round(less.mean(), 3) + 0.0, of=len(less), **percentiles(less))
        say("confirmed slices in no blindspot", where, int(own[4]), "slices", of=int(own[3]))
        say("slices a found blindspot", where, round(own[2] / own[1], 1) if own[1] else None)
    say("slices confirmed", f"{case}, {len(without)} ECs without a blindspot: every method", int(without[:, :, 3].sum()),
        "slices")


def excesses(program, run, ec, times):
    """of each confirmed slice: its methods, the excess to expect, the excess on the validation images"""
    seen, new = (view(program, run, ec, split, "feature", "label", "confidence") for split in ("test", "val"))
    out = []
    for t in range(times):
        some = np.random.default_rng(1000 * ec + t).permutation(len(seen[0]))[:ROWS]
        with tempfile.TemporaryDirectory() as folder:
            found = discover(program, folder, [a[some] for a in seen], t, ",".join(METHODS))
            for name, a in zip("eyp", new):
                np.save(os.path.join(folder, "new_" + name + ".npy"), a)
            told = spotter(program, folder, "assign", "found", "-e", "new_e.npy", "-y", "new_y.npy", "-p", "new_p.npy",
                           "--json", "--out", "new.csv")
        fresh = {(s["class_number"], s["rank"]): s for s in json.loads(told)["slices"]}
        for finding in found["findings"]:
            for s in finding["slices"] if finding.get("merged") else []:
                on_new = fresh.get((finding["class_number"], s["rank"]))
                if s["proof"]["claim"] == "confirmed" and on_new and on_new["rows"]:
                    out.append((ec, sorted({q["method"] for q in s["proof"]["pieces"]}), s["proof"]["to_expect"],
                                on_new["excess"]["value"]))
    return out


def apart(program, say, run, times):
    of_ecs = in_all_cores(excesses, [(program, run, ec, int(times)) for ec in ecs_that_count(run)])
    found = [s for of_ec in of_ecs for s in of_ec]
    for method, name in {None: "all", **METHODS}.items():
        rows = np.array([(ec, expected, new) for ec, methods, expected, new in found if method is None or method in methods])
        if not len(rows):
            continue
        sums = np.array([rows[rows[:, 0] == ec][:, 1:].sum(0) for ec in np.unique(rows[:, 0])])
        draws = np.random.default_rng(1).integers(0, len(sums), (DRAWS, len(sums)))
        low, high = np.quantile(np.divide(*sums[draws].sum(1).T[::-1]), [.025, .975])
        expected, new = sums.sum(0)
        say("excess on images drawn apart over the expected", f"confirmed slices: {name}", round(new / expected, 3), "times",
            of=len(rows), low=round(low, 3), high=round(high, 3), note=f"slices of {len(sums)} networks")


MODES = {"noise": (noise, 1), "planted": (planted, 2), "truth": (truth, 2), "apart": (apart, 2)}


def main():
    given, words = about(sys.argv[1:])
    program, mode, *words = words + ["", ""]
    words = words[:-2]
    if mode not in MODES or len(words) != MODES[mode][1] or not given:
        sys.exit(__doc__)

    def say(op, case, value, unit=None, note="", **more):
        line = {"op": op, "case": case, "value": value, "unit": unit, **more, **given}
        note = "; ".join(filter(None, [note, given.get("note")]))
        print(json.dumps({**line, "note": note} if note else line), flush=True)
    MODES[mode][0](os.path.abspath(program), say, *words)


if __name__ == "__main__":
    main()
