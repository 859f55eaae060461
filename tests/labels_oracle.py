"""labels_oracle.py SPOTTER: one classifier's answers, written in every way that people write them. `spotter discover` counts
the wrong rows, which are those of numpy's argmax; or it stops with a sentence that names what does not fit."""
import csv
import json
import subprocess
import sys
import time
import unicodedata

import numpy as np

SPOTTER = sys.argv[1]
r = np.random.default_rng(0)
N, K = 660, 11
failed = 0


def table(path, **columns):
    with open(path, "w", newline="", encoding="utf8") as f:
        rows = csv.writer(f)
        rows.writerow(columns)
        rows.writerows(zip(*columns.values()))


def side_by_side(path, names, values):
    table(path, **{name: values[:, k] for k, name in enumerate(names)})
    return f"{path}:{','.join(names)}"


def discover(*words):
    features = [] if "-e" in words else ["-e", "e.npy"]
    run = subprocess.run([SPOTTER, "discover", *features, *words, "-m", "ward", "--out", "o", "--no-report", "--no-proof",
                          "--replace", "-d", "cpu", "-t", "2"], capture_output=True, text=True, timeout=120)
    return run.returncode, run.stderr, json.load(open("o/slices.json"))["subject"] if run.returncode == 0 else None


def check(what, good, note):
    global failed
    if not good:
        failed += 1
        print(f"FAILED: {what}: {note}")


def reads(what, wrong, *words, said=(), names=None, unsaid=()):
    code, err, got = discover(*words)
    check(what, code == 0 and got["wrong"] == wrong, f"{got['wrong'] if got else err[-300:]} where numpy has {wrong}")
    check(what, all(word in err for word in said), f"no {said} in {err}")
    check(what, not any(word in err for word in unsaid), f"{unsaid} in {err}")
    if got and names is not None:
        check(what, got["class_names"] == names, f"classes {got['class_names']}")


def refuses(what, *words, said):
    code, err, _ = discover(*words)
    check(what, code == 3 and all(word in err for word in said), f"exit code {code}, no {said} in {err[-300:]}")


y = np.arange(N) % K
e = r.normal(size=(N, 4)).astype(np.float32)
logit = r.normal(size=(N, K)) + 2.5 * (np.arange(K) == y[:, None])
p = np.exp(logit) / np.exp(logit).sum(1, keepdims=True)
wrong = int((p.argmax(1) != y).sum())
words = np.array(["emu", "cat", "dog", "ape", "bee", "cow", "elk", "fox", "gnu", "hen", "jay"])
np.save("e.npy", e), np.save("y.npy", y), np.save("p.npy", p)

# ---- ties
ties = (r.multinomial(4, [1 / K] * K, size=N) / 4)
tied = int(((ties == ties.max(1, keepdims=True)).sum(1) > 1).sum())
np.save("q.npy", ties)
reads("ties", int((ties.argmax(1) != y).sum()), "-y", "y.npy", "-p", "q.npy", said=[f"{tied} of {N} rows are ties"])
near = np.tile([0.25, 0.25 + 1e-12, 0.25 - 1e-12, 0.25], (N, 1))
np.save("q.npy", near), np.save("z.npy", y % 4)
reads("ties of floats alone", int((near.argmax(1) != y % 4).sum()), "-y", "z.npy", "-p", "q.npy", unsaid=["are ties"])
two, half = y % 2, np.where(np.arange(N) % 3 == 0, 0.5, r.random(N))
np.save("z.npy", two), np.save("h.npy", half)
reads("exactly 1/2", int((np.stack([1 - half, half], 1).argmax(1) != two).sum()), "-y", "z.npy", "-p", "h.npy",
      said=["220 of 660 rows are ties of exactly 1/2, which answer class 0"])

