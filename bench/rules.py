#!/usr/bin/env python3
"""Rules of attributes: which weaknesses that an exhaustive search finds does `spotter discover` find, and are its rates true?

    bench/rules.py make DIR [--seed N]            pictures of letters, a small network trained on them (PyTorch), its answers
    bench/rules.py measure DIR spotter            the numbers of bench/studies/rules.md
    bench/rules.py shuffled DIR spotter RUNS      runs that confirm a slice where errors are exchanged within each class

The classifier is an ordinary one: letters of several fonts in sizes, colours, turns and noise, some of them rare in training.
Nothing is planted. Weaknesses are all conjunctions of at most two attributes of a class whose error rate is above that of the
class by 10 points in the test rows, at 5 % after Bonferroni, and again above it in the held-out rows at 1 %; of two with a
Jaccard index above one half the surer is kept. A weakness is found by a confirmed slice of which most rows lie in it and that
has a quarter of its wrong rows. A claim is false where the rows of its rule fail no more often in the held-out rows (p > .05);
of a slice without a rule, the rows that `spotter assign` puts into it."""
import argparse
import csv
import json
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np

LETTERS = "bdpqhnum"
SIDE, TRAIN, TEST, HELD = 32, 6000, 4000, 5500
COLOURS = {"black": (20, 20, 20), "grey": (150, 150, 150), "red": (200, 40, 30), "blue": (40, 70, 200), "pale": (190, 180, 120)}
GROUNDS = {"white": (250, 250, 250), "cream": (240, 225, 190), "dark": (60, 60, 70)}
NAMES = ["font", "size", "colour", "ground", "turn", "noise", "shift"]


def draw(rng, fonts, train):
    """A picture and its attributes; rare in training: small letters, turned ones, pale ones, noise."""
    from PIL import Image, ImageDraw, ImageFilter
    rare = 0.35 if train else 1.0
    pick = lambda names, weight: names[rng.choice(len(names), p=np.array(weight) / np.sum(weight))]
    font = pick(list(fonts), [1, 1, 1, 0.5 * rare, 0.5 * rare][:len(fonts)])
    size = pick(["small", "middle", "large"], [0.5 * rare, 1, 1])
    colour = pick(list(COLOURS), [1, 0.6, 0.5, 0.5, 0.4 * rare])
    ground = pick(list(GROUNDS), [1, 0.6, 0.4 * rare])
    turn = pick(["no", "left", "right"], [1, 0.35 * rare, 0.35])
    noise = pick(["no", "grain", "blur"], [1, 0.3 * rare, 0.4 * rare])
    shift = pick(["no", "edge"], [1, 0.3 * rare])
    cls = rng.integers(len(LETTERS))
    from PIL import ImageFont
    pixels = {"small": 11, "middle": 18, "large": 25}[size] + rng.integers(-1, 2)
    im = Image.new("RGB", (SIDE, SIDE), GROUNDS[ground])
    glyph = Image.new("L", (SIDE, SIDE), 0)
    at = SIDE / 2 + rng.normal(0, 1, 2) + (rng.choice([-8, 8], 2) if shift == "edge" else 0)
    ImageDraw.Draw(glyph).text(tuple(at), LETTERS[cls], 255, ImageFont.truetype(fonts[font], int(pixels)), anchor="mm")
    angle = {"no": 0, "left": 55, "right": -55}[turn] + rng.normal(0, 6)
    glyph = glyph.rotate(angle, Image.BICUBIC)
    im.paste(Image.new("RGB", im.size, COLOURS[colour]), (0, 0), glyph)
    if noise == "blur":
        im = im.filter(ImageFilter.GaussianBlur(1.6))
    x = np.asarray(im).astype(np.float32) + rng.normal(0, 45 if noise == "grain" else 4, (SIDE, SIDE, 3))
    return np.clip(x, 0, 255).astype(np.uint8), cls, [font, size, colour, ground, turn, noise, shift]


def network():
    import torch.nn as nn
    block = lambda i, o: nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(), nn.MaxPool2d(2))
    body = nn.Sequential(block(3, 16), block(16, 32), block(32, 48), nn.Flatten(), nn.Linear(768, 64), nn.ReLU())
    return body, nn.Linear(64, 8)


def train(x, y, seed):
    import torch
    torch.manual_seed(seed)
    torch.set_num_threads(2)
    body, head = network()
    both = torch.nn.Sequential(body, head)
    opt = torch.optim.Adam(both.parameters(), 2e-3)
    x, y = tensor(x), torch.tensor(y)
    for epoch in range(7):
        both.train()
        for rows in torch.randperm(len(x)).split(64):
            opt.zero_grad()
            torch.nn.functional.cross_entropy(both(x[rows]), y[rows]).backward()
            opt.step()
    both.eval()
    return body, head


