"""examine_world.py DIR [N] - N objects (4) of each of three classes as OBJ files with materials: boxes, cylinders, pyramids."""
import math
import os
import sys


def box(w, d, h):
    v = [(x * w / 2, z * h, y * d / 2) for x in (-1, 1) for y in (-1, 1) for z in (0, 1)]
    f = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return v, f


def cylinder(r, h, n=16):
    v = [(r * math.cos(2 * math.pi * i / n), z * h, r * math.sin(2 * math.pi * i / n)) for z in (0, 1) for i in range(n)]
    f = [(i, (i + 1) % n, n + (i + 1) % n, n + i) for i in range(n)]
    return v, f + [tuple(range(n)), tuple(range(2 * n - 1, n - 1, -1))]


def pyramid(w, h):
    v = [(-w / 2, 0, -w / 2), (w / 2, 0, -w / 2), (w / 2, 0, w / 2), (-w / 2, 0, w / 2), (0, h, 0)]
    return v, [(0, 1, 2, 3), (0, 4, 1), (1, 4, 2), (2, 4, 3), (3, 4, 0)]


def main(folder, n):
    shapes = {"box": (lambda k: box(1, .6 + .1 * k, .5), (.8, .2, .1)),
              "cylinder": (lambda k: cylinder(.3, .8 + .1 * k), (.1, .7, .2)),
              "pyramid": (lambda k: pyramid(1, .7 + .1 * k), (.2, .3, .9))}
    for name, (shape, colour) in shapes.items():
        os.makedirs(os.path.join(folder, name), exist_ok=True)
        for k in range(n):
            vertices, faces = shape(k)
            path = os.path.join(folder, name, "%s%d" % (name, k))
            with open(path + ".mtl", "w") as f:
                f.write("newmtl m\nKd %g %g %g\n" % colour)
            with open(path + ".obj", "w") as f:
                f.write("mtllib %s%d.mtl\nusemtl m\n" % (name, k))
                f.writelines("v %g %g %g\n" % v for v in vertices)
                f.writelines("f " + " ".join(str(i + 1) for i in face) + "\n" for face in faces)


main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 4)
