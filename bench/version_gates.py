#!/usr/bin/env python3
"""bench/version_gates.py runs|table|rows|spread PROGRAM DIR ...: how often the gate between two versions is right.

runs PROGRAM DIR WORLD LABEL SETTING[,SETTING] KIND[,KIND] N
         Runs `PROGRAM compare` over pairs of bench/retrains.py and adds a line for each to DIR/WORLD/gates/LABEL.jsonl; what is
         there already is not run again. LABEL names the program. Kinds: equal (N of the 190 pairs of equal trainings; every
         training is as often version 1 as version 2 where N is a multiple of 20), planted (version 2 has the bug; N runs),
         improved (version 1 has the bug), prior (version 2 saw half of a class). Settings, joined by +:
           features_1 features_2 features_both neutral    the features; those of both are scaled to variance 1 and joined,
                           by the program where --embeddings may be said again
           attributes      with --attributes
           rules           with --attributes and --method itemsets
           guard, guard0   with --guard of the planted rule (where nothing is planted, of a rule drawn at random); with a margin
                           of 0
           retrain         with --retrain of three other equal trainings
         A setting whose option the program does not have is named and skipped. Rows have the groups of their world.
table PROGRAM DIR WORLD LABEL
         Counts the lines: exit codes, words for all rows and for each class of 400 rows or more, planted rules by their effect.
         Intervals are from a bootstrap over the 20 trainings: a training comes with all its pairs.
rows PROGRAM DIR WORLD LABEL NAME MACHINE COMMIT NUMBERS DATE
         The same as lines of bench/results/versions.jsonl; NAME is the world's.
spread PROGRAM DIR WORLD
         What equal trainings do by themselves, without the program: s.d. of the error rate of each class, rows that differ, and
         the pairs of which a paired test of all rows and the classes (signs of groups, one-sided, Holm) calls one worse."""
import collections
import csv
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

import retrains

FEATURES = ("features_1", "features_2", "features_both", "neutral")
LARGE = 400                                 # rows of a class whose words are counted
BANDS = ((-100, 5), (5, 10), (10, 15), (15, 25), (25, 101))     # points that a planted rule fails more
WORSE = ("worse", "new")


# ---- one comparison ----

def options_of(program):
    return subprocess.run([program, "compare", "--help-all"], capture_output=True, text=True).stdout


def missing(setting, known):
    options = {"guard": "guard", "guard0": "guard", "retrain": "retrain"}
    return [options[w] for w in setting.split("+") if w in options and f"--{options[w]}" not in known]


def compare(program, files, more, threads=1):
    """Exit code, seconds and the object of --json (None where there is none)."""
    started = time.time()
    features = [word for path in files["e"] for word in ("-e", path)]
    done = subprocess.run([program, "compare", files["p_1"], files["p_2"], *features, "-y", files["y"], "--json", "--threads",
                           str(threads), *more], capture_output=True, text=True)
    try:
        told = json.loads(done.stdout)
    except ValueError:
        told = None
    return done.returncode, time.time() - started, told, done.stderr[-300:]


def words_of(told, y, inside):
    """What is told of all rows, of each class, and of slices, rules and guards: (kind, class, verdict, rows, lost, gained,
    change, share of its rows inside the planted rule, share of the rule's rows that it has)."""
    said = []
    for kind in ("classes", "slices", "guards", "rules"):
        for s in told.get(kind) or []:
            rows = np.array(s.get("compared_rows") or [], int)
            if kind == "classes":
                rows = np.flatnonzero((y == int(s["class"])) if s["class"] is not None else np.full(len(y), True))
            change = s.get("change") or {}
            rows = np.flatnonzero(inside) if kind == "guards" else rows     # the guard is the planted rule
            has = int(inside[rows].sum()) if len(rows) else 0
            said.append((kind, s.get("class"), s["verdict"], s.get("compared"), s.get("lost"), s.get("gained"),
                         change.get("value"), has / max(1, len(rows)), has / max(1, int(inside.sum()))))
    return said


# ---- the pairs of a world ----

def pairs_of(kind, n):
    """(version 1, version 2), in an order in which each part is balanced."""
    if kind == "equal":
        e = retrains.EQUAL
        pairs = [(i, (i + d) % e) for d in (1, 3, 5, 7, 9, 2, 4, 6, 8, 10) for i in range(e if d < 10 else 10)]
        return [(f"equal_{a:02d}", f"equal_{b:02d}") for a, b in pairs][:n]
    count = retrains.PRIOR if kind == "prior" else retrains.PLANTED
    of = "prior" if kind == "prior" else "planted"
    pairs = [(f"equal_{i % retrains.EQUAL:02d}", f"{of}_{i:02d}") for i in range(count)][:n]
    return [(b, a) for a, b in pairs] if kind == "improved" else pairs


