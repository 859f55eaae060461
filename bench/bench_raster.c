/* bench_raster.c - images per second. On the CPU the peer is bench/peers/render_pil.py; --threads 1 gives the figure per core.
 * On a GPU image numbers go in and the network's input comes out, as in training: sampling and drawing, nothing else. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "image/raster.h"
#include "image/scene_draw.h"
#include "net/conv.h"
#include "op_scene.h"

enum { CHECKED = 128 };

spot_status spot_op_ec(spot_ctx *c, spot_ec *ec, int kind, int size)
{
    spot_scene_config cfg = spot_scene_defaults();

    cfg.size = size;
    if (kind < 0) return spot_ec_draw(c, ec, &cfg, 1, (uint32_t)(-1 - kind));
    if (kind % 3 == 1) cfg.flip = 0.4;
    if (kind % 3 == 1) cfg.square_presence = SPOT_SQUARE_FREE;
    if (kind % 6 == 3) cfg.induce = SPOT_LEAVE_OUT;
    if (kind % 12 == 6) cfg.induce = SPOT_CORRELATE, cfg.extra_layers[0] = 3;
    if (kind % 12 == 7) cfg.induce = SPOT_RARE;
    if (kind % 12 == 4) cfg.induce = SPOT_MIXED;
    if (kind % 3 != 2) return spot_ec_draw(c, ec, &cfg, 5, (uint32_t)kind);
    spot_ec_base(ec, &cfg, 77, 3000, 100);
    return SPOT_OK;
}

static size_t bytes_of_number(const spot_op_scenes *s) { return s->channels ? spot_precision_bytes(s->precision) : 1; }

static size_t numbers_of_image(const spot_op_scenes *s)
{
    return (size_t)s->cfg.size * (size_t)s->cfg.size * (size_t)(s->channels ? s->channels : 3);
}

/* Many ECs with the authors' settings give their share of noise and stripes. */
static void make_lists(spot_op_run *r, spot_op_scenes *s, int kind)
{
    s->image = spot_op_out(r, "draw lists", SPOT_OP_BYTE, (size_t)s->images * sizeof *s->image, 0);
    for (int e = 0; e < s->ecs && r->status == SPOT_OK; e++) {
        int first = s->images * e / s->ecs, n = s->images * (e + 1) / s->ecs - first;
        r->status = spot_op_ec(r->c, &s->ec[e], kind < 0 ? -1 - e : e ? kind + e - 1 : 2, s->cfg.size);
        s->sample[e] = (spot_sample){ .ec = &s->ec[e], .split = kind < 0 ? SPOT_TEST : SPOT_VAL, .n = n,
                                      .first = (uint32_t)(kind < 0 ? 0 : first), .image = s->image + first };
    }
}

/* A tile of 1,024 pixels looks only at the objects in its rows, of which it may own the left or the right part. */
static void make_squares(spot_op_run *r, spot_op_scenes *s)
{
    const spot_geometry g = spot_geometry_of(&s->cfg);
    int room = g.size - g.shape[SPOT_SQUARE][1].h;
    spot_image *image;

    s->images = 2 * room + 2;
    image = calloc((size_t)s->images, sizeof *image);
    for (int i = 0; image && i < s->images; i++) {
        spot_object *o = &image[i].object[0];
        *o = (spot_object){ .layer = SPOT_SQUARE, .size = 1, .place_x = (int16_t)(i % 2 * room), .place_y = (int16_t)(i / 2) };
        spot_scene_box(o, &g);
        image[i].object_count = 1;
    }
    s->image = spot_op_given(r, image, (size_t)s->images * sizeof *image);
}

static void make_scenes(spot_op_run *r, void *problem, const int *size)
{
    spot_op_scenes *s = problem;
    size_t unit, numbers;

    s->cfg = spot_scene_defaults();
    s->cfg.size = size[0], s->ecs = size[1], s->images = size[2], s->channels = size[3];
    s->precision = (spot_precision)size[4];
    if (s->ecs) make_lists(r, s, size[5]);
    else        make_squares(r, s);
    unit = bytes_of_number(s), numbers = (size_t)s->images * numbers_of_image(s);
    s->out = spot_op_out(r, "pixels", SPOT_OP_BYTE, unit * (numbers + 2 * (size_t)size[6]), 0);
    if (s->out) s->out += unit * (size_t)size[6];
}

static spot_status draw_scenes(spot_op_run *r, spot_op_scenes *s, int count)
{
    for (int q = 0; q < count; q++, s++) {
        if (s->channels) SPOT_OP(r, spot_raster_input(r->c, s->out, s->channels, s->precision, s->image, s->images, &s->cfg));
        else             SPOT_OP(r, spot_raster_draw(r->c, s->out, s->image, s->images, &s->cfg));
    }
    return SPOT_OK;
}

static spot_status run_scenes(spot_op_run *r, void *problems, int count)
{
    spot_op_scenes *s = problems;

    for (int q = 0; q < count; q++) if (s[q].ecs) SPOT_OP(r, spot_sample_images(r->c, s[q].ecs, s[q].sample));
    return draw_scenes(r, s, count);
}

/* Writes channel k of a pixel by the pixel rule to `to`; returns its bytes. */
static size_t wanted(unsigned char *to, const spot_op_scenes *s, uint32_t rgb, int k)
{
    uint8_t byte = (uint8_t)(k < 3 ? rgb >> (16 - 8 * k) : 0);
    float v = spot_op_normalised(byte, k);
    uint16_t bits = spot_bf16_bits(v);

    if (!s->channels)                    return memcpy(to, &byte, 1), sizeof byte;
    if (s->precision == SPOT_BF16)       return memcpy(to, &bits, 2), sizeof bits;
    return memcpy(to, &v, 4), sizeof v;
}

