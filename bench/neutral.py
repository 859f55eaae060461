#!/usr/bin/env python3
"""bench/neutral.py make|measure SPOTTER DIR WORLD...: which features show errors that are no cell of the confusion matrix.

make     Trains a small network (PyTorch) for each world and writes its rows into DIR/WORLD: test_* and held_* (e features of
         the last layer, p probabilities, y classes; pictures in folders of these names), head.npy. Icons are those of the
         Debian packages named in WORLDS, unpacked (dpkg -x) below DIR/icons; glyphs are drawn with the fonts of
         /usr/share/fonts; digits are scikit-learn's, as arrays x and y in DIR/digits.npz.
measure  `spotter discover` on the test rows in several features; its confirmed slices are then asked on the held-out rows (a
         row belongs where most of its 5 nearest test rows of the slice's class do). Each held-out half is told by models that
         were fitted on the other (three divisions): how much of the deviance of the errors
           class        the class explains, and the slices more (a slice holds rows of its class)
           prediction   the predicted class with its confidence explains, and the slices more. Here membership does not look at
                        the true class, since true and predicted class together are the error.
         The slices are added behind the first model's logit (ridge 2). In brackets the 10 slices of most excess.

Its figures are in bench/studies/neutral.md."""
import csv
import glob
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys

import numpy as np
from PIL import Image, ImageDraw, ImageFont

SIDE = 48
CONTEXTS = ["actions", "apps", "devices", "mimetypes", "places", "status"]
WORLDS = {      # the first two were looked at to choose the parts of the neutral features
    "icons_a": dict(kind="icons", by="context", classes=CONTEXTS, cap=1300, n=(.36, .36), epochs=14, seed=1, themes=[
        "obsidian-icon-theme", "oxygen-icon-theme", "tango-icon-theme", "elementary-xfce-icon-theme"]),
    "glyphs_a": dict(kind="glyphs", plant=1, n=(4000, 3000, 3000), epochs=5, seed=2),
    "icons_b": dict(kind="icons", by="context", classes=CONTEXTS, cap=1500, n=(.36, .36), epochs=14, seed=3, themes=[
        "moka-icon-theme", "paper-icon-theme", "mate-icon-theme", "gnome-icon-theme", "faenza-icon-theme", "lxde-icon-theme"]),
    "icons_c": dict(kind="icons", by="theme", classes=["elementary", "oxygen", "faenza", "moka", "mate", "obsidian", "paper"],
                    cap=800, n=(1500, 2000), epochs=6, seed=4, themes=[
        "elementary-xfce-icon-theme", "oxygen-icon-theme", "faenza-icon-theme", "moka-icon-theme", "mate-icon-theme",
        "obsidian-icon-theme", "paper-icon-theme"]),
    "glyphs_b": dict(kind="glyphs", plant=2, n=(4000, 3000, 3000), epochs=5, seed=5),
    "shapes": dict(kind="shapes", n=(4000, 3000, 3000), epochs=6, seed=6),
    "digits": dict(kind="digits", n=(300, 700), epochs=12, seed=7),
}


# ---- pictures ----

def icons(root, w, rng):
    """Class, picture and path; one size of each icon of a theme, on white; no picture twice."""
    found = []
    for theme in w["themes"]:
        for folder, _, names in os.walk(f"{root}/{theme}"):
            context = [p for p in folder.split("/") if p in CONTEXTS + ["categories", "emblems"]]
            for name in sorted(names):
                path = os.path.join(folder, name)
                c = context and (context[-1] if w["by"] == "context" else theme.split("-")[0])
                if name.endswith(".png") and not os.path.islink(path) and c in w["classes"]:
                    found.append((c, path, theme))
    rng.shuffle(found)
    one, seen, count, out = {}, set(), {}, []
    for c, path, theme in found:
        one.setdefault((theme, c, os.path.basename(path)), (c, path))
    for c, path in one.values():
        try:
            icon = Image.open(path).convert("RGBA")
        except OSError:
            continue
        if count.get(c, 0) >= w["cap"] or icon.width != icon.height or not 16 <= icon.width <= 256:
            continue
        paper = Image.new("RGBA", icon.size, "white")
        paper.alpha_composite(icon)
        icon = paper.convert("RGB").resize((SIDE, SIDE), Image.BILINEAR)
        key = hashlib.md5(icon.tobytes()).digest()
        if key not in seen:
            seen.add(key)
            count[c] = count.get(c, 0) + 1
            out.append((c, icon, path))
    rng.shuffle(out)
    return out