class World:
    def __init__(self, root, name):
        self.at, self.name = f"{root}/{name}", name
        self.y, self.g = np.load(f"{self.at}/labels.npy"), np.load(f"{self.at}/groups.npy")
        self.attributes = list(csv.DictReader(open(f"{self.at}/attributes.csv")))
        self.classes = retrains.WORLDS[name][1]
        self.alone = self.g.max() + 1 == len(self.g)

    def has(self, run):
        return os.path.exists(f"{self.at}/runs/{run}/meta.json")

    def meta(self, run):
        return json.load(open(f"{self.at}/runs/{run}/meta.json"))

    def wrong(self, run):
        return np.load(f"{self.at}/runs/{run}/p.npy").argmax(1) != self.y

    def equal(self):
        return [f"equal_{i:02d}" for i in range(retrains.EQUAL) if self.has(f"equal_{i:02d}")]

    def inside(self, rule):
        """Rows of a planted rule, or of a class."""
        if not rule or "cls" not in rule:
            return np.zeros(len(self.y), bool)
        value = [not rule.get("attribute") or r[rule["attribute"]] == rule["value"] for r in self.attributes]
        return (self.y == rule["cls"]) & np.array(value)

    def rule_of(self, a, b):
        """The planted rule of a pair; where nothing is planted one that is drawn by the names of the runs."""
        for run in (a, b):
            if run.startswith("planted"):
                return self.meta(run)
        rules = retrains.rules_of(np.load(f"{self.at}/data.npz"))
        c, name, value, _ = rules[np.random.default_rng([5, *(a + b).encode()]).integers(len(rules))]
        return dict(cls=c, attribute=name, value=value)


def neutral(program, w):
    path = f"{w.at}/neutral.npy"
    if not os.path.exists(path):
        subprocess.run([program, "embed", "--model", "neutral", "--images", f"{w.at}/images", "--out", path], check=True,
                       capture_output=True)
    return path


def features_of(program, known, w, setting, a, b, folder):
    """The files of --embeddings."""
    kind = next((s for s in setting.split("+") if s in FEATURES), "features_1")
    e = [f"{w.at}/runs/{run}/e.npy" for run in (a, b)]
    if kind == "neutral":
        return [neutral(program, w)]
    if kind != "features_both":
        return [e[kind == "features_2"]]
    if "-e again" in " ".join(known.split()):
        return e
    both = [np.load(path) for path in e]
    np.save(f"{folder}/both.npy", np.concatenate([x / np.sqrt(x.var(0).sum()) for x in both], 1).astype(np.float32))
    return [f"{folder}/both.npy"]


def more_of(w, setting, a, b):
    more, words = ["--groups", "rows" if w.alone else f"{w.at}/groups.npy"], setting.split("+")
    if {"attributes", "rules", "guard", "guard0"} & set(words):
        more += ["--attributes", f"{w.at}/attributes.csv"]
    if "rules" in words:
        more += ["--method", "itemsets"]
    if "guard" in words or "guard0" in words:
        rule = w.rule_of(a, b)
        more += ["--guard", f"{rule['cls']} & {rule['attribute']}={rule['value']}" + ("@0" if "guard0" in words else "")]
    if "retrain" in words:
        others = [r for r in w.equal() if r not in (a, b)]
        first = np.random.default_rng([6, *(a + b).encode()]).permutation(len(others))[:3]
        more += ["--retrain", ",".join(f"{w.at}/runs/{others[i]}/p.npy" for i in first)]
    return more


def runs(program, root, world, label, settings, kinds, n):
    w, known = World(root, world), options_of(program)
    os.makedirs(f"{w.at}/gates", exist_ok=True)
    path = f"{w.at}/gates/{label}.jsonl"
    done = {(r["setting"], r["kind"], r["a"], r["b"]) for r in lines_of(path)}
    for setting, kind in itertools.product(settings.split(","), kinds.split(",")):
        if missing(setting, known):
            print(f"{world} {setting}: skipped, the program has no --{' and no --'.join(missing(setting, known))}", flush=True)
            continue
        for a, b in pairs_of(kind, int(n)):
            if (setting, kind, a, b) in done or not (w.has(a) and w.has(b)):
                continue
            with tempfile.TemporaryDirectory() as folder:
                files = dict(p_1=f"{w.at}/runs/{a}/p.npy", p_2=f"{w.at}/runs/{b}/p.npy", y=f"{w.at}/labels.npy",
                             e=features_of(program, known, w, setting, a, b, folder))
                code, seconds, told, error = compare(program, files, more_of(w, setting, a, b))
            inside = w.inside(w.rule_of(a, b)) if kind != "equal" else np.zeros(len(w.y), bool)
            line = dict(setting=setting, kind=kind, a=a, b=b, code=code, seconds=round(seconds, 1),
                        said=words_of(told, w.y, inside) if told else None, error=None if told else error)
            with open(path, "a") as f:
                f.write(json.dumps(line) + "\n")


