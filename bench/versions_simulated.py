#!/usr/bin/env python3
"""bench/versions_simulated.py chance|planted PROGRAM DIR LABEL N [AGREEMENT ...]: the gate between two versions on simulated
rows, whose features do not know the answers. A trial is a line of DIR/LABEL_*.jsonl and is not run again.

chance   Equal versions, 40 groups of 25 rows, agreement 0, .1 and .3 within a group, each version with groups of its own.
planted  4,000 rows; version 2 is 12 points worse on 5 % of them, or 35 points on 3 %, where an attribute lies. Settings as in
         bench/version_gates.py."""
import collections
import itertools
import json
import sys
import tempfile

import numpy as np

import version_gates as versions

SETTINGS = ("features", "attributes", "rules", "guard", "guard0")


def write(folder, y, p, e, **more):
    files = dict(y=f"{folder}/y.npy", p_1=f"{folder}/p_1.npy", p_2=f"{folder}/p_2.npy", e=[f"{folder}/e.npy"])
    for path, x in ((files["y"], y.astype(np.int32)), (files["p_1"], p[0]), (files["p_2"], p[1]), (files["e"][0], e)):
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


def trials(path, cell, n, run):
    """The lines of n trials of a cell; those that a file has are not run again."""
    have = {r["t"]: r for r in versions.lines_of(path) if r["cell"] == cell}
    for t in range(n):
        if t not in have:
            have[t] = dict(cell=cell, t=t, **run(t))
            with open(path, "a") as f:
                f.write(json.dumps(have[t]) + "\n")
    return [have[t] for t in range(n)]


def codes_of(lines):
    return ", ".join(f"{code}: {k}" for code, k in sorted(collections.Counter(r["code"] for r in lines).items()))


def chance(program, root, label, n, *agreements):
    def run(t):
        r = np.random.default_rng([13, t, int(100 * agreement)])
        g = np.repeat(np.arange(40), 25)
        y = g % 2
        more = 1 / agreement - 1 if agreement else 0
        rate = [r.beta(.2 * more, .8 * more, 40) if agreement else np.full(40, .2) for _ in range(2)]
        e = r.normal(0, 3, (40, 8))[g] + r.normal(0, 1, (1000, 8))
        e[:, 0] += 8 * y
        with tempfile.TemporaryDirectory(dir=root) as folder:
            files = write(folder, y, [answers(y, r.random(1000) < q[g], 2, r) for q in rate], e, g=g)
            code, _, told, _ = versions.compare(program, files, ["--groups", f"{folder}/g.npy"])
        return dict(code=code, said=versions.words_of(told, y, np.zeros(1000, bool)) if told else None)

    for agreement in map(float, agreements or ("0", ".1", ".3")):
        lines = trials(f"{root}/{label}_chance.jsonl", agreement, int(n), run)
        print(f"40 groups of 25, agreement {agreement}, {n} trials: exit codes {codes_of(lines)}; all rows: "
              f"{versions.share_of_words(lines, lambda s: s[0] == 'classes' and s[1] is None)}; classes: "
              f"{versions.share_of_words(lines, lambda s: s[0] == 'classes' and s[1] is not None)}", flush=True)


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


def planted(program, root, label, n):
    def run(t):
        y, a, inside, wrong, e, r = planted_rows(t, points, share)
        with tempfile.TemporaryDirectory(dir=root) as folder:
            files = write(folder, y, [answers(y, w, 4, r) for w in wrong], e)
            with open(f"{folder}/a.csv", "w") as f:
                f.write("a,b,c,d\n" + "".join(",".join("v" + v for v in row) + "\n" for row in a))
            more = ["--groups", "rows"] + (["--attributes", f"{folder}/a.csv"] if setting != "features" else [])
            more += ["--method", "itemsets"] if setting == "rules" else []
            more += ["--guard", "0 & a=v0" + ("@0" if setting == "guard0" else "")] if setting.startswith("guard") else []
            code, _, told, error = versions.compare(program, files, more)
        said = versions.words_of(told, y, inside) if told else None
        return dict(code=code, told=versions.is_told(dict(said=said)), changed=float((wrong[0] != wrong[1]).mean()), said=said,
                    error=None if told else error)

    known = versions.options_of(program)
    for (points, share), setting in itertools.product(((12, .05), (35, .03)), SETTINGS):
        if versions.missing(setting, known):
            print(f"{points} points on {100 * share:.0f} %, {setting}: skipped, the program has no --{setting}", flush=True)
            continue
        lines = trials(f"{root}/{label}_planted.jsonl", f"{points} {setting}", int(n), run)
        print(f"{points} points on {100 * share:.0f} %, {setting}, {n} trials: exit codes {codes_of(lines)}; told in the rule "
              f"{sum(r['told'] for r in lines)}; {100 * np.mean([r['changed'] for r in lines]):.1f} % of the rows changed",
              flush=True)


if __name__ == "__main__":
    {"chance": chance, "planted": planted}[sys.argv[1]](*sys.argv[2:])
