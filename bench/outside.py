#!/usr/bin/env python3
"""bench/outside.py sliceline TEST.java [SALARIES.csv] | cleanlab | scenes RUN

Three checks with other people's material, beside the leaderboard; prints lines of bench/results/outside.jsonl.

sliceline  TEST.java is Apache SystemDS's src/test/java/.../part2/BuiltinSliceLineTest.java: three tables of codes with errors,
        and the ten slices that SliceLine (Sagadeeva & Boehm, SIGMOD 2021) must return for each and for SALARIES.csv,
        src/test/resources/datasets/Salaries.csv of the same project. First the expected slices beside all conjunctions, scored
        here by the paper's formula. Then the slices of Spotter's itemsets, which get the same columns and a row as wrong where
        its error is above the mean: itemsets knows wrong and right, and orders by a t value in place of SliceLine's score.
          expected             slices of the test that are conjunctions with the same four numbers
          lacked               conjunctions with a higher score than the last of the test's list, which it does not have
          same rows, ten       expected slices with the rows of one of itemsets' ten; its own settings but for the least number
                               of rows and the greatest length, which are the test's
          same rows, all       the same among at most 64, overlaps allowed
          same rows, 0 and 1   the same ten beside SliceLine's own best ten where a row's error is 1 or 0, as itemsets sees it
          Jaccard, ten         mean over the expected slices of the best Jaccard index with one of the ten
          rank of the first    place of itemsets' first slice among all conjunctions by SliceLine's score
          conjunctions         what itemsets returns without a limit of overlap, of all whose error rate is above that of all
                               rows, where they are at most 64
cleanlab  Examples whose answers cleanlab has published for Datalab's "underperforming_group": its tests' 400 points in four
        blobs and iris (tests/datalab/issue_manager/test_underperforming_group.py, commit 75062574), and the 300 points of pull
        request 838. Spotter's dbscan_group, which is modelled after it, has the same settings and flag: true; where cleanlab
        is installed it answers, too. Last, what `discover` says by itself, with its proof.
          rows published       rows that cleanlab says are flagged, and its score of them, where it gives one: ratio published
          rows flagged         by dbscan_group
          ratio                mean confidence in the own label, of the flagged rows to all clusters' rows
          rows that differ     rows that one of dbscan_group and the installed cleanlab flags and the other does not
          ratio of cleanlab    score of the installed cleanlab; 1: nothing is flagged
          confirmed slices     of discover's own methods
          rows confirmed       share of the rows flagged by dbscan_group that confirmed slices have, and of their rows
scenes  RUN is a run directory of configs/mixed.yaml: three ways of planting in each EC. A blindspot counts where the classifier
        is wrong on at least a tenth of it.
          blindspots made      blindspots that count, by way and by variant
          error inside         mean share of wrong rows
          found                share of the blindspots that count and that a method's hypotheses cover, by way
          precision at 10      mean over ECs, of all three blindspots

--spotter PROGRAM (spotter), --machine NAME (of bench/results/machines.json), --load WORDS."""
import argparse
import collections
import csv
import datetime
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ALPHA, SUPPORT, EXPECTED = 0.95, 4, 10     # src/test/scripts/functions/builtin/slicefinder.dml: alpha, minSup; and k
MOST = 64                                  # hypotheses that a method may return


# -- spotter ------------------------------------------------------------------------------------------------------------


def discover(o, features, labels, probs, *options, methods=None):
    """slices.json, and (class, method, rank) -> rows, of `spotter discover` on all rows at once."""
    with tempfile.TemporaryDirectory() as at:
        for name, values, kind in (("e", features, "f4"), ("y", labels, "i4"), ("p", probs, "f4")):
            np.save(f"{at}/{name}.npy", np.asarray(values, kind))
        if methods:
            with open(f"{at}/methods.yaml", "w") as f:
                f.write("bdms:\n" + "".join(f"  - {{{m}}}\n" for m in methods))
            options += ("--config", f"{at}/methods.yaml")
        did = subprocess.run([o.spotter, "discover", "-e", f"{at}/e.npy", "-y", f"{at}/y.npy", "-p", f"{at}/p.npy", "--out",
                              f"{at}/found", "--no-report", "--no-fit", "--threads", "1", *options],
                             capture_output=True, text=True)
        if did.returncode:
            sys.exit(f"outside: {o.spotter} discover: {did.stderr.strip()}")
        with open(f"{at}/found/slices.json") as f:
            told = json.load(f)
        rows = collections.defaultdict(list)
        with open(f"{at}/found/slices.csv") as f:
            for row in csv.DictReader(f):
                rows[row["class"], row["method"], int(row["rank"])].append(int(row["id"]))
    o.numbers = told["numbers"]
    return told, rows


