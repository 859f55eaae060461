/* test_picture_kinds.c - what a picture's header says, and its pixels, for the files of tools/golden/picture_kinds.py: as PIL
 * shows them.
 * ctest: both */
#include "checks.h"

#include <stdlib.h>

#include "formats/picture_kind.h"
#include "formats/tiff.h"

typedef struct { int32_t width, height; uint8_t rgb[1 << 14]; } shown;
typedef struct { char name[32]; int32_t width, height, orientation; shown plain, upright; } golden;

static bool read_shown(shown *s, FILE *f)
{
    return fread(s, 4, 2, f) == 2 && fread(s->rgb, 3, (size_t)(s->width * s->height), f) == (size_t)(s->width * s->height);
}

/* The next picture; false at the end. */
static bool read_golden(golden *g, FILE *f)
{
    if (fread(g->name, sizeof g->name, 1, f) != 1) return false;
    assert_int_equal(fread(&g->width, 4, 3, f), 3);
    assert_true(read_shown(&g->plain, f) && read_shown(&g->upright, f));
    return true;
}

/* 1 where they differ, which is said. */
static int differs(const spot_picture *p, const shown *s, const char *name)
{
    if (p->width == s->width && p->height == s->height && !memcmp(p->rgb, s->rgb, (size_t)(3 * s->width * s->height))) return 0;
    print_error("%s is not as PIL shows it\n", name);
    return 1;
}

/* Whether this build was made without the picture's library. */
static bool is_left_out(const char *path)
{
    uint8_t mark[SPOT_PICTURE_MARK] = "";
    const spot_picture_kind *kind;
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    kind = spot_picture_kind_of(mark, fread(mark, 1, sizeof mark, f));
    fclose(f);
    return kind && !kind->decode;
}

TEST(headers_and_pixels_are_as_pil_has_them)
{
    spot_ctx c = check_ctx(1);
    static golden g;
    spot_picture p = { 0 };
    spot_picture_head h;
    char path[64];
    int pictures = 0, wrong = 0;
    FILE *f = fopen("golden/picture_kinds.bin", "rb");
    assert_non_null(f);
    for (; read_golden(&g, f); pictures++) {
        snprintf(path, sizeof path, "fuzz/corpus_%s", g.name);
        CHECK_OK(&c, spot_picture_head_of(&c, &h, path));
        if (h.width != g.width || h.height != g.height || h.orientation != g.orientation)
            fail_msg("%s: %d x %d, orientation %d; PIL says %d x %d, %d", g.name, h.width, h.height, h.orientation, g.width,
                     g.height, g.orientation);
        if (is_left_out(path)) {
            CHECK_FAILS(&c, spot_picture_read(&c, &p, path), SPOT_INPUT, "picture.library");
            continue;
        }
        p.reading.exif = SPOT_EXIF_IGNORE;
        CHECK_OK(&c, spot_picture_read(&c, &p, path));
        wrong += differs(&p, &g.plain, g.name);
        if (strncmp(g.name, "tiff", 4)) assert_int_equal(p.orientation, g.orientation);
        p.reading.exif = SPOT_EXIF_APPLY;
        CHECK_OK(&c, spot_picture_read(&c, &p, path));
        wrong += differs(&p, &g.upright, g.name);
        assert_int_equal(p.orientation, 1);
    }
    assert_true(pictures >= 100);
    assert_int_equal(wrong, 0);
    fclose(f);
    spot_picture_close(&p);
}

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = malloc(1 << 14);

    if (!f || !data) fail_msg("cannot read %s", path);
    *size = fread(data, 1, 1 << 14, f);
    fclose(f);
    return data;
}

/* Cut anywhere, a file is shown or gets a sentence that names it. `behind`: bytes at its end that hold no pixels; TIFF's tags
 * are there. */
