#!/usr/bin/env python3
"""Images a second of pyrender and of VTK, both on OSMesa, of the object and the views of `spotter bench mesh`, one core, in one
run.

    mesh_pyrender.py [build/spotter] [rounds]

    pip install pyrender vtk && pip install PyOpenGL==3.1.7      (pyrender asks for 3.1.0, which lacks a call of OSMesa's)

Both draw the object's triangles with its normals, one colour for each of its parts, the sun and the lamp, and hand back colours
(pyrender depths, too). VTK takes four samples of a pixel, which share a colour; pyrender one: on OSMesa it cannot take more.
Ours also has the textures, the half transparent box and the cut-outs of the object, shades each of four samples, and writes
masks, depths and facts. Theirs is processor time, ours that of the clock, which other programs can only lengthen.
tests/test_render_views.sh compares our images of this object and these views with those of VTK and Embree."""
import ctypes
import json
import math
import os
import statistics
import subprocess
import sys
import time

os.environ.setdefault("PYOPENGL_PLATFORM", "osmesa")
os.environ["LP_NUM_THREADS"] = "0"                     # llvmpipe draws in the thread that calls it

import numpy as np

ANGLE = 49.13
RANGES = [(0, 360), (0, 360), (0, 360), (0.3, 1), (0, 5), (8, 20), (0, 360), (-90, 90), (1, 5), (0, 180), (-90, 90), (0, 360)]
LAMP_ENERGY, SUN_ENERGY, LAMP_DISTANCE, LAMP_AZIMUTH, LAMP_ELEVATION, DISTANCE, AZIMUTH, ELEVATION, ROLL = range(3, 12)
MIDDLE = [(0, 0, 0), (.2, .2, .1), (-.2, -.2, -.15), (.2, -.2, .2), (-.25, .2, .2), (0, -.27, -.2), (0, 0, .27)]
HALF = [(0, 0, 0), (.1, .05, .08), (.05, .08, .12), (.06, .06, .06), (.04, .08, .04), (.15, .01, .08), (.02, .02, .05)]
MATERIAL = [1, 0, 2, 3, 4, 5, 1]
COLOUR = [(.8, .3, .2), (.2, .4, .7), (1, 1, 1), (.5, 1, .5), (.9, .9, .1), (.3, .9, .3)]


def conditions(count):
    """bench_mesh.c: spot_toy_conditions"""
    i, k = np.arange(count)[:, None], np.arange(12)[None, :]
    u = 0.5 + 0.5 * np.sin(12.9898 * (i + 1) * (k + 3) + 78.233 * i)
    low, high = np.array(RANGES, float).T
    return (low + u * (high - low)).astype("f4").astype(float)


def ball(rings, radius=0.2, swell=0.1):
    """bench_mesh.c: spot_toy_ball. Triangles (n, 3, 3) and their normals."""
    u = math.pi * (np.arange(rings + 1) / rings - 0.5)[:, None]
    a = 2 * math.pi * np.arange(2 * rings + 1)[None, :] / (2 * rings)
    normal = np.stack([np.cos(u) * np.cos(a), np.cos(u) * np.sin(a), np.sin(u) + 0 * a], -1).astype("f4")
    r = (radius * (1 + swell * np.sin(5 * a) * np.cos(u) * np.sin(7 * u))).astype("f4")
    i, j = [x.ravel() for x in np.mgrid[:rings, :2 * rings]]
    one = np.array([[(p, q), (p, q + 1), (p + 1, q + 1)] for p, q in zip(i, j) if p > 0])
    two = np.array([[(p, q), (p + 1, q + 1), (p + 1, q)] for p, q in zip(i, j) if p < rings - 1])
    at = np.concatenate([one, two])
    place = r[..., None] * normal
    return place[at[..., 0], at[..., 1]], normal[at[..., 0], at[..., 1]]


