#!/usr/bin/env python3
"""Models as Blender reads them and VTK draws them, against `spotter render`: silhouettes and plain colours of whole folders.

    mesh_blender.py build/spotter FOLDER [--least 0.97] [--only PART] [--keep DIR]
    mesh_blender.py --make FOLDER           models that Blender writes in all formats, under several axes, into a new folder

    pip install bpy==4.2.0 vtk trimesh "numpy<2"        (bpy needs Python 3.11)

FOLDER is one that `spotter render --objects` takes: CLASS/..., such as /usr/share/assimp/models of Debian's assimp-testmodels.
Blender's own readers of OBJ, PLY, STL, glTF, Collada and FBX share no code with assimp; VTK reads 3DS, trimesh OFF and what
Collada Blender does not read. Each model is drawn from six sides, in light that has no direction, so a pixel's colour is its
material's. A row a model: the worst and the mean share of the silhouettes that both have (intersection over union), the share
of pixels that differ by more than a border of one pixel, and the mean difference of colours where both are (0 to 1, sRGB).
Exit code 1: a model lies below --least. Where the other is known to be wrong or without an answer: it knows no FBX as text and
no glTF 1; trimesh takes concave polygons for convex; greys of what has no material differ; colours leave out pictures of 3DS
and moved pictures, and take what is half transparent for opaque."""
import argparse
import contextlib
import csv
import io
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

SIZE, FINE, ANGLE = 160, 4, 49.13                       # FINE: VTK draws so many pixels a side of one of ours
FACTORS = ("camera_azimuth=15:375:3,camera_elevation=-20:70:2,camera_distance=2,camera_roll=0,sun_energy=0,lamp_energy=0.3,"
           "sun_x=0,sun_y=0,sun_z=0,lamp_distance=8,lamp_azimuth=0,lamp_elevation=0")
PLAIN_LIGHT = "render: {ambient: 1, sun_scale: 0, lamp_scale: 0, specular: 0, size: %d, samples: 4, background: 0.2}" % SIZE
Y_UP = (".ply", ".stl", ".off")                        # files that Blender takes as they are, and Spotter with y up
WHITE = np.ones(3)


def srgb(v):
    v = np.clip(v, 0, 1)
    return np.where(v <= 0.0031308, 12.92 * v, 1.055 * v ** (1 / 2.4) - 0.055)


def light(v):
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)


# ---- what the others read: parts of (triangles (n, 3, 3) with z up, coordinates (n, 3, 2) or None, colour of the material,
# colours of corners (n, 3, 3) or None, picture (h, w, 3) in sRGB or None) ----

def picture_of_blender(image, cache={}):
    key = image.name_full
    if key not in cache:
        w, h = image.size
        pixels = np.empty(w * h * image.channels, "f4")
        if pixels.size:
            image.pixels.foreach_get(pixels)
        cache[key] = pixels.reshape(h, w, image.channels)[:, :, :3] if image.channels >= 3 and pixels.size else None
    return cache[key]


def look_of_blender(material):
    """The colour and the picture of a material's base colour."""
    if not material or not material.use_nodes:
        return (np.array(material.diffuse_color[:3]) if material else WHITE * 0.6), None
    for node in material.node_tree.nodes:
        if node.type != "BSDF_PRINCIPLED":
            continue
        base = node.inputs["Base Color"]
        seen, todo = set(), [link.from_node for link in base.links]
        while todo:
            n = todo.pop()
            if n.type == "TEX_IMAGE" and n.image and picture_of_blender(n.image) is not None:
                return WHITE, picture_of_blender(n.image)
            if n not in seen:
                seen.add(n)
                todo += [link.from_node for i in n.inputs for link in i.links]
        return np.array(base.default_value[:3]), None
    return WHITE * 0.6, None


