"""tests/golden/mesh: small models in each format, with the traps of real files, and facts.txt, what trimesh and Pillow say.

    pip install trimesh numpy pillow          (trimesh 5.2.0 made the committed facts)
    mesh.py OUT

A line of facts.txt: file, triangles, area and extents (x, y, z of the file) of a mesh whose box has a diagonal of 1, then the
mean alpha of all textures' texels and their number."""
import json
import os
import struct
import sys

import numpy as np
import trimesh
from PIL import Image

out = sys.argv[1]
os.makedirs(out, exist_ok=True)


def path(name):
    return os.path.join(out, name)


# --- chest.obj: polygons (one concave, whose first corner is the one from which trimesh's fan is right), negative indices,
# CRLF, a face with a repeated corner, a line, a vertex that no face uses, textures that are missing, absolute and outside,
# holes in a picture of their own, spaces in a name.
rng = np.random.default_rng(7)
wood = rng.integers(0, 256, (6, 5, 4), dtype=np.uint8)
leaf = rng.integers(0, 256, (4, 4), dtype=np.uint8)
Image.fromarray(wood, "RGBA").save(path("wood grain.png"))
Image.fromarray(leaf, "L").save(path("leaf.png"))
circle = [(np.cos(a), 2 + 0.5 * np.sin(a), np.sin(a)) for a in 2 * np.pi * np.arange(9) / 9]
lines = ["# a chest", "mtllib chest.mtl", "v 90 90 90"]
lines += ["v %g %g %g" % p for p in [(0, 0, 0), (2, 0, 0), (2, 0, 3), (1, 0, 1), (0, 0, 3)]]
lines += ["v %.9g %.9g %.9g" % p for p in circle]
lines += ["vt 0 0", "vt 1 0", "vt 1 1", "vt 0 1", "vt 0.5 0.5", "usemtl wood", "f 5/5 6/4 2/1 3/2 4/3", "usemtl leaf",
          "f " + " ".join(str(i) for i in range(-9, 0)), "l 2 3 4", "usemtl nowhere", "f 2 2 3", "usemtl plain", "f 2 3 7",
          "usemtl glass", "f 4 5 8", "usemtl far", "f 4 5 9", "usemtl out", "f 4 5 10"]
with open(path("chest.obj"), "w", newline="\r\n") as f:
    f.write("\n".join(lines) + "\n")
with open(path("chest.mtl"), "w") as f:
    f.write("""newmtl wood
Kd 1 0.5 0.25
Ks 0.1 0.2 0.3
Ns 50
map_Kd wood grain.png
newmtl leaf
Kd 0 1 0
map_d leaf.png
newmtl plain
Kd 0.2 0.4 nan
Ns 5000
newmtl glass
Kd 1 1 1
d 0.25
map_Kd gone.png
newmtl far
map_Kd C:/Documents and Settings/far.jpg
newmtl out
map_Kd ../../../../etc/passwd
""")

# --- ball.ply: binary, with normals.
ball = trimesh.creation.icosphere(subdivisions=2, radius=3)
ball.apply_translation([10, -4, 2])
with open(path("ball.ply"), "wb") as f:
    f.write(trimesh.exchange.ply.export_ply(ball, vertex_normal=True))

# --- tower.gltf: a mesh on three nodes: scaled unequally, turned under a parent, mirrored. Its buffer is a file.
box = trimesh.creation.box((1, 2, 3))
v, n = box.vertices.astype("<f4"), box.faces.astype("<u2")
with open(path("tower data.bin"), "wb") as f:
    f.write(v.tobytes() + n.tobytes())
