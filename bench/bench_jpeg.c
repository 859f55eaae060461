/* bench_jpeg.c - images through JPEG, as the authors had theirs. libjpeg-turbo says what is right. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "formats/jpeg.h"
#include "image/jpeg_trip.h"
#include "op_photo.h"

enum { CHECKED = 16 };

static uint8_t value_of(int kind, int x, int y, int channel)
{
    uint32_t any = (uint32_t)(x * 7919 + y * 104729 + channel) * 2654435761u;

    if (kind == 0) return (uint8_t)(any >> 24);
    if (kind == 1) return (uint8_t)(2 * x + y + 40 * channel);
    return (uint8_t)((x / 9 + y / 7) % 2 ? 255 * (channel != 1) : any >> 30);
}

static size_t bytes_of(const spot_op_trips *t) { return 3 * (size_t)t->size * (size_t)t->size; }

static void make_trips(spot_op_run *r, void *problem, const int *size)
{
    spot_op_trips *t = problem;
    size_t all;
    uint8_t *rgb;

    t->size = size[0], t->images = size[1], t->quality = size[2];
    all = bytes_of(t) * (size_t)t->images;
    rgb = malloc(all + 1);
    for (size_t i = 0; rgb && i < all; i++) {
        size_t pixel = i / 3 % (bytes_of(t) / 3), image = i / bytes_of(t);
        rgb[i] = value_of(size[3], (int)(pixel % (size_t)t->size + image), (int)(pixel / (size_t)t->size), (int)(i % 3));
    }
    t->before = spot_op_input(r, rgb, all);
    t->rgb = spot_op_both(r, "pixels", rgb, SPOT_OP_BYTE, all, 0);
    t->planes = spot_op_room(r, spot_jpeg_planes(t->size) * (size_t)t->images);
    free(rgb);
}

static spot_status run_trips(spot_op_run *r, void *problems, int count)
{
    const spot_op_trips *t = problems;

    for (int q = 0; q < count; q++, t++)
        if (t->images || !r->misplaced)
            SPOT_OP(r, spot_jpeg_trip(r->c, t->rgb, t->planes, t->images, t->size, t->quality));
    return SPOT_OK;
}

/* The first time through JPEG. */
static spot_status check_trips(spot_op_run *r, void *problem)
{
    const spot_op_trips *t = problem;
    uint8_t *got = malloc(2 * bytes_of(t)), *want = got + bytes_of(t);
    spot_status e = got ? SPOT_OK : spot_fail(r->c, SPOT_NOMEM, "no memory to check images");

    for (int i = 0; i < t->images && i < CHECKED && !e; i++) {
        e = spot_op_fetch(r, got, t->rgb + bytes_of(t) * (size_t)i, bytes_of(t));
        if (!e) e = spot_op_fetch(r, want, t->before + bytes_of(t) * (size_t)i, bytes_of(t));
        if (!e && t->quality < 90 && !memcmp(got, want, bytes_of(t)))
            e = spot_fail(r->c, SPOT_CHECK, "image %d did not change", i);
        if (!e) e = spot_jpeg_round_trip(r->c, want, t->size, t->size, t->quality);
        for (size_t k = 0; k < bytes_of(t) && !e; k++)
            if (got[k] != want[k])
                e = spot_fail(r->c, SPOT_CHECK, "byte %zu of image %d is %d, libjpeg's is %d", k, i, got[k], want[k]);
    }
    free(got);
    return e;
}

const spot_op spot_op_jpeg = { "jpeg", sizeof(spot_op_trips), make_trips, run_trips, check_trips, false };

static spot_status open_trips(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    const spot_op_trips *t;

    SPOT_TRY(spot_op_bench_open(c, state, &spot_op_jpeg, 1, size));
    t = ((const spot_op_run *)*state)->problem;
    work->items = t->images;
    work->bytes = t->images * (2.0 * (double)bytes_of(t) + 2.0 * (double)spot_jpeg_planes(t->size));
    return SPOT_OK;
}

static const spot_bench_kind trips = { open_trips, spot_op_bench_check, spot_op_bench_run, spot_op_bench_close };

const spot_bench_row spot_bench_jpeg[] = {
    { "jpeg", "224 px, quality 75", "images", SPOT_ON_CPU, &trips, { 224, 64, 75, 2 }, { 32, 2, 75, 2 } },
    { "jpeg", "224 px, batch 256, quality 75", "images", SPOT_ON_CUDA, &trips, { 224, 256, 75, 2 }, { 32, 2, 75, 2 } },
    { 0 },
};
