#!/usr/bin/env python3
"""Ten views of a small model as outside renderers see it, for tests/test_render_views.c: VTK on OSMesa (coverage and light)
and Embree (coverage and depth, ray by ray).

    render_views.py OUT                writes OUT: tests/golden/render_views
    render_views.py OUT --model ARCHIVE NAME [--views N] [--size S] [--seed K]
                                       N random views of an OBJ in a zip archive, without its materials; no light
    render_views.py OUT --toy RINGS [--views N] [--size S]
                                       the object and the views of `spotter bench mesh`, by bench/peers/mesh_pyrender.py

    pip install vtk embreex trimesh numpy pillow       (vtk 9.7.2, embreex 4.4.0 and trimesh 5.2.0 made the committed files)

VTK needs libOSMesa (Debian: libosmesa6). OUT has
  views.txt   the model's name, pixels a side, the angle of view, 1 if there is light.png, the number of views; then the twelve
              conditions of each (include/spotter/mesh.h)
  cover.png   VTK at twice the size: of the four samples of a pixel those that are covered, times 63
  light.png   VTK, Phong interpolation: ambient and diffuse light, linear, black behind the object
  depth.png   Embree through the middle of each pixel: the distance along the view times 2^24 / 8 as red, green, blue; 0: none
The images of the views lie below each other. Axes, scale and camera are those of include/spotter/mesh.h and
kernels/image/render.h, written down here once more."""
import argparse
import math
import os
import sys
import zipfile

import numpy as np
from PIL import Image

HERE = os.path.dirname(os.path.abspath(__file__))
ANGLE, AMBIENT = 49.13, 0.15
SUN_X, SUN_Y, SUN_Z, LAMP_ENERGY, SUN_ENERGY, _, _, _, DISTANCE, AZIMUTH, ELEVATION, ROLL = range(12)


# --- models: triangles (n, 3, 3) in the axes of the engine, normals the same or None, colours (n, 3)

def placed(triangles):
    """y up -> z up, the middle of the box at the origin, its diagonal 1."""
    t = np.stack([triangles[..., 0], -triangles[..., 2], triangles[..., 1]], -1)
    low, high = t.reshape(-1, 3).min(0), t.reshape(-1, 3).max(0)
    return (t - (low + high) / 2) / np.linalg.norm(high - low)


def grid(place, normal, rows, columns):
    """Triangles of a surface over (rows + 1, columns + 1) places."""
    corner = []
    for i in range(rows):
        for j in range(columns):
            a, b, c, d = (i, j), (i, j + 1), (i + 1, j + 1), (i + 1, j)
            corner += [[a, b, c], [a, c, d]]
    at = np.array(corner)
    return place[at[..., 0], at[..., 1]], normal[at[..., 0], at[..., 1]]


def knot(rows=60, columns=8):
    """A tube along a trefoil knot."""
    s = 2 * math.pi * np.arange(rows + 1) / rows
    path = np.stack([np.sin(s) + 2 * np.sin(2 * s), np.cos(s) - 2 * np.cos(2 * s), -np.sin(3 * s)], -1)
    along = np.stack([np.cos(s) + 4 * np.cos(2 * s), -np.sin(s) + 4 * np.sin(2 * s), -3 * np.cos(3 * s)], -1)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    out = np.cross(along, [0, 0, 1.0])
    out /= np.linalg.norm(out, axis=1, keepdims=True)
    a = 2 * math.pi * np.arange(columns + 1) / columns
    normal = np.cos(a)[None, :, None] * out[:, None] + np.sin(a)[None, :, None] * np.cross(along, out)[:, None]
    return grid(path[:, None] + 0.45 * normal, normal, rows, columns)


