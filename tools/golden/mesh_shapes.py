#!/usr/bin/env python3
"""tests/golden/mesh_shapes: the outlines of many models as plain numpy sees them, for tests/test_mesh_shapes.c. The readers and
the rasteriser here are their own: polygons are never cut into triangles, their corners are projected and filled by the even-odd
rule; files are read by their specifications.

    mesh_shapes.py OUT          (numpy and Pillow)

OUT gets models in each format (see own_models), shapes.txt and outlines.png. A line of shapes.txt is: the name of a model in
this folder, or its path in Debian's assimp-testmodels; its area where its box has a diagonal of 1; the box's sides x, y, z with
z up. outlines.png has its VIEWS below each other, SIZE pixels a side, model by model."""
import base64
import json
import math
import os
import struct
import sys

import numpy as np
from PIL import Image

MODELS = "/usr/share/assimp/models/"
SIZE, ANGLE = 96, 49.13
VIEWS = [(30, 20, 1.6), (115, -35, 1.3), (170, 75, 2)]         # azimuth, elevation, distance


# --- readers: a list of polygons, each (corners, 3)

def read_obj(b, folder):
    text = b.decode("latin1").replace("\\\r\n", " ").replace("\\\n", " ").replace("\xef\xbb\xbf", "")
    v, polygons = [], []
    for line in text.splitlines():
        w = line.split("#")[0].split()
        if w and w[0] == "v":
            v.append([float(x) for x in w[1:4]])
        if w and w[0] == "f":
            i = [int(x.split("/")[0]) for x in w[1:]]
            polygons.append([k - 1 if k > 0 else len(v) + k for k in i])
    v = np.array(v)
    return [v[p] for p in polygons]


def read_ply(b, folder):
    end = b.index(b"end_header")
    at = b.index(b"\n", end) + 1
    kinds = {"char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1", "short": "i2", "int16": "i2", "ushort": "u2",
             "uint16": "u2", "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4", "float": "f4", "float32": "f4",
             "double": "f8", "float64": "f8"}
    elements, order = [], "text"
    for line in b[:end].decode("latin1").split("\n"):
        w = line.split()
        if w[:1] == ["format"]:
            order = {"ascii": "text", "binary_little_endian": "<", "binary_big_endian": ">"}[w[1]]
        if w[:1] == ["element"]:
            elements.append((w[1], int(w[2]), []))
        if w[:1] == ["property"]:
            elements[-1][2].append((w[-1], w[2] if w[1] == "list" else None, w[3] if w[1] == "list" else w[1]))
    words = iter(b[at:].split()) if order == "text" else None

    def take(kind):
        nonlocal at
        if words:
            return float(next(words))
        x = np.frombuffer(b, order + kinds[kind], 1, at)[0]
        at += x.itemsize
        return float(x)
    v, polygons = [], []
    for name, n, properties in elements:
        for _ in range(n):
            row = {}
            for p, count, kind in properties:
                row[p] = [take(kind) for _ in range(int(take(count)))] if count else take(kind)
            if name == "vertex":
                v.append([row["x"], row["y"], row["z"]])
            if name == "face":
                polygons.append([int(i) for i in row.get("vertex_indices", row.get("vertex_index"))])
    v = np.array(v)
    return [v[p] for p in polygons]


def read_stl(b, folder):
    n = struct.unpack("<I", b[80:84])[0] if len(b) >= 84 else 0
    if len(b) >= 84 + 50 * n and n and b"facet" not in b[:200]:
        rows = np.frombuffer(b, np.dtype([("v", "<f4", 12), ("a", "<u2")]), n, 84)
        return list(rows["v"].reshape(n, 4, 3)[:, 1:].astype(float))
    w = b.decode("latin1").split()
    v = [[float(x) for x in w[i + 1:i + 4]] for i, x in enumerate(w) if x == "vertex"]
    return [np.array(v[i:i + 3]) for i in range(0, len(v), 3)]


def read_off(b, folder):
    lines = [line.split("#")[0].split() for line in b.decode("latin1").splitlines()]
    lines = [w for w in lines if w]
    head = lines.pop(0)
    head[0] = head[0].lstrip("STCN").replace("OFF", "")
    head = [x for x in head if x] or lines.pop(0)
    n, m = int(head[0]), int(head[1])
    v = np.array([[float(x) for x in w[:3]] for w in lines[:n]])
    return [v[[int(x) for x in w[1:1 + int(w[0])]]] for w in lines[n:n + m]]


