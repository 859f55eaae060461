#!/usr/bin/env python3
"""bench/groups.py MODE N [WORD [both|each|all]]: what the proof of `discover` does where rows have groups.

level   Errors are chance: each group has a rate of its own, drawn from a beta distribution of mean 0.2 and the intraclass
        correlation 0, 0.1 or 0.3, and its rows lie together in the features. Counts the runs of N with a confirmed slice.
        Sizes: 40 groups of 25 rows, 200 of 5, 500 of 2, `third` (333 rows in one group, the others in fives), `wide` (1 to
        200 rows). Groups of one class, and groups that hold two.
power   2,000 rows in 25 groups of 80, 8 % of them wrong; half of the groups have four rows of a cloud of their own, of which
        40 % are wrong. Counts the runs with a confirmed slice, with groups, and with the same rows as if they were alone.
cover   The worlds of `level`: how often the interval of a slice's excess has 0, which is its excess in new groups.
alone   The same rows as if they were alone, in the groups' order and in none; and copies of rows with their answers, equal or
        with noise (in standard deviations of the features). Counts the runs with a confirmed slice, with a warning that rows
        depend on each other, and with a confirmed slice and no warning.
detector 300 pictures of 1 to 8 boxes of two categories, and a fifth of the answers are wrong: objects that are missed, or, in
        worlds of their own, detections of nothing. Errors are chance, at a rate of the picture's own (as in `level`), and the
        rows of a picture lie together in the features. Pictures are groups, as they are by themselves; then each row is alone.

Runs the library that SPOTTER_LIBRARY names. WORD: only the cells whose names have it. both, each, all: the search of `level`,
as --class has it; both."""
import ctypes as ct
import os
import sys
import warnings

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools", "python"))
import spotter  # noqa: E402
from spotter import _library as side  # noqa: E402

RATE = 0.2


def sizes_of(kind, r):
    if "x" in kind:
        groups, rows = map(int, kind.split("x"))
        return np.full(groups, rows)
    if kind == "third":
        return np.r_[333, np.full(133, 5)]
    sizes = []
    while sum(sizes) < 1000:
        sizes.append(max(1, int(np.exp(r.uniform(0, np.log(200))))))
    return np.array(sizes)


def rates_of(r, groups, agreement, rate=RATE):
    if not agreement:
        return np.full(groups, rate)
    more = 1 / agreement - 1
    return r.beta(rate * more, (1 - rate) * more, groups)


def rows_of(kind, agreement, mixed, r):
    """Features, classes, groups and errors of a world."""
    sizes = sizes_of(kind, r)
    g = np.repeat(np.arange(len(sizes)), sizes)
    y = r.integers(0, 2, len(g)) if mixed else g % 2
    e = r.normal(0, 3, (len(sizes), 8))[g] + r.normal(0, 1, (len(g), 8))
    e[:, 0] += 8 * y
    return e, y, g, r.random(len(g)) < rates_of(r, len(sizes), agreement)[g]


def discover(c, e, y, wrong, g, seed, cls=-2):
    """The findings, as (claim, p, excess, low, high, groups, rows) of each slice, and the rows themselves."""
    e, y = np.ascontiguousarray(e, "f4"), np.ascontiguousarray(y, "i4")
    g = None if g is None else np.ascontiguousarray(g, "i4")
    p = np.where(wrong, 0.2, 0.8).astype("f4")
    names = (ct.c_char_p * 2)(b"a", b"b")
    s = side.Subject(n=len(e), d=e.shape[1], classes=2, feature=e.ctypes.data, target=y.ctypes.data, confidence=p.ctypes.data,
                     class_name=names, group=None if g is None else g.ctypes.data, groups=0 if g is None else int(g.max()) + 1)
    o, proof, found = side.lib.spot_discover_defaults(), side.lib.spot_proof_defaults(), side.Findings()
    proof.seed, o.cls, o.neighbours, o.proof = seed, cls, 0, ct.pointer(proof)
    c("spot_discover", ct.byref(found), ct.byref(s), ct.byref(o))
    told = []
    for i in range(found.count):
        for k in range(found.finding[i].slices):
            t = found.finding[i].slice[k]
            q = t.proof.contents
            told.append(((q.claim, q.p, q.excess.value, q.excess.low, q.excess.high, q.groups, q.judged, q.least_p),
                         np.array(t.row[:t.size]), found.finding[i].cls))
    side.lib.spot_findings_close(ct.byref(found))
    return told


