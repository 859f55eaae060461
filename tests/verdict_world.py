"""verdict_world.py make DIR: red and green discs, backgrounds of both colours, and background.yaml with 9 models whose reliance
on the background goes from 0 to 1.  verdict_world.py predict RHO [one]: such a model, by the protocol of spotter/predictor.h;
one: without embeddings."""
import os
import sys
import types

import numpy as np

SIDE = 32


def make(top):
    from PIL import Image
    rng = np.random.default_rng(1)
    y, x = np.mgrid[:SIDE, :SIDE] - (SIDE - 1) / 2
    disc = x * x + y * y < 64
    for c, cls in enumerate(("green", "red")):
        os.makedirs(f"{top}/images/{cls}")
        for i in range(6):
            rgba = np.zeros((SIDE, SIDE, 4), "u1")
            rgba[..., :3] = rng.integers(100, 130, 3)
            rgba[disc] = (60 + 140 * c + rng.integers(-20, 20), 200 - 140 * c + rng.integers(-20, 20), 60, 255)
            Image.fromarray(rgba).save(f"{top}/images/{cls}/{i}.png")
    os.makedirs(f"{top}/backgrounds")
    for i in range(10):
        rgb = rng.integers(0, 256, (SIDE, SIDE, 3)) // 8 + np.array([200 - 20 * i, 20 + 20 * i, 60])
        Image.fromarray(rgb.astype("u1")).save(f"{top}/backgrounds/{i}.png")
    with open(f"{top}/background.yaml", "w") as f:
        f.write("study: background\n"
                "data: {images: images, backgrounds: backgrounds, size: 32}\n"
                "suite: {choice: random, n: 4}\n"
                "measure: {levels: 2, sets: false, grid: 12, kernel: 8, sigma: 2, neighbours: 4}\n"
                "verdict: {invariant: 0.4, variant: 0.7}\n"
                "models:\n")
        for i in range(9):
            f.write(f"  - {{name: rho-{i}, reliance: {i / 8}, command: \"/usr/bin/python3 {os.path.abspath(__file__)} predict "
                    f"{i / 8}\"}}\n")


def predict(rho, embeds):
    pipe = types.SimpleNamespace(read=sys.stdin.buffer.read, write=sys.stdout.buffer.write)     # numpy would seek in streams

    def send(a):
        np.lib.format.write_array(pipe, np.ascontiguousarray(a, "<f4"), (1, 0))
    while sys.stdin.buffer.peek(1):
        x = np.lib.format.read_array(pipe).astype("f4") / 255
        centre, corner = x[:, 14:18, 14:18].mean((1, 2)), x[:, :3].mean((1, 2))
        seen = (1 - rho) * centre + rho * corner
        red = 6 * (seen[:, 0] - seen[:, 1])
        send(np.stack([-red, red], 1))
        send(np.abs(np.concatenate([seen, seen[:, ::-1] ** 2], 1)) if embeds else np.zeros((len(x), 0)))
        send(np.concatenate([centre, seen], 1))
        sys.stdout.flush()


if sys.argv[1] == "make":
    make(sys.argv[2])
else:
    predict(float(sys.argv[2]), len(sys.argv) < 4)
