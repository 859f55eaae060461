/* test_catalogue.c - catalogues of models: properties files, rules of classes, ShapeNet, folders, the order, broken input; and
 * Debian's furniture where it is installed. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/properties.h"
#include "base/sha1.h"
#include "check_folder.h"
#include "checks.h"
#include "heard.h"
#include "worlds/catalogue_parts.h"

static const spot_catalogue_entry *entry_of(const spot_catalogue *k, const char *id)
{
    for (int i = 0; i < k->entries; i++)
        if (!strcmp(k->entry[i].id, id)) return &k->entry[i];
    fail_msg("there is no entry %s", id);
    return NULL;
}

/* -- SHA-1: FIPS 180-4's examples, and the lengths at which a block more is needed (Python's hashlib) --------------------- */

static void check_sha1(const char *bytes, size_t n, const char *want)
{
    uint8_t hash[20];
    char text[41];

    spot_sha1(hash, bytes, n);
    for (int i = 0; i < 20; i++) snprintf(text + 2 * i, 3, "%02x", hash[i]);
    assert_string_equal(text, want);
}

TEST(sha1_is_that_of_the_standard)
{
    char a[200];

    memset(a, 'a', sizeof a);
    check_sha1("abc", 3, "a9993e364706816aba3e25717850c26c9cd0d89d");
    check_sha1("", 0, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    check_sha1("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    check_sha1(a, 55, "c1c8bbdc22796e28c0e15163d20899b65621d65a");
    check_sha1(a, 64, "0098ba824b5c16427bd7a1122a5a442a25ec644d");
    check_sha1(a, 119, "ee971065aaa017e0632a8ca6c77bb3bf8b1dfc56");
}

/* -- properties ----------------------------------------------------------------------------------------------------------- */

static spot_status note(spot_ctx *c, void *user, const char *key, const char *value, int line)
{
    char *to = user;

    (void)c;
    snprintf(to + strlen(to), 1000 - strlen(to), "%d[%s][%s]", line, key, value);
    return SPOT_OK;
}

TEST(properties_are_read_as_java_does)
{
    static const struct { const char *text, *want; } file[] = {
        { "a=b", "1[a][b]" },
        { "  a : b \n\n# no\n! no\n c d\r\ne\\ f\\=g = h\rx", "1[a][b ]5[c][d]6[e f=g][h]7[x][]" },
        { "k=one \\\n   two\\\\\nm=\\u00e9\\u20AC\\n\\q", "1[k][one two\\]3[m][\xc3\xa9\xe2\x82\xac\nq]" },
        { "k=\xe9\\ud83d\\ude00\\ud83dx", "1[k][\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbdx]" },
        { "k\\\n  ey=v\\", "1[key][v]" },
        { "#c\\\nk=v", "2[k][v]" },
        { "=x\n:y", "1[][x]2[][y]" },
        { "k= = v", "1[k][= v]" },
    };
    spot_ctx c = check_ctx(1);

    for (int i = 0; i < LEN(file); i++) {
        char got[1000] = "";
        CHECK_OK(&c, spot_properties_read(&c, file[i].text, strlen(file[i].text), "x", note, got));
        assert_string_equal(got, file[i].want);
    }
    char got[1000] = "";
    CHECK_FAILS(&c, spot_properties_read(&c, "a=b\nc=\\u12", 10, "x", note, got), SPOT_INPUT, "properties.escape: x | line 2");
    CHECK_FAILS(&c, spot_properties_read(&c, "a=b\n\n\0=d", 8, "x", note, got), SPOT_INPUT, "properties.nul: x | line 3");
}

/* -- Sweet Home 3D -------------------------------------------------------------------------------------------------------- */

static const char furniture[] =
    "license=CC0\nid#1=A#one\nname#1=Red Armchair\ncategory#1=Seats\nmodel#1=/a/one.obj\ncreator#1=Ann \\u00c9\n"
    "dropOnTopElevation#-1=3\n"
    "name#7=Table with chairs\ncategory#7=Tables\nmodel#7=two.obj\nid#7=A#seven\nmodelRotation#7=1 0 0 0 0 1 0 -1 0\n"
    "id#2=A#two\nname#2=chair-lift, door\nmodel#2=/t.obj\ndoorOrWindow#2=true\ncategory#2=Doors\nlicense#2=Mine\n"
    "id#3=A#three\nname#3=Plant box\nmodel#3=/p.obj\n";

TEST_IN_FOLDER(furniture_has_classes_by_rules)
{
    static const spot_catalogue_class rule[] = {
        { .name = "chair", .words = "stool armchair", .without = "door" },
        { .name = "left", .category = "Doors", .leave = 1 },
        { .name = "table", .last = "desk", .starts = "table with" },
        { .name = "plant", .words = "plant", .without = "box" },
    };
    spot_ctx c = check_ctx(1);
    spot_catalogue k;

    put_text("PluginFurnitureCatalog.properties", furniture);
    CHECK_OK(&c, spot_catalogue_read(&c, &k, root, rule, LEN(rule)));
    assert_int_equal(k.entries, 2);
    assert_int_equal(k.classes, 3);
    assert_string_equal(k.cls[1], "table");
    assert_string_equal(k.entry[0].id, "A#one");
    assert_string_equal(k.entry[0].file, "a/one.obj");
    assert_string_equal(k.entry[0].author, "Ann \xc3\x89");
    assert_string_equal(k.entry[0].licence, "CC0");
    assert_string_equal(k.entry[1].id, "A#seven");
    assert_int_equal(k.entry[1].cls, 1);
    assert_true(k.entry[1].turn[5] == 1 && k.entry[1].turn[7] == -1);
    spot_catalogue_close(&k);

    CHECK_OK(&c, spot_catalogue_read(&c, &k, root, NULL, 0));
    assert_int_equal(k.entries, 3);                        /* the plant has no category */
    assert_int_equal(k.classes, 3);
    assert_string_equal(k.cls[0], "Doors");
    assert_true(k.entry[0].door);
    assert_string_equal(k.entry[0].licence, "Mine");
    spot_catalogue_close(&k);

    const spot_catalogue_class doors = { .name = "d", .door = 1 }, seats = { .name = "Seats" }, none = { .name = "none" };
    CHECK_OK(&c, spot_catalogue_read(&c, &k, root, &doors, 1));
    assert_int_equal(k.entries, 1);
    spot_catalogue_close(&k);
    CHECK_OK(&c, spot_catalogue_read(&c, &k, root, &seats, 1));
    assert_string_equal(k.entry[0].id, "A#one");
    spot_catalogue_close(&k);
    CHECK_FAILS(&c, spot_catalogue_read(&c, &k, root, &none, 1), SPOT_INPUT, "catalogue.no_model");
    CHECK_FAILS(&c, spot_catalogue_read(&c, &k, root, &none, 65), SPOT_INVALID, "catalogue.classes: 65");
}

TEST_IN_FOLDER(broken_catalogues_get_a_sentence)
{
    static const struct { const char *text, *words; } file[] = {
        { "id#1=a\nname#1=b\n", "catalogue.piece: line 1 | 1" },
        { "model#1=a.obj\nmodelRotation#1=1 0 0 0 1 0 0 0 x\n", "catalogue.rotation: line 2 | modelRotation" },
        { "model#1=a.obj\nmodelRotation#1=1 0 0 0 1 0 0 0\n", "catalogue.rotation: line 2 | modelRotation" },
        { "model#1=a.obj\nmodelRotation#1=2 0 0 0 1 0 0 0 1\n", "catalogue.rotation: line 2 | modelRotation" },
        { "model#1=a.obj\nmodelRotation#1=nan 0 0 0 1 0 0 0 1\n", "catalogue.rotation: line 2 | modelRotation" },
        { "name=x\\u1\n", "properties.escape: line 1 | without" },
        { "license=x\n", "catalogue.empty" },
    };
    spot_ctx c = check_ctx(1);
    spot_catalogue k;

    CHECK_FAILS(&c, spot_catalogue_read(&c, &k, root, NULL, 0), SPOT_INPUT, "catalogue.empty");
    CHECK_FAILS(&c, spot_catalogue_read(&c, &k, "/nowhere", NULL, 0), SPOT_IO, "catalogue.unread: /nowhere");
    put_text("one.obj", "v 0 0 0\n");
    CHECK_FAILS(&c, spot_catalogue_read(&c, &k, in_root("one.obj"), NULL, 0), SPOT_INPUT, "catalogue.model: one.obj");
    for (int i = 0; i < LEN(file); i++) {
        put_text("PluginFurnitureCatalog.properties", file[i].text);
        CHECK_FAILS(&c, spot_catalogue_read(&c, &k, root, NULL, 0), SPOT_INPUT, file[i].words);
        spot_catalogue_close(&k);
    }
    put_text("x.sh3f", "no archive");
    CHECK_FAILS(&c, spot_catalogue_read(&c, &k, root, NULL, 0), SPOT_INPUT, "zip.directory");
    const char *path = in_root("x.sh3f");
    CHECK_FAILS(&c, spot_catalogue_read(&c, &k, path, NULL, 0), SPOT_INPUT, "zip.directory");
}

/* Two pieces have one id: the second one is left out, and said. */
TEST_IN_FOLDER(an_id_is_there_once)
{
    spot_ctx c = check_ctx(1);
    spot_catalogue k;

    c.on_log = hear;
    put_text("PluginFurnitureCatalog.properties",
               "id#1=a\nmodel#1=a.obj\ncategory#1=x\nid#2=a\nmodel#2=b.obj\ncategory#2=y\n");
    CHECK_OK(&c, spot_catalogue_read(&c, &k, root, NULL, 0));
    assert_int_equal(k.entries, 1);
    assert_non_null(strstr(heard, "1 models of the catalogue are left out"));
    spot_catalogue_close(&k);
}

/* -- ShapeNet and folders ------------------------------------------------------------------------------------------------- */

TEST_IN_FOLDER(both_layouts_of_shapenet)
{
    spot_ctx c = check_ctx(1);
    spot_catalogue k;

    put_text("taxonomy.json", "[{\"synsetId\": \"02691156\", \"name\": \"airplane,aeroplane,plane\"}, {\"name\": 5},\n"
                                " {\"synsetId\": \"02747177\", \"name\": \"bin\"}]");
    put_text("02691156/aa/models/model_normalized.obj", "");
    put_text("02691156/bb/model.obj", "");
    put_text("02691156/cc/images/nothing.obj", "");
    put_text("02747177/dd/model.obj", "");
    put_text("03000000/ee/model.obj", "");
    CHECK_OK(&c, spot_catalogue_read(&c, &k, root, NULL, 0));
    assert_int_equal(k.entries, 4);
    assert_int_equal(k.classes, 3);
    assert_string_equal(k.cls[0], "03000000");
    assert_string_equal(k.cls[1], "airplane");
    assert_string_equal(entry_of(&k, "02691156/aa")->file, "models/model_normalized.obj");
    assert_string_equal(entry_of(&k, "02691156/bb")->file, "model.obj");
    assert_string_equal(strrchr(entry_of(&k, "02747177/dd")->archive, '/'), "/dd");
    spot_catalogue_close(&k);
    put_text("taxonomy.json", "{\"synsetId\"");
    CHECK_FAILS(&c, spot_catalogue_read(&c, &k, root, NULL, 0), SPOT_INPUT, "catalogue.taxonomy");
    put_text("taxonomy.json", "{}");
    CHECK_FAILS(&c, spot_catalogue_read(&c, &k, root, NULL, 0), SPOT_INPUT, "catalogue.taxonomy: list");
}

TEST_IN_FOLDER(a_folder_for_each_class)
{
    spot_ctx c = check_ctx(1);
    spot_catalogue k;

    put_text("cup/red/Big Cup.OBJ", ""), put_text("cup/x.mtl", ""), put_text("cup/b.glb", "");
    put_text("pen/p.ply", ""), put_text(".hidden/h.obj", ""), put_text("loose.obj", "");
    const char *path = in_root("cup/again");
    assert_int_equal(symlink("..", path), 0);
    CHECK_OK(&c, spot_catalogue_read(&c, &k, root, NULL, 0));
    assert_int_equal(k.entries, 3);
    assert_int_equal(k.classes, 2);
    const spot_catalogue_entry *e = entry_of(&k, "cup/red/Big Cup.OBJ");
    assert_string_equal(e->name, "red/Big Cup");
    assert_string_equal(e->file, "red/Big Cup.OBJ");               /* textures may lie anywhere in the class's folder */
    assert_string_equal(strrchr(e->archive, '/'), "/cup");
    spot_catalogue_close(&k);
}

/* The order is that of SHA-1, as Python's hashlib has it. */
TEST_IN_FOLDER(the_order_is_that_of_hashes)
{
    spot_ctx c = check_ctx(1);
    spot_catalogue k;
    char name[64];

    for (int i = 0; i < 20; i++) snprintf(name, sizeof name, "c/m%d.obj", i), put_text(name, "");
    CHECK_OK(&c, spot_catalogue_read(&c, &k, root, NULL, 0));
    assert_int_equal(k.entries, 20);
    assert_string_equal(k.entry[0].id, "c/m15.obj");
    assert_string_equal(k.entry[1].id, "c/m1.obj");
    assert_string_equal(k.entry[2].id, "c/m6.obj");
    spot_catalogue_close(&k);
}

/* Numbers at the edges of the boxes in which pieces are kept; the entries come in the order of the file; a broken one of the
 * least number is told. */
TEST(pieces_have_any_number_up_to_a_million)
{
    static const char text[] = "model#1000000=a\nmodel#999=b\nname#1000=C\nmodel#1000=c\nmodel#1000001=d\nname#999=B\n";
    static const struct { const char *id, *name; } want[] = { { "a.sh3f#1000000", "a.sh3f#1000000" }, { "a.sh3f#999", "B" },
                                                              { "a.sh3f#1000", "C" } };
    spot_entries l = { 0 };
    spot_ctx c = check_ctx(1);

    CHECK_OK(&c, spot_catalogue_properties(&c, &l, text, sizeof text - 1, "/x/a.sh3f"));
    assert_int_equal(l.n, LEN(want));
    for (int i = 0; i < l.n; i++) {
        assert_string_equal(l.entry[i].id, want[i].id);
        assert_string_equal(l.entry[i].name, want[i].name);
    }
    spot_entries_close(&l);
    CHECK_FAILS(&c, spot_catalogue_properties(&c, &l, "name#1000=b\nname#999=a\n", 23, "/x/a.sh3f"), SPOT_INPUT,
                "catalogue.piece: line 2 | 999");
    spot_entries_close(&l);
}

static double seconds_of(const char *text)
{
    const clock_t from = clock();
    spot_ctx c = check_ctx(1);

    for (int i = 0; i < 50; i++) {
        spot_entries l = { 0 };
        CHECK_OK(&c, spot_catalogue_properties(&c, &l, text, strlen(text), "/x/a.sh3f"));
        spot_entries_close(&l);
    }
    return (double)(clock() - from) / CLOCKS_PER_SEC;
}

/* One line took as long as a million pieces: 2 ms and 8 MB, a thousand times the time of the first piece. */
TEST(a_large_number_costs_no_more_than_a_small_one)
{
    const double least = seconds_of("model#1=a\n");

    assert_true(seconds_of("model#1000000=a\n") < 20 * least + 0.02);
}

/* A piece without an id is named after its archive. */
TEST(a_piece_has_an_id)
{
    spot_ctx c = check_ctx(1);
    spot_entries l = { 0 };

    CHECK_OK(&c, spot_catalogue_properties(&c, &l, furniture, sizeof furniture - 1, "/x/a.sh3f"));
    CHECK_OK(&c, spot_catalogue_properties(&c, &l, "model#5=x.obj", 13, "/x/a.sh3f"));
    assert_int_equal(l.n, 5);
    assert_string_equal(l.entry[4].id, "a.sh3f#5");
    assert_string_equal(l.entry[4].name, "a.sh3f#5");
    spot_entries_close(&l);
}

/* -- Debian's furniture --------------------------------------------------------------------------------------------------- */

/* The trial's ten classes and their counts (a Python script made them from the same files). */
TEST(debian_has_ten_classes)
{
    static const char *const debian = "/usr/share/sweethome3d/furniture";
    static const struct { spot_catalogue_class rule; int objects; } want[] = {
        { { .name = "person", .category = "Characters" }, 37 }, { { .name = "door_window", .door = 1 }, 33 },
        { { .name = "vehicle", .category = "Vehicles" }, 28 },
        { { .name = "lamp", .words = "lamp light lights lantern lamppost chandelier" }, 31 },
        { { .name = "chair", .words = "chair armchair stool seat" }, 65 }, { { .name = "sofa", .words = "sofa couch" }, 23 },
        { { .name = "table", .last = "table desk", .starts = "table with" }, 49 },
        { { .name = "bed", .last = "bed crib", .leave = 1 }, 0 },
        { { .name = "storage", .words = "cabinet cupboard wardrobe bookcase shelves dresser chest locker" }, 36 },
        { { .name = "plant", .words = "plant tree tulips bamboo ficus cactus yucca lily orchids flowers spathiphyllum hedge",
            .without = "box" }, 31 },
        { { .name = "vessel", .words = "bottle vase cup mug glass jar bowl pottery teapot barrel pan flacon",
            .without = "cake" }, 36 },
    };
    spot_catalogue_class rule[LEN(want)];
    spot_ctx c = check_ctx(1);
    int count[LEN(want)] = { 0 }, turned = 0;
    spot_catalogue k;

    if (access(debian, R_OK)) {
        print_message("skipped: sweethome3d-furniture is not installed\n");
        skip();
    }
    for (int i = 0; i < LEN(want); i++) rule[i] = want[i].rule;
    CHECK_OK(&c, spot_catalogue_read(&c, &k, debian, NULL, 0));
    assert_int_equal(k.entries, 820);
    for (int i = 0; i < k.entries; i++) turned += k.entry[i].turn[0] || k.entry[i].turn[1] || k.entry[i].turn[2];
    assert_int_equal(turned, 33);
    spot_catalogue_close(&k);
    CHECK_OK(&c, spot_catalogue_read(&c, &k, debian, rule, LEN(rule)));
    for (int i = 0; i < k.entries; i++) count[k.entry[i].cls]++;
    assert_int_equal(k.entries, 369);
    for (int i = 0, cls = 0; i < LEN(want); i++)
        if (!rule[i].leave) assert_int_equal(count[cls++], want[i].objects);
    spot_catalogue_close(&k);
}
