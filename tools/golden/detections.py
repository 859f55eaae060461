#!/usr/bin/env python3
"""Matches of detections and objects as pycocotools finds them: tests/golden/detections_truth.json, detections_found.json and
detections_matches.txt.

    pip install pycocotools numpy
    tools/golden/detections.py tests/golden

A line of the matches: IoU, score threshold, and for every detection of the file, in its order, the id of the annotation that
COCOeval.evaluateImg matches with it, 0 for none, and - for a detection below the threshold.
"""
import contextlib
import io
import json
import sys

import numpy as np
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

rng = np.random.default_rng(21)


def box(width=64, height=48):
    """Whole, half and tenth pixels, so that equal overlaps occur; some reach beyond the picture."""
    at = rng.uniform(-4, [width - 8, height - 8])
    size = rng.uniform(2, 30, 2)
    step = rng.choice([0.125, 0.5, 1])
    return [round(float(v), 3) for v in np.round(np.concatenate([at, size]) / step) * step]


truth = {"images": [], "annotations": [], "categories": [{"id": 3, "name": "cat"}, {"id": 1, "name": "dog"},
                                                         {"id": 90, "name": "a, \"b\""}]}
found = []
for i in range(30):
    image = 1000 - 7 * i
    truth["images"].append({"id": image, "file_name": f"p{i:02d}.jpg", "width": 64, "height": 48})
    for _ in range(rng.integers(0, 7)):
        b = box()
        truth["annotations"].append({"id": 10 + len(truth["annotations"]), "image_id": image, "bbox": b, "area": b[2] * b[3],
                                     "category_id": int(rng.choice([3, 1, 90])), "iscrowd": int(rng.random() < 0.15)})
of = {i["id"]: [a for a in truth["annotations"] if a["image_id"] == i["id"]] for i in truth["images"]}
for image in list(of) * 12:
    near = of[image][rng.integers(len(of[image]))] if of[image] and rng.random() < 0.8 else None
    b = np.array(near["bbox"]) + rng.choice([0, 0.5, 1, 3, 6]) * rng.choice([-1, 0, 1], 4) if near else np.array(box())
    b[2:] = np.maximum(b[2:], 1)
    category = near["category_id"] if near and rng.random() < 0.85 else int(rng.choice([3, 1, 90]))
    found.append({"image_id": image, "category_id": category, "bbox": [float(v) for v in b],
                  "score": float(rng.choice([0.125, 0.25, 0.5, 0.5, 0.75, 0.8125, 1]))})
order = rng.permutation(len(truth["annotations"]))
truth["annotations"] = [truth["annotations"][k] for k in order]


def matches(iou, score):
    with contextlib.redirect_stdout(io.StringIO()):
        gt = COCO()
        gt.dataset = truth
        gt.createIndex()
        kept = [k for k, d in enumerate(found) if d["score"] >= score]
        run = COCOeval(gt, gt.loadRes([dict(found[k]) for k in kept]), "bbox")
        run.params.iouThrs = np.array([iou])
        run.params.areaRng, run.params.areaRngLbl, run.params.maxDets = [[0, 1e10]], ["all"], [100000]
        run.evaluate()
    out = ["-"] * len(found)
    for e in filter(None, run.evalImgs):
        for d, m in zip(e["dtIds"], e["dtMatches"][0]):
            out[kept[d - 1]] = str(int(m))           # loadRes numbers detections from 1
    return f"{iou} {score} " + " ".join(out) + "\n"


folder = sys.argv[1]
json.dump(truth, open(f"{folder}/detections_truth.json", "w"), separators=(",", ":"))
json.dump(found, open(f"{folder}/detections_found.json", "w"), separators=(",", ":"))
with open(f"{folder}/detections_matches.txt", "w") as f:
    f.writelines(matches(iou, score) for iou in (0.5, 0.3, 0.75, 0.05, 1.0) for score in (0.5, 0.0, 0.8))
