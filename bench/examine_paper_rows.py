#!/usr/bin/env python3
"""bench/examine_paper_rows.py RUN KEY=VALUE...: what a run of a config examine_paper*.yaml measured, finished or not.

Prints lines as bench/results.py describes them; it writes nothing. They belong into bench/results/examine.jsonl. Their cases
begin with "examine_paper, numbers N: ", those of one class with "examine_paper by class, numbers N: ". KEY: machine, load,
commit, numbers, date, command must be given, and `null` is a value; note may be.
--beside RUN    where the other run has another order of the factors, adds differences to its searches by the same examiners on
                the same objects, and energy distances of the last 50 renders (Figure 6) between searches of the two orders
                and between two seeds of one. A run without rl is compared with the other one's.
--seeds K       counts the first K search seeds alone, where the others are not searched yet; every case says so
--last          adds where the last renders of every search lie: shares above 30 and below -30 degrees of camera elevation.

For every model and examiner, at each T (updates of rl, renders of others) and at T = 0:
    mean p of the true class, also of each class (the paper's Figure 2), and as a share of that at T = 0
    AlexNet minus ResNet-34, p and share, paired; the other examiners minus rl, paired; where another one ends before T = 500,
    rl at its end minus the other's
The searches of an object with different seeds are averaged first, then the objects. Intervals are of 95 %, percentiles of a
bootstrap over objects; differences are between objects of the same place: the k-th best one of a class, which is another
object of the class where two models differ in which they know best (`note` says how many). Only objects count of which every
seed was searched. A run that is not finished says so in `note`.
"""
import json
import os
import re
import sys

import numpy as np

import tensors
from results import about

PAPER = {("AlexNet", "rl"): {0: "0.640", 100: "0.659", 300: "0.189", 500: "0.023"},
         ("AlexNet", "bo-2019"): {0: "0.601", 100: "0.436", 300: "0.300", 500: "0.254"},
         ("ResNet-34", "rl"): {0: "0.690", 100: "0.686", 300: "0.389", 500: "0.131"},
         ("ResNet-34", "bo-2019"): {0: "0.642", 100: "0.549", 300: "0.481", 500: "0.456"}}
PAPER_M = {("rl", "1"): "0.189", ("rl", "2"): "0.351", ("rl", "5"): "0.574", ("rl", "10"): "0.638",
           ("bo-2019", "1"): "0.109", ("bo-2019", "2"): "0.222", ("bo-2019", "5"): "0.431", ("bo-2019", "10"): "0.498"}
REDRAWS, LAST, STEEP, TAIL = 10000, 100, 30, 50
TURNS = ("lamp_azimuth", "camera_roll")                   # whole turns: circles of diameter 1 in distances
ELEVATION = "camera_elevation"
ORDER = ["lamp_energy", "sun_energy", "lamp_distance", "lamp_azimuth", "lamp_elevation", "camera_distance", "camera_azimuth",
         ELEVATION, "camera_roll"]                       # of a config without factors


# ---- the run ----

def sections(path):
    """{section: its values, or a list of entries} of a run's config.yaml, which Spotter printed: two spaces a level"""
    found, at = {}, None
    with open(path) as file:
        for line in file:
            indent, dash, name, value = re.match(r"( *)(- )?(\w+): ?(.*)$", line).groups()
            value = value[1:-1] if value.startswith('"') else value
            if not indent:
                at = found[name] = {} if not value else [] if value == "[]" else value
            elif dash and len(indent) == 2:
                at = found[list(found)[-1]] = at if isinstance(at, list) else []
                at.append({name: value})
            elif len(indent) == (4 if isinstance(at, list) else 2):
                (at[-1] if isinstance(at, list) else at)[name] = value
    return found


