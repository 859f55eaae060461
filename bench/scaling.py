#!/usr/bin/env python3
"""bench/scaling.py SPOTTER FOLDER [--series NAME,..] [--most 100000] [--beside 0] [--append MACHINE]: time and memory.

Each series runs one command on inputs that grow by a factor of ten, up to --most, and prints for each size the seconds by the
clock, the processor's seconds, the peak memory, and what the program said of both before it began. `exponent` is the slope of
the processor's seconds between this size and the one before, less the time of the least size: 1 is linear. Inputs are made by
this script from fixed seeds in FOLDER, which must not exist yet; runs are made there, too. With --beside N each size is run
alone and then beside N programs that compute without end: `beside` is the processor's time there over that alone. `load` is
the machine's.

    rows       discover, rows of 64 numbers in 10 classes
    classes    discover, 30 rows of 64 numbers a class, all classes at once
    pairs      discover, two rows a class, all classes at once
    pictures   embed, pictures of 64 pixels by the tiny CLIP
    based      shifts, pictures of 64 pixels in 10 classes, one shift, two models
    targets    background, targets of 64 pixels on 8 backgrounds, one model
    models     background, 20 targets of 64 pixels on 8 backgrounds
    objects    examine, objects of 12 triangles, 60 renders each by `random`
--append writes lines into bench/results/runs.jsonl in place of the table."""
import argparse
import datetime
import json
import math
import os
import re
import shutil
import subprocess
import sys

import numpy
from PIL import Image

# A process of a few MB starts the command: a child has the peak of its parent's memory until it has more itself.
WATCHER = """
import os, sys, time
begin, child = time.monotonic(), os.fork()
if not child:
    os.execv(sys.argv[1], sys.argv[1:])
_, how, spent = os.wait4(child, 0)
print()
print(time.monotonic() - begin, spent.ru_utime + spent.ru_stime, 1024 * spent.ru_maxrss)
sys.exit(how != 0)
"""
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CLIP = ROOT + "/tools/tiny_clip/model.safetensors"
UNITS = {"ms": 1e-3, "s": 1, "min": 60, "h": 3600, "days": 86400, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}


def random(*words):
    return numpy.random.default_rng([len(words), *words])


def features(folder, n, classes):
    """Clusters of rows, two a class or more, of which every seventh is wrong on a third of its rows."""
    r = random(n, classes)
    groups = max(2 * classes, 20)
    which = r.integers(0, groups, n)
    label = numpy.arange(n) % classes if n <= 30 * classes else which % classes
    x = 2 * r.normal(size=(groups, 64))[which] + r.normal(size=(n, 64))
    wrong = r.random(n) < numpy.where(which % 7 == 0, .35, .05)
    numpy.save(folder + "/e.npy", x.astype("f4"))
    numpy.save(folder + "/y.npy", label)
    numpy.save(folder + "/p.npy", numpy.where(wrong, .4 * r.random(n), .5 + .5 * r.random(n)).astype("f4"))


def pictures(folder, n, classes=1, seed=0, mask=None):
    """n pictures of smooth noise, in folders of their classes; mask: a folder of masks of the same names."""
    for i in range(n):
        r = random(seed, i)
        place = f"{folder}/{i % classes:02}"
        os.makedirs(place, exist_ok=True)
        Image.fromarray(r.integers(0, 256, (8, 8, 3), "u1")).resize((64, 64), Image.BICUBIC).save(f"{place}/{i:07}.png")
        if mask:
            os.makedirs(f"{mask}/{i % classes:02}", exist_ok=True)
            inside = numpy.zeros((64, 64), "u1")
            inside[12:52, 12:52] = 255
            Image.fromarray(inside).save(f"{mask}/{i % classes:02}/{i:07}.png")


