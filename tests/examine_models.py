#!/usr/bin/python3
"""examine_models.py make DIR | predict WEAK [SEED]: a world of `spotter examine` for tests/test_examine_pages.sh.

make: boxes, cylinders and pyramids (examine_world.py) and configs of models whose names are hostile. predict: a model by the
protocol of include/spotter/predictor.h. It names an object by its colour; where the object fills much of the image, it takes it
for the next class, the more the greater WEAK. SEED: its answers differ a little from those of another one."""
import io
import math
import os
import shlex
import struct
import subprocess
import sys

import numpy as np

COLOURS = np.array([(.8, .2, .1), (.1, .7, .2), (.2, .3, .9)])             # of examine_world.py
CHROMA = COLOURS - COLOURS.mean(1, keepdims=True)
CHROMA /= np.linalg.norm(CHROMA, axis=1, keepdims=True)


def answer(rgb, weak, seed):
    x = rgb.astype(np.float64) / 255
    mask = (np.abs(x - x[:, :1, :1]).max(3) > 0.04)[..., None]
    area = mask.mean((1, 2))                                               # (n, 1)
    colour = (x * mask).sum((1, 2)) / np.maximum(mask.sum((1, 2)), 1)
    chroma = colour - colour.mean(1, keepdims=True)
    chroma /= np.maximum(np.linalg.norm(chroma, axis=1, keepdims=True), 1e-6)
    logits = 4 * chroma @ CHROMA.T
    close = 1 / (1 + np.exp(-(area - 0.12) * 40))
    logits += weak * close * np.roll(logits, 1, axis=1)
    return (logits + 0.2 * np.sin(seed * 7.3 + 31 * colour)).astype("<f4")


def predict(weak, seed):
    pipe = sys.stdin.buffer
    while True:
        head = pipe.read(10)
        if len(head) < 10:
            return
        text = pipe.read(struct.unpack("<H", head[8:])[0]).decode()
        shape = eval(text, {"__builtins__": {}}, {})["shape"]
        rgb = np.frombuffer(pipe.read(math.prod(shape)), np.uint8).reshape(shape)
        none = np.zeros((len(rgb), 0), "<f4")
        for v in (answer(rgb, weak, seed), none, none):
            out = io.BytesIO()
            np.save(out, v)
            sys.stdout.buffer.write(out.getvalue())
        sys.stdout.buffer.flush()


def config(root, name, models, per_class=3, more="", seed=1, maps=0):
    me = f"/usr/bin/python3 {shlex.quote(os.path.abspath(__file__))} predict"
    with open(f"{root}/{name}", "w") as f:
        f.write(f"""study: examine
objects: {{catalogue: "{root}/meshes", choice: first, held_out: 1, per_class: {per_class}}}
render: {{size: 32}}
search: {{renders: 240, seeds: 2, points: "60, 120, 240", perturbed: 8, seed: {seed}}}
maps: {{renders: {maps}}}
{more}models:
""")
        for label, weak, own in models:
            f.write(f"  - {{name: {label}, command: \"{me} {weak} {own}\"}}\n")
        f.write("examiners: [{method: cem, generation: 10, elite: 3}, {method: random}]\n")


def make(root):
    here = os.path.dirname(os.path.abspath(__file__))
    subprocess.run([sys.executable, f"{here}/examine_world.py", f"{root}/meshes", "3"], check=True)
    hostile = "'<b onclick=alert(1)>m1</b> & \"x\"'"
    names = ("camera_distance", "camera_azimuth", "camera_elevation", "sun_energy")
    turned, order = (f"factors: [{', '.join('{factor: ' + n + '}' for n in list_)}]\n" for list_ in (names, names[::-1]))
    config(root, "run.yaml", [("net-m1", 3, 1), (hostile, 1, 2)], maps=300)
    config(root, "before.yaml", [("version 1", 0.5, 1)])
    config(root, "worse.yaml", [("version 2", 4, 1)])
    config(root, "order_a.yaml", [("net", 3, 1)], 1, turned)
    config(root, "order_b.yaml", [("net", 3, 1)], 1, order)


if __name__ == "__main__":
    if sys.argv[1] == "predict":
        predict(float(sys.argv[2]), float(sys.argv[3]) if len(sys.argv) > 3 else 0)
    else:
        make(sys.argv[2])
