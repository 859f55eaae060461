"""tests/fuzz/corpus_mesh: what spotter-mesh says of the models in tests/golden/mesh, and broken copies of it.

    mesh_answers.py BUILD"""
import os
import struct
import subprocess
import sys

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
models = os.path.join(root, "tests/golden/mesh")
out = os.path.join(root, "tests/fuzz/corpus_mesh")
os.makedirs(out, exist_ok=True)


def ask(name, folder=models):
    p = subprocess.Popen([os.path.join(sys.argv[1], "spotter-mesh")], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    p.stdin.write(struct.pack("<QQIIII", 0x33307368656d7073, 1 << 31, 10, 4000000, 65536, len(name)) + name.encode())
    p.stdin.flush()
    while True:
        kind, length = struct.unpack("<II", p.stdout.read(8))
        if kind == 3:
            return p.stdout.read()
        text = p.stdout.read(length).decode()
        assert kind == 1, text
        path = os.path.join(folder, text.replace("%20", " "))
        data = open(path, "rb").read() if os.path.exists(path) else None
        p.stdin.write(struct.pack("<Q", (1 << 64) - 1 if data is None else len(data)) + (data or b""))
        p.stdin.flush()


def write(name, data):
    with open(os.path.join(out, name), "wb") as f:
        f.write(data)


for model in ("chest.obj", "tower.gltf", "sign.glb"):
    data = ask(model)
    write(model.split(".")[0], data)
    write(model.split(".")[0] + "_cut", data[:len(data) * 2 // 3])


def head(triangles, **more):
    """spot_wire_mesh"""
    names = ("normals", "coordinates", "colours", "polygons", "crossed", "lost", "upright", "shown", "replaces", "mixed",
             "materials", "textures", "pictures")
    return struct.pack("<14I", triangles, *(more.get(n, n == "materials") for n in names))


chest = ask("chest.obj")
write("no_triangles", struct.pack("<14I", 0, *struct.unpack("<13I", chest[4:56])))
write("many_triangles", head(100000000))
write("many_materials", head(1, materials=1 << 31))
one = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0)
look = struct.pack("<8fi", 1, 2, float("nan"), -1, 0, 0, 1e9, float("inf"), -1)
write("one", head(1) + one + struct.pack("<i", 0) + look)
write("wrong_turn", head(1, upright=2) + one + struct.pack("<i", 0) + look)
write("turned", head(1, upright=1, replaces=1, shown=3, mixed=1 << 31) + one + struct.pack("<i", 0) + look)
write("wrong_material", head(1) + one + struct.pack("<i", -1) + look)
coloured = struct.pack("<9f", 0, 0.5, 1, 2, -1, float("nan"), 1, 1, 1)
write("colours", head(1, colours=1, crossed=1 << 31, lost=7) + one + coloured + struct.pack("<i", 0) + look)
broken = one.replace(struct.pack("<f", 1), struct.pack("<f", float("nan")))
write("not_a_number", head(1) + broken + struct.pack("<i", 0) + look)
write("wrong_texture",
      head(1) + one + struct.pack("<i", 0) + look[:-4] + struct.pack("<i", 7))
texture = head(1, textures=1, pictures=1) + one + struct.pack("<i", 0) + look[:-4] + struct.pack("<i", 0)
write("wrong_picture", texture + struct.pack("<3if", 3, -1, 1, 0.5) + struct.pack("<II", 0, 1) + b"x")
write("outside_picture", texture + struct.pack("<3if", 0, 0, 2, float("nan")) + struct.pack("<II", 0, 5) + b"../.x")
write("long_picture", texture + struct.pack("<3if", 0, -1, 1, 0.5) + struct.pack("<II", 1, 1 << 31))
write("broken_picture", texture + struct.pack("<3if", 0, -1, 1, 0.5) + struct.pack("<II", 1, 9) + b"\x89PNG\r\n\x1a\n!")
