#!/usr/bin/env python3
"""bench/worlds.py MODE [--spotter PROGRAM] [--splits N] [--seeds N] [--trees N] RUN... KEY=VALUE...

Paper 003 (background invariance testing) over planted worlds: lines of bench/results/background.jsonl from runs of
configs/background_worlds.yaml that differ in zoo.seed, a run a world. KEY: machine, load, commit, numbers, date, command must
be given, and `null` is a value; note may be. Needs numpy, scipy and scikit-learn, whose forests have 100 trees (--trees) as
Spotter's have. MODE is one of:

within    Random splits of each world's models, 2/3 to train and 1/3 to test (--splits, 50), the same for all assessors.
          Forest, AdaBoost and worst-case accuracy are those of `spotter verdict` (PROGRAM, build/spotter), also on matrices of
          other kernels; the others are scikit-learn's forests on the same splits. It is an error if worst-case accuracy is not
          right exactly as often here as there: then the splits are not the same.
across    Trained on models of the other worlds, judged on this one's; all assessors are of bench/assessors.py, forests
          scikit-learn's. The k-th model has the same recipe and the same planted reliance in every world, so that a forest that
          knows a recipe again would know its label: recipes are dealt into three parts, and models of a part are judged by who
          was trained on the other two. Mean of 10 deals (--seeds).
table1    Table 1: neuron coverage at all thresholds that a run has, and in place of three people's kappa the Fleiss' kappa of
          three forests of other worlds (scikit-learn's): each is trained on one other world, on suites of the same choice,
          realness and seed, and labels every model of this one, recipes apart as in `across`; mean over the suites' seeds. Then
          the kappa of one such forest on the two suites, mean over forests. F1 of coverage and the first kappa, 0 where that is
          below 0.
labels    Figure 16 and Table 5: shares of the labels, by architecture.
reasons   Figure 19: which feature speaks most for a verdict by `spotter verdict`'s TreeSHAP, forest of the other worlds; the
          three most frequent ones for each verdict, and how often it is one of the confidence matrix. A model that the forest
          refuses has no reason; the note counts those.
keywords  Figure 9, without runs: tests/golden/ontology_counts.txt, which tools/golden/ontology.py made of the keywords that the
          authors published.
keep      RUN FILE.tar.xz, without keys: packs what the other modes read of a finished world, some 0.6 MB (bench/world_files.py
          says what). Every other mode takes such a file in place of RUN and prints the same lines.
realness  Prints, of one run, the median realness of all blends of choice random without a test: by this rule the tuning world
          901 gives suite.realness.

Labels are the config's cuts of the planted reliance (what training showed) and of the learned one (the accuracy lost where
backgrounds say nothing). "Without foreground alone" leaves the models that were trained on foregrounds alone out of training
and test; nothing else is ever left out. "Three numbers" are accuracy, worst-case accuracy and BG-gap. A value is the mean over
worlds, low and high are Student's 95 % over worlds (worlds - 1 degrees of freedom), differences are paired by world. All worlds
have the same recipes and splits, so that no interval covers the choice of these, and shares of planted labels are the same in
each; training sets of `across` overlap.
"""
import os
import sys
import tempfile

import numpy as np

import assessors
import tensors
from assessors import LABELS, boost, cuts, f1, forest, frequent, interval, kappa
from philox import Philox
from results import about
from world_files import keep, unpacked
from world_runs import ALONE, TRUTHS, Lines, Looks, read_worlds, spotter_verdict, variants_of

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RATERS = {1: "one forest of another world", 2: "two forests of other worlds", 3: "three forests of other worlds"}
GRAPHS = ["every keyword, every pair", "support 0.005, confidence 0.05", "support 0.005, confidence 0.1",
          "support 0.01, confidence 0.1", "support 0.01, confidence 0.2"]        # of ontology_counts.txt
