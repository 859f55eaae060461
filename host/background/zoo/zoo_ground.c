/* zoo_ground.c - see zoo_ground.h. Areas are noise on a lattice, and patterns; coordinates run from 0 to 1. */
#include "background/zoo/zoo_ground.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "spotter/rng.h"

enum { SIDE = 32, THINGS = 2 };

static const char *const word_names[] = {
#define X(NAME, word) word,
    SPOT_ZOO_WORDS(X)
#undef X
};

/* Upper and lower area, what may stand between them; the hues of sky or wall. */
typedef struct { const char *name; spot_zoo_word upper, lower, thing[THINGS]; float red, green, blue; } family_look;

static const family_look families[SPOT_ZOO_FAMILIES] = {
    { "meadow",  SPOT_ZOO_SKY,     SPOT_ZOO_GRASS,  { SPOT_ZOO_FENCE,    SPOT_ZOO_FLOWERS  }, 0.55f, 0.75f, 0.95f },
    { "beach",   SPOT_ZOO_SKY,     SPOT_ZOO_SAND,   { SPOT_ZOO_SUN,      SPOT_ZOO_CLOUDS   }, 0.45f, 0.75f, 0.90f },
    { "sea",     SPOT_ZOO_CLOUDS,  SPOT_ZOO_WATER,  { SPOT_ZOO_SUN,      SPOT_ZOO_MOUNTAIN }, 0.65f, 0.75f, 0.85f },
    { "winter",  SPOT_ZOO_SKY,     SPOT_ZOO_SNOW,   { SPOT_ZOO_MOUNTAIN, SPOT_ZOO_TRUNKS   }, 0.75f, 0.78f, 0.82f },
    { "street",  SPOT_ZOO_BRICKS,  SPOT_ZOO_STONES, { SPOT_ZOO_LAMP,     SPOT_ZOO_WINDOW   }, 0.65f, 0.32f, 0.25f },
    { "room",    SPOT_ZOO_STRIPES, SPOT_ZOO_PLANKS, { SPOT_ZOO_WINDOW,   SPOT_ZOO_LAMP     }, 0.85f, 0.75f, 0.55f },
    { "night",   SPOT_ZOO_NIGHT,   SPOT_ZOO_GRASS,  { SPOT_ZOO_MOON,     SPOT_ZOO_FENCE    }, 0.05f, 0.06f, 0.20f },
    { "forest",  SPOT_ZOO_LEAVES,  SPOT_ZOO_SOIL,   { SPOT_ZOO_TRUNKS,   SPOT_ZOO_FLOWERS  }, 0.20f, 0.45f, 0.15f },
    { "desert",  SPOT_ZOO_SKY,     SPOT_ZOO_SAND,   { SPOT_ZOO_MOUNTAIN, SPOT_ZOO_SUN      }, 0.95f, 0.65f, 0.40f },
    { "bath",    SPOT_ZOO_TILES,   SPOT_ZOO_WATER,  { SPOT_ZOO_LAMP,     SPOT_ZOO_WINDOW   }, 0.80f, 0.90f, 0.92f },
    { "nursery", SPOT_ZOO_DOTS,    SPOT_ZOO_CARPET, { SPOT_ZOO_WINDOW,   SPOT_ZOO_MOON     }, 0.95f, 0.75f, 0.80f },
    { "harbour", SPOT_ZOO_NIGHT,   SPOT_ZOO_WATER,  { SPOT_ZOO_LAMP,     SPOT_ZOO_MOON     }, 0.08f, 0.10f, 0.16f },
};

const char *spot_zoo_word_name(spot_zoo_word word) { return word_names[word]; }
const char *spot_zoo_family_name(int family) { return families[family].name; }

/* ---- noise ---- */

typedef struct { float at[SIDE][SIDE], shift, light, horizon; const family_look *look; } canvas;

static float smooth(float t) { return t * t * (3 - 2 * t); }