# ---- labels
numbers = [str(k) for k in range(K)]
np.save("z.npy", y.astype(str))
reads("numbers as words", wrong, "-y", "z.npy", "-p", "p.npy", names=numbers, said=["sorted by number"])
table("y.csv", n=y, w=words[y], z=[f"{k:02}" for k in y])
reads("numbers in a table", wrong, "-y", "y.csv:n", "-p", "p.npy", names=numbers)
reads("zeros in front", wrong, "-y", "y.csv:z", "-p", "p.npy", names=[f"{k:02}" for k in range(K)])
some = np.where(y == 4, 5, y)
np.save("z.npy", some.astype(str))
reads("a number that no row has", int((p.argmax(1) != some).sum()), "-y", "z.npy", "-p", "p.npy", names=numbers)
mixed = [("1" if i % 22 == 1 else "01") if k == 1 else str(k) for i, k in enumerate(y)]
table("z.csv", z=mixed)
refuses("01 and 1", "-y", "z.csv:z", "-p", "p.npy", said=['"01"', '"1"', "12 classes"])
np.save("z.npy", np.eye(K)[y])
reads("one-hot", wrong, "-y", "z.npy", "-p", "p.npy", names=numbers, said=["one 1 in each row"])
np.save("z.npy", np.eye(K)[y] * 0.9 + 0.1 / K)
reads("label smoothing", wrong, "-y", "z.npy", "-p", "p.npy", names=numbers, said=["label smoothing"])
many = np.eye(K, dtype=int)[y]
sigmoid = 1 / (1 + np.exp(-logit))
np.save("z.npy", many), np.save("q.npy", sigmoid)
code, err, got = discover("-y", "z.npy", "-p", "q.npy")
check("several classes a row", code == 0 and "wrong" not in got, err)
check("several classes a row", "several classes" in err, err)
np.save("z.npy", many), np.save("q.npy", logit)
reads("one-hot and logits", wrong, "-y", "z.npy", "-p", "q.npy", "--logits", said=["softmax", "one 1 in each row"])
odd = p.copy()
odd[17] *= 0.6
np.save("q.npy", odd)
refuses("one-hot, and one row that does not sum to 1", "-y", "z.npy", "-p", "q.npy", said=["row 17 sum to 0.6"])
reads("the same, left out", int((np.delete(p, 17, 0).argmax(1) != np.delete(y, 17)).sum()), "-y", "z.npy", "-p", "q.npy",
      "--skip-bad-rows", said=["1 of 660 rows"])
close = np.stack([np.where(two == 0, 0.5 + 1e-12, 0.5 - 1e-12), np.where(two == 0, 0.5 - 1e-12, 0.5 + 1e-12)], 1)
table("z.csv", z=np.array(["cat", "dog"])[two])
np.save("z.npy", np.eye(2)[two]), np.save("q.npy", close)
reads("one-hot, ties of floats alone", 0, "-y", "z.npy", "-p", "q.npy")
for order in ([0, 1], [1, 0]):
    reads("ties of floats alone, columns in any order", 0, "-y", "z.csv:z", "-p",
          side_by_side("q.csv", [["cat", "dog"][k] for k in order], close[:, order]))
three = np.exp(logit[:, :3]) / np.exp(logit[:, :3]).sum(1, keepdims=True)
np.save("z.npy", y % 3 + 3)
for names in (["3", "4", "5"], ["03", "04", "05"], ["p_03", "p_04", "p_05"]):
    reads("columns called by the numbers of the classes", int((three.argmax(1) != y % 3).sum()), "-y", "z.npy", "-p",
          side_by_side("q.csv", names, three))
refuses("numbers behind a word", "-y", "z.npy", "-p", side_by_side("q.csv", ["1a3", "1a4", "1a5"], three), said=["columns for 3 classes"])
table("z.csv", z=np.array(["p_a", "p_b"])[two])
pair = np.stack([1 - half, half], 1)
reads("classes that begin as a prefix", int((pair.argmax(1) != two).sum()), "-y", "z.csv:z", "-p",
      side_by_side("q.csv", ["p_b", "p_a"], pair[:, ::-1]), said=["by their names"])
