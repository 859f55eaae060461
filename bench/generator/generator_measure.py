"""Planted worlds and the measurement of bench/generator: what drawn pictures say of impact and slope, against the truth."""
import collections
import json
import os
import re
import time

import numpy as np
import torch
from PIL import Image

import generator_words as words
from generator_draw import draw_batch
from generator_files import (SIDE, SOURCES, class_folder, numbers_of, over_worlds, rows_of, say, similarities_of, slope_of,
                             stop, study, tell, truth_of, world_folder, write)
from generator_train import judged, load_generator, open_judge

SETS = {"all": "unfiltered", "kept": "filtered"}


def plant_section(a, world):
    return {"seed": world, "size": SIDE, "pictures": a.planted, "real": a.real, "models": a.models, "train": a.train,
            "epochs": a.epochs, "truth": a.truth, "shifts": a.shifts}


def plant(a):
    folder = world_folder(a)
    planted, tables = words.confounders(a.world[0])
    write(os.path.join(folder, "confounders.json"),
          json.dumps({"planted": {words.CLASSES[k]: words.FOLDERS[v + 1] for k, v in planted.items()},
                      "tables": [words.CLASSES[k] for k in tables]}, indent=1) + "\n")
    began = time.time()
    study(a, folder, "plant", a.world[0], {"plant": plant_section(a, a.world[0])})
    say(f"{folder}/plant is there; {time.time() - began:.0f} s")


def choose(a):
    """For each shift the threshold with the greatest recall less share of wrong pictures that pass; the lowest of equals."""
    folder, thresholds = world_folder(a), {}
    near = similarities_of(os.path.join(folder, "plant"))
    for folder_name in words.FOLDERS[1:1 + a.shifts]:
        own = [(near[r["path"]][1], r["shift_there"] == "1")
               for r in rows_of(os.path.join(folder, "plant", "plant", "plant.csv"))
               if r["shift"] == folder_name and r["path"] in near]
        own.sort(reverse=True)
        there = np.array([y for _, y in own])
        recall, wrong = np.cumsum(there) / max(1, there.sum()), np.cumsum(~there) / max(1, (~there).sum())
        at = len(there) - 1 - int((recall - wrong)[::-1].argmax())
        thresholds[folder_name] = round(own[at][0] - 5e-5, 4)
        say(f"{folder_name}: {own[at][0]:.3f}, recall {recall[at]:.2f}, of the wrong ones pass {wrong[at]:.2f}")
    named = json.load(open(os.path.join(folder, "plant", "shifts.json")))
    write(os.path.join(a.folder, "thresholds.json"),
          json.dumps({"encoder": encoder_name(a, named), "world": a.world[0], "thresholds": thresholds}, indent=1) + "\n")


def encoder_name(a, results):
    """The encoder's own name, which `filter.chosen_for` must repeat."""
    found = re.search(r"clip-[0-9a-f]{16}", json.dumps(results))
    if not found:
        stop("shifts.json names no encoder")
    return found.group(0)


# -- measuring --------------------------------------------------------------------------------------------------------

def drawn_pictures(root):
    """{(source, shift, class): [(path below root, rgb)]}"""
    out = collections.defaultdict(list)
    for src in SOURCES:
        for s, name in enumerate(words.FOLDERS):
            for c in range(len(words.CLASSES)):
                where = os.path.join(root, src, name, class_folder(c))
                for p in sorted(os.listdir(where)) if os.path.isdir(where) else []:
                    if p.endswith(".png"):
                        rgb = np.asarray(Image.open(os.path.join(where, p)).convert("RGB"))
                        out[src, s - 1, c].append((f"{src}/{name}/{class_folder(c)}/{p}", rgb))
    return out