class Series:
    def __init__(self, spotter, folder):
        self.spotter, self.folder = spotter, folder

    def made(self, n, make, *rest):
        """A new folder with inputs of size n."""
        place = f"{self.folder}/{n}"
        shutil.rmtree(place, ignore_errors=True)
        os.makedirs(place)
        make(place, *rest)
        return place

    def run(self, place, *words):
        """Seconds by the clock and of the processor, peak bytes, and what the command wrote; a failure ends the series."""
        done = subprocess.run([sys.executable, "-S", "-E", "-c", WATCHER, self.spotter, *words], cwd=place, capture_output=True,
                              text=True, errors="replace")
        if done.returncode:
            raise RuntimeError(f"{' '.join(words)}: {done.stdout[-100:]} {done.stderr[-400:]}")
        *_, figures = done.stdout.splitlines()
        return [*map(float, figures.split()), done.stdout + done.stderr]

    def planned(self, place, config):
        return subprocess.run([self.spotter, "plan", config], cwd=place, capture_output=True, text=True).stdout

    def network(self):
        """A small network that a planted world of shifts trains."""
        place = self.folder + "/world"
        if not os.path.exists(place):
            os.makedirs(place)
            with open(place + "/p.yaml", "w") as f:
                f.write("study: shifts\nplant: {pictures: 2, real: 2, models: 1, train: 64, epochs: 1, classes: 10, truth: 2, "
                        f"shifts: 1, confounded: 0}}\nencoder: {{weights: {CLIP}}}\nshifts: [{{name: green background, "
                        "shift_caption: a photo on a green background}]\n")
            self.run(place, "shifts", "p.yaml", "--out", "o")
        models = place + "/o/plant/models"
        return f"{models}/{os.listdir(models)[0]}", place + "/o/plant/classes.txt"

    def discover(self, n, rows, classes, *more):
        place = self.made(n, features, rows, classes)
        return self.run(place, "discover", "-e", "e.npy", "-y", "y.npy", "-p", "p.npy", "--out", "o", *more)

    def rows(self, n):
        return self.discover(n, n, 10)

    def classes(self, n):
        return self.discover(n, 30 * n, n, "--class", "all")

    def pairs(self, n):
        return self.discover(n, 2 * n, n, "--class", "all")

    def pictures(self, n):
        place = self.made(n, lambda place: pictures(place + "/im", n))
        return self.run(place, "embed", "--model", CLIP, "--images", "im", "--out", "e.npy")

    def config(self, n, study, text, make):
        def whole(place):
            make(place)
            with open(place + "/c.yaml", "w") as f:
                f.write(f"study: {study}\n{text}")
        place = self.made(n, whole)
        said = self.planned(place, "c.yaml")
        result = self.run(place, study, "c.yaml", "--out", "o")
        result[3] = said + result[3]
        return result

    def based(self, n):
        network, words = self.network()
        with open(words) as f:
            names = [line.strip() for line in f if line.strip()]

        def make(place):
            for name in ("base", "fog", "real"):
                pictures(f"{place}/{name}", n, len(names), len(name))
                for i, word in enumerate(names):
                    if os.path.exists(f"{place}/{name}/{i:02}"):
                        os.rename(f"{place}/{name}/{i:02}", f"{place}/{name}/{word.replace(' ', '_')}")
        return self.config(n, "shifts", f"data: {{root: ., base: base, real: real}}\nencoder: {{weights: {CLIP}}}\nmodels: ["
                           f"{{name: a, weights: {network}, resize: 64, crop: 64}}, {{name: b, weights: {network}, resize: 72, "
                           "crop: 64}]\nshifts: [{name: fog, shift_caption: a photo in the fog}]\n", make)

    def ground(self, n, targets, models):
        def make(place):
            pictures(place + "/im", targets, 10, 1, place + "/mask")
            pictures(place + "/back", 8, 1, 2)
        listed = ", ".join(f"{{name: m{i}, weights: {self.network()[0]}}}" for i in range(models))
        return self.config(n, "background",
                           "data: {images: im, masks: mask, backgrounds: back, size: 64}\nsuite: {n: 8}\n"
                           f"measure: {{levels: 3}}\nmodels: [{listed}]\n", make)

    def targets(self, n):
        return self.ground(n, n, 1)

    def models(self, n):
        return self.ground(n, 20, n)

    def objects(self, n):
        cube = "".join(f"v {i & 1} {i >> 1 & 1} {i >> 2}\n" for i in range(8)) + "".join(f"f {a} {b} {c}\nf {a} {c} {d}\n" for
               a, b, c, d in ((1, 3, 4, 2), (5, 6, 8, 7), (1, 2, 6, 5), (2, 4, 8, 6), (4, 3, 7, 8), (3, 1, 5, 7)))

        def make(place):
            with open(place + "/outputs.txt", "w") as f:
                f.write(5 * "a\nb\n")
            for i in range(n):
                os.makedirs(f"{place}/objects/{'ab'[i % 2]}", exist_ok=True)
                with open(f"{place}/objects/{'ab'[i % 2]}/{i:06}.obj", "w") as f:
                    f.write(f"# {i}\n{cube}")
        return self.config(n, "examine", "objects: {catalogue: objects, held_out: 1.0}\nclasses: [{name: a}, {name: b}]\n"
                           f"render: {{size: 64}}\nmodels: [{{name: m, weights: {self.network()[0]}, classes: outputs.txt}}]\n"
                           "search: {renders: 60, points: \"10, 60\", seeds: 1, perturbed: 4}\n"
                           "examiners: [{method: random}]\n", make)


