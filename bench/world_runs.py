"""world_runs.py: runs of `spotter background` on planted worlds and the lines of bench/results that they give, for
bench/worlds.py. Every reader refuses a run that lacks a model of its config: no model is left out."""
import csv
import glob
import json
import os
import subprocess
import sys

import numpy as np

from assessors import interval
from examine_paper_rows import sections

TRUTHS = {"planted": ("rho", "invariant", "variant"), "learned": ("reliance", "learned_invariant", "learned_variant")}
NUMBERS = ["accuracy", "worst_case_accuracy", "bg_gap"]
ALONE = "without foreground alone"


# ---- runs ----

class Looks:
    """What one suite and one kernel tell of the models: matrices (models, 64), numbers (models, 3), coverage (models, at)"""
    def __init__(self, folder):
        self.folder, self.config = folder, sections(os.path.join(folder, "config.yaml"))
        with open(os.path.join(folder, "background.json")) as file:
            told = json.load(file)
        self.numbers_of, self.suite, models = told["numbers"], told["suite"], told["models"]
        self.below = told["suite"]["blends_below_realness"] / (told["suite"]["targets"] *
                                                               told["suite"]["backgrounds_of_a_target"])
        self.names = [m["model"] for m in models]
        planned = [m["name"] for m in self.config["models"]]
        if sorted(self.names) != sorted(planned):
            sys.exit(f"worlds: {folder} has {len(self.names)} of {len(planned)} models; no model may be left out")
        value = lambda m, key: np.nan if m.get(key) is None or m[key]["value"] is None else m[key]["value"]
        self.matrices = np.array([[v for x in m["matrices"] for v in x["features"].values()] for m in models], float)
        self.numbers = np.array([[value(m, key) for key in NUMBERS] for m in models], float)
        self.at = [c["above"] for c in models[0]["neuron_coverage"]]
        self.coverage = np.array([[c["share"] for c in m["neuron_coverage"]] for m in models], float)
        if np.isnan(self.matrices).any():
            sys.exit(f"worlds: {folder}: a model lacks a matrix")


def variants_of(folder):
    """the run directories of the variants that are done"""
    found = glob.glob(os.path.join(glob.escape(folder), "variants", "*", "background.json"))
    return [os.path.dirname(path) for path in sorted(found)]


class World(Looks):
    """A run and its variants; label {truth: (models)}, foreground and architecture of each model"""
    def __init__(self, folder):
        super().__init__(folder)
        with open(os.path.join(folder, "zoo", "truth.csv"), newline="") as file:
            truth = {row["model"]: row for row in csv.DictReader(file)}
        rows, verdict = [truth[name] for name in self.names], self.config["verdict"]
        self.label = {}
        for name, (column, low, high) in TRUTHS.items():
            reliance = np.array([float(row[column]) for row in rows])
            self.label[name] = (reliance >= float(verdict[low])).astype(int) + (reliance >= float(verdict[high]))
        self.foreground = np.array([row["augmentation"] == "foreground" for row in rows])
        self.architecture = [row["architecture"] for row in rows]
        self.seed, self.variants = self.config["zoo"]["seed"], {}
        for path in variants_of(folder):
            self.variants[os.path.basename(path)] = Looks(path)
        for name, looks in self.variants.items():
            if looks.names != self.names:
                sys.exit(f"worlds: {folder}: variant {name} has other models")
        if np.isnan(self.numbers).any():
            sys.exit(f"worlds: {folder}: a model has no accuracy, worst case or BG-gap")

    def suites(self):
        """{(choice, realness on): [looks of each seed of the suite]}, but for other kernels, N or parts"""
        found = {}
        for looks in [self, *self.variants.values()]:
            key = looks.config["suite"]["choice"], float(looks.config["suite"]["realness"]) > 0
            if all(looks.config[s].get(k) == self.config[s].get(k) for s, k in
                   (("measure", "kernel"), ("measure", "sigma"), ("suite", "n"), ("data", "part"), ("ontology", "levels"))):
                found.setdefault(key, {})[int(looks.config["suite"]["seed"])] = looks
        return {key: [by_seed[s] for s in sorted(by_seed)] for key, by_seed in found.items()}

    def kernels(self):
        """{"kernel 16, sigma 5": looks} of the run's own suite"""
        words = lambda looks: "kernel {kernel}, sigma {sigma}".format(**looks.config["measure"])
        return {words(v): v for v in self.variants.values() if words(v) != words(self) and
                all(v.config[s] == self.config[s] for s in ("data", "ontology", "suite"))}

    def models(self, group):
        return np.flatnonzero(~self.foreground) if group == ALONE else np.arange(len(self.names))


def read_worlds(folders):
    worlds = [World(f) for f in folders]
    same = lambda w: [{k: v for k, v in w.config[s].items() if k not in ("images", "backgrounds") and (s, k) != ("zoo", "seed")}
                      for s in ("zoo", "ontology", "suite", "measure", "verdict")]
    for w in worlds[1:]:
        if same(w) != same(worlds[0]) or w.numbers_of != worlds[0].numbers_of:
            sys.exit(f"worlds: {w.folder} has other settings or numbers than {worlds[0].folder}")
    if len({w.seed for w in worlds}) < len(worlds):
        sys.exit("worlds: two runs are of one zoo.seed")
    return worlds


# ---- lines ----

class Lines:
    def __init__(self, given, prefix):
        self.given, self.prefix = given, "background_worlds" + prefix

    def add(self, op, case, values, note="", digits=3, of=None):
        """values: one a world; NaN: not defined there. of: how many were averaged, where that is not the number of worlds"""
        values = np.atleast_1d(np.asarray(values, float))
        line = {"op": op, "case": f"{self.prefix}: {case}"}
        lost = int(np.isnan(values).sum())
        if lost:
            line["value"], note = None, f"not measured: not defined in {lost} of {len(values)} worlds; " + note
        else:
            mean, low, high = interval(values)
            line["value"] = round(mean, digits) + 0.0
            if low is not None:
                line.update(low=round(low, digits) + 0.0, high=round(high, digits) + 0.0)
        line.update(unit=None, of=of or len(values))
        line.update(self.given)
        note = "; ".join(t for t in (note.rstrip("; "), self.given.get("note")) if t)
        print(json.dumps({**line, "note": note} if note else line))


# ---- the program ----

def spotter_verdict(o, folders, *more):
    command = [o["spotter"], "verdict", *folders, "--json", "--threads", "1", *more]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"worlds: {' '.join(command)}: exit code {done.returncode}\n{done.stderr.strip()}")
    return json.loads(done.stdout)