for name, other in (("a space", lambda w: w + " "), ("case", str.title), ("normal form", lambda w: w + "\u0301")):
    plain = [unicodedata.normalize("NFC", w + "\u0301") if name == "normal form" else w for w in words]
    k = [other(words[c]) if i % 7 == 0 else plain[c] for i, c in enumerate(y)]
    table("z.csv", z=k)
    np.save("t.npy", p[np.arange(N), y])
    code, err, got = discover("-y", "z.csv:z", "-p", "t.npy")
    check(name, (code == 0 and "differ only in case" in err) or len(got["class_names"]) == K, err)
for missing in ("None", "nan", "NaN", "NA", "<NA>", "null"):
    k = words[y].astype(object)
    k[5], k[77] = missing, missing
    table("z.csv", z=k)
    refuses(f"{missing} for a label", "-y", "z.csv:z", "-p", "p.npy", said=["row 5 has no label"])
    stay = ~np.isin(np.arange(N), [5, 77])
    side_by_side("q.csv", words, p)
    reads(f"{missing} is left out", int((p.argmax(1) != y)[stay].sum()), "-y", "z.csv:z", "-p", f"q.csv:{','.join(words)}",
          "--skip-bad-rows", said=["row 5 has no label", "2 of 660 rows"])

# ---- columns with names
order = r.permutation(K)
for prefix in ("", "p_", "prob_", "probability_"):
    at = side_by_side("q.csv", [prefix + words[k] for k in order], p[:, order])
    reads(f"columns {prefix}NAME", wrong, "-y", "y.csv:w", "-p", at, names=sorted(words), said=["by their names"])
at = side_by_side("q.csv", [f"p{k}" for k in order], p[:, order])
reads("columns with numbers", wrong, "-y", "y.npy", "-p", at, names=numbers, said=["by the numbers in their names"])
np.save("z.npy", y.astype(str))
reads("columns with numbers, labels in words", wrong, "-y", "z.npy", "-p", at, names=numbers)
refuses("a column of no class", "-y", "y.csv:w", "-p", side_by_side("q.csv", [*words[:-1], "yak"], p), said=['"yak"', '"jay"'])
refuses("a class without a column", "-y", "y.csv:w", "-p", side_by_side("q.csv", words[:-1], p[:, :-1]), said=['"jay"'])
more = np.hstack([p, np.zeros((N, 1))])
reads("a class without rows", wrong, "-y", "y.csv:w", "-p", side_by_side("q.csv", [*words, "yak"], more),
      names=sorted([*words, "yak"]), said=["no row has"])
at = side_by_side("q.csv", ["a1", "a2"], p[:, :2])
refuses("fewer columns than words", "-y", "y.csv:w", "-p", at, said=['"ape"', '"bee"'])
table("z.csv", z=5 + 2 * y)
at = side_by_side("q.csv", [str(5 + 2 * k) for k in order], p[:, order])
reads("columns called 5, 7, 9", wrong, "-y", "z.csv:z", "-p", at, names=[str(5 + 2 * k) for k in range(K)])
swapped = np.ascontiguousarray(p[:, [0, 1, 3, 2, *range(4, K)]])
np.save("q.npy", swapped)
reads("two columns exchanged", int((swapped.argmax(1) != y).sum()), "-y", "y.npy", "-p", "q.npy",
      said=["2 of 11 classes is not the best: 2 (most often 3), 3 (most often 2)"])

pair = np.array(["cat", "dog"])[two]
q = r.random(N)
for name, of in (("p_cat", 0), ("p_dog", 1), ("dog", 1), ("score", 1)):
    table("z.csv", **{"w": pair, name: q})
    answer = np.stack([1 - q, q][:: 1 if of else -1], 1).argmax(1)
    reads(f"one column {name} of two", int((answer != two).sum()), "-y", "z.csv:w", "-p", f"z.csv:{name}",
          said=[f"probability of class {['cat', 'dog'][of]}"])
for name, of in (("p0", 0), ("p1", 1), ("prob_0", 0)):
    table("z.csv", **{"w": two, name: q})
    answer = np.stack([1 - q, q][:: 1 if of else -1], 1).argmax(1)
    reads(f"one column {name} of two", int((answer != two).sum()), "-y", "z.csv:w", "-p", f"z.csv:{name}",
          said=[f"probability of class {of}"])
