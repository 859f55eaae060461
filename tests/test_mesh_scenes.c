/* test_mesh_scenes.c - Collada, 3DS and FBX: axes, pictures, opacity, files that are cut short; and meshes on bones. The same
 * tetrahedron is written in each format. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check_mesh.h"
#include "checks.h"

/* y points up, and no two sides are alike. */
static const double corner[4][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 2, 0 }, { 0, 0, 3 } };
static const int face[4][3] = { { 0, 1, 2 }, { 0, 1, 3 }, { 0, 2, 3 }, { 1, 2, 3 } };

static spot_mesh tetrahedron(void)
{
    return mesh_of("o.obj", "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n");
}

static void check_same(const spot_mesh *m, const char *words)
{
    spot_mesh o = tetrahedron();

    assert_int_equal(m->triangles, o.triangles);
    for (int i = 0; i < 3 * o.triangles; i++) {
        const int a = (int)m->corner[i], b = (int)o.corner[i];
        for (int k = 0; k < 3; k++)
            if (fabsf(m->place[k * m->vertices + a] - o.place[k * o.vertices + b]) > 1e-5f)
                fail_msg("%s: corner %d, %g in place of %g", words, i, m->place[k * m->vertices + a],
                         o.place[k * o.vertices + b]);
    }
    spot_mesh_close(&o);
}

/* The option that z points up does not count where the file says what does. */
static void check_model(const char *name, const char *words)
{
    spot_mesh_options o = spot_mesh_defaults();
    spot_ctx c = check_ctx(1);
    spot_mesh_files *f;
    spot_mesh m;

    CHECK_OK(&c, spot_mesh_files_open(&c, &f, root));
    for (int up = 0; up < 2; up++) {
        o.z_up = up;
        CHECK_OK(&c, spot_mesh_read(&c, &m, f, name, &o));
        check_same(&m, words);
        spot_mesh_close(&m);
    }
    spot_mesh_files_close(f);
}

/* Coordinates of the tetrahedron's corners: the file's k-th is sign[k] times number axis[k] of right, up and front. */
typedef struct { const char *name; int axis[3], sign[3]; } axes;

static void put_corners(char *to, const axes *a, char between)
{
    for (int v = 0; v < 4; v++)
        for (int k = 0; k < 3; k++)
            to += sprintf(to, "%s%g", v + k ? (char[]){ between, 0 } : "", a->sign[k] * corner[v][a->axis[k]]);
}

/* -- Collada -------------------------------------------------------------------------------------------------------------- */

#define DAE_HEAD "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n" \
                 "<COLLADA xmlns=\"http://www.collada.org/2005/11/COLLADASchema\" version=\"1.4.1\">\n" \
                 "<asset><unit name=\"inch\" meter=\"0.0254\"/><up_axis>%s</up_axis></asset>\n"
#define DAE_LOOKS "<library_images><image id=\"i\"><init_from>./T%%20A.PNG</init_from></image></library_images>\n" \
    "<library_materials><material id=\"a\" name=\"a\"><instance_effect url=\"#ea\"/></material>" \
    "<material id=\"b\" name=\"b\"><instance_effect url=\"#eb\"/></material></library_materials>\n" \
    "<library_effects><effect id=\"ea\"><profile_COMMON><technique sid=\"c\"><lambert><diffuse><color> 0.5 0.25 1 1 </color>" \
    "</diffuse><transparent><color>1 1 1 1</color></transparent><transparency><float>%s</float></transparency></lambert>" \
    "</technique></profile_COMMON></effect>\n<effect id=\"eb\"><profile_COMMON><newparam sid=\"s\"><surface type=\"2D\">" \
    "<init_from>i</init_from></surface></newparam><newparam sid=\"p\"><sampler2D><source>s</source></sampler2D></newparam>" \
    "<technique sid=\"c\"><lambert><diffuse><texture texture=\"p\" texcoord=\"U\"/></diffuse></lambert></technique>" \
    "</profile_COMMON></effect></library_effects>\n"