TEST(files_cut_short_get_their_sentence)
{
    static const struct { const char *file; int behind; } cases[] = {
        { "webp/lossy", 0 }, { "webp/alpha", 0 }, { "webp/alpha_lossless", 0 }, { "bmp/palette_4", 4 }, { "bmp/565_long", 2 },
        { "bmp/rle8", 2 }, { "bmp/rle4", 2 }, { "gif/interlaced", 1 }, { "gif/pil_P", 1 }, { "tiff/tiff_lzw", 0 },
        { "tiff/jpeg", 0 }, { "tiff/palette_4", 0 }, { "tiff/planes", 0 }, { "tiff/tiles", 0 },
    };
    for (int i = 0; i < LEN(cases); i++) {
        spot_picture p = { 0 };
        char path[64];
        size_t size;
        int whole = 0;
        snprintf(path, sizeof path, "fuzz/corpus_%s", cases[i].file);
        uint8_t *data = read_file(path, &size);
        if (is_left_out(path)) { free(data); continue; }
        for (size_t cut = 0; cut < size - (size_t)cases[i].behind; cut++) {
            spot_ctx c = check_ctx(1);
            uint8_t *exact = malloc(cut ? cut : 1);      /* so that ASan sees one byte too far */
            memcpy(exact, data, cut);
            const spot_status s = spot_picture_decode(&c, &p, exact, cut, "cut");
            free(exact);
            if (s == SPOT_OK) { whole++; continue; }
            assert_int_equal(s, SPOT_INPUT);
            assert_non_null(strstr(c.message, "cut"));
            assert_null(p.rgb);
        }
        if (whole > 12) fail_msg("%s: %d cuts of it are taken for whole", cases[i].file, whole);
        free(data);
        spot_picture_close(&p);
    }
}

/* The sizes that headers claim are refused before memory is taken. `at`: the place of width and height; of a TIFF the values
 * of its first two tags. */
TEST(bombs_are_refused_before_they_are_decoded)
{
    static const struct { const char *file; size_t at, step; int bytes; const char *said; } cases[] = {
        { "bmp/colours", 18, 4, 4, "picture.size: bomb" }, { "webp/exif_6", 24, 3, 3, "webp.damaged: bomb" },
        { "tiff/grey_8_0", 0, 12, 4, "picture.size: bomb" },
    };
    for (int i = 0; i < LEN(cases); i++) {
        spot_ctx c = check_ctx(1);
        spot_picture p = { 0 };
        char path[64];
        size_t size, at = cases[i].at;
        snprintf(path, sizeof path, "fuzz/corpus_%s", cases[i].file);
        uint8_t *data = read_file(path, &size);
        if (!at) at = (size_t)(data[4] | data[5] << 8) + 10;
        for (int k = 0; k < 2; k++)
            for (int b = 0; b < cases[i].bytes; b++) data[at + (size_t)k * cases[i].step + (size_t)b] = b == 1 ? 0x7f : 0;
        if (!is_left_out(path))
            CHECK_FAILS(&c, spot_picture_decode(&c, &p, data, size, "bomb"), SPOT_INPUT, cases[i].said);
        assert_int_equal(p.pixels.size, 0);
        free(data);
        spot_picture_close(&p);
    }
}

/* The first directory of a TIFF is read and no other: one that leads back to itself is shown. */
TEST(directories_that_lead_round_are_shown)
{
    spot_ctx c = check_ctx(1);
    spot_picture p = { 0 };
    size_t size;
    uint8_t *data = read_file("fuzz/corpus_tiff/grey_8_0", &size);
    const size_t at = (size_t)(data[4] | data[5] << 8), next = at + 2 + 12 * (size_t)(data[at] | data[at + 1] << 8);
    memcpy(data + next, data + 4, 4);
    if (!is_left_out("fuzz/corpus_tiff/grey_8_0")) {
        CHECK_OK(&c, spot_picture_decode(&c, &p, data, size, "round"));
        assert_int_equal(p.width, 13);
    }
    free(data);
    spot_picture_close(&p);
}

/* The entry of a tag in the first directory of a TIFF in Intel's order. */
static uint8_t *find_tag(uint8_t *data, int tag)
{
    uint8_t *at = data + (data[4] | data[5] << 8);
    const int entries = at[0] | at[1] << 8;

    for (int i = 0; i < entries; i++)
        if ((at[2 + 12 * i] | at[3 + 12 * i] << 8) == tag) return at + 2 + 12 * i;
    fail_msg("no tag %d", tag);
    return NULL;
}