def level(c, times, word, cls):
    all_runs = all_confirmed = 0
    for kind in ("40x25", "200x5", "500x2", "third", "wide"):
        for mixed in (False, True):
            for agreement in (0, 0.1, 0.3):
                name = f"{kind} {'two classes a group' if mixed else 'one class a group'} {agreement}"
                if word not in name:
                    continue
                confirmed, few = 0, 0
                for t in range(times):
                    r = np.random.default_rng([7, t, int(100 * agreement), mixed, *kind.encode()])
                    e, y, g, wrong = rows_of(kind, agreement, mixed, r)
                    _, first = np.unique(g, return_index=True)
                    told = discover(c, e, y, wrong, g, t, cls)
                    confirmed += any(s[0][0] == 2 for s in told)
                    few += sum(s[0][7] > 0.05 for s in told)
                all_runs, all_confirmed = all_runs + times, all_confirmed + confirmed
                print(f"{name}: {confirmed} of {times} runs confirm a slice; {few / times:.1f} slices a run in too few groups",
                      flush=True)
    print(f"all cells: {all_confirmed} of {all_runs}, {100 * all_confirmed / max(all_runs, 1):.2f} %")


def power(c, times, word):
    for agreement in (0, 0.1, 0.3):
        confirmed = [0, 0]
        for t in range(times):
            r = np.random.default_rng([8, t, int(100 * agreement)])
            g = np.repeat(np.arange(25), 80)
            e = r.normal(size=(2000, 16))
            e[np.arange(2000), r.integers(0, 4, 2000)] += 4
            cloud = (np.arange(2000) % 80 < 4) & (g % 2 == 0)
            e[cloud] = r.normal(size=(int(cloud.sum()), 16))
            e[cloud, 8:12] += 3
            wrong = r.random(2000) < np.where(cloud, 0.4, rates_of(r, 25, agreement, 0.08)[g])
            for k, groups in enumerate((g, None)):
                confirmed[k] += any(s[0][0] == 2 for s in discover(c, e, np.zeros(2000), wrong, groups, t))
        print(f"25 groups of 80, agreement {agreement}: {confirmed[0]} of {times} runs confirm a slice; rows alone "
              f"{confirmed[1]}", flush=True)


def cover(c, times, word):
    for kind in ("40x25", "200x5", "wide"):
        for agreement in (0, 0.1, 0.3):
            inside = slices = 0
            for t in range(times):
                r = np.random.default_rng([9, t, int(100 * agreement), *kind.encode()])
                e, y, g, wrong = rows_of(kind, agreement, False, r)
                for numbers, _, _ in discover(c, e, y, wrong, g, t):
                    slices += 1
                    inside += numbers[3] <= 0 <= numbers[4]
            print(f"{kind} agreement {agreement}: {inside} of {slices} intervals have 0", flush=True)