def ask_judge(a, folder):
    """The judge looks at each drawn picture: {path: (class, shifts, table)}; writes oracle.csv for `spotter shifts`."""
    drawn, judge_net, seen = drawn_pictures(os.path.join(folder, "pictures")), open_judge(a), {}
    if not drawn:
        stop(f"there are no pictures in {folder}; run `draw FOLDER --world W` first")
    lines = ["path,shift_there,object_there"]
    for (_, s, c), pictures in drawn.items():
        cls, shift, table = judged(judge_net, np.stack([rgb for _, rgb in pictures]))
        for k, (path, _) in enumerate(pictures):
            seen[path] = int(cls[k]), shift[k], int(table[k])
            lines.append(f"{path},{int(s < 0 or shift[k][s])},{int(cls[k] == c)}")
    write(os.path.join(folder, "oracle.csv"), "\n".join(lines) + "\n")
    return drawn, seen


def least(a):
    """Pictures that a class must have to count: the paper's five."""
    return min(5, a.images)


def groups_of(world):
    """{name: classes}: by what confounds their names."""
    planted, tables = words.confounders(world)
    out = collections.defaultdict(list)
    for cls in range(len(words.CLASSES)):
        kind = words.SHIFTS[planted[cls]][1] if cls in planted else "table" if cls in tables else "none"
        out[kind].append(cls)
    return dict(out)


