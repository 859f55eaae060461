#!/usr/bin/env python3
"""bench/trial.py make DIR WORLD... | measure DIR SPOTTER WORLD...: is the list of an ordinary classifier's causes short, and is
it true on rows that nobody has seen?

make     Trains the small network of bench/neutral.py (PyTorch) for each world and writes its rows for the search (test) and
         those held out (held) into DIR/WORLD: e, y, p, pictures, a table of attributes. Debian packages are unpacked (dpkg -x):
         icon themes below DIR/icons/PACKAGE, fonts below DIR/fonts. Digits are scikit-learn's.
measure  `spotter discover` on the test rows, in several ways. Confirmed slices, and entries of the list that are not folded
         below a class, are asked on the held-out rows: which rows belong to a rule is what its attributes say, to another slice
         what `spotter assign` says; an entry has the rows that its figures are of, and the first 25 of a list count.
           beyond the class    points of the errors' deviance that they explain behind the class (bench/neutral.py)
           excess              wrong rows in them beyond the rate of each class, as a share of all errors
           weaknesses          of an exhaustive search over at most two attributes (bench/rules.py): found by a confirmed slice
           false               confirmed slices whose held-out rows fail no more often than their class (p > .05)
           stated              rate of a rule's judged rows less its rate on held-out rows: median over confirmed rules

Its figures are in bench/studies/trial.md."""
import csv
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

import neutral
import rules

SIDE = neutral.SIDE
MOST = 25       # entries of a list that are counted: those with most errors come first
WORLDS = {      # all were looked at: icons_d and styles to choose what an entry explains, digits_b what is no cell
    "icons_d": dict(kind="icons", cap=1700, epochs=14, seed=11, themes=[
        "obsidian-icon-theme", "oxygen-icon-theme", "tango-icon-theme", "elementary-xfce-icon-theme", "gnome-icon-theme",
        "gnome-icon-theme-yasis", "faenza-icon-theme", "mate-icon-theme", "moka-icon-theme", "lxde-icon-theme",
        "gnome-human-icon-theme", "paper-icon-theme"]),
    "styles": dict(kind="styles", n=(6000, 4000, 5500), epochs=9, seed=12),
    "digits_b": dict(kind="digits", epochs=8, seed=14),
}


# ---- pictures: class, picture, attributes, group ----

def third(v, edges, names):
    return names[int(np.searchsorted(edges, v))]


def icon_rows(root, w, rng):
    rows = neutral.icons(f"{root}/icons", dict(w, by="context", classes=neutral.CONTEXTS), rng)
    words, out = {}, []
    for c, im, path in rows:
        word = re.split(r"[-_.]", os.path.basename(path))[0]
        words[word] = words.get(word, 0) + 1
    common = set(sorted(words, key=lambda k: (-words[k], k))[:25])
    for c, im, path in rows:
        a = np.asarray(im).astype(float)
        grey, spread = a.mean(2), a.max(2) - a.min(2)
        ink = grey < 250
        px = re.findall(r"/(\d+)(?:x\d+)?(?=/)", path)
        word = re.split(r"[-_.]", os.path.basename(path))[0]
        out.append((c, im, dict(
            theme=path[len(root):].split("/")[2].replace("-icon-theme", ""),
            px=third(int(px[-1]) if px else 48, [16, 24, 48], ["16", "24", "48", "big"]),
            symbolic="yes" if "symbolic" in path else "no",
            colour=third(spread[ink].mean() if ink.any() else 0, [12, 60], ["grey", "pale", "colourful"]),
            brightness=third(grey[ink].mean() if ink.any() else 255, [90, 150], ["dark", "middle", "bright"]),
            ink=third(ink.mean(), [.3, .55], ["little", "middle", "full"]),
            word=word if word in common else "other"), None))
    a, b = [int(n * len(out)) for n in (.36, .64)]
    return out[:a], out[a:b], out[b:]


