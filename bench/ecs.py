#!/usr/bin/env python3
"""bench/ecs.py keep RUN STUDY PART MACHINE | missing STUDY COUNT | best STUDY | leaderboard |
lines STUDY REFERENCE [--strict] [--end N]

Results of a study's ECs, and what they show.

keep    Appends the ECs of a run directory to bench/studies/ecs/STUDY.jsonl, a line each, but for those that the part has
        already. A study may have parts: runs of one config on several machines, each with a first network trained there.
missing Prints the numbers below COUNT of ECs that the study lacks; `--shard I/COUNT` of a sweep computes EC I alone.
best    Of each method, the settings by their mean DR over the ECs that learned, then by their least mean FDR; the first of
        equal ones. A method's settings are the names that begin alike ("planespot-scvis weight=0.05 ...").
lines   Prints what stands in a page of bench/studies, as lines of bench/results/studies.jsonl. Only ECs that have blindspots
        and learned them count: by the config's rule, or with --strict by the paper's (at least 99 % right outside the
        blindspots and at most 5 % inside each, on validation images); with --end N only those below N. Of each method that
        all of them have:
          DR, FDR                   mean and standard error over ECs
          DR, REFERENCE minus it    mean of the paired differences, 95 % of 20,000 bootstrap samples of ECs; p by exchanging
                                    signs, corrected for the number of methods by Holm's rule
          DR with 1, 2, 3 blindspots, and the slope by their number; FDR likewise
          found, by specificity and by feature: share of blindspots, and the difference between those with and without it;
                                    bootstrap samples are of whole ECs, whose blindspots belong together
          found, error inside ...   share of blindspots with so much error among the test's positives
          missed: ...               shares of the missed blindspots' rows by reason (Table 13)
leaderboard  Prints bench/leaderboard.csv: every method of every study over the ECs that learned, best first; studies that chose
        settings (*_tuning) are left out. Seconds of one core are medians over the ECs of the last machine, which is named, with
        the reduction where no earlier method made it.
--folder F  has the files instead of bench/studies/ecs.

A line of STUDY.jsonl has part, machine, commit, date, numbers, ec, config and seed, learned, outside (accuracy outside the
blindspots), rollable (how many attributes vary), blindspots (each with specificity, is, rows and wrong rows of the test, and
right_val, the accuracy in it on the images that decide on "learned": of validation, on pictures the test's), and methods: name
-> [DR, FDR, u, components, slices a blindspot, share of false slices, precision at 10, seconds, slices returned where no
blindspot is, why]. What is not defined is null; why has, for each blindspot, 0 where it was found, else the four shares of
Table 13: not returned, found, merged, impure."""
import argparse
import collections
import csv
import datetime
import glob
import json
import os
import re
import sys

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, "bench", "studies", "ecs")
DRAWS = 20000
OUTSIDE, INSIDE = .99, .05           # the paper's rule of "learned": accuracies on the validation images
SHOWN = {           # words of tables for names of methods
    "itemsets-attributes": "itemsets on the true attributes", "planespot-scvis": "PlaneSpot, scvis",
    "planespot-tsne": "PlaneSpot, t-SNE", "planespot-umap": "PlaneSpot, UMAP", "planespot-pca": "PlaneSpot, PCA",
    "george": "GEORGE", "spotlight": "Spotlight", "ward": "Ward", "kmeans": "k-means", "multiaccuracy": "Multiaccuracy",
    "domino": "Domino on the model's features", "barlow-model": "Barlow on the model's features",
    "domino-imagenet": "Domino on ImageNet's features", "barlow-imagenet": "Barlow on ImageNet's features",
    "domino-icons": "Domino on features of icons", "barlow-icons": "Barlow on features of icons",
    "spotlight-published": "Spotlight, its authors' published runs", "spotlight-paper": "Spotlight, its authors' defaults",
    "planespot-w": "PlaneSpot", "planespot-dim": "PlaneSpot, scvis", "planespot-kmin": "PlaneSpot, scvis, 10 to 32 components",
    "planespot-hard": "PlaneSpot, scvis, order by counted errors",
    "planespot-released": "PlaneSpot, scvis, norm of the released code"}
