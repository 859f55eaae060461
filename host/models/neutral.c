/* neutral.c - see neutral.h: a picture to a thread. */
#include "models/neutral.h"

#include <math.h>
#include <string.h>

enum { SIDE = SPOT_NEUTRAL_SIDE, PIXELS = SIDE * SIDE, STATISTICS = 20, CELL = 16, OCTANTS = 8, BORDER = 4, COLOURS = 3 };

/* A picture: colours, their mean, and its gradient (differences of the two pixels beside, at the border of one). */
typedef struct {
    float rgb[PIXELS][COLOURS], grey[PIXELS], gx[PIXELS], gy[PIXELS], edge[PIXELS];
} picture;

/* Make the total variance of each part about 1 on icons and drawn digits. */
static const float STATISTIC = 1.3f, EDGE = 1.5f;

static void open_picture(picture *p, const uint8_t *rgb)
{
    for (int i = 0; i < PIXELS; i++, rgb += COLOURS) {
        for (int k = 0; k < COLOURS; k++) p->rgb[i][k] = (float)rgb[k] / 255;
        p->grey[i] = (float)(rgb[0] + rgb[1] + rgb[2]) / 765;
    }
    for (int i = 0; i < PIXELS; i++) {
        const int x = i % SIDE, y = i / SIDE;
        p->gx[i] = p->grey[x < SIDE - 1 ? i + 1 : i] - p->grey[x ? i - 1 : i];
        p->gy[i] = p->grey[y < SIDE - 1 ? i + SIDE : i] - p->grey[y ? i - SIDE : i];
        p->edge[i] = sqrtf(p->gx[i] * p->gx[i] + p->gy[i] * p->gy[i]);
    }
}

/* ---- statistics ---- */

/* Mean and standard deviation of `count` numbers, `step` apart. */
static float *put_moments(float *out, const float *v, int step)
{
    double sum = 0, squares = 0, mean;

    for (int i = 0; i < PIXELS; i++) sum += (double)v[i * step];
    mean = sum / PIXELS;
    for (int i = 0; i < PIXELS; i++) squares += ((double)v[i * step] - mean) * ((double)v[i * step] - mean);
    *out++ = (float)mean;
    *out++ = (float)sqrt(squares / PIXELS);
    return out;
}

static float *put_points(float *out, const picture *p)
{
    static const int percent[] = { 10, 25, 50, 75, 90 };
    int count[256] = { 0 }, at = 0, below = 0;

    for (int i = 0; i < PIXELS; i++) count[(int)(p->grey[i] * 255 + 0.5f)]++;
    for (int q = 0; q < 5; q++) {
        while (100 * (below + count[at]) < percent[q] * PIXELS) below += count[at++];
        *out++ = (float)at / 255;
    }
    return out;
}

static void put_statistics(float *out, const picture *p)
{
    float spread[PIXELS];
    double border[COLOURS] = { 0 };
    int n = 0;

    for (int i = 0; i < PIXELS; i++) {
        const float *c = p->rgb[i];
        spread[i] = fmaxf(fmaxf(c[0], c[1]), c[2]) - fminf(fminf(c[0], c[1]), c[2]);
    }
    for (int k = 0; k < COLOURS; k++) out = put_moments(out, &p->rgb[0][k], COLOURS);
    out = put_moments(out, p->grey, 1);
    out = put_moments(out, spread, 1);
    out = put_moments(out, p->edge, 1);
    out = put_points(out, p);
    for (int i = 0; i < PIXELS; i++) {
        const int x = i % SIDE, y = i / SIDE;
        if (y >= BORDER && y < SIDE - BORDER && x >= BORDER && x < SIDE - BORDER) continue;
        for (int k = 0; k < COLOURS; k++) border[k] += (double)p->rgb[i][k];
        n++;
    }
    for (int k = 0; k < COLOURS; k++) *out++ = (float)(border[k] / n);
}

/* ---- edges ---- */

static void put_edges(float *out, const picture *p)
{
    const int cells = SIDE / CELL;

    memset(out, 0, (size_t)(cells * cells * OCTANTS) * sizeof *out);
    for (int i = 0; i < PIXELS; i++) {
        const float gx = p->gx[i], gy = p->gy[i];
        const int octant = (gx < 0) | (gy < 0) << 1 | (fabsf(gx) < fabsf(gy)) << 2;
        out[(i / SIDE / CELL * cells + i % SIDE / CELL) * OCTANTS + octant] += p->edge[i];
    }
    for (int i = 0; i < cells * cells * OCTANTS; i++) out[i] = sqrtf(out[i] / (CELL * CELL));
}

/* ---- all ---- */

void spot_neutral_rows(const spot_ctx *c, float *feature, const uint8_t *rgb, int n)
{
#pragma omp parallel for num_threads(c->threads)
    for (int i = 0; i < n; i++) {
        float *out = feature + (size_t)i * SPOT_NEUTRAL_DIM;
        picture p;
        open_picture(&p, rgb + (size_t)i * PIXELS * COLOURS);
        put_statistics(out, &p);
        put_edges(out + STATISTICS, &p);
        for (int k = 0; k < SPOT_NEUTRAL_DIM; k++) out[k] *= k < STATISTICS ? STATISTIC : EDGE;
    }
}