def box(middle, half):
    place, normal = [], []
    for face in range(6):
        n, side = face // 2, 1 if face % 2 else -1
        u, v = (n + 1) % 3, (n + 2) % 3
        corner = np.tile(np.array(middle, float), (4, 1))
        for i in range(4):
            corner[i, n] += side * half[n]
            corner[i, u] += half[u] * side * (2 * ((i + 1) // 2 % 2) - 1)
            corner[i, v] += half[v] * (2 * (i // 2) - 1)
        for i in (1, 2):
            place.append(corner[[0, i, i + 1]])
            normal.append(np.tile(np.eye(3)[n] * side, (3, 1)))
    return np.array(place), np.array(normal)


def toy(rings):
    """Its parts: triangles, normals, colour."""
    parts = [ball(rings)] + [box(MIDDLE[i], HALF[i]) for i in range(1, 7)]
    return [(place, normal, COLOUR[MATERIAL[i]]) for i, (place, normal) in enumerate(parts)]


def toy_triangles(rings):
    return np.concatenate([place for place, _, _ in toy(rings)])


def towards(azimuth, elevation):
    a, u = math.radians(azimuth), math.radians(elevation)
    return np.array([math.cos(a) * math.cos(u), math.sin(a) * math.cos(u), math.sin(u)])


def view_of(f):
    """Camera's pose (4, 4), the direction to the sun, the lamp's place."""
    a, u, t = math.radians(f[AZIMUTH]), math.radians(f[ELEVATION]), math.radians(f[ROLL])
    right = np.array([-math.sin(a), math.cos(a), 0])
    up = np.array([-math.sin(u) * math.cos(a), -math.sin(u) * math.sin(a), math.cos(u)])
    pose = np.eye(4)
    pose[:3, 0] = math.cos(t) * right - math.sin(t) * up
    pose[:3, 1] = math.sin(t) * right + math.cos(t) * up
    pose[:3, 2] = towards(f[AZIMUTH], f[ELEVATION])
    pose[:3, 3] = f[DISTANCE] * pose[:3, 2]
    x, y, z = np.radians(f[:3])
    sun = np.array([math.cos(z) * math.sin(y) * math.cos(x) + math.sin(z) * math.sin(x),
                    math.sin(z) * math.sin(y) * math.cos(x) - math.cos(z) * math.sin(x), math.cos(y) * math.cos(x)])
    return pose, sun, f[LAMP_DISTANCE] * towards(f[LAMP_AZIMUTH], f[LAMP_ELEVATION])


def looking_along(back):
    """A pose whose z axis is `back`."""
    x = np.cross([0, 0, 1.0] if abs(back[2]) < 0.9 else [1.0, 0, 0], back)
    pose = np.eye(4)
    pose[:3, 0] = x / np.linalg.norm(x)
    pose[:3, 1], pose[:3, 2] = np.cross(back, pose[:3, 0]), back
    return pose


def load_pyrender():
    """pyrender 0.1.45 is older than numpy 2. And it keeps compiled shaders by PyOpenGL's context, which for OSMesa is a new
    pointer object at every call: without this it compiles them for every image, in a tenth of a second and 21 MB."""
    if not hasattr(np, "infty"):
        np.infty = np.inf
    import OpenGL.contextdata
    import pyrender
    plain = OpenGL.contextdata.getContext
    OpenGL.contextdata.getContext = lambda context=None: ctypes.cast(plain(context), ctypes.c_void_p).value
    return pyrender


class Pyrender:
    name = "pyrender"

    def __init__(self, parts, size):
        pyrender = load_pyrender()
        self.scene = pyrender.Scene(bg_color=(0.2, 0.2, 0.2), ambient_light=(0.15, 0.15, 0.15))
        for place, normal, colour in parts:
            look = pyrender.MetallicRoughnessMaterial(baseColorFactor=colour + (1.0,), metallicFactor=0, roughnessFactor=0.8,
                                                      doubleSided=True)
            self.scene.add(pyrender.Mesh([pyrender.Primitive(positions=place.reshape(-1, 3), normals=normal.reshape(-1, 3),
                                                             material=look)]))
        self.camera = self.scene.add(pyrender.PerspectiveCamera(yfov=math.radians(ANGLE), znear=0.02, zfar=100))
        self.sun, self.lamp = pyrender.DirectionalLight(), pyrender.PointLight()
        self.sun_node, self.lamp_node = self.scene.add(self.sun), self.scene.add(self.lamp)
        self.renderer = pyrender.OffscreenRenderer(size, size)

    def draw(self, f):
        pose, sun, lamp = view_of(f)
        at = np.eye(4)
        at[:3, 3] = lamp
        self.scene.set_pose(self.camera, pose)
        self.scene.set_pose(self.sun_node, looking_along(sun))
        self.scene.set_pose(self.lamp_node, at)
        self.sun.intensity, self.lamp.intensity = f[SUN_ENERGY], 100 * f[LAMP_ENERGY]
        return self.renderer.render(self.scene)[1] > 0         # depths

    def close(self):
        self.renderer.delete()


class Vtk:
    name = "VTK"

    def __init__(self, parts, size):
        import vtk
        from vtk.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray, vtk_to_numpy
        self.vtk, self.to_numpy, self.size = vtk, vtk_to_numpy, size
        self.window = vtk.vtkOSOpenGLRenderWindow()
        self.window.SetMultiSamples(4), self.window.SetSize(size, size)
        self.renderer = vtk.vtkRenderer()
        self.renderer.SetAutomaticLightCreation(False)
        self.renderer.SetBackground(0, 0, 0)
        self.window.AddRenderer(self.renderer)
        self.sun, self.lamp = vtk.vtkLight(), vtk.vtkLight()
        for light in (self.sun, self.lamp):
            light.SetLightTypeToSceneLight()
            self.renderer.AddLight(light)
        for place, normal, colour in parts:
            n, points, cells, data = len(place), vtk.vtkPoints(), vtk.vtkCellArray(), vtk.vtkPolyData()
            points.SetData(numpy_to_vtk(place.reshape(-1, 3).astype("f4"), deep=True))
            cells.SetData(numpy_to_vtkIdTypeArray(3 * np.arange(n + 1), deep=True),
                          numpy_to_vtkIdTypeArray(np.arange(3 * n), deep=True))
            data.SetPoints(points), data.SetPolys(cells)
            data.GetPointData().SetNormals(numpy_to_vtk(normal.reshape(-1, 3).astype("f4"), deep=True))
            mapper, actor = vtk.vtkPolyDataMapper(), vtk.vtkActor()
            mapper.SetInputData(data), actor.SetMapper(mapper)
            look = actor.GetProperty()
            look.SetInterpolationToPhong(), look.SetColor(*colour), look.SetAmbient(0.15), look.SetSpecular(0.3)
            self.renderer.AddActor(actor)
        self.pixels = vtk.vtkUnsignedCharArray()

    def draw(self, f):
        pose, sun, lamp = view_of(f)
        camera = self.renderer.GetActiveCamera()
        camera.SetPosition(*pose[:3, 3]), camera.SetFocalPoint(0, 0, 0), camera.SetViewUp(*pose[:3, 1])
        camera.SetViewAngle(ANGLE), camera.SetClippingRange(0.02, 100)
        self.sun.SetPosition(*sun), self.sun.SetIntensity(f[SUN_ENERGY] / math.pi)
        self.lamp.SetPositional(True), self.lamp.SetConeAngle(180), self.lamp.SetPosition(*lamp)
        self.lamp.SetIntensity(f[LAMP_ENERGY])
        self.window.Render()
        self.window.GetRGBACharPixelData(0, 0, self.size - 1, self.size - 1, 0, self.pixels)
        return self.to_numpy(self.pixels).reshape(self.size, self.size, 4)[..., :3].max(-1) > 0

    def close(self):
        self.window.Finalize()


def time_peer(peer, views):
    """Images per second of processor time."""
    for f in views[:4]:
        peer.draw(f)
    start = time.process_time()
    for f in views:
        peer.draw(f)
    return len(views) / (time.process_time() - start)


def main():
    spotter = sys.argv[1] if len(sys.argv) > 1 else "build/spotter"
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})                    # also spotter's, which is started below
    cases = [(size, rings, f"{size} px, {triangles} triangles") for size in (64, 224)
             for rings, triangles in ((32, "4,040"), (86, "29,312"))]
    peers, speed = [], {}
    for peer in (Pyrender, Vtk):
        try:
            peers.append([(peer(toy(rings), size), case) for size, rings, case in cases])
        except ImportError as missing:
            sys.exit(f"mesh_pyrender.py: {missing}; the head of this file says what it needs")
    for _ in range(rounds):
        out = subprocess.run([spotter, "bench", "mesh", "--device", "cpu", "--threads", "1", "--json"], check=True,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        for row in json.loads(out):
            speed.setdefault(("spotter", row["case"]), []).append(row["per_s"])
        for made in peers:
            for peer, case in made:
                speed.setdefault((peer.name, case), []).append(time_peer(peer, conditions(256)))
    for _, _, case in cases:
        print("mesh\t%s\t%.7f" % (case, min(1 / statistics.median(speed[peer, case]) for peer in ("pyrender", "VTK"))))
        for peer in ("pyrender", "VTK"):
            ratio = sorted(a / b for a, b in zip(speed["spotter", case], speed[peer, case]))
            print("%s: spotter %.0f images/s, %s %.0f; ratio %.1f (%.1f to %.1f)"
                  % (case, statistics.median(speed["spotter", case]), peer, statistics.median(speed[peer, case]),
                     statistics.median(ratio), ratio[0], ratio[-1]))


if __name__ == "__main__":
    main()
