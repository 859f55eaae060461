#!/usr/bin/env python3
"""Tall and wide pictures as an installed Pillow resizes them, cut as torchvision's CenterCrop does.

    resize.py tests                  writes tests/golden/resize_VERSION.bin, VERSION of the Pillow that runs it: 12 or 13

Written with Pillow 12.2 and 13.0 (pip install pillow==12.2.0 numpy): from 13 on tall pictures are filtered along their
columns first. For each case int32 width, height, resize (-1: both sides to crop), crop, filter (0 bilinear, 1 bicubic), then
crop x crop x 3 bytes. The pictures are made by picture(), which tests/test_picture_kinds.c has, too.
"""
import struct
import sys

import numpy as np
import PIL
from PIL import Image

SIZES = [(40, 120), (120, 40), (26, 256), (256, 26), (51, 120), (60, 80), (37, 37), (80, 60), (9, 90), (61, 123)]
CASES = [(24, 10), (26, 12), (-1, 11), (0, 9), (64, 14)]


def picture(width, height):
    x = (np.arange(3 * width * height, dtype=np.uint32) + 1) * np.uint32(2654435761)
    x = (x ^ (x >> 15)) * np.uint32(2246822519)
    return (x >> 24).astype("u1").reshape(height, width, 3)


def fitted(image, resize, crop, how):
    how = (Image.Resampling.BILINEAR, Image.Resampling.BICUBIC)[how]
    w, h = image.size
    if resize < 0:
        return image.resize((crop, crop), how)
    if resize:
        short = min(w, h)
        wide, high = (w * resize // short, h * resize // short)
        image = image.resize((wide, high), how) if (wide, high) != (w, h) else image
        w, h = wide, high
    if w < crop or h < crop:                   # torchvision pads with black
        left, top = max((crop - w) // 2, 0), max((crop - h) // 2, 0)
        padded = Image.new("RGB", (max(w, crop), max(h, crop)))
        padded.paste(image, (left, top))
        image, (w, h) = padded, padded.size
    left, top = int(round((w - crop) / 2.0)), int(round((h - crop) / 2.0))
    return image.crop((left, top, left + crop, top + crop))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    version = PIL.__version__.split(".")[0]
    with open(f"{sys.argv[1]}/golden/resize_{version}.bin", "wb") as out:
        for width, height in SIZES:
            image = Image.fromarray(picture(width, height))
            for resize, crop in CASES:
                if max(width, height) * resize > 300 * min(width, height):
                    continue
                for how in (0, 1):
                    out.write(struct.pack("<5i", width, height, resize, crop, how) + fitted(image, resize, crop, how).tobytes())
