#!/usr/bin/python3
"""detector_data.py DIR [PICTURES]: pictures with discs and squares, their ground truth in COCO's format and the detections of a
detector with two weaknesses: it misses three of four small objects, and sees discs in striped pictures.

    DIR/images/*.png  DIR/truth.json  DIR/found.json"""
import json
import os
import sys

import numpy as np
from PIL import Image

WIDTH, HEIGHT = 160, 120
folder, pictures = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 300
r = np.random.default_rng(4)
os.makedirs(folder + "/images", exist_ok=True)
truth = {"images": [], "annotations": [], "categories": [{"id": 1, "name": "disc"}, {"id": 2, "name": "square"}]}
found = []


def ground(striped):
    """A grey or striped picture with noise."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    wave = 60 * np.sign(np.sin((x + y) / 3)) if striped else 0 * x
    return np.clip(128 + wave[..., None] + r.normal(0, 12, (HEIGHT, WIDTH, 3)), 0, 255)


def place(picture, disc, side):
    """Draws an object; returns its box."""
    x, y = r.integers(0, WIDTH - side), r.integers(0, HEIGHT - side)
    v, u = np.mgrid[:side, :side] + 0.5 - side / 2
    inside = u * u + v * v < side * side / 4 if disc else np.ones((side, side), bool)
    picture[y:y + side, x:x + side][inside] = (220, 40, 40) if disc else (40, 60, 210)
    return [int(x), int(y), int(side), int(side)]


def detect(image, category, box, least):
    box = [float(b + d) for b, d in zip(box, r.normal(0, 0.03 * box[2], 4))]
    found.append({"image_id": image, "category_id": category, "bbox": box, "score": round(float(r.uniform(least, 1)), 3)})


for i in range(pictures):
    striped = r.random() < 0.25
    picture = ground(striped)
    truth["images"].append({"id": i, "file_name": f"p{i:04d}.png", "width": WIDTH, "height": HEIGHT})
    for _ in range(r.integers(1, 4)):
        category, small = int(r.integers(1, 3)), r.random() < 0.3
        box = place(picture, category == 1, int(r.integers(10, 18) if small else r.integers(34, 60)))
        truth["annotations"].append({"id": len(truth["annotations"]) + 1, "image_id": i, "category_id": category, "bbox": box,
                                     "area": box[2] * box[3] * (0.785 if category == 1 else 1), "iscrowd": 0})
        if r.random() < (0.25 if small else 0.95):
            detect(i, category, box, 0.6)
    if r.random() < (0.8 if striped else 0.04):
        side = int(r.integers(30, 50))
        detect(i, 1, [r.integers(0, WIDTH - side), r.integers(0, HEIGHT - side), side, side], 0.55)
    Image.fromarray(picture.astype(np.uint8)).save(f"{folder}/images/p{i:04d}.png")
json.dump(truth, open(folder + "/truth.json", "w"))
json.dump(found, open(folder + "/found.json", "w"))
