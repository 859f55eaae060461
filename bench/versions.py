#!/usr/bin/env python3
"""bench/versions.py runs|table|chance|planted PROGRAM DIR ...: how often the gate between two versions is right.

runs PROGRAM DIR WORLD LABEL SETTING[,SETTING] KIND[,KIND] N
         Runs `PROGRAM compare` over pairs of bench/retrains.py and adds a line for each to DIR/WORLD/gates/LABEL.jsonl; what is
         there already is not run again. LABEL names the program. Kinds: equal (N of the 190 pairs of equal trainings; every
         training is as often version 1 as version 2 where N is a multiple of 20), planted (version 2 has the bug; N runs),
         improved (version 1 has the bug), prior (version 2 saw half of a class). Settings, joined by +:
           features_1 features_2 features_both neutral    the features; those of both are scaled to variance 1 and joined
           attributes      with --attributes
           rules           with --attributes and --method itemsets
           guard           with --guard of the planted rule; where nothing is planted, of a rule drawn at random
           retrain         with --retrain of three other equal trainings
         A setting whose option the program does not have is named and skipped. Rows have the groups of their world.
table PROGRAM DIR WORLD LABEL
         Counts the lines: exit codes, words for all rows and for each class of 400 rows or more, planted rules by their effect.
         Intervals are from a bootstrap over the 20 trainings: a training comes with all its pairs.
chance PROGRAM DIR N [AGREEMENT ...]
         Equal versions, 40 groups of 25 rows, agreement 0, .1 and .3 within a group, each version with groups of its own.
planted PROGRAM DIR N
         4,000 simulated rows; version 2 is 12 points worse on 5 % of them, or 35 points on 3 %, where an attribute lies."""
import collections
import csv
import itertools
import json
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
    return [w for w in setting.split("+") if w in ("guard", "retrain") and f"--{w}" not in known]


def compare(program, files, more, threads=1):
    """Exit code, seconds and the object of --json (None where there is none)."""
    started = time.time()
    done = subprocess.run([program, "compare", files["p_1"], files["p_2"], "-e", files["e"], "-y", files["y"], "--json",
                           "--threads", str(threads), *more], capture_output=True, text=True)
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


def features_of(program, w, setting, a, b, folder):
    kind = next((s for s in setting.split("+") if s in FEATURES), "features_1")
    e = [f"{w.at}/runs/{run}/e.npy" for run in (a, b)]
    if kind == "neutral":
        return neutral(program, w)
    if kind != "features_both":
        return e[kind == "features_2"]
    both = [np.load(path) for path in e]
    np.save(f"{folder}/both.npy", np.concatenate([x / np.sqrt(x.var(0).sum()) for x in both], 1).astype(np.float32))
    return f"{folder}/both.npy"


def more_of(w, setting, a, b):
    more, words = ["--groups", "rows" if w.alone else f"{w.at}/groups.npy"], setting.split("+")
    if {"attributes", "rules", "guard"} & set(words):
        more += ["--attributes", f"{w.at}/attributes.csv"]
    if "rules" in words:
        more += ["--method", "itemsets"]
    if "guard" in words:
        rule = w.rule_of(a, b)
        more += ["--guard", f"{rule['cls']} & {rule['attribute']}={rule['value']}"]
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
                             e=features_of(program, w, setting, a, b, folder))
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


# ---- simulated rows ----

def write(folder, y, p, e, **more):
    files = dict(y=f"{folder}/y.npy", p_1=f"{folder}/p_1.npy", p_2=f"{folder}/p_2.npy", e=f"{folder}/e.npy")
    for path, x in ((files["y"], y.astype(np.int32)), (files["p_1"], p[0]), (files["p_2"], p[1]), (files["e"], e)):
        np.save(path, x if x.dtype == np.int32 else x.astype(np.float32))
    for name, x in more.items():
        np.save(f"{folder}/{name}.npy", x.astype(np.int32))
    return files


def answers(y, wrong, classes, r):
    """Probabilities of a classifier that has these rows wrong."""
    other = (y + 1 + r.integers(0, classes - 1, len(y))) % classes
    p = np.full((len(y), classes), .3 / (classes - 1))
    p[np.arange(len(y)), np.where(wrong, other, y)] = .7
    return p