refuses("one named column of eleven", "-y", "y.csv:w", "-p", side_by_side("q.csv", ["p_cat"], p[:, 1:2]), said=['"cat"'])

# ---- probabilities that are rounded, logits, logarithms
for classes in (100, 1000):
    t = np.arange(2000) % classes
    x = r.normal(size=(2000, classes)) + 4 * (np.arange(classes) == t[:, None])
    q = (np.exp(x) / np.exp(x).sum(1, keepdims=True)).round(4)
    np.save("z.npy", t), np.save("q.npy", q), np.save("e.npy", r.normal(size=(2000, 2)))
    reads(f"four decimals of {classes} classes", int((q.argmax(1) != t).sum()), "-y", "z.npy", "-p", "q.npy", "--least", "1")
    np.save("q.npy", x.astype(np.float32))
    reads(f"logits of {classes} classes", int((x.argmax(1) != t).sum()), "-y", "z.npy", "-p", "q.npy", "--logits",
          "--least", "1", said=["softmax in double precision"])
np.save("e.npy", e)
np.save("q.npy", logit - 9)
refuses("logits that are not called so", "-y", "y.npy", "-p", "q.npy", said=["--logits"])
np.save("q.npy", np.log(p))
refuses("logarithms", "-y", "y.npy", "-p", "q.npy", said=["numpy.exp"])
np.save("z.npy", two), np.save("h.npy", r.normal(size=N))
reads("a logit of class 1", int(((np.load("h.npy") > 0) != two).sum()), "-y", "z.npy", "-p", "h.npy", "--logits",
      said=["the sigmoid"])

# ---- bad rows
for value in (np.nan, np.inf, 1e30, 2e12):
    bad = e.astype(np.float64)
    bad[303, 2] = value
    np.save("e.npy", bad)
    refuses(f"a feature of {value}", "-y", "y.npy", "-p", "p.npy", said=["e.npy: row 303, column 2"])
    stay = np.arange(N) != 303
    reads(f"a feature of {value} is left out", int((p.argmax(1) != y)[stay].sum()), "-y", "y.npy", "-p", "p.npy",
          "--skip-bad-rows", said=["row 303", "1 of 660 rows"])
    ids = [row["id"] for row in csv.DictReader(open("o/slices.csv"))]
    true = {str(i) for i in np.flatnonzero(stay)}
    check("ids of the file", ids and set(ids) <= true and any(int(i) > 303 for i in ids), ids[:9])
bad = e.copy()
bad[303, 2] = 1e12
np.save("e.npy", bad)
reads("a feature of 1e12", wrong, "-y", "y.npy", "-p", "p.npy")
np.save("e.npy", np.where(np.arange(N)[:, None] % 3 == 0, e, np.nan))
bad_rows = e.copy()
bad_rows[[3, 60], 0] = np.nan
np.save("n.npy", bad_rows)
night = np.where(np.arange(N) % 5 == 0, "night", "day")
table("t.csv", sky=night), table("i.csv", id=[f"r{i}" for i in range(N)])
table("ti.csv", id=[f"r{i}" for i in range(N) if i != 200], sky=np.delete(night, 200))
kept = np.delete(np.arange(N), [3, 60])
found = []
for features, labels, probs, sky, more in (("n.npy", "y.npy", "p.npy", "t.csv", ["--skip-bad-rows"]),
                                           ("k.npy", "yk.npy", "pk.npy", "tk.csv", [])):
    np.save("k.npy", e[kept]), np.save("yk.npy", y[kept]), np.save("pk.npy", p[kept]), table("tk.csv", sky=night[kept])
    code, err, _ = discover("-e", features, "-y", labels, "-p", probs, "--attributes", sky, *more)
    check("attributes beside rows that are left out", code == 0, err[-300:])
    found.append([s.get("attributes", s) for f in json.load(open("o/slices.json"))["findings"] for s in f["slices"]])
    for one in found[-1]:
        for word in ("rows", "nearest_correct"):
            one.pop(word, None)
