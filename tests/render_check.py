"""render_check.py DIR - the folders that tests/test_render.sh has made by `spotter render`."""
import csv
import sys

import numpy as np
from PIL import Image

root = sys.argv[1]


def rows(name):
    with open(f"{root}/{name}/conditions.csv", newline="") as f:
        return list(csv.DictReader(f))


def picture(name, path):
    return np.asarray(Image.open(f"{root}/{name}/{path}"))


# Masks and depths are those of the picture: a pixel without the object is the background's, sRGB of .2.
lines = rows("a")
assert len(lines) == 60 and len({r["file"] for r in lines}) == 60 and len({r["object"] for r in lines}) == 6
for r in lines:
    rgb, mask, depth = picture("a", r["file"]), picture("a", r["mask"]), np.load(f"{root}/a/{r['depth']}")
    assert rgb.shape == (32, 32, 3) and mask.shape == depth.shape == (32, 32) and depth.dtype == np.float32
    assert (rgb[mask == 0] == 124).all() and ((mask > 0) == (depth > 0)).all()
    assert abs(float(r["area"]) - (mask / 255).mean()) < 0.01, (r["area"], (mask / 255).mean())
    near = depth[depth > 0]
    distance = float(r["camera_distance"])
    assert not near.size or (near > distance - 0.51).all() and (near < distance + 0.51).all(), "within half a diagonal"
    assert r["file"].startswith(f"images/{r['class']}/") and r["valid"] in "01"

# A grid: every combination, twice; the sun's energy is random, its rotation the same for all renders of an object.
lines = rows("grid")
assert len(lines) == 6 * 4 * 3 * 2
for name in {r["object"] for r in lines}:
    own = [r for r in lines if r["object"] == name]
    pairs = [(float(r["camera_azimuth"]), float(r["camera_elevation"])) for r in own]
    assert pairs == [(a, e) for a in (0, 90, 180, 270) for e in (-30, 0, 30) for _ in range(2)], pairs
    assert len({r["sun_x"] for r in own}) == len({r["camera_distance"] for r in own}) == 1
    energy = [float(r["sun_energy"]) for r in own]
    assert len(set(energy)) == len(energy) and 1 <= min(energy) and max(energy) <= 3
    assert {float(r["camera_roll"]) for r in own} == {0}

# A config's factors: the elevation alone varies; another seed is another sun.
assert len(rows("config")) == 6 and rows("config")[0]["sun_x"] != rows("grid")[0]["sun_x"]

# A model saw these in `spotter examine`: each of the first random renders of each object.
seen = {p.tobytes() for p in np.load(f"{root}/seen.npy")}
lines = rows("same")
assert len(lines) == 60 and all(picture("same", r["file"]).tobytes() in seen for r in lines)