ERRORS = [0, .4, .6, .8, 1]          # limits of the error inside a blindspot, on the test's positives
WHY = ["not_returned", "found", "merged", "impure"]
OBJECT = "(square|circle|rectangle|text)"
FEATURES = {        # as in Figure 4: the words of a blindspot that tell of each
    "relative position": "square (above|below)", "texture of an object": f"{OBJECT} (solid|striped)",
    **{f"presence of a {shape}": rf"(^|, )(no )?{shape}(,|$)" for shape in ("circle", "rectangle", "text")},
    "color of an object": f"{OBJECT} (blue|orange)", "size of an object": f"{OBJECT} (normal|small)",
    "number of squares": "(one|two) squares?", "color of the background": "background (white|grey)",
    "texture of the background": "background (plain|noisy)",
}


def short(x, digits=4):
    return None if x is None else 0.0 if abs(x) < 1e-12 else float(f"{x:.{digits}g}")


# -- keep ---------------------------------------------------------------------------------------------------------------


def logs_of(run):
    """Of a run's logs: (ec, method) -> seconds, its reduction included where it was not an earlier method's; and the commits of
    the programs that ran: (first EC, end, commit), the latest first."""
    took, built = collections.defaultdict(float), []
    for path in glob.glob(os.path.join(glob.escape(run), "logs", "*.jsonl")):
        with open(path, encoding="utf-8", errors="replace") as f:
            for line in f:
                try:
                    event = json.loads(line)
                except ValueError:                         # a line that a killed process did not finish
                    continue
                if event.get("event") in ("points", "found") and event.get("text"):
                    took[event["ec"], event["text"]] += event["seconds"]
                if event.get("event") == "start":
                    built.append((event["at"], event["from"], event["to"], event["build"].split()[1][:8]))
    return took, [start[1:] for start in sorted(built, reverse=True)]


def row_of(segment, part, machine, took, built):
    """A line of STUDY.jsonl."""
    number, ec, lesson, inside = segment["index"], segment["ec"], segment["lesson"], segment["severity"]["inside"]
    methods = {}
    for m in segment["methods"]:
        if m["status"] != "OK":
            methods[m["name"]] = m["status"]
            continue
        beside = m["beside"]
        why = [0 if b["covered"] else [short(b[w] or 0, 3) for w in WHY] for b in m["blindspots"]]
        methods[m["name"]] = [short(m["dr"]), short(m["fdr"]), m["u"], m["components"], short(beside["spread"]),
                              short(beside["false_share"]), short(beside["dcbench_p10"]),
                              short(took.get((number, m["name"])), 3), beside["false_alarms"], why]
    spots = [{**b, "rows": i["rows"], "wrong": i["wrong"], "right_val": short(right)}
             for b, i, right in zip(ec["blindspots"], inside, lesson["inside"])]
    commit = next((commit for first, end, commit in built if first <= number < end), None)      # no log, no commit
    return {"part": part, "machine": machine, "commit": commit, "date": datetime.date.today().isoformat(),
            "numbers": segment["numbers"], "ec": number, "config": segment["config"], "seed": segment["seed"],
            "learned": lesson["learned"], "outside": short(lesson["outside"], 5),
            "rollable": len(ec["rollable"].split()), "blindspots": spots, "methods": methods}


def read(folder, study):
    path = os.path.join(folder, study + ".jsonl")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def keep(o):
    have = {(r["part"], r["ec"]) for r in read(o.folder, o.study)}
    files = sorted(glob.glob(os.path.join(glob.escape(o.run), "segments", "*", "ec-*.json")))
    if not files:
        sys.exit(f"ecs: {o.run} has no segments/*/ec-*.json; give the folder that `spotter sweep --out` made")
    (took, built), added = logs_of(o.run), 0
    os.makedirs(o.folder, exist_ok=True)
    with open(os.path.join(o.folder, o.study + ".jsonl"), "a", encoding="utf-8") as out:
        for path in files:
            with open(path, encoding="utf-8") as f:
                segment = json.load(f)["segment"]
            if segment["status"] == "OK" and (o.part, segment["index"]) not in have:
                out.write(json.dumps(row_of(segment, o.part, o.machine, took, built), separators=(",", ":")) + "\n")
                added += 1
    print(f"{added} of {len(files)} ECs added")


