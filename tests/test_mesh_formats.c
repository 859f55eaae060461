/* test_mesh_formats.c - colours of vertices and faces, glTF's coordinates, transforms and extensions, STL, and files that are
 * cut short. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>

#include "check_mesh.h"
#include "checks.h"

/* -- colours -------------------------------------------------------------------------------------------------------------- */

static void check_colour(const spot_mesh *m, const char *what, float r, float g, float b)
{
    if (!m->colour) fail_msg("%s: there are no colours", what);
    for (int v = 0; v < m->vertices; v++)
        if (fabsf(m->colour[v] - r) + fabsf(m->colour[m->vertices + v] - g) + fabsf(m->colour[2 * m->vertices + v] - b) > 1e-5f)
            fail_msg("%s: %g %g %g", what, m->colour[v], m->colour[m->vertices + v], m->colour[2 * m->vertices + v]);
    for (int k = 0; k < 3; k++) assert_true(m->look[m->material[0]].diffuse[k] == 1);
}

#define PLY(type) "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n" type \
                  "element face 1\nproperty list uchar int vertex_indices\n"
#define RGB(type) "property " type " red\nproperty " type " green\nproperty " type " blue\n"

TEST_IN_FOLDER(colours_of_vertices_and_faces_are_read)
{
    static const struct { const char *name, *text; } file[] = {
        { "c.obj", "v 0 0 0 1 0.5 0\nv 1 0 0 1 0.5 0\nv 0 1 0 1 0.5 0\nf 1 2 3\n" },
        { "b.obj", "v 0 0 0 255 127.5 0\nv 1 0 0 255 127.5 0\nv 0 1 0 255 127.5 0\nf 1 2 3\n" },
        { "f.ply", PLY(RGB("float")) "end_header\n0 0 0 1 .5 0\n1 0 0 1 .5 0\n0 1 0 1 .5 0\n3 0 1 2\n" },
        { "s.ply", PLY(RGB("ushort")) "end_header\n0 0 0 65535 32767.5 0\n1 0 0 65535 32767.5 0\n0 1 0 65535 32767.5 0\n"
                   "3 0 1 2\n" },
        { "p.ply", PLY("") RGB("float") "end_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2 1 .5 0\n" },
        { "v.off", "COFF\n3 1 0\n0 0 0 1 .5 0 1\n1 0 0 1 .5 0 1\n0 1 0 1 .5 0 1\n3 0 1 2\n" },
        { "f.off", "OFF3 1 0\n0 0 0\n1 0 0 # a comment\n\n0 1 0\n3 0 1 2 255 127.5 0\n" },
    };

    for (int i = 0; i < LEN(file); i++) {
        spot_mesh m = mesh_of(file[i].name, file[i].text);
        check_colour(&m, file[i].name, 1, 0.2140411f, 0);
        spot_mesh_close(&m);
    }
}

/* -- glTF ----------------------------------------------------------------------------------------------------------------- */

/* A triangle with two sets of coordinates, (0, 0) in the first one, and colours, in a buffer of 3 x (12 + 8 + 8 + 12) bytes. */
static void put_gltf(const char *material, const char *more)
{
    static const float data[] = { 0, 0, 0, 1, 0, 0, 0, 1, 0,  0, 0, 0, 0, 0, 0,  0.25f, 0.5f, 0.75f, 0.5f, 0.25f, 1,
                                  1, 0.5f, 0, 1, 0.5f, 0, 1, 0.5f, 0 };
    char text[3000];

    put_bytes("t.bin", data, sizeof data);
    put_png("t.png");
    snprintf(text, sizeof text, "{\"asset\":{\"version\":\"2.0\"},%s\"scene\":0,\"scenes\":[{\"nodes\":[0]}],"
             "\"nodes\":[{\"mesh\":0}],\"buffers\":[{\"uri\":\"t.bin\",\"byteLength\":120}],\"bufferViews\":["
             "{\"buffer\":0,\"byteOffset\":0,\"byteLength\":36},{\"buffer\":0,\"byteOffset\":36,\"byteLength\":24},"
             "{\"buffer\":0,\"byteOffset\":60,\"byteLength\":24},{\"buffer\":0,\"byteOffset\":84,\"byteLength\":36}],"
             "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\",\"min\":[0,0,0],"
             "\"max\":[1,1,0]},{\"bufferView\":1,\"componentType\":5126,\"count\":3,\"type\":\"VEC2\"},{\"bufferView\":2,"
             "\"componentType\":5126,\"count\":3,\"type\":\"VEC2\"},{\"bufferView\":3,\"componentType\":5126,\"count\":3,"
             "\"type\":\"VEC3\"}],\"images\":[{\"uri\":\"t.png\"}],\"textures\":[{\"source\":0}],\"materials\":[{"
             "\"pbrMetallicRoughness\":{\"baseColorTexture\":{\"index\":0%s}}}],\"meshes\":[{\"primitives\":[{\"attributes\":{"
             "\"POSITION\":0,\"TEXCOORD_0\":1,\"TEXCOORD_1\":2,\"COLOR_0\":3},\"material\":0}]}]}", more, material);
    put_text("t.gltf", text);
}

