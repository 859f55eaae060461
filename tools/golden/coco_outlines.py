#!/usr/bin/env python3
"""Masks of COCO's outlines as pycocotools draws them: tests/golden/coco_outlines.txt.

    pip install pycocotools numpy
    tools/golden/coco_outlines.py > tests/golden/coco_outlines.txt

A line: width, height, the JSON of "segmentation", and the run lengths of the mask down its columns, first of 0; tabs between.
"""
import json

import numpy as np
import pycocotools
from pycocotools import mask

rng = np.random.default_rng(18)


def polygon(width, height, corners, spread):
    """A star around a middle, whose corners may lie outside of the picture; rounded as COCO rounds, or to halves and fifths."""
    middle, turn = rng.uniform(0.3, 0.7, 2) * (width, height), np.sort(rng.uniform(0, 2 * np.pi, corners))
    points = middle + rng.uniform(0.1, spread, corners)[:, None] * (width, height) * np.stack([np.cos(turn), np.sin(turn)], 1)
    step = rng.choice([0.01, 0.1, 0.5, 1])
    return [round(float(v), 2) for v in (np.round(points / step) * step).ravel()]


def counts_of(plane):
    flat = plane.ravel(order="F")
    edges = np.flatnonzero(np.diff(flat)) + 1
    runs = np.diff(np.concatenate([[0], edges, [flat.size]])).tolist()
    return [0, *runs] if flat[0] else runs


def cases():
    yield 12, 9, [[2, 2, 9, 2, 9, 7, 2, 7]]                            # a rectangle
    yield 12, 9, [[0, 0, 12, 0, 12, 9, 0, 9]]                          # everything
    yield 12, 9, [[2, 2, 2, 2, 8, 3, 8, 3, 5, 8]]                      # corners that are there twice
    yield 12, 9, [[3, 3, 3.2, 3.1, 3.1, 3.3]]                          # less than a pixel
    yield 20, 16, [[-5, -3, 30, 4, 12, 25]]                            # outside on three sides
    for _ in range(24):
        width, height = (int(v) for v in rng.integers(5, 40, 2))
        yield width, height, [polygon(width, height, int(rng.integers(3, 12)), float(rng.choice([0.4, 0.9])))
                              for _ in range(rng.integers(1, 4))]
    for k in range(4):
        width, height = (int(v) for v in rng.integers(3, 30, 2))
        plane = (rng.random((height, width)) < (0.5, 0.1, 0.9, 1)[k]).astype(np.uint8)
        yield width, height, {"size": [height, width], "counts": counts_of(plane)}
        text = mask.encode(np.asfortranarray(plane))["counts"].decode()
        yield width, height, {"size": [height, width], "counts": text}


print(f"# pycocotools {getattr(pycocotools, '__version__', '2')}, tools/golden/coco_outlines.py")
for width, height, outline in cases():
    if isinstance(outline, list):
        run = mask.merge(mask.frPyObjects(outline, height, width))
    elif isinstance(outline["counts"], list):
        run = mask.frPyObjects(outline, height, width)
    else:
        run = outline
    print(width, height, json.dumps(outline), " ".join(map(str, counts_of(mask.decode(run)))), sep="\t")