/* Noise between 0 and 1 whose cells have the size 1; it repeats after SIDE cells. */
static float noise(const canvas *v, float x, float y)
{
    const float fx = floorf(x), fy = floorf(y), u = smooth(x - fx), w = smooth(y - fy);
    const int i = (int)fx & (SIDE - 1), j = (int)fy & (SIDE - 1), k = (i + 1) & (SIDE - 1), l = (j + 1) & (SIDE - 1);

    return (v->at[j][i] * (1 - u) + v->at[j][k] * u) * (1 - w) + (v->at[l][i] * (1 - u) + v->at[l][k] * u) * w;
}

static float octaves(const canvas *v, float x, float y)
{
    return (4 * noise(v, x, y) + 2 * noise(v, 2 * x + 7, 2 * y + 3) + noise(v, 4 * x + 11, 4 * y + 5)) / 7;
}

static float wave(float t) { return 0.5f + 0.5f * sinf(6.2831853f * t); }
static float saw(float t) { return t - floorf(t); }

/* ---- areas ---- */

static void mix(float c[3], float r, float g, float b, float share)
{
    c[0] += (r - c[0]) * share, c[1] += (g - c[1]) * share, c[2] += (b - c[2]) * share;
}

static void gray(float c[3], float by) { c[0] *= by, c[1] *= by, c[2] *= by; }

static void set(float c[3], float r, float g, float b) { c[0] = r, c[1] = g, c[2] = b; }

/* Rows of pieces as long as `length` rows are high, every second row moved; the joints are dark. */
static void paint_pieces(const canvas *v, float c[3], float x, float y, float rows, float length, float joint)
{
    const float row = floorf(y * rows), across = x * rows / length + (fmodf(row, 2) != 0 ? 0.5f : 0);
    const bool seam = saw(y * rows) < joint || saw(across) < joint / length;

    gray(c, seam ? 0.6f : 0.8f + 0.4f * v->at[(int)row & (SIDE - 1)][(int)floorf(across) & (SIDE - 1)]);
}

static void paint_wall(const canvas *v, spot_zoo_word area, float c[3], float x, float y)
{
    const family_look *f = v->look;
    const float dx = saw(x * 8 + (fmodf(floorf(y * 8), 2) != 0 ? 0.5f : 0)) - 0.5f, dy = saw(y * 8) - 0.5f;

    set(c, f->red, f->green, f->blue);
    if (area == SPOT_ZOO_BRICKS) paint_pieces(v, c, x, y, 12, 2, 0.15f);
    if (area == SPOT_ZOO_STRIPES && saw(x * 9 + v->shift) < 0.4f) mix(c, 0.6f, 0.25f, 0.3f, 0.8f);
    if (area == SPOT_ZOO_DOTS && dx * dx + dy * dy < 0.06f) mix(c, 0.3f, 0.5f, 0.8f, 0.9f);
    if (area == SPOT_ZOO_TILES) paint_pieces(v, c, x, y, 9, 1, 0.1f);
}

static void paint_sky(const canvas *v, spot_zoo_word area, float c[3], float x, float y)
{
    const family_look *f = v->look;

    set(c, f->red, f->green, f->blue);
    mix(c, 1, 1, 1, 0.4f * y);
    if (area == SPOT_ZOO_CLOUDS) {
        const float cloud = octaves(v, 3 * x + 3 * v->shift, 5 * y);
        mix(c, 0.97f, 0.97f, 1, smooth(fminf(1, fmaxf(0, 3 * cloud - 1.2f))));
    }
    if (area == SPOT_ZOO_NIGHT && noise(v, 31 * x, 31 * y + 9) > 0.93f) mix(c, 1, 1, 0.9f, 0.9f);
    if (area == SPOT_ZOO_LEAVES) gray(c, 0.4f + 1.3f * octaves(v, 12 * x, 12 * y));
}

