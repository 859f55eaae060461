/* backdrop_step.h - the pixels of backdrop.h, for C and CUDA. */
#ifndef SPOTTER_BACKDROP_STEP_H
#define SPOTTER_BACKDROP_STEP_H

#include "core/philox.h"
#include "core/vmath.h"
#include "image/backdrop.h"

enum { SPOT_BACKDROP_REACH = 3 * SPOT_BACKDROP_SIGMA };

/* A rectangle: columns x to right - 1, rows y to bottom - 1. */
typedef struct { int x, y, right, bottom; } spot_backdrop_rect;

/* A Gaussian's weights: at a distance of 0 to reach. */
typedef struct { int reach; float weight[SPOT_BACKDROP_REACH + 1]; } spot_backdrop_blur;

static inline spot_backdrop_blur spot_backdrop_blur_of(float sigma)
{
    spot_backdrop_blur b;

    b.reach = (int)ceilf(3 * sigma);
    if (b.reach > SPOT_BACKDROP_REACH) b.reach = SPOT_BACKDROP_REACH;
    for (int t = 0; t <= SPOT_BACKDROP_REACH; t++) b.weight[t] = spot_expf((float)(-t * t) / (2 * sigma * sigma));
    return b;
}

/* CUDA's scratch: sums along rows, four a pixel. */
static inline size_t spot_backdrop_device_floats(const spot_backdrop *p)
{
    return p->kind == SPOT_BACKDROP_BLURRED ? 4 * (size_t)p->width * (size_t)p->height * (size_t)p->pictures : 0;
}

static inline SPOT_HD int spot_backdrop_area(spot_backdrop_rect r) { return (r.right - r.x) * (r.bottom - r.y); }

/* The largest strip beside the box; its area is 0 when the box is the whole picture. */
static inline SPOT_HD spot_backdrop_rect spot_backdrop_tile(spot_backdrop_rect box, int width, int height)
{
    const spot_backdrop_rect side[4] = { { 0, 0, box.x, height }, { box.right, 0, width, height }, { 0, 0, width, box.y },
                                         { 0, box.bottom, width, height } };
    spot_backdrop_rect best = side[0];

    for (int i = 1; i < 4; i++)
        if (spot_backdrop_area(side[i]) > spot_backdrop_area(best)) best = side[i];
    return best;
}

static inline SPOT_HD uint8_t spot_backdrop_byte(double v) { return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : (int)(v + 0.5)); }

static inline SPOT_HD bool spot_backdrop_is_noise(spot_backdrop_kind kind)
{
    return kind == SPOT_BACKDROP_NOISE || kind == SPOT_BACKDROP_NOISE_ON || kind == SPOT_BACKDROP_NOISE_OFF;
}

/* Whether NOISE_ON or NOISE_OFF leaves a pixel as it is. */
static inline SPOT_HD bool spot_backdrop_is_still(const spot_backdrop *p, int mask)
{
    return (mask >= p->least) != (p->kind == SPOT_BACKDROP_NOISE_ON);
}

/* A pixel with noise around `mean` (3): of its two blocks of random words six words are used. */
static inline SPOT_HD void spot_backdrop_noise(uint8_t *out, const spot_backdrop *p, const uint8_t *mean, int picture,
                                               int pixel)
{
    spot_rng r = spot_philox_at(p->seed.seed, SPOT_RNG_BACKDROP, p->seed.ec, p->first + (uint32_t)picture);

    r.counter[0] = 2 * (uint32_t)pixel;
    for (int k = 0; k < 3; k++) out[k] = spot_backdrop_byte(mean[k] + p->sigma * spot_philox_normal(&r));
}

static inline SPOT_HD void spot_backdrop_cut(uint8_t *out, const spot_backdrop *p, const uint8_t *rgb, int mask)
{
    for (int k = 0; k < 3; k++) out[k] = (uint8_t)((rgb[k] * (255 - mask) + p->colour[k] * mask + 127) / 255);
}

/* Pixel (x, y) of BOX or TILED. */
static inline SPOT_HD void spot_backdrop_fill(uint8_t *out, const spot_backdrop *p, const uint8_t *picture,
                                              spot_backdrop_rect box, spot_backdrop_rect tile, int x, int y)
{
    const bool in = x >= box.x && x < box.right && y >= box.y && y < box.bottom;
    const bool tiled = p->kind == SPOT_BACKDROP_TILED && spot_backdrop_area(tile) > 0;

    if (in && tiled) {
        x = tile.x + (x - box.x) % (tile.right - tile.x);
        y = tile.y + (y - box.y) % (tile.bottom - tile.y);
    }
    for (int k = 0; k < 3; k++)
        out[k] = in && !tiled ? p->colour[k] : picture[3 * ((size_t)y * (size_t)p->width + (size_t)x) + (size_t)k];
}

/* sum: red, green and blue times weights, and the weights. */
static inline SPOT_HD void spot_backdrop_mean(uint8_t *out, const spot_backdrop *p, const float *sum)
{
    for (int k = 0; k < 3; k++) out[k] = sum[3] > 0 ? spot_backdrop_byte(sum[k] / sum[3]) : p->colour[k];
}

#endif