def parts_of_blender(path):
    import bpy
    bpy.ops.wm.read_factory_settings(use_empty=True)
    picture_of_blender.__defaults__[0].clear()
    how = {".obj": bpy.ops.wm.obj_import, ".ply": bpy.ops.wm.ply_import, ".stl": bpy.ops.wm.stl_import,
           ".gltf": bpy.ops.import_scene.gltf, ".glb": bpy.ops.import_scene.gltf, ".dae": bpy.ops.wm.collada_import,
           ".fbx": bpy.ops.import_scene.fbx}[os.path.splitext(path)[1].lower()]
    if path.lower().endswith(".fbx"):
        how(filepath=path, use_anim=False)             # the pose of the file's nodes, not of a frame of a movement
    else:
        how(filepath=path)
    bpy.context.scene.frame_set(0)                         # the beginning of a movement
    parts, scene = [], bpy.context.evaluated_depsgraph_get()
    for instance in scene.object_instances:
        o = instance.object
        if o.type != "MESH":
            continue
        mesh = o.to_mesh()
        mesh.calc_loop_triangles()
        n = len(mesh.loop_triangles)
        if n:
            parts += mesh_parts(o, mesh, n, np.array(instance.matrix_world))
        o.to_mesh_clear()
    return parts


def taken(of, name, width, count, kind="f4"):
    v = np.empty(width * count, kind)
    of.foreach_get(name, v)
    return v.reshape(count, width)


def mesh_parts(o, mesh, n, world):
    place = taken(mesh.vertices, "co", 3, len(mesh.vertices)) @ world[:3, :3].T + world[:3, 3]
    corner = taken(mesh.loop_triangles, "vertices", 3, n, "i4")
    loop = taken(mesh.loop_triangles, "loops", 3, n, "i4")
    material = taken(mesh.loop_triangles, "material_index", 1, n, "i4")[:, 0]
    uv = mesh.uv_layers.active and taken(mesh.uv_layers.active.uv, "vector", 2, len(mesh.loops))[loop]
    colours = mesh.color_attributes and mesh.color_attributes[0]
    if colours:
        colours = taken(colours.data, "color", 4, len(colours.data))[corner if colours.domain == "POINT" else loop][..., :3]
    for k in np.unique(material):
        at = material == k
        slot = o.material_slots[k].material if k < len(o.material_slots) else None
        colour, picture = look_of_blender(slot)
        if slot is None and colours is not None and len(colours):
            colour = WHITE
        yield (place[corner[at]], uv[at] if uv is not None and len(uv) else None, colour,
               colours[at] if colours is not None and len(colours) else None, picture)


def parts_of_vtk(path):
    """3DS, whose z points up. It says nothing of pictures."""
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy
    reader = vtk.vtk3DSImporter()
    reader.SetFileName(path)
    reader.ComputeNormalsOff()
    reader.SetRenderWindow(vtk.vtkOSOpenGLRenderWindow())
    reader.Update()
    actors = reader.GetRenderer().GetActors()
    actors.InitTraversal()
    parts = []
    for _ in range(actors.GetNumberOfItems()):
        actor = actors.GetNextActor()
        actor.GetMapper().Update()
        triangles = vtk.vtkTriangleFilter()                # of its strips
        triangles.SetInputData(actor.GetMapper().GetInput()), triangles.Update()
        data = triangles.GetOutput()
        cells = vtk_to_numpy(data.GetPolys().GetConnectivityArray()).reshape(-1, 3)
        if len(cells):
            parts.append((vtk_to_numpy(data.GetPoints().GetData()).astype(float)[cells], None,
                          np.array(actor.GetProperty().GetDiffuseColor()), None, None))
    return parts


def parts_of_trimesh(path):
    """OFF; and Collada by pycollada, whose axis trimesh leaves as it is."""
    import trimesh
    mesh = trimesh.load(path, process=False, force="mesh")
    place = np.asarray(mesh.triangles)
    if path.lower().endswith(".dae") and b"Z_UP" not in open(path, "rb").read():
        place = upright(place)
    return [(place, None, None, None, None)]


def upright(place):
    """y up -> z up"""
    return place[..., [0, 2, 1]] * np.array([1, -1, 1])


def parts_of(path):
    ending = os.path.splitext(path)[1].lower()
    with contextlib.redirect_stdout(io.StringIO()), quiet():
        parts = parts_of_vtk(path) if ending == ".3ds" else parts_of_trimesh(path) if ending == ".off" \
            else list(parts_of_blender(path))
        if not parts and ending == ".dae":
            parts = parts_of_trimesh(path)
    return [(upright(p[0]),) + p[1:] for p in parts] if ending in Y_UP else parts


