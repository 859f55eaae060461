/* test_mesh_read.c - model files: three formats against trimesh, textures, archives, names that lead out, broken files, and
 * parsers of every kind of ill will, which are scripts here. ctest: both */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include "check_folder.h"
#include "checks.h"
#include "formats/picture.h"
#include "heard.h"
#include "mesh_area.h"
#include "spotter/mesh.h"

static spot_status read_of(spot_ctx *c, spot_mesh *m, const char *folder, const char *name, const spot_mesh_options *o)
{
    spot_mesh_files *f;
    spot_status s = spot_mesh_files_open(c, &f, folder);

    if (s != SPOT_OK) return s;
    s = spot_mesh_read(c, m, f, name, o);
    spot_mesh_files_close(f);
    return s;
}

/* -- what is in the files ------------------------------------------------------------------------------------------------- */

static double extent_of(const spot_mesh *m, int k)
{
    float low = 9, high = -9;

    for (int v = 0; v < m->vertices; v++) {
        low = fminf(low, m->place[k * m->vertices + v]);
        high = fmaxf(high, m->place[k * m->vertices + v]);
    }
    CHECK_NEAR(low + high, 0, 1e-6);
    return high - low;
}

static void check_facts(const spot_mesh *m, const char *file, const double *fact)
{
    double alpha = 0;
    int texels = 0;

    for (int i = 0; i < m->textures; i++)
        for (int e = 0; e < m->texture[i].width * m->texture[i].height; e++, texels++) alpha += m->texture[i].texel[4 * e + 3];
    print_message("%s\n", file);
    assert_int_equal(m->triangles, fact[0]);
    CHECK_NEAR(mesh_area(m), fact[1], 1e-5);
    CHECK_NEAR(extent_of(m, 0), fact[2], 1e-6);
    CHECK_NEAR(extent_of(m, 2), fact[3], 1e-6);            /* y points up in the file */
    CHECK_NEAR(extent_of(m, 1), fact[4], 1e-6);
    assert_int_equal(texels, fact[6]);
    if (texels) CHECK_NEAR(alpha / texels, fact[5], 1e-6);
}

TEST(models_are_those_of_trimesh)
{
    FILE *f = fopen("golden/mesh/facts.txt", "r");
    spot_ctx c = check_ctx(1);
    char name[64];
    double fact[7];
    int files = 0;

    assert_non_null(f);
    for (; fscanf(f, "%63s %lf %lf %lf %lf %lf %lf %lf", name, &fact[0], &fact[1], &fact[2], &fact[3], &fact[4], &fact[5],
                  &fact[6]) == 8; files++) {
        spot_mesh m, again;
        CHECK_OK(&c, read_of(&c, &m, "golden/mesh", name, NULL));
        check_facts(&m, name, fact);
        CHECK_OK(&c, read_of(&c, &again, "golden/mesh", name, NULL));
        assert_string_equal(m.hash, again.hash);
        spot_mesh_close(&m), spot_mesh_close(&again);
    }
    assert_int_equal(files, 4);
    fclose(f);
}

static int looks_like(const spot_mesh_material *l, float r, float g, float b, float opacity)
{
    return l->diffuse[0] == r && l->diffuse[1] == g && l->diffuse[2] == b && l->opacity == opacity;
}

TEST(materials_and_what_is_lost)
{
    spot_ctx c = check_ctx(1);
    spot_picture p = { 0 };
    spot_mesh m;
    int found = 0;

    c.on_log = hear;
    CHECK_OK(&c, read_of(&c, &m, "golden/mesh", "chest.obj", NULL));
    assert_int_equal(m.repairs.polygons, 2);
    assert_int_equal(m.repairs.flat, 1);
    assert_int_equal(m.repairs.lost_textures, 3);
    assert_int_equal(m.repairs.refused, 2);
    assert_int_equal(m.repairs.made_normals, 3 * m.triangles);
    assert_non_null(strstr(murmured, "no texture ../../../../etc/passwd: it lies outside"));
    assert_non_null(strstr(murmured, "no texture gone.png: it is not there"));
    assert_int_equal(m.textures, 2);
    CHECK_OK(&c, spot_picture_read(&c, &p, "golden/mesh/wood grain.png"));
    for (int i = 0; i < m.materials; i++) {
        const spot_mesh_material *l = &m.look[i];
        const uint8_t *texel = l->texture >= 0 ? m.texture[l->texture].texel : NULL;
        assert_int_equal(l->cutout, -1);
        if (looks_like(l, 1, 0.5f, 0.25f, 1) && texel && l->specular[1] == 0.2f && l->shininess == 50) {
            for (int e = 0; e < 30; e++) assert_memory_equal(texel + 4 * e, p.rgb + 3 * e, 3);
            found++;
        }
        if (looks_like(l, 0, 1, 0, 1) && texel) found += texel[0] == 255 && m.texture[l->texture].width == 4;
        found += looks_like(l, 0.2f, 0.4f, 0, 1) && l->shininess == 1000;
        found += looks_like(l, 1, 1, 1, 0.25f) && !texel;
    }
    assert_int_equal(found, 4);
    spot_picture_close(&p);
    spot_mesh_close(&m);
    CHECK_OK(&c, read_of(&c, &m, "golden/mesh", "tower.gltf", NULL));
    assert_true(looks_like(&m.look[m.material[0]], 0.25f, 0.5f, 0.75f, 0.5f));
    spot_mesh_close(&m);
}

