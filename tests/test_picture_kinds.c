/* test_picture_kinds.c - what a picture's header says, and its pixels, for the files of tools/golden/picture_kinds.py: as PIL
 * shows them.
 * ctest: both */
#include "checks.h"

#include <stdlib.h>

#include "formats/picture.h"

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

static void compare(const spot_picture *p, const shown *s, const char *name)
{
    if (p->width != s->width || p->height != s->height || memcmp(p->rgb, s->rgb, (size_t)(3 * s->width * s->height)))
        fail_msg("%s is not as PIL shows it", name);
}

TEST(headers_and_pixels_are_as_pil_has_them)
{
    spot_ctx c = check_ctx(1);
    static golden g;
    spot_picture p = { 0 };
    spot_picture_head h;
    char path[64];
    int pictures = 0;
    FILE *f = fopen("golden/picture_kinds.bin", "rb");
    assert_non_null(f);
    for (; read_golden(&g, f); pictures++) {
        snprintf(path, sizeof path, "fuzz/corpus_%s", g.name);
        CHECK_OK(&c, spot_picture_head_of(&c, &h, path));
        if (h.width != g.width || h.height != g.height || h.orientation != g.orientation)
            fail_msg("%s: %d x %d, orientation %d; PIL says %d x %d, %d", g.name, h.width, h.height, h.orientation, g.width,
                     g.height, g.orientation);
        CHECK_OK(&c, spot_picture_read(&c, &p, path));
        compare(&p, &g.plain, g.name);
    }
    assert_true(pictures >= 13);
    fclose(f);
    spot_picture_close(&p);
}

TEST(what_has_no_head_is_said_to_have_none)
{
    spot_ctx c = check_ctx(1);
    spot_picture_head h;
    CHECK_FAILS(&c, spot_picture_head_of(&c, &h, "golden/picture_kinds.bin"), SPOT_INPUT, "picture.format: picture_kinds.bin");
    CHECK_FAILS(&c, spot_picture_head_of(&c, &h, "golden/nowhere.png"), SPOT_IO, "file.unopened: nowhere.png");
    CHECK_FAILS(&c, spot_picture_head_of(&c, &h, "fuzz/corpus_png/bomb"), SPOT_INPUT, "picture.size: 20000 | 20000");
}
