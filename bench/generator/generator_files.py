"""Files of bench/generator: states, worlds, the painter, runs of `spotter shifts`, lines of results."""
import csv
import datetime
import json
import math
import os
import re
import subprocess
import sys

import numpy as np
import torch

import generator_net as net
import generator_words as words

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "bench"))
import tensors  # noqa: E402

SIDE = net.SIDE
SOURCES = ("name", "token")


def stop(sentence):
    sys.exit("generator: " + sentence)


TENSORS = ("net", "average", "optimizer", "raw", "vectors")


def save(path, state):
    """Written whole or not at all. All but tensors is JSON, since older loaders of weights read no floats."""
    about = json.dumps({k: v for k, v in state.items() if k not in TENSORS})
    torch.save({"about": about, **{k: v for k, v in state.items() if k in TENSORS}}, path + ".part")
    os.replace(path + ".part", path)


def load(path, made_by):
    if not os.path.exists(path):
        stop(f"there is no {path}; run `{made_by}` first")
    state = torch.load(path, map_location="cpu", weights_only=True)
    return {**json.loads(state.pop("about")), **state}


def moments(optimizer):
    return optimizer.state_dict()["state"]


def put_moments(optimizer, state):
    """Takes the moments of a state, where it has some."""
    if "optimizer" in state:
        optimizer.load_state_dict({"state": state["optimizer"], "param_groups": optimizer.state_dict()["param_groups"]})


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


def check_settings(state, settings, path):
    for name, value in settings.items():
        if state["settings"][name] != value:
            stop(f"{path} was begun with {name} {state['settings'][name]}, not {value}; give another folder")


def say(text):
    print(text, file=sys.stderr, flush=True)


# -- pictures from the painter ----------------------------------------------------------------------------------------

class Painter:
    """Planted pictures by their number, always the same ones: from tiny_clip_pictures."""

    def __init__(self, a, seed, first=0):
        program = a.painter
        if not os.path.exists(program):
            stop(f"there is no {program}; `ninja -C build tiny_clip_pictures` makes it, --painter says where it is")
        said = subprocess.run([program, "facts"], check=True, capture_output=True, text=True)
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


# -- lines of results -------------------------------------------------------------------------------------------------

def tell(op, case, value, unit, **more):
    """A line in the form of bench/results/*.jsonl; whoever appends it fills in machine, load and commit."""
    line = {"op": op, "case": f"shifts generator, {case}", "value": round(float(value), 4), "unit": unit, "machine": None,
            "load": None, "commit": None, "numbers": tell.numbers, "date": datetime.date.today().isoformat(),
            "command": tell.command}
    line.update({k: round(v, 4) if isinstance(v, float) else v for k, v in more.items()})
    print(json.dumps(line, ensure_ascii=False), flush=True)


tell.numbers, tell.command = None, None      # of the program whose results are measured; the command line


def over_worlds(values):
    """Mean of the values that are numbers; with two or more worlds its 95 % interval by Student's t."""
    v = np.array([x for x in values if np.isfinite(x)])
    if len(v) < 2:
        return (float(v[0]) if len(v) else math.nan), {"of": len(v)}
    t = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262]
    half = t[min(len(v) - 2, len(t) - 1)] * v.std(ddof=1) / math.sqrt(len(v))
    return float(v.mean()), {"low": float(v.mean() - half), "high": float(v.mean() + half), "of": len(v)}


# -- the planted world ------------------------------------------------------------------------------------------------

def spotter(a, cwd, *arguments):
    done = subprocess.run([os.path.abspath(a.spotter), *arguments, "--threads", str(a.threads)], cwd=cwd, capture_output=True,
                          text=True)
    if done.returncode:
        stop(f"spotter {' '.join(arguments)}: {done.stderr.strip()[-600:]}")
    return done.stdout


def numbers_of(a):
    """SPOT_NUMBERS of the program."""
    return int(re.search(r"numbers (\d+)", subprocess.run([a.spotter, "--version"], capture_output=True, text=True).stdout)[1])


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
            path, near, *said = tensors.read(os.path.join(parent, name), "path", "similarity", "pass", "right")
            paths = bytes(path).decode().rstrip("\0").split("\0")
            for p, s, passed, right in zip(paths, near.reshape(len(paths), -1), *said):
                out[p] = (float(s[0]), float(s[-1]), passed & 3 == 3, int(right))
    return out


def class_folder(cls):
    return words.CLASSES[cls].replace(" ", "_")
