"""tests/fuzz/corpus_mesh_texts: small models of each kind that spotter-mesh reads or mends itself, and broken ones. The first
byte is the kind, as in tests/fuzz/fuzz_mesh_texts.c.

    mesh_texts.py"""
import os
import struct

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
out = os.path.join(root, "tests/fuzz/corpus_mesh_texts")
os.makedirs(out, exist_ok=True)
PLY, OFF, OBJ, MTL, DAE, WIDE, TDS, STL, FBX, GLTF = range(10)


def write(name, kind, data):
    with open(os.path.join(out, name), "wb") as f:
        f.write(bytes([kind]) + (data if isinstance(data, bytes) else data.encode()))


# -- PLY -----------------------------------------------------------------------------------------------------------

PLACES = "property float x\nproperty float y\nproperty float z\n"
CORNERS = "property list uchar int vertex_indices\n"
COLOURS = "property uchar red\nproperty uchar green\nproperty uchar blue\n"
SQUARE = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n"


def ply(body, *elements, form="ascii"):
    head = "ply\nformat %s 1.0\n" % form + "".join("element " + e for e in elements) + "end_header\n"
    return head.encode() + (body if isinstance(body, bytes) else body.encode())


def vertices(n=4, more=""):
    return "vertex %d\n" % n + PLACES + more


write("ply_square", PLY, ply(SQUARE + "4 0 1 2 3\n", vertices(), "face 1\n" + CORNERS))
write("ply_colours", PLY, ply("0 0 0 255 0 9\n1 0 0 255 0 9\n1 1 0 0 0 9\n4 0 1 2 2 9 9 9\n", vertices(3, COLOURS),
                              "face 1\n" + CORNERS + COLOURS))
write("ply_coordinates", PLY, ply(SQUARE + "3 0 1 2 6 0 0 1 0 1 1\n", vertices(), "face 1\n" + CORNERS +
                                  "property list uchar float texcoord\n").replace(b"element v", b"comment TextureFile a.png\n"
                                                                                  b"element v", 1))
write("ply_strips", PLY, ply(SQUARE + "6 0 1 2 -1 3 2\n", vertices(), "tristrips 1\n" + CORNERS))
write("ply_strip_far", PLY, ply(SQUARE + "4 0 nan 1e30 2\n", vertices(), "tristrips 1\n" + CORNERS))
write("ply_faces_twice", PLY, ply(SQUARE + "3 0 1 2\n3 0 2 3 1 1 1\n", vertices(), "face 1\n" + CORNERS,
                                  "face 1\n" + CORNERS + COLOURS))
write("ply_coloured_twice", PLY, ply(SQUARE + 3 * "3 0 1 2 9 9 9\n", vertices(), "face 2\n" + CORNERS + COLOURS,
                                     "face 1\n" + CORNERS + COLOURS))
write("ply_colours_strips", PLY, ply(SQUARE + "3 0 1 2 1 1 1\n6 0 1 2 3 2 1\n", vertices(), "face 1\n" + CORNERS + COLOURS,
                                     "tristrips 1\n" + CORNERS))
write("ply_other", PLY, ply("7 1 2\n" + SQUARE + "3 0 1 2\n", "material 1\nproperty int a\nproperty list char short b\n",
                            vertices(), "face 1\n" + CORNERS))
write("ply_nothing", PLY, ply(SQUARE + "3 0 1 2\n", "nothing 900000000000000\n", vertices(), "face 1\n" + CORNERS))
write("ply_many", PLY, ply(SQUARE, "vertex 4000000000\n" + PLACES, "face 1\n" + CORNERS))
for form, mark in (("binary_little_endian", "<"), ("binary_big_endian", ">")):
    write("ply_" + form[7:13], PLY, ply(struct.pack(mark + "9fB3i", 0, 0, 0, 1, 0, 0, 0, 1, 0, 3, 0, 1, 2), vertices(3),
                                        "face 1\n" + CORNERS, form=form))
write("ply_cut", PLY, ply(struct.pack("<9fB2i", 0, 0, 0, 1, 0, 0, 0, 1, 0, 3, 0, 1), vertices(3), "face 1\n" + CORNERS,
                          form="binary_little_endian"))

# -- OFF -----------------------------------------------------------------------------------------------------------