#define DAE_MESH "<library_geometries><geometry id=\"g\"><mesh><source id=\"p\"><float_array id=\"pa\" count=\"12\">\n%s\n" \
    "</float_array><technique_common><accessor source=\"#pa\" count=\"4\" stride=\"3\"><param name=\"X\" type=\"float\"/>" \
    "<param name=\"Y\" type=\"float\"/><param name=\"Z\" type=\"float\"/></accessor></technique_common></source>\n" \
    "<vertices id=\"v\"><input semantic=\"POSITION\" source=\"#p\"/></vertices>\n" \
    "<triangles count=\"2\" material=\"a\"><input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/>" \
    "<p> 0 1 2 0 1 3 </p></triangles>" \
    "<triangles count=\"2\" material=\"b\"><input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/>" \
    "<p> 0 2 3 1 2 3 </p></triangles>" \
    "</mesh></geometry></library_geometries>\n"
#define DAE_SCENE "<library_visual_scenes><visual_scene id=\"s\"><node id=\"n\"><scale>7 7 7</scale>" \
    "<instance_geometry url=\"#g\">" \
    "<bind_material><technique_common><instance_material symbol=\"a\" target=\"#a\"/><instance_material symbol=\"b\" " \
    "target=\"#b\"/></technique_common></bind_material></instance_geometry></node></visual_scene></library_visual_scenes>\n" \
    "<scene><instance_visual_scene url=\"#s\"/></scene>\n</COLLADA>\n"

static void put_dae(const char *name, const axes *a, const char *transparency)
{
    char text[5000], places[400];

    put_corners(places, a, ' ');
    snprintf(text, sizeof text, DAE_HEAD DAE_LOOKS DAE_MESH DAE_SCENE, a->name, transparency, places);
    put_text(name, text);
}

static const axes y_up = { "Y_UP", { 0, 1, 2 }, { 1, 1, 1 } };

TEST_IN_FOLDER(Collada_says_which_axis_points_up)
{
    static const axes row[] = { { "Y_UP", { 0, 1, 2 }, { 1, 1, 1 } }, { "Z_UP", { 0, 2, 1 }, { 1, -1, 1 } },
                                { "X_UP", { 1, 0, 2 }, { 1, -1, 1 } } };

    for (int i = 0; i < LEN(row); i++) {
        put_dae("m.dae", &row[i], "1");
        check_model("m.dae", row[i].name);
    }
}

TEST_IN_FOLDER(texts_may_be_wide)
{
    static const axes z_up = { "Z_UP", { 0, 2, 1 }, { 1, -1, 1 } };

    put_dae("m.dae", &z_up, "1");
    spot_mesh o = tetrahedron();
    spot_mesh_close(&o);
    for (int little = 0; little < 2; little++) {
        put_wide("w.dae", "m.dae", little);
        check_model("w.dae", "UTF-16");
        put_wide("w.obj", "o.obj", little);
        spot_mesh m = mesh_of("w.obj", NULL);
        check_same(&m, "UTF-16");
        spot_mesh_close(&m);
    }
}

TEST_IN_FOLDER(Collada_has_its_colours_pictures_and_opacity)
{
    static const struct { const char *transparency, *words; float opacity; } row[] = {
        { "1", "", 1 }, { "0.25", "", 0.25f },
        { "0", "1 material lets nothing of it be seen and is drawn opaque", 1 },
    };

    put_png("t a.png");
    for (int i = 0; i < LEN(row); i++) {
        put_dae("m.dae", &y_up, row[i].transparency);
        spot_mesh m = mesh_of("m.dae", NULL);
        const spot_mesh_material *a = &m.look[m.material[0]], *b = &m.look[m.material[3]];
        assert_string_equal(words_of(&m), row[i].words);
        CHECK_NEAR(a->diffuse[0], 0.5, 1e-6);
        CHECK_NEAR(a->diffuse[1], 0.25, 1e-6);
        CHECK_NEAR(a->diffuse[2], 1, 1e-6);
        CHECK_NEAR(a->opacity, row[i].opacity, 1e-6);
        assert_int_equal(a->texture, -1);
        assert_int_equal(b->texture, 0);
        for (int k = 0; k < 3; k++) assert_true(b->diffuse[k] == 1);
        assert_int_equal(m.texture[0].texel[0], 200);
        spot_mesh_close(&m);
    }
}

