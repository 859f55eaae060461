#!/usr/bin/env python3
"""generator.py COMMAND FOLDER [--world W] [...]: are names of classes or inverted tokens the better words for shifts?

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
    quality FOLDER          how often the judge sees class and shift in pictures drawn from names: how good the generator is
    sheet FOLDER [--world W]     a picture of what the generator draws

Each command goes on where it was stopped; its state is FOLDER/generator.pt, FOLDER/judge.pt and FOLDER/world-W. `--minutes`
ends a training early and saves it. Lines of JSON have the keys of bench/results/*.jsonl without machine, load and commit, which
whoever appends them knows. Needs PyTorch, NumPy and Pillow."""
import argparse
import os

import torch

from generator_draw import draw, sheet
from generator_files import ROOT, stop, tell
from generator_measure import choose, measure, plant, quality
from generator_raters import power, raters
from generator_train import invert, judge, train

# batch, lr and steps of each training; those of a world are about a tenth of the base's.
SIZES = {"train": (64, 1e-3, 12000), "world": (64, 3e-4, 1500), "judge": (128, 2e-3, 1500), "invert": (64, 0.02, 400),
         "draw": (104, 0, 0), "sheet": (104, 0, 0), "quality": (104, 0, 0)}
COMMANDS = {"train": train, "judge": judge, "plant": plant, "choose": choose, "invert": invert, "draw": draw,
            "measure": measure, "raters": raters, "power": power, "sheet": sheet, "quality": quality}


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
            ("width", 48, "channels of the U-Net's finest map"),
            ("pool", 40000, "painted pictures that a world's names go with"),
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
    tell.command = " ".join(["bench/generator/generator.py", a.command, "FOLDER"]
                            + (["--world", *map(str, a.world)] if a.world else []))
    COMMANDS[a.command](a)


if __name__ == "__main__":
    main()
