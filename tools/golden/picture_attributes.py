#!/usr/bin/env python3
"""What numpy and Pillow say of the pictures of the tests: tests/golden/picture_attributes.txt.

    picture_attributes.py tests            writes it: a line for each picture, its path and its numbers

Numbers as in spotter/discover.h (spot_attributes_of_pictures): brightness, contrast, colourfulness (Hasler & Suesstrunk 2003),
sharpness, entropy, aspect, pixels, transparency. Written with Pillow 13.0 and numpy 2; pictures that Pillow cannot read as
RGB, and those in LEFT_OUT, are left out."""
import glob
import os
import sys

import numpy as np
from PIL import Image


# Files that Spotter refuses as damaged; Pillow's RGBA does not know that a grey of 2 bits is transparent.
LEFT_OUT = ("scans", "too_few_rows", "gray_2_trns")


def numbers(path):
    im = Image.open(path)
    if im.mode.startswith("I") or im.mode == "F":
        return None
    alpha = np.asarray(im.convert("RGBA"))[..., 3] if im.format == "PNG" else np.array([255])
    rgb = im.convert("RGB")
    x, grey = np.asarray(rgb).astype(float), np.asarray(rgb.convert("L")).astype(float)
    rg, yb = x[..., 0] - x[..., 1], (x[..., 0] + x[..., 1]) / 2 - x[..., 2]
    colour = np.hypot(rg.std(), yb.std()) + 0.3 * np.hypot(rg.mean(), yb.mean())
    inner = grey[1:-1, 1:-1]
    lap = grey[1:-1, :-2] + grey[1:-1, 2:] + grey[:-2, 1:-1] + grey[2:, 1:-1] - 4 * inner
    lap = lap if lap.size else np.zeros(1)
    share = np.bincount(grey.astype(int).ravel(), minlength=256) / grey.size
    entropy = -(share[share > 0] * np.log2(share[share > 0])).sum()
    h, w = grey.shape
    return grey.mean(), grey.std(), colour, lap.var(), abs(entropy), w / h, w * h, 1 - alpha.mean() / 255


def main(tests):
    lines = []
    for path in sorted(glob.glob(os.path.join(tests, "fuzz", "corpus_*", "*"))):
        kind = os.path.basename(os.path.dirname(path)).split("_")[1]
        if kind not in ("png", "jpeg", "webp", "bmp", "tiff", "gif") or os.path.basename(path) in LEFT_OUT:
            continue
        try:
            found = numbers(path)
        except Exception:                      # a broken file, which is for other tests
            continue
        if found:
            lines.append(os.path.relpath(path, tests) + " " + " ".join(f"{v:.10g}" for v in found))
    with open(os.path.join(tests, "golden", "picture_attributes.txt"), "w") as f:
        f.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
