/* scene_draw.h - image number -> the contents of the image, which are also its draw list, for C and CUDA. A pure function of
 * integers and words of philox.h, so every device gives the same bytes. */
#ifndef SPOTTER_SCENE_DRAW_H
#define SPOTTER_SCENE_DRAW_H

#include <stdbool.h>
#include <string.h>

#include "core/philox.h"
#include "image/raster_pixel.h"

/* Tries for one object before all are placed again. The authors' code tries for ever; four objects can leave no room. */
enum { SPOT_PLACE_TRIES = 10000, SPOT_COMPOSE_TRIES = 1000 };

static inline SPOT_HD spot_rng spot_scene_rng(uint64_t seed, uint32_t ec, spot_split split, uint32_t index)
{
    return spot_philox_at(seed, (spot_rng_purpose)((int)SPOT_RNG_TRAIN + (int)split), ec, index);
}

/* One fair bit per rollable attribute, in (layer, attribute) order, also for absent objects. */
static inline SPOT_HD void spot_scene_roll(spot_image *image, const spot_ec *ec, spot_rng *r)
{
    uint32_t bits = spot_philox_u32(r);

    image->value[SPOT_BACKGROUND][SPOT_PRESENCE] = 1;
    for (int l = 0; l < SPOT_LAYERS; l++)
        for (int a = 0; a < SPOT_ATTRIBUTES; a++)
            if (ec->rollable[l][a]) {
                image->value[l][a] = bits & 1;
                bits >>= 1;
            }
}

/* Bit m: blindspot m is planted in this way. SPOT_MIXED: the first, which is the least specific, by a correlation, then one
 * rare and one flipped in turn. */
static inline SPOT_HD uint32_t spot_scene_planted(const spot_ec *ec, int induce)
{
    if (ec->scene.induce != SPOT_MIXED) return ec->scene.induce == induce ? ~0u : 0;
    return induce == SPOT_CORRELATE ? 1 : induce == SPOT_RARE ? 0xaaaaaaaa : induce == SPOT_FLIP_LABELS ? 0x55555554 : 0;
}

/* The attribute that goes with the label under SPOT_CORRELATE: that of the background, which comes first, or the last one. */
static inline SPOT_HD const spot_triplet *spot_scene_rare(const spot_blindspot *b)
{
    return b->triplet[0].layer == SPOT_BACKGROUND ? &b->triplet[0] : &b->triplet[b->len - 1];
}

/* Rolls the attributes that go with the label again: they agree with it with chance (1 + c) / 2. */
static inline SPOT_HD void spot_scene_correlate(spot_image *image, const spot_ec *ec, spot_rng *r)
{
    const bool label = image->value[SPOT_SQUARE][SPOT_PRESENCE];

    for (int m = 0; m < ec->blindspot_count && spot_scene_planted(ec, SPOT_CORRELATE) >> m & 1; m++) {
        const spot_triplet *rare = spot_scene_rare(&ec->blindspot[m]);
        const bool agrees = spot_philox_uniform(r) < (1 + ec->scene.correlation) / 2;
        image->value[rare->layer][rare->attribute] = (int8_t)(label == agrees ? !rare->value : rare->value);
    }
}

/* The square's presence without the rest of the image: its position among an image's bits (-1: there is never a square), and
 * that bit of image `index`. */
static inline SPOT_HD int spot_scene_label_bit(const spot_ec *ec)
{
    int bit = 0;

    for (int l = 0; l < SPOT_SQUARE; l++)
        for (int a = 0; a < SPOT_ATTRIBUTES; a++) bit += ec->rollable[l][a] != 0;
    return ec->rollable[SPOT_SQUARE][SPOT_PRESENCE] ? bit : -1;
}

static inline SPOT_HD bool spot_scene_label(uint64_t seed, uint32_t ec, spot_split split, uint32_t index, int bit)
{
    spot_rng r = spot_scene_rng(seed, ec, split, index);

    return bit >= 0 && (spot_philox_u32(&r) >> bit & 1);
}

/* Adds the objects of a layer. It writes field by field and no padding bytes, because images are compared whole. */
static inline SPOT_HD void spot_scene_list(spot_image *image, int layer)
{
    const int8_t *value = image->value[layer];

    if (!value[SPOT_PRESENCE]) return;
    for (int n = 0; n <= value[SPOT_NUMBER]; n++) {
        spot_object *o = &image->object[image->object_count++];
        o->layer = (uint8_t)layer;
        o->size = (uint8_t)value[SPOT_SIZE];
        o->color = (uint8_t)value[SPOT_COLOR];
        o->texture = (uint8_t)value[SPOT_TEXTURE];
    }
}

/* Whether two objects are closer than the margin in both axes. A gap is from one box's far side to the other's near side. */
static inline SPOT_HD bool spot_scene_collide(const spot_geometry *g, const spot_object *a, const spot_object *b)
{
    const spot_shape *p = &g->shape[a->layer][a->size], *q = &g->shape[b->layer][b->size];
    int right = b->place_x - (a->place_x + p->w), left  = a->place_x - (b->place_x + q->w);
    int below = b->place_y - (a->place_y + p->h), above = a->place_y - (b->place_y + q->h);

    return right < g->margin && left < g->margin && below < g->margin && above < g->margin;
}

static inline SPOT_HD bool spot_scene_place(spot_image *image, int k, const spot_geometry *g, spot_rng *r)
{
    spot_object *o = &image->object[k];
    const spot_shape *s = &g->shape[o->layer][o->size];
    uint32_t columns = (uint32_t)(g->size - s->w) + 1, rows = (uint32_t)(g->size - s->h) + 1;

    for (int i = 0; i < SPOT_PLACE_TRIES; i++) {
        bool clear = true;
        o->place_x = (int16_t)spot_philox_below(r, columns);
        o->place_y = (int16_t)spot_philox_below(r, rows);
        for (int j = 0; j < k && clear; j++) clear = !spot_scene_collide(g, o, &image->object[j]);
        if (clear) return true;
    }
    return false;
}