/* The coordinates of the mesh are those of the file's second set, turned, scaled and moved as glTF says: v is down. */
static void check_coordinates(double right, double down, double turn, double x, double y)
{
    static const double set[3][2] = { { 0.25, 0.5 }, { 0.75, 0.5 }, { 0.25, 1 } };
    spot_mesh m = mesh_of("t.gltf", NULL);

    for (int e = 0; e < 3; e++) {
        const int v = (int)m.corner[e];
        const double u = right + cos(turn) * x * set[e][0] + sin(turn) * y * set[e][1];
        const double w = down - sin(turn) * x * set[e][0] + cos(turn) * y * set[e][1];
        CHECK_NEAR(m.coordinate[v], u, 1e-5);
        CHECK_NEAR(m.coordinate[m.vertices + v], 1 - w, 1e-5);
    }
    check_colour(&m, "t.gltf", 1, 0.5f, 0);
    assert_string_equal(words_of(&m), "");
    spot_mesh_close(&m);
}

TEST_IN_FOLDER(glTF_has_its_second_coordinates_and_transforms)
{
    put_gltf(",\"texCoord\":1", "");
    check_coordinates(0, 0, 0, 1, 1);
    put_gltf(",\"texCoord\":1,\"extensions\":{\"KHR_texture_transform\":{\"offset\":[0.5,0.25],\"rotation\":0.5,"
             "\"scale\":[2,3]}}", "\"extensionsUsed\":[\"KHR_texture_transform\"],\"extensionsRequired\":["
             "\"KHR_texture_transform\"],");
    check_coordinates(0.5, 0.25, 0.5, 2, 3);
}

TEST_IN_FOLDER(extensions_that_are_not_read_are_refused)
{
    spot_ctx c = check_ctx(1);
    spot_mesh m;

    put_gltf("", "\"extensionsUsed\":[\"EXT_meshopt_compression\"],\"extensionsRequired\":[\"EXT_meshopt_compression\"],");
    CHECK_FAILS(&c, read_model(&c, &m, "t.gltf"), SPOT_INPUT, "mesh.extension: EXT_meshopt_compression");
    put_gltf("", "\"extensionsUsed\":[\"EXT_meshopt_compression\"],");
    m = mesh_of("t.gltf", NULL);
    spot_mesh_close(&m);
}

/* -- STL, and files that are cut short ------------------------------------------------------------------------------------ */

static const char stl[] = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\n"
                          "endfacet\nendsolid a\n";

static void put_binary_stl(void)
{
    uint8_t file[84 + 50] = { 's', 'o', 'l', 'i', 'd', ' ', 'x' };
    const float v[12] = { 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0 };

    file[80] = 1;
    memcpy(file + 84, v, sizeof v);
    put_bytes("b.stl", file, sizeof file);
}

/* Each of these files says how long it is: a shorter one is no mesh, and its sentence tells of no signal. */
static void check_cut(const char *name, size_t step)
{
    static uint8_t file[1 << 20];
    spot_ctx c = check_ctx(1);
    FILE *f = fopen(in_root("%s", name), "rb");
    char cut[64];
    spot_mesh m;

    assert_non_null(f);
    const size_t n = fread(file, 1, sizeof file, f);
    fclose(f);
    m = mesh_of(name, NULL);
    spot_mesh_close(&m);
    snprintf(cut, sizeof cut, "cut%s", strrchr(name, '.'));
    for (size_t length = 0; length + 4 < n; length += step) {
        put_bytes(cut, file, length);
        const spot_status s = read_model(&c, &m, cut);
        const char *words = spot_message(&c, s);
        if (s != SPOT_INPUT || strstr(words, "signal")) fail_msg("%s of %zu bytes: %s", name, length, s ? words : "read");
        spot_forget(&c);
        spot_mesh_close(&m);
    }
}

TEST_IN_FOLDER(files_that_are_cut_short_get_a_sentence)
{
    spot_mesh m = mesh_of("a.stl", stl);

    assert_int_equal(m.triangles, 1);
    spot_mesh_close(&m);
    put_binary_stl();
    put_text("p.ply", PLY("") "end_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n");
    put_text("o.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n");
    put_gltf("", "");
    check_cut("a.stl", 3), check_cut("b.stl", 5), check_cut("p.ply", 7), check_cut("o.off", 1), check_cut("t.gltf", 31);
}
