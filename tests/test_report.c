/* test_report.c - the picture of an EC: its size, what stands at places that are known, equal bytes, a path that cannot be. */
#define _POSIX_C_SOURCE 200809L
#include "check_scene.h"
#include "check_folder.h"

#include <cairo.h>
#include <math.h>
#include <stdlib.h>

#include "base/file.h"
#include "formats/canvas.h"
#include "spotter/report.h"

/* Places in ec_picture.c: the map is a square of 720 at (30, 84) with a margin of 24; the first thumbnail, 78 a side, is at
 * (790, 106). */
enum { N = 24, LEFT = 54, RIGHT = 726, TOP = 108, BOTTOM = 780, THUMB = 78, THUMB_X = 790, THUMB_Y = 106 };

/* Three corners of the map with confidence 0, 0.5 and 1, the rest in the middle; a hypothesis of some of the middle. */
static int hypotheses = 1;
static const char *method = "planespot-none";

static spot_status draw(spot_ctx *c, const char *name, const spot_ec *ec)
{
    static spot_learning lesson = { .epochs = 1, .outside = 0.99, .blindspots = 1 };
    float at[2 * N] = { 0, 0, 1, 0, 1, 1 }, confidence[N] = { 0, 0.5f, 1 };
    int image[N], row[] = { 5, 9, 12, 20 };
    uint32_t mask[N] = { 0 };
    spot_view view = { .n = N, .confidence = confidence, .image = image };
    spot_truth truth = { .n = N, .blindspots = 1, .mask = mask };
    spot_points points = { .n = N, .d = 2, .at = at };
    spot_hypotheses found = { .len = hypotheses };
    spot_score score = { .blindspots = 1, .hypotheses = hypotheses, .fdr = NAN, .size = { 1 } };
    char path[160];

    for (int k = 0; k < hypotheses; k++) {
        found.h[k] = (spot_hypothesis){ .len = LEN(row), .row = row, .score = 1, .mean_error = 0.5 };
        score.belongs[k] = -1;
    }
    for (int i = 0; i < N; i++) image[i] = 3 * i;
    for (int i = 3; i < N; i++) {
        at[2 * i] = 0.4f + 0.01f * (float)(i % 5);
        at[2 * i + 1] = 0.4f + 0.01f * (float)(i / 5);
        confidence[i] = 0.5f;
        mask[i] = i < 12;
    }
    snprintf(path, sizeof path, "%s/%s", root, name);
    return spot_report_ec(c, path, method, &(spot_ec_picture){ ec, &lesson, &view, &truth, &points, &found, &score });
}

static unsigned char *file(spot_ctx *c, const char *name, size_t *n)
{
    char path[160];
    unsigned char *bytes;
    snprintf(path, sizeof path, "%s/%s", root, name);
    CHECK_OK(c, spot_file_read(c, path, &bytes, n, 1 << 24));
    return bytes;
}

static void check_color(cairo_surface_t *s, int x, int y, int r, int g, int b, int tolerance)
{
    const unsigned char *row = cairo_image_surface_get_data(s) + (size_t)y * (size_t)cairo_image_surface_get_stride(s);
    uint32_t p = ((const uint32_t *)(const void *)row)[x];
    int got[3] = { (int)(p >> 16 & 255), (int)(p >> 8 & 255), (int)(p & 255) };

    if (abs(got[0] - r) > tolerance || abs(got[1] - g) > tolerance || abs(got[2] - b) > tolerance)
        fail_msg("pixel (%d, %d) is (%d, %d, %d), not (%d, %d, %d)", x, y, got[0], got[1], got[2], r, g, b);
}

