#!/usr/bin/python3
"""backgrounds_world.py make DIR | predict RHO [embed]: a world of backgrounds for tests/test_background_pages.sh.

make: 3 classes of cut-outs (their own alpha) that stand before the family of backgrounds of their class, backgrounds of three
families with keywords, and a config of models that look at the object with weight 1 - RHO and at the corners with RHO. Names of
classes, files, models and keywords are hostile. predict: such a model, by the protocol of include/spotter/predictor.h; embed:
it also has embeddings and channels.
"""
import io
import math
import os
import random
import shlex
import struct
import sys

import numpy as np
from PIL import Image

SIDE = 64
COLOURS = np.array([(215, 60, 50), (60, 190, 70), (60, 80, 220)], float)            # of the objects
FAMILIES = np.array([(225, 200, 140), (40, 80, 45), (130, 200, 235)], float)        # of the backgrounds
WORDS = ["sand", 'forest "dark"', "sea<b>"]
CLASSES = ["a_ball", "b <script>alert(1)<\u2215script>", 'c "quoted" & long name of a class that goes on']


def scene(rng, family):
    base, noise = FAMILIES[family], rng.uniform(-18, 18, (SIDE, SIDE, 1))
    y, x = np.mgrid[:SIDE, :SIDE]
    wave = 22 * np.sin((x * math.cos(rng.uniform(0, 6)) + y) / rng.uniform(3, 9))[:, :, None]
    return np.clip(base + noise + wave + rng.uniform(-12, 12, 3), 0, 255)


def cut_out(rng, cls):
    """(rgb, alpha) of a ball, a box or a roof"""
    y, x = (v - SIDE / 2 - rng.uniform(-4, 4) for v in np.mgrid[:SIDE, :SIDE])
    size = rng.uniform(0.24, 0.34) * SIDE
    inside = (x * x + y * y < size * size, np.maximum(abs(x), abs(y)) < size * 0.9, (y < size) & (y > abs(x) * 1.6 - size))[cls]
    light = 1 - 0.25 * (x + y) / SIDE
    return np.clip(COLOURS[cls] * light[:, :, None], 0, 255), 255 * inside


def make(root, objects, scenes):
    rng, pick = np.random.default_rng(7), random.Random(7)
    rows = {"images": [], "backgrounds": []}
    for cls, name in enumerate(CLASSES):
        os.makedirs(f"{root}/images/{name}")
        for i in range(objects):
            rgb, alpha = cut_out(rng, cls)
            own = scene(rng, cls)
            file = f"{name}/{i:03d}{' with a' + chr(10) + 'line end' if i == 1 else ''}.png"
            whole = np.where(alpha[:, :, None] > 0, rgb, own)
            Image.fromarray(np.dstack([whole, alpha]).astype(np.uint8), "RGBA").save(f"{root}/images/{file}")
            words = [WORDS[cls]] + ["sky"] * (i % 2) + [WORDS[(cls + 1) % 3]] * (i % 5 == 0)
            rows["images"].append((file, words))
    for family, word in enumerate(WORDS):
        os.makedirs(f"{root}/backgrounds/{family}")
        for i in range(scenes):
            file = f"{family}/{'<img src=x onerror=alert(2)>' if not i else f'{i:03d}'}.png"
            Image.fromarray(scene(rng, family).astype(np.uint8)).save(f"{root}/backgrounds/{file}")
            rows["backgrounds"].append((file, [word] + (["sky"] if pick.random() < 0.5 else [])))
    for kind, list_ in rows.items():
        with open(f"{root}/{kind}.csv", "w") as f:
            f.write("path,keywords\n")
            for path, words in list_:
                cells = [c.replace('"', '""') for c in (path, "; ".join(words))]
                f.write(f'"{cells[0]}","{cells[1]}"\n')
    me = shlex.quote(os.path.abspath(__file__))
    models = [("looks at the object", 0, "embed"), ('half "half"', 0.45, "embed"),
              ("<script>alert(3)</script> back\\nground", 0.8, "embed"), ("no embedding", 0.62, "")]
    return [f"""  - name: "{name.replace('"', chr(92) + '"')}"\n    command: /usr/bin/python3 {me} predict {rho} {embed}\n"""
            f"    reliance: {rho}\n" for name, rho, embed in models]


def config(root, name, models, **settings):
    """A config of the world: settings are sections of YAML's flow style."""
    data = {"images": f"{root}/images", "backgrounds": f"{root}/backgrounds", "size": SIDE}
    words = {"images": f"{root}/images.csv", "backgrounds": f"{root}/backgrounds.csv"}
    sections = {"data": data, "ontology": words, "suite": {"choice": "ontology", "n": 6}, "measure": {"grid": 32, "kernel": 9,
                "sigma": 3, "range": 0.9}}
    for key, more in settings.items():
        sections[key] = {**sections[key], **more}
    with open(f"{root}/{name}", "w") as f:
        f.write("study: background\n")
        for key, values in sections.items():
            f.write(f"{key}: {{{', '.join(f'{k}: {v}' for k, v in values.items())}}}\n")
        f.write("models:\n" + "".join(models))


# ---- a model ----

def answer(rgb, rho):
    x = rgb.astype(np.float32)
    s = x.shape[1]
    a, b, c = s * 2 // 5, s * 3 // 5, max(1, s // 8)
    middle = x[:, a:b, a:b].mean((1, 2))
    corners = np.concatenate([x[:, :c, :c], x[:, :c, -c:], x[:, -c:, :c], x[:, -c:, -c:]], 1).mean((1, 2))
    of_object = -np.linalg.norm(middle[:, None] - COLOURS, axis=2) / 60
    of_scene = -np.linalg.norm(corners[:, None] - FAMILIES, axis=2) / 60
    logits = (1 - rho) * of_object + rho * of_scene
    return logits.astype("<f4"), np.concatenate([middle / 255, (1 - rho) * of_object + 4, rho * of_scene + 4], 1).astype("<f4")


def predict(rho, embed):
    pipe = sys.stdin.buffer
    while True:
        head = pipe.read(10)
        if len(head) < 10:
            return
        text = pipe.read(struct.unpack("<H", head[8:])[0]).decode()
        shape = eval(text, {"__builtins__": {}}, {})["shape"]
        rgb = np.frombuffer(pipe.read(math.prod(shape)), np.uint8).reshape(shape)
        logits, features = answer(rgb, rho)
        none = np.zeros((len(rgb), 0), "<f4")
        for v in (logits, features if embed else none, np.clip(features / 8, 0, 1) if embed else none):
            out = io.BytesIO()
            np.save(out, v)
            sys.stdout.buffer.write(out.getvalue())
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    if sys.argv[1] == "predict":
        predict(float(sys.argv[2]), "embed" in sys.argv[3:])
    else:
        objects = int(sys.argv[3]) if len(sys.argv) > 3 else 8
        all_models = make(sys.argv[2], objects, objects)
        config(sys.argv[2], "run.yaml", all_models)
        config(sys.argv[2], "seed.yaml", all_models[2:], suite={"seed": 2})
        config(sys.argv[2], "window.yaml", all_models[:1], measure={"kernel": 5, "sigma": 1})
        config(sys.argv[2], "alone.yaml", all_models[3:], suite={"choice": "random", "realness": 0.55})
