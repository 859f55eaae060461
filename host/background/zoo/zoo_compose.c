/* zoo_compose.c - backgrounds, and objects before them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "background/zoo/zoo_make.h"
#include "image/resize.h"

/* Backgrounds of a family have numbers; each set has its own part of them. */
static uint32_t number_of(spot_zoo_set set, uint32_t index) { return (uint32_t)set << 24 | (index & 0xffffff); }

/* ---- scenes ---- */

/* A square part of the scene, 0.35 to 0.9 of its side, nearest pixels of a picture that is larger than the part's square. */
static void crop_scene(uint8_t *rgb, const spot_zoo_stock *s, int scene, spot_rng *r)
{
    const int size = s->cfg->size, side = SPOT_ZOO_SCENE_SIDE;
    const uint8_t *from = s->scene + (size_t)scene * 3 * SPOT_ZOO_SCENE_SIDE * SPOT_ZOO_SCENE_SIDE;
    const float part = (0.35f + 0.55f * (float)spot_rng_uniform(r)) * (float)side, left = (float)spot_rng_uniform(r),
                top = (float)spot_rng_uniform(r), step = part / (float)size;

    for (int y = 0; y < size; y++)
        for (int x = 0; x < size; x++) {
            const int i = (int)(left * ((float)side - part) + ((float)x + 0.5f) * step),
                      j = (int)(top * ((float)side - part) + ((float)y + 0.5f) * step);
            memcpy(rgb + 3 * ((size_t)y * (size_t)size + (size_t)x), from + 3 * ((size_t)j * (size_t)side + (size_t)i), 3);
        }
}

/* ---- backgrounds ---- */

static void join_words(char words[SPOT_ZOO_WORDING], uint32_t bits, const char *family)
{
    int n = snprintf(words, SPOT_ZOO_WORDING, "%s", family);

    for (int w = 0; w < SPOT_ZOO_WORD_COUNT; w++)
        if (bits >> w & 1)
            n += snprintf(words + n, (size_t)(SPOT_ZOO_WORDING - n), "; %s", spot_zoo_word_name((spot_zoo_word)w));
}

void spot_zoo_background(uint8_t *rgb, char *words, const spot_zoo_stock *s, spot_zoo_set set, int family, uint32_t index)
{
    const uint32_t number = number_of(set, index);

    if (family < s->cfg->families) {
        const uint32_t bits = spot_zoo_ground(rgb, s->cfg->size, s->cfg->seed, family, number);
        if (words) join_words(words, bits, spot_zoo_family_name(family));
        return;
    }
    spot_rng r = spot_rng_at(s->cfg->seed, SPOT_RNG_ZOO, 0xffff, number);
    const int scene = (int)(index % (uint32_t)s->scenes);
    crop_scene(rgb, s, scene, &r);
    if (words) snprintf(words, SPOT_ZOO_WORDING, "scene; %s", s->scene_name[scene]);
}

size_t spot_zoo_pool_bytes(const spot_background_zoo *cfg, int each)
{
    return ((size_t)cfg->families + 1) * (size_t)each * 3 * (size_t)cfg->size * (size_t)cfg->size;
}

spot_status spot_zoo_pool_open(spot_ctx *c, spot_zoo_pool *p, const spot_zoo_stock *s, spot_zoo_set set, int each)
{
    const int families = s->cfg->families + 1, n = families * each;
    const size_t bytes = 3 * (size_t)s->cfg->size * (size_t)s->cfg->size;

    *p = (spot_zoo_pool){ each, malloc(spot_zoo_pool_bytes(s->cfg, each)) };
    if (!p->rgb) return spot_fail(c, SPOT_NOMEM, "no memory for %d backgrounds", n);
#pragma omp parallel for schedule(dynamic) num_threads(c->threads)
    for (int i = 0; i < n; i++)
        spot_zoo_background(p->rgb + (size_t)i * bytes, NULL, s, set, i / each, (uint32_t)(i % each));
    return SPOT_OK;
}

void spot_zoo_pool_close(spot_zoo_pool *p)
{
    free(p->rgb);
    *p = (spot_zoo_pool){ 0 };
}

/* ---- objects ---- */

spot_zoo_object spot_zoo_object_of(const spot_zoo_stock *s, int cls, double own, double black, spot_rng *r)
{
    spot_zoo_object o = { .cls = cls, .stamp = (int)spot_rng_below(r, (uint32_t)s->stamps[cls]) };
    const float angle = 0.35f * ((float)spot_rng_uniform(r) - 0.5f);

    o.kin = (int)spot_rng_below(r, (uint32_t)s->cfg->families + 1);
    o.family = spot_rng_uniform(r) < own ? cls : o.kin;
    o.black = spot_rng_uniform(r) < black;
    o.flip = spot_rng_uniform(r) < 0.5;
    o.scale = 0.55f + 0.3f * (float)spot_rng_uniform(r);
    o.cosine = cosf(angle), o.sine = sinf(angle);
    o.x = o.scale / 2 + (1 - o.scale) * (float)spot_rng_uniform(r);
    o.y = o.scale / 2 + (1 - o.scale) * (float)spot_rng_uniform(r);
    o.light = 0.8f + 0.35f * (float)spot_rng_uniform(r);
    return o;
}

/* The cut-out at (x, y), in its pixels, by bilinear interpolation; transparent outside. */
static void sample(float out[4], const uint8_t *rgb, const uint8_t *alpha, int size, float x, float y)
{
    const int i = (int)floorf(x), j = (int)floorf(y);
    const float u = x - (float)i, v = y - (float)j;

    memset(out, 0, 4 * sizeof *out);
    for (int k = 0; k < 4; k++) {
        const int a = i + (k & 1), b = j + (k >> 1);
        if (a < 0 || b < 0 || a >= size || b >= size) continue;
        const size_t at = (size_t)b * (size_t)size + (size_t)a;
        const float w = (k & 1 ? u : 1 - u) * (k >> 1 ? v : 1 - v);
        for (int n = 0; n < 3; n++) out[n] += w * (float)rgb[3 * at + (size_t)n];
        out[3] += w * (float)alpha[at];
    }
}

void spot_zoo_compose(uint8_t *rgb, uint8_t *mask, const spot_zoo_stock *s, const spot_zoo_object *o, const uint8_t *ground)
{
    const int size = s->cfg->size;
    const size_t pixels = (size_t)size * (size_t)size, at = (size_t)o->cls * SPOT_ZOO_STAMPS + (size_t)o->stamp;
    const uint8_t *colours = s->rgb + 3 * at * pixels, *alpha = s->alpha + at * pixels;

    for (int y = 0; y < size; y++)
        for (int x = 0; x < size; x++) {
            const size_t to = (size_t)y * (size_t)size + (size_t)x;
            const float dx = (((float)x + 0.5f) / (float)size - o->x) / o->scale,
                        dy = (((float)y + 0.5f) / (float)size - o->y) / o->scale,
                        u = o->cosine * dx + o->sine * dy, v = o->cosine * dy - o->sine * dx;
            float c[4];
            sample(c, colours, alpha, size, ((o->flip ? -u : u) + 0.5f) * (float)size - 0.5f, (v + 0.5f) * (float)size - 0.5f);
            for (size_t i = 0; i < 3; i++) {
                const float behind = ground ? (float)ground[3 * to + i] : 0;
                rgb[3 * to + i] = (uint8_t)(fminf(255, o->light * c[i] + behind * (1 - c[3] / 255)) + 0.5f);
            }
            if (mask) mask[to] = (uint8_t)(fminf(255, c[3]) + 0.5f);
        }
}