/* -- 3DS ------------------------------------------------------------------------------------------------------------------ */

typedef struct { uint8_t at[2000]; size_t n; } chunks;

static void add(chunks *c, const void *bytes, size_t n)
{
    memcpy(c->at + c->n, bytes, n);
    c->n += n;
}

static size_t begin(chunks *c, unsigned number)
{
    const uint8_t head[6] = { (uint8_t)number, (uint8_t)(number >> 8) };
    const size_t from = c->n;

    add(c, head, sizeof head);
    return from;
}

static void end(chunks *c, size_t from)
{
    const uint32_t n = (uint32_t)(c->n - from);

    memcpy(c->at + from + 2, &n, sizeof n);
}

static void add_chunk(chunks *c, unsigned number, const void *bytes, size_t n)
{
    const size_t from = begin(c, number);

    add(c, bytes, n);
    end(c, from);
}

static void add_u16(chunks *c, unsigned v) { add(c, &(uint16_t){ (uint16_t)v }, 2); }

/* z points up in 3DS. */
static void add_mesh(chunks *c)
{
    const size_t object = begin(c, 0x4000);
    add(c, "thing", 6);
    const size_t mesh = begin(c, 0x4100), places = begin(c, 0x4110);
    add_u16(c, 4);
    for (int v = 0; v < 4; v++)
        add(c, (float[3]){ (float)corner[v][0], -(float)corner[v][2], (float)corner[v][1] }, 12);
    end(c, places);
    const size_t faces = begin(c, 0x4120);
    add_u16(c, 4);
    for (int t = 0; t < 4; t++) {
        for (int e = 0; e < 3; e++) add_u16(c, (unsigned)face[t][e]);
        add_u16(c, 7);
    }
    add_chunk(c, 0x4130, "look\0\4\0\0\0\1\0\2\0\3\0", 15);
    end(c, faces);
    end(c, mesh);
    end(c, object);
}

/* A movement that turns and stretches the object, and is not drawn. */
static void add_movement(chunks *c)
{
    const size_t all = begin(c, 0xb000), node = begin(c, 0xb002);
    static const float turn[4] = { 1, 0.6f, 0.8f, 0 }, size[3] = { 1, 3, 2 };

    add_chunk(c, 0xb010, "thing\0\0\0\0\0\xff\xff", 12);
    for (int i = 0; i < 2; i++) {
        const size_t track = begin(c, i ? 0xb022 : 0xb021);
        add(c, (uint8_t[20]){ [10] = 1 }, 20);             /* flags, two unused, one key; its frame and flags */
        add(c, i ? size : turn, i ? sizeof size : sizeof turn);
        end(c, track);
    }
    end(c, node), end(c, all);
}

static void put_3ds(const char *name)
{
    chunks c = { .n = 0 };
    const size_t all = begin(&c, 0x4d4d), editor = begin(&c, 0x3d3d), look = begin(&c, 0xafff);

    add_chunk(&c, 0xa000, "look", 5);
    const size_t diffuse = begin(&c, 0xa020);
    add_chunk(&c, 0x0011, "\x80\x40\xff", 3);
    end(&c, diffuse);
    const size_t map = begin(&c, 0xa200);
    add_chunk(&c, 0xa300, "T.PNG", 6);
    end(&c, map);
    end(&c, look);
    add_mesh(&c);
    end(&c, editor);
    add_movement(&c);
    end(&c, all);
    put_bytes(name, c.at, c.n);
}

