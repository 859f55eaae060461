#!/usr/bin/env python3
"""Boxes around COCO's outlines: tests/golden/coco_boxes.txt.

    pip install pycocotools numpy
    tools/golden/coco_boxes.py tests/golden/coco_outlines.txt > tests/golden/coco_boxes.txt

A line for each outline of that file: x, y, width, height. Run lengths: pycocotools' toBbox. Polygons: from the least to the
greatest corner, as COCO's own boxes are.
"""
import json
import sys

import numpy as np
import pycocotools
from pycocotools import mask

print(f"# pycocotools {getattr(pycocotools, '__version__', '2')}, tools/golden/coco_boxes.py")
for line in open(sys.argv[1]):
    if line.startswith("#"):
        continue
    width, height, outline = line.split("\t")[:3]
    outline = json.loads(outline)
    if isinstance(outline, list):
        corners = np.concatenate([np.reshape(p, (-1, 2)) for p in outline])
        box = np.concatenate([corners.min(0), corners.max(0) - corners.min(0)])
    else:
        run = mask.frPyObjects(outline, *outline["size"]) if isinstance(outline["counts"], list) else outline
        box = mask.toBbox(run)
    print(*(repr(float(v)) for v in box))