/* A second width would state less memory than libtiff's first one takes. Numbers may have a sign. */
TEST(of_a_tiffs_tag_that_is_there_twice_the_first_counts)
{
    spot_ctx c = check_ctx(1);
    spot_picture p = { 0 };
    spot_picture_cost cost;
    size_t size;
    uint8_t *data = read_file("fuzz/corpus_tiff/grey_8_0", &size);
    const spot_blob in = spot_blob_memory(data, size, "made");
    memcpy(find_tag(data, 277), (uint8_t[]){ 0, 1, 3, 0, 1, 0, 0, 0, 1, 0, 0, 0 }, 12);
    find_tag(data, 257)[2] = 9;
    CHECK_OK(&c, spot_picture_cost_of(&c, &cost, &in));
    assert_int_equal(cost.width, 13);
    assert_int_equal(cost.height, 7);
    if (!is_left_out("fuzz/corpus_tiff/grey_8_0")) {
        CHECK_OK(&c, spot_picture_decode(&c, &p, data, size, "made"));
        assert_int_equal(p.width, 13);
        assert_int_equal(p.height, 7);
    }
    free(data);
    spot_picture_close(&p);
}

/* libtiff passes over a map beyond the end of the file, and calls the numbers greys. */
TEST(palettes_without_their_map_are_refused)
{
    static const char path[] = "fuzz/corpus_tiff/pil_P";
    spot_ctx c = check_ctx(1);
    spot_picture p = { 0 };
    size_t size;
    uint8_t *data = read_file(path, &size);
    memcpy(find_tag(data, 320) + 8, (uint8_t[]){ 0, 0, 0x10, 0 }, 4);
    if (!is_left_out(path)) CHECK_FAILS(&c, spot_picture_decode(&c, &p, data, size, "cut"), SPOT_INPUT, "tiff.damaged: cut");
    free(data);
    spot_picture_close(&p);
}

/* Writes an entry with one number; returns the place of the next. */
static uint8_t *put_tag(uint8_t *at, unsigned tag, unsigned v)
{
    memcpy(at, (uint8_t[]){ tag & 255, tag >> 8, 4, 0, 1, 0, 0, 0, v & 255, v >> 8 & 255, v >> 16 & 255, v >> 24 }, 12);
    return at + 12;
}

/* A tag says that the last number of a pixel is an alpha, where the grey is the only one: the alpha lies behind the row. */
TEST(an_alpha_that_is_not_there_is_refused)
{
    spot_ctx c = check_ctx(1);
    for (unsigned bits = 8; bits <= 32; bits *= 2) {
        uint8_t data[256] = { 'I', 'I', 42, 0, 8, 0, 0, 0, 10, 0 }, *at = data + 10;
        spot_picture p = { 0 };
        at = put_tag(at, 256, 1), at = put_tag(at, 257, 1), at = put_tag(at, 258, bits), at = put_tag(at, 259, 1);
        at = put_tag(at, 262, 1), at = put_tag(at, 273, 140), at = put_tag(at, 277, 1), at = put_tag(at, 278, 1);
        at = put_tag(at, 279, bits / 8), put_tag(at, 338, 1)[2 - 12] = 3;
        if (!is_left_out("fuzz/corpus_tiff/grey_8_0"))
            CHECK_FAILS(&c, spot_picture_decode(&c, &p, data, 144, "made"), SPOT_INPUT, "tiff.damaged: made | a form");
        spot_picture_close(&p);
    }
}

TEST(a_tiffs_memory_counts_all_planes_and_every_turn)
{
    spot_ctx c = check_ctx(1);
    for (unsigned planar = 1; planar <= 2; planar++)
        for (unsigned orientation = 1; orientation <= 2; orientation++) {
            uint8_t data[256] = { 'I', 'I', 42, 0, 8, 0, 0, 0, 7, 0 }, *at = data + 10;
            spot_picture_cost cost;
            at = put_tag(at, 256, 2000), at = put_tag(at, 257, 2000), at = put_tag(at, 258, 8);
            at = put_tag(at, 274, orientation), at = put_tag(at, 277, 300), at = put_tag(at, 278, 2000);
            put_tag(at, 284, planar);
            const spot_blob in = spot_blob_memory(data, sizeof data, "made");
            CHECK_OK(&c, spot_picture_cost_of(&c, &cost, &in));
            assert_int_equal(cost.turned, orientation > 1 ? cost.pixels : 0);
            if (planar == 2) assert_in_range(cost.work, 1200600000, 2500000000);
            else             assert_in_range(cost.work, 600000, 20000000);
        }
}

