#!/usr/bin/env python3
"""Golden data of the scenes. From tests/golden: what PIL draws, and what the authors' sampler samples.

    tools/golden/scene_pil.py pil               scene_pil.txt, scene_jpeg.bin (needs python3-pil)
    tools/golden/scene_pil.py ecs SPOTCHECK     scene_ec.txt; SPOTCHECK is a checkout of njohnson99/spotcheck (f9d0ae2)
"""
import os
import random
import sys

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "golden")
LAYERS = ["background", "square", "rectangle", "circle", "text"]
ATTRIBUTES = ["presence", "size", "color", "texture", "number", "relative-position"]
BOX = {1: [(40, 40), (20, 20)], 2: [(50, 30), (25, 15)], 3: [(40, 40), (20, 20)]}
SIZE = 224


def shape(draw, layer, small, x, y, fill):
    w, h = BOX[layer][small]
    (draw.ellipse if layer == 3 else draw.rectangle)([x, y, x + w, y + h], fill=fill)


def masks(out):
    """Every row of every mask: its first and last column. Rows of these shapes have no holes."""
    from PIL import Image, ImageDraw
    for layer in BOX:
        for small in (0, 1):
            im = Image.new("L", (64, 64))
            shape(ImageDraw.Draw(im), layer, small, 0, 0, 1)
            for y in range(64):
                row = [x for x in range(64) if im.getpixel((x, y))]
                if row:
                    assert len(row) == row[-1] - row[0] + 1
                    out.write("mask %d %d %d %d %d\n" % (layer, small, y, row[0], row[-1]))


def fnv(data):
    h = 0xCBF29CE484222325
    for b in data:
        h = (h ^ b) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return h


def scenes(out):
    """Whole images without noise and text, up to four objects, one a quarter of the canvas, and their bytes' hash."""
    from PIL import Image, ImageDraw
    rng = random.Random(2023)
    for _ in range(12):
        grey, objects = rng.getrandbits(1), []
        im = Image.new("RGB", (SIZE, SIZE), (200,) * 3 if grey else (255,) * 3)
        for quarter in rng.sample(range(4), rng.randint(1, 4)):
            layer, (small, orange, stripes) = rng.randint(1, 3), [rng.getrandbits(1) for _ in range(3)]
            w, h = BOX[layer][small]
            x, y = (rng.randint(0, 112 - w) + 112 * (quarter % 2), rng.randint(0, 112 - h) + 112 * (quarter // 2))
            phase = rng.randint(0, 4)
            paint = Image.new("RGB", (SIZE, SIZE), (255, 127, 14) if orange else (31, 119, 180))
            if stripes:                       # a column is black in every other run of five, the first begun at phase
                for column in range(SIZE):
                    if (column + phase) // 5 % 2 == 0:
                        ImageDraw.Draw(paint).line([column, 0, column, SIZE], fill=(0, 0, 0))
            mask = Image.new("1", (SIZE, SIZE))
            shape(ImageDraw.Draw(mask), layer, small, x, y, 1)
            im.paste(paint, mask=mask)
            objects.append((layer, small, orange, stripes, phase, x, y))
        out.write("scene %d %d %016x\n" % (grey, len(objects), fnv(im.tobytes())))
        for o in objects:
            out.write("object %d %d %d %d %d %d %d\n" % o)


def jpeg():
    """A picture from a formula, not a multiple of the coder's blocks, after quality 75 and back."""
    import io
    from PIL import Image
    w, h = 50, 37
    data = bytes((x * 5 + y * 3 * k + (x // 9 + y // 7) % 2 * 90) % 256
                 for y in range(h) for x in range(w) for k in range(3))
    file = io.BytesIO()
    Image.frombytes("RGB", (w, h), data).save(file, "JPEG")
    with open(os.path.join(GOLDEN, "scene_jpeg.bin"), "wb") as out:
        out.write(Image.open(file).convert("RGB").tobytes())


def ecs(path, count=20000):
    """How often each (layer, attribute) varies, and how often a blindspot names it with 1 and at all."""
    import numpy
    sys.path.insert(0, path)
    import data_utils
    random.seed(1)
    numpy.random.seed(1)
    rollable, named, one, blindspots = {}, {}, {}, 0
    for _ in range(count):
        ec = data_utils.SyntheticEC()
        ec.sample()
        for pair in ec.dataset.get_active_features() + [("square", "presence")]:
            rollable[pair] = rollable.get(pair, 0) + 1
        for blindspot in ec.blindspots:
            blindspots += 1
            for layer, attribute, value in blindspot:
                named[layer, attribute] = named.get((layer, attribute), 0) + 1
                one[layer, attribute] = one.get((layer, attribute), 0) + value
    with open(os.path.join(GOLDEN, "scene_ec.txt"), "w") as out:
        out.write("%d %d\n" % (count, blindspots))
        for l, layer in enumerate(LAYERS):
            for a, attribute in enumerate(ATTRIBUTES):
                pair = (layer, attribute)
                if pair in named and pair != ("background", "presence"):
                    out.write("%d %d %d %d %d\n" % (l, a, rollable.get(pair, 0), named[pair], one[pair]))
        for small, side in ((0, 40), (1, 20)):
            out.write("above %d %d %d\n" % (small, two_squares(data_utils, side, count), count))


def two_squares(data_utils, side, count):
    """In how many of count images the topmost of two squares has its middle above the centre line."""
    above = 0
    for _ in range(count):
        boxes = []
        while len(boxes) < 2:
            box = data_utils.generate_shape_mask("rectangle", (side, side), (SIZE, SIZE))[1]
            if not any(data_utils.detect_collision(box, b) for b in boxes):
                boxes.append(box)
        above += min((b[1] + b[3]) // 2 for b in boxes) < SIZE // 2
    return above


if __name__ == "__main__":
    if sys.argv[1:] == ["pil"]:
        with open(os.path.join(GOLDEN, "scene_pil.txt"), "w") as out:
            masks(out)
            scenes(out)
        jpeg()
    elif len(sys.argv) == 3 and sys.argv[1] == "ecs":
        ecs(sys.argv[2])
    else:
        sys.exit(__doc__)