def styled_fonts(root):
    """Path, family and style by the name of the file."""
    found = []
    for path in sorted(p for kind in ("ttf", "otf", "t1") for p in glob.glob(f"{root}/fonts/**/*.{kind}", recursive=True)):
        name = os.path.basename(path).rsplit(".", 1)[0]
        if re.search(r"Dingbats|Symbol|MathT|Math|_DR|_M$|_K$|Z$|ZI$|Initials|cursor|Emoji", name):
            continue
        bold = bool(re.search(r"[Bb]old|Black|Heavy|Demi|_RB", name))
        italic = bool(re.search(r"[Ii]talic|Oblique|It$|_RB?I$|_I$", name))
        family = re.split(r"[-_]|Bold|Oblique|Italic", name)[0]
        family = re.sub(r"(TwoBeta|Condensed|Expanded|\d+)$", "", family)
        found.append((path, family, ("bold " if bold else "") + ("italic" if italic else "upright")))
    return found


def style_row(rng, fonts):
    style = rng.choice(sorted({f[2] for f in fonts}))
    path, family, _ = rng.choice([f for f in fonts if f[2] == style])
    kind = rng.choice(["upper", "lower", "digit", "mark"])
    text = rng.choice({"upper": "ABCDEFGHKMNPRSTUVWXZ", "lower": "abcdefghkmnpqrstuvwxyz", "digit": "0123456789",
                       "mark": "!?%&$+=#@"}[kind])
    if rng.random() < .5:
        text += rng.choice("abcdefghkmnpqrstuvwxyz0123456789")
    px, dark = rng.randint(11, 36), rng.random() < .3
    ink, paper = tuple(rng.randint(0, 120) for _ in range(3)), tuple(rng.randint(150, 255) for _ in range(3))
    if dark:
        ink, paper = paper, ink
    im = Image.new("RGB", (SIDE, SIDE), paper)
    draw = ImageDraw.Draw(im)
    font = ImageFont.truetype(path, px)
    b = draw.textbbox((0, 0), text, font=font)
    draw.text([SIDE / 2 - (b[i] + b[i + 2]) / 2 + rng.randint(-3, 3) for i in (0, 1)], text, font=font, fill=ink)
    return style, im, dict(family=family, kind=kind, letters=str(len(text)), ground="dark" if dark else "bright",
                           px=third(px, [17, 26], ["small", "middle", "large"])), None


def digit_rows(w, rng):
    """Each digit with 600 for training; the others four times, each time in other conditions, which are a group."""
    from sklearn.datasets import load_digits
    x, y = load_digits(return_X_y=True)
    order = list(range(len(y)))
    rng.shuffle(order)
    parts = []
    for part, (first, end, times) in enumerate(((0, 600, 8), (600, 1200, 4), (1200, len(y), 4))):
        rare = .25 if part == 0 else 1
        rows = []
        for i in order[first:end]:
            for _ in range(times):
                one = lambda names, share: rng.choices(names, [1] + [share * rare] * (len(names) - 1))[0]
                a = dict(turn=one(["no", "left", "right"], .35), size=one(["full", "small"], .4),
                         ground=one(["dark", "bright"], .4), colour=one(["white", "red", "blue", "pale"], .4),
                         noise=one(["no", "grain", "blur"], .35),
                         shift=one(["no", "edge"], .35))
                rows.append((str(y[i]), digit(x[i], a, rng), a, f"digit {i}"))
        rng.shuffle(rows)
        parts.append(rows)
    return parts


