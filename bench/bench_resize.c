/* bench_resize.c - pictures resized as CLIP takes them; and decoded, too, for which bench/peers/resize_pil.py is the peer. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/jpeg.h"
#include "op_resize.h"

/* Gradients with some noise, like photographs. */
static void paint(uint8_t *rgb, int width, int height, int number)
{
    for (size_t k = 0; k < 3 * (size_t)width * (size_t)height; k++) {
        double x = (double)(k / 3 % (size_t)width), y = (double)(k / 3 / (size_t)width), wave = 9 + number % 7;
        rgb[k] = (uint8_t)(128 + 60 * sin(x / wave) + 50 * cos((y + (double)(k % 3)) / wave) +
                           4 * spot_noise(number, k, SPOT_FP32));
    }
}

static void make_resize(spot_op_run *r, void *problem, const int *size)
{
    spot_resize *p = problem;
    size_t bytes = 3 * (size_t)size[0] * (size_t)size[1];
    uint8_t *rgb = malloc(bytes);

    *p = (spot_resize){ .width = size[0], .height = size[1], .resize = size[2], .crop = size[3],
                        .filter = (spot_filter)size[4], .pillow = size[5] };
    if (rgb) paint(rgb, p->width, p->height, r->number);
    p->rgb = spot_op_given(r, rgb, bytes);
    p->out = spot_op_out(r, "square", SPOT_OP_BYTE, 3 * (size_t)p->crop * (size_t)p->crop, 0);
}

static spot_status run_resize(spot_op_run *r, void *problems, int count)
{
    const spot_resize *p = problems;
    spot_arena *scratch;
    bool cuda = strcmp(r->c->ops->name, "cpu") != 0;

    SPOT_TRY(spot_op_scratch(r, &scratch, spot_resize_scratch(count, p, cuda ? 0 : r->c->threads)));
    SPOT_OP(r, spot_resize_fit(r->c, scratch, count, p));
    return SPOT_OK;
}

static double weight_of(spot_filter filter, double x)
{
    x = fabs(x);
    if (filter == SPOT_BILINEAR) return x < 1 ? 1 - x : 0;
    return x < 1 ? 1.5 * x * x * x - 2.5 * x * x + 1 : x < 2 ? -0.5 * x * x * x + 2.5 * x * x - 4 * x + 2 : 0;
}

/* The resized picture: its size, and source pixels for each of its own, along x and y. */
typedef struct { int wide, high; double across, down; } resized_picture;

/* One number, channel k around the source's place (x, y), filtered in double without rounding in between. */
static double sample(const spot_resize *p, const uint8_t *rgb, const resized_picture *f, double x, double y, int k)
{
    double wide = fmax(f->across, 1), high = fmax(f->down, 1), sum = 0, all = 0;

    for (int i = (int)fmax(y - 2 * high, 0); i < p->height && i < y + 2 * high; i++)
        for (int j = (int)fmax(x - 2 * wide, 0); j < p->width && j < x + 2 * wide; j++) {
            double w = weight_of(p->filter, (i + 0.5 - y) / high) * weight_of(p->filter, (j + 0.5 - x) / wide);
            sum += w * rgb[3 * ((size_t)i * (size_t)p->width + (size_t)j) + (size_t)k];
            all += w;
        }
    return sum / all;
}

/* Compares with the filter's definition, where the square lies within the resized picture. Two roundings lie between them. */
static spot_status compare_square(spot_op_run *r, const spot_resize *p, const uint8_t *rgb, const uint8_t *out)
{
    int least = p->width < p->height ? p->width : p->height, resize = p->resize ? p->resize : least;
    resized_picture f = { (int)((int64_t)p->width * resize / least), (int)((int64_t)p->height * resize / least), 0, 0 };
    int left = (int)nearbyint((f.wide - p->crop) / 2.0), top = (int)nearbyint((f.high - p->crop) / 2.0);

    f.across = (double)p->width / f.wide;
    f.down = (double)p->height / f.high;
    if (f.wide < p->crop || f.high < p->crop) return SPOT_OK;
    for (int e = 0; e < 3 * p->crop * p->crop; e += 1 + p->crop * p->crop / 97) {
        double x = (left + e / 3 % p->crop + 0.5) * f.across, y = (top + e / 3 / p->crop + 0.5) * f.down;
        double want = fmin(fmax(sample(p, rgb, &f, x, y, e % 3), 0), 255);
        SPOT_TRY(spot_bench_near(r->c, "number of a square", (size_t)e, out[e], want, 1.6));
    }
    return SPOT_OK;
}