TEST_IN_FOLDER(a_3DS_is_drawn_as_its_vertices_lie)
{
    put_png("t.png");
    put_3ds("m.3ds");
    check_model("m.3ds", "3DS");
    spot_mesh m = mesh_of("m.3ds", NULL);
    assert_string_equal(words_of(&m), "");
    assert_int_equal(m.textures, 1);
    assert_int_equal(m.look[m.material[0]].texture, 0);
    for (int k = 0; k < 3; k++) assert_true(m.look[m.material[0]].diffuse[k] == 1);
    spot_mesh_close(&m);
    remove(in_root("t.png"));
    m = mesh_of("m.3ds", NULL);
    assert_string_equal(words_of(&m), "1 texture is not there or cannot be read (T.PNG)");
    CHECK_NEAR(m.look[m.material[0]].diffuse[1], 64 / 255.0, 1e-6);
    spot_mesh_close(&m);
}

/* -- FBX ------------------------------------------------------------------------------------------------------------------ */

#define FBX_HEAD "; FBX 7.3.0 project file\nFBXHeaderExtension:  {\n\tFBXHeaderVersion: 1003\n\tFBXVersion: 7300\n}\n"
#define FBX_AXIS(name) "\t\tP: \"" name "\", \"int\", \"Integer\", \"\",%d\n" \
                       "\t\tP: \"" name "Sign\", \"int\", \"Integer\", \"\",%d\n"
#define FBX_AXES "GlobalSettings:  {\n\tVersion: 1000\n\tProperties70:  {\n" FBX_AXIS("UpAxis") FBX_AXIS("FrontAxis") \
                 FBX_AXIS("CoordAxis") "\t\tP: \"UnitScaleFactor\", \"double\", \"Number\", \"\",2.54\n\t}\n}\n"
#define FBX_OBJECTS "Objects:  {\n\tGeometry: 10, \"Geometry::\", \"Mesh\" {\n\t\tVertices: *12 {\n\t\t\ta: %s\n\t\t}\n" \
    "\t\tPolygonVertexIndex: *12 {\n\t\t\ta: 0,1,-3,0,1,-4,0,2,-4,1,2,-4\n\t\t}\n\t\tGeometryVersion: 124\n" \
    "\t\tLayerElementMaterial: 0 {\n\t\t\tVersion: 101\n\t\t\tName: \"\"\n\t\t\tMappingInformationType: \"AllSame\"\n" \
    "\t\t\tReferenceInformationType: \"IndexToDirect\"\n\t\t\tMaterials: *1 {\n\t\t\t\ta: 0\n\t\t\t}\n\t\t}\n" \
    "\t\tLayer: 0 {\n\t\t\tVersion: 100\n\t\t\tLayerElement:  {\n\t\t\t\tType: \"LayerElementMaterial\"\n" \
    "\t\t\t\tTypedIndex: 0\n\t\t\t}\n\t\t}\n\t}\n" \
    "\tModel: 20, \"Model::thing; {\", \"Mesh\" {\n\t\tVersion: 232\n\t}\n" \
    "\tMaterial: 30, \"Material::look\", \"\" {\n\t\tVersion: 102\n\t\tShadingModel: \"lambert\"\n\t\tProperties70:  {\n" \
    "\t\t\tP: \"DiffuseColor\", \"Color\", \"\", \"A\",0.5,0.25,1\n\t\t\tP: \"Opacity\", \"double\", \"Number\", \"\",%s\n" \
    "\t\t}\n\t}\n" \
    "\tTexture: 40, \"Texture::t\", \"\" {\n\t\tType: \"TextureVideoClip\"\n\t\tVersion: 202\n" \
    "\t\tFileName: \"C:\\elsewhere\\T.PNG\"\n\t\tRelativeFilename: \"..\\elsewhere\\T.PNG\"\n\t}\n}\n"