PICTURES = 1712                                                                  # there
GROUPS = [(truth, group) for truth in TRUTHS for group in ("", ALONE)]
ARCHITECTURES = {"resnet18": "ResNet-18", "resnet34": "ResNet-34", "alexnet": "AlexNet"}


# ---- assessors ----

def case_of(truth, group):
    return f"{truth} labels" + (f", {group}" if group else "")


def features_of(looks):
    """{assessor: (how it says, features)}"""
    m, numbers = looks.matrices.astype(np.float32), looks.numbers
    return {"forest on matrices": (forest, m), "forest on three numbers": (forest, numbers),
            "forest on BG-gap": (forest, numbers[:, 2:]),
            "forest on matrices and three numbers": (forest, np.hstack([m, numbers])), "AdaBoost": (boost, m),
            "worst-case accuracy": (cuts, numbers[:, 1:2]), "most frequent label": (frequent, numbers)}


def add_right(out, case, right, first, note):
    """right {assessor: share of the models, one a world}; first: whose forest stands beside the others"""
    for name, values in right.items():
        if name != "forest on matrices" or name == first:
            out.add(f"verdict right: {name}", case, values, note)
    for a, b in [(first, "worst-case accuracy"), (first, "AdaBoost"), (first, "most frequent label"),
                 ("forest on three numbers", "worst-case accuracy"), ("forest on matrices", "forest on three numbers"),
                 ("forest on matrices", "forest on BG-gap"),
                 ("forest on matrices and three numbers", "forest on three numbers"),
                 ("forest on matrices and three numbers", "forest on matrices")]:
        out.add(f"verdict right: {a} minus {b}", case, np.subtract(right[a], right[b]), note)


def print_sentence(where, case, right, worlds):
    """what matrices add, to stderr"""
    both, plain = right["forest on matrices and three numbers"], right["forest on three numbers"]
    mean, low, high = interval(np.subtract(both, plain))
    told = "one world has no interval" if low is None else \
        f"[{low:+.3f}, {high:+.3f}] over {worlds} worlds, {'not ' if low <= 0 <= high else ''}told apart from 0"
    print(f"{where}, {case}: a forest on accuracy, worst case and BG-gap is right on {np.mean(plain):.3f}, and the matrices "
          f"add {mean:+.3f} to it, {told}.", file=sys.stderr)


# ---- within a world, across worlds ----

def by_spotter(o, world, looks, truth, rows):
    """{assessor: (share right, kappa)} of spotter verdict, on the labels of these models"""
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write("model,rater,label\n")
        for i in rows:
            file.write(f"{world.names[i]},{truth},{LABELS[world.label[truth][i]]}\n")
        file.flush()
        told = spotter_verdict(o, [looks.folder], "--labels", file.name, "--splits", str(o["splits"]))
    if not told["assessors"]:
        sys.exit(f"worlds: {looks.folder}, {truth} labels: {told['no_scores']}")
    return {a["assessor"]: (a["accuracy"]["mean"], np.nan if a["kappa"]["mean"] is None else a["kappa"]["mean"])
            for a in told["assessors"]}