def jaccard(a, b):
    return len(a & b) / len(a | b)


# -- sliceline ----------------------------------------------------------------------------------------------------------


def tables_of(java, name):
    """The literal tables of this name."""
    found = re.findall(r"double\[\]\[\] " + name + r" = (?:new double\[\]\[\])?\{(.*?)\};", java, re.S)
    return [np.array([[float(x) for x in re.findall(r"-?[\d.]+", row)] for row in re.findall(r"\{([^{}]*)\}", one)])
            for one in found]


def salaries(path):
    """Codes and squared errors as in src/test/scripts/functions/builtin/slicefinderPrep.dml: words by their first appearance,
    years in 14 and 12 bins of equal width, closed above; the errors of a linear regression on the codes without intercept."""
    with open(path, newline="") as f:
        rows = np.array(list(csv.reader(f))[1:])
    codes = np.empty((len(rows), 5), int)
    for j, bins in enumerate([0, 0, 14, 12, 0]):
        words = rows[:, 1 + j]
        if bins:
            years = words.astype(float)
            codes[:, j] = np.clip(np.ceil((years - years.min()) / ((years.max() - years.min()) / bins)), 1, bins)
        else:
            codes[:, j] = [list(dict.fromkeys(words)).index(w) + 1 for w in words]
    a, y = codes.astype(float), rows[:, 6].astype(float)
    return codes, (y - a @ np.linalg.solve(a.T @ a + 1e-7 * np.eye(5), a.T @ y)) ** 2


def conjunctions(codes, error):
    """(score, error, greatest error, size, rows) of every conjunction with SUPPORT rows, best first."""
    n, found = len(codes), []

    def add(first, rows):
        for j in range(first, codes.shape[1]):
            for value in np.unique(codes[rows, j]):
                some = rows[codes[rows, j] == value]
                if len(some) < SUPPORT:
                    continue
                size, total = len(some), error[some].sum()
                score = ALPHA * (total / size / error.mean() - 1) - (1 - ALPHA) * (n / size - 1)
                found.append((score, total, error[some].max(), size, frozenset(some.tolist())))
                add(j + 1, some)

    add(0, np.arange(n))
    return sorted(found, key=lambda s: -s[0])


def is_row(slice_, expected):
    """Whether a slice has the four numbers of a row of the test, which has three decimals."""
    return np.allclose(slice_[:4], expected, rtol=1e-6, atol=6e-4)


def compare_sliceline(o, case, codes, error, expected):
    every = conjunctions(codes, error)
    known = [next((s for s in every if is_row(s, row)), None) for row in expected]
    lacked = [s for s in every if s[0] > expected[-1][0] + 6e-4 and not any(is_row(s, row) for row in expected)]
    found = [s for s in known if s]
    o.add("expected", case, len(found), unit="slices", of=len(expected),
          note="the same four numbers: score, error, greatest error, size; to three decimals")
    o.add("lacked", case, len(lacked), unit="slices",
          **({"note": "scores " + ", ".join(f"{s[0]:.3f} ({s[3]} rows)" for s in lacked)} if lacked else {}))
    columns = [codes[:, j] == v for j in range(codes.shape[1]) for v in np.unique(codes[:, j])]
    wrong = error > error.mean()
    share = f"method: itemsets, longest: {codes.shape[1]}, support: {SUPPORT / len(codes)!r}"
    told, rows = discover(o, np.column_stack(columns), np.zeros(len(codes)), np.where(wrong, 0.25, 0.75), "--least", "1",
                          "--no-proof", methods=[f"name: ten, {share}", f"name: all, {share}, overlap: 1, top: {MOST}"])
    ten, some = ([frozenset(rows[key]) for key in sorted(rows) if key[1] == name] for name in ("ten", "all"))
    o.add("same rows, ten", case, sum(s[4] in ten for s in found), unit="slices", of=len(expected))
    o.add("same rows, all", case, sum(s[4] in some for s in found), unit="slices", of=len(expected))
    binary = [s for s in conjunctions(codes, wrong.astype(float)) if s[0] > 0][:EXPECTED]
    o.add("same rows, 0 and 1", case, sum(s[4] in ten for s in binary), unit="slices", of=len(binary))
    if found:
        best = [max(jaccard(s[4], t) for t in ten) for s in found]
        o.add("Jaccard, ten", case, round(float(np.mean(best)), 3), of=len(found))
    first = next(s[0] for s in every if s[4] == ten[0])
    o.add("rank of the first", case, 1 + sum(bool(s[0] > first + 1e-12) for s in every), of=len(every), unit="conjunctions",
          note=f"{wrong.sum()} of {len(wrong)} rows are wrong")
    above = [s[4] for s in every if wrong[list(s[4])].mean() > wrong.mean() + 1e-12]
    if len(above) <= MOST:
        o.add("conjunctions", case, sum(min(above.count(s), some.count(s)) for s in set(some)), of=len(above),
              unit="conjunctions")