LEAST = {"rows": 1000, "classes": 10, "pairs": 100, "pictures": 100, "based": 100, "targets": 10, "models": 1, "objects": 2}


def quantity(text, pattern):
    found = re.search(pattern, text)
    if not found:
        return None
    words = re.findall(r"([\d.]+) (ms|s|min|h|days|kB|MB|GB|TB)\b", found[1])
    return sum(float(number) * UNITS[unit] for number, unit in words) or None


def beside(programs, measure):
    """What `measure` returns while so many programs compute."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(programs)]
    try:
        return measure()
    finally:
        for other in others:
            other.kill()
            other.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spotter")
    parser.add_argument("folder")
    parser.add_argument("--series", default=",".join(LEAST))
    parser.add_argument("--most", type=int, default=100000)
    parser.add_argument("--beside", type=int, default=0)
    parser.add_argument("--append", metavar="MACHINE")
    asked = parser.parse_args()
    spotter, folder = os.path.abspath(asked.spotter), os.path.abspath(asked.folder)
    if os.path.exists(folder):
        sys.exit(f"scaling.py: {folder} exists; name a new folder")
    commit = subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    for name in asked.series.split(","):
        series = Series(spotter, f"{folder}/{name}")
        os.makedirs(series.folder)
        n, first, before = LEAST[name], None, None
        while n <= asked.most:
            clock, processor, peak, text = getattr(series, name)(n)
            said = quantity(text, r"(?:this takes about|time    ) +((?:[\d.]+ (?:ms|s|min|h|days)[ ,]*)+)")
            room = quantity(text, r"(?:at most |memory +|; )([\d.]+ [kMGT]B)")
            slope = first and before > first and processor > first and math.log10((processor - first) / (before - first))
            case = f"{name}, {n:,}"
            more = beside(asked.beside, lambda: getattr(series, name)(n)[1] / processor) if asked.beside else None
            print(f"{case:<22} {clock:9.2f} s by the clock, {processor:9.2f} s of the processor, {peak / 1e6:8.1f} MB"
                  f"; said {said or math.nan:9.2f} s, {(room or math.nan) / 1e6:8.1f} MB; exponent {slope or math.nan:.2f}"
                  f"{f'; beside {asked.beside} programs {more:.2f}' if more else ''}", flush=True)
            if asked.append:
                with open("/proc/loadavg") as f:
                    load = f.read().split()[0]
                note = f"{processor:.2f} s of the processor, {peak / 1e6:.0f} MB at most"
                note += (f"; said: {said:.3g} s" if said else "") + (f", {room / 1e6:.0f} MB" if room else "")
                note += (f"; exponent {slope:.2f}" if slope else "") + (f"; {more:.2f} times the processor's time beside "
                                                                       f"{asked.beside} programs" if more else "")
                row = {"op": "scaling", "case": case, "value": round(clock, 2), "unit": "s", "machine": asked.append,
                       "load": load, "commit": commit, "numbers": None, "date": str(datetime.date.today()),
                       "command": "bench/scaling.py", "note": note}
                with open(ROOT + "/bench/results/runs.jsonl", "a") as f:
                    f.write(json.dumps(row) + "\n")
            first, before = processor if first is None else first, processor
            shutil.rmtree(f"{series.folder}/{n}")
            n *= 10


if __name__ == "__main__":
    main()
