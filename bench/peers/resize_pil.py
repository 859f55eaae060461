#!/usr/bin/env python3
"""PIL's time for bench/bench_resize.c's rows on one core: 640 x 480 to 224 pixels, bicubic, and the same from a JPEG.

    resize_pil.py       milliseconds a picture
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


def milliseconds(work):
    work()
    start = time.perf_counter()
    for _ in range(PICTURES):
        work()
    return 1e3 * (time.perf_counter() - start) / PICTURES


image, file = painted(), io.BytesIO()
image.save(file, "JPEG", quality=90)
print(f"resize: {milliseconds(lambda: squared(image)):.3f} ms")
print(f"decode and resize: {milliseconds(lambda: squared(Image.open(io.BytesIO(file.getvalue())).convert('RGB'))):.3f} ms")
