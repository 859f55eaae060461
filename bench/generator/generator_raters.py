"""Raters with a known error, and the power of a study of n models."""
import collections
import math
import os
import random
import re

import numpy as np

import generator_words as words
from generator_files import rows_of, slope_of, spotter, stop, tell, truth_of, world_folder, write


def vote(a, run, truth):
    """Answers of a.raters raters who miss what is there and see what is not with known shares."""
    draw_vote, lines, of = random.Random(f"raters {a.world[0]}"), ["rater,grid,place,selected"], collections.Counter()
    for rater in range(a.raters):
        for k in rows_of(os.path.join(run, "grids", "key.csv")):
            there = true_answer(k, truth)
            yes = draw_vote.random() < (1 - a.miss if there else a.false)
            lines.append(f"rater {rater + 1},{k['grid']},{k['place']},{int(yes)}")
            of[k["task"], k["set"], there] += 1
    write(os.path.join(run, "filled.csv"), "\n".join(lines) + "\n")


def true_answer(k, truth):
    """Whether a picture of a grid shows what its page asks for."""
    known = truth[k["path"]]
    if k["task"] == "label":
        return known["shown"] == k["label"]
    return known["shift_there"] == "1" and known["shift"] == k["label"].replace(" ", "_")


def raters(a):
    """Selection frequencies of raters with a known error, against those that the truth and the error give."""
    folder = world_folder(a)
    run = os.path.join(folder, "plant")
    truth = {r["path"]: r for r in rows_of(os.path.join(run, "plant", "plant.csv"))}
    config = os.path.abspath(os.path.join(folder, "plant.yaml"))
    spotter(a, folder, "shifts", config, "--out", "plant", "--grids", str(a.grids))
    vote(a, run, truth)
    said = spotter(a, folder, "shifts", config, "--out", "plant", "--votes", os.path.abspath(os.path.join(run, "filled.csv")))
    expected, found = collections.defaultdict(list), collections.defaultdict(list)
    key = rows_of(os.path.join(run, "grids", "key.csv"))
    for k, s in zip(key, rows_of(os.path.join(run, "grids", "selection.csv"))):
        there = true_answer(k, truth)
        case = f"{k['task']}, {k['set']}"
        expected[case].append(1 - a.miss if there else a.false)
        found[case].append(int(s["selected"]) / int(s["votes"]))
    for case in found:
        n = len(found[case]) * a.raters
        p = float(np.mean(expected[case]))
        tell("selection frequency", f"simulated raters, {case}", np.mean(found[case]), "share", peer="truth and known error",
             peer_value=p, se=math.sqrt(np.mean([x * (1 - x) for x in expected[case]]) / n), of=n)
    for task, word in (("shift", "shift"), ("label", "object")):
        kappa = re.search(rf"agreement on the {word}: Fleiss's kappa (-?[0-9.]+)", said)
        if kappa:
            mean, sd = expected_kappa([x for c in expected if c.startswith(task) for x in expected[c]], a.raters)
            tell("Fleiss's kappa", f"simulated raters, {task}", float(kappa[1]), "kappa", peer="truth and known error",
                 peer_value=mean, se=sd, of=a.raters)


def expected_kappa(shares, n, times=500):
    """Mean and standard deviation of the kappa of n raters who select picture i with probability shares[i], independently."""
    selected = np.random.default_rng(1).binomial(n, shares, size=(times, len(shares)))
    agree = ((selected * (selected - 1) + (n - selected) * (n - selected - 1)) / (n * (n - 1))).mean(1)
    p = selected.mean(1) / n
    chance = p * p + (1 - p) ** 2
    kappa = (agree - chance) / (1 - chance)
    return float(np.mean(kappa)), float(np.std(kappa))


# -- power ------------------------------------------------------------------------------------------------------------

def power(a):
    """Studies of n models drawn from the planted ones of all worlds, a.power_images pictures of a class and shift: the share in
    which the paired bootstrap's 95 % interval of slope(lighting) - slope(background) lies below 0, and whether it is true."""
    light, ground = ([k for k, s in enumerate(words.SHIFTS, 1) if s[1] == c and k <= a.shifts]
                     for c in ("lighting", "background"))
    if not light or not ground:
        stop("this world lacks a shift of lighting or of background")
    draw_study = np.random.default_rng(20260 + len(a.world))
    right = [truth_of(world_folder(a, w))[1] for w in a.world]

    def gap(accuracy):                                     # (..., shifts, models)
        base = accuracy[..., 0, :]
        return (np.mean([slope_of(base, accuracy[..., k, :]) for k in light], 0)
                - np.mean([slope_of(base, accuracy[..., k, :]) for k in ground], 0))
    for w, r in zip(a.world, right):
        tell("true slope", f"world {w}, lighting less background", gap(r.mean(2).T), "slope", of=len(r))
    for n in a.sizes:
        shown = []
        for _ in range(a.studies):
            r = right[draw_study.integers(len(right))]
            r = r[draw_study.integers(len(r), size=n)]
            seen = draw_study.binomial(a.power_images, np.nan_to_num(r)) / a.power_images
            accuracy = seen.mean(2).T
            again = draw_study.integers(n, size=(400, n))
            gaps = gap(np.moveaxis(accuracy[:, again], 0, 1))
            gaps = gaps[np.isfinite(gaps)]
            shown.append(len(gaps) > 0 and np.percentile(gaps, 97.5) < 0)
        p = float(np.mean(shown))
        tell("power", f"lighting below background, {n} models", p, "share", se=math.sqrt(p * (1 - p) / a.studies),
             of=a.studies)