static const char triangle[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";

/* -- archives and names --------------------------------------------------------------------------------------------------- */

static void write_archive(const char *path)
{
    static const char *const name[] = { "mesh/chest.obj", "mesh/chest.mtl", "mesh/wood grain.png", "mesh/leaf.png" };
    zip_t *z = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);

    assert_non_null(z);
    for (int i = 0; i < LEN(name); i++) {
        char from[64];
        snprintf(from, sizeof from, "golden/%s", name[i]);
        assert_true(zip_file_add(z, name[i], zip_source_file(z, from, 0, -1), 0) >= 0);
    }
    assert_true(zip_file_add(z, "../evil.obj", zip_source_buffer(z, triangle, sizeof triangle - 1, 0), 0) >= 0);
    assert_int_equal(zip_close(z), 0);
}

TEST_IN_FOLDER(an_archive_gives_the_same_mesh)
{
    spot_mesh_options o = spot_mesh_defaults();
    spot_ctx c = check_ctx(1);
    char path[128];
    spot_mesh m, n;

    snprintf(path, sizeof path, "%s/a.zip", root);
    write_archive(path);
    CHECK_OK(&c, read_of(&c, &m, "golden/mesh", "chest.obj", NULL));
    CHECK_OK(&c, read_of(&c, &n, path, "mesh/../mesh/./chest.obj", NULL));
    assert_string_equal(m.hash, n.hash);
    assert_int_equal(n.repairs.lost_textures, 3);
    spot_mesh_close(&m), spot_mesh_close(&n);
    CHECK_FAILS(&c, read_of(&c, &m, path, "../evil.obj", NULL), SPOT_INPUT, "mesh.outside");
    CHECK_FAILS(&c, read_of(&c, &m, path, "mesh/none.obj", NULL), SPOT_INPUT, "mesh.missing");
    o.file = 100;
    CHECK_FAILS(&c, read_of(&c, &m, path, "mesh/chest.obj", &o), SPOT_INPUT, "mesh.too_large: 0.0");
    put_text("b.zip", triangle);
    snprintf(path, sizeof path, "%s/b.zip", root);
    CHECK_FAILS(&c, read_of(&c, &m, path, "x.obj", NULL), SPOT_INPUT, "zip.directory");
    CHECK_FAILS(&c, read_of(&c, &m, "/nowhere", "x.obj", NULL), SPOT_IO, "mesh.unread: /nowhere");
}

/* The letter stands for a file outside, which a model must not reach by any name. */
TEST_IN_FOLDER(names_do_not_lead_out)
{
    static const char *const outside[] = { "../letter.obj", "/etc/passwd.obj", "C:/x.obj", "..\\letter.obj", "link.obj",
                                           "folder/letter.obj", "a/../../letter.obj", "" };
    spot_ctx c = check_ctx(1);
    char in[128], path[160];
    spot_mesh m;

    snprintf(in, sizeof in, "%s/in", root);
    assert_int_equal(mkdir(in, 0700), 0);
    put_text("letter.obj", triangle);
    put_text("in/here.obj", triangle);
    snprintf(path, sizeof path, "%s/link.obj", in);
    assert_int_equal(symlink("../letter.obj", path), 0);
    snprintf(path, sizeof path, "%s/folder", in);
    assert_int_equal(symlink("..", path), 0);
    snprintf(path, sizeof path, "%s/inner.obj", in);
    assert_int_equal(symlink("here.obj", path), 0);
    snprintf(path, sizeof path, "%s/pipe.obj", in);
    assert_int_equal(mkfifo(path, 0600), 0);
    for (int i = 0; i < LEN(outside); i++)
        CHECK_FAILS(&c, read_of(&c, &m, in, outside[i], NULL), SPOT_INPUT, *outside[i] ? "mesh.outside" : "mesh.format");
    CHECK_FAILS(&c, read_of(&c, &m, in, "pipe.obj", NULL), SPOT_INPUT, "mesh.missing");
    CHECK_OK(&c, read_of(&c, &m, in, "inner.obj", NULL));
    assert_int_equal(m.triangles, 1);
    spot_mesh_close(&m);
}

