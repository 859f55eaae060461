/* image.c - one image of an EC: attributes, places, labels; then its pixels. */
#include <stdbool.h>
#include <string.h>

#include "base/jpeg.h"
#include "raster.h"
#include "spotter/rng.h"
#include "spotter/scene.h"

/* Tries for one object before all are placed anew. The authors try for ever; four objects can leave no room. */
enum { TRIES = 10000 };

/* One fair bit for everything rollable, in (layer, attribute) order; an absent object's attributes too. */
static void roll(spot_image *image, const spot_ec *ec, spot_rng *r)
{
    uint32_t bits = spot_rng_u32(r);

    image->value[SPOT_BACKGROUND][SPOT_PRESENCE] = 1;
    for (int l = 0; l < SPOT_LAYERS; l++)
        for (int a = 0; a < SPOT_ATTRIBUTES; a++)
            if (ec->rollable[l][a]) {
                image->value[l][a] = bits & 1;
                bits >>= 1;
            }
}

static void list_object(spot_image *image, int layer)
{
    const int8_t *value = image->value[layer];

    if (!value[SPOT_PRESENCE]) return;
    for (int n = 0; n <= value[SPOT_NUMBER]; n++)
        image->object[image->object_count++] = (spot_object){
            .layer = (uint8_t)layer, .size = (uint8_t)value[SPOT_SIZE], .color = (uint8_t)value[SPOT_COLOR],
            .texture = (uint8_t)value[SPOT_TEXTURE],
        };
}

/* Closer than the margin in both axes. A gap is counted from one box's far side to the other's near side. */
static bool collide(const spot_geometry *g, const spot_object *a, const spot_object *b)
{
    const spot_shape *p = &g->shape[a->layer][a->size], *q = &g->shape[b->layer][b->size];
    int right = b->place_x - (a->place_x + p->w), left  = a->place_x - (b->place_x + q->w);
    int below = b->place_y - (a->place_y + p->h), above = a->place_y - (b->place_y + q->h);

    return right < g->margin && left < g->margin && below < g->margin && above < g->margin;
}

static bool place(spot_image *image, int k, const spot_geometry *g, spot_rng *r)
{
    spot_object *o = &image->object[k];
    const spot_shape *s = &g->shape[o->layer][o->size];
    uint32_t columns = (uint32_t)(g->size - s->w) + 1, rows = (uint32_t)(g->size - s->h) + 1;

    for (int i = 0; i < TRIES; i++) {
        bool clear = true;
        o->place_x = (int16_t)spot_rng_below(r, columns);
        o->place_y = (int16_t)spot_rng_below(r, rows);
        for (int j = 0; j < k && clear; j++) clear = !collide(g, o, &image->object[j]);
        if (clear) return true;
    }
    return false;
}

static void box(spot_object *o, const spot_geometry *g)
{
    const spot_shape *s = &g->shape[o->layer][o->size];

    o->x0 = o->place_x + s->ink_x;
    o->y0 = o->place_y + s->ink_y;
    o->x1 = o->x0 + s->ink_w - 1;
    o->y1 = o->y0 + s->ink_h - 1;
    if (o->x1 >= g->size) o->x1 = (int16_t)(g->size - 1);
    if (o->y1 >= g->size) o->y1 = (int16_t)(g->size - 1);
}

/* Where the middle of the topmost square stands: 1 above the centre line, 0 on or below, -1 nowhere. */
static int8_t relative_position(const spot_image *image, const spot_geometry *g)
{
    int top = g->size;

    for (int k = 0; k < image->object_count; k++) {
        const spot_object *o = &image->object[k];
        int middle = o->place_y + g->shape[SPOT_SQUARE][o->size].h / 2;
        if (o->layer == SPOT_SQUARE && middle < top) top = middle;
    }
    return top == g->size ? -1 : top < g->size / 2;
}

static uint32_t membership(const spot_image *image, const spot_ec *ec)
{
    uint32_t in = 0;

    for (int m = 0; m < ec->blindspot_count; m++) {
        const spot_blindspot *b = &ec->blindspot[m];
        bool all = true;
        for (int i = 0; i < b->len; i++)
            all = all && image->value[b->triplet[i].layer][b->triplet[i].attribute] == b->triplet[i].value;
        in |= (uint32_t)all << m;
    }
    return in;
}

/* What training sees: wrong within blindspots, but in test. Each image has its own coin for each of the two splits. */
static uint8_t train_label(const spot_image *image, const spot_ec *ec)
{
    spot_rng r = spot_rng_at(ec->seed, SPOT_RNG_FLIP, ec->index, image->index);
    double coin = 1;

    if (!image->blindspots || image->split == SPOT_TEST) return image->label;
    for (int k = 0; k <= image->split; k++) coin = spot_rng_uniform(&r);
    return coin < ec->scene.flip ? !image->label : image->label;
}