def tensor(x):
    import torch
    return torch.tensor(x).permute(0, 3, 1, 2).float() / 127.5 - 1


def make(where, seed):
    import torch
    from PIL import Image
    where = Path(where)
    rng = np.random.default_rng(seed)
    base = Path("/usr/share/fonts/truetype/dejavu")
    fonts = {p.stem.replace("DejaVu", ""): str(p) for p in sorted(base.glob("*.ttf"))}
    fonts = dict(list(fonts.items())[:5])
    sets = {name: [draw(rng, fonts, name == "train") for _ in range(n)] for name, n in
            (("train", TRAIN), ("test", TEST), ("held", HELD))}
    body, head = train(np.stack([r[0] for r in sets["train"]]), np.array([r[1] for r in sets["train"]]), seed)
    for name in ("test", "held"):
        to = where / name
        (to / "images").mkdir(parents=True, exist_ok=True)
        rows = sets[name]
        with torch.no_grad():
            e = torch.cat([body(part) for part in tensor(np.stack([r[0] for r in rows])).split(500)])
            p = torch.softmax(head(e), 1)
        np.save(to / "e.npy", e.numpy())
        np.save(to / "y.npy", np.array([r[1] for r in rows]))
        np.save(to / "p.npy", p.numpy())
        with open(to / "attributes.csv", "w", newline="") as f:
            out = csv.writer(f)
            out.writerow(["id", *NAMES])
            for i, r in enumerate(rows):
                out.writerow([f"{i:05d}.png", *r[2]])
                Image.fromarray(r[0]).save(to / "images" / f"{i:05d}.png")
        print(name, "right", float((p.numpy().argmax(1) == np.array([r[1] for r in rows])).mean()))


# ---- truth ----

def load(where):
    where = Path(where)
    y, p = np.load(where / "y.npy"), np.load(where / "p.npy")
    table = list(csv.DictReader(open(where / "attributes.csv")))
    items = {f"{n}={v}": np.array([r[n] == v for r in table]) for n in NAMES for v in sorted({r[n] for r in table})}
    return y, p.argmax(1) != y, items


def tail(n, wrong, covered, inside):
    from scipy.stats import hypergeom
    return float(hypergeom.sf(inside - 1, n, wrong, covered))


def weaknesses(test, held):
    (y, w, items), (yh, wh, ih) = test, held
    found, tests = [], 0
    for cls in sorted(set(y)):
        m, mh = y == cls, yh == cls
        for items_of in [c for k in (1, 2) for c in combinations(items, k)]:
            if len({i.split("=")[0] for i in items_of}) < len(items_of):
                continue
            rows, rows_h = m.copy(), mh.copy()
            for i in items_of:
                rows, rows_h = rows & items[i], rows_h & ih[i]
            if rows.sum() < 10 or rows.sum() == m.sum():
                continue
            tests += 1
            p = tail(m.sum(), w[m].sum(), rows.sum(), w[rows].sum())
            if w[rows].mean() - w[m].mean() > 0.1 and rows_h.sum():
                found.append((p, cls, items_of, rows, tail(mh.sum(), wh[mh].sum(), rows_h.sum(), wh[rows_h].sum())))
    kept = []
    for p, cls, names, rows, ph in sorted(found, key=lambda f: f[0]):
        if p * tests > 0.05 or ph > 0.01:
            continue
        if all(k[1] != cls or (k[3] & rows).sum() / (k[3] | rows).sum() <= 0.5 for k in kept):
            kept.append((p, cls, names, rows))
    return kept, tests


# ---- what discover says ----

def discover(spotter, where, out, *more):
    where = Path(where)
    call = [spotter, "discover", "-e", where / "e.npy", "-y", where / "y.npy", "-p", where / "p.npy", "--out", out, "--replace",
            "--no-report", *more]
    r = subprocess.run([str(x) for x in call], capture_output=True, text=True)
    if r.returncode:
        sys.exit(r.stderr[-2000:])
    told = json.load(open(Path(out) / "slices.json"))
    rows = {}
    for line in csv.DictReader(open(Path(out) / "slices.csv")):
        rows.setdefault(int(line["number"]), set()).add(int(line["id"].split(".")[0]))
    slices = []
    for f in told["findings"]:
        for s in f["slices"]:
            slices.append({**s, "class": f["class_number"], "rows": sorted(rows.get(s["number"], []))})
    return [s for s in slices if s["proof"]["claim"] == "confirmed"], slices


def rule_rows(s, test, held):
    names = s.get("rule", {}).get("items", [])
    if not names or not all(n.removeprefix("not ") in test[2] for n in names):
        return None
    rows = np.full(len(held[0]), True) if s["class"] is None else held[0] == s["class"]
    for n in names:
        rows = rows & (held[2][n] if n in held[2] else ~held[2][n.removeprefix("not ")])
    return rows


