/* raster.c - the CPU draws row by row: background, then spans of ink copied over it. */
#include "image/raster.h"

#include <string.h>

/* The word "text" in our own strokes, on whole pixels: w x h of ink, letters t, e, x, t in the proportions 12, 22, 21, 12
 * with a pen's width between them. */
static void text_strokes(spot_stroke *s, int w, int h)
{
    int pen = spot_at_least(1, (4 * h + 17) / 35);
    int top = h - (26 * h + 34) / 35, body = h - top;          /* small letters reach from top to h */
    int wide = w - 3 * pen;
    int t = (12 * wide + 33) / 67, e = (22 * wide + 33) / 67, x = wide - 2 * t - e;
    int at_e = t + pen, at_x = at_e + e + pen, at_t = at_x + x + pen;
    int stem = (t - pen) / 3, middle = (body - pen) / 2;

#define PUT(...) *s++ = (spot_stroke){ __VA_ARGS__ }
    for (int k = 0, at = 0; k < 2; k++, at = at_t) {
        PUT(at + stem, 0, pen, h, 0);
        PUT(at, top, t, pen, 0);
        PUT(at + stem, h - pen, t - stem, pen, 0);
    }
    PUT(at_e, top, pen, body, 0);
    PUT(at_e, top, e, pen, 0);
    PUT(at_e, top + middle, e, pen, 0);
    PUT(at_e, h - pen, e, pen, 0);
    PUT(at_e + e - pen, top, pen, middle, 0);
    PUT(at_x, top, pen, body, x - pen);
    PUT(at_x + x - pen, top, pen, body, pen - x);
#undef PUT
}

spot_geometry spot_geometry_of(const spot_scene_config *cfg)
{
    int z = cfg->size;
    spot_geometry g = { .size = z, .run = spot_at_least(2, spot_scaled(5, z)), .margin = spot_scaled(5, z) };

    for (int small = 0; small < 2; small++) {
        for (int layer = SPOT_SQUARE; layer < SPOT_LAYERS; layer++)
            g.shape[layer][small] = spot_shape_of((spot_layer)layer, small, cfg);
        text_strokes(g.stroke[small], g.shape[SPOT_TEXT][small].ink_w, g.shape[SPOT_TEXT][small].ink_h);
    }
    return g;
}

static void put_ink(uint8_t *rgb, spot_ink ink)
{
    uint32_t color = spot_ink_rgb(ink);

    rgb[0] = (uint8_t)(color >> 16);
    rgb[1] = (uint8_t)(color >> 8);
    rgb[2] = (uint8_t)color;
}

/* All three channels of a grey. */
static uint8_t grey_of(spot_ink ink) { return (uint8_t)spot_ink_rgb(ink); }

/* Row y of a noisy background. Whole Philox blocks, so that the loop runs in vectors; a row may begin inside one. */
static void noise_row(uint8_t *row, const spot_geometry *g, const spot_image *image, int y)
{
    uint8_t plain = grey_of(image->background_color ? SPOT_GREY : SPOT_WHITE), speck = grey_of(SPOT_NOISE);
    uint8_t grey[SPOT_MAX_SIZE + 8];
    int size = g->size;
    uint32_t first = (uint32_t)(y * size), block = first / 4, blocks = (first + (uint32_t)size + 3) / 4 - block;

    for (uint32_t k = 0; k < blocks; k++) {
        uint32_t word[4];
        spot_raster_words(word, image, block + k);
        for (int i = 0; i < 4; i++) grey[4 * k + i] = word[i] < SPOT_NOISE_BELOW ? speck : plain;
    }
    for (int x = 0; x < size; x++) {
        uint8_t v = grey[first % 4 + x];
        row[3 * x] = row[3 * x + 1] = row[3 * x + 2] = v;
    }
}

/* Every object's ink for every column it may cover. It is the same in all rows, since stripes are vertical. */
typedef struct { uint8_t rgb[SPOT_MAX_OBJECTS][3 * SPOT_MAX_SIZE]; } palette;

static void fill_palette(palette *p, const spot_geometry *g, const spot_image *image)
{
    for (int k = 0; k < image->object_count; k++)
        for (int x = image->object[k].x0; x <= image->object[k].x1; x++)
            put_ink(p->rgb[k] + 3 * x, spot_raster_ink(g, &image->object[k], x));
}

