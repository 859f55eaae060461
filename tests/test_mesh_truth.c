/* test_mesh_truth.c - the mesh that is read is the mesh of the file: polygons, textures under the names that exporters write,
 * places far away, what would be invisible; and what is not as the file says is counted. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "check_mesh.h"
#include "checks.h"
#include "mesh_area.h"

/* -- polygons ------------------------------------------------------------------------------------------------------------- */

static const double ell[6][2] = { { 0, 0 }, { 2, 0 }, { 2, 1 }, { 1, 1 }, { 1, 2 }, { 0, 2 } };

TEST_IN_FOLDER(a_concave_face_is_cut_rightly_from_any_corner)
{
    for (int from = 0; from < 12; from++) {
        char text[1000] = "";
        const bool ply = from >= 6;
        int n = ply ? sprintf(text, "ply\nformat ascii 1.0\nelement vertex 6\nproperty float x\nproperty float y\nproperty "
                              "float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n") : 0;
        for (int i = 0; i < 6; i++) n += sprintf(text + n, "%s%g 0 %g\n", ply ? "" : "v ", ell[i][0], ell[i][1]);
        n += sprintf(text + n, ply ? "6" : "f");
        for (int i = 0; i < 6; i++) n += sprintf(text + n, " %d", (i + from) % 6 + !ply);
        sprintf(text + n, "\n");
        spot_mesh m = mesh_of(ply ? "l.ply" : "l.obj", text);
        CHECK_NEAR(mesh_area(&m) * 8, 3, 1e-5);
        assert_int_equal(m.triangles, 4);
        assert_string_equal(words_of(&m), "");
        spot_mesh_close(&m);
    }
}

TEST_IN_FOLDER(a_face_that_crosses_itself_is_said)
{
    spot_mesh m = mesh_of("bow.obj", "v 0 0 0\nv 1 1 0\nv 1 0 0\nv 0 1 0\nf 1 2 3 4\n");

    assert_int_equal(m.repairs.crossed, 1);
    assert_string_equal(words_of(&m), "1 polygon crosses itself");
    spot_mesh_close(&m);
}

/* -- textures ------------------------------------------------------------------------------------------------------------- */

#define SQUARE "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n"
#define TEXTURED "mtllib m.mtl\nusemtl a\n" SQUARE "f 1/1 2/2 3/3 4/4\n"

static const uint8_t tga_head[18] = { 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 2, 0, 32, 8 };
/* 2 x 2 pixels of the same red, the first without alpha, by Pillow. */
static const uint8_t red_webp[] = {
    0x52, 0x49, 0x46, 0x46, 0x24, 0x00, 0x00, 0x00, 0x57, 0x45, 0x42, 0x50, 0x56, 0x50, 0x38, 0x4c, 0x18, 0x00, 0x00,
    0x00, 0x2f, 0x01, 0x40, 0x00, 0x10, 0x0f, 0x30, 0x28, 0x83, 0x3c, 0x14, 0xf3, 0x1f, 0x87, 0x50, 0x08, 0x20, 0x00,
    0x0a, 0x9a, 0x88, 0xfe, 0x47, 0x03
};

/* Four pixels, the first of which has no alpha; `runs`: as two runs. */
static void put_tga(const char *name, bool runs)
{
    static const uint8_t pixel[2][4] = { { 20, 40, 200, 255 }, { 20, 40, 200, 0 } };
    uint8_t file[64];
    size_t n = sizeof tga_head;

    memcpy(file, tga_head, n);
    if (runs) file[2] = 10;
    if (runs) file[n++] = 0;
    memcpy(file + n, pixel[1], 4), n += 4;
    if (runs) file[n++] = 0x82;
    for (int i = 0; i < (runs ? 1 : 3); i++) memcpy(file + n, pixel[0], 4), n += 4;
    put_bytes(name, file, n);
}

static void put_bmp(const char *name)
{
    uint8_t file[54 + 16] = { 'B', 'M', 70, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 1, 0, 24 };

    for (int row = 0; row < 2; row++)
        for (int i = 0; i < 2; i++) memcpy(file + 54 + 8 * row + 3 * i, (const uint8_t[]){ 20, 40, 200 }, 3);
    put_bytes(name, file, sizeof file);
}

static void put_picture(const char *name)
{
    const char *dot = strrchr(name, '.');

    if (!strcmp(dot, ".tga")) put_tga(name, strstr(name, "runs") != NULL);
    else if (!strcmp(dot, ".bmp")) put_bmp(name);
    else if (!strcmp(dot, ".webp")) put_bytes(name, red_webp, sizeof red_webp);
    else put_png(name);
}