def noise(im, rng, spread):
    a = np.asarray(im).astype(int) + np.random.RandomState(rng.randrange(1 << 30)).normal(0, spread, (SIDE, SIDE, 3))
    return Image.fromarray(np.clip(a, 0, 255).astype(np.uint8))


FONTS = sorted(p for kind in ("ttf", "otf") for p in glob.glob(f"/usr/share/fonts/**/*.{kind}", recursive=True))


def glyph(rng, train, plant):
    """A digit in some font. Rare in training, common afterwards: with plant 1 light on dark for 3 and 5, noise for 7, tilt for
    1; with 2 green paper for 0, small 4s, turned 6s and 9s, yellow noise for 2."""
    c, font = rng.randrange(10), ImageFont.truetype(rng.choice(FONTS), rng.randint(22, 36))
    dark, tilt, noisy = rng.random() < .5, rng.uniform(-20, 20), rng.random() < .3
    ink, paper = tuple(rng.randint(0, 110) for _ in range(3)), tuple(rng.randint(150, 255) for _ in range(3))
    rare = .02 if train else .3
    if plant == 1:
        bad = (c in (3, 5) and not dark) or (c == 7 and noisy)
        if train and bad and rng.random() < .97:
            dark, noisy = True, False
        if c == 1 and not train and rng.random() < .3:
            tilt = rng.uniform(55, 90)
    else:
        if c == 0 and rng.random() < rare:
            paper = (140, 220, 150)
        if c == 4 and rng.random() < rare:
            font = ImageFont.truetype(rng.choice(FONTS), 13)
        if c in (6, 9) and rng.random() < rare:
            tilt = rng.uniform(100, 260)
        if c == 2 and rng.random() < rare:
            noisy, ink = True, (230, 230, 80)
    if not dark:
        ink, paper = paper, ink
    im = Image.new("RGB", (SIDE, SIDE), paper)
    draw = ImageDraw.Draw(im)
    b = draw.textbbox((0, 0), str(c), font=font)
    at = [SIDE / 2 - (b[i] + b[i + 2]) / 2 + rng.randint(-4, 4) for i in (0, 1)]
    draw.text(at, str(c), font=font, fill=ink)
    im = im.rotate(tilt, fillcolor=paper)
    return str(c), noise(im, rng, 45) if noisy else im


