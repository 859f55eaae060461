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

/* -- alpha of colours ----------------------------------------------------------------------------------------------------- */

/* Two triangles; the first one's corners have the alphas a, the second one's 1. mode: glTF's. */
static void put_alpha(const char *mode, const float a[3])
{
    float data[18 + 24] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1 };
    char text[1500];

    for (int v = 0; v < 6; v++) {
        float *colour = data + 18 + 4 * v;
        colour[0] = 1, colour[1] = 0.5f, colour[2] = 0, colour[3] = v < 3 ? a[v] : 1;
    }
    put_bytes("a.bin", data, sizeof data);
    snprintf(text, sizeof text, "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{"
             "\"mesh\":0}],\"buffers\":[{\"uri\":\"a.bin\",\"byteLength\":168}],\"bufferViews\":[{\"buffer\":0,"
             "\"byteOffset\":0,\"byteLength\":72},{\"buffer\":0,\"byteOffset\":72,\"byteLength\":96}],"
             "\"accessors\":[{\"bufferView\":0,"
             "\"componentType\":5126,\"count\":6,\"type\":\"VEC3\",\"min\":[0,0,0],\"max\":[1,1,1]},{\"bufferView\":1,"
             "\"componentType\":5126,\"count\":6,\"type\":\"VEC4\"}],\"materials\":[{\"alphaMode\":\"%s\","
             "\"pbrMetallicRoughness\":{\"baseColorFactor\":[1,1,1,0.8]}}],\"meshes\":[{\"primitives\":[{\"attributes\":{"
             "\"POSITION\":0,\"COLOR_0\":1},\"material\":0}]}]}", mode);
    put_text("a.gltf", text);
}

static void check_opacity(const char *name, double first, double second, const char *words)
{
    spot_mesh m = mesh_of(name, NULL);

    assert_int_equal(m.triangles, 2);
    check_colour(&m, name, 1, strstr(name, "gltf") ? 0.5f : 0.2140411f, 0);
    CHECK_NEAR(m.look[m.material[0]].opacity, first, 1e-5);
    CHECK_NEAR(m.look[m.material[1]].opacity, second, 1e-5);
    assert_string_equal(words_of(&m), words);
    spot_mesh_close(&m);
}

#define MEAN "1 triangle whose corners have other alphas is drawn with their mean"

