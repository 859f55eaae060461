#!/usr/bin/env python3
"""bench/retrains.py draw|data|train|list DIR WORLD [N]: versions of small classifiers, for bench/version_gates.py.

draw     Draws icons of Debian's themes in SVG, unpacked (dpkg -x) below DIR/svg_of, to PNG below DIR/icons_of, with
         rsvg-convert (librsvg2-bin): of each theme and context 260 names, half of their sizes.
data     Writes the rows of a world below DIR/WORLD: labels.npy (n), attributes.csv, groups.npy (n), images/ of the held-out
         rows, data.npz with the training rows. Worlds:
           icons   icons of Debian's themes, unpacked (dpkg -x) below DIR/icons_of; the class is the freedesktop context
           scenes  drawings of a shape in one of six hues on a scene; the attributes are what was drawn
train    Trains what is missing of DIR/WORLD/runs, one process a call; several processes may share a folder. A run has
         p.npy (n, classes), e.npy (n, features of the last layer) and meta.json. Kinds of runs:
           equal_00 ...    20 trainings, other seeds only
           planted_00 ...  44 trainings; a rule (a class and an attribute) of which 5 to 250 training rows got another
                          label: the first 20 a drawn number of its rows, the others all of them, 250 at most
           prior_00 ...    6 trainings; half of the training rows of a class left out
         N: only runs whose name begins with it.
list     Kinds, accuracies and the planted rules.

A planted improvement needs no training: the planted run is version 1, an equal one version 2. Training needs PyTorch. Equal
options give equal runs on one machine."""
import csv
import hashlib
import json
import os
import random
import subprocess
import sys
import time

import numpy as np
from PIL import Image, ImageColor, ImageDraw

SIDE = 32
CAP, TRAINED = 2600, .55                    # icons of a context; share of the icons that are trained on
EQUAL, PLANTED, DRAWN, PRIOR = 20, 44, 20, 6     # of the planted ones that many relabel a drawn share of the rule, the rest all
LEAST, MOST = 5, 250                        # training rows that a planted rule relabels
SEEN = 60                                   # held-out rows that a rule must have to be planted
EPOCHS = {"icons": 6, "scenes": 4}
WIDTHS = {"icons": (16, 32, 48), "scenes": (8, 16, 32)}
CONTEXTS = ["actions", "apps", "devices", "mimetypes", "places", "status"]
HUES = ["red", "yellow", "green", "cyan", "blue", "magenta"]


# ---- icons ----

def draw(root):
    rng = random.Random(3)
    for theme in sorted(os.listdir(f"{root}/svg_of")):
        found = {c: [] for c in CONTEXTS}
        for folder, _, names in sorted(os.walk(f"{root}/svg_of/{theme}")):
            context = [p for p in folder.split("/") if p in CONTEXTS]
            paths = [os.path.join(folder, n) for n in sorted(names) if n.endswith(".svg")]
            if context:
                found[context[-1]] += [p for p in paths if not os.path.islink(p)]
        for paths in found.values():
            names = sorted({os.path.basename(p) for p in paths})
            rng.shuffle(names)
            some = [p for p in paths if os.path.basename(p) in set(names[:260]) and rng.random() <= .5]
            for path in some[:450]:
                out = f"{root}/icons_of/{os.path.relpath(path, f'{root}/svg_of')[:-4]}.png"
                sizes = [int(p.split("x")[0]) for p in out.split("/") if p.split("x")[0].isdigit()]
                side = str(min(max(sizes[0] if sizes else 48, 16), 64))
                os.makedirs(os.path.dirname(out), exist_ok=True)
                subprocess.run(["rsvg-convert", "-w", side, "-h", side, path, "-o", out], capture_output=True)


def of_three(x, limits, words):
    return words[int(x >= limits[0]) + int(x >= limits[1])]