def shape(rng, train):
    """Six shapes; blue circles, stars on yellow, black rings and squares on blue are rare in training."""
    c = rng.choice(["circle", "square", "triangle", "star", "cross", "ring"])
    ink = rng.choice(["red", "green", "blue", "orange", "purple", "black"])
    paper = rng.choice(["white", "lightgrey", "lightyellow", "lightblue"])
    rare = {("circle", "blue"), ("ring", "black"), ("star", "lightyellow"), ("square", "lightblue")} & {(c, ink), (c, paper)}
    if train and rare and rng.random() < .97:
        return shape(rng, train)
    im = Image.new("RGB", (2 * SIDE, 2 * SIDE), paper)
    draw = ImageDraw.Draw(im)
    for _ in range(rng.randint(0, 3)):
        draw.line([rng.randint(0, 2 * SIDE) for _ in range(4)], fill=rng.choice(["grey", "pink", "black"]),
                  width=rng.randint(1, 4))
    r = rng.randint(12, 34)
    x, y, turn = rng.randint(r, 95 - r), rng.randint(r, 95 - r), rng.uniform(0, 6.28)
    corners = {"square": (4, 1), "triangle": (3, 1), "star": (10, .45), "cross": (8, .35)}
    if c in corners:
        k, inner = corners[c]
        draw.polygon([(x + q * np.cos(turn + 2 * np.pi * i / k), y + q * np.sin(turn + 2 * np.pi * i / k))
                      for i in range(k) for q in [r * (inner if i % 2 else 1)]], fill=ink)
    elif c == "circle":
        draw.ellipse((x - r, y - r, x + r, y + r), fill=ink)
    else:
        draw.ellipse((x - r, y - r, x + r, y + r), outline=ink, width=max(3, r // 4))
    return c, noise(im.resize((SIDE, SIDE), Image.BILINEAR), rng, 25)


def parts_of(root, w):
    """Training, test and held-out pictures with the names of their classes."""
    rng = random.Random(w["seed"])
    if w["kind"] in ("glyphs", "shapes"):
        draw = (lambda t: glyph(rng, t, w["plant"])) if w["kind"] == "glyphs" else (lambda t: shape(rng, t))
        return [[draw(part == 0) for _ in range(n)] for part, n in enumerate(w["n"])]
    if w["kind"] == "icons":
        rows = [row[:2] for row in icons(f"{root}/icons", w, rng)]
    else:
        d = np.load(f"{root}/digits.npz")
        squares = [Image.fromarray(np.clip(x.reshape(8, 8) * 16, 0, 255).astype(np.uint8)) for x in d["x"]]
        rows = [(str(y), im.resize((SIDE, SIDE), Image.BILINEAR).convert("RGB")) for im, y in zip(squares, d["y"])]
        rng.shuffle(rows)
    a, b = [int(n * len(rows)) if n < 1 else n for n in w["n"]]
    return rows[:a], rows[a:a + b], rows[a + b:]


# ---- the classifier ----

def as_tensor(pictures):
    import torch
    return torch.tensor(np.stack([np.asarray(im) for im in pictures])).permute(0, 3, 1, 2).float() / 127.5 - 1


def train(x, y, classes, epochs):
    """A network up to its last layer, whose output is the mean over places, and that layer."""
    import torch
    from torch import nn
    from torch.nn import functional
    layers, wide = [], 3
    for out in (16, 32, 64):
        for stride in (2, 1):
            layers += [nn.Conv2d(wide, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out), nn.ReLU()]
            wide = out
    body, head = nn.Sequential(*layers), nn.Linear(wide, classes)
    optimiser = torch.optim.AdamW([*body.parameters(), *head.parameters()], 3e-3, weight_decay=.01)
    rate = torch.optim.lr_scheduler.OneCycleLR(optimiser, 4e-3, total_steps=epochs * (len(x) // 64 + 1))
    for _ in range(epochs):
        for i in torch.randperm(len(x)).split(64):
            if len(i) < 8:
                continue
            loss = functional.cross_entropy(head(body(x[i]).mean((2, 3))), y[i])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            rate.step()
    body.eval()
    return body, head


def look(body, head, pictures):
    """Features and probabilities of all classes."""
    import torch
    with torch.no_grad():
        e = torch.cat([body(b).mean((2, 3)) for b in as_tensor(pictures).split(256)])
        return e.numpy(), torch.softmax(head(e), 1).numpy()


def make(root, name):
    import torch
    torch.set_num_threads(1)
    w = WORLDS[name]
    torch.manual_seed(w["seed"])
    parts = parts_of(root, w)
    names = sorted({c for c, _ in parts[0]})
    y = [np.array([names.index(c) for c, _ in p]) for p in parts]
    body, head = train(as_tensor([im for _, im in parts[0]]), torch.tensor(y[0]), len(names), w["epochs"])
    out = f"{root}/{name}"
    shutil.rmtree(out, ignore_errors=True)
    for part, tag in ((1, "test"), (2, "held")):
        os.makedirs(f"{out}/{tag}")
        e, p = look(body, head, [im for _, im in parts[part]])
        for what, a in (("e", e), ("p", p), ("y", y[part])):
            np.save(f"{out}/{tag}_{what}.npy", a)
        for k, (_, im) in enumerate(parts[part]):
            im.save(f"{out}/{tag}/{k:05d}.png")
        print(f"{name}: {len(e)} {tag} rows, {100 * (p.argmax(1) == y[part]).mean():.1f} % right", flush=True)
    np.save(f"{out}/head.npy", head.weight.detach().numpy())


# ---- the measure ----

def discover(spotter, folder, e, y, p, level=.05):
    """The confirmed slices, and how much the features decide."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name, a in (("e", e.astype("f4")), ("y", y.astype("i4")), ("p", p.astype("f4"))):
        np.save(f"{folder}/{name}.npy", a)
    subprocess.run([spotter, "discover", "-e", f"{folder}/e.npy", "-y", f"{folder}/y.npy", "-p", f"{folder}/p.npy", "--out",
                    f"{folder}/found", "--no-report", "--level", str(level)], check=True, capture_output=True)
    members, j = {}, json.load(open(f"{folder}/found/slices.json"))
    for row in csv.DictReader(open(f"{folder}/found/slices.csv")):
        members.setdefault(int(row["number"]), []).append(int(row["id"]))
    return [dict(cls=f["class_number"], rows=members[s["number"]], weight=s["size"] * (s["proof"]["to_expect"] or 0))
            for f in j["findings"] for s in f["slices"] if s["proof"]["claim"] == "confirmed"], j["features"]["wrong_told"]


def membership(slices, known, cls, new, k=5):
    """(new, slices): most of the nearest known rows of the slice's class are in it."""
    m, near = np.zeros((len(new), len(slices)), bool), {}
    for i, s in enumerate(slices):
        rows = np.flatnonzero(cls == s["cls"])
        if s["cls"] not in near:
            far = (new**2).sum(1)[:, None] - 2 * new @ known[rows].T + (known[rows]**2).sum(1)
            near[s["cls"]] = np.argsort(far, 1)[:, :k]
        inside = np.isin(rows, s["rows"])
        m[:, i] = 2 * inside[near[s["cls"]]].sum(1) > k
    return m


def behind(s, offset, y, ridge=2.0):
    b = np.zeros(s.shape[1])
    for _ in range(30):
        q = 1 / (1 + np.exp(-(offset + s @ b)))
        step = np.linalg.solve((s * (q * (1 - q))[:, None]).T @ s + ridge * np.eye(len(b)), s.T @ (y - q) - ridge * b)
        b += step
    return b


def explained(x, s, wrong):
    """Shares of the deviance: of a model of x, and what the slices add."""
    from sklearn.linear_model import LogisticRegression
    d = np.zeros(3)
    for turn in range(3):
        order = np.random.RandomState(turn).permutation(len(wrong))
        for a, b in ((order[::2], order[1::2]), (order[1::2], order[::2])):
            model = LogisticRegression(max_iter=3000).fit(x[a], wrong[a])
            base = np.log(wrong[a].mean() / (1 - wrong[a].mean()))
            fitted, told = model.decision_function(x[a]), model.decision_function(x[b])
            more = s[b] @ behind(s[a], fitted, wrong[a].astype(float))
            d += [np.logaddexp(0, np.where(wrong[b], -o, o)).sum() for o in (np.full(len(b), base), told, told + more)]
    return 1 - d[1] / d[0], (d[1] - d[2]) / d[0]


def show(world, features, rows, slices, m, told, group=None):
    """group: the class of the slices; None: the true class."""
    y, p = rows["y"], rows["p"]
    answer, wrong, group = p.argmax(1), p.argmax(1) != y, y if group is None else group
    sure = np.log(np.clip(p.max(1), 1e-6, 1 - 1e-6) / np.clip(1 - p.max(1), 1e-6, 1))
    one = np.eye(p.shape[1])
    own = (m & (np.array([s["cls"] for s in slices], int) == group[:, None])).astype(float)
    blind = own if group is answer else m.astype(float)
    prediction = np.c_[one[answer], sure, one[answer] * sure[:, None]]
    best = np.argsort([-s["weight"] for s in slices])[:10]
    numbers = []
    for x, s in ((one[group], own), (prediction, blind)):
        numbers.append((*explained(x, s, wrong), explained(x, s[:, best], wrong)[1]))
    inside = own.any(1)
    expected = sum(wrong[y == c].mean() * (inside & (y == c)).sum() for c in set(y))
    print(f"| {world} | {features} | {len(slices)} | "
          + " | ".join(f"{100 * a:.1f}, {100 * b:+.1f} ({100 * c:+.1f})" for a, b, c in numbers)
          + f" | {100 * wrong[inside].sum() / wrong.sum():.0f} % in {100 * inside.mean():.0f} % "
          f"| {100 * (wrong[inside].sum() - expected) / wrong.sum():.0f} % | {'' if told is None else f'{100 * told:.0f} %'} |",
          flush=True)


def joined(*sources):
    scales = [np.sqrt(test.var(0).sum()) for test, _ in sources]
    return [np.concatenate([s[k] / scale for s, scale in zip(sources, scales)], 1) for k in (0, 1)]


def measure(spotter, root, world):
    at, run = f"{root}/{world}", f"{root}/{world}/run"
    rows = {t: {k: np.load(f"{at}/{t}_{k}.npy") for k in "epy"} for t in ("test", "held")}
    for t in rows:
        subprocess.run([spotter, "embed", "--model", "neutral", "--images", f"{at}/{t}", "--out", f"{at}/{t}_n.npy",
                        "--replace"], check=True, capture_output=True)
        rows[t]["n"] = np.load(f"{at}/{t}_n.npy")
    test, held = rows["test"], rows["held"]
    own, neutral = [[r[k] for r in (test, held)] for k in "en"]
    head = np.load(f"{at}/head.npy")
    q = np.linalg.qr((head - head.mean(0)).T)[0][:, :len(head) - 1]
    less = [e - e @ q @ q.T for e in own]
    for name, (a, b) in (("own", own), ("neutral", neutral), ("own and neutral joined", joined(own, neutral)),
                         ("own less the head's directions", less), ("the same and neutral joined", joined(less, neutral))):
        slices, told = discover(spotter, run, a, test["y"], test["p"])
        show(world, name, held, slices, membership(slices, a, test["y"], b), told)
    found, members = [], []
    for a, b in (own, neutral):
        slices, _ = discover(spotter, run, a, test["y"], test["p"], .025)
        found += slices
        members.append(membership(slices, a, test["y"], b))
    show(world, "own and neutral, two searches", held, found, np.concatenate(members, 1), None)
    answer = {t: r["p"].argmax(1) for t, r in rows.items()}
    sure = .49 * test["p"].max(1)
    for name, (a, b) in (("own", own), ("neutral", neutral)):
        confidence = np.where(answer["test"] == test["y"], .5 + sure, .5 - sure)
        slices, told = discover(spotter, run, a, answer["test"], confidence)
        show(world, f"{name}, by predicted class", held, slices, membership(slices, a, answer["test"], b), told, answer["held"])


if __name__ == "__main__":
    print("| world | features | slices | class, slices (10) | prediction, slices (10) | errors in rows | excess | told |")
    for world in sys.argv[4:]:
        make(sys.argv[3], world) if sys.argv[1] == "make" else measure(sys.argv[2], sys.argv[3], world)
