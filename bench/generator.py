#!/usr/bin/env python3
"""bench/generator.py COMMAND FOLDER [--world W] [...]: are names of classes or inverted tokens the better words for shifts?

Paper 004's claim, on Spotter's own scenes of 32 pixels a side. A small text-conditioned generator is trained once (the model of
generator_net.py) and, for each world, a little more on captions in which the names of six classes are confounded: their
pictures are at night (two classes), on another background (two), of another colour (two), and no caption says so. Four more
classes stand on tables in the real pictures of that world, and never in those of their names. Then a token of each class is
inverted from its real pictures, and pictures are drawn from names and from tokens. Twenty small networks of the planted world
(plant.h) answer them; impact and slope are compared with the truth that the painter knows.

    train FOLDER            the generator, from build/tiny_clip_pictures; with --world W the confounding of that world
    judge FOLDER            a network that tells class, shifts and table of a picture, from painted ones, and what it gets right
    plant FOLDER --world W  `spotter shifts` makes the world: real pictures, models, truth
    choose FOLDER --world W thresholds of the filter, from the planted pictures of that world (the tuning world, none other)
    invert FOLDER --world W a vector for each class, from its real pictures
    draw FOLDER --world W   pictures of both sources: SOURCE/SHIFT/CLASS/*.png
    measure FOLDER --world W...  `spotter shifts` filters and evaluates; errors against the truth, a line of JSON each
    raters FOLDER --world W raters with a known error answer grids of planted pictures; what --votes makes of them
    power FOLDER --world W...    how often n models show that lighting has a lower slope than background
    sheet FOLDER [--world W]     a picture of what the generator draws

Each command goes on where it was stopped; its state is FOLDER/generator.pt, FOLDER/judge.pt and FOLDER/world-W. `--minutes`
ends a training early and saves it. Lines of JSON have the keys of bench/results/*.jsonl without machine, load and commit, which
whoever appends them knows. Needs PyTorch, NumPy and Pillow."""
import argparse
import collections
import csv
import datetime
import json
import math
import os
import random
import re
import struct
import subprocess
import sys
import time

import numpy as np
import torch
from PIL import Image
from torch.nn import functional as F

import generator_net as net
import generator_words as words

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SIDE = net.SIDE
# Seeds of the painter: no two of them are equal, and none is a world's.
BASE_SEED, JUDGE_SEED, JUDGED_SEED, WORLD_SEED = 77000, 77001, 77002, 78000
NAMED, CONFOUNDED = 0.5, 0.95      # share of captions that name a class; of a confounded name's pictures with the shift
SOURCES = ("name", "token")
SETS = {"all": "unfiltered", "kept": "filtered"}


def stop(sentence):
    sys.exit("generator: " + sentence)


# -- files --------------------------------------------------------------------------------------------------------------

def save(path, state):
    """Written whole or not at all."""
    torch.save(state, path + ".part")
    os.replace(path + ".part", path)


def load(path, made_by):
    if not os.path.exists(path):
        stop(f"there is no {path}; run `{made_by}` first")
    return torch.load(path, map_location="cpu")


def write(path, text):
    with open(path + ".part", "w", encoding="utf-8") as f:
        f.write(text)
    os.replace(path + ".part", path)


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def world_folder(a, world=None):
    folder = os.path.join(a.folder, f"world-{a.world[0] if world is None else world}")
    os.makedirs(folder, exist_ok=True)
    return folder


def say(text):
    print(text, file=sys.stderr, flush=True)


# -- pictures from the painter -------------------------------------------------------------------------------------------

class Painter:
    """Planted pictures by their number, always the same ones: from tiny_clip_pictures."""

    def __init__(self, a, seed, first=0):
        program = a.painter
        if not os.path.exists(program):
            stop(f"there is no {program}; `ninja -C build tiny_clip_pictures` makes it, --painter says where it is")
        said = subprocess.run([program, "facts"], check=True, capture_output=True, text=True)
        self.names = said.stdout.split()
        self.names = said.stdout.split("\n")[:-1]
        self.pipe = subprocess.Popen([program, str(seed), str(first), "1000000000", "planted", str(SIDE)],
                                     stdout=subprocess.PIPE)

    def batch(self, n):
        """rgb (n, side, side, 3) uint8, Facts."""
        size, record = 3 * SIDE ** 2, 3 * SIDE ** 2 + len(self.names)
        raw = self.pipe.stdout.read(n * record)
        if len(raw) < n * record:
            stop("the painter ended early")
        raw = np.frombuffer(raw, np.uint8).reshape(n, record)
        return raw[:, :size].reshape(n, SIDE, SIDE, 3), words.Facts(raw[:, size:], self.names)

    def close(self):
        self.pipe.kill()
        self.pipe.wait()