def look(icon, theme, name):
    """Attributes of an icon with alpha."""
    a = np.asarray(icon.resize((SIDE, SIDE), Image.BILINEAR)).astype(float) / 255
    ink, rgb = a[..., 3], a[..., :3]
    weight = ink.sum() + 1e-9
    vivid = ((rgb.max(2) - rgb.min(2)) * ink).sum() / weight
    light = (rgb.mean(2) * ink).sum() / weight
    px = "16" if icon.width < 20 else "24" if icon.width < 30 else "48" if icon.width < 60 else "big"
    return dict(theme=theme.split("-")[0], px=px, symbolic="yes" if "symbolic" in name else "no",
                colour=of_three(vivid, (.06, .25), ("grey", "pale", "colourful")),
                light=of_three(light, (.35, .6), ("dark", "middle", "light")),
                ink=of_three(ink.mean(), (.3, .6), ("thin", "half", "full")))


def icons(root):
    """An icon of a theme in up to four sizes, on white; no picture twice. A name stays whole: its rows are one group, and all
    are trained on or held out."""
    found, rng = [], random.Random(1)
    for folder, _, names in sorted(os.walk(f"{root}/icons_of")):
        context = [p for p in folder.split("/") if p in CONTEXTS + ["categories", "emblems"]]
        if context and context[-1] in CONTEXTS:
            theme = os.path.relpath(folder, f"{root}/icons_of").split("/")[0]
            found += [(theme, context[-1], n, os.path.join(folder, n)) for n in sorted(names) if n.endswith(".png")]
    rng.shuffle(found)
    taken, seen, count, rows = set(), set(), {}, []
    for theme, context, name, path in found:
        if count.get(context, 0) >= CAP or os.path.islink(path):
            continue
        try:
            icon = Image.open(path).convert("RGBA")
        except OSError:
            continue
        if icon.width != icon.height or not 16 <= icon.width <= 256:
            continue
        shown = look(icon, theme, name)
        if (theme, context, name, shown["px"]) in taken:
            continue
        taken.add((theme, context, name, shown["px"]))
        paper = Image.new("RGBA", icon.size, "white")
        paper.alpha_composite(icon)
        picture = np.asarray(paper.convert("RGB").resize((SIDE, SIDE), Image.BILINEAR))
        key = hashlib.md5(picture.tobytes()).digest()
        if key not in seen:
            seen.add(key)
            count[context] = count.get(context, 0) + 1
            rows.append((CONTEXTS.index(context), picture, shown, name.rsplit(".", 1)[0]))
    order = sorted({r[3] for r in rows})
    rng.shuffle(order)
    place = {name: i for i, name in enumerate(order)}
    rows.sort(key=lambda r: place[r[3]])
    part = next(i for i in range(int(TRAINED * len(rows)), len(rows)) if rows[i][3] != rows[i - 1][3])
    first, last = rows[:part], rows[part:]
    rng.shuffle(first)
    rng.shuffle(last)
    return first, last


# ---- scenes ----