TEST_IN_FOLDER(dots_and_thumbnails_stand_where_they_should)
{
    static const unsigned char head[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x05\xdc\0\0\x03\xa2";    /* 1500 x 930 */
    spot_scene_config scene = spot_scene_defaults();
    spot_ctx c = check_ctx(1);
    spot_ec ec;
    spot_image image;
    cairo_surface_t *s;
    unsigned char *bytes, rgb[THUMB * THUMB * 3];
    size_t n;
    scene.size = THUMB;                                                    /* so that a thumbnail is the image itself */
    ec = an_ec(&scene, 0);
    CHECK_OK(&c, draw(&c, "a.png", &ec));
    bytes = file(&c, "a.png", &n);
    assert_true(n > sizeof head);
    assert_memory_equal(bytes, head, sizeof head - 1);
    free(bytes);

    const char *path = in_root("a.png");
    s = cairo_image_surface_create_from_png(path);
    assert_int_equal(cairo_surface_status(s), CAIRO_STATUS_SUCCESS);
    check_color(s, 2, 2, 255, 255, 255, 0);                                /* paper */
    check_color(s, LEFT, TOP, 249, 249, 249, 1);                           /* the map, where no dot is */
    check_color(s, LEFT, BOTTOM, 218, 117, 37, 2);                         /* 0: vermilion, 85 % over the map */
    check_color(s, RIGHT, BOTTOM, 198, 198, 198, 2);                       /* 0.5: grey */
    check_color(s, RIGHT, TOP, 37, 134, 189, 2);                           /* 1: blue */

    spot_image_draw(&image, &ec, SPOT_TEST, 3 * 5);                        /* the hypothesis's first row is row 5 */
    CHECK_OK(&c, spot_image_render(&c, rgb, &image, 1, &ec.scene));
    for (int y = 1; y < THUMB - 1; y++)
        for (int x = 1; x < THUMB - 1; x++) {
            const unsigned char *want = rgb + (y * THUMB + x) * 3;
            check_color(s, THUMB_X + x, THUMB_Y + y, want[0], want[1], want[2], 0);
        }
    cairo_surface_destroy(s);
}

/* The text stands there and ends there: the same pixels in its strip of the page. */
static void check_label(cairo_surface_t *page, int x, int y, int size, double grey, const char *text)
{
    cairo_surface_t *strip = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 700, 2 * size);
    cairo_t *cr = cairo_create(strip);
    int inked = 0;
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_paint(cr);
    cairo_set_source_rgb(cr, grey, grey, grey);
    spot_canvas_text(cr, 0, size + 2, size, 0, text);
    cairo_surface_flush(strip);
    for (int j = 3; j < size + 5; j++)
        for (int i = 0; i < 700; i++) {
            const unsigned char *want = cairo_image_surface_get_data(strip) + j * cairo_image_surface_get_stride(strip) + 4 * i;
            check_color(page, x + i, y - size - 2 + j, want[2], want[1], want[0], 0);
            inked += want[0] < 128;
        }
    assert_true(inked > 100);
    cairo_destroy(cr);
    cairo_surface_destroy(strip);
}

TEST_IN_FOLDER(words_say_how_many)
{
    spot_scene_config scene = spot_scene_defaults();
    spot_ctx c = check_ctx(1);
    spot_ec ec = an_ec(&scene, 0);
    char path[160], line[400], what[320];
    cairo_surface_t *s;
    hypotheses = 10;
    method = "a name of as many bytes as there may be, which is no fewer than 79, and that is"
             "   on the map of another one of as many bytes, so that no page is wide enough";
    CHECK_OK(&c, draw(&c, "a.png", &ec));
    hypotheses = 1;
    method = "planespot-none";
    snprintf(path, sizeof path, "%s/a.png", root);
    s = cairo_image_surface_create_from_png(path);
    spot_blindspot_describe(what, sizeof what, &ec.blindspot[0]);
    snprintf(line, sizeof line, "B1  1 image, recall 0.00, missed:  %s", what);
    check_label(s, 50, 847, 12, 0, line);                                   /* below the map, below the colours */
    check_label(s, 790, 882, 13, 0, "and 3 more, which the map outlines");  /* of 10; 7 have their images */
    for (int x = 1475; x < 1500; x++)
        for (int y = 10; y < 80; y++) check_color(s, x, y, 255, 255, 255, 0);
    cairo_surface_destroy(s);
}

TEST_IN_FOLDER(equal_calls_give_equal_bytes)
{
    spot_scene_config scene = spot_scene_defaults();
    spot_ctx one = check_ctx(1), two = check_ctx(2);
    spot_ec ec = an_ec(&scene, 3);
    unsigned char *a, *b;
    size_t n, m;
    CHECK_OK(&one, draw(&one, "a.png", &ec));
    CHECK_OK(&two, draw(&two, "b.png", &ec));
    a = file(&one, "a.png", &n);
    b = file(&two, "b.png", &m);
    assert_int_equal(n, m);
    assert_memory_equal(a, b, n);
    free(a);
    free(b);
}

TEST_IN_FOLDER(a_path_that_cannot_be_is_a_sentence)
{
    spot_scene_config scene = spot_scene_defaults();
    spot_ctx c = check_ctx(1);
    spot_ec ec = an_ec(&scene, 0);
    CHECK_FAILS(&c, draw(&c, "none/a.png", &ec), SPOT_IO, "file.failed: none/a.png");
}