void spot_image_draw(spot_image *image, const spot_ec *ec, spot_split split, uint32_t index)
{
    spot_rng r = spot_rng_at(ec->seed, SPOT_RNG_TRAIN + split, ec->index, index);
    const spot_geometry g = spot_geometry_of(&ec->scene);

    memset(image, 0, sizeof *image);
    image->index = index;
    image->split = (uint8_t)split;
    image->seed = ec->seed;
    image->ec = ec->index;
    roll(image, ec, &r);
    image->background_color = (uint8_t)image->value[SPOT_BACKGROUND][SPOT_COLOR];
    image->background_texture = (uint8_t)image->value[SPOT_BACKGROUND][SPOT_TEXTURE];
    list_object(image, SPOT_SQUARE);
    for (int k = 0; k < ec->extras; k++) list_object(image, ec->extra[k]);
    for (int k = 0; k < image->object_count; k++)
        if (!place(image, k, &g, &r)) k = -1;
    for (int k = 0; k < image->object_count; k++) {
        box(&image->object[k], &g);
        if (image->object[k].texture) image->object[k].stripe_phase = (uint8_t)spot_rng_below(&r, (uint32_t)g.run);
    }
    image->relative_position = relative_position(image, &g);
    image->value[SPOT_BACKGROUND][SPOT_RELATIVE_POSITION] = image->relative_position;
    image->label = (uint8_t)image->value[SPOT_SQUARE][SPOT_PRESENCE];
    image->blindspots = membership(image, ec);
    image->train_label = train_label(image, ec);
}

void spot_image_targets(float *target, const spot_image *image, const spot_ec *ec)
{
    if (ec->targets == 1) {
        *target = image->train_label;
        return;
    }
    for (int l = 0; l < SPOT_LAYERS; l++)
        for (int a = 0; a < SPOT_ATTRIBUTES; a++) {
            bool place = l == SPOT_BACKGROUND && a == SPOT_RELATIVE_POSITION;
            bool known = place ? image->relative_position >= 0 : a == SPOT_PRESENCE || image->value[l][SPOT_PRESENCE];
            if (place || ec->rollable[l][a]) *target++ = known ? image->value[l][a] : 0.5f;
        }
}

int spot_ec_positives(int *index, const spot_ec *ec, spot_split split)
{
    int n = 0;

    for (int i = 0; i < ec->images[split]; i++) {
        spot_rng r = spot_rng_at(ec->seed, SPOT_RNG_TRAIN + split, ec->index, (uint32_t)i);
        spot_image image = { 0 };
        roll(&image, ec, &r);
        if (!image.value[SPOT_SQUARE][SPOT_PRESENCE]) continue;
        if (index) index[n] = i;
        n++;
    }
    return n;
}

static spot_status refuse_jpeg(spot_ctx *c, const spot_scene_config *cfg)
{
    if (!cfg->jpeg_quality || !c->device) return SPOT_OK;
    return spot_fail(c, SPOT_UNSUPPORTED, "JPEG runs on the CPU; set scene.jpeg_quality to 0 or use --device cpu");
}

spot_status spot_image_render(spot_ctx *c, uint8_t *rgb, const spot_image *image, int n, const spot_scene_config *cfg)
{
    size_t bytes = 3 * (size_t)cfg->size * (size_t)cfg->size;
    spot_status failed = SPOT_OK;

    SPOT_TRY(refuse_jpeg(c, cfg));
    SPOT_TRY(spot_raster_draw(c, rgb, image, n, cfg));
    if (!cfg->jpeg_quality) return SPOT_OK;
#pragma omp parallel for num_threads(c->threads)
    for (int i = 0; i < n; i++) {
        spot_status s = spot_jpeg_round_trip(c, rgb + bytes * (size_t)i, cfg->size, cfg->size, cfg->jpeg_quality);
        if (s) {
#pragma omp atomic write
            failed = s;
        }
    }
    return failed;
}

/* With JPEG each image waits as bytes in the last quarter of its own floats, which is read before it is overwritten. */
spot_status spot_image_input(spot_ctx *c, float *x, const spot_image *image, int n, const spot_scene_config *cfg)
{
    size_t values = 3 * (size_t)cfg->size * (size_t)cfg->size;
    spot_status failed = SPOT_OK;

    if (!cfg->jpeg_quality) return spot_raster_input(c, x, image, n, cfg);
    SPOT_TRY(refuse_jpeg(c, cfg));
#pragma omp parallel for num_threads(c->threads)
    for (int i = 0; i < n; i++) {
        float *at = x + values * (size_t)i;
        uint8_t *rgb = (uint8_t *)at + 3 * values;
        spot_status s = spot_image_render(c, rgb, &image[i], 1, cfg);
        if (s == SPOT_OK) s = spot_raster_normalise(c, at, rgb, 1, cfg->size);
        if (s) {
#pragma omp atomic write
            failed = s;
        }
    }
    return failed;
}