/* Whether the square has the red texture, and nothing is said. */
static void check_red(const char *line, const char *file)
{
    char text[300];

    snprintf(text, sizeof text, "newmtl a\nKd 1 1 1\n%s\n", line);
    put_text("a/models/m.mtl", text);
    put_picture(file);
    spot_mesh m = mesh_of("a/models/m.obj", TEXTURED);
    if (m.textures != 1 || m.look[m.material[0]].texture != 0) fail_msg("%s: %s is not found", line, file);
    assert_memory_equal(m.texture[0].texel + 4 * (m.texture[0].width * m.texture[0].height - 1),
                        ((const uint8_t[]){ 200, 40, 20, 255 }), 4);
    assert_string_equal(words_of(&m), "");
    spot_mesh_close(&m);
    unlink(in_root("%s", file));
}

TEST_IN_FOLDER(textures_are_found_under_the_names_of_exporters)
{
    static const struct { const char *line, *file; } name[] = {
        { "map_Kd t.png", "a/models/t.png" },                      { "map_Kd tex\\t.png", "a/models/tex/t.png" },
        { "map_Kd .\\t.png", "a/models/t.png" },                   { "map_Kd C:\\Users\\x\\t.png", "a/models/t.png" },
        { "map_Kd /data/x/t.png", "a/models/t.png" },              { "map_Kd T.PNG", "a/models/t.png" },
        { "map_Kd Tex/T.PNG", "a/models/tex/t.png" },              { "map_Kd t.png  \r", "a/models/t.png" },
        { "map_Kd \"t.png\"", "a/models/t.png" },                  { "map_Kd ../images/t.png", "a/images/t.png" },
        { "map_Kd ..\\images\\t.png", "a/images/t.png" },          { "map_kd t.png", "a/models/t.png" },
        { "map_Kd gone/t.png", "a/models/t.png" },                 { "map_Kd -clamp on t.png", "a/models/t.png" },
        { "map_Kd my red.png", "a/models/my red.png" },            { "map_Kd t.bmp", "a/models/t.bmp" },
        { "map_Kd t.tga", "a/models/t.tga" },                      { "map_Kd runs.tga", "a/models/runs.tga" },
        { "map_Kd t.webp", "a/models/t.webp" },
        { "aniso 0\nanisor 0\nPr 0.5\nPcr 0.03\nmap_Kd t.png", "a/models/t.png" },
    };

    for (int i = 0; i < LEN(name); i++) check_red(name[i].line, name[i].file);
}

/* The alpha of a TGA and of a WebP makes holes, as a PNG's does. */
TEST_IN_FOLDER(alpha_is_read)
{
    static const char *const file[] = { "t.tga", "runs.tga", "t.webp" };

    for (int i = 0; i < LEN(file); i++) {
        char text[100];
        int clear = 0;
        snprintf(text, sizeof text, "newmtl a\nKd 1 1 1\nmap_Kd %s\n", file[i]);
        put_text("m.mtl", text);
        put_picture(file[i]);
        spot_mesh m = mesh_of("m.obj", TEXTURED);
        assert_int_equal(m.textures, 1);
        for (int e = 0; e < m.texture[0].width * m.texture[0].height; e++) clear += !m.texture[0].texel[4 * e + 3];
        assert_int_equal(clear, 1);
        spot_mesh_close(&m);
    }
}

TEST_IN_FOLDER(what_is_lost_is_said)
{
    put_text("m.mtl", "newmtl a\nmap_Kd gone.png\n");
    spot_mesh m = mesh_of("m.obj", TEXTURED);
    assert_int_equal(m.repairs.lost_textures, 1);
    assert_string_equal(words_of(&m), "1 texture is not there or cannot be read (gone.png)");
    spot_mesh_close(&m);
    put_text("gone.png", "version https://git-lfs.github.com/spec/v1\n");
    m = mesh_of("m.obj", NULL);
    assert_string_equal(words_of(&m), "1 texture is not there or cannot be read (gone.png)");
    spot_mesh_close(&m);
    unlink(in_root("m.mtl"));
    m = mesh_of("m.obj", NULL);
    assert_string_equal(words_of(&m), "1 file of materials is not there (m.mtl)");
    spot_mesh_close(&m);
    put_text("n.mtl", "newmtl a\nKd 1 0 0\n");             /* assimp takes the one with the model's name */
    m = mesh_of("n.obj", TEXTURED);
    assert_int_equal(m.repairs.lost_materials, 0);
    assert_true(m.look[m.material[0]].diffuse[0] == 1);
    spot_mesh_close(&m);
}