def lines_of(path):
    return [json.loads(line) for line in open(path)] if os.path.exists(path) else []


# ---- the counts ----

def interval(lines, hit, times=2000):
    """95 % interval of the share of pairs by a bootstrap over the trainings."""
    names = sorted({x for r in lines for x in (r["a"], r["b"])})
    a, b = (np.array([names.index(r[k]) for r in lines]) for k in "ab")
    r, shares = np.random.default_rng(9), []
    for _ in range(times):
        count = np.bincount(r.integers(0, len(names), len(names)), minlength=len(names))
        weight = count[a] * count[b]
        if weight.sum():
            shares.append((weight * hit).sum() / weight.sum())
    return np.percentile(shares, [2.5, 97.5])


def share_of_words(lines, pick):
    words = collections.Counter(s[2] for r in lines for s in r["said"] or [] if pick(s))
    total = max(1, sum(words.values()))
    return ", ".join(f"{word} {100 * k / total:.0f} %" for word, k in words.most_common()) or "-"


def effects(w, lines):
    """For each planted run: its points over the mean of the equal trainings, rows of the rule, share of rows that changed."""
    base = np.mean([w.wrong(r) for r in w.equal()], 0)
    found = {}
    for r in lines:
        run = r["b"] if r["b"].startswith("planted") else r["a"]
        inside, wrong = w.inside(w.meta(run)), w.wrong(run)
        found[run] = (100 * (wrong[inside].mean() - base[inside].mean()), int(inside.sum()),
                      float((w.wrong(r["a"]) != w.wrong(r["b"])).mean()))
    return found


def is_told(line):
    """Something is worse of which at least half lies in the planted rule."""
    return any(s[2] in WORSE and s[7] >= .5 for s in line["said"] or [])


def is_class_told(line, cls):
    return any(s[0] == "classes" and s[1] == str(cls) and s[2] in WORSE for s in line["said"] or [])


def table(_, root, world, label):
    w = World(root, world)
    lines = lines_of(f"{w.at}/gates/{label}.jsonl")
    large = {str(c) for c in range(len(w.classes)) if (w.y == c).sum() >= LARGE}
    print(f"{world}, {label}: {len(w.y)} rows, {w.g.max() + 1} groups, classes of {LARGE} rows or more: {len(large)}\n")
    print("| equal versions | pairs | exit 1 | other codes | slice worse | class worse | all rows | classes |")
    print("|---|---|---|---|---|---|---|---|")
    order = sorted({(r["kind"], r["setting"]) for r in lines})
    for kind, setting in order:
        of = [r for r in lines if (r["kind"], r["setting"]) == (kind, setting)]
        if kind not in ("equal", "prior"):
            continue
        hit = np.array([r["code"] == 1 for r in of])
        low, high = interval(of, hit) if kind == "equal" else (np.nan, np.nan)
        parts = [sum(any((s[0] == "classes") == c and s[2] in WORSE for s in r["said"] or []) for r in of) for c in (0, 1)]
        print(f"| {kind}, {setting} | {len(of)} | {100 * hit.mean():.0f} % [{100 * low:.0f}, {100 * high:.0f}] "
              f"| {sum(r['code'] not in (0, 1) for r in of)} | {parts[0]} | {parts[1]} "
              f"| {share_of_words(of, lambda s: s[0] == 'classes' and s[1] is None)} "
              f"| {share_of_words(of, lambda s: s[0] == 'classes' and s[1] in large)} |")
    print("\n| planted | points | runs | rows of the rule | rows changed | exit 1 | told in the rule | its class worse |")
    print("|---|---|---|---|---|---|---|---|")
    for kind, setting in order:
        of = [r for r in lines if (r["kind"], r["setting"]) == (kind, setting)]
        if kind not in ("planted", "improved"):
            continue
        e = effects(w, of)
        for low, high in BANDS:
            some = [r for r in of if low <= e[r["b"] if kind == "planted" else r["a"]][0] < high]
            if some:
                x = [e[r["b"] if kind == "planted" else r["a"]] for r in some]
                told = sum(map(is_told, some))
                cls = sum(is_class_told(r, w.meta(r["b"] if kind == "planted" else r["a"])["cls"]) for r in some)
                band = "below 5" if low < 0 else f"{low} to {high}" if high < 101 else "above 25"
                print(f"| {kind}, {setting} | {band} | {len(some)} | {min(i[1] for i in x)} to {max(i[1] for i in x)} "
                      f"| {100 * np.mean([i[2] for i in x]):.0f} % | {sum(r['code'] == 1 for r in some)} | {told} | {cls} |")