static inline SPOT_HD void spot_scene_box(spot_object *o, const spot_geometry *g)
{
    const spot_shape *s = &g->shape[o->layer][o->size];

    o->x0 = o->place_x + s->ink_x;
    o->y0 = o->place_y + s->ink_y;
    o->x1 = o->x0 + s->ink_w - 1;
    o->y1 = o->y0 + s->ink_h - 1;
    if (o->x1 >= g->size) o->x1 = (int16_t)(g->size - 1);
    if (o->y1 >= g->size) o->y1 = (int16_t)(g->size - 1);
}

/* The middle of the topmost square: 1 above the centre line, 0 on or below it, -1 no square. */
static inline SPOT_HD int8_t spot_scene_position(const spot_image *image, const spot_geometry *g)
{
    int top = g->size;

    for (int k = 0; k < image->object_count; k++) {
        const spot_object *o = &image->object[k];
        int middle = o->place_y + g->shape[SPOT_SQUARE][o->size].h / 2;
        if (o->layer == SPOT_SQUARE && middle < top) top = middle;
    }
    return top == g->size ? -1 : top < g->size / 2;
}

/* Bit m: the image matches every triplet of blindspot m. */
static inline SPOT_HD uint32_t spot_scene_membership(const spot_image *image, const spot_ec *ec)
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

/* The image's own coin in [0, 1), another one in each split. */
static inline SPOT_HD double spot_scene_coin(const spot_image *image, const spot_ec *ec)
{
    spot_rng r = spot_philox_at(ec->seed, SPOT_RNG_FLIP, ec->index, image->index);
    double coin = 1;

    for (int k = 0; k <= image->split; k++) coin = spot_philox_uniform(&r);
    return coin;
}

/* The label in training: flipped within blindspots, except in test. */
static inline SPOT_HD uint8_t spot_scene_train_label(const spot_image *image, const spot_ec *ec)
{
    if (image->split == SPOT_TEST || !(image->blindspots & spot_scene_planted(ec, SPOT_FLIP_LABELS))) return image->label;
    return spot_scene_coin(image, ec) < ec->scene.flip ? !image->label : image->label;
}

/* Whether the split has no place for the image, since it is in a blindspot that is left out or rare. */
static inline SPOT_HD bool spot_scene_barred(const spot_image *image, const spot_ec *ec)
{
    if (image->split == SPOT_TEST) return false;
    if (image->blindspots & spot_scene_planted(ec, SPOT_LEAVE_OUT)) return image->split == SPOT_TRAIN;
    return image->blindspots & spot_scene_planted(ec, SPOT_RARE) && !(spot_scene_coin(image, ec) < ec->scene.rare);
}

static inline SPOT_HD void spot_scene_compose(spot_image *image, const spot_ec *ec, const spot_geometry *g, spot_split split,
                                              uint32_t index, spot_rng *r)
{
    memset(image, 0, sizeof *image);
    image->index = index;
    image->split = (uint8_t)split;
    image->seed = ec->seed;
    image->ec = ec->index;
    spot_scene_roll(image, ec, r);
    if (split != SPOT_TEST) spot_scene_correlate(image, ec, r);
    image->background_color = (uint8_t)image->value[SPOT_BACKGROUND][SPOT_COLOR];
    image->background_texture = (uint8_t)image->value[SPOT_BACKGROUND][SPOT_TEXTURE];
    spot_scene_list(image, SPOT_SQUARE);
    for (int k = 0; k < ec->extras; k++) spot_scene_list(image, ec->extra[k]);
    for (int k = 0; k < image->object_count; k++)
        if (!spot_scene_place(image, k, g, r)) k = -1;
    for (int k = 0; k < image->object_count; k++) {
        spot_object *o = &image->object[k];
        spot_scene_box(o, g);
        if (o->texture) o->stripe_phase = (uint8_t)spot_philox_below(r, (uint32_t)g->run);
    }
    image->relative_position = spot_scene_position(image, g);
    image->value[SPOT_BACKGROUND][SPOT_RELATIVE_POSITION] = image->relative_position;
    image->label = (uint8_t)image->value[SPOT_SQUARE][SPOT_PRESENCE];
    image->blindspots = spot_scene_membership(image, ec);
    image->train_label = spot_scene_train_label(image, ec);
}

/* spot_image_draw (scene.h); g is the geometry of ec->scene. A barred image is composed again until it is in no blindspot and
 * has the same label, so that classes and numbers of images stay. It gives up after SPOT_COMPOSE_TRIES, since blindspots may
 * hold a whole class. */
static inline SPOT_HD void spot_scene_draw(spot_image *image, const spot_ec *ec, const spot_geometry *g, spot_split split,
                                           uint32_t index)
{
    spot_rng r = spot_scene_rng(ec->seed, ec->index, split, index);
    int label;

    spot_scene_compose(image, ec, g, split, index, &r);
    if (!spot_scene_barred(image, ec)) return;
    label = image->label;
    for (int i = 0; (image->blindspots || image->label != label) && i < SPOT_COMPOSE_TRIES; i++)
        spot_scene_compose(image, ec, g, split, index, &r);
}

/* spot_image_targets (scene.h). */
static inline SPOT_HD void spot_scene_targets(float *target, const spot_image *image, const spot_ec *ec)
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

#endif
