#!/usr/bin/env python3
"""PIL's time for bench/bench_resize.c's rows on one core: 640 x 480 to 224 pixels, bicubic, and the same from a JPEG.

    resize_pil.py       a line a case: op, case, seconds a picture
"""
import io
import time

import numpy as np
from PIL import Image

PICTURES = 64


def painted():
    y, x = np.mgrid[0:480, 0:640]
    noise = 4 * np.random.default_rng(1).standard_normal((480, 640, 3))
    planes = np.stack([128 + 60 * np.sin(x / 10) + 50 * np.cos((y + k) / 10) for k in range(3)], -1)
    return Image.fromarray((planes + noise).clip(0, 255).astype("u1"))


def squared(image):
    return image.resize((298, 224), Image.BICUBIC).crop((37, 0, 261, 224))


def report(case, work):
    work()
    start = time.perf_counter()
    for _ in range(PICTURES):
        work()
    print(f"resize\t{case}\t{(time.perf_counter() - start) / PICTURES:.6f}")


image, file = painted(), io.BytesIO()
image.save(file, "JPEG", quality=90)
report("640 x 480 to 224, bicubic", lambda: squared(image))
report("JPEG of 640 x 480, decoded, to 224, bicubic", lambda: squared(Image.open(io.BytesIO(file.getvalue())).convert("RGB")))