def chance(program, root, n, *agreements):
    for agreement in map(float, agreements or ("0", ".1", ".3")):
        codes, words = collections.Counter(), []
        for t in range(int(n)):
            r = np.random.default_rng([13, t, int(100 * agreement)])
            g = np.repeat(np.arange(40), 25)
            y = g % 2
            more = 1 / agreement - 1 if agreement else 0
            rate = [r.beta(.2 * more, .8 * more, 40) if agreement else np.full(40, .2) for _ in range(2)]
            e = r.normal(0, 3, (40, 8))[g] + r.normal(0, 1, (1000, 8))
            e[:, 0] += 8 * y
            with tempfile.TemporaryDirectory(dir=root) as folder:
                files = write(folder, y, [answers(y, r.random(1000) < q[g], 2, r) for q in rate], e, g=g)
                code, _, told, _ = compare(program, files, ["--groups", f"{folder}/g.npy"])
            codes[code] += 1
            words.append(dict(said=words_of(told, y, np.zeros(1000, bool)) if told else None))
        print(f"40 groups of 25, agreement {agreement}: exit codes {dict(codes)} of {n}; all rows: "
              f"{share_of_words(words, lambda s: s[0] == 'classes' and s[1] is None)}; classes: "
              f"{share_of_words(words, lambda s: s[0] == 'classes' and s[1] is not None)}", flush=True)


def planted_rows(t, points, share):
    """4,000 rows of 4 classes; the rule is class 0 and a value of the first attribute. Both versions have a row wrong with its
    own difficulty: 20 % of the rows in the mean. Features know attributes and class, and not the answers."""
    r = np.random.default_rng([14, t, points])
    y = r.integers(0, 4, 4000)
    a = np.array([[str(v) for v in r.choice(4, 4000, p=[4 * share, (1 - 4 * share) / 3, (1 - 4 * share) / 3,
                                                        (1 - 4 * share) / 3])]] + [[str(v) for v in r.integers(0, 3, 4000)]
                                                                                     for _ in range(3)]).T
    inside = (y == 0) & (a[:, 0] == "0")
    hard = r.beta(.2 * 1.5, .8 * 1.5, 4000)
    wrong = [r.random(4000) < hard for _ in range(2)]
    wrong[1] |= inside & (r.random(4000) < points / 100 / .8)
    e = r.normal(0, 1, (4000, 16))
    for k in range(4):
        e += r.normal(0, 1, (4, 16))[a[:, k].astype(int)]
    return y, a, inside, wrong, e + 3 * np.eye(4, 16)[y], r


def planted(program, root, n):
    known = options_of(program)
    for points, share in ((12, .05), (35, .03)):
        for setting in ("features", "attributes", "guard"):
            if missing(setting, known):
                print(f"{points} points on {100 * share:.0f} %, {setting}: skipped, the program has no --{setting}", flush=True)
                continue
            count, codes = [0, 0], collections.Counter()
            for t in range(int(n)):
                y, a, inside, wrong, e, r = planted_rows(t, points, share)
                with tempfile.TemporaryDirectory(dir=root) as folder:
                    files = write(folder, y, [answers(y, w, 4, r) for w in wrong], e)
                    with open(f"{folder}/a.csv", "w") as f:
                        f.write("a,b,c,d\n" + "".join(",".join("v" + v for v in row) + "\n" for row in a))
                    more = ["--groups", "rows"] + (["--attributes", f"{folder}/a.csv"] if setting != "features" else [])
                    more += ["--guard", "0 & a=v0"] if setting == "guard" else []
                    code, _, told, _ = compare(program, files, more)
                codes[code] += 1
                count[0] += is_told(dict(said=words_of(told, y, inside))) if told else 0
                count[1] += float((wrong[0] != wrong[1]).mean())
            print(f"{points} points on {100 * share:.0f} %, {setting}: exit codes {dict(codes)} of {n}, told in the rule "
                  f"{count[0]}; {100 * count[1] / int(n):.1f} % of the rows changed", flush=True)


if __name__ == "__main__":
    {"runs": runs, "table": table, "chance": chance, "planted": planted}[sys.argv[1]](*sys.argv[2:])