def copies_of(name, r):
    """Features, classes and errors of 1,000 rows that are copies of others: "copies x5 0.2"."""
    times, noise = int(name.split()[1][1:]), float(name.split()[2])
    of = np.repeat(np.arange(1000 // times), times)
    y = r.integers(0, 2, len(of) // times)
    e = r.normal(size=(len(y), 16))
    e[:, 0] += 3 * y
    wrong = r.random(len(y)) < RATE
    return e[of] + noise * r.normal(size=(len(of), 16)), y[of], wrong[of]


def tell_alone(e, y, wrong, seed):
    """Whether a run confirms a slice, and whether it warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = spotter.discover(e.astype("f4"), y, np.where(wrong, 0.2, 0.8).astype("f4"), seed=seed, fit=False,
                                 picture_attributes=False, device="cpu", threads=1)
    return bool(found.confirmed), any("depend on each other" in w for w in found.warnings_)


def alone(c, times, word):
    cells = [f"{kind} {a}" for kind in ("40x25", "200x5", "500x2") for a in (0, 0.1, 0.3)]
    cells += [f"copies x{m} {noise}" for m in (2, 5) for noise in (0, 0.02, 0.1, 0.2, 0.3, 0.4, 0.6)]
    for name in cells:
        for order in ("in order", "shuffled"):
            if word not in f"{name} {order}":
                continue
            told = []
            for t in range(times):
                r = np.random.default_rng([10, t, *name.encode()])
                if "copies" in name:
                    e, y, wrong = copies_of(name, r)
                else:
                    e, y, _, wrong = rows_of(name.split()[0], float(name.split()[1]), False, r)
                at = np.arange(len(y)) if order == "in order" else r.permutation(len(y))
                told.append(tell_alone(e[at], y[at], wrong[at], t))
            confirmed, warned = np.array(told).T
            print(f"{name} {order}: {confirmed.sum()} of {times} runs confirm a slice; {warned.sum()} warn; "
                  f"{(confirmed & ~warned).sum()} confirm without a warning", flush=True)


def detections_of(rows, agreement, r):
    """Ground truth and detections in COCO's format: boxes that do not touch each other, nor the picture's edge."""
    truth = {"images": [], "annotations": [], "categories": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]}
    found, rate = [], rates_of(r, 300, agreement)
    for i in range(300):
        truth["images"].append({"id": i, "file_name": f"{i}.png", "width": 400, "height": 40})
        for k in range(int(r.integers(1, 9))):
            kind, box, wrong = int(r.integers(1, 3)), [2 + 20 * k, 2, 16, 16], r.random() < rate[i]
            if rows == "misses" or not wrong:
                truth["annotations"].append({"id": len(truth["annotations"]) + 1, "image_id": i, "category_id": kind,
                                             "bbox": box, "area": 256, "iscrowd": 0})
            if rows == "alarms" or not wrong:
                found.append({"image_id": i, "category_id": kind, "bbox": box, "score": round(float(r.uniform(0.6, 1)), 3)})
    return truth, found


def detector(c, times, word):
    for rows in ("misses", "alarms"):
        for agreement in (0, 0.1, 0.3):
            for groups in (None, "rows"):
                name = f"detector's {rows} {agreement}, {'each row alone' if groups else 'pictures are groups'}"
                if word not in name:
                    continue
                confirmed = n = wrong = 0
                for t in range(times):
                    r = np.random.default_rng([11, t, int(100 * agreement), *rows.encode()])
                    truth, found = detections_of(rows, agreement, r)
                    of = spotter.detections(truth, found, rows=rows, device="cpu", threads=1)
                    picture = np.array([int(os.path.splitext(i)[0]) for i in of.images])
                    e = r.normal(0, 3, (300, 8))[picture] + r.normal(size=(len(of), 8))
                    told = spotter.discover(e.astype("f4"), ids=of.ids, coco=truth, detections=found, rows=rows, groups=groups,
                                            seed=t, fit=False, picture_attributes=False, device="cpu", threads=1)
                    confirmed, n, wrong = confirmed + bool(told.confirmed), n + len(of), wrong + int(of.wrong.sum())
                print(f"{name}: {confirmed} of {times} runs confirm a slice; {n / times:.0f} rows a run, {wrong / n:.2f} wrong",
                      flush=True)


if __name__ == "__main__":
    with side.Context("cpu", 1) as context:
        run = {"level": level, "power": power, "cover": cover, "alone": alone, "detector": detector}[sys.argv[1]]
        search = {"both": -3, "each": -2, "all": -1}[sys.argv[4] if len(sys.argv) > 4 else "both"]
        run(context, int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "", *([search] if run is level else []))