check("attributes beside rows that are left out", found[0] == found[1], "other words than without these rows")
refuses("a row without a record", "-e", "n.npy", "-y", "y.npy", "-p", "p.npy", "--ids", "i.csv:id", "--attributes", "ti.csv:id",
        "--skip-bad-rows", said=['row 200, "r200"'])

refuses("most rows are bad", "-y", "y.npy", "-p", "p.npy", "--skip-bad-rows", said=["more than half of 660 rows"])
table("a.csv", a=["" if i == 7 else v for i, v in enumerate(e[:, 0])], b=["NA" if i == 9 else v for i, v in enumerate(e[:, 1])],
      w=["" if i == 11 else v for i, v in enumerate(words[y])])
at = side_by_side("q.csv", words, np.where(np.arange(N)[:, None] == 13, 0.5, p))
stay = ~np.isin(np.arange(N), [7, 9, 11, 13])
reads("holes in tables", int((p.argmax(1) != y)[stay].sum()), "-e", "a.csv:a,b", "-y", "a.csv:w", "-p", at, "--skip-bad-rows",
      said=["row 7", "row 9", "row 11", "row 13", "4 of 660 rows"])
refuses("a hole in a table", "-e", "a.csv:a,b", "-y", "y.npy", "-p", "p.npy", said=["row 7 (line 9)"])

lists = [str(v.tolist()) for v in e]
lists[5], lists[6], lists[8] = "", lists[6].replace(",", ", nan,", 1), lists[8].replace(lists[8].split(",")[1], " None")
table("a.csv", a=lists)
stay = ~np.isin(np.arange(N), [5, 6, 8])
reads("holes in lists", int((p.argmax(1) != y)[stay].sum()), "-e", "a.csv:a", "-y", "y.npy", "-p", "p.npy", "--skip-bad-rows",
      said=["row 5", "row 6", "row 8", "3 of 660 rows"])
lists[5] = "None"
table("a.csv", a=lists)
refuses("a row without a list", "-e", "a.csv:a", "-y", "y.npy", "-p", "p.npy", said=["row 5 has no list"])
table("a.csv", a=[str(v.tolist()) for v in p])
np.save("e.npy", e)
reads("probabilities in a column of lists", wrong, "-y", "y.npy", "-p", "a.csv:a")

# ---- features that tell nothing
np.save("e.npy", np.ones((N, 4)))
reads("constant features", wrong, "-y", "y.npy", "-p", "p.npy", said=["have the same features"])
np.save("e.npy", e * np.float32(1e-30))
reads("tiny features", wrong, "-y", "y.npy", "-p", "p.npy", said=["no feature is greater than 1e-20"])

# ---- many small classes: 3,000 of one row, two or three; in the map rows have the distances of their features
small = np.repeat(np.arange(3000), np.arange(3000) % 3 + 1)
x = r.normal(size=(len(small), 5)).astype(np.float32)
np.save("e.npy", x), np.save("y.npy", small), np.save("p.npy", np.full(len(small), 0.4))
for proof in ((), ("--no-proof",)):
    began = time.monotonic()
    run = subprocess.run([SPOTTER, "discover", "-e", "e.npy", "-y", "y.npy", "-p", "p.npy", "-m", "ward", "--least", "1",
                          *proof, "--out", "m", "--no-report", "--replace", "-d", "cpu", "-t", "2"], capture_output=True, text=True)
    at = np.load("m/map.npy") if run.returncode == 0 else np.full((len(small), 2), np.nan)
    near = small[:-1] == small[1:]
    true, seen = (np.linalg.norm(v[1:] - v[:-1], axis=1)[near] for v in (x, at))
    check("a map of small classes", np.isfinite(at).all() and np.abs(true - seen).max() < 1e-4, run.stderr[-300:])
    check("time of small classes", time.monotonic() - began < 60, time.monotonic() - began)
sys.exit(failed > 0)