def read_gltf(b, folder):
    body = None
    if b[:4] == b"glTF":
        n = struct.unpack("<I", b[12:16])[0]
        doc, body = json.loads(b[20:20 + n]), b[28 + n:]
    else:
        doc = json.loads(b.decode("utf-8-sig"))

    def bytes_of(buffer):
        uri = buffer.get("uri")
        if uri is None:
            return body
        if uri.startswith("data:"):
            return base64.b64decode(uri.split(",")[1])
        return open(os.path.join(folder, uri.replace("%20", " ")), "rb").read()

    def array(i):
        a = doc["accessors"][i]
        view = doc["bufferViews"][a["bufferView"]]
        kind = np.dtype({5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}[a["componentType"]])
        width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}[a["type"]]
        step = view.get("byteStride", width * kind.itemsize)
        data = bytes_of(doc["buffers"][view["buffer"]])
        at = view.get("byteOffset", 0) + a.get("byteOffset", 0)
        rows = np.ndarray((a["count"], width), kind, data, at, (step, kind.itemsize))
        return np.array(rows)

    def matrix(node):
        if "matrix" in node:
            return np.array(node["matrix"]).reshape(4, 4).T
        x, y, z, w = node.get("rotation", [0, 0, 0, 1])
        r = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                      [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                      [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])
        m = np.eye(4)
        m[:3, :3] = r * np.array(node.get("scale", [1, 1, 1]))
        m[:3, 3] = node.get("translation", [0, 0, 0])
        return m
    polygons = []

    def walk(i, outer):
        node = doc["nodes"][i]
        m = outer @ matrix(node)
        for p in doc["meshes"][node["mesh"]]["primitives"] if "mesh" in node else []:
            v = array(p["attributes"]["POSITION"]).astype(float) @ m[:3, :3].T + m[:3, 3]
            k = array(p["indices"])[:, 0] if "indices" in p else np.arange(len(v))
            mode = p.get("mode", 4)
            t = {4: [k[i:i + 3] for i in range(0, len(k) - 2, 3)], 5: [k[i:i + 3] for i in range(len(k) - 2)],
                 6: [k[[0, i, i + 1]] for i in range(1, len(k) - 1)]}.get(mode, [])
            polygons.extend(v[c.astype(int)] for c in t)
        for child in node.get("children", []):
            walk(child, m)
    for root in doc["scenes"][doc.get("scene", 0)]["nodes"]:
        walk(root, np.eye(4))
    return polygons


READERS = {"obj": read_obj, "ply": read_ply, "stl": read_stl, "off": read_off, "gltf": read_gltf, "glb": read_gltf}


# --- shapes

def area_of(p):
    """Newell's sum, from the first corner."""
    d = p[1:] - p[0]
    return np.linalg.norm(np.cross(d[:-1], d[1:]).sum(0)) / 2


def placed(polygons):
    polygons = [p for p in polygons if len(p) > 2 and np.isfinite(p).all() and area_of(p) > 0]
    every = np.concatenate(polygons)
    low, high = every.min(0), every.max(0)
    scale = np.linalg.norm(high - low)
    turned = lambda v: np.stack([v[..., 0], -v[..., 2], v[..., 1]], -1)
    return [turned((p - (low + high) / 2) / scale) for p in polygons], np.abs(turned((high - low) / scale))


def outline(polygons, azimuth, elevation, distance):
    a, u = math.radians(azimuth), math.radians(elevation)
    back = np.array([math.cos(a) * math.cos(u), math.sin(a) * math.cos(u), math.sin(u)])
    right = np.array([-math.sin(a), math.cos(a), 0])
    up = np.array([-math.sin(u) * math.cos(a), -math.sin(u) * math.sin(a), math.cos(u)])
    scale = SIZE / 2 / math.tan(math.radians(ANGLE / 2))
    seen = np.zeros((SIZE, SIZE), bool)
    for p in polygons:
        depth = distance - p @ back
        x, y = SIZE / 2 + scale * (p @ right) / depth, SIZE / 2 - scale * (p @ up) / depth
        left, top = max(int(x.min() - .5), 0), max(int(y.min() - .5), 0)
        end, bottom = min(int(x.max() + 1.5), SIZE), min(int(y.max() + 1.5), SIZE)
        if left >= end or top >= bottom:
            continue
        px, py = np.arange(left, end)[None, :] + .5, np.arange(top, bottom)[:, None] + .5
        odd = np.zeros((bottom - top, end - left), bool)
        for i in range(len(p)):
            j = (i + 1) % len(p)
            if y[i] != y[j]:
                crosses = (y[i] <= py) != (y[j] <= py)
                odd ^= crosses & (px < x[i] + (py - y[i]) * (x[j] - x[i]) / (y[j] - y[i]))
        seen[top:bottom, left:end] |= odd
    return seen


# --- models of our own

def gear(teeth, depth, seed):
    """A wheel of one concave polygon a side."""
    r = np.random.default_rng(seed)
    a = np.arange(2 * teeth) * math.pi / teeth + r.uniform(-.02, .02, 2 * teeth)
    radius = np.where(np.arange(2 * teeth) % 2, 1, .55) * r.uniform(.9, 1.1, 2 * teeth)
    ring = np.stack([radius * np.cos(a), 0 * a, radius * np.sin(a)], -1)
    v = np.concatenate([ring, ring + [0, depth, 0]])
    n = 2 * teeth
    sides = [[i, i + n, (i + 1) % n + n, (i + 1) % n] for i in range(n)]
    return v, [list(range(n)), list(range(2 * n - 1, n - 1, -1))] + sides