def report(name, confirmed, all_slices, truth, test, held):
    y, w, _ = test
    yh, wh, _ = held
    found = covered = 0
    union = {}
    for s in confirmed:
        union.setdefault(s["class"], set()).update(s["rows"])
    for _, cls, names, rows in truth:
        wrong = set(np.flatnonzero(rows & w))
        inside = set(np.flatnonzero(rows))
        hit = False
        for s in confirmed:
            r = set(s["rows"])
            hit |= s["class"] == cls and len(r & inside) > len(r) / 2 and len(r & wrong) >= len(wrong) / 4
        found += hit
        covered += len(wrong & union.get(cls, set())) >= len(wrong) / 2
    gaps, expected, false, rules = [], [], 0, 0
    for s in confirmed:
        rows = rule_rows(s, test, held)
        if rows is None:
            continue
        rules += 1
        if rows.sum():
            gaps.append(100 * (s["proof"]["wrong"] / s["proof"]["judged"] - wh[rows].mean()))
            expected.append(100 * (s["proof"]["class_rate"] + s["proof"]["to_expect"] - wh[rows].mean()))
            m = np.full(len(yh), True) if s["class"] is None else yh == s["class"]
            false += tail(m.sum(), wh[m].sum(), rows.sum(), wh[rows].sum()) > 0.05
    low, middle, high = np.percentile(gaps, [25, 50, 75]) if gaps else [float("nan")] * 3
    print(f"{name:34} confirmed {len(confirmed):3} of {len(all_slices):3}; weaknesses found {found}/{len(truth)} "
          f"({100 * found / max(1, len(truth)):.0f} %), covered {covered}; rules {rules}, false {false}, stated less held-out "
          f"rate: median {middle:+.1f}, quartiles {low:+.1f} to {high:+.1f}; to expect less held-out rate: "
          f"median {np.median(expected) if expected else float('nan'):+.1f}")


def measure(where, spotter):
    where = Path(where)
    test, held = load(where / "test"), load(where / "held")
    truth, tests = weaknesses(test, held)
    print(f"{len(truth)} weaknesses of {tests} conjunctions; wrong {test[1].mean():.1%} of the test rows")
    t = where / "test"
    ids = where / "ids.csv"
    ids.write_text("id\n" + "\n".join(f"{i:05d}.png" for i in range(TEST)) + "\n")
    table = ["--ids", f"{ids}:id", "--attributes", f"{t / 'attributes.csv'}:id"]
    pictures = ["--ids", f"{ids}:id", "--images", t / "images"]
    for name, more in (("without attributes", []), ("pictures", pictures), ("attributes", table),
                       ("attributes, joinspot and ward", [*table, "-m", "joinspot,ward"]),
                       ("attributes, itemsets", [*table, "-m", "itemsets"]),
                       ("attributes and pictures", [*table, *pictures[2:]])):
        report(name, *discover(spotter, t, where / "found", *more), truth, test, held)


def shuffled(where, spotter, runs):
    """Errors exchanged within each class: no slice is true."""
    where = Path(where)
    t, to = where / "test", where / "shuffled"
    to.mkdir(exist_ok=True)
    y, p = np.load(t / "y.npy"), np.load(t / "p.npy")
    np.save(to / "e.npy", np.load(t / "e.npy"))
    np.save(to / "y.npy", y)
    confirming = 0
    for seed in range(runs):
        rng = np.random.default_rng(1000 + seed)
        q = p.copy()
        for cls in range(len(LETTERS)):
            rows = np.flatnonzero(y == cls)
            q[rows] = p[rng.permutation(rows)]
        np.save(to / "p.npy", q)
        confirmed, _ = discover(spotter, to, where / "found_shuffled", "--attributes", f"{t / 'table.csv'}")
        confirming += len(confirmed) > 0
        print(seed, len(confirmed), confirming, flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("what", choices=["make", "measure", "shuffled"])
    p.add_argument("dir")
    p.add_argument("spotter", nargs="?")
    p.add_argument("runs", nargs="?", type=int, default=100)
    p.add_argument("--seed", type=int, default=0)
    o = p.parse_args()
    if o.what == "make":
        make(o.dir, o.seed)
    elif o.what == "measure":
        measure(o.dir, o.spotter)
    else:
        table = Path(o.dir) / "test" / "attributes.csv"
        lines = list(csv.reader(open(table)))
        with open(table.with_name("table.csv"), "w", newline="") as f:
            csv.writer(f).writerows(line[1:] for line in lines)
        shuffled(o.dir, o.spotter, o.runs)


if __name__ == "__main__":
    main()