# -- lines --------------------------------------------------------------------------------------------------------------


def interval(values, draws):
    """95 % of the bootstrap samples' means; values (n, ...) of ECs."""
    return np.quantile(np.nanmean(values[draws], 1), [.025, .975])


def exchanged(difference, rng):
    """p of a mean difference that is 0, two-sided, by exchanging signs."""
    signs = rng.choice([-1, 1], (DRAWS, len(difference)))
    return (1 + np.sum(np.abs(signs @ difference) >= abs(difference.sum()) - 1e-12)) / (1 + DRAWS)


def holm(p):
    """name -> p corrected by Holm's rule"""
    worst, out = 0, {}
    for i, name in enumerate(sorted(p, key=p.get)):
        worst = max(worst, min(1, (len(p) - i) * p[name]))
        out[name] = worst
    return out


def shown(method):
    family, *settings = method.split(" ")
    return " ".join([SHOWN.get(family, family), *settings])


def slope(x, y):
    x = x - x.mean()
    return float(x @ y / (x @ x)) if x @ x else float("nan")


def shares(flags, spots, draws):
    """Share of found blindspots among those with the flag less that among the others: (difference, low, high), by ECs.
    flags, spots: for each EC, arrays over its blindspots."""
    counts = np.array([[(f & s).sum(), f.sum(), (~f & s).sum(), (~f).sum()] for f, s in zip(flags, spots)], float)
    with np.errstate(invalid="ignore"):
        of = lambda c: c[..., 0] / c[..., 1] - c[..., 2] / c[..., 3]
        value, samples = of(counts.sum(0)), of(counts[draws].sum(1))
    return (value, *np.nanquantile(samples, [.025, .975])) if not np.isnan(value) else (value, value, value)


def strictly(row):
    """Whether an EC learned by the paper's rule, which no config can loosen."""
    if any("right_val" not in b for b in row["blindspots"]):
        sys.exit(f"ecs: the line of EC {row['ec']} does not tell the accuracy on validation images; keep the run again")
    return row["outside"] >= OUTSIDE and all(b["right_val"] <= INSIDE for b in row["blindspots"])


class Study:
    def __init__(self, folder, name, strict=False, end=None):
        self.name, self.rows = name, [r for r in read(folder, name) if end is None or r["ec"] < end]
        self.how = " --strict" * strict + (f" --end {end}" if end is not None else "")
        self.called = ", strictly learned" * strict + (f", ECs 0 to {end - 1}" if end is not None else "")
        self.learned = [r for r in self.rows if r["blindspots"] and (strictly(r) if strict else r["learned"])]
        if not self.learned:
            sys.exit(f"ecs: no EC of {name} has blindspots and learned them")
        self.none = [r for r in self.rows if r["learned"] and not r["blindspots"]]
        every = list(dict.fromkeys(m for r in self.learned for m in r["methods"]))
        self.methods = [m for m in every if all(isinstance(r["methods"].get(m), list) for r in self.learned)]
        if len(self.methods) < len(every):
            print(f"ecs: not all ECs of {name} have {', '.join(sorted(set(every) - set(self.methods)))}", file=sys.stderr)
        self.rng = np.random.default_rng(1)
        self.draws = self.rng.integers(0, len(self.learned), (DRAWS, len(self.learned)))
        self.count = np.array([len(r["blindspots"]) for r in self.learned])

    def of(self, method, i):
        return np.array([np.nan if r["methods"][method][i] is None else r["methods"][method][i] for r in self.learned], float)

    def found(self, method):
        return [np.array([w == 0 for w in r["methods"][method][9]], bool) for r in self.learned]

    def about(self, reference):
        last = self.rows[-1]
        return {"machine": last["machine"], "load": None, "commit": last["commit"], "numbers": last["numbers"],
                "date": last.get("date"), "command": f"bench/ecs.py lines {self.name} {reference}{self.how}"}