def scene(r):
    """A shape on a background with lines; its class is the hue, which is drawn around the class's own, so that no network can
    tell all. Class, picture of 32 pixels, attributes."""
    pick = lambda *a: a[r.integers(len(a))]     # noqa: E731
    c, hue, shape = int(r.integers(6)), r.normal(0, 20), pick("circle", "cross", "ring", "square", "star", "triangle")
    paper, size = pick("white", "lightgrey", "lightyellow", "lightblue"), pick("small", "middle", "large")
    lines, noise = pick("none", "few", "many"), pick("no", "no", "yes")
    ink = ImageColor.getrgb(f"hsv({(60 * c + hue) % 360:.0f},{r.integers(40, 95)}%,{r.integers(50, 95)}%)")
    side, s = 64, {"small": 8, "middle": 13, "large": 20}[size]
    im = Image.new("RGB", (side, side), paper)
    draw = ImageDraw.Draw(im)
    for _ in range({"none": 0, "few": 3, "many": 7}[lines]):
        draw.line([int(v) for v in r.integers(0, side, 4)], fill=pick("grey", "pink", "black"), width=int(r.integers(1, 4)))
    x, y, turn = r.integers(s, side - s), r.integers(s, side - s), r.uniform(0, 6.28)
    corners = {"square": (4, 1), "triangle": (3, 1), "star": (10, .45), "cross": (8, .35)}
    if shape in corners:
        k, inner = corners[shape]
        draw.polygon([(x + q * np.cos(turn + 6.2832 * i / k), y + q * np.sin(turn + 6.2832 * i / k))
                      for i in range(k) for q in [s * (inner if i % 2 else 1)]], fill=ink)
    elif shape == "circle":
        draw.ellipse((x - s, y - s, x + s, y + s), fill=ink)
    else:
        draw.ellipse((x - s, y - s, x + s, y + s), outline=ink, width=max(3, s // 4))
    a = np.asarray(im.resize((SIDE, SIDE), Image.BILINEAR)).astype(float) + r.normal(0, 40 if noise == "yes" else 12,
                                                                                     (SIDE, SIDE, 3))
    return c, np.clip(a, 0, 255).astype(np.uint8), dict(shape=shape, paper=paper, size=size, lines=lines, noise=noise)


def scenes(_):
    """Each scene alone: no row belongs to another."""
    rows = [(*scene(np.random.default_rng([3, i])), str(i)) for i in range(10000)]
    return rows[:5000], rows[5000:]


WORLDS = {"icons": (icons, CONTEXTS), "scenes": (scenes, HUES)}


# ---- the rows ----

def data(root, world):
    make, classes = WORLDS[world]
    at, (first, last) = f"{root}/{world}", make(root)
    n, rows = len(first), first + last
    x, y = np.stack([r[1] for r in rows]), np.array([r[0] for r in rows], np.int32)
    names = list(rows[0][2])
    os.makedirs(f"{at}/images", exist_ok=True)
    _, group = np.unique([r[3] for r in rows[n:]], return_inverse=True)
    np.save(f"{at}/labels.npy", y[n:])
    np.save(f"{at}/groups.npy", group.astype(np.int32))
    with open(f"{at}/attributes.csv", "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(names)
        w.writerows([[r[2][k] for k in names] for r in rows[n:]])
    for i, r in enumerate(rows[n:]):
        Image.fromarray(r[1]).save(f"{at}/images/{i:05d}.png")
    table = np.array([[r[2][k] for k in names] for r in rows])
    np.savez(f"{at}/data.npz", x=x, y=y, n=n, names=names, table=table, classes=classes)
    print(f"{world}: {n} training rows, {len(x) - n} held out, classes {np.bincount(y[n:]).tolist()}, "
          f"{group.max() + 1} groups", flush=True)


def rules_of(d):
    """(class, attribute, value) that enough rows have."""
    y, n, found = d["y"], int(d["n"]), []
    for c in range(len(d["classes"])):
        for k, name in enumerate(d["names"]):
            for value in sorted(set(d["table"][:, k])):
                inside = (y == c) & (d["table"][:, k] == value)
                share = inside[n:].sum() / (y[n:] == c).sum()
                if inside[:n].sum() >= 2 * LEAST and inside[n:].sum() >= SEEN and share < .7:
                    found.append((c, str(name), str(value), np.flatnonzero(inside[:n])))
    return found


def plan(d, kind, number):
    """Training labels, the rows that are trained on, and what was planted."""
    y, n = d["y"][:int(d["n"])].copy(), int(d["n"])
    rows, r = np.arange(n), np.random.default_rng([11, number])
    if kind == "planted":
        rules = rules_of(d)
        c, name, value, inside = rules[r.integers(len(rules))]
        k = min(MOST, len(inside))
        if number < DRAWN:
            k = int(round(np.exp(r.uniform(np.log(LEAST), np.log(k)))))
        other = int((c + 1 + r.integers(len(d["classes"]) - 1)) % len(d["classes"]))
        y[r.choice(inside, k, False)] = other
        return y, rows, dict(cls=c, attribute=name, value=value, relabelled=k, of=len(inside), other=other)
    if kind == "prior":
        c = number % len(d["classes"])
        rows = np.setdiff1d(rows, r.permutation(np.flatnonzero(y == c))[::2])
        return y, rows, dict(cls=c, left_out=n - len(rows))
    return y, rows, {}


# ---- the classifier ----

def fit(x, y, classes, epochs, widths, seed):
    import torch
    from torch import nn
    from torch.nn import functional
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    layers, wide = [], 3
    for out, side, stride in zip(widths, (6, 3, 3), (4, 2, 1)):
        layers += [nn.Conv2d(wide, out, side, stride, 1, bias=False), nn.BatchNorm2d(out), nn.ReLU()]
        wide = out
    body, head = nn.Sequential(*layers), nn.Linear(wide, classes)
    steps = epochs * len(torch.arange(len(x)).split(64))
    optimiser = torch.optim.AdamW([*body.parameters(), *head.parameters()], 8e-3, weight_decay=.01)
    rate = torch.optim.lr_scheduler.OneCycleLR(optimiser, 8e-3, total_steps=steps)
    for _ in range(epochs):
        for i in torch.randperm(len(x)).split(64):
            shift = torch.randint(-2, 3, (2,)).tolist()
            if len(i) > 7:
                loss = functional.cross_entropy(head(body(x[i].roll(shift, (2, 3))).mean((2, 3))), y[i])
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
            rate.step()
    body.eval()

    def answer(z):
        with torch.no_grad():
            e = torch.cat([body(b).mean((2, 3)) for b in z.split(256)])
            return functional.softmax(head(e), 1).numpy(), e.numpy()
    return answer


def train(root, world, only):
    import torch
    at, d = f"{root}/{world}", dict(np.load(f"{root}/{world}/data.npz"))
    n = int(d["n"])
    x = torch.tensor(d["x"]).permute(0, 3, 1, 2).float() / 127.5 - 1
    for kind, count, seed in (("equal", EQUAL, 1), ("planted", PLANTED, 1001), ("prior", PRIOR, 2001)):
        for number in range(count):
            name = f"{kind}_{number:02d}"
            out = f"{at}/runs/{name}"
            if not name.startswith(only) or os.path.exists(f"{out}/meta.json"):
                continue
            try:
                os.makedirs(out)            # who makes the folder trains; a folder without meta.json is one that was killed
            except FileExistsError:
                continue
            y, rows, planted = plan(d, kind, number)
            started, used = time.time(), time.process_time()
            p, e = fit(x[rows], torch.tensor(y[rows]).long(), len(d["classes"]), EPOCHS[world], WIDTHS[world],
                       seed + number)(x[n:])
            np.save(f"{out}/p.npy", p.astype(np.float32))
            np.save(f"{out}/e.npy", e.astype(np.float32))
            right = float((p.argmax(1) == d["y"][n:]).mean())
            meta = dict(kind=kind, seed=seed + number, right=round(right, 4), seconds=round(time.time() - started, 1),
                        cpu=round(time.process_time() - used, 1), **planted)
            json.dump(meta, open(f"{out}/meta.part", "w"))
            os.rename(f"{out}/meta.part", f"{out}/meta.json")
            print(world, name, meta, flush=True)


def show(root, world, only):
    for name in sorted(os.listdir(f"{root}/{world}/runs")):
        path = f"{root}/{world}/runs/{name}/meta.json"
        if name.startswith(only) and os.path.exists(path):
            print(name, json.load(open(path)))


if __name__ == "__main__":
    what, root, world = sys.argv[1:4]
    only = sys.argv[4] if len(sys.argv) > 4 else ""
    if what in ("draw", "data"):
        draw(root) if what == "draw" else data(root, world)
    else:
        (train if what == "train" else show)(root, world, only)