def counted(lines, pick, word):
    words = [s[2] for r in lines for s in r["said"] or [] if pick(s)]
    return 100 * words.count(word) / max(1, len(words)), len(words)


def rows(_, root, world, label, name, machine, commit, numbers, date):
    w = World(root, world)
    lines = lines_of(f"{w.at}/gates/{label}.jsonl")
    large = {str(c) for c in range(len(w.classes)) if (w.y == c).sum() >= LARGE}

    def line(op, case, value, unit, of, kind, setting, **more):
        command = f"bench/version_gates.py runs spotter DIR {world} {label} {setting} {kind} {of if kind == 'equal' else 44}"
        print(json.dumps(dict(op=op, case=case, value=round(value, 1), unit=unit, machine=machine, load=None, commit=commit,
                              numbers=int(numbers), date=date, command=command, of=of, **more)))

    for kind, setting in sorted({(r["kind"], r["setting"]) for r in lines}):
        of = [r for r in lines if (r["kind"], r["setting"]) == (kind, setting)]
        said = setting.replace("features_both", "features of both").replace("features_", "features of version ")
        said = said.replace("+", ", ")
        fails = np.array([r["code"] == 1 for r in of])
        if kind in ("equal", "prior"):
            case = f"{kind} versions of today: {name}, {said}, {len(of)} pairs"
            ends = dict(zip(("low", "high"), (round(100 * x, 1) for x in interval(of, fails)))) if kind == "equal" else {}
            line("equal versions called worse", case, 100 * fails.mean(), "%", len(of), kind, setting, **ends)
            for op, pick in (("all rows called same", lambda s: s[0] == "classes" and s[1] is None),
                             ("classes called same", lambda s: s[0] == "classes" and s[1] in large)):
                share, n = counted(of, pick, "same")
                line(op, case, share, "%", n, kind, setting)
        else:
            e = effects(w, of)
            for low, high in BANDS:
                some = [r for r in of if low <= e[r["b"] if kind == "planted" else r["a"]][0] < high]
                if not some:
                    continue
                band = "below 5" if low < 0 else f"{low} to {high}" if high < 101 else "above 25"
                case = f"{kind} versions of today: {name}, {band} points, {said}, {len(some)} versions"
                failed, told = sum(r["code"] == 1 for r in some), sum(map(is_told, some))
                line(f"{kind} versions that fail", case, failed, "versions", len(some), kind, setting)
                line(f"{kind} versions whose rule is worse", case, told, "versions", len(some), kind, setting)
                changed = 100 * np.mean([e[r["b"] if kind == "planted" else r["a"]][2] for r in some])
                line("rows that changed", case, changed, "%", len(w.y), kind, setting)


def p_worse(change, g):
    """One-sided p of lost rows less gained ones, where groups change sign as wholes; normal approximation."""
    sums = np.bincount(g, change)
    return .5 * math.erfc(change.sum() / math.sqrt(2 * max((sums**2).sum(), 1e-9)))


def spread(_, root, world):
    w = World(root, world)
    wrong = np.array([w.wrong(r) for r in w.equal()]).astype(float)
    parts = [np.full(len(w.y), True)] + [w.y == c for c in range(len(w.classes))]
    pairs = list(itertools.combinations(range(len(wrong)), 2))
    lines, fails, moved = [], [], np.zeros(len(parts))
    for a, b in pairs:
        for change in (wrong[b] - wrong[a], wrong[a] - wrong[b]):       # either may be version 2
            lines.append(dict(a=a, b=b))
            fails.append(min(p_worse(change[m], w.g[m]) for m in parts) * len(parts) <= .05)
        moved += [abs((wrong[b] - wrong[a])[m].mean()) > .05 for m in parts]
    low, high = interval(lines, np.array(fails))
    print(f"{world}: {len(wrong)} trainings, {100 * (1 - wrong.mean()):.1f} % right; "
          f"{100 * np.mean([(wrong[a] != wrong[b]).mean() for a, b in pairs]):.1f} % of the rows differ; "
          f"{100 * np.mean(fails):.0f} % [{100 * low:.0f}, {100 * high:.0f}] of {len(fails)} ordered pairs fail")
    for name, m, k in zip(["all rows", *w.classes], parts, moved):
        rates = 100 * wrong[:, m].mean(1)
        print(f"  {name}: {m.sum()} rows, {rates.mean():.1f} % wrong, s.d. {rates.std(ddof=1):.1f} points; "
              f"{100 * k / len(pairs):.0f} % of pairs differ by more than 5 points")


if __name__ == "__main__":
    {"runs": runs, "table": table, "rows": rows, "spread": spread}[sys.argv[1]](*sys.argv[2:])
