/* tokens.c - plain loops; they take a hundredth of a tower's time. */
#include "net/tokens.h"

#include <math.h>
#include <string.h>

#include "core/bf16.h"
#include "core/lanes.h"

/* One patch: (patch, patch, 3) bytes of a picture -> (3, patch, patch) numbers. */
static void cut_patch(void *row, size_t at, const uint8_t *rgb, const spot_patches *p)
{
    for (int channel = 0; channel < 3; channel++)
        for (int y = 0; y < p->patch; y++)
            for (int x = 0; x < p->patch; x++, at++) {
                float v = p->value[256 * channel + rgb[((size_t)y * p->side + x) * 3 + channel]];
                if (p->precision == SPOT_BF16) ((uint16_t *)row)[at] = spot_bf16_bits(v);
                else                           ((float *)row)[at] = v;
            }
}

static spot_status patches_cpu(spot_ctx *c, void *row, const uint8_t *rgb, const spot_patches *p)
{
    int across = p->side / p->patch, each = across * across;
    size_t picture = (size_t)3 * p->side * p->side, numbers = (size_t)3 * p->patch * p->patch;

#pragma omp parallel for num_threads(c->threads)
    for (int i = 0; i < p->n * each; i++) {
        int y = i % each / across * p->patch, x = i % across * p->patch;
        cut_patch(row, (size_t)i * numbers, rgb + i / each * picture + ((size_t)y * p->side + x) * 3, p);
    }
    return SPOT_OK;
}

static spot_status join_cpu(spot_ctx *c, float *x, const spot_picture_tokens *t)
{
    const int each = t->count + 1, width = t->width;

#pragma omp parallel for num_threads(c->threads)
    for (int r = 0; r < t->n * each; r++) {
        const int at = r % each;
        const float *from = at ? t->patch + ((size_t)(r / each) * t->count + at - 1) * width : t->first;
        for (int i = 0; i < width; i++) x[(size_t)r * width + i] = from[i] + t->position[(size_t)at * width + i];
    }
    return SPOT_OK;
}

static spot_status words_cpu(spot_ctx *c, float *x, const spot_word_tokens *t)
{
#pragma omp parallel for num_threads(c->threads)
    for (int r = 0; r < t->rows; r++)
        for (int i = 0; i < t->width; i++)
            x[(size_t)r * t->width + i] = t->table[(size_t)t->id[r] * t->width + i]
                                        + t->position[(size_t)t->place[r] * t->width + i];
    return SPOT_OK;
}

static spot_status pick_cpu(spot_ctx *c, float *y, const float *x, const int *row, int n, int width)
{
    (void)c;
    for (int i = 0; i < n; i++) memcpy(y + (size_t)i * width, x + (size_t)row[i] * width, (size_t)width * sizeof *y);
    return SPOT_OK;
}

static spot_status unit_cpu(spot_ctx *c, float *x, int n, int width)
{
#pragma omp parallel for num_threads(c->threads)
    for (int r = 0; r < n; r++) {
        float *row = x + (size_t)r * width, scale;
        double sum = 0;
        for (int i = 0; i < width; i++) sum += (double)row[i] * row[i];
        scale = (float)(1 / sqrt(sum));
        for (int i = 0; i < width; i++) row[i] *= scale;
    }
    return SPOT_OK;
}

/* Columns in pieces, so that a row of tokens is read from left to right. */
static spot_status mean_cpu(spot_ctx *c, void *y, const float *x, const spot_token_mean *m)
{
    enum { PIECE = 64 };
    const int pieces = (m->width + PIECE - 1) / PIECE;

#pragma omp parallel for num_threads(c->threads)
    for (int e = 0; e < m->n * pieces; e++) {
        const int i = e / pieces, first = e % pieces * PIECE, wide = m->width - first < PIECE ? m->width - first : PIECE;
        double sum[PIECE] = { 0 };
        for (int t = m->first; t < m->last; t++) {
            const float *row = x + ((size_t)i * m->each + t) * m->width + first;
            for (int k = 0; k < wide; k++) sum[k] += row[k];
        }
        for (int k = 0; k < wide; k++) {
            const size_t at = (size_t)i * m->pitch + first + k;
            const float mean = (float)(sum[k] / (m->last - m->first));
            if (m->precision == SPOT_BF16) ((uint16_t *)y)[at] = spot_bf16_bits(mean);
            else                           ((float *)y)[at] = mean;
        }
    }
    return SPOT_OK;
}

const spot_tokens_ops spot_tokens_cpu = { patches_cpu, join_cpu, words_cpu, pick_cpu, unit_cpu, mean_cpu };

spot_status spot_tokens_patches(spot_ctx *c, void *row, const uint8_t *rgb, const spot_patches *p)
{
    if (p->n < 1 || p->patch < 1 || p->side < p->patch)
        return spot_fail(c, SPOT_INVALID, "{tokens.patches} tokens.patches: %d pictures of %d pixels, patches of %d", p->n,
                         p->side, p->patch);
    SPOT_DISPATCH(c, tokens, patches, row, rgb, p);
}

static spot_status check_shape(spot_ctx *c, const char *op, int rows, int width)
{
    if (rows > 0 && width > 0) return SPOT_OK;
    return spot_fail(c, SPOT_INVALID, "{tokens.sizes} tokens.%s: (%d, %d)", op, rows, width);
}

spot_status spot_tokens_join(spot_ctx *c, float *x, const spot_picture_tokens *t)
{
    SPOT_TRY(check_shape(c, "join", t->n < t->count ? t->n : t->count, t->width));
    SPOT_DISPATCH(c, tokens, join, x, t);
}

spot_status spot_tokens_words(spot_ctx *c, float *x, const spot_word_tokens *t)
{
    SPOT_TRY(check_shape(c, "words", t->rows, t->width));
    SPOT_DISPATCH(c, tokens, words, x, t);
}

spot_status spot_tokens_pick(spot_ctx *c, float *y, const float *x, const int *row, int n, int width)
{
    SPOT_TRY(check_shape(c, "pick", n, width));
    SPOT_DISPATCH(c, tokens, pick, y, x, row, n, width);
}

spot_status spot_tokens_unit(spot_ctx *c, float *x, int n, int width)
{
    SPOT_TRY(check_shape(c, "unit", n, width));
    SPOT_DISPATCH(c, tokens, unit, x, n, width);
}

spot_status spot_tokens_mean(spot_ctx *c, void *y, const float *x, const spot_token_mean *m)
{
    const bool some = m->first >= 0 && m->first < m->last && m->last <= m->each && m->pitch >= m->width;

    SPOT_TRY(check_shape(c, "mean", some ? m->n : 0, m->width));
    SPOT_DISPATCH(c, tokens, mean, y, x, m);
}