def see_confounding(world, drawn, seen, put):
    """Shares of base pictures in which the judge sees the planted shift, the table, the class."""
    planted, tables = words.confounders(world)
    for src in SOURCES:
        base = {c: [seen[p] for p, _ in drawn[src, -1, c]] for c in range(len(words.CLASSES))}
        for category in words.PLANTED:
            own = [x[1][planted[c]] for c in planted if words.SHIFTS[planted[c]][1] == category for x in base[c]]
            put("planted shift in base pictures", f"{src}, {category}", np.mean(own), "share", of=len(own))
        on_table = [x[2] == 1 + c // 4 for c in tables for x in base[c]]
        put("table in base pictures", f"{src}, classes on tables", np.mean(on_table), "share", of=len(on_table))
        put("class right by the judge", f"{src}, base", np.mean([x[0] == c for c in base for x in base[c]]), "share",
            of=sum(map(len, base.values())))
        shifted = [(x[1][s], x[0] == c) for s in range(len(words.SHIFTS)) for c in range(16)
                   for x in (seen[p] for p, _ in drawn[src, s, c])]
        if shifted:
            put("shift there by the judge", f"{src}, all shifts", np.mean([x for x, _ in shifted]), "share", of=len(shifted))
            put("class right by the judge", f"{src}, all shifts", np.mean([y for _, y in shifted]), "share", of=len(shifted))


def errors_of_study(a, folder, put):
    """|impact - truth| and |slope - truth| by source and set: the mean over the shifts, and by category."""
    results = json.load(open(os.path.join(folder, "run", "shifts.json")))
    _, right = truth_of(folder)
    accuracy = right.mean(2).T                             # (shifts with base, models)
    for source in results["sources"]:
        for key, called in SETS.items():
            gaps = collections.defaultdict(list)
            for row in source["shifts"]:
                k = words.FOLDERS.index(row["shift"].replace(" ", "_"))
                true = {"impact": np.mean(accuracy[0] - accuracy[k]), "slope": slope_of(accuracy[0], accuracy[k])}
                for what in true:
                    value = row["estimates"][key][what]["value"]
                    if value is not None and np.isfinite(true[what]):
                        gaps[what, "all shifts"].append(abs(value - true[what]))
                        gaps[what, words.SHIFTS[k - 1][1]].append(abs(value - true[what]))
            for (what, which), values in sorted(gaps.items()):
                put(f"error of the {what}", f"{source['source']}, {called}, {which}", np.mean(values), "accuracy"
                    if what == "impact" else "slope", of=len(values))


def errors_by_group(a, world, folder, put):
    """Errors of the impact by what confounds the names of the classes. Base and shift pictures of a class, all or kept."""
    near, (models, right) = similarities_of(os.path.join(folder, "run")), truth_of(folder)
    by = collections.defaultdict(list)
    for path, (_, _, kept, hits) in near.items():
        src, shift, cls = (path.split("/") + [""] * 3)[:3]
        if src in SOURCES and shift in words.FOLDERS:
            by[src, shift, cls].append((kept, hits / len(models)))
    for src in SOURCES:
        for key, called in SETS.items():
            for kind, classes in groups_of(world).items():
                gaps = []
                for k, shift in enumerate(words.FOLDERS[1:1 + a.shifts], 1):
                    each = []
                    for c in classes:
                        base, own = ([x for kept, x in by[src, f, class_folder(c)] if kept or key == "all"]
                                     for f in ("base", shift))
                        if base and len(own) >= least(a):
                            each.append(np.mean(base) - np.mean(own) - np.mean(right[:, 0, c] - right[:, k, c]))
                    if each:
                        gaps.append(abs(np.mean(each)))
                if gaps:
                    put("error of the impact", f"{src}, {called}, classes confounded by {kind}", np.mean(gaps), "accuracy",
                        of=len(gaps))


def quality(a):
    """Shares of pictures drawn from names in which the judge sees the class and the shift of the prompt."""
    g, judge_net = load_generator(a), open_judge(a)
    said = collections.defaultdict(list)
    none = torch.zeros(len(words.CLASSES), g.shape["text"])
    for s in range(-1, a.shifts):
        jobs = [("name", c, s, k) for c in range(len(words.CLASSES)) for k in range(a.images)]
        rgb = np.concatenate([draw_batch(a, g, none, jobs[k:k + a.batch]) for k in range(0, len(jobs), a.batch)])
        cls, shift, _ = judged(judge_net, rgb)
        said["class right by the judge", "base" if s < 0 else "with a shift"] += list(cls == np.array([j[1] for j in jobs]))
        if s >= 0:
            said["shift there by the judge", words.SHIFTS[s][1]] += list(shift[:, s])
    for (op, case), values in said.items():
        tell(op, f"drawn from names, {case}", np.mean(values), "share", of=len(values))


def measure_world(a, world):
    folder, found = world_folder(a, world), {}

    def put(op, case, value, unit, of):
        found[op, case] = float(value), unit
        tell(op, f"world {world}, {case}", value, unit, of=of)
    drawn, seen = ask_judge(a, folder)
    models, _ = truth_of(folder)
    weights = [{"name": m, "weights": os.path.abspath(os.path.join(folder, "plant", "plant", "models", m + ".safetensors")),
                "classes": os.path.abspath(os.path.join(folder, "plant", "plant", "classes.txt")), "crop": SIDE}
               for m in models]
    study(a, folder, "run", world,
          {"data": {"root": os.path.abspath(os.path.join(folder, "pictures")),
                    "real": os.path.abspath(os.path.join(folder, "plant", "plant", "pictures", "real"))},
           "filter": {"oracle": os.path.abspath(os.path.join(folder, "oracle.csv"))},
           "evaluation": {"draws": a.draws, "least": least(a)}, "sources": [{"name": s} for s in SOURCES], "models": weights})
    tell.numbers = numbers_of(a)
    see_confounding(world, drawn, seen, put)
    errors_of_study(a, folder, put)
    errors_by_group(a, world, folder, put)
    return found


def measure(a):
    """Each world's lines; of two worlds and more the means with intervals, and token less name, paired by worlds."""
    found = [measure_world(a, w) for w in a.world]
    if len(found) < 2:
        return
    cases = [c for c in found[0] if all(c in f for f in found)]
    for op, case in cases:
        value, more = over_worlds([f[op, case][0] for f in found])
        tell(op, f"{len(found)} worlds, {case}", value, found[0][op, case][1], **more)
    for op, case in cases:
        if case.startswith("name, ") and (op, "token" + case[4:]) in found[0]:
            value, more = over_worlds([f[op, "token" + case[4:]][0] - f[op, case][0] for f in found])
            tell(op, f"{len(found)} worlds, token less name{case[4:]}", value, found[0][op, case][1], **more)