#define FBX_LINKS "Connections:  {\n\tC: \"OO\",20,0\n\tC: \"OO\",10,20\n\tC: \"OO\",30,20\n\tC: \"OP\",40,30, " \
                  "\"DiffuseColor\"\n}\n"

/* Where right, up and front lie: sign[k] and axis[k] of the file's numbers. */
static void put_fbx(const char *name, const axes *a, const char *opacity)
{
    char text[5000], places[400];
    int at[3], sign[3];

    put_corners(places, a, ',');
    for (int k = 0; k < 3; k++) at[a->axis[k]] = k, sign[a->axis[k]] = a->sign[k];
    snprintf(text, sizeof text, FBX_HEAD FBX_AXES FBX_OBJECTS FBX_LINKS, at[1], sign[1], at[2], sign[2], at[0], sign[0], places,
             opacity);
    put_text(name, text);
}

TEST_IN_FOLDER(FBX_says_where_its_axes_point)
{
    static const axes row[] = {
        { "y up", { 0, 1, 2 }, { 1, 1, 1 } },    { "z up", { 0, 2, 1 }, { 1, -1, 1 } }, { "x up", { 1, 0, 2 }, { 1, -1, 1 } },
        { "-y up", { 0, 1, 2 }, { 1, -1, -1 } }, { "-z up", { 2, 0, 1 }, { 1, -1, -1 } },
    };

    for (int i = 0; i < LEN(row); i++) {
        put_fbx("m.fbx", &row[i], "1");
        check_model("m.fbx", row[i].name);
    }
}

TEST_IN_FOLDER(FBX_as_text_may_be_wide)
{
    put_fbx("m.fbx", &y_up, "1");
    for (int little = 0; little < 2; little++) {
        put_wide("w.fbx", "m.fbx", little);
        check_model("w.fbx", "UTF-16");
    }
}

TEST_IN_FOLDER(FBX_has_its_colours_pictures_and_opacity)
{
    put_fbx("m.fbx", &y_up, "0");
    spot_mesh m = mesh_of("m.fbx", NULL);
    assert_non_null(strstr(words_of(&m), "1 material lets nothing of it be seen and is drawn opaque"));
    assert_non_null(strstr(words_of(&m), "1 texture is not there or cannot be read"));
    CHECK_NEAR(m.look[m.material[0]].diffuse[1], 0.25, 1e-6);
    spot_mesh_close(&m);
    put_png("t.png");
    put_fbx("m.fbx", &y_up, "0.5");
    m = mesh_of("m.fbx", NULL);
    assert_int_equal(m.textures, 1);
    CHECK_NEAR(m.look[m.material[0]].opacity, 0.5, 1e-6);
    for (int k = 0; k < 3; k++) assert_true(m.look[m.material[0]].diffuse[k] == 1);
    spot_mesh_close(&m);
}

TEST_IN_FOLDER(scenes_that_are_cut_short_get_a_sentence)
{
    put_dae("m.dae", &y_up, "1");
    put_3ds("m.3ds");
    put_fbx("m.fbx", &y_up, "1");
    check_cut("m.dae", 61, 2), check_cut("m.3ds", 17, 0), check_cut("m.fbx", 61, 2);
}

/* -- memory --------------------------------------------------------------------------------------------------------------- */