/* A texture that is scaled and moved in its material: the coordinates are. */
TEST_IN_FOLDER(options_of_a_picture_move_it)
{
    put_png("t.png");
    put_text("m.mtl", "newmtl a\nmap_Kd -s 2 3 1 -o 0.5 0.25 t.png\n");
    spot_mesh m = mesh_of("m.obj", TEXTURED);
    float low[2] = { 9, 9 }, high[2] = { -9, -9 };

    for (int v = 0; v < m.vertices; v++)
        for (int k = 0; k < 2; k++) {
            low[k] = fminf(low[k], m.coordinate[k * m.vertices + v]);
            high[k] = fmaxf(high[k], m.coordinate[k * m.vertices + v]);
        }
    assert_true(low[0] == 0.5f && high[0] == 2.5f && low[1] == 0.25f && high[1] == 3.25f);
    spot_mesh_close(&m);
}

/* -- places and opacity --------------------------------------------------------------------------------------------------- */

TEST_IN_FOLDER(coordinates_of_a_map_keep_their_digits)
{
    static const double away[] = { 0, 1e3, 1e5, 5e6, 1e8 };
    static const char ply_head[] = "ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty double x\nproperty double "
                                   "y\nproperty double z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n";
    static const double corner[3][3] = { { 0, 0, 0 }, { 1, 0.3, 0 }, { 0.2, 0.7, 0.4 } };
    double first = 0;

    for (int i = 0; i < 2 * LEN(away); i++) {
        uint8_t file[400];
        size_t n = sizeof ply_head - 1;
        char text[300] = "";
        memcpy(file, ply_head, n);
        for (int e = 0; e < 3; e++)
            for (int k = 0; k < 3; k++) {
                const double v = corner[e][k] + away[i / 2];
                sprintf(text + strlen(text), "%s%.9f%s", k ? " " : "v ", v, k < 2 ? "" : "\n");
                memcpy(file + n, &v, sizeof v), n += sizeof v;
            }
        strcat(text, "f 1 2 3\n");
        memcpy(file + n, "\3\0\0\0\0\1\0\0\0\2\0\0\0", 13), n += 13;
        if (i % 2) put_bytes("far.ply", file, n);
        spot_mesh m = mesh_of(i % 2 ? "far.ply" : "far.obj", i % 2 ? NULL : text);
        if (!i) first = mesh_area(&m);
        CHECK_NEAR(mesh_area(&m), first, 1e-6);
        spot_mesh_close(&m);
    }
}

TEST_IN_FOLDER(what_would_be_invisible_is_drawn_and_said)
{
    static const struct { const char *mtl; float opacity; const char *words; } made[] = {
        { "newmtl a\nTr 1.0\n", 1, "1 material lets nothing of it be seen and is drawn opaque" },
        { "newmtl a\nd 0.0\n", 1, "1 material lets nothing of it be seen and is drawn opaque" },
        { "newmtl a\nd 1\nTr 0\n", 1, "" }, { "newmtl a\nTr 1\nd 1\n", 1, "" }, { "newmtl a\nd 1\nTr 1\n", 1, "" },
        { "newmtl a\nTr 0.75\n", 0.25f, "" }, { "newmtl a\nd -halo 0.5\n", 0.5f, "" },
    };

    for (int i = 0; i < LEN(made); i++) {
        put_text("m.mtl", made[i].mtl);
        spot_mesh m = mesh_of("m.obj", TEXTURED);
        assert_true(m.look[m.material[0]].opacity == made[i].opacity);
        if (*made[i].words) assert_true(m.repairs.made_opaque > 0);
        else assert_string_equal(words_of(&m), "");
        spot_mesh_close(&m);
    }
}

/* -- faces that name what is not there ------------------------------------------------------------------------------------ */

TEST_IN_FOLDER(faces_without_their_normals_and_coordinates_are_drawn)
{
    static const struct { const char *text; int lost; bool coordinates; } file[] = {
        { SQUARE "f 1/1 2/2 3/3\n", 0, true }, { "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1/1 2/2 3/3\n", 1, false },
        { "v 0 0 0\nv 1 0 0\nv 0 1 0\nvn 0 0 1\nf 1/1/1 2/2/1 3/3/1\n", 1, false },
        { "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1/1/1 2/2/2 3/3/3\n", 1, false },
        { "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1//1 2//2 3//3\n", 1, false },
        { SQUARE "f 1/1 2/2 3/9\nf 1/1 3/3 4/4\n", 1, true }, { SQUARE "f 1/1 2/2 3\n", 1, false },
        { SQUARE "f -4/-4 -3/-3 -2/-2\n", 0, true }, { SQUARE "f -4/-5 -3/-3 -2/-2\n", 1, false },
        { "\xef\xbb\xbf" SQUARE "f 1/1 2/2 \\\n3/3\n", 0, true },
    };

    for (int i = 0; i < LEN(file); i++) {
        spot_mesh m = mesh_of("f.obj", file[i].text);
        assert_int_equal(m.triangles, i == 5 ? 2 : 1);
        if (m.repairs.lost_corners != file[i].lost) fail_msg("file %d: %d faces", i, m.repairs.lost_corners);
        spot_mesh_close(&m);
    }
}