half = float(np.sqrt(0.5))
tower = {
    "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0, 1]}],
    "nodes": [{"mesh": 0, "scale": [1, 0.5, 2]},
              {"translation": [0, 5, 0], "rotation": [half, 0, 0, half], "children": [2, 3]},
              {"mesh": 0, "translation": [1, 0, 0]}, {"mesh": 0, "scale": [-1, 1, 1], "translation": [-4, 0, 0]}],
    "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "material": 0}]}],
    "materials": [{"pbrMetallicRoughness": {"baseColorFactor": [0.25, 0.5, 0.75, 0.5]}, "alphaMode": "BLEND"}],
    "buffers": [{"uri": "tower%20data.bin", "byteLength": v.nbytes + n.nbytes}],
    "bufferViews": [{"buffer": 0, "byteOffset": 0, "byteLength": v.nbytes},
                    {"buffer": 0, "byteOffset": v.nbytes, "byteLength": n.nbytes}],
    "accessors": [{"bufferView": 0, "componentType": 5126, "count": len(v), "type": "VEC3",
                   "min": v.min(0).tolist(), "max": v.max(0).tolist()},
                  {"bufferView": 1, "componentType": 5123, "count": n.size, "type": "SCALAR"}]}
with open(path("tower.gltf"), "w") as f:
    json.dump(tower, f)

# --- sign.glb: a square with an embedded picture whose alpha is cut at 0.5.
Image.fromarray(wood, "RGBA").save("/tmp/sign.png")
with open("/tmp/sign.png", "rb") as f:
    png = f.read()
os.remove("/tmp/sign.png")
png += b"\0" * (-len(png) % 4)
v = np.array([[0, 0, 0], [4, 0, 0], [4, 3, 0], [0, 3, 0]], "<f4")
at = np.array([[0, 1], [1, 1], [1, 0], [0, 0]], "<f4")
n = np.array([0, 1, 2, 0, 2, 3], "<u2")
parts = [v.tobytes(), at.tobytes(), n.tobytes(), png]
ends = np.cumsum([0] + [len(p) for p in parts]).tolist()
sign = {
    "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
    "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "TEXCOORD_0": 1}, "indices": 2, "material": 0}]}],
    "materials": [{"alphaMode": "MASK", "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}],
    "textures": [{"source": 0}], "images": [{"bufferView": 3, "mimeType": "image/png"}],
    "buffers": [{"byteLength": ends[-1]}],
    "bufferViews": [{"buffer": 0, "byteOffset": a, "byteLength": len(p)} for a, p in zip(ends, parts)],
    "accessors": [{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3", "min": [0, 0, 0], "max": [4, 3, 0]},
                  {"bufferView": 1, "componentType": 5126, "count": 4, "type": "VEC2"},
                  {"bufferView": 2, "componentType": 5123, "count": 6, "type": "SCALAR"}]}
text = json.dumps(sign).encode()
text += b" " * (-len(text) % 4)
with open(path("sign.glb"), "wb") as f:
    f.write(struct.pack("<4sII", b"glTF", 2, 28 + len(text) + ends[-1]) + struct.pack("<I4s", len(text), b"JSON") + text
            + struct.pack("<I4s", ends[-1], b"BIN\0") + b"".join(parts))


def cut(rgba):
    return np.where(rgba[..., 3] / 255 >= 0.5, 255, 0)


alphas = {"chest.obj": np.concatenate([wood[..., 3].ravel(), leaf.ravel()]), "ball.ply": np.zeros(0), "tower.gltf": np.zeros(0),
          "sign.glb": cut(wood).ravel()}
os.link(path("tower data.bin"), path("tower%20data.bin"))      # trimesh takes the URI for a name
with open(path("facts.txt"), "w") as f:
    for name, alpha in alphas.items():
        scene = trimesh.load(path(name), process=False, force="scene")
        mesh = scene.to_mesh() if hasattr(scene, "to_mesh") else scene.dump(concatenate=True)
        faces = mesh.faces[mesh.area_faces > 1e-12]
        used = mesh.vertices[faces.ravel()]
        extent = used.max(0) - used.min(0)
        scale = 1 / np.linalg.norm(extent)
        f.write("%s %d %.9g %.9g %.9g %.9g %.9g %d\n" % ((name, len(faces), mesh.area * scale * scale) + tuple(extent * scale)
                                                      + (alpha.mean() if len(alpha) else 0, len(alpha))))
os.remove(path("tower%20data.bin"))