write("off_square", OFF, "OFF\n# a square\n4 1 0\n" + SQUARE + "4 0 1 2 3\n")
write("off_colours", OFF, "COFF 3 1 0\n0 0 0 255 0 0 255\n1 0 0 0 255 0 9\n0 1 0 0 0 255 0\n3 0 1 2\n")
write("off_all", OFF, "STCNOFF 3 1 0\n" + "".join("%d %d 0 0 0 1 .5 .5 .5 1 0 1\n" % p for p in ((0, 0), (1, 0), (0, 1)))
      + "3 0 1 2 1 0 0\n")
write("off_faces", OFF, "OFF 3 2 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2 255 0 0\n3 2 1 0 7\n")
write("off_many", OFF, "OFF 999999999 1 0\n")
write("off_concave", OFF, "OFF 5 1 0\n0 0 0\n4 0 0\n4 4 0\n2 1 0\n0 4 0\n5 0 1 2 3 4\n")
write("off_far", OFF, "OFF 3 1 0\n5e6 5e6 0\n5000001 5e6 0\n5e6 5000001 1e300\n3 0 1 2\n")

# -- what is mended ------------------------------------------------------------------------------------------------

write("obj_lost", OBJ, "mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvn 0 0 1\nf 1/9/1 2/1/1 3//1 # x\nf -1 -2 -3\n"
      "f 1//2 2//2 3//2\n")
write("obj_far", OBJ, "v 5000000 1 2 .1 .2 .3\nv 5000001 1 2 1\nv 5000000 2 \\\r\n 2 \nvt 0 1\nf 1/1 2/1 3/1\nv nan 1 1\n")
write("mtl", MTL, "newmtl a b \nKd 1 .5 nan\nd -halo 0.5\nTr 0.5\nmap_Kd -s 2 2 -o 1 -bm 3 \"a b.png\" \nMAP_D x.png\nNs 5\n"
      "newmtl c\nTr 1\nmap_Kd -clamp on -o 1e99 1 1\n")
write("dae", DAE, "<COLLADA>\n <float_array count=\"3\"> \n\t0 1 2</float_array> </COLLADA> ")
write("wide_little", WIDE, "\ufeffv \u00e9 \u4e00 \U0001f600".encode("utf-16-le") + b"x")
write("wide_big", WIDE, "\ufeffv 0 1 \ud800".encode("utf-16-be", "surrogatepass"))

# -- ends ----------------------------------------------------------------------------------------------------------


def chunk(number, data=b""):
    return struct.pack("<HI", number, 6 + len(data)) + data


write("tds", TDS, chunk(0x4d4d, chunk(0x3d3d, b"xyz") + chunk(0xb000, b"12")))
write("tds_cut", TDS, chunk(0x4d4d, chunk(0x3d3d, b"xyz"))[:-1])
write("tds_long", TDS, chunk(0x4d4d, struct.pack("<HI", 0xb000, 0xffffffff)))
write("stl", STL, "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nendloop\nendfacet\nendsolid a\n")
write("stl_binary", STL, bytes(80) + struct.pack("<I", 1) + bytes(50))
write("stl_cut", STL, bytes(80) + struct.pack("<I", 3) + bytes(50))
write("fbx_text", FBX, "; FBX 7.3.0\nA: {\n B: \"}\"\n}\nConnections:  {\n}\n")
MARK = b"Kaydara FBX Binary  \0\x1a\0"
write("fbx_wide", FBX, MARK + struct.pack("<I", 7500) + struct.pack("<QQQB", 27 + 28, 0, 0, 3) + b"abc" + bytes(25))
write("fbx_narrow", FBX, MARK + struct.pack("<I", 7400) + struct.pack("<IIIB", 27 + 16, 0, 0, 3) + b"abc" + bytes(13))
write("fbx_back", FBX, MARK + struct.pack("<I", 7400) + struct.pack("<IIIB", 27, 0, 0, 3) + bytes(16))

# -- glTF ----------------------------------------------------------------------------------------------------------

REQUIRED = '{"extensionsRequired":["KHR_xmp","EXT_x\\n"]}'
write("gltf", GLTF, REQUIRED)
write("gltf_mark", GLTF, "\ufeff" + REQUIRED.replace("EXT_x\\n", "KHR_xmp"))
write("gltf_other", GLTF, '{"extensionsRequired":[7,{}],"a":[[]]}')
write("glb", GLTF, struct.pack("<4sIIII", b"glTF", 2, 99, len(REQUIRED), 0x4e4f534a) + REQUIRED.encode())
write("glb_long", GLTF, struct.pack("<4sIIII", b"glTF", 2, 99, 0xffffffff, 0x4e4f534a) + REQUIRED.encode())
