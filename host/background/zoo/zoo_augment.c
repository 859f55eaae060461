/* zoo_augment.c - training pictures that are turned, scaled, made brighter or darker. */
#include <math.h>
#include <string.h>

#include "background/zoo/zoo_make.h"

static const float TURN = 0.5235988f, SCALE = 0.3f, LIGHT = 0.5f;     /* greatest: 30 degrees; shares of 1 */

static float between(float most, spot_rng *r) { return most * (2 * (float)spot_rng_uniform(r) - 1); }

spot_zoo_change spot_zoo_change_of(spot_zoo_augment augment, spot_rng *r)
{
    spot_zoo_change c = { .cosine = 1, .zoom = 1, .light = 1 };
    const float angle = augment == SPOT_ZOO_AUGMENT_ROTATE ? between(TURN, r) : 0;

    c.cosine = cosf(angle), c.sine = sinf(angle);
    if (augment == SPOT_ZOO_AUGMENT_SCALE) c.zoom += between(SCALE, r);
    if (augment == SPOT_ZOO_AUGMENT_BRIGHTNESS) c.light += between(LIGHT, r);
    c.moves = augment == SPOT_ZOO_AUGMENT_ROTATE || augment == SPOT_ZOO_AUGMENT_SCALE;
    return c;
}

/* A coordinate, reflected at both borders until it lies between 0 and most. */
static float reflect(float x, float most)
{
    x = fabsf(fmodf(x, 2 * most));
    return x > most ? 2 * most - x : x;
}

/* `from` where the change puts it, by bilinear interpolation. */
static void move_ground(uint8_t *rgb, const uint8_t *from, int size, const spot_zoo_change *c)
{
    const float middle = 0.5f * (float)(size - 1), most = (float)(size - 1);

    for (int k = 0; k < size * size; k++) {
        const float dx = (float)(k % size) - middle, dy = (float)(k / size) - middle,
                    x = reflect(middle + (c->cosine * dx + c->sine * dy) / c->zoom, most),
                    y = reflect(middle + (c->cosine * dy - c->sine * dx) / c->zoom, most);
        const int left = (int)fminf(x, most - 1), top = (int)fminf(y, most - 1);
        const float u = x - (float)left, v = y - (float)top;
        const uint8_t *at = from + 3 * (top * size + left), *below = at + 3 * size;
        for (int i = 0; i < 3; i++)
            rgb[3 * k + i] = (uint8_t)((1 - v) * ((1 - u) * at[i] + u * at[3 + i]) +
                                       v * ((1 - u) * below[i] + u * below[3 + i]) + 0.5f);
    }
}

/* The object where the change puts it. */
static spot_zoo_object move_object(const spot_zoo_object *o, const spot_zoo_change *c)
{
    const float dx = o->x - 0.5f, dy = o->y - 0.5f;
    spot_zoo_object to = *o;

    to.x = 0.5f + c->zoom * (c->cosine * dx - c->sine * dy);
    to.y = 0.5f + c->zoom * (c->sine * dx + c->cosine * dy);
    to.scale = c->zoom * o->scale;
    to.cosine = o->cosine * c->cosine - o->sine * c->sine;
    to.sine = o->sine * c->cosine + o->cosine * c->sine;
    return to;
}

void spot_zoo_compose_changed(uint8_t *rgb, const spot_zoo_stock *s, const spot_zoo_object *o, const uint8_t *ground,
                              const spot_zoo_change *c)
{
    const int size = s->cfg->size;
    const spot_zoo_object moved = c->moves ? move_object(o, c) : *o;

    if (ground && c->moves) move_ground(rgb, ground, size, c);
    spot_zoo_compose(rgb, NULL, s, &moved, ground && c->moves ? rgb : ground);
    for (int k = 0; k < 3 * size * size && c->light != 1; k++) rgb[k] = (uint8_t)fminf(255, c->light * rgb[k] + 0.5f);
}