static void paint_floor(const canvas *v, spot_zoo_word area, float c[3], float x, float y)
{
    switch (area) {
    case SPOT_ZOO_GRASS:
        set(c, 0.25f, 0.55f, 0.18f), gray(c, 0.6f + 0.8f * noise(v, 60 * x, 14 * y));
        break;
    case SPOT_ZOO_WATER:
        set(c, 0.12f, 0.38f, 0.60f), gray(c, 0.7f + 0.6f * wave(7 * y + 0.6f * octaves(v, 4 * x, 9 * y) + 0.3f * x));
        break;
    case SPOT_ZOO_SAND:
        set(c, 0.86f, 0.76f, 0.52f), gray(c, 0.85f + 0.3f * noise(v, 50 * x, 50 * y));
        break;
    case SPOT_ZOO_SNOW:
        set(c, 0.96f, 0.97f, 1), mix(c, 0.70f, 0.78f, 0.92f, 0.8f * octaves(v, 3 * x, 6 * y));
        break;
    case SPOT_ZOO_SOIL:
        set(c, 0.36f, 0.24f, 0.14f), gray(c, 0.6f + 0.8f * octaves(v, 14 * x, 18 * y));
        break;
    case SPOT_ZOO_STONES:
        set(c, 0.58f, 0.58f, 0.60f), paint_pieces(v, c, x, y, 9, 1.3f, 0.2f);
        break;
    case SPOT_ZOO_PLANKS:
        set(c, 0.62f, 0.42f, 0.24f), gray(c, 0.8f + 0.4f * noise(v, 3 * x, 40 * y)), paint_pieces(v, c, x, y, 7, 5, 0.08f);
        break;
    default:                                               /* a carpet */
        set(c, 0.55f, 0.20f, 0.35f), gray(c, 0.7f + 0.6f * wave(6 * x) * wave(6 * y));
    }
}

static void paint_area(const canvas *v, spot_zoo_word area, float c[3], float x, float y)
{
    switch (area) {
    case SPOT_ZOO_BRICKS: case SPOT_ZOO_STRIPES: case SPOT_ZOO_DOTS: case SPOT_ZOO_TILES: paint_wall(v, area, c, x, y); break;
    case SPOT_ZOO_SKY: case SPOT_ZOO_CLOUDS: case SPOT_ZOO_NIGHT: case SPOT_ZOO_LEAVES:   paint_sky(v, area, c, x, y);  break;
    default:                                                                              paint_floor(v, area, c, x, y);
    }
}

/* ---- things ---- */

static bool within(float x, float y, float at_x, float at_y, float half_w, float half_h)
{
    return fabsf(x - at_x) < half_w && fabsf(y - at_y) < half_h;
}

static float distance(float x, float y, float at_x, float at_y) { return hypotf(x - at_x, y - at_y); }

/* A thing at `at` on the horizon or above it. */
static void paint_thing(const canvas *v, spot_zoo_word thing, float at, float c[3], float x, float y)
{
    const float h = v->horizon, spot = distance(x, y, at, 0.5f * h);

    switch (thing) {
    case SPOT_ZOO_SUN:    if (spot < 0.09f) set(c, 1, 0.9f, 0.3f); break;
    case SPOT_ZOO_MOON:
        if (spot < 0.08f && distance(x, y, at + 0.05f, 0.5f * h) > 0.07f) set(c, 0.95f, 0.95f, 0.85f);
        break;
    case SPOT_ZOO_CLOUDS: if (y < h && octaves(v, 3 * x, 5 * y) > 0.55f) mix(c, 1, 1, 1, 0.8f); break;
    case SPOT_ZOO_MOUNTAIN:
        if (y < h && y > h - 0.35f + 0.9f * fabsf(x - at) + 0.1f * noise(v, 9 * x, 1)) set(c, 0.45f, 0.42f, 0.45f);
        if (y < h && y > h - 0.35f + 0.9f * fabsf(x - at) && y < h - 0.25f) set(c, 0.95f, 0.95f, 0.97f);
        break;
    case SPOT_ZOO_FENCE:
        if (y > h - 0.08f && y < h + 0.12f && (saw(9 * x + at) < 0.3f || saw(8 * y) < 0.25f)) set(c, 0.85f, 0.82f, 0.75f);
        break;
    case SPOT_ZOO_TRUNKS:
        if (y < h + 0.15f && saw(4 * x + at) < 0.18f)
            set(c, 0.30f, 0.20f, 0.12f), gray(c, 0.7f + 0.6f * noise(v, 30 * x, 6 * y));
        break;
    case SPOT_ZOO_FLOWERS: if (y > h && noise(v, 26 * x + 40 * at, 26 * y) > 0.82f) set(c, 0.95f, 0.35f, 0.55f); break;
    case SPOT_ZOO_LAMP:
        if (within(x, y, at, h - 0.05f, 0.015f, 0.25f)) set(c, 0.15f, 0.15f, 0.15f);
        if (distance(x, y, at, h - 0.30f) < 0.06f) set(c, 1, 0.95f, 0.6f);
        break;
    case SPOT_ZOO_WINDOW:
        if (within(x, y, at, 0.5f * h, 0.13f, 0.3f * h)) set(c, 0.95f, 0.95f, 0.92f);
        if (within(x, y, at - 0.06f, 0.5f * h, 0.05f, 0.25f * h) || within(x, y, at + 0.06f, 0.5f * h, 0.05f, 0.25f * h))
            set(c, 0.50f, 0.70f, 0.88f);
        break;
    default: break;
    }
}

