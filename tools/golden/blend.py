#!/usr/bin/env python3
"""Composites by the Laplacian pyramids of OpenCV's pyrDown and pyrUp in float32.

    blend.py > tests/golden/blend.bin

Written with opencv-python-headless 5.0.0.93. For each case int32 width, height, levels; bytes of a target (height, width, 3), a
mask (height, width) and a background; float32 of the composite of all three divided by 255, not limited.
"""
import struct
import sys

import cv2
import numpy as np

CASES = [(40, 32, 5), (33, 21, 4), (20, 27, 3), (35, 18, 1), (2, 19, 4), (1, 6, 3), (5, 3, 5)]


def gaussian(picture, levels):
    pyramid = [picture]
    for _ in range(levels - 1):
        pyramid.append(cv2.pyrDown(pyramid[-1]).reshape((pyramid[-1].shape[0] + 1) // 2, (pyramid[-1].shape[1] + 1) // 2, -1))
    return pyramid


def enlarged(picture, like):
    return cv2.pyrUp(picture, dstsize=like.shape[1::-1]).reshape(like.shape)


def laplacian(picture, levels):
    g = gaussian(picture, levels)
    return [a - enlarged(b, a) for a, b in zip(g, g[1:])] + g[-1:]


def composite(target, mask, background, levels):
    mixed = [m * t + (1 - m) * b for m, t, b in zip(gaussian(mask, levels), laplacian(target, levels),
                                                  laplacian(background, levels))]
    out = mixed.pop()
    while mixed:
        level = mixed.pop()
        out = level + enlarged(out, level)
    return out


def unit(pixels):
    return pixels.astype(np.float32) / np.float32(255)


def main():
    rng = np.random.default_rng(18)
    for width, height, levels in CASES:
        target, background = (rng.integers(0, 256, (height, width, 3), dtype=np.uint8) for _ in range(2))
        mask = (255 * (rng.random((height, width, 1)) > 0.5)).astype(np.uint8)
        mask[: height // 2] = rng.integers(0, 256, (height // 2, width, 1))
        # OpenCV drops the last axis of one channel: the mask has three
        out = composite(unit(target), np.repeat(unit(mask), 3, 2), unit(background), levels)
        sys.stdout.buffer.write(struct.pack("<3i", width, height, levels) + target.tobytes() + mask.tobytes() +
                                background.tobytes() + out.astype("<f4").tobytes())


main()