static spot_status check_resize(spot_op_run *r, void *problem)
{
    const spot_resize *p = problem;
    size_t bytes = 3 * (size_t)p->width * (size_t)p->height, square = 3 * (size_t)p->crop * (size_t)p->crop;
    uint8_t *rgb = malloc(bytes + square);
    spot_status s = rgb ? spot_op_fetch(r, rgb, p->rgb, bytes) : spot_fail(r->c, SPOT_NOMEM, "no memory to check pictures");

    if (!s) s = spot_op_fetch(r, rgb + bytes, p->out, square);
    if (!s) s = compare_square(r, p, rgb, rgb + bytes);
    free(rgb);
    return s;
}

const spot_op spot_op_resize = { "resize", sizeof(spot_resize), make_resize, run_resize, check_resize, false };

/* size: as above; pictures behind it */
static spot_status open_resize(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    work->items = size[5];
    work->bytes = (double)size[5] * 3 * ((double)size[0] * size[1] + (double)size[3] * size[3]);
    return spot_op_bench_open(c, state, &spot_op_resize, size[5], size);
}

static const spot_bench_kind resized = { open_resize, spot_op_bench_check, spot_op_bench_run, spot_op_bench_close };

/* -- from JPEG --------------------------------------------------------------------------------------------------------- */

typedef struct {
    int      count, resize, crop;
    unsigned char *file;
    size_t   bytes;
    uint8_t *square;               /* (count, crop, crop, 3) */
} photos;

static spot_status open_photos(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    photos *s = *state = calloc(1, sizeof *s);
    uint8_t *rgb = malloc(3 * (size_t)size[0] * (size_t)size[1]);
    spot_status e = SPOT_NOMEM;

    if (s && rgb) {
        *s = (photos){ .count = size[5], .resize = size[2], .crop = size[3] };
        s->square = malloc(3 * (size_t)s->count * (size_t)s->crop * (size_t)s->crop);
        paint(rgb, size[0], size[1], 1);
        e = s->square ? spot_jpeg_encode(c, &s->file, &s->bytes, rgb, size[0], size[1], 90) : SPOT_NOMEM;
        work->items = s->count;
    }
    free(rgb);
    return e == SPOT_NOMEM ? spot_fail(c, SPOT_NOMEM, "no memory for a bench") : e;
}

static spot_status run_photos(spot_ctx *c, void *state)
{
    photos *s = state;
    int failed = 0;

#pragma omp parallel num_threads(c->threads) reduction(+ : failed)
    {
        spot_picture p = { 0 };
        spot_ctx own = { .threads = 1 };
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < s->count; i++) {
            uint8_t *out = s->square + 3 * (size_t)i * (size_t)s->crop * (size_t)s->crop;
            failed += spot_picture_decode(&own, &p, s->file, s->bytes, "a JPEG of the bench") ||
                      spot_picture_fit_by(&own, out, &p, s->resize, s->crop, SPOT_BICUBIC);
        }
        spot_picture_close(&p);
    }
    return failed ? spot_fail(c, SPOT_CHECK, "%d pictures of the bench could not be decoded", failed) : SPOT_OK;
}

/* All squares are of one picture; the bytes themselves are checked against PIL in tests/test_picture.c. */
static spot_status check_photos(spot_ctx *c, void *state)
{
    photos *s = state;
    size_t square = 3 * (size_t)s->crop * (size_t)s->crop;

    SPOT_TRY(run_photos(c, state));
    for (int i = 1; i < s->count; i++)
        if (memcmp(s->square, s->square + (size_t)i * square, square))
            return spot_fail(c, SPOT_CHECK, "square %d differs from the first of the same picture", i);
    return SPOT_OK;
}

static void close_photos(spot_ctx *c, void *state)
{
    photos *s = state;

    (void)c;
    if (!s) return;
    free(s->file);
    free(s->square);
    free(s);
}

static const spot_bench_kind decoded = { open_photos, check_photos, run_photos, close_photos };

const spot_bench_row spot_bench_resize[] = {
    { "resize", "640 x 480 to 224, bicubic", "images", SPOT_ON_ALL, &resized, { 640, 480, 224, 224, SPOT_BICUBIC, 64 },
      { 40, 30, 24, 24, SPOT_BICUBIC, 3 } },
    { "resize", "JPEG of 640 x 480, decoded, to 224, bicubic", "images", SPOT_ON_CPU, &decoded, { 640, 480, 224, 224, 0, 64 },
      { 40, 30, 24, 24, 0, 3 } },
    { 0 },
};