def by_splits(o, world, truth, rows):
    """{assessor: share right}, mean over the splits that spotter verdict has"""
    y, n, right = world.label[truth][rows], len(rows), {}
    for split in range(o["splits"]):
        order = np.array(Philox(int(world.config["verdict"]["seed"]), "HOLDOUT", 0, split).shuffle(n))
        train, test = order[:n - (n + 2) // 3], order[n - (n + 2) // 3:]
        for name, (says, x) in features_of(world).items():
            x = x[rows]
            right.setdefault(name, []).append((says(x[train], y[train], x[test], split) == y[test]).mean())
    return {name: float(np.mean(v)) for name, v in right.items()}


def check_splits(o, w, case, ours, theirs):
    a, b = ours["worst-case accuracy"], theirs["worst-case accuracy"][0]
    if abs(a - b) > 1e-9:
        sys.exit(f"worlds: {w.folder}, {case}: worst-case accuracy is right on {a} of the tested models here and on {b} by "
                 f"{o['spotter']}: its splits are others")


def within(o, worlds, given):
    out = Lines(given, ", within a world")
    note = f"mean of {o['splits']} splits of each world, 2/3 to train"
    for truth, group in GROUPS:
        case, right, agreed, check = case_of(truth, group), {}, {}, {}
        for w in worlds:
            theirs, ours = by_spotter(o, w, w, truth, w.models(group)), by_splits(o, w, truth, w.models(group))
            check_splits(o, w, case, ours, theirs)
            for name, a, b in (("scikit-learn's forest", "forest on matrices", "random forest"),
                               ("AdaBoost of bench/assessors.py", "AdaBoost", "AdaBoost")):
                check.setdefault(name, []).append(ours[a] - theirs[b][0])
            for name, (share, k) in theirs.items():
                right.setdefault(name, []).append(share)
                agreed.setdefault(name, []).append(k)
            for name in [n for n in ours if n not in theirs]:
                right.setdefault(name, []).append(ours[name])
        add_right(out, case, right, "random forest", note)
        for name, values in agreed.items():
            out.add(f"kappa with the labels: {name}", case, values, note)
        for name, values in check.items():
            out.add(f"verdict right: {name} minus Spotter's, the same splits", case, values, note)
        print_sentence("within a world", case, right, len(worlds))
        for kernel in sorted(set.intersection(*[set(w.kernels()) for w in worlds])):
            told = [by_spotter(o, w, w.kernels()[kernel], truth, w.models(group)) for w in worlds]
            for name in ("random forest", "AdaBoost"):
                out.add(f"verdict right: {name}", f"{kernel}, {case}", [t[name][0] for t in told], note)


def deal_recipes(worlds, deal):
    """part, 0 to 2, of each model of each world: models of one name have one recipe"""
    names = sorted({name for w in worlds for name in w.names})
    part = {names[i]: k % 3 for k, i in enumerate(Philox(1, "HOLDOUT", 1, deal).shuffle(len(names)))}
    return [np.array([part[name] for name in w.names]) for w in worlds]


def judge(says, x, y, rows, parts, trainers, mine, seed):
    """labels of the rows of world `mine` by who was trained on the rows of the worlds `trainers` that are of other parts"""
    said, part = np.zeros(len(rows[mine]), int), parts[mine][rows[mine]]
    for k in sorted(set(part)):
        train = {w: rows[w][parts[w][rows[w]] != k] for w in trainers}
        said[part == k] = says(np.vstack([x[w][i] for w, i in train.items()]),
                               np.concatenate([y[w][i] for w, i in train.items()]), x[mine][rows[mine][part == k]], seed)
    return said


def across(o, worlds, given):
    if len(worlds) < 2:
        sys.exit("worlds: across needs two runs or more")
    out, note = Lines(given, ", across worlds"), f"trained on other recipes in the other worlds; {o['seeds']} deals of recipes"
    deals, features = [deal_recipes(worlds, deal) for deal in range(o["seeds"])], [features_of(w) for w in worlds]
    for truth, group in GROUPS:
        y, rows, right = [w.label[truth] for w in worlds], [w.models(group) for w in worlds], {}
        for name, (says, _) in features[0].items():
            x = [f[name][1] for f in features]
            for mine in range(len(worlds)):
                others = [w for w in range(len(worlds)) if w != mine]
                hits = [(judge(says, x, y, rows, parts, others, mine, deal) == y[mine][rows[mine]]).mean()
                        for deal, parts in enumerate(deals)]
                right.setdefault(name, []).append(np.mean(hits))
        add_right(out, case_of(truth, group), right, "forest on matrices", note)
        print_sentence("across worlds", case_of(truth, group), right, len(worlds))


# ---- Table 1 ----

def ratings(worlds, key, truth):
    """[labels (suite's seed, rater, model) of each world] by forests of up to three other worlds, on suites of the key"""
    parts, ends, said = deal_recipes(worlds, 0), np.cumsum([0] + [len(w.names) for w in worlds]), []
    for looks in zip(*[w.suites()[key] for w in worlds]):
        every = np.vstack([x.matrices for x in looks])
        said.append([judge(forest, [x.matrices, every], [w.label[truth]], [w.models(""), np.arange(len(every))],
                           [parts[r], np.concatenate(parts)], [0], 1, r) for r, (w, x) in enumerate(zip(worlds, looks))])
    said, raters = np.array(said), lambda w: [(w + 1 + k) % len(worlds) for k in range(min(3, len(worlds) - 1))]
    return [said[:, raters(w), ends[w]:ends[w + 1]] for w in range(len(worlds))]


def table1(o, worlds, given):
    out, f1s = Lines(given, ", Table 1"), {}
    raters = RATERS[min(3, len(worlds) - 1)]
    if len(worlds) < 3:
        sys.exit("worlds: table1 needs three runs or more, and four for three raters of each model")
    if any({k: len(v) for k, v in w.suites().items()} != {k: len(v) for k, v in worlds[0].suites().items()} for w in worlds):
        sys.exit("worlds: the runs have different suites")
    for key in worlds[0].suites():
        case, seeds = f"choice {key[0]}, realness {'on' if key[1] else 'off'}", len(worlds[0].suites()[key])
        covered = np.array([np.mean([looks.coverage for looks in w.suites()[key]], (0, 1)) for w in worlds])
        for k, at in enumerate(worlds[0].at):
            out.add(f"coverage above {at}", case, covered[:, k], f"mean of {seeds} suites")
        if key[1]:
            below = [np.mean([x.below for x in w.suites()[key]]) for w in worlds]
            out.add("share of the blends below suite.realness", case, below, f"mean of {seeds} suites; no candidate had it")
        for truth in TRUTHS:
            said = ratings(worlds, key, truth)
            agree = np.array([np.mean([kappa(s) for s in by_world]) for by_world in said])
            note = f"each trained on {truth} labels of one other world; mean of {seeds} suites"
            out.add(f"kappa of {raters}", f"{case}, {truth} labels", agree, note)
            if seeds == 2:
                again = [np.mean([kappa(by_world[:, r]) for r in range(by_world.shape[1])]) for by_world in said]
                out.add("kappa of a forest of another world with itself on two suites", f"{case}, {truth} labels", again, note)
            for k, at in enumerate(worlds[0].at):
                f1s[key, truth, at] = [f1(p, r) for p, r in zip(agree, covered[:, k])]
                out.add(f"F1 with coverage above {at}", f"{case}, {truth} labels", f1s[key, truth, at], note)
    for (key, truth, at), values in f1s.items():
        if key[0] != "ontology" and (("ontology", key[1]), truth, at) in f1s:
            out.add(f"F1 with coverage above {at}, ontology minus {key[0]}",
                    f"realness {'on' if key[1] else 'off'}, {truth} labels",
                    np.subtract(f1s[("ontology", key[1]), truth, at], values), f"kappa of {raters}")


# ---- Figures 16, 19 and 9; realness ----

def labels(o, worlds, given):
    out = Lines(given, "")
    for truth, group in GROUPS:
        for name, words in [(None, "all"), *ARCHITECTURES.items()]:
            rows = [[i for i in w.models(group) if name in (None, w.architecture[i])] for w in worlds]
            for k, label in enumerate(LABELS):
                out.add(f"share of {label} models (Figure 16)", f"{case_of(truth, group)}: {words}",
                        [(w.label[truth][r] == k).mean() if r else np.nan for w, r in zip(worlds, rows)],
                        f"{len(rows[0])} models a world")


def reasons_of(o, worlds, w, truth):
    """(models of each verdict that a forest of the other worlds gives, {verdict: {feature: models of which it speaks most}})"""
    with tempfile.TemporaryDirectory() as folder:
        others = [v.folder for k, v in enumerate(worlds) if k != w]
        file = os.path.join(folder, "forest.safetensors")
        spotter_verdict(o, others, "--truth", truth, "--train", file)
        models = spotter_verdict(o, [worlds[w].folder], "--forest", file)["models"]
    first = {label: {} for label in LABELS}
    for m in models:
        if m["verdict"] and m["reasons"]:
            feature = m["reasons"][0]["feature"]
            first[m["verdict"]][feature] = first[m["verdict"]].get(feature, 0) + 1
    return {label: sum(m["verdict"] == label for m in models) for label in LABELS}, first


def reasons(o, worlds, given):
    if len(worlds) < 2:
        sys.exit("worlds: reasons needs two runs or more")
    out = Lines(given, "")
    for truth in TRUTHS:
        told = [reasons_of(o, worlds, w, truth) for w in range(len(worlds))]
        models = sum(len(w.names) for w in worlds)
        refused = models - sum(sum(count.values()) for count, _ in told)
        for label in LABELS:
            there = [(count[label], first[label]) for count, first in told if count[label]]
            note = f"forest of the other worlds by spotter verdict, TreeSHAP; {sum(n for n, _ in there)} models; " \
                   f"{refused} of {models} refused"
            share = lambda feature: [first.get(feature, 0) / n for n, first in there]
            every = sorted({f for _, first in there for f in first}, key=lambda f: (-np.mean(share(f)), f))
            for feature in every[:3]:
                out.add("speaks most for the verdict (Figure 19)", f"{truth} labels, {label}: {feature}", share(feature), note)
            if there:
                out.add("speaks most for the verdict (Figure 19)", f"{truth} labels, {label}: any of the confidence matrix",
                        [sum(c for f, c in first.items() if f.startswith("confidence: ")) / n for n, first in there], note)


def keywords(o, _, given):
    out = Lines(given, ", the authors' keywords")
    with open(os.path.join(ROOT, "tests", "golden", "ontology_counts.txt")) as file:
        rows = [[float(x) for x in line.split()] for line in file][3:]
    for words, row in zip(GRAPHS, rows):
        for level, value in enumerate(row):
            out.add(f"keywords, expansion {level} (Figure 9)", words, value, "mean over pictures; no MINKWS", 1, PICTURES)
        out.add("share of the keywords that expansion 5 adds (Figure 9)", words, (row[5] - row[4]) / row[5], of=PICTURES)


def print_realness(folder):
    real = []
    for path in [folder] + variants_of(folder):
        looks = Looks(path)
        if looks.config["suite"]["choice"] == "random" and float(looks.config["suite"]["realness"]) == 0:
            distance, = tensors.read(os.path.join(path, "suites", looks.suite["key"] + ".safetensors"), "distance")
            real.append(1 - distance)
    print(f"{np.median(real):.2f}, of {np.size(real)} blends in {len(real)} suites")


MODES = {"within": within, "across": across, "table1": table1, "labels": labels, "reasons": reasons, "keywords": keywords}


def main():
    words, o = sys.argv[1:], {"spotter": os.path.join(ROOT, "build", "spotter"), "splits": 50, "seeds": 10, "trees": 100}
    for name in o:
        while f"--{name}" in words[:-1]:
            k = words.index(f"--{name}")
            o[name] = type(o[name])(words[k + 1])
            del words[k:k + 2]
    assessors.trees = o["trees"]
    given, words = about(words)
    mode, *runs = words or [""]
    if mode == "keep" and len(runs) == 2:
        return keep(*runs)
    if (mode != "realness" or len(runs) != 1) and (mode not in MODES or not given or bool(runs) == (mode == "keywords")):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as top:
        runs = [unpacked(run, os.path.join(top, str(k))) if os.path.isfile(run) else run for k, run in enumerate(runs)]
        if mode == "realness":
            print_realness(runs[0])
        else:
            MODES[mode](o, read_worlds(runs), given)


if __name__ == "__main__":
    main()