/* Every byte of an image by the pixel rule, its draw list by its EC. */
static spot_status check_image(spot_op_run *r, const spot_op_scenes *s, int i, unsigned char *got)
{
    const spot_geometry g = spot_geometry_of(&s->cfg);
    spot_image image, want;

    SPOT_TRY(spot_op_fetch(r, &image, s->image + i, sizeof image));
    for (int e = 0, first = 0; e < s->ecs; first += s->sample[e++].n) {
        if (i < first || i >= first + s->sample[e].n) continue;
        spot_image_draw(&want, &s->ec[e], s->sample[e].split, s->sample[e].first + (uint32_t)(i - first));
        if (memcmp(&image, &want, sizeof want))
            return spot_fail(r->c, SPOT_CHECK, "the draw list of image %d is not as spot_image_draw makes it", i);
    }
    SPOT_TRY(spot_op_fetch(r, got, s->out + (size_t)i * numbers_of_image(s) * bytes_of_number(s),
                           numbers_of_image(s) * bytes_of_number(s)));
    for (int at = 0; at < g.size * g.size; at++) {
        int pixel = s->channels == SPOT_STEM ? spot_stem_pixel(at, g.size) : at, x = pixel % g.size, y = pixel / g.size;
        uint32_t rgb = spot_raster_pixel(&g, &image, x, y);
        for (int k = 0; k < (s->channels ? s->channels : 3); k++) {
            unsigned char number[4];
            size_t n = wanted(number, s, rgb, k);
            if (memcmp(got, number, n))
                return spot_fail(r->c, SPOT_CHECK, "channel %d of pixel (%d,%d) of image %d is not as raster_pixel.h says",
                                 k, x, y, i);
            got += n;
        }
    }
    return SPOT_OK;
}

/* Up to 128 images, with the last. */
static spot_status check_scenes(spot_op_run *r, void *problem)
{
    const spot_op_scenes *s = problem;
    int step = (s->images + CHECKED - 1) / CHECKED;
    unsigned char *got = malloc(numbers_of_image(s) * bytes_of_number(s));
    spot_status e = got ? SPOT_OK : spot_fail(r->c, SPOT_NOMEM, "no memory to check images");

    for (int i = s->images - 1; i >= 0 && e == SPOT_OK; i -= step) e = check_image(r, s, i, got);
    free(got);
    return e;
}

const spot_op spot_op_render = { "render", sizeof(spot_op_scenes), make_scenes, run_scenes, check_scenes, false };

/* size: pixels a side, ECs, images of each, channels, precision. */
static spot_status open_scenes(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    const int one[SPOT_OP_SIZES] = { size[0], size[1], size[1] * size[2], size[3], size[4], -1 };
    const spot_op_scenes *s;

    SPOT_TRY(spot_op_bench_open(c, state, &spot_op_render, 1, one));
    s = ((const spot_op_run *)*state)->problem;
    work->items = s->images;
    work->bytes = (double)s->images * (double)(numbers_of_image(s) * bytes_of_number(s));
    return SPOT_OK;
}

/* The draw lists are those of the check. */
static spot_status draw(spot_ctx *c, void *state)
{
    spot_op_run *r = state;

    (void)c;
    return draw_scenes(r, r->problem, r->problems);
}

static const spot_bench_kind drawn = { open_scenes, spot_op_bench_check, draw, spot_op_bench_close };
static const spot_bench_kind sampled = { open_scenes, spot_op_bench_check, spot_op_bench_run, spot_op_bench_close };

const spot_bench_row spot_bench_raster[] = {
    { "render", "224 px, bytes",         "images", SPOT_ON_CPU, &drawn, { 224, 16, 8, 0 }, { 64, 2, 2, 0 } },
    { "render", "224 px, network input", "images", SPOT_ON_CPU, &drawn, { 224, 16, 8, 3 }, { 64, 2, 2, 3 } },
    { "render", "64 px, bytes",          "images", SPOT_ON_CPU, &drawn, { 64, 16, 8, 0 },  { 32, 2, 2, 0 } },
    { "render", "64 px, network input",  "images", SPOT_ON_CPU, &drawn, { 64, 16, 8, 3 },  { 32, 2, 2, 3 } },
    { "render", "224 px, batch 256, bf16 input", "images", SPOT_ON_CUDA, &sampled, { 224, 16, 16, 4, SPOT_BF16 },
      { 32, 2, 2, 4, SPOT_BF16 } },
    { "render", "224 px, batch 256, fp32 input", "images", SPOT_ON_CUDA, &sampled, { 224, 16, 16, 4, SPOT_FP32 },
      { 32, 2, 2, 4, SPOT_FP32 } },
    { "render", "224 px, batch 256, bf16 input, drawing alone", "images", SPOT_ON_CUDA, &drawn, { 224, 16, 16, 4, SPOT_BF16 },
      { 32, 2, 2, 4, SPOT_BF16 } },
    { "render", "64 px, batch 256, bf16 input", "images", SPOT_ON_CUDA, &sampled, { 64, 16, 16, 4, SPOT_BF16 },
      { 32, 2, 1, 4, SPOT_BF16 } },
    { 0 },
};