def digit(x, a, rng):
    side = 24 if a["size"] == "small" else 40
    mask = Image.new("L", (SIDE, SIDE), 0)
    square = Image.fromarray(np.clip(x.reshape(8, 8) * 16, 0, 255).astype(np.uint8)).resize((side, side), Image.BILINEAR)
    far = 9 if a["shift"] == "edge" else 1
    mask.paste(square, [(SIDE - side) // 2 + rng.choice([-far, far]) for _ in range(2)])
    mask = mask.rotate({"no": 0, "left": 40, "right": -40}[a["turn"]] + rng.gauss(0, 5), Image.BILINEAR)
    ink = {"white": (240, 240, 240), "red": (220, 50, 40), "blue": (60, 90, 230), "pale": (150, 150, 140)}[a["colour"]]
    paper = (20, 20, 25) if a["ground"] == "dark" else (190, 190, 180)
    im = Image.composite(Image.new("RGB", mask.size, ink), Image.new("RGB", mask.size, paper), mask)
    if a["noise"] == "blur":
        im = im.filter(ImageFilter.GaussianBlur(2.5))
    return neutral.noise(im, rng, 50 if a["noise"] == "grain" else 5)


def make(root, name):
    import torch
    torch.set_num_threads(1)
    w = WORLDS[name]
    torch.manual_seed(w["seed"])
    rng = random.Random(w["seed"])
    if w["kind"] == "styles":
        fonts = styled_fonts(root)
        parts = [[style_row(rng, fonts) for _ in range(n)] for n in w["n"]]
    else:
        parts = icon_rows(root, w, rng) if w["kind"] == "icons" else digit_rows(w, rng)
    names = sorted({r[0] for r in parts[0]})
    y = [np.array([names.index(r[0]) for r in p]) for p in parts]
    body, head = neutral.train(neutral.as_tensor([r[1] for r in parts[0]]), torch.tensor(y[0]), len(names), w["epochs"])
    shutil.rmtree(f"{root}/{name}", ignore_errors=True)
    for part, tag in ((1, "test"), (2, "held")):
        to, rows = f"{root}/{name}/{tag}", parts[part]
        os.makedirs(f"{to}/images")
        e, p = neutral.look(body, head, [r[1] for r in rows])
        for what, a in (("e", e), ("p", p), ("y", y[part])):
            np.save(f"{to}/{what}.npy", a)
        columns = list(rows[0][2])
        with open(f"{to}/attributes.csv", "w", newline="") as f:
            csv.writer(f).writerows([["id", *columns]] + [[f"{i:05d}.png", *r[2].values()] for i, r in enumerate(rows)])
        with open(f"{to}/rows.csv", "w", newline="") as f:
            csv.writer(f).writerows([["id", "group"]] + [[f"{i:05d}.png", r[3] or ""] for i, r in enumerate(rows)])
        for i, r in enumerate(rows):
            r[1].save(f"{to}/images/{i:05d}.png")
        print(f"{name}: {len(e)} {tag} rows, {100 * (p.argmax(1) == y[part]).mean():.1f} % right", flush=True)


# ---- rows of slices ----

def picture_numbers(path):
    """The numbers of spotter/describe.h, as `discover` names them."""
    a = np.asarray(Image.open(path).convert("RGB")).astype(int)
    grey = (a @ [19595, 38470, 7471] + 0x8000) >> 16
    rg, yb = a[..., 0] - a[..., 1], (a[..., 0] + a[..., 1]) / 2 - a[..., 2]
    share = np.bincount(grey.ravel(), minlength=256) / grey.size
    edges = grey[1:-1, :-2] + grey[1:-1, 2:] + grey[:-2, 1:-1] + grey[2:, 1:-1] - 4 * grey[1:-1, 1:-1]
    return dict(brightness=grey.mean(), contrast=grey.std(), sharpness=edges.var(),
                colourfulness=np.sqrt(rg.var() + yb.var()) + .3 * np.hypot(rg.mean(), yb.mean()),
                entropy=-(share[share > 0] * np.log2(share[share > 0])).sum())


def load(where):
    y, p = np.load(f"{where}/y.npy"), np.load(f"{where}/p.npy")
    table = list(csv.DictReader(open(f"{where}/attributes.csv")))
    items = {f"{n}={v}": np.array([r[n] == v for r in table])
             for n in table[0] if n != "id" for v in sorted({r[n] for r in table})}
    files = sorted(glob.glob(f"{where}/images/*.png"))
    numbers = [picture_numbers(f) for f in files]
    group = [r["group"] for r in csv.DictReader(open(f"{where}/rows.csv"))]
    return dict(e=np.load(f"{where}/e.npy"), y=y, p=p, wrong=p.argmax(1) != y, items=items, group=np.array(group),
                number={k: np.array([n[k] for n in numbers]) for k in numbers[0]})


def holds(rows, item):
    """Rows that have an item; None: it is not known what it says."""
    if item.startswith("not "):
        inside = holds(rows, item[4:])
        return None if inside is None else ~inside
    if item in rows["items"]:
        return rows["items"][item]
    m = re.fullmatch(r"(\w+): \w+ \((.*)\)", item)
    if not m or m[1] not in rows["number"]:
        return np.zeros(len(rows["y"]), bool) if "=" in item else None
    v, n = rows["number"][m[1]], [float(x) for x in re.findall(r"-?[\d.]+(?:e[-+]?\d+)?", m[2])]
    if m[2].startswith("<="):
        return v <= n[0]
    if m[2].startswith(">"):
        return v > n[0]
    return (v > n[0]) & (v <= n[1])


def discover(spotter, where, out, *more):
    given = ["-e", f"{where}/test/e.npy", "-y", f"{where}/test/y.npy", "-p", f"{where}/test/p.npy", "--ids",
             f"{where}/test/rows.csv:id"]
    groups = any(r["group"] for r in csv.DictReader(open(f"{where}/test/rows.csv")))
    call = [spotter, "discover", *given, "--out", out, "--replace", "--no-report", *more]
    call += ["--groups", f"{where}/test/rows.csv:group"] if groups else []
    r = subprocess.run(call, capture_output=True, text=True)
    if r.returncode:
        sys.exit(r.stderr[-3000:])
    told = json.load(open(f"{out}/slices.json"))
    rows = {}
    for line in csv.DictReader(open(f"{out}/slices.csv")):
        rows.setdefault(int(line["number"]), []).append(int(line["id"].split(".")[0]))
    slices = [dict(s, cls=f["class_number"], test=np.array(rows.get(s["number"], []), int))
              for f in told["findings"] for s in f["slices"]]
    subprocess.run([spotter, "assign", out, "-e", f"{where}/held/e.npy", "-y", f"{where}/held/y.npy", "-p",
                    f"{where}/held/p.npy", "--attributes", f"{where}/held/attributes.csv:id", "--ids",
                    f"{where}/held/rows.csv:id", "--out", f"{out}/held.csv"], check=True, capture_output=True)
    held = {}
    for line in csv.DictReader(open(f"{out}/held.csv")):
        held.setdefault(int(line["number"]), []).append(int(line["id"].split(".")[0]))
    for s in slices:
        s["held"] = held.get(s["number"], [])
    return told, slices


def set_rows(slices, held):
    """The held-out rows of a slice as a mask; exact where the rule's items are known."""
    for s in slices:
        inside = np.zeros(len(held["y"]), bool)
        inside[s["held"]] = True
        items = [holds(held, i) for i in s.get("rule", {}).get("items", [])]
        s["exact"] = bool(items) and all(i is not None for i in items)
        if s["exact"]:
            inside = np.all(items, 0) & (True if s["cls"] is None else held["y"] == s["cls"])
        s["held"] = inside


# ---- the measure ----

def tail(inside, rows, cls):
    from scipy.stats import hypergeom
    y, w = rows["y"], rows["wrong"]
    if cls is not None:
        m = y == cls
        return float(hypergeom.sf(w[inside].sum() - 1, m.sum(), w[m].sum(), inside.sum()))
    mean = var = 0.
    for c in set(y):
        m = y == c
        n, k, t = m.sum(), w[m].sum(), (inside & m).sum()
        mean += t * k / n
        var += t * k / n * (1 - k / n) * (n - t) / max(1, n - 1)
    from scipy.stats import norm
    return float(norm.sf((w[inside].sum() - .5 - mean) / max(1e-9, np.sqrt(var))))


def told_beyond(masks, rows):
    """Points of the deviance beyond the class; share of errors and of rows inside, share of errors beyond each class's rate."""
    y, w = rows["y"], rows["wrong"]
    if not masks:
        return 0., 0., 0., 0.
    m = np.stack(masks, 1)
    more = neutral.explained(np.eye(rows["p"].shape[1])[y], m.astype(float), w)[1]
    inside = m.any(1)
    expected = sum(w[y == c].mean() * (inside & (y == c)).sum() for c in set(y))
    return 100 * more, 100 * w[inside].sum() / w.sum(), 100 * inside.mean(), 100 * (w[inside].sum() - expected) / w.sum()


def found_of(truth, slices, rows):
    w, found = rows["wrong"], 0
    for _, cls, _, inside in truth:
        wrong = inside & w
        for s in slices:
            mine = np.zeros(len(w), bool)
            mine[s["test"]] = True
            if s["cls"] is None:
                mine &= rows["y"] == cls
            elif s["cls"] != cls:
                continue
            if 2 * (mine & inside).sum() > mine.sum() and 4 * (mine & wrong).sum() >= wrong.sum():
                found += 1
                break
    return found


def rows_of(entry, by_number):
    """The held-out rows that an entry's figures are of: where its head is a rule, those of this rule."""
    own = [by_number[n] for n in entry["slices"] if n in by_number]
    items = own[0].get("rule", {}).get("items")
    return np.any([s["held"] for s in own if not items or s.get("rule", {}).get("items") == items], 0)


def report(world, name, told, slices, truth, test, held):
    confirmed = [s for s in slices if s["proof"]["claim"] == "confirmed"]
    set_rows(confirmed, held)
    by_number = {s["number"]: s for s in confirmed}
    entries = [e for e in told.get("entries", []) if e["claim"] == "confirmed"]
    listed = [e for e in entries if not e["folded"]]
    counted = [rows_of(e, by_number) for e in entries]
    of_slices = told_beyond([s["held"] for s in confirmed], held)
    of_entries = told_beyond([m for e, m in zip(entries, counted) if not e["folded"]][:MOST], held)
    of_all = told_beyond(counted, held)
    false = sum(tail(s["held"], held, s["cls"]) > .05 for s in confirmed)
    exact = [s for s in confirmed if s["exact"] and s["held"].any()]
    rate = [held["wrong"][s["held"]].mean() for s in exact]
    stated = [100 * (s["proof"]["wrong"] / s["proof"]["judged"] - r) for s, r in zip(exact, rate)]
    hoped = [100 * (s["proof"]["class_rate"] + s["proof"]["to_expect"] - r) for s, r in zip(exact, rate)]
    half = found_of(truth, confirmed, test)
    tell = lambda t: f"{t[0]:+.1f} | {t[1]:.0f} % in {t[2]:.0f} %, {t[3]:.0f} %"
    middle = lambda v: f"{np.median(v):+.1f}" if v else "-"
    print(f"| {world} | {name} | {len(confirmed)} | {tell(of_slices)} | {len(listed)} of {len(entries)} | {tell(of_entries)} | "
          f"{of_all[0]:+.1f} | {half} of {len(truth)} | {false} | {len(exact)}: {middle(stated)}, {middle(hoped)} |",
          flush=True)
    return confirmed, listed


def measure(root, spotter, world):
    at = f"{root}/{world}"
    test, held = load(f"{at}/test"), load(f"{at}/held")
    truth, tests = rules.weaknesses((test["y"], test["wrong"], test["items"]), (held["y"], held["wrong"], held["items"]))
    print(f"{world}: {len(test['y'])} rows, {100 * test['wrong'].mean():.1f} % wrong; {len(held['y'])} held out, "
          f"{100 * held['wrong'].mean():.1f} %; {len(truth)} weaknesses of {tests} conjunctions", flush=True)
    table, pictures = ["--attributes", f"{at}/test/attributes.csv:id"], ["--images", f"{at}/test/images"]
    for name, more in (("joinspot and Ward, each class", ["-m", "joinspot,ward", "--class", "each"]), ("default", []),
                       ("pictures", pictures), ("attributes", table), ("attributes and pictures", table + pictures)):
        report(world, name, *discover(spotter, at, f"{at}/found", *more), truth, test, held)


if __name__ == "__main__":
    if sys.argv[1] == "make":
        for world in sys.argv[3:]:
            make(sys.argv[2], world)
    else:
        print("| world | given | slices | beyond the class | errors in rows, excess | entries listed | the first 25, beyond | "
              "errors in rows, excess | all entries, beyond | weaknesses found | false | rules: stated, to expect |")
        for world in sys.argv[4:]:
            measure(*sys.argv[2:4], world)