TEST_IN_FOLDER(alpha_of_colours_is_drawn)
{
    static const float even[3] = { 0.4f, 0.4f, 0.4f }, slope[3] = { 0, 0.4f, 0.8f };

    put_alpha("BLEND", even), check_opacity("a.gltf", 0.8 * 0.4, 0.8, "");
    put_alpha("BLEND", slope), check_opacity("a.gltf", 0.8 * 0.4, 0.8, MEAN);
    put_alpha("MASK", even), check_opacity("a.gltf", 0, 1, "");
    put_alpha("MASK", (float[3]){ 0.7f, 0.7f, 0.7f }), check_opacity("a.gltf", 1, 1, "");
    put_alpha("OPAQUE", slope), check_opacity("a.gltf", 1, 1, "");
    put_text("a.ply", "ply\nformat ascii 1.0\nelement vertex 6\nproperty float x\nproperty float y\nproperty float z\n"
             RGB("float") "property uchar alpha\nelement face 2\nproperty list uchar int vertex_indices\nend_header\n"
             "0 0 0 1 .5 0 51\n1 0 0 1 .5 0 51\n0 1 0 1 .5 0 51\n0 0 1 1 .5 0 255\n1 0 1 1 .5 0 255\n0 1 1 1 .5 0 255\n"
             "3 0 1 2\n3 3 4 5\n");
    check_opacity("a.ply", 0.2, 1, "");
    put_text("a.off", "OFF\n6 2 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 0 1\n0 1 1\n3 0 1 2 255 127.5 0 51\n3 3 4 5 255 127.5 0\n");
    check_opacity("a.off", 0.2, 1, "");
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

/* -- PLY's elements ------------------------------------------------------------------------------------------------------- */

#define PLACES "0 0 0\n1 0 0\n0 1 0\n"
#define FACES(type) "element face 1\nproperty list uchar int vertex_indices\n" type
#define STRIPS "element tristrips 1\nproperty list int int vertex_indices\n"

/* Colours and coordinates of one list were read beside all faces, behind their end; a strip took any number for a corner. */
TEST_IN_FOLDER(elements_that_are_no_mesh_are_refused)
{
    static const struct { const char *name, *text, *words; } file[] = {
        { "a.ply", PLY("") FACES(RGB("uchar")) "end_header\n" PLACES "3 0 1 2\n3 0 1 2 9 9 9\n", "two lists of faces" },
        { "b.ply", PLY("") RGB("uchar") STRIPS "end_header\n" PLACES "3 0 1 2 9 9 9\n4 0 1 2 1\n", "two lists of faces" },
        { "c.ply", PLY("") "property list uchar float texcoord\n" STRIPS "end_header\n" PLACES
                   "3 0 1 2 6 0 0 1 0 1 1\n4 0 1 2 1\n", "two lists of faces" },
        { "d.ply", PLY("") STRIPS "end_header\n" PLACES "3 0 1 2\n3 0 nan 2\n", "corner that is not there" },
        { "e.ply", PLY("") STRIPS "end_header\n" PLACES "3 0 1 2\n3 0 1e30 2\n", "corner that is not there" },
        { "f.ply", PLY("") "element tristrips 900000000000000\nend_header\n" PLACES "3 0 1 2\n", "vertex_indices" },
    };
    spot_ctx c = check_ctx(1);
    spot_mesh m;

    for (int i = 0; i < LEN(file); i++) {
        char words[100];
        snprintf(words, sizeof words, "mesh.damaged: %s", file[i].words);
        put_text(file[i].name, file[i].text);
        CHECK_FAILS(&c, read_model(&c, &m, file[i].name), SPOT_INPUT, words);
    }
}

/* Rows without a property take no bytes: a parser with sanitizers counted them until its time was over. */
TEST_IN_FOLDER(elements_without_properties_take_no_time)
{
    spot_mesh m = mesh_of("a.ply", PLY("") FACES("") STRIPS "element nothing 900000000000000\nend_header\n" PLACES
                          "3 0 1 2\n3 2 1 0\n3 0 1 2\n");

    assert_int_equal(m.triangles, 3);
    spot_mesh_close(&m);
}

/* -- STL, and files that are cut short ------------------------------------------------------------------------------------ */

static const char stl[] = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\n"
                          "endfacet\nendsolid a\n";

static void put_binary_stl(const char *begin)
{
    uint8_t file[84 + 50] = { 0 };
    const float v[12] = { 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0 };

    memcpy(file, begin, strlen(begin));
    file[80] = 1;
    memcpy(file + 84, v, sizeof v);
    put_bytes("b.stl", file, sizeof file);
}

TEST_IN_FOLDER(texts_in_UTF_16_are_read)
{
    static const char *const name[] = { "a.stl", "p.ply", "o.off" };
    spot_ctx c = check_ctx(1);
    spot_mesh m;

    put_text("a.stl", stl);
    put_text("p.ply", PLY("") "end_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n");
    put_text("o.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n");
    put_gltf("", "");
    for (int little = 0; little < 2; little++) {
        for (int i = 0; i < LEN(name); i++) {
            char wide[16];
            snprintf(wide, sizeof wide, "w%s", name[i]);
            put_wide(wide, name[i], little);
            m = mesh_of(wide, NULL);
            assert_int_equal(m.triangles, 1);
            spot_mesh_close(&m);
        }
        put_wide("w.gltf", "t.gltf", little);
        CHECK_FAILS(&c, read_model(&c, &m, "w.gltf"), SPOT_INPUT, "mesh.utf16");
        put_binary_stl(little ? "\xff\xfe" : "\xfe\xff");          /* bytes that are no mark */
        m = mesh_of("b.stl", NULL);
        assert_int_equal(m.triangles, 1);
        spot_mesh_close(&m);
    }
}

TEST_IN_FOLDER(files_that_are_cut_short_get_a_sentence)
{
    spot_mesh m = mesh_of("a.stl", stl);

    assert_int_equal(m.triangles, 1);
    spot_mesh_close(&m);
    put_binary_stl("solid x");
    put_text("p.ply", PLY("") "end_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n");
    put_text("o.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n");
    put_gltf("", "");
    check_cut("a.stl", 3, 4), check_cut("b.stl", 5, 4), check_cut("p.ply", 7, 4), check_cut("o.off", 1, 4);
    check_cut("t.gltf", 31, 4);
}