def lines_of(folder, study, reference, strict, end):
    s = Study(folder, study, strict, end)
    n = len(s.learned)
    if reference not in s.methods:
        sys.exit(f"ecs: the ECs of {study} have no method {reference}; they have {', '.join(s.methods)}")
    versions = sorted({r["numbers"] for r in s.rows})
    if len(versions) > 1:
        sys.exit(f"ecs: {study}.jsonl has results of numbers {versions}; they do not belong into one table")
    name = f"{study}{s.called}, numbers {versions[0]}"
    lines = [{"op": "ECs learned", "case": f"{name}: all", "value": n, "unit": "ECs", "of": len(s.rows)}]
    add = lambda op, m, value, **more: lines.append({"op": op, "case": f"{name}: {shown(m)}", "value": short(value, 3),
                                                          "unit": None, **more})
    dr = {m: s.of(m, 0) for m in s.methods}
    p = holm({m: exchanged(dr[reference] - dr[m], s.rng) for m in s.methods if m != reference})
    for m in sorted(s.methods, key=lambda m: -dr[m].mean()):
        add("DR", m, dr[m].mean(), se=short(dr[m].std(ddof=1) / np.sqrt(n), 2), of=n)
        fdr = s.of(m, 1)
        known = fdr[~np.isnan(fdr)]
        if len(known) > 1:
            add("FDR", m, known.mean(), se=short(known.std(ddof=1) / np.sqrt(len(known)), 2), of=len(known))
        if m != reference:
            low, high = interval(dr[reference] - dr[m], s.draws)
            add(f"DR, {shown(reference)} minus it", m, (dr[reference] - dr[m]).mean(), low=short(low, 3), high=short(high, 3),
                of=n, note=f"Holm's p over {len(p)} methods: {p[m]:.3g}")
        for op, i in (("slices a blindspot", 4), ("false slices", 5)):
            some = s.of(m, i)[~np.isnan(s.of(m, i))]
            if len(some):
                add(op, m, some.mean(), of=len(some))
        for k in sorted(set(s.count)):
            here = dr[m][s.count == k]
            if len(here) > 1:
                add(f"DR with {k}", m, here.mean(), se=short(here.std(ddof=1) / np.sqrt(len(here)), 2), of=len(here))
                f = fdr[(s.count == k) & ~np.isnan(fdr)]
                if len(f) > 1:
                    add(f"FDR with {k}", m, f.mean(), se=short(f.std(ddof=1) / np.sqrt(len(f)), 2), of=len(f))
        some = [slope(s.count[d].astype(float), dr[m][d]) for d in s.draws[:4000]]
        if len(set(s.count)) > 1:
            low, high = np.nanquantile(some, [.025, .975])
            add("DR by number", m, slope(s.count.astype(float), dr[m]), low=short(low, 3), high=short(high, 3), of=n)
        found = s.found(m)
        for k in sorted({b["specificity"] for r in s.learned for b in r["blindspots"]}):
            at = np.concatenate([f[[b["specificity"] == k for b in r["blindspots"]]] for r, f in zip(s.learned, found)])
            add(f"found at {k}", m, at.mean(), of=len(at))
        greatest = max(b["specificity"] for r in s.learned for b in r["blindspots"])
        flags = [np.array([b["specificity"] == greatest for b in r["blindspots"]]) for r in s.learned]
        value, low, high = shares(flags, found, s.draws[:4000])
        if not np.isnan(value):
            add("found at most specific minus others", m, value, low=short(low, 3), high=short(high, 3))
        for feature, words in FEATURES.items():
            flags = [np.array([bool(re.search(words, b["is"])) for b in r["blindspots"]]) for r in s.learned]
            value, low, high = shares(flags, found, s.draws[:4000])
            if not np.isnan(value):
                add(f"found with {feature} minus without", m, value, low=short(low, 3), high=short(high, 3))
        for low, high in zip(ERRORS, ERRORS[1:]):
            here = [(low <= b["wrong"] / b["rows"]) & (b["wrong"] / b["rows"] < high or high == 1) for r in s.learned
                    for b in r["blindspots"]]
            if any(here) and not all(here):
                add(f"found, error inside {low:g} to {high:g}", m, np.concatenate(found)[here].mean(), of=sum(here))
        if s.none:
            add("slices where none is planted", m, np.mean([r["methods"][m][8] for r in s.none]), of=len(s.none))
        missed = np.array([w for r in s.learned for w in r["methods"][m][9] if w != 0], float)
        for i, word in enumerate(WHY):
            if len(missed):
                add("missed: " + word.replace("_", " "), m, missed[:, i].mean(), of=len(missed))
    components = {m: s.of(m, 3) for m in s.methods}
    for m, k in components.items():
        if (k > 0).any():
            add("components", m, np.median(k), least=k.min(), greatest=k.max())
    return [{**line, **s.about(reference)} for line in lines]