/* ---- a background ---- */

/* Things of the family, each with a chance of one half; with a chance of a sixth one that does not belong there. */
static int draw_things(spot_zoo_word thing[THINGS + 1], const family_look *f, spot_rng *r)
{
    static const spot_zoo_word any[] = { SPOT_ZOO_SUN, SPOT_ZOO_MOON, SPOT_ZOO_MOUNTAIN, SPOT_ZOO_FENCE, SPOT_ZOO_TRUNKS,
                                         SPOT_ZOO_FLOWERS, SPOT_ZOO_LAMP, SPOT_ZOO_WINDOW };
    int n = 0;

    for (int k = 0; k < THINGS; k++)
        if (spot_rng_uniform(r) < 0.5) thing[n++] = f->thing[k];
    const spot_zoo_word stranger = any[spot_rng_below(r, sizeof any / sizeof *any)];
    if (spot_rng_uniform(r) < 1.0 / 6) thing[n++] = stranger;
    return n;
}

static void paint_pixel(const canvas *v, const spot_zoo_word *thing, const float *at, int things, float c[3], float x, float y)
{
    const float edge = v->horizon + 0.03f * noise(v, 6 * x, v->shift);

    paint_area(v, y < edge ? v->look->upper : v->look->lower, c, x + v->shift, y < edge ? y / edge : y);
    for (int k = 0; k < things; k++) paint_thing(v, thing[k], at[k], c, x, y);
    for (int i = 0; i < 3; i++) c[i] = fminf(1, fmaxf(0, c[i] * v->light));
}

uint32_t spot_zoo_ground(uint8_t *rgb, int size, uint64_t seed, int family, uint32_t index)
{
    spot_rng r = spot_rng_at(seed, SPOT_RNG_ZOO, (uint32_t)family, index);
    canvas v = { .look = &families[family] };
    spot_zoo_word thing[THINGS + 1];
    float at[THINGS + 1];
    double sum = 0;

    for (int i = 0; i < SIDE * SIDE; i++) v.at[i / SIDE][i % SIDE] = (float)spot_rng_uniform(&r);
    v.shift = (float)spot_rng_uniform(&r);
    v.light = 0.75f + 0.4f * (float)spot_rng_uniform(&r);
    v.horizon = 0.35f + 0.3f * (float)spot_rng_uniform(&r);
    const int things = draw_things(thing, v.look, &r);
    for (int k = 0; k < things; k++) at[k] = 0.15f + 0.7f * (float)spot_rng_uniform(&r);
    for (int y = 0; y < size; y++)
        for (int x = 0; x < size; x++) {
            float c[3];
            paint_pixel(&v, thing, at, things, c, ((float)x + 0.5f) / (float)size, ((float)y + 0.5f) / (float)size);
            for (int i = 0; i < 3; i++) {
                const uint8_t value = (uint8_t)(255 * c[i] + 0.5f);
                rgb[3 * ((size_t)y * (size_t)size + (size_t)x) + (size_t)i] = value;
                sum += value;
            }
        }
    const double mean = sum / (3.0 * size * size);
    uint32_t words = 1u << v.look->upper | 1u << v.look->lower;
    for (int k = 0; k < things; k++) words |= 1u << thing[k];
    return words | (mean > 165 ? 1u << SPOT_ZOO_BRIGHT : mean < 85 ? 1u << SPOT_ZOO_DARK : 0);
}