@contextlib.contextmanager
def quiet():
    """Blender and VTK print from C."""
    sys.stdout.flush()
    keep, none = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    keep2 = os.dup(2)
    os.dup2(none, 1), os.dup2(none, 2)
    try:
        yield
    finally:
        os.dup2(keep, 1), os.dup2(keep2, 2)
        for fd in (keep, keep2, none):
            os.close(fd)


def centred(parts):
    every = np.concatenate([p[0].reshape(-1, 3) for p in parts])
    every = every[np.isfinite(every).all(-1)]
    low, high = every.min(0), every.max(0)
    return [((p[0] - (low + high) / 2) / np.linalg.norm(high - low),) + p[1:] for p in parts]


# ---- models that Blender writes ----

def scene_of_blender():
    """No side of it is like another; a part hangs turned and stretched on another one; a picture, two plain colours."""
    import bpy
    bpy.ops.wm.read_factory_settings(use_empty=True)
    image = bpy.data.images.new("squares", 64, 64)
    y, x = np.mgrid[:64, :64]
    pixels = np.ones((64, 64, 4), "f4")
    pixels[..., 0], pixels[..., 1], pixels[..., 2] = x / 63, y / 63, ((x // 8 + y // 8) % 2) * 0.8
    image.pixels.foreach_set(pixels.ravel())
    image.pack()
    looks = []
    for name, colour in (("painted", None), ("red", (0.8, 0.1, 0.05, 1)), ("blue", (0.1, 0.2, 0.7, 1))):
        look = bpy.data.materials.new(name)
        look.use_nodes = True
        base = look.node_tree.nodes["Principled BSDF"].inputs["Base Color"]
        if colour:
            base.default_value = colour
        else:
            node = look.node_tree.nodes.new("ShaderNodeTexImage")
            node.image = image
            look.node_tree.links.new(node.outputs["Color"], base)
        looks.append(look)
    bpy.ops.mesh.primitive_cube_add(size=1, location=(0, 0, 0.5), scale=(2, 0.5, 1))
    body = bpy.context.object
    bpy.ops.mesh.primitive_cone_add(vertices=24, radius1=0.4, depth=1.2, location=(0.7, 0, 1.4))
    cone = bpy.context.object
    bpy.ops.mesh.primitive_torus_add(major_radius=0.5, minor_radius=0.12, major_segments=24, minor_segments=10,
                                     location=(-0.8, 0.4, 0.3), rotation=(0.9, 0.3, 0.2))
    ring = bpy.context.object
    for part, look in zip((body, cone, ring), looks):
        part.data.materials.append(look)
    cone.parent, ring.parent = body, body
    body.rotation_euler = (0.1, 0.2, 0.5)
    ring.scale = (1, 1.5, 0.7)


def make(folder):
    import bpy
    os.makedirs(folder)
    home = os.path.join(folder, "made")
    os.makedirs(home)
    path = lambda name: os.path.join(home, name)
    with quiet():
        scene_of_blender()
        bpy.data.images["squares"].filepath_raw = path("squares.png")
        bpy.data.images["squares"].file_format = "PNG"
        bpy.data.images["squares"].save()
        for up, forward in (("Y", "-Z"), ("Z", "Y"), ("Z", "-Y"), ("X", "Y"), ("-Y", "Z"), ("-Z", "X")):
            bpy.ops.export_scene.fbx(filepath=path("fbx_%s_%s.fbx" % (up, forward)), axis_up=up, axis_forward=forward,
                                     path_mode="COPY", embed_textures=up == "Y", bake_anim=False)
        for up, forward in (("Y", "-Z"), ("Z", "Y"), ("X", "Y")):
            bpy.ops.wm.collada_export(filepath=path("dae_%s.dae" % up), apply_global_orientation=True,
                                      export_global_up_selection=up, export_global_forward_selection=forward)
            bpy.ops.wm.collada_export(filepath=path("dae_said_%s.dae" % up), export_global_up_selection=up,
                                      export_global_forward_selection=forward)
        bpy.ops.export_scene.gltf(filepath=path("one.glb"))
        bpy.ops.export_scene.gltf(filepath=path("apart.gltf"), export_format="GLTF_SEPARATE")
        bpy.ops.wm.obj_export(filepath=path("one.obj"), path_mode="RELATIVE")
        bpy.ops.wm.ply_export(filepath=path("text.ply"), ascii_format=True, up_axis="Y", forward_axis="NEGATIVE_Z")
        bpy.ops.wm.ply_export(filepath=path("bytes.ply"), up_axis="Y", forward_axis="NEGATIVE_Z")
        bpy.ops.wm.stl_export(filepath=path("text.stl"), ascii_format=True, up_axis="Y", forward_axis="NEGATIVE_Z")
        bpy.ops.wm.stl_export(filepath=path("bytes.stl"), up_axis="Y", forward_axis="NEGATIVE_Z")


# ---- what VTK draws ----

class Canvas:
    def __init__(self):
        import vtk
        self.vtk, self.window = vtk, vtk.vtkOSOpenGLRenderWindow()
        self.window.SetMultiSamples(0), self.window.SetSize(FINE * SIZE, FINE * SIZE)
        self.renderer = vtk.vtkRenderer()
        self.renderer.SetBackground(0, 0, 0)
        self.window.AddRenderer(self.renderer)

    def show(self, parts):
        """Colours between corners are mixed in linear light: such models are drawn so, with its coarser bytes."""
        self.linear = any(p[3] is not None for p in parts)
        self.bytes_of = (lambda v: np.clip(v, 0, 1)) if self.linear else srgb
        self.renderer.RemoveAllViewProps()
        for part in parts:
            self.renderer.AddActor(self.actor(*part))

    def actor(self, place, uv, colour, colours, picture):
        from vtk.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray
        vtk, n = self.vtk, len(place)
        points, cells, data = vtk.vtkPoints(), vtk.vtkCellArray(), vtk.vtkPolyData()
        points.SetData(numpy_to_vtk(place.reshape(-1, 3).astype("f4"), deep=True))
        cells.SetData(numpy_to_vtkIdTypeArray(3 * np.arange(n + 1), deep=True),
                      numpy_to_vtkIdTypeArray(np.arange(3 * n), deep=True))
        data.SetPoints(points), data.SetPolys(cells)
        mapper, actor = vtk.vtkPolyDataMapper(), vtk.vtkActor()
        look = actor.GetProperty()
        look.LightingOff(), look.SetColor(*np.maximum(self.bytes_of(WHITE if colour is None else colour), 1 / 255))
        if colours is not None:
            rgb = np.maximum(np.round(255 * self.bytes_of(colours.reshape(-1, 3) * colour)), 1).astype("u1")
            data.GetPointData().SetScalars(numpy_to_vtk(rgb, deep=True))
        if picture is not None and uv is not None:
            self.paint(actor, data, uv, picture)
        mapper.SetInputData(data), actor.SetMapper(mapper)
        return actor

    def paint(self, actor, data, uv, picture):
        from vtk.util.numpy_support import numpy_to_vtk
        image, texture = self.vtk.vtkImageData(), self.vtk.vtkTexture()
        data.GetPointData().SetTCoords(numpy_to_vtk(uv.reshape(-1, 2).astype("f4"), deep=True))
        h, w, _ = picture.shape
        image.SetDimensions(w, h, 1)
        picture = np.clip(picture, 0, 1)
        picture = light(picture) if self.linear else picture
        image.GetPointData().SetScalars(numpy_to_vtk(np.maximum(np.round(255 * picture), 1)
                                                     .astype("u1").reshape(-1, 3), deep=True))
        texture.SetInputData(image)
        texture.InterpolateOn(), texture.RepeatOn(), texture.MipmapOn()
        actor.SetTexture(texture)

    def draw(self, row):
        from vtk.util.numpy_support import vtk_to_numpy
        a, e = np.radians(float(row["camera_azimuth"])), np.radians(float(row["camera_elevation"]))
        back = np.array([np.cos(a) * np.cos(e), np.sin(a) * np.cos(e), np.sin(e)])
        camera = self.renderer.GetActiveCamera()
        camera.SetPosition(*(float(row["camera_distance"]) * back)), camera.SetFocalPoint(0, 0, 0)
        camera.SetViewUp(-np.sin(e) * np.cos(a), -np.sin(e) * np.sin(a), np.cos(e))
        camera.SetViewAngle(ANGLE), camera.SetClippingRange(0.02, 100)
        self.window.Render()
        pixels = self.vtk.vtkUnsignedCharArray()
        self.window.GetRGBACharPixelData(0, 0, FINE * SIZE - 1, FINE * SIZE - 1, 0, pixels)
        drawn = vtk_to_numpy(pixels).reshape(SIZE, FINE, SIZE, FINE, 4)[::-1, :, :, :, :3].astype(float) / 255
        cover = (drawn.max(-1) > 0).mean((1, 3))
        drawn = drawn if self.linear else light(drawn)
        return srgb(drawn.sum((1, 3)) / np.maximum(FINE * FINE * cover, 1)[..., None]), cover


# ---- both ----

def grown(mask):
    out = mask.copy()
    for y in (-1, 0, 1):
        for x in (-1, 0, 1):
            out |= np.roll(mask, (y, x), (0, 1))
    return out


def compare(ours, cover, theirs, their_cover, known):
    """Intersection over union; the share of pixels that differ beyond a border; the difference of colours."""
    a, b = cover >= 128, their_cover >= 0.5
    union = (a | b).sum()
    off = ((a & ~grown(b)) | (b & ~grown(a))).sum() / max(union, 1)
    inside = (cover == 255) & (their_cover == 1)
    colour = np.abs(ours / 255 - theirs)[inside].mean() if known and inside.any() else np.nan
    return (a & b).sum() / max(union, 1), off, colour


def render(spotter, folder, out, only):
    config = os.path.join(out, "plain.yaml")
    with open(config, "w") as f:
        f.write("study: examine\nobjects: {catalogue: %s}\n%s\n" % (json.dumps(os.path.abspath(folder)), PLAIN_LIGHT))
    command = [spotter, "render", config, "--out", os.path.join(out, "ours"), "--factors", FACTORS, "--masks"]
    for name in only:
        command += ["--object", name]
    ran = subprocess.run(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    said = [line for line in ran.stderr.splitlines() if line.startswith("warning: ")]
    if ran.returncode:
        sys.exit(ran.stderr)
    with open(os.path.join(out, "ours", "conditions.csv"), newline="") as f:
        return list(csv.DictReader(f)), said


def judge(canvas, folder, out, name, rows):
    from PIL import Image
    parts = centred(parts_of(os.path.join(folder, name)))
    canvas.show(parts)
    known = all(p[2] is not None for p in parts)
    found, drawn = [], False
    for row in rows:
        ours, cover = (np.asarray(Image.open(os.path.join(out, "ours", row[k]))) for k in ("file", "mask"))
        theirs, their_cover = canvas.draw(row)
        drawn = drawn or their_cover.any()
        Image.fromarray(np.concatenate([ours, (255 * theirs).astype("u1")], 1)).save(os.path.join(out, "pair-%s-%d.png" % (
            name.replace("/", "+"), len(found))))
        found.append(compare(ours, cover, theirs, their_cover, known))
    if not drawn:
        raise ValueError("it draws nothing")
    return np.array(found)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("spotter", nargs="?"), p.add_argument("folder", nargs="?")
    p.add_argument("--make", default=None)
    p.add_argument("--least", type=float, default=0.97)
    p.add_argument("--only", action="append", default=[])
    p.add_argument("--keep", default=None)
    a = p.parse_args()
    if a.make:
        make(a.make)
        os._exit(0)                                        # Blender's end of an interpreter is a fault of a segment
    if not a.folder:
        p.error("spotter and FOLDER are missing")
    out = a.keep or tempfile.mkdtemp()
    os.makedirs(out, exist_ok=True)
    rows, said = render(a.spotter, a.folder, out, a.only)
    print("\n".join(said))
    canvas, bad, results = Canvas(), 0, []
    for name in sorted({r["object"] for r in rows}):
        own = [r for r in rows if r["object"] == name]
        try:
            found = judge(canvas, a.folder, out, name, own)
        except Exception as why:
            print("%-60s not read by the other: %s" % (name, (str(why).strip() or repr(why)).splitlines()[-1][:120]))
            continue
        low, mean = found[:, 0].min(), found[:, 0].mean()
        results.append((name, low, mean, found[:, 1].max(), found[:, 2].mean()))
        bad += low < a.least
        print("%-60s %.3f %.3f  off %.4f  colour %.3f %s" % (*results[-1], "<---" if low < a.least else ""), flush=True)
    print("%d models, worst %.3f, median %.4f, %d below %g" % (len(results), min(r[1] for r in results),
                                                             np.median([r[1] for r in results]), bad, a.least))
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