class Run:
    """start (model, place) and mean p of searches, {(model, examiner): (places, seeds, points)}; NaN: not searched yet"""
    def __init__(self, folder, seeds=None):
        self.folder, config = folder, sections(os.path.join(folder, "config.yaml"))
        self.models = [m["name"] for m in config["models"]]
        self.examiners = [e["name"] or e["method"] for e in config["examiners"]]
        self.batch = [int(e["batch"]) if e["method"] == "rl" else 1 for e in config["examiners"]]
        self.classes = [c["name"] for c in config["classes"] if c["leave"] != "true"]
        self.seeds, self.each = int(config["search"]["seeds"]), int(config["objects"]["per_class"])
        self.counted = min(int(seeds or self.seeds), self.seeds)
        self.factors = [f["factor"] for f in config["factors"]] or ORDER
        self.places = len(self.classes) * self.each
        # what its cases end with, so that they are no others' newer figures
        self.kind = ", strength" if config["search"].get("mode") == "strength" else ""
        self.kind += ", camera first" if self.factors[0].startswith("camera") else ""
        self.units = len(self.models) * len(self.examiners) * self.seeds * self.places
        self.start = np.full((len(self.models), self.places), np.nan)
        self.object = np.full((len(self.models), self.places), "", dtype=object)
        self.p, self.asked, self.done = {}, {}, 0
        for unit in range(self.units):
            path = os.path.join(folder, "segments", f"{unit // 1000:03d}", f"unit-{unit:06d}.json")
            if os.path.exists(path):
                with open(path) as file:
                    self.add(unit, json.load(file)["segment"])

    def add(self, unit, s):
        place, searches = unit % self.places, unit // self.places
        key = s["model"], s["examiner"]
        assert (s["seed"], *key) == (searches % self.seeds, searches // self.seeds // len(self.examiners),
                                     searches // self.seeds % len(self.examiners)), f"unit {unit} is of another config"
        self.start[s["model"], place], self.object[s["model"], place] = s["start"], s["object"]
        self.asked[key] = [q["asked"] for q in s["points"]]
        p = self.p.setdefault(key, np.full((self.places, self.seeds, len(s["points"])), np.nan))
        p[place, s["seed"]] = [q["mean"] for q in s["points"]]
        self.done += 1

    def curve(self, model, examiner):
        """{T: mean p of each place over its seeds}, NaN where a seed is missing; T = 0: random renders"""
        p = self.p[model, examiner][:, :self.counted].mean(1)
        start = np.where(np.isnan(p[:, 0]), np.nan, self.start[model])
        return {0: start, **{n // self.batch[examiner]: p[:, k] for k, n in enumerate(self.asked[model, examiner])}}

    def renders(self, model, examiner, place, seed):
        """(renders, factors) of a search from 0 to 1, or None"""
        unit = ((model * len(self.examiners) + examiner) * self.seeds + seed) * self.places + place
        path = os.path.join(self.folder, "searches", f"{unit // 1000:03d}", f"unit-{unit:06d}.safetensors")
        if np.isnan(self.p[model, examiner][place, seed, 0]) or not os.path.exists(path):
            return None
        return tensors.read(path, "at")[0]

    def last(self, model, examiner, T):
        """shares of the last renders up to T above and below of STEEP degrees: (places, seeds, 2)"""
        end, share = T * self.batch[examiner], np.full((self.places, self.seeds, 2), np.nan)
        for seed in range(self.seeds):
            for place in range(self.places):
                at = self.renders(model, examiner, place, seed)
                degrees = [] if at is None else 180 * at[max(end - LAST, 0):end, self.factors.index(ELEVATION)] - 90
                if len(degrees):
                    share[place, seed] = (degrees > STEEP).mean(), (degrees < -STEEP).mean()
        return share[:, :self.counted].mean(1)

    def tails(self, model, examiner, place):
        """the last renders of each seed's search as points, whatever the order of the factors; None where a seed lacks"""
        found = [self.renders(model, examiner, place, seed) for seed in range(self.counted)]
        if any(at is None for at in found):
            return None
        columns = sorted(range(len(self.factors)), key=self.factors.__getitem__)
        turns = [self.factors[k] in TURNS for k in columns]
        found = [at[-TAIL:, columns] for at in found]
        return [np.hstack([x[:, [not t for t in turns]], *(f(2 * np.pi * x[:, turns]) / 2 for f in (np.cos, np.sin))])
                for x in found]


# ---- numbers ----

def interval(value, *columns):
    """value(*columns) and its percentiles over redrawn objects"""
    columns = np.stack(columns)
    columns = columns[:, ~np.isnan(columns).any(0)]
    n = columns.shape[1]
    if not n:
        return None
    drawn = columns[:, np.random.default_rng(1).integers(n, size=(REDRAWS, n))]
    low, high = np.percentile(value(*drawn), [2.5, 97.5])
    return float(value(*columns)), float(low), float(high), n


def mean(p):
    return p.mean(-1)


def share(p, start):
    return p.mean(-1) / start.mean(-1)


def less(a, b):
    return a.mean(-1) - b.mean(-1)


def share_less(a, a_start, b, b_start):
    return share(a, a_start) - share(b, b_start)


def distance(x, y):
    """energy distance of two sets of points"""
    def gaps(a, b):
        return np.sqrt(((a[:, None] - b[None]) ** 2).sum(2)).mean()
    return 2 * gaps(x, y) - gaps(x, x) - gaps(y, y)


def distances(a, b):
    """mean energy distances between the searches of a and those of b, and between two of a or two of b"""
    within = [distance(s[i], s[k]) for s in (a, b) for i in range(len(s)) for k in range(i)]
    return np.mean([distance(x, y) for x in a for y in b]), np.mean(within) if within else np.nan


# ---- lines ----

def words(model):
    """a model of the configs in the names of the cases"""
    name = {"resnet34": "ResNet-34", "alexnet": "AlexNet"}.get(model.split("-")[0], model)
    for end, text in (("-b", ", second model seed"), ("-level", ", within 30 degrees")):
        name += text if model.endswith(end) else ""
    return name + of_table_3(model)[0]


def of_table_3(model):
    """(", m = 5, equal steps", "5"), or two empty texts"""
    m = re.search(r"(-steps)?-m(\d+)$", model)
    return (f", m = {m[2]}" + (", equal steps" if m[1] else ""), m[2]) if m else ("", "")


def case_of(model, by, T):
    """(the case of an examiner on a model; what the op ends with): the paper's Table 3 has its own cases"""
    more, _ = of_table_3(model)
    return (by + more if T else words(model), " (Table 3)") if more else (f"{words(model)}, {by}", "")


def paper(model, by):
    """{T: the paper's mean p}"""
    more, m = of_table_3(model)
    if not more:
        return PAPER.get((words(model), by), {})
    return {200: PAPER_M[by, m]} if (by, m) in PAPER_M and "steps" not in more else {}


def at_T(T, rl):
    return f"T = {T}" if rl or T <= 500 else f"{T:,} renders"


def digits(x):
    return f"{x:.3f}"


class Printer:
    def __init__(self, run, given):
        self.run, self.given, self.printed = run, given, set()
        left = f"{run.done} of {run.units} searches" if run.done < run.units else ""
        self.note = "; ".join(t for t in (given.get("note"), left) if t)
        self.end = "" if given["numbers"] is None else f", numbers {given['numbers']}"

    def line(self, op, case, found, peer=None, note="", kind=None, part=""):
        if not found:
            return
        kind, few = self.run.kind if kind is None else kind, self.run.counted < self.run.seeds
        case += kind + (f", {self.run.counted} of {self.run.seeds} seeds" if few else "")
        case = f"examine_paper{part}{self.end}: {case}"
        if (op, case) in self.printed:             # T = 0 of Table 3, which is every examiner's
            return
        self.printed.add((op, case))
        peer = None if kind else peer
        value, low, high, n = found
        parts = [("op", json.dumps(op)), ("case", json.dumps(case))]
        parts += [("value", digits(value)), ("unit", "null")]
        parts += [("low", digits(low)), ("high", digits(high))] if n > 1 else []
        parts += [("of", str(n))]
        parts += [("peer", '"the paper"'), ("peer_value", peer)] if peer else []
        parts += [(k, json.dumps(v)) for k, v in self.given.items() if k != "note"]
        note = "; ".join(t for t in (note, self.note) if t)
        parts += [("note", json.dumps(note))] if note else []
        print("{" + ", ".join(f'"{k}": {v}' for k, v in parts) + "}")


def print_curves(out, run):
    for model, examiner in sorted(run.p):
        name, by, curve = run.models[model], run.examiners[examiner], run.curve(model, examiner)
        known = paper(name, by)
        for T, p in curve.items():
            at, (case, end) = at_T(T, run.batch[examiner] > 1), case_of(name, by, T)
            out.line(f"mean p, {at}{end}", case, interval(mean, p), known.get(T))
            if T:
                out.line(f"share of p at T = 0, {at}{end}", case, interval(share, p, curve[0]),
                         f"{float(known[T]) / float(known[0]):.3f}" if T in known and 0 in known else None)
            for k, cls in enumerate(run.classes):
                out.line(f"mean p, {at}{end}", f"{case}, {cls}", interval(mean, p[k * run.each:(k + 1) * run.each]),
                         part=" by class")


def print_models(out, run):
    """AlexNet minus ResNet-34 by the same examiner"""
    kinds = {words(m).split(",")[0]: k for k, m in enumerate(run.models)}
    if set(kinds) != {"AlexNet", "ResNet-34"} or len(run.models) != 2:
        return
    a, b = kinds["AlexNet"], kinds["ResNet-34"]
    other = int((run.object[a] != run.object[b]).sum())
    note = f"{other} of {run.places} places have two objects of a class" if other else ""
    for examiner, by in enumerate(run.examiners):
        if (a, examiner) not in run.p or (b, examiner) not in run.p:
            continue
        x, y = run.curve(a, examiner), run.curve(b, examiner)
        more = "".join(words(run.models[a]).partition(",")[1:])
        for T in x:
            at, case = at_T(T, run.batch[examiner] > 1), f"{by}{more}"
            out.line(f"mean p, AlexNet minus ResNet-34, {at}", case, interval(less, x[T], y[T]), note=note)
            if T:
                out.line(f"share of p at T = 0, AlexNet minus ResNet-34, {at}", case,
                         interval(share_less, x[T], x[0], y[T], y[0]), note=note)


def print_examiners(out, run, other):
    """others minus rl, on a model: this run's rl, or the other one's on the objects of both"""
    whose = run if "rl" in run.examiners else other
    if not whose or "rl" not in whose.examiners or whose.places != run.places:
        return
    rl = whose.examiners.index("rl")
    for model, examiner in sorted(run.p):
        name = run.models[model]
        key = (whose.models.index(name) if name in whose.models else -1, rl)
        if (whose is run and examiner == rl) or key not in whose.p:
            continue
        same, x, y = run.object[model] == whose.object[key[0]], run.curve(model, examiner), whose.curve(*key)
        for T in sorted(set(x) & set(y) - {0}):
            out.line(f"mean p, {run.examiners[examiner]} minus rl, paired by object", f"{words(name)}, T = {T}",
                     interval(less, x[T][same], y[T][same]))
        if max(x) < max(y):                                # stopped before: where rl ended beside where the other did
            out.line(f"mean p, rl at T = {max(y)} minus {run.examiners[examiner]} at T = {max(x)}", words(name),
                     interval(less, y[max(y)][same], x[max(x)][same]))


def print_beside(out, run, other):
    """this run minus the other one, on models and by examiners of the same names"""
    for model, examiner in sorted(run.p):
        if run.models[model] not in other.models or run.examiners[examiner] not in other.examiners:
            continue
        key = other.models.index(run.models[model]), other.examiners.index(run.examiners[examiner])
        if key not in other.p or other.places != run.places:
            continue
        same, x, y = run.object[model] == other.object[key[0]], run.curve(model, examiner), other.curve(*key)
        for T in sorted(set(x) & set(y) - {0}):
            at = at_T(T, run.batch[examiner] > 1)
            out.line("mean p, camera first minus the usual order, paired", f"{words(run.models[model])}, "
                     f"{run.examiners[examiner]}, {at}", interval(less, x[T][same], y[T][same]), kind="")
        print_distances(out, run, other, (model, examiner), key, np.flatnonzero(same))


def print_distances(out, run, other, key, other_key, places):
    pairs = [(run.tails(*key, k), other.tails(*other_key, k)) for k in places]
    found = np.array([distances(*pair) for pair in pairs if None not in pair]).reshape(-1, 2).T
    case = f"{words(run.models[key[0]])}, {run.examiners[key[1]]}"
    out.line("energy distance of the last 50, two orders", case, interval(mean, found[0]), kind="")
    out.line("energy distance of the last 50, two seeds", case, interval(mean, found[1]), kind="")
    out.line("energy distance of the last 50, two orders minus two seeds", case, interval(less, *found), kind="")


def print_last(out, run):
    for model, examiner in sorted(run.p):
        for n in run.asked[model, examiner]:
            T = n // run.batch[examiner]
            shares = run.last(model, examiner, T)
            for k, side in enumerate(("above 30", "below -30")):
                out.line(f"last 100 renders {side} degrees, {at_T(T, run.batch[examiner] > 1)}",
                         f"{words(run.models[model])}, {run.examiners[examiner]}", interval(mean, shares[:, k]))


def main():
    words_of, options = sys.argv[1:], {}
    for name, takes in (("--beside", True), ("--seeds", True), ("--last", False)):
        if name in words_of:
            k = words_of.index(name)
            options[name] = words_of[k + 1] if takes and k + 1 < len(words_of) else True
            del words_of[k:k + 1 + takes]
    given, runs = about(words_of)
    if not given or len(runs) != 1 or True in (options.get("--beside"), options.get("--seeds")):
        sys.exit(__doc__)
    run = Run(runs[0], options.get("--seeds"))
    if not run.done:
        sys.exit(f"{runs[0]} has no search that is done")
    out = Printer(run, given)
    print_curves(out, run)
    print_models(out, run)
    other = Run(options["--beside"], options.get("--seeds")) if "--beside" in options else None
    print_examiners(out, run, other)
    if other and run.factors != other.factors:
        print_beside(out, run, other)
    if "--last" in options:
        print_last(out, run)


if __name__ == "__main__":
    main()