static size_t addresses_now(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    size_t pages = 0;

    assert_true(f && fscanf(f, "%zu", &pages) == 1);
    fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* A picture's first bytes say 12,000 x 12,000 pixels, and it ends there. With the memory for them it is lost. */
static spot_status read_in_addresses(spot_ctx *c, spot_mesh *m, size_t more)
{
    struct rlimit before, less;
    spot_status s;

    getrlimit(RLIMIT_AS, &before);
    less = before;
    less.rlim_cur = before.rlim_max;
    if (more) less.rlim_cur = addresses_now() + more;
    setrlimit(RLIMIT_AS, &less);
    s = read_model(c, m, "m.obj");
    setrlimit(RLIMIT_AS, &before);
    return s;
}

TEST_IN_FOLDER(a_texture_without_memory_is_no_lost_texture)
{
    static const uint8_t head[33] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0, 0, 13, 'I', 'H', 'D', 'R',
                                      0, 0, 0x2e, 0xe0, 0, 0, 0x2e, 0xe0, 8, 2 };
    spot_ctx c = check_ctx(1);
    spot_mesh m;

    put_bytes("t.png", head, sizeof head);
    put_text("m.mtl", "newmtl a\nmap_Kd t.png\n");
    put_text("m.obj", "mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nusemtl a\nf 1/1 2/1 3/1\n");
    CHECK_OK(&c, read_in_addresses(&c, &m, 0));
    assert_string_equal(words_of(&m), "1 texture is not there or cannot be read (t.png)");
    spot_mesh_close(&m);
#ifndef __SANITIZE_ADDRESS__
    CHECK_FAILS(&c, read_in_addresses(&c, &m, (size_t)300 << 20), SPOT_NOMEM, "picture.room: t.png | 12000 | 432.5");
    spot_mesh_close(&m);
#endif
}

/* -- bones ---------------------------------------------------------------------------------------------------------------- */

/* The tetrahedron, whose upper corner hangs on a bone that a node has lifted from 1 to 2; the mesh's own node counts for
 * nothing. */
static void put_skin(void)
{
    static const float place[12] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 3 };
    static const float weight[16] = { 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    static const float undo[32] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1,
                                    1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -1, 0, 1 };
    static const uint8_t joint[16] = { [8] = 1 };
    static const uint16_t index[12] = { 0, 1, 2, 0, 1, 3, 0, 2, 3, 1, 2, 3 };
    uint8_t all[48 + 64 + 128 + 16 + 24];

    memcpy(all, place, 48), memcpy(all + 48, weight, 64), memcpy(all + 112, undo, 128), memcpy(all + 240, joint, 16);
    memcpy(all + 256, index, 24);
    put_bytes("s.bin", all, sizeof all);
    put_text("s.gltf", "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0,1]}],\"nodes\":[{\"mesh\":0,"
             "\"skin\":0,\"scale\":[9,1,1]},{\"name\":\"low\",\"children\":[2]},{\"name\":\"high\",\"translation\":[0,2,0]}],"
             "\"skins\":[{\"joints\":[1,2],\"inverseBindMatrices\":2}],\"meshes\":[{\"primitives\":[{\"attributes\":{"
             "\"POSITION\":0,\"WEIGHTS_0\":1,\"JOINTS_0\":3},\"indices\":4}]}],\"buffers\":[{\"uri\":\"s.bin\","
             "\"byteLength\":280}],\"bufferViews\":[{\"buffer\":0,\"byteOffset\":0,\"byteLength\":48},{\"buffer\":0,"
             "\"byteOffset\":48,\"byteLength\":64},{\"buffer\":0,\"byteOffset\":112,\"byteLength\":128},{\"buffer\":0,"
             "\"byteOffset\":240,\"byteLength\":16},{\"buffer\":0,\"byteOffset\":256,\"byteLength\":24}],\"accessors\":["
             "{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\",\"min\":[0,0,0],\"max\":[1,1,3]},"
             "{\"bufferView\":1,\"componentType\":5126,\"count\":4,\"type\":\"VEC4\"},{\"bufferView\":2,\"componentType\":5126,"
             "\"count\":2,\"type\":\"MAT4\"},{\"bufferView\":3,\"componentType\":5121,\"count\":4,\"type\":\"VEC4\"},"
             "{\"bufferView\":4,\"componentType\":5123,\"count\":12,\"type\":\"SCALAR\"}]}");
}

TEST_IN_FOLDER(vertices_hang_on_their_bones)
{
    put_skin();
    spot_mesh m = mesh_of("s.gltf", NULL);
    check_same(&m, "bones");
    spot_mesh_close(&m);
}

int main(void) { return run_all_tests(); }