def sliceline(o):
    with open(o.test) as f:
        java = f.read()
    inputs = list(zip(tables_of(java, "X"), tables_of(java, "e"), tables_of(java, "correctRes")))
    if not inputs:
        sys.exit(f"outside: {o.test} has no tables X, e and correctRes; give SystemDS's BuiltinSliceLineTest.java")
    for k, (codes, error, expected) in enumerate(inputs, 1):
        compare_sliceline(o, f"SliceLine: input {k}", codes.astype(int), error[:, 0], expected)
    if o.salaries:
        codes, error = salaries(o.salaries)
        compare_sliceline(o, "SliceLine: Salaries", codes, error, tables_of(java, "EXPECTED_TOPK")[0])


# -- cleanlab -----------------------------------------------------------------------------------------------------------


def sure(labels, classes, swapped):
    """Probabilities 9 to 1 for the own label; swapped: rows of class 0 are taken for class 1."""
    p = np.ones((len(labels), classes))
    p[np.arange(len(labels)), np.where(swapped & (labels == 0), 1, labels)] = 9
    return p / p.sum(1, keepdims=True)


def examples():
    """(case, features, labels, probabilities, eps, threshold, rows that cleanlab published, its ratio or None)"""
    from sklearn.datasets import load_iris, make_blobs
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict

    x, y = make_blobs(n_samples=400, centers=4, n_features=2, random_state=42)
    yield "four blobs, all right", x, y, sure(y, 4, False), 2, 0.2, 0, None
    yield "four blobs, one wrong", x, y, sure(y, 4, True), 2, 0.2, 100, 0.1429
    iris = load_iris()
    for words, columns, rows in (("one feature", [0], 16), ("two features", [1, 3], 49), ("four features", [0, 1, 2, 3], 48)):
        y = iris.target
        yield f"iris, {words}", iris.data[:, columns], y, sure(y, 3, True), 0.5, 0.2, rows, None
    r = np.random.RandomState(0)                   # the order of the draws is the pull request's
    x = np.vstack([r.normal(2, 0.4, (100, 2)), r.normal(0.3, 0.1, (50, 2)) + [2.1, 0.2], r.normal(4.5, 0.5, (150, 2))])
    y = np.repeat([0, 1], [100, 200])
    y[100:150] = r.choice([0, 1], size=50, p=[0.25, 0.75])
    yield "pull request 838", x, y, cross_val_predict(LogisticRegression(), x, y, method="predict_proba"), 0.5, 0.1, 50, None


def datalab(x, y, p, eps, threshold):
    """(rows flagged, their score) by the installed cleanlab; None where there is none."""
    try:
        from cleanlab import Datalab
        lab = Datalab(data={"y": y}, label_name="y", verbosity=0)
    except ImportError:
        return None
    wanted = {"underperforming_group": {"threshold": threshold, "clustering_kwargs": {"eps": eps}}}
    lab.find_issues(features=x, pred_probs=p, issue_types=wanted)
    told = lab.get_issues("underperforming_group")
    flagged = np.flatnonzero(told["is_underperforming_group_issue"])
    return set(flagged.tolist()), float(told["underperforming_group_score"].min())


def cleanlab(o):
    for name, x, y, p, eps, threshold, published, score in examples():
        case = f"cleanlab: {name}"
        told, rows = discover(o, x, y, p, "--class", "all", "--no-proof",
                              methods=[f"method: dbscan_group, flag: true, eps: {eps}, threshold: {threshold}"])
        flagged = {i for some in rows.values() for i in some}
        slices = [s for f in told["findings"] for s in f["slices"]]
        o.add("rows published", case, published, unit="rows")
        if score:
            o.add("ratio published", case, score)
        o.add("rows flagged", case, len(flagged), unit="rows")
        if slices:
            o.add("ratio", case, round(1 - slices[0]["score"], 4))
        theirs = datalab(x, y, p, eps, threshold)
        if theirs:
            o.add("rows that differ", case, len(flagged ^ theirs[0]), unit="rows", of=len(y))
            o.add("ratio of cleanlab", case, round(theirs[1], 4))
        told, rows = discover(o, x, y, p)
        of_rank = {(cls, rank): some for (cls, _, rank), some in rows.items()}     # the slices of all methods have one order
        confirmed = [of_rank[f["class"] or "", s["rank"]] for f in told["findings"] for s in f["slices"]
                     if s["proof"]["claim"] == "confirmed"]
        o.add("confirmed slices", case, len(confirmed), unit="slices", of=sum(len(f["slices"]) for f in told["findings"]))
        held = {i for some in confirmed for i in some}
        if flagged:
            both = len(held & flagged)
            o.add("rows confirmed", case, round(100 * both / len(flagged), 1), unit="%",
                  **({"note": f"{both} of the {len(held)} rows of confirmed slices are flagged"} if held else {}))