TEST(a_tiff_takes_no_more_memory_than_was_stated)
{
    static const char *const path[] = { "fuzz/corpus_tiff/planes", "fuzz/corpus_tiff/tiff_lzw", "fuzz/corpus_tiff/tiles" };
    for (int i = 0; i < LEN(path); i++) {
        spot_ctx c = check_ctx(1);
        spot_picture p = { .work = 10 };
        size_t size;
        uint8_t *data = read_file(path[i], &size);
        if (!is_left_out(path[i])) CHECK_FAILS(&c, spot_tiff_decode(&c, &p, data, size, "made"), SPOT_INPUT,
                                            "tiff.damaged: made | another size");
        free(data);
        spot_picture_close(&p);
    }
}

/* picture() of tools/golden/resize.py */
static void paint(spot_picture *p, int width, int height)
{
    spot_ctx c = check_ctx(1);

    CHECK_OK(&c, spot_picture_start(&c, p, (uint64_t)width, (uint64_t)height, "made"));
    for (uint32_t i = 0; i < 3 * (uint32_t)(width * height); i++) {
        uint32_t x = (i + 1) * 2654435761u;
        x = (x ^ (x >> 15)) * 2246822519u;
        p->rgb[i] = (uint8_t)(x >> 24);
    }
}

/* Returns the pictures that the other order of filters makes differently. */
static int compare_order(const char *path, spot_pillow pillow)
{
    static uint8_t want[1 << 14], got[1 << 14];
    spot_ctx c = check_ctx(1);
    spot_picture p = { 0 };
    int32_t head[5];
    int cases = 0, others = 0;
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    for (; fread(head, sizeof head, 1, f) == 1; cases++) {
        const size_t bytes = (size_t)(3 * head[3] * head[3]);
        assert_int_equal(fread(want, 1, bytes, f), bytes);
        paint(&p, head[0], head[1]);
        for (int other = 1; other >= 0; other--) {
            p.reading.pillow = other ? SPOT_PILLOW_13 + SPOT_PILLOW_12 - pillow : pillow;
            CHECK_OK(&c, spot_picture_fit_by(&c, got, &p, head[2], head[3], (spot_filter)head[4]));
            others += other && memcmp(got, want, bytes);
        }
        if (memcmp(got, want, bytes))
            fail_msg("%s: %d x %d to %d, %d by filter %d differs", path, head[0], head[1], head[2], head[3], head[4]);
    }
    fclose(f);
    spot_picture_close(&p);
    assert_true(cases > 70);
    return others;
}

TEST(both_orders_of_resizing_are_pillows)
{
    assert_in_range(compare_order("golden/resize_12.bin", SPOT_PILLOW_12), 10, 60);
    assert_in_range(compare_order("golden/resize_13.bin", SPOT_PILLOW_13), 10, 60);
}

TEST(pictures_that_are_not_turned_count_once)
{
    spot_ctx c = check_ctx(1);
    spot_ctx inner;
    char path[32];

    spot_picture_note_rotated(&c, "nobody counts");
    spot_picture_count_rotated(&c);
    inner = c;                                     /* a search has a copy of its own */
    for (int k = 0; k < 40000; k++) {
        snprintf(path, sizeof path, "%d.jpg", k);
        spot_picture_note_rotated(k % 2 ? &inner : &c, path);
        if (k == 17) spot_picture_note_rotated(&inner, "3.jpg");
    }
    assert_int_equal(c.rotated[0], 40000);
    spot_picture_tell_rotated(&c);
    assert_null(c.rotated);
    spot_ctx_close(&c);
}

TEST(what_has_no_head_is_said_to_have_none)
{
    spot_ctx c = check_ctx(1);
    spot_picture_head h;
    CHECK_FAILS(&c, spot_picture_head_of(&c, &h, "golden/picture_kinds.bin"), SPOT_INPUT, "picture.format: picture_kinds.bin");
    CHECK_FAILS(&c, spot_picture_head_of(&c, &h, "golden/nowhere.png"), SPOT_IO, "file.unopened: nowhere.png");
    CHECK_FAILS(&c, spot_picture_head_of(&c, &h, "fuzz/corpus_png/bomb"), SPOT_INPUT, "picture.size: 20000 | 20000");
}