/* -- broken files --------------------------------------------------------------------------------------------------------- */

TEST_IN_FOLDER(broken_files_get_a_sentence)
{
    static const struct { const char *name, *text, *words; } file[] = {
        { "empty.obj", "", "mesh.damaged" },
        { "points.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n", "mesh.no_triangles" },
        { "flat.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", "mesh.not_drawable: 1 | 1" },
        { "nan.obj", "v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "mesh.not_drawable" },
        { "index.obj", "v 0 0 0\nv 1 0 0\nf 1 2 900\n", "mesh.damaged" },
        { "words.ply", "this is no model\n", "mesh.damaged" },
        { "huge.ply", "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nelement "
         "face 100000000\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", "mesh.damaged" },
        { "list.gltf", "[]", "mesh.damaged" },
        { "number.gltf", "{\"asset\":{\"version\":\"2.0\"},\"accessors\":[{\"bufferView\":7,\"componentType\":5126,"
                         "\"count\":4000000000,\"type\":\"VEC3\"}],\"meshes\":[{\"primitives\":[{\"attributes\":"
                         "{\"POSITION\":0}}]}],\"nodes\":[{\"mesh\":0}],\"scenes\":[{\"nodes\":[0]}],\"scene\":0}",
          "mesh.damaged" },
        { "short.glb", "glTF\2\0\0\0", "mesh.damaged" },
        { "model.blend", "x", "mesh.format" },
    };
    spot_mesh_options o = spot_mesh_defaults();
    spot_ctx c = check_ctx(1);
    spot_mesh m;

    o.memory = (size_t)300 << 20;
    for (int i = 0; i < LEN(file); i++) {
        if (SANITIZED && !strcmp(file[i].name, "huge.ply")) continue;  /* a sanitizer's parser has no limit of memory */
        put_text(file[i].name, file[i].text);
        CHECK_FAILS(&c, read_of(&c, &m, root, file[i].name, &o), SPOT_INPUT, file[i].words);
        spot_mesh_close(&m);
    }
}

/* A file of brackets lets the parser's stack grow; and one of polygons with more corners than there are places. */
TEST_IN_FOLDER(a_parser_that_dies_is_a_sentence)
{
    const size_t n = 3000000;
    char *text = malloc(n);
    spot_mesh_options o = spot_mesh_defaults();
    spot_ctx c = check_ctx(1);
    spot_mesh m;

    assert_non_null(text);
    memset(text, '[', n);
    put_bytes("deep.gltf", text, n);
    CHECK_FAILS(&c, read_of(&c, &m, root, "deep.gltf", NULL), SPOT_INPUT, "mesh.damaged: deep.gltf | /tmp/");
    if (!SANITIZED) {
        o.memory = (size_t)150 << 20;
        memset(text, '\n', n);
        for (size_t i = 0; i + 6 < n; i += 6) memcpy(text + i, "v 1 2\n", 6);
        memcpy(text + n - 30, "\nf 1 2 3\n", 9);
        put_bytes("many.obj", text, n);
        spot_status s = read_of(&c, &m, root, "many.obj", &o);
        assert_true(s == SPOT_OK || s == SPOT_INPUT);
        spot_mesh_close(&m);
    }
    free(text);
}

/* -- parsers of ill will -------------------------------------------------------------------------------------------------- */

static void fake_parser(const char *script)
{
    char path[128], text[512];

    snprintf(text, sizeof text, "#!/bin/sh\n%s\n", script);
    put_text("spotter-mesh", text);
    snprintf(path, sizeof path, "%s/spotter-mesh", root);
    assert_int_equal(chmod(path, 0700), 0);
}

/* Numbers as a parser writes them, in octal for printf. */
#define WORD(a) "\\" #a "\\0\\0\\0"
#define MESH "printf '" WORD(3) WORD(070)
#define EIGHT WORD(0) WORD(0) WORD(0) WORD(0) WORD(0) WORD(0) WORD(0) WORD(0)   /* colours to mixed */
#define READ_START "head -c 37 > /dev/null; "          /* and the five letters of x.obj */

TEST_IN_FOLDER(a_parser_is_not_trusted)
{
    static const struct { const char *script, *failure; } parser[] = {    /* NULL: it depends on the moment */
        { "exit 3", "program.ended: exit code 3" },
        { "kill -9 $$", "program.ended: signal 9" },
        { "echo no memory >&2; exit 1", "program.ended: no memory" },
        { "sleep 60", "mesh.too_slow: x.obj | 0.2" },
        { READ_START "echo this is rubbish; sleep 60", "mesh.parser_answer" },
        { "exec yes", NULL },
        { READ_START "while :; do printf '" WORD(1) WORD(1) "a'; done", NULL },
        { READ_START "printf '" WORD(1) "\\0\\0\\0\\1'; sleep 60", "mesh.parser_name: 16777216" },
        { READ_START "printf '" WORD(2) "\\0\\0\\0\\1'; sleep 60", "mesh.parser_sentence: 16777216" },
        { READ_START "printf '" WORD(2) WORD(5) "b\\033ad\\n'; sleep 60", "mesh.damaged: b?ad?" },
        { READ_START MESH "\\0\\341\\365\\005" WORD(0) WORD(0) EIGHT WORD(1) WORD(0) WORD(0) "'; sleep 60",
          "mesh.parser_count: triangles: | 100000000 | 4000000" },
        { READ_START MESH WORD(0) WORD(0) WORD(0) EIGHT WORD(1) WORD(0) WORD(0) "'; sleep 60", "mesh.no_triangles" },
        { READ_START MESH WORD(1) WORD(7) WORD(0) EIGHT WORD(1) WORD(0) WORD(0) "'; sleep 60",
          "mesh.parser_count: normals | 7" },
        { READ_START MESH WORD(1) WORD(0) WORD(0) EIGHT WORD(1) WORD(0) WORD(0) "'; exit 0", "program.ended: exit code 0" },
        { READ_START MESH WORD(1) WORD(0) WORD(0) EIGHT WORD(1) WORD(2) WORD(0) "'; sleep 60",
          "mesh.parser_count: textures: | 2" },
    };
    spot_mesh_options o = spot_mesh_defaults();
    spot_ctx c = check_ctx(1);
    spot_mesh m;

    put_text("x.obj", triangle);
    setenv("SPOT_PARSER_DIR", root, 1);
    for (int i = 0; i < LEN(parser); i++) {
        const double before = spot_clock();
        o.seconds = !strcmp(parser[i].script, "sleep 60") ? 0.2 : 5;
        fake_parser(parser[i].script);
        if (parser[i].failure) CHECK_FAILS(&c, read_of(&c, &m, root, "x.obj", &o), SPOT_INPUT, parser[i].failure);
        else assert_int_equal(read_of(&c, &m, root, "x.obj", &o), SPOT_INPUT);
        spot_forget(&c);
        assert_true(spot_clock() - before < 5.5);
        spot_mesh_close(&m);
    }
    setenv("SPOT_PARSER_DIR", "/nowhere", 1);
    CHECK_FAILS(&c, read_of(&c, &m, root, "x.obj", NULL), SPOT_IO, "mesh.no_parser: /nowhere/spotter-mesh");
    unsetenv("SPOT_PARSER_DIR");
    o.seconds = NAN;
    CHECK_FAILS(&c, read_of(&c, &m, root, "x.obj", &o), SPOT_INVALID, "mesh.parser_seconds: nan");
}

/* The stop flag ends a wait. */
TEST_IN_FOLDER(a_stop_is_obeyed)
{
    const volatile sig_atomic_t stop = 1;
    spot_ctx c = check_ctx(1);
    spot_mesh m;

    c.stop = &stop;
    put_text("x.obj", triangle);
    setenv("SPOT_PARSER_DIR", root, 1);
    fake_parser("sleep 60");
    assert_int_equal(read_of(&c, &m, root, "x.obj", NULL), SPOT_STOPPED);
    unsetenv("SPOT_PARSER_DIR");
    spot_mesh_close(&m);
}