def own_models(out):
    def put(name, data):
        with open(os.path.join(out, name), "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())
        return name
    names = []
    for k, away in enumerate((0, 0, 4567890.123)):
        v, faces = gear(7 + 2 * k, .3 + .2 * k, k)
        v = v + away
        names.append(put(f"gear{k}.obj", "".join("v %.9f %.9f %.9f\n" % tuple(p) for p in v) + "".join(
            "f " + " ".join(str(i + 1) for i in f) + "\n" for f in faces)))
        names.append(put(f"gear{k}.off", f"OFF{len(v)} {len(faces)} 0\n" + "".join("%.9f %.9f %.9f\n" % tuple(p) for p in v)
                         + "".join(f"{len(f)} " + " ".join(map(str, f)) + " 200 100 50\n" for f in faces)))
        for order, word in (("<", "little"), (">", "big")):
            head = (f"ply\nformat binary_{word}_endian 1.0\nelement vertex {len(v)}\nproperty double x\nproperty double y\n"
                    f"property double z\nelement face {len(faces)}\nproperty uchar red\nproperty uchar green\nproperty uchar "
                    "blue\n"
                    "property list uchar uint vertex_index\nend_header\n")
            data = b"".join(struct.pack(order + "3d", *p) for p in v)
            data += b"".join(struct.pack(f"{order}4B{len(f)}I", 10, 200, 30, len(f), *f) for f in faces)
            names.append(put(f"gear{k}_{word}.ply", head.encode() + data))
    return names


DEBIAN = """OBJ/WusonOBJ.obj OBJ/box.obj OBJ/box_without_lineending.obj OBJ/concave_polygon.obj OBJ/cube_usemtl.obj
OBJ/cube_with_vertexcolors.obj OBJ/empty_mat.obj OBJ/regr01.obj OBJ/regr_3429812.obj OBJ/space_in_material_name.obj
OBJ/spider.obj OBJ/testmixed.obj OBJ/box_mat_with_spaces.obj OBJ/cube_mtllib_after_g.obj OBJ/cube_with_vertexcolors_uni.obj
OFF/Cube.off OFF/Wuson.off PLY/Wuson.ply PLY/cube.ply PLY/cube_binary.ply PLY/cube_uv.ply PLY/float-color.ply
STL/3DSMaxExport.STL STL/Spider_ascii.stl STL/Spider_binary.stl STL/Wuson.stl STL/sphereWithHole.stl STL/triangle.stl
STL/triangle_with_two_solids.stl STL/triangle_with_empty_solid.stl
glTF2/BoxBadNormals-glTF-Binary/BoxBadNormals.glb
glTF2/BoxTexcoords-glTF/boxTexcoords.gltf glTF2/BoxTextured-glTF/BoxTextured.gltf
glTF2/BoxTextured-glTF-Binary/BoxTextured.glb glTF2/BoxTextured-glTF-Embedded/BoxTextured.gltf
glTF2/BoxTextured-glTF-pbrSpecularGlossiness/BoxTextured.gltf glTF2/ClearCoat-glTF/ClearCoatTest.gltf
glTF2/cameras/Cameras.gltf glTF2/glTF-Asset-Generator/Mesh_PrimitiveMode/Mesh_PrimitiveMode_04.gltf
glTF2/glTF-Asset-Generator/Mesh_PrimitiveMode/Mesh_PrimitiveMode_05.gltf
glTF2/glTF-Asset-Generator/Mesh_PrimitiveMode/Mesh_PrimitiveMode_06.gltf
glTF2/glTF-Asset-Generator/Mesh_PrimitiveMode/Mesh_PrimitiveMode_11.gltf
glTF2/glTF-Asset-Generator/Mesh_PrimitiveMode/Mesh_PrimitiveMode_12.gltf
glTF2/glTF-Sample-Models/AnimatedMorphCube-glTF/AnimatedMorphCube.gltf
glTF2/textureTransform/TextureTransformTest.gltf""".split()


def main():
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    lines, pictures = [], []
    for name in own_models(out) + [MODELS + n for n in DEBIAN]:
        path = os.path.join(out, name)
        with open(path, "rb") as f:
            polygons = READERS[name.rsplit(".", 1)[1].lower()](f.read(), os.path.dirname(path))
        polygons, sides = placed(polygons)
        lines.append("%s %.8g %.8g %.8g %.8g\n" % (name, sum(map(area_of, polygons)), *sides))
        pictures += [outline(polygons, *v) for v in VIEWS]
        print(lines[-1], end="", flush=True)
    with open(os.path.join(out, "shapes.txt"), "w") as f:
        f.writelines(lines)
    Image.fromarray(np.concatenate(pictures)).convert("1").save(os.path.join(out, "outlines.png"), optimize=True)


main()