# -- scenes -------------------------------------------------------------------------------------------------------------

WAYS = ["correlated", "rare", "noisy labels"]      # blindspots 0, 1, 2 (spotter/scene.h: SPOT_MIXED)


def scenes(o):
    with open(os.path.join(o.run, "config.yaml")) as f:
        part = re.search(r"(?ms)^variants:\n(.*?)^\S", f.read())
    variants = re.findall(r'- name: "(.*?)"', part[1]) if part else [""]
    made, error, found = (collections.defaultdict(list) for _ in range(3))
    precision, outside = collections.defaultdict(list), collections.defaultdict(list)
    for path in sorted(glob.glob(os.path.join(glob.escape(o.run), "segments", "*", "ec-*.json"))):
        with open(path) as f:
            s = json.load(f)["segment"]
        if s["status"] != "OK" or s["ec"]["induce"] != "mixed" or len(s["ec"]["blindspots"]) > len(WAYS):
            sys.exit(f"outside: {path} is no EC of up to three blindspots planted by induce: mixed")
        o.numbers, variant = s["numbers"], variants[s["index"] % len(variants)]
        outside[variant].append(s["severity"]["outside"]["wrong"] / s["severity"]["outside"]["rows"])
        for m in s["methods"]:
            precision[variant, m["name"]].append(m["beside"]["dcbench_p10"])
        for way, b in enumerate(s["severity"]["inside"]):
            key = variant, WAYS[way]
            error[key].append(b["wrong"] / b["rows"])
            made[key].append(error[key][-1] >= 0.1)
            for m in s["methods"]:
                if made[key][-1]:
                    found[(*key, m["name"])].append(m["blindspots"][way]["covered"])
    if not made:
        sys.exit(f"outside: {o.run} has no segments/*/ec-*.json; give the folder that `spotter sweep --out` made")
    for variant in variants:
        if outside[variant]:
            o.add("error outside", f"three ways, {variant}: all", round(100 * np.mean(outside[variant]), 1), unit="%",
                  of=len(outside[variant]))
    for (variant, way), flags in sorted(made.items()):
        o.add("blindspots made", f"three ways, {variant}: {way}", sum(flags), unit="blindspots", of=len(flags))
        o.add("error inside", f"three ways, {variant}: {way}", round(100 * np.mean(error[variant, way]), 1), unit="%",
              of=len(flags))
    for (variant, way, method), flags in found.items():
        o.add(f"found, {way}", f"three ways, {variant}: {method}", sum(flags), unit="blindspots", of=len(flags))
    for (variant, method), values in precision.items():
        known = [v for v in values if v is not None]
        if known:
            o.add("precision at 10", f"three ways, {variant}: {method}", round(float(np.mean(known)), 3), of=len(known))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spotter", default="spotter")
    parser.add_argument("--machine", default="unsaid")
    parser.add_argument("--load")
    modes = parser.add_subparsers(dest="mode", required=True)
    one = modes.add_parser("sliceline")
    one.add_argument("test"), one.add_argument("salaries", nargs="?")
    modes.add_parser("cleanlab")
    modes.add_parser("scenes").add_argument("run")
    o = parser.parse_args()
    commit = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%h", "--", "bench/outside.py"], capture_output=True,
                            text=True).stdout.strip() or None
    lines, o.numbers = [], None
    o.add = lambda op, case, value, unit=None, **more: lines.append({"op": op, "case": case, "value": value, "unit": unit,
                                                                     **more})
    {"sliceline": sliceline, "cleanlab": cleanlab, "scenes": scenes}[o.mode](o)
    for line in lines:
        print(json.dumps({**line, "machine": o.machine, "load": o.load, "commit": commit, "numbers": o.numbers,
                          "date": datetime.date.today().isoformat(), "command": f"bench/outside.py {o.mode}"}))


if __name__ == "__main__":
    main()