def bowl(rows=6, columns=20):
    """Half of a ball, open above: both sides are seen."""
    u = math.pi / 2 * np.arange(rows + 1) / rows - math.pi / 2
    a = -2 * math.pi * np.arange(columns + 1) / columns
    around = np.stack([np.cos(a), np.zeros_like(a), np.sin(a)], -1)
    normal = np.cos(u)[:, None, None] * around + np.sin(u)[:, None, None] * [0, 1, 0]
    place, n = grid(normal * 1.6 + [0, -1.2, 0], normal, rows, columns)
    keep = np.linalg.norm(np.cross(place[:, 1] - place[:, 0], place[:, 2] - place[:, 0]), axis=1) > 1e-9
    return place[keep], n[keep]


def box(middle, half):
    place, normal = [], []
    for axis in range(3):
        for side in (-1, 1):
            n, u = np.zeros(3), np.zeros(3)
            n[axis], u[(axis + 1) % 3] = side, 1
            v = np.cross(n, u)
            corner = [(a * u + b * v + n) * half + middle for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
            place += [[corner[0], corner[1], corner[2]], [corner[0], corner[2], corner[3]]]
            normal += [[n] * 3] * 2
    return np.array(place), np.array(normal, float)


SHAPE = [("knot", (0.8, 0.35, 0.2), knot()), ("bowl", (0.3, 0.6, 0.85), bowl()),
         ("plate", (0.7, 0.7, 0.3), box((2.2, -1.5, 1.0), (1.1, 0.05, 0.9))),
         ("post", (0.25, 0.7, 0.4), box((-2.4, 0.4, -0.6), (0.06, 1.9, 0.12)))]


def write_shape(out):
    """shape.obj and shape.mtl. Returns what they say: their digits, not those of the formulas."""
    all_places, all_normals, all_colours, lines = [], [], [], ["mtllib shape.mtl"]
    vertices = 0
    for name, colour, (place, normal) in SHAPE:
        place, normal = np.round(place, 4), np.round(normal, 4)
        rows = np.concatenate([place, normal], -1).reshape(-1, 6)
        unique, number = np.unique(rows, axis=0, return_inverse=True)
        number = number.reshape(-1, 3) + 1 + vertices
        vertices += len(unique)
        lines += ["v %g %g %g" % tuple(row[:3]) for row in unique] + ["vn %g %g %g" % tuple(row[3:]) for row in unique]
        lines += ["usemtl " + name] + ["f " + " ".join("%d//%d" % (i, i) for i in f) for f in number]
        all_places.append(place), all_normals.append(normal)
        all_colours.append(np.tile(colour, (len(place), 1)))
    with open(os.path.join(out, "shape.obj"), "w") as f:
        f.write("\n".join(lines) + "\n")
    with open(os.path.join(out, "shape.mtl"), "w") as f:
        f.write("".join("newmtl %s\nKd %g %g %g\nKs 0 0 0\n" % ((name,) + colour) for name, colour, _ in SHAPE))
    n = np.concatenate(all_normals)
    n = np.stack([n[..., 0], -n[..., 2], n[..., 1]], -1)
    return placed(np.concatenate(all_places)), n / np.linalg.norm(n, axis=-1, keepdims=True), np.concatenate(all_colours)


def read_model(out, archive, name):
    """Writes model.obj."""
    import trimesh
    path = os.path.join(out, "model.obj")
    with zipfile.ZipFile(archive) as z, open(path, "wb") as f:
        f.write(b"\n".join(line for line in z.read(name).splitlines() if not line.startswith(b"mtllib")) + b"\n")
    mesh = trimesh.load(path, process=False, force="scene").to_mesh()
    return placed(np.asarray(mesh.triangles)), None, np.full((len(mesh.faces), 3), 0.6)


# --- views

def draw_views(count, seed, light):
    rng = np.random.default_rng(seed)
    low = np.array([0, 0, 0, 0.3, 1.0, 8, 0, -90, 0.9, 0, -90, 0])
    high = np.array([360, 360, 360, 1, 2.4, 20, 360, 90, 1.8, 180, 90, 360])
    f = np.round(low + (high - low) * rng.random((count, 12)), 3)
    if light:
        f[:, LAMP_ENERGY] = 0
        f[0, ELEVATION], f[1, ELEVATION], f[2, ROLL] = 90, -90, 0
    return f.astype("f4").astype(float)


class Camera:
    """kernels/image/render.h"""
    def __init__(self, f):
        a, u, t = np.radians([f[AZIMUTH], f[ELEVATION], f[ROLL]])
        right = np.array([-math.sin(a), math.cos(a), 0])
        up = np.array([-math.sin(u) * math.cos(a), -math.sin(u) * math.sin(a), math.cos(u)])
        self.back = np.array([math.cos(a) * math.cos(u), math.sin(a) * math.cos(u), math.sin(u)])
        self.right = math.cos(t) * right - math.sin(t) * up
        self.up = math.sin(t) * right + math.cos(t) * up
        self.eye = f[DISTANCE] * self.back
        x, y, z = np.radians(f[[SUN_X, SUN_Y, SUN_Z]])
        turn_x = np.array([[1, 0, 0], [0, math.cos(x), -math.sin(x)], [0, math.sin(x), math.cos(x)]])
        turn_y = np.array([[math.cos(y), 0, math.sin(y)], [0, 1, 0], [-math.sin(y), 0, math.cos(y)]])
        turn_z = np.array([[math.cos(z), -math.sin(z), 0], [math.sin(z), math.cos(z), 0], [0, 0, 1]])
        self.sun = turn_z @ turn_y @ turn_x @ np.array([0, 0, 1.0])
        self.sun_energy = f[SUN_ENERGY] / math.pi


# --- Embree

class Embree:
    def __init__(self, triangles):
        from embreex.mesh_construction import TriangleMesh
        from embreex.rtcore_scene import EmbreeScene
        self.scene = EmbreeScene(robust=True)
        self.mesh = TriangleMesh(self.scene, triangles.astype("f4"))

    def depth(self, f, size, angle):
        """(size, size): distance along the view; 0: none"""
        c, slope = Camera(f), math.tan(math.radians(angle) / 2)
        at = (2 * (np.arange(size) + 0.5) / size - 1) * slope
        ray = -c.back + at[None, :, None] * c.right - at[:, None, None] * c.up
        ray = np.ascontiguousarray(ray.reshape(-1, 3), dtype="f4")
        eye = np.ascontiguousarray(np.tile(c.eye.astype("f4"), (len(ray), 1)))
        hit = self.scene.run(eye, ray, output=True)
        return np.where(hit["primID"] >= 0, hit["tfar"], 0).reshape(size, size).astype(float)


def depth_bytes(depth):
    fixed = np.round(depth * (1 << 24) / 8).astype(np.uint32)
    return np.stack([fixed >> 16, fixed >> 8 & 255, fixed & 255], -1).astype(np.uint8)


# --- VTK

class Vtk:
    def __init__(self, triangles, normals, colours):
        import vtk
        self.vtk = vtk
        self.window = vtk.vtkOSOpenGLRenderWindow()
        self.window.SetMultiSamples(0)
        self.renderer = vtk.vtkRenderer()
        self.renderer.SetBackground(0, 0, 0)
        self.renderer.SetAutomaticLightCreation(False)
        self.sun = vtk.vtkLight()
        self.sun.SetLightTypeToSceneLight()
        self.sun.SetPositional(False)
        self.renderer.AddLight(self.sun)
        self.window.AddRenderer(self.renderer)
        self.actors = [self.actor(triangles[mine], None if normals is None else normals[mine], colour)
                       for colour in np.unique(colours, axis=0) for mine in [(colours == colour).all(1)]]

    def actor(self, triangles, normals, colour):
        from vtk.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray
        vtk, n = self.vtk, len(triangles)
        points, cells, data = vtk.vtkPoints(), vtk.vtkCellArray(), vtk.vtkPolyData()
        points.SetData(numpy_to_vtk(triangles.reshape(-1, 3).astype("f4"), deep=True))
        cells.SetData(numpy_to_vtkIdTypeArray(3 * np.arange(n + 1), deep=True),
                      numpy_to_vtkIdTypeArray(np.arange(3 * n), deep=True))
        data.SetPoints(points), data.SetPolys(cells)
        if normals is not None:
            data.GetPointData().SetNormals(numpy_to_vtk(normals.reshape(-1, 3).astype("f4"), deep=True))
        mapper, actor = vtk.vtkPolyDataMapper(), vtk.vtkActor()
        mapper.SetInputData(data)
        actor.SetMapper(mapper)
        look = actor.GetProperty()
        look.SetInterpolationToPhong()
        look.SetColor(*colour)
        look.SetAmbient(AMBIENT), look.SetDiffuse(1), look.SetSpecular(0)
        self.renderer.AddActor(actor)
        return actor

    def draw(self, f, size, angle):
        """(size, size, 3) bytes"""
        from vtk.util.numpy_support import vtk_to_numpy
        c, camera = Camera(f), self.renderer.GetActiveCamera()
        camera.SetPosition(*c.eye), camera.SetFocalPoint(0, 0, 0), camera.SetViewUp(*c.up)
        camera.SetViewAngle(angle), camera.SetClippingRange(0.02, 10)
        self.sun.SetPosition(*c.sun), self.sun.SetFocalPoint(0, 0, 0), self.sun.SetIntensity(c.sun_energy)
        self.window.SetSize(size, size)
        self.window.Render()
        grab = self.vtk.vtkWindowToImageFilter()
        grab.SetInput(self.window), grab.SetInputBufferTypeToRGB(), grab.ReadFrontBufferOff(), grab.Update()
        return vtk_to_numpy(grab.GetOutput().GetPointData().GetScalars()).reshape(size, size, 3)[::-1]

    def covered(self, f, size, angle):
        """(size, size) counts of 2 x 2 samples: white on black"""
        for actor in self.actors:
            actor.GetProperty().SetLighting(False), actor.GetProperty().SetColor(1, 1, 1)
        seen = self.draw(f, 2 * size, angle)[..., 0] > 127
        return seen.reshape(size, 2, size, 2).sum((1, 3))


# --- the files

def write(out, name, model, views, size, light):
    triangles, normals, colours = model
    save = lambda name, images: Image.fromarray(np.concatenate(images)).save(os.path.join(out, name), optimize=True)
    vtk, embree = Vtk(triangles, normals, colours), Embree(triangles)
    if light:
        save("light.png", [vtk.draw(f, size, ANGLE) for f in views])
    save("cover.png", [(63 * vtk.covered(f, size, ANGLE)).astype(np.uint8) for f in views])
    save("depth.png", [depth_bytes(embree.depth(f, size, ANGLE)) for f in views])
    with open(os.path.join(out, "views.txt"), "w") as f:
        f.write("%s %d %g %d %d\n" % (name, size, ANGLE, light, len(views)))
        f.write("".join(" ".join("%.9g" % v for v in row) + "\n" for row in views))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out")
    parser.add_argument("--model", nargs=2)
    parser.add_argument("--toy", type=int)
    parser.add_argument("--views", type=int, default=10)
    parser.add_argument("--size", type=int, default=96)
    parser.add_argument("--seed", type=int, default=3)
    o = parser.parse_args()
    os.makedirs(o.out, exist_ok=True)
    if o.toy:
        sys.path.insert(0, os.path.join(HERE, "../../bench/peers"))
        import mesh_pyrender
        triangles = mesh_pyrender.toy_triangles(o.toy)
        views = mesh_pyrender.conditions(o.views)
        write(o.out, "toy%d" % o.toy, (triangles, None, np.full((len(triangles), 3), 0.6)), views, o.size, 0)
    elif o.model:
        write(o.out, "model.obj", read_model(o.out, *o.model), draw_views(o.views, o.seed, False), o.size, 0)
    else:
        write(o.out, "shape.obj", write_shape(o.out), draw_views(o.views, o.seed, True), o.size, 1)


if __name__ == "__main__":
    main()