def best(folder, study):
    s, families = Study(folder, study), collections.defaultdict(list)
    print(f"{len(s.learned)} of {len(s.rows)} ECs learned")
    for m in s.methods:
        dr, fdr = s.of(m, 0), s.of(m, 1)
        families[m.split()[0]].append((-dr.mean(), np.nan_to_num(np.nanmean(fdr)) if (~np.isnan(fdr)).any() else 0, m))
    for settings in families.values():
        print()
        for dr, fdr, m in sorted(settings, key=lambda x: x[:2]):
            print(f"{-dr:.3f}  {fdr:.3f}  {m}")


def leaderboard(folder):
    lines = []
    for name in sorted(f[:-6] for f in os.listdir(folder) if f.endswith(".jsonl") and not f.endswith("_tuning.jsonl")):
        s = Study(folder, name)
        for m in sorted(s.methods, key=lambda m: -s.of(m, 0).mean()):
            dr, fdr = s.of(m, 0), s.of(m, 1)
            seconds = s.of(m, 7)[[r["machine"] == s.rows[-1]["machine"] for r in s.learned]]
            known = fdr[~np.isnan(fdr)]
            mean = lambda x: f"{np.nanmean(x):.3f}" if (~np.isnan(x)).any() else ""
            lines.append([shown(m), name, s.rows[-1]["numbers"], len(dr), mean(dr), f"{dr.std(ddof=1) / np.sqrt(len(dr)):.3f}",
                          mean(known), len(known), mean(s.of(m, 4)), mean(s.of(m, 5)), mean(s.of(m, 6)),
                          "" if np.isnan(seconds).all() else f"{np.nanmedian(seconds):.3g}", s.rows[-1]["machine"]])
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["method", "config", "numbers", "ecs", "dr", "dr_se", "fdr", "fdr_ecs", "slices_a_blindspot", "false_slices",
                  "precision_at_10", "seconds", "machine"])
    out.writerows(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", default=FOLDER)
    modes = parser.add_subparsers(dest="mode", required=True)
    one = modes.add_parser("keep")
    for word in ("run", "study", "part", "machine"):
        one.add_argument(word)
    one = modes.add_parser("lines")
    one.add_argument("study"), one.add_argument("reference"), one.add_argument("--strict", action="store_true")
    one.add_argument("--end", type=int)
    modes.add_parser("best").add_argument("study")
    modes.add_parser("leaderboard")
    one = modes.add_parser("missing")
    one.add_argument("study"), one.add_argument("count", type=int)
    o = parser.parse_args()
    if o.mode == "keep":
        keep(o)
    elif o.mode == "best":
        best(o.folder, o.study)
    elif o.mode == "missing":
        print(*sorted(set(range(o.count)) - {r["ec"] for r in read(o.folder, o.study)}))
    elif o.mode == "leaderboard":
        leaderboard(o.folder)
    else:
        for line in lines_of(o.folder, o.study, o.reference, o.strict, o.end):
            print(json.dumps(line, ensure_ascii=False))


if __name__ == "__main__":
    main()