static void draw_row(uint8_t *row, const spot_geometry *g, const spot_image *image, const palette *p, int y)
{
    if (image->background_texture) noise_row(row, g, image, y);
    else memset(row, grey_of(spot_raster_ground(image, 0)), 3 * (size_t)g->size);
    for (int k = 0; k < image->object_count; k++) {
        const spot_object *o = &image->object[k];
        const spot_shape *shape = &g->shape[o->layer][o->size];
        int left = o->place_x + shape->ink_x;
        if (y < o->y0 || y > o->y1) continue;
        for (int i = 0; i < spot_shape_spans(o); i++) {
            spot_span span = spot_shape_span(g, o, y - o->place_y - shape->ink_y, i);
            int from = left + span.from, to = left + span.to;
            if (to > o->x1 + 1) to = o->x1 + 1;
            if (from < to) memcpy(row + 3 * from, p->rgb[k] + 3 * from, 3 * (size_t)(to - from));
        }
    }
}

/* Checks draw lists that the host can read. */
static spot_status check_lists(spot_ctx *c, const spot_image *image, int n, const spot_geometry *g)
{
    for (int i = 0; i < n; i++) {
        if (image[i].object_count > SPOT_MAX_OBJECTS)
            return spot_fail(c, SPOT_INVALID, "{raster.objects} raster: image %d has %d objects", i, image[i].object_count);
        for (int k = 0; k < image[i].object_count; k++)
            if (!spot_raster_placed(g, &image[i].object[k]))
                return spot_fail(c, SPOT_INVALID, "{raster.object_place} raster: object %d of image %d is not where a %d pixel "
                                 "canvas can have it", k, i, g->size);
    }
    return SPOT_OK;
}

static spot_status draw_cpu(spot_ctx *c, uint8_t *rgb, const spot_image *image, int n, const spot_geometry *g)
{
    size_t stride = 3 * (size_t)g->size;

    SPOT_TRY(check_lists(c, image, n, g));
#pragma omp parallel for num_threads(c->threads)
    for (int i = 0; i < n; i++) {
        palette p;
        fill_palette(&p, g, &image[i]);
        for (int y = 0; y < g->size; y++)
            draw_row(rgb + ((size_t)i * (size_t)g->size + (size_t)y) * stride, g, &image[i], &p, y);
    }
    return SPOT_OK;
}

static spot_status input_cpu(spot_ctx *c, void *x, int channels, spot_precision precision, const spot_image *image, int n,
                             const spot_geometry *g)
{
    const spot_levels t = spot_levels_of_bytes();
    size_t size = (size_t)g->size, bytes = size * size * (size_t)channels * (precision == SPOT_BF16 ? 2 : 4);

    SPOT_TRY(check_lists(c, image, n, g));
#pragma omp parallel for num_threads(c->threads)
    for (int i = 0; i < n; i++) {
        uint8_t row[3 * SPOT_MAX_SIZE];
        char *to = (char *)x + (size_t)i * bytes;
        palette p;
        fill_palette(&p, g, &image[i]);
        for (int y = 0; y < g->size; y++) {
            draw_row(row, g, &image[i], &p, y);
            spot_put_levels(to, row, size, (size_t)y, 1, channels, precision, &t);
        }
    }
    return SPOT_OK;
}

const spot_raster_ops spot_raster_cpu = { .draw = draw_cpu, .input = input_cpu };

/* Checks the arguments and computes the geometry, which only a valid size has. */
static spot_status check_call(spot_ctx *c, spot_geometry *g, const void *out, const spot_image *image, int n,
                              const spot_scene_config *cfg)
{
    if (cfg->size < SPOT_MIN_SIZE || cfg->size > SPOT_MAX_SIZE || n < 0 || (n > 0 && (!out || !image)))
        return spot_fail(c, SPOT_INVALID, "{raster.sizes} raster: %d images of %d pixels a side; sizes are %d to %d", n,
                         cfg->size, SPOT_MIN_SIZE, SPOT_MAX_SIZE);
    *g = spot_geometry_of(cfg);
    return SPOT_OK;
}

spot_status spot_raster_draw(spot_ctx *c, uint8_t *rgb, const spot_image *image, int n, const spot_scene_config *cfg)
{
    spot_geometry g;

    SPOT_TRY(check_call(c, &g, rgb, image, n, cfg));
    SPOT_DISPATCH(c, raster, draw, rgb, image, n, &g);
}

spot_status spot_raster_input(spot_ctx *c, void *x, int channels, spot_precision precision, const spot_image *image, int n,
                              const spot_scene_config *cfg)
{
    spot_geometry g;

    if (channels != 3 && channels != SPOT_STEM)
        return spot_fail(c, SPOT_INVALID, "{raster.channels} raster: an input of %d channels; 3 and %d are possible", channels,
                         SPOT_STEM);
    SPOT_TRY(check_call(c, &g, x, image, n, cfg));
    if (channels == SPOT_STEM && cfg->size % SPOT_STEM_SIDE)
        return spot_fail(c, SPOT_INVALID, "{raster.odd_size} raster: scene.size is %d; an input of %d channels takes an even "
                         "one", cfg->size, channels);
    SPOT_DISPATCH(c, raster, input, x, channels, precision, image, n, &g);
}
