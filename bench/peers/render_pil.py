#!/usr/bin/env python3
"""PIL's time for the images that `spotter bench render` draws, one thread each, in one run.

    render_pil.py [build/spotter] [configs/paper_synthetic.yaml]

Draws as the authors of SpotCheck do: for each object a mask of the whole canvas by PIL, for stripes and for noise a
second one by numpy, and numpy's masked assignment. Places are given, which spares PIL the masks of rejected tries.
Images without noise and text must be equal to ours to the byte. Needs python3-pil and numpy.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
from PIL import Image, ImageDraw, ImageFont

SIZE = 224
COLOR = {"blue": (31, 119, 180), "orange": (255, 127, 14)}


def font(size):
    for name in ("arial.ttf", "Arial.ttf", "LiberationSans-Regular.ttf", "DejaVuSans.ttf"):
        try:
            return ImageFont.truetype(name, size)
        except OSError:
            pass
    return ImageFont.load_default()


FONT = {25: font(25), 50: font(50)}


def object_mask(o):
    """The box comes clipped; a shape that reaches the last pixel may have been cut by one, so sizes tell its extent."""
    image = Image.fromarray(np.zeros((SIZE, SIZE)))
    draw = ImageDraw.Draw(image)
    x, y = o["box"][:2]
    half = 2 if o["size"] == "small" else 1
    if o["layer"] == "text":
        draw.text((x, y), "text", fill=1, font=FONT[25 * half])
    else:
        w, h = (50 // half, 30 // half) if o["layer"] == "rectangle" else (40 // half, 40 // half)
        (draw.ellipse if o["layer"] == "circle" else draw.rectangle)([x, y, x + w, y + h], fill=1)
    return np.array(image) == 1


def stripe_mask(phase):
    image = np.zeros((SIZE, SIZE))
    black, count = 1, phase
    for column in range(SIZE):
        image[:, column] = black
        count += 1
        if count == 5:
            count, black = 0, 1 - black
    return image == 1


def render(line):
    image = np.zeros((SIZE, SIZE, 3), dtype=np.uint8)
    image[:, :, :] = 200 if line["background"]["color"] == "grey" else 255
    if line["background"]["texture"] != "solid":
        image[np.random.uniform(size=(SIZE, SIZE)) >= 0.9] = 100
    for o in line["objects"]:
        mask = object_mask(o)
        image[mask] = COLOR[o["color"]]
        if o["texture"] == "stripes":
            image[mask * stripe_mask(o["stripe_phase"])] = 0
    return image


def main():
    spotter = sys.argv[1] if len(sys.argv) > 1 else "build/spotter"
    config = sys.argv[2] if len(sys.argv) > 2 else "configs/paper_synthetic.yaml"
    lines, compared = [], 0
    for ec in range(16):
        with tempfile.TemporaryDirectory() as out:
            subprocess.run([spotter, "scene", config, "--ec", str(ec), "--count", "8", "--out", out], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for text in open(os.path.join(out, "images.jsonl")):
                line = json.loads(text)
                lines.append(line)
                if line["background"]["texture"] == "solid" and all(o["layer"] != "text" for o in line["objects"]):
                    ours = np.array(Image.open(os.path.join(out, line["file"])))
                    if not np.array_equal(ours, render(line)):
                        sys.exit("EC %d, %s: not what PIL draws" % (ec, line["file"]))
                    compared += 1
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        for line in lines:
            render(line)
        seconds.append((time.perf_counter() - start) / len(lines))
    pil = statistics.median(seconds)
    rows = json.loads(subprocess.run([spotter, "bench", "render", "--device", "cpu", "--threads", "1", "--json"], check=True,
                                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)
    ours = [1 / row["per_s"] for row in rows if row["case"] == "224 px, bytes"][0]
    noisy = sum(line["background"]["texture"] != "solid" for line in lines)
    print("%d images at 224 px, %d of them noisy; %d compared with PIL, equal" % (len(lines), noisy, compared))
    print("PIL and numpy %.0f us an image, spotter %.1f us: %.0fx" % (1e6 * pil, 1e6 * ours, pil / ours))


main()
