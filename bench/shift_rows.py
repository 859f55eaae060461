#!/usr/bin/env python3
"""bench/shift_rows.py RUN... KEY=VALUE...: what runs of configs/shifts.yaml measured whose worlds are different seeds.

Prints lines as bench/results.py describes them; it writes nothing. They belong into bench/results/shifts.jsonl. KEY: machine,
load, commit, numbers, date, command must be given, and `null` is a value; note may be.

A world has the truth of each model on each shift (plant/truth.csv). For each source (clean, confounded) and each set of its
pictures (unfiltered, filtered, by the oracle):
    mean error of the impact, of the slope: |estimate - truth|, mean over the shifts of a world; also by category of shifts
    slope of lighting minus background: as estimated, and in truth; the paper has lighting below background
and of the source confounded how many of the four confounded classes, and how many others, a comparison with real pictures
names as harder than these.
Values are means over worlds; intervals of 95 % are Student's over worlds, since all that is in a world belongs together. A
shift without a kept class in a world has no error there; `note` says of how many shifts that is true."""
import collections
import csv
import json
import os
import sys

import numpy as np

from assessors import interval
from ecs import slope
from results import about

SETS = {"all": "unfiltered", "kept": "filtered by the tiny CLIP", "oracle": "by the oracle"}


def folder(shift):
    return shift.replace(" ", "_")


def truth_of(run):
    """{shift: (impact, slope)}: of accuracies of a model, means over the classes. Shifts are named as their folders are"""
    right = collections.defaultdict(lambda: collections.defaultdict(list))
    with open(os.path.join(run, "plant", "truth.csv"), newline="") as file:
        for row in csv.DictReader(file):
            right[row["shift"]][row["model"]].append(int(row["right"]) / int(row["pictures"]))
    accuracy = {shift: np.array([np.mean(classes) for classes in models.values()]) for shift, models in right.items()}
    base = accuracy.pop("base")
    return {shift: (float((base - a).mean()), slope(base, a)) for shift, a in accuracy.items()}


def world_of(run):
    """{(op, case): value} of a world, and how many shifts of a source and set have no estimate"""
    for name in ("shifts.json", "plant/truth.csv"):
        if not os.path.exists(os.path.join(run, name)):
            sys.exit(f"shift_rows: {run} has no {name}; give finished runs of a config with the section plant")
    with open(os.path.join(run, "shifts.json")) as file:
        results = json.load(file)
    truth, found, lost = truth_of(run), {}, collections.Counter()
    categories = {folder(row["shift"]): row["category"] for row in results["sources"][0]["shifts"]}
    slopes = lambda of, category: np.mean([of[s] for s in of if categories[s] == category])
    difference = lambda of: slopes(of, "lighting") - slopes(of, "background")
    found["slope of lighting minus background", "in truth"] = difference({s: t[1] for s, t in truth.items()})
    for source in results["sources"]:
        for key, words in SETS.items():
            case, gaps, told = f"{source['source']}, {words}", collections.defaultdict(list), {}
            for row in source["shifts"]:
                estimates = row["estimates"][key]
                lost[case] += estimates["slope"]["value"] is None
                for what, true in zip(("impact", "slope"), truth[folder(row["shift"])]):
                    value = estimates[what]["value"]
                    if value is not None:
                        gaps[what, case].append(abs(value - true))
                        gaps[what, f"{case}: {row['category']}"].append(abs(value - true))
                if estimates["slope"]["value"] is not None:
                    told[folder(row["shift"])] = estimates["slope"]["value"]
            found.update({(f"mean error of the {what}", where): float(np.mean(g)) for (what, where), g in gaps.items()})
            if {"lighting", "background"} <= {categories[s] for s in told}:
                found["slope of lighting minus background", case] = difference(told)
        if source["source"] == "confounded":
            named = [gap["class"].replace("_", " ") for gap in source["gaps"] if gap["verdict"] == "confounded"]
            planted = [c for c in named if c.startswith("pair of striped")]        # as include/spotter/plant.h chooses four
            found["confounded classes named", "of the four"] = len(planted)
            found["confounded classes named", "others"] = len(named) - len(planted)
    return found, lost


def main():
    given, runs = about(sys.argv[1:])
    if not runs or not given:
        sys.exit(__doc__)
    worlds = [world_of(run) for run in runs]
    for op, case in dict.fromkeys(k for found, _ in worlds for k in found):
        values = [found[op, case] for found, _ in worlds if (op, case) in found]
        mean, low, high = interval(values)
        line = {"op": op, "case": f"shifts over worlds: {case}", "value": round(mean, 4), "unit": None}
        if low is not None:
            line.update(low=round(low, 4), high=round(high, 4))
        line.update(of=len(values), **given)
        lost = sum(lost[case.split(":")[0]] for _, lost in worlds)
        notes = ["of: worlds", f"{lost} shifts of all worlds have no estimate" if lost else "", given.get("note")]
        print(json.dumps({**line, "note": "; ".join(filter(None, notes))}))


if __name__ == "__main__":
    main()