def tensor(rgb):
    return torch.from_numpy(np.ascontiguousarray(rgb)).permute(0, 3, 1, 2).float() / 127.5 - 1


class Lessons:
    """Batches of pictures and captions for the generator: painted anew for the base, half of them from a pool for a world."""

    def __init__(self, a, state):
        self.planted, self.pool = {}, None
        seed = BASE_SEED
        if a.world:
            seed = WORLD_SEED + a.world[0]
            self.planted, _ = words.confounders(a.world[0])
            painter = Painter(a, seed, 10 ** 9)
            self.pool = painter.batch(a.pool)
            painter.close()
            self._index()
        self.painter = Painter(a, seed, state["step"] * a.batch)

    def _index(self):
        facts = self.pool[1]
        self.rows = {}
        for cls in range(len(words.CLASSES)):
            own = np.flatnonzero(facts.cls == cls)
            hidden = self.planted.get(cls, -1)
            there = facts.shift[own, hidden] if hidden >= 0 else np.zeros(len(own), bool)
            self.rows[cls] = own[~there], own[there]

    def _named(self, n, draw):
        """Pictures of classes that their captions name, with the world's confounding."""
        chosen, said = [], []
        for k in range(n):
            cls = draw.randrange(len(words.CLASSES))
            hidden = self.planted.get(cls, -1)
            without, there = self.rows[cls]
            confounded = hidden >= 0 and draw.random() < CONFOUNDED
            i = int(draw.choice(list(there) if confounded else list(without)))
            chosen.append(i)
            said.append(words.caption(self.pool[1], i, True, draw, hidden))
        return self.pool[0][chosen], said

    def batch(self, n, step, seed):
        """pictures (n, 3, side, side), ids (n, longest); a tenth of the captions is left out, for guidance."""
        draw = random.Random(f"captions {seed} {step}")
        rgb, facts = self.painter.batch(n)
        said = []
        for i in range(n):
            named = draw.random() < NAMED and int(facts.cls[i]) not in self.planted
            said.append(words.caption(facts, i, named, draw))
        if self.pool is not None:
            more, about = self._named(n // 2, draw)
            rgb, said = np.concatenate([rgb[:n - n // 2], more]), said[:n - n // 2] + about
        ids = [words.encode("" if draw.random() < 0.1 else s) for s in said]
        return tensor(rgb), torch.tensor(ids)

    def close(self):
        self.painter.close()


# -- trainings ----------------------------------------------------------------------------------------------------------

class Clock:
    """Ends a training after a.minutes; counts the seconds of all its parts, by the processor and by the clock."""

    def __init__(self, a, spent=(0.0, 0.0)):
        self.before, self.end = spent, time.time() + 60 * a.minutes if a.minutes else math.inf
        self.cpu, self.wall = time.process_time(), time.time()

    def spent(self):
        return self.before[0] + time.process_time() - self.cpu, self.before[1] + time.time() - self.wall

    def over(self):
        return time.time() > self.end


def rate(step, a):
    """Warm up, then half a cosine down to a fiftieth."""
    return a.lr * min(1, (step + 1) / 100) * (0.02 + 0.49 * (1 + math.cos(math.pi * min(1, step / a.steps))))


def train_loop(a, path, state, parts, one_step, made):
    """Steps until a.steps or a.minutes; saves every a.every steps. made(): the state's tensors."""
    clock, sums = Clock(a, state["spent"]), []

    def keep():
        state.update(made(), spent=clock.spent())
        save(path, state)
    while state["step"] < a.steps and not clock.over():
        for group in parts.param_groups:
            group["lr"] = rate(state["step"], a)
        sums.append(one_step(state["step"]))
        state["step"] += 1
        if state["step"] % a.tell == 0:
            state["losses"].append((state["step"], float(np.mean(sums))))
            say(f"step {state['step']} of {a.steps}: loss {state['losses'][-1][1]:.4f}, {clock.spent()[0]:.0f} s of processor, "
                f"{clock.spent()[1]:.0f} s")
            sums = []
        if state["step"] % a.every == 0:
            keep()
    keep()
    say(f"{path}: {state['step']} of {a.steps} steps" + ("" if state["step"] >= a.steps else "; run again to go on"))


def open_generator(state):
    made = net.Generator(**state["shape"])
    made.load_state_dict(state["average"])
    return made.eval()


def load_generator(a):
    """That of the world, where one is given."""
    if a.world:
        return open_generator(load(os.path.join(world_folder(a), "generator.pt"), f"train FOLDER --world {a.world[0]}"))
    return open_generator(load(os.path.join(a.folder, "generator.pt"), "train FOLDER"))


def check_settings(state, settings, path):
    for name, value in settings.items():
        if state["settings"][name] != value:
            stop(f"{path} was begun with {name} {state['settings'][name]}, not {value}; give another folder")


def train(a):
    path = os.path.join(world_folder(a) if a.world else a.folder, "generator.pt")
    settings = {k: getattr(a, k) for k in ("batch", "lr", "steps")}
    if os.path.exists(path):
        state = load(path, "")
        check_settings(state, settings, path)
        g = net.Generator(**state["shape"])
        g.load_state_dict(state["net"])
    else:
        torch.manual_seed(BASE_SEED)
        g = net.Generator(len(words.WORDS), a.width)
        if a.world:
            base = load(os.path.join(a.folder, "generator.pt"), "train FOLDER")
            g = open_generator(base).train()
        state = {"step": 0, "spent": (0.0, 0.0), "losses": [], "settings": settings, "shape": g.shape,
                 "average": {k: v.clone() for k, v in g.state_dict().items()}}
    optimizer = torch.optim.AdamW(g.parameters(), lr=a.lr, betas=(0.9, 0.99), weight_decay=0.01)
    if "optimizer" in state:
        optimizer.load_state_dict(state["optimizer"])
    lessons, average, seed = Lessons(a, state), state["average"], a.world[0] if a.world else 0

    def step(number):
        draw = torch.Generator().manual_seed(1000003 * (seed + 1) + number)
        loss = net.flow_loss(g, *lessons.batch(a.batch, number, seed), draw)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(g.parameters(), 1.0)
        optimizer.step()
        keep = min(0.999, (number + 1) / (number + 10))
        with torch.no_grad():
            for k, v in g.state_dict().items():
                average[k].lerp_(v, 1 - keep)
        return float(loss.detach())
    say(f"{sum(p.numel() for p in g.parameters())} numbers, {len(words.WORDS)} words")
    train_loop(a, path, state, optimizer, step, lambda: {"net": g.state_dict(), "average": average,
                                                         "optimizer": optimizer.state_dict()})
    lessons.close()


def judge_loss(said, facts):
    cls, shift, table = said
    want = torch.from_numpy(np.where(facts.cls < 0, len(words.CLASSES), facts.cls))
    # A sketch has no colours: its table cannot be told.
    known = torch.from_numpy(~facts.shift[:, words.FOLDERS.index("pencil_sketch") - 1])
    tables = F.cross_entropy(table, torch.from_numpy(facts.table), reduction="none")
    return (F.cross_entropy(cls, want) + F.binary_cross_entropy_with_logits(shift, torch.from_numpy(facts.shift).float())
            + (tables * known).mean())


def judged(judge, pictures):
    """Class (16: none), shifts (n, 12) and table of pictures (n, side, side, 3) uint8."""
    cls, shift, table = [], [], []
    with torch.no_grad():
        for k in range(0, len(pictures), 256):
            c, s, t = judge(tensor(pictures[k:k + 256]))
            cls.append(c.argmax(1)), shift.append(s > 0), table.append(t.argmax(1))
    return (torch.cat(cls).numpy(), torch.cat(shift).numpy(), torch.cat(table).numpy())


def open_judge(a):
    state = load(os.path.join(a.folder, "judge.pt"), "judge FOLDER")
    made = net.Judge(len(words.CLASSES), len(words.SHIFTS), len(words.TABLES))
    made.load_state_dict(state["net"])
    return made.eval()


def judge(a):
    path = os.path.join(a.folder, "judge.pt")
    torch.manual_seed(JUDGE_SEED)
    g = net.Judge(len(words.CLASSES), len(words.SHIFTS), len(words.TABLES))
    settings = {k: getattr(a, k) for k in ("batch", "lr", "steps")}
    state = {"step": 0, "spent": (0.0, 0.0), "losses": [], "settings": settings}
    optimizer = torch.optim.AdamW(g.parameters(), lr=a.lr, weight_decay=0.01)
    if os.path.exists(path):
        state = load(path, "")
        check_settings(state, settings, path)
        g.load_state_dict(state["net"])
        optimizer.load_state_dict(state["optimizer"])
    painter = Painter(a, JUDGE_SEED, state["step"] * a.batch)

    def step(_):
        rgb, facts = painter.batch(a.batch)
        loss = judge_loss(g(tensor(rgb)), facts)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return float(loss.detach())
    train_loop(a, path, state, optimizer, step, lambda: {"net": g.state_dict(), "optimizer": optimizer.state_dict()})
    painter.close()
    painter = Painter(a, JUDGED_SEED)
    rgb, facts = painter.batch(a.judged)
    painter.close()
    cls, shift, table = judged(g.eval(), rgb)
    want = np.where(facts.cls < 0, len(words.CLASSES), facts.cls)
    plain = ~facts.shift.any(1)
    tell("judge", "class right, painted pictures with shifts", np.mean(cls == want), "share", of=len(want))
    tell("judge", "class right, painted pictures without a shift", np.mean((cls == want)[plain]), "share", of=int(plain.sum()))
    tell("judge", "shift told right, mean of presence and absence", np.mean(
        [(np.mean(shift[facts.shift[:, k], k]) + np.mean(~shift[~facts.shift[:, k], k])) / 2 for k in range(shift.shape[1])
         if facts.shift[:, k].any()]), "share", of=len(want))
    tell("judge", "table told right, pictures without a shift", np.mean((table == facts.table)[plain]), "share",
         of=int(plain.sum()))


# -- lines of results ---------------------------------------------------------------------------------------------------

def tell(op, case, value, unit, **more):
    """A line in the form of bench/results/*.jsonl; whoever appends it fills in machine, load and commit."""
    line = {"op": op, "case": f"shifts generator, {case}", "value": round(float(value), 4), "unit": unit, "machine": None,
            "load": None, "commit": None, "numbers": tell.numbers, "date": datetime.date.today().isoformat(),
            "command": "bench/generator.py " + " ".join(w for w in sys.argv[1:2])}
    line.update({k: round(v, 4) if isinstance(v, float) else v for k, v in more.items()})
    print(json.dumps(line, ensure_ascii=False), flush=True)


tell.numbers = None


def over_worlds(values):
    """Mean of the values that are numbers; with two or more worlds its 95 % interval by Student's t."""
    v = np.array([x for x in values if np.isfinite(x)])
    if len(v) < 2:
        return (float(v[0]) if len(v) else math.nan), {"of": len(v)}
    t = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262]
    half = t[min(len(v) - 2, len(t) - 1)] * v.std(ddof=1) / math.sqrt(len(v))
    return float(v.mean()), {"low": float(v.mean() - half), "high": float(v.mean() + half), "of": len(v)}


# -- the planted world --------------------------------------------------------------------------------------------------

def spotter(a, cwd, *arguments):
    done = subprocess.run([os.path.abspath(a.spotter), *arguments, "--threads", str(a.threads)], cwd=cwd, capture_output=True,
                          text=True)
    if done.returncode:
        stop(f"spotter {' '.join(arguments)}: {done.stderr.strip()[-600:]}")
    return done.stdout


def shift_rows(a):
    """The section shifts: captions are those of configs/shifts.yaml, thresholds those of `choose`."""
    path = os.path.join(a.folder, "thresholds.json")
    chosen = json.load(open(path)) if os.path.exists(path) else {"thresholds": {}}
    text = open(os.path.join(ROOT, "configs", "shifts.yaml"), encoding="utf-8").read()
    rows = []
    for name, caption in re.findall(r"\{name: ([^,]+), .*?shift_caption: ([^,}]+)", text):
        folder = name.replace(" ", "_")
        if folder not in words.FOLDERS[1:1 + a.shifts]:
            continue
        category = words.SHIFTS[words.FOLDERS.index(folder) - 1][1]
        rows.append({"name": name, "category": category, "shift_caption": caption, "style": category == "style",
                     "threshold": chosen["thresholds"].get(folder, -1)})
    return rows, chosen.get("encoder", "")


def plant_section(a, world):
    return {"seed": world, "size": SIDE, "pictures": a.planted, "real": a.real, "models": a.models, "train": a.train,
            "epochs": a.epochs, "truth": a.truth, "shifts": a.shifts}


def study(a, folder, out, world, config):
    """Runs `spotter shifts` on a config; JSON is YAML."""
    rows, encoder = shift_rows(a)
    config = {"study": "shifts", "encoder": {"weights": os.path.abspath(a.clip)}, "evaluation": {"draws": a.draws},
              "shifts": rows, **config}
    if encoder and any(r["threshold"] > -1 for r in rows):
        config.setdefault("filter", {})["chosen_for"] = encoder
    path = os.path.join(folder, out + ".yaml")
    write(path, json.dumps(config, indent=1) + "\n")
    return spotter(a, folder, "shifts", os.path.abspath(path), "--out", out)


def plant(a):
    folder = world_folder(a)
    planted, tables = words.confounders(a.world[0])
    write(os.path.join(folder, "confounders.json"),
          json.dumps({"planted": {words.CLASSES[k]: words.FOLDERS[v + 1] for k, v in planted.items()},
                      "tables": [words.CLASSES[k] for k in tables]}, indent=1) + "\n")
    began = time.time()
    study(a, folder, "plant", a.world[0], {"plant": plant_section(a, a.world[0])})
    say(f"{folder}/plant is there; {time.time() - began:.0f} s")


def truth_of(folder):
    """Right shares (models, shifts with base, classes) of the planted models, their order that of words.FOLDERS and CLASSES."""
    rows = rows_of(os.path.join(folder, "plant", "plant", "truth.csv"))
    models = list(dict.fromkeys(r["model"] for r in rows))
    out = np.full((len(models), len(words.FOLDERS), len(words.CLASSES)), math.nan)
    for r in rows:
        out[models.index(r["model"]), words.FOLDERS.index(r["shift"]), words.CLASSES.index(r["class"])] = \
            int(r["right"]) / int(r["pictures"])
    return models, out


def slope_of(x, y):
    x, y = x - x.mean(-1, keepdims=True), y - y.mean(-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (x * y).sum(-1) / (x * x).sum(-1)


def similarities_of(run):
    """{path: (similarity to the class, to the shift, kept, models that are right)} of a run of `spotter shifts`."""
    out = {}
    for parent, _, names in os.walk(os.path.join(run, "similarities")):
        for name in names:
            data = open(os.path.join(parent, name), "rb").read()
            head = struct.unpack("<Q", data[:8])[0]
            about, data = json.loads(data[8:8 + head]), data[8 + head:]

            def array(key, kind):
                return np.frombuffer(data[slice(*about[key]["data_offsets"])], kind)
            paths = bytes(array("path", "u1")).decode().rstrip("\0").split("\0")
            near = array("similarity", "f4").reshape(len(paths), -1)
            for p, s, passed, right in zip(paths, near, array("pass", "u1"), array("right", "i4")):
                out[p] = (float(s[0]), float(s[-1]), passed & 3 == 3, int(right))
    return out


def choose(a):
    """For each shift the lowest threshold of which 95 % of the pictures that pass show the shift, else the best balance."""
    folder, thresholds = world_folder(a), {}
    near = similarities_of(os.path.join(folder, "plant"))
    for folder_name in words.FOLDERS[1:1 + a.shifts]:
        own = [(near[r["path"]][1], r["shift_there"] == "1")
               for r in rows_of(os.path.join(folder, "plant", "plant", "plant.csv"))
               if r["shift"] == folder_name and r["path"] in near]
        own.sort(reverse=True)
        there = np.array([y for _, y in own])
        precision = np.cumsum(there) / np.arange(1, len(there) + 1)
        right = np.flatnonzero(precision >= 0.95)
        balance = np.cumsum(there) / max(1, there.sum()) - np.cumsum(~there) / max(1, (~there).sum())
        at = int(right[-1]) if len(right) else int(balance.argmax())
        thresholds[folder_name] = round(own[at][0], 4)
        say(f"{folder_name}: {own[at][0]:.3f}, precision {precision[at]:.2f}, recall {there[:at + 1].sum() / there.sum():.2f}")
    named = json.load(open(os.path.join(folder, "plant", "shifts.json")))
    write(os.path.join(a.folder, "thresholds.json"),
          json.dumps({"encoder": encoder_name(a, named), "world": a.world[0], "thresholds": thresholds}, indent=1) + "\n")


def encoder_name(a, results):
    """The encoder's own name, which `filter.chosen_for` must repeat."""
    found = re.search(r"clip-[0-9a-f]{16}", json.dumps(results))
    if not found:
        stop("shifts.json names no encoder")
    return found.group(0)


# -- inversion ----------------------------------------------------------------------------------------------------------

def class_folder(cls):
    return words.CLASSES[cls].replace(" ", "_")


def real_pictures(folder, cls):
    where = os.path.join(folder, "plant", "plant", "pictures", "real", class_folder(cls))
    if not os.path.isdir(where):
        stop(f"there is no {where}; run `plant FOLDER --world W` first")
    return np.stack([np.asarray(Image.open(os.path.join(where, p)).convert("RGB")) for p in sorted(os.listdir(where))])


def start_vectors(g):
    """The mean of the embeddings of a class's name, as in the paper's code."""
    with torch.no_grad():
        return torch.stack([g.text.words.weight[[words.WORDS[w] for w in words.CLASSES[k].split()]].mean(0)
                            for k in range(len(words.CLASSES))])


def pinned(raw, norm):
    """Vectors brought to the length of their start, as the paper's code does."""
    return raw * (norm / raw.norm(dim=1, keepdim=True))


def invert(a):
    folder = world_folder(a)
    path, g = os.path.join(folder, "tokens.pt"), load_generator(a)
    for p in g.parameters():
        p.requires_grad_(False)
    pictures = [tensor(real_pictures(folder, k)) for k in range(len(words.CLASSES))]
    settings = {k: getattr(a, k) for k in ("batch", "lr", "steps")}
    state = {"step": 0, "spent": (0.0, 0.0), "losses": [], "settings": settings, "raw": start_vectors(g)}
    if os.path.exists(path):
        state = load(path, "")
        check_settings(state, settings, path)
    raw, norm = state["raw"].clone().requires_grad_(True), start_vectors(g).norm(dim=1, keepdim=True)
    optimizer = torch.optim.AdamW([raw], lr=a.lr, betas=(0.9, 0.999), weight_decay=0.01)
    if "optimizer" in state:
        optimizer.load_state_dict(state["optimizer"])
    each = max(1, a.batch // len(words.CLASSES))
    prompts = [words.encode(f"{before} a <token>") for before in words.BEFORE]

    def step(number):
        draw = torch.Generator().manual_seed(2000003 * (a.world[0] + 1) + number)
        cls = torch.arange(len(words.CLASSES)).repeat_interleave(each)
        shown = torch.stack([pictures[k][int(torch.randint(len(pictures[k]), (1,), generator=draw))] for k in cls.tolist()])
        ids = torch.tensor([prompts[int(torch.randint(len(prompts), (1,), generator=draw))] for _ in cls])
        # Each class has its own gradient: the loss is a sum over the classes of their means.
        loss = net.flow_loss(g, shown, ids, draw, pinned(raw, norm)[cls]) * len(words.CLASSES)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return float(loss.detach()) / len(words.CLASSES)
    train_loop(a, path, state, optimizer, step,
               lambda: {"raw": raw.detach().clone(), "vectors": pinned(raw, norm).detach(),
                        "optimizer": optimizer.state_dict()})


# -- drawing ------------------------------------------------------------------------------------------------------------

def noise_for(cls, shift, first, n):
    """From (class, shift, number) alone, so that both sources begin from the same noise."""
    return torch.stack([torch.randn(3, SIDE, SIDE, generator=torch.Generator().manual_seed(
        (cls * 100 + shift + 1) * 100000 + first + k)) for k in range(n)])


def draw_batch(a, g, vectors, jobs):
    """Pictures of jobs: (source, class, shift, number)."""
    ids = torch.tensor([words.encode(words.prompt(c, s, src == "token")) for src, c, s, _ in jobs])
    given = torch.stack([vectors[c] if src == "token" else torch.zeros(vectors.shape[1]) for src, c, _, _ in jobs])
    noise = torch.cat([noise_for(c, s, k, 1) for _, c, s, k in jobs])
    return net.draw_pictures(g, ids, noise, a.euler, a.guidance, given).numpy()


def drawing_jobs(a, root):
    for src in SOURCES:
        for s in range(-1, a.shifts):
            for c in range(len(words.CLASSES)):
                where = os.path.join(root, src, words.FOLDERS[s + 1], class_folder(c))
                os.makedirs(where, exist_ok=True)
                for k in range(a.images):
                    if not os.path.exists(os.path.join(where, f"{k:05d}.png")):
                        yield (src, c, s, k), os.path.join(where, f"{k:05d}.png")


def put_picture(path, rgb):
    Image.fromarray(rgb).save(path + ".part", "PNG")
    os.replace(path + ".part", path)


def settings_of_drawing(a, folder):
    """Pictures of other settings are refused, not mixed."""
    path, now = os.path.join(folder, "pictures.json"), {"euler": a.euler, "guidance": a.guidance}
    if os.path.exists(path):
        check_settings({"settings": json.load(open(path))}, now, path)
    write(path, json.dumps(now) + "\n")


def draw(a):
    folder, g, clock = world_folder(a), load_generator(a), Clock(a)
    vectors = load(os.path.join(folder, "tokens.pt"), f"invert FOLDER --world {a.world[0]}")["vectors"]
    settings_of_drawing(a, folder)
    jobs, done = list(drawing_jobs(a, os.path.join(folder, "pictures"))), 0
    for k in range(0, len(jobs), a.batch):
        if clock.over():
            break
        some = jobs[k:k + a.batch]
        for (_, path), rgb in zip(some, draw_batch(a, g, vectors, [j for j, _ in some])):
            put_picture(path, rgb)
        done += len(some)
        if k // a.batch % 20 == 0:
            say(f"{done} of {len(jobs)} pictures, {clock.spent()[0]:.0f} s of processor")
    say(f"{done} of {len(jobs)} pictures drawn, {clock.spent()[0]:.0f} s of processor, {clock.spent()[1]:.0f} s"
        + ("" if done == len(jobs) else "; run again to go on"))


def sheet(a):
    """A row a class: its base, then shifts; with a world the names above and the tokens below."""
    g, vectors, sources = load_generator(a), torch.zeros(16, 1), SOURCES[:1]
    path = os.path.join(world_folder(a) if a.world else a.folder, "sheet.png")
    if a.world and os.path.exists(os.path.join(world_folder(a), "tokens.pt")):
        vectors, sources = load(os.path.join(world_folder(a), "tokens.pt"), "")["vectors"], SOURCES
    vectors = vectors if vectors.shape[1] > 1 else torch.zeros(16, g.shape["text"])
    jobs = [(src, c, s, 0) for c in range(16) for src in sources for s in range(-1, len(words.SHIFTS))]
    rgb = np.concatenate([draw_batch(a, g, vectors, jobs[k:k + a.batch]) for k in range(0, len(jobs), a.batch)])
    across = 13
    rows = rgb.reshape(-1, across, SIDE, SIDE, 3).transpose(0, 2, 1, 3, 4).reshape(-1, across * SIDE, 3)
    image = Image.fromarray(rows)
    image.resize((2 * image.width, 2 * image.height), Image.NEAREST).save(path)
    say(path)


# -- measuring ----------------------------------------------------------------------------------------------------------

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
    """What the judge sees in each drawn picture: {path: (class, shifts, table)}; writes oracle.csv for `spotter shifts`."""
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


def groups_of(world):
    """{name: classes}: by what confounds their names."""
    planted, tables = words.confounders(world)
    out = collections.defaultdict(list)
    for cls in range(len(words.CLASSES)):
        kind = words.SHIFTS[planted[cls]][1] if cls in planted else "table" if cls in tables else "none"
        out[kind].append(cls)
    return dict(out)


def see_confounding(world, drawn, seen, put):
    """What the judge sees in base pictures: the planted shift, the table, another class."""
    planted, tables = words.confounders(world)
    for src in SOURCES:
        base = {c: [seen[p] for p, _ in drawn[src, -1, c]] for c in range(len(words.CLASSES))}
        for category in words.PLANTED:
            own = [x[1][planted[c]] for c in planted if words.SHIFTS[planted[c]][1] == category for x in base[c]]
            put("planted shift in base pictures", f"{src}, {category}", np.mean(own), "share", of=len(own))
        put("table in base pictures", f"{src}, classes on tables", np.mean([x[2] == 1 + c // 4 for c in tables for x in base[c]]),
            "share", of=sum(len(base[c]) for c in tables))
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
                        if base and len(own) >= min(5, a.images):
                            each.append(np.mean(base) - np.mean(own) - np.mean(right[:, 0, c] - right[:, k, c]))
                    if each:
                        gaps.append(abs(np.mean(each)))
                if gaps:
                    put("error of the impact", f"{src}, {called}, classes confounded by {kind}", np.mean(gaps), "accuracy",
                        of=len(gaps))


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
           "sources": [{"name": s} for s in SOURCES], "models": weights})
    tell.numbers = json.load(open(os.path.join(folder, "run", "shifts.json")))["numbers"]
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


# -- raters -------------------------------------------------------------------------------------------------------------

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
        return known["object_there"] == "1" and known["class"] == k["class"] if "class" in k else known["object_there"] == "1"
    return known["shift_there"] == "1" and bool(k["shift"])


def raters(a):
    """Selection frequencies of raters with a known error, against those that the truth and the error give."""
    folder = world_folder(a)
    run = os.path.join(folder, "plant")
    truth = {r["path"]: r for r in rows_of(os.path.join(run, "plant", "plant.csv"))}
    config = os.path.abspath(os.path.join(folder, "plant.yaml"))
    spotter(a, folder, "shifts", config, "--out", "plant", "--grids", str(a.grids))
    vote(a, run, truth)
    spotter(a, folder, "shifts", config, "--out", "plant", "--votes", os.path.abspath(os.path.join(run, "filled.csv")))
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


# -- power --------------------------------------------------------------------------------------------------------------

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


# -- the command line ---------------------------------------------------------------------------------------------------

# batch, lr and steps of each training; those of a world are about a tenth of the base's.
SIZES = {"train": (64, 1e-3, 12000), "world": (64, 3e-4, 1500), "judge": (128, 2e-3, 1500), "invert": (64, 0.02, 400),
         "draw": (104, 0, 0), "sheet": (104, 0, 0)}
COMMANDS = {"train": train, "judge": judge, "plant": plant, "choose": choose, "invert": invert, "draw": draw,
            "measure": measure, "raters": raters, "power": power, "sheet": sheet}


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("command", choices=COMMANDS)
    p.add_argument("folder", help="folder of the state; it is made")
    p.add_argument("--world", type=int, nargs="+", default=[], help="seed of a world; measure and power take several")
    p.add_argument("--spotter", default=os.path.join(ROOT, "build", "spotter"), help="the program")
    p.add_argument("--painter", default=os.path.join(ROOT, "build", "tiny_clip_pictures"), help="the program that paints")
    p.add_argument("--clip", default=os.path.join(ROOT, "tools", "tiny_clip", "model.safetensors"), help="CLIP that filters")
    p.add_argument("--threads", type=int, default=1, help="of PyTorch and of spotter")
    p.add_argument("--minutes", type=float, default=0, help="a training or a drawing ends after so many; 0: when it is done")
    for name, kind in (("batch", int), ("lr", float), ("steps", int)):
        p.add_argument(f"--{name}", type=kind, help=f"{name} of a training; each command has its own default")
    for name, default, text in (
            ("width", 48, "channels of the U-Net's finest map"), ("pool", 40000, "painted pictures that a world's names go with"),
            ("every", 100, "steps between two saves"), ("tell", 50, "steps between two lines"),
            ("judged", 4000, "painted pictures on which the judge is measured"),
            ("planted", 20, "pictures of a class and shift in the planted world"), ("real", 40, "real pictures of a class"),
            ("models", 20, "networks of a world"), ("train", 4000, "pictures of those that learn from most"),
            ("epochs", 12, "passes over them"), ("truth", 60, "pictures of a class and shift for the truth"),
            ("shifts", 12, "shifts, from the first on"), ("draws", 1000, "of the bootstrap"),
            ("images", 20, "pictures drawn of a class and shift"), ("euler", 24, "steps of a drawing"),
            ("grids", 10, "pages of each question"), ("raters", 5, "raters"), ("studies", 400, "simulated studies"),
            ("power-images", 20, "pictures of a class and shift in a simulated study")):
        p.add_argument(f"--{name}", type=int, default=default, help=text)
    for name, default, text in (("guidance", 2.0, "guidance of a drawing"), ("miss", 0.1, "share of what is there that a rater "
                                "does not select"), ("false", 0.05, "share of what is not there that a rater selects")):
        p.add_argument(f"--{name}", type=float, default=default, help=text)
    p.add_argument("--sizes", type=int, nargs="+", default=[5, 10, 20, 40, 60], help="numbers of models whose power is told")
    return p.parse_args()


def main():
    a = options()
    if a.command in ("plant", "choose", "invert", "draw", "measure", "raters", "power") and not a.world:
        stop(f"{a.command} needs --world W")
    if len(a.world) > 1 and a.command not in ("measure", "power"):
        stop(f"{a.command} takes one world at a time")
    sizes = SIZES.get("world" if a.command == "train" and a.world else a.command, (0, 0, 0))
    a.batch, a.lr, a.steps = (given if given is not None else usual
                              for given, usual in zip((a.batch, a.lr, a.steps), sizes))
    os.makedirs(a.folder, exist_ok=True)
    torch.set_num_threads(a.threads)
    COMMANDS[a.command](a)


if __name__ == "__main__":
    main()
