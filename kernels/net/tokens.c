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

static spot_status join_cpu(spot_ctx *c, float *x, const float *patch, const float *first, const float *position, int n,
                            int count, int width)
{
    int each = count + 1;

#pragma omp parallel for num_threads(c->threads)
    for (int r = 0; r < n * each; r++) {
        int t = r % each;
        const float *from = t ? patch + ((size_t)(r / each) * count + t - 1) * width : first;
        for (int i = 0; i < width; i++) x[(size_t)r * width + i] = from[i] + position[(size_t)t * width + i];
    }
    return SPOT_OK;
}

static spot_status words_cpu(spot_ctx *c, float *x, const int *id, const int *place, const float *table, const float *position,
                             int rows, int width)
{
#pragma omp parallel for num_threads(c->threads)
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < width; i++)
            x[(size_t)r * width + i] = table[(size_t)id[r] * width + i] + position[(size_t)place[r] * width + i];
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

const spot_tokens_ops spot_tokens_cpu = { patches_cpu, join_cpu, words_cpu, pick_cpu, unit_cpu };

spot_status spot_tokens_patches(spot_ctx *c, void *row, const uint8_t *rgb, const spot_patches *p)
{
    if (p->n < 1 || p->patch < 1 || p->side < p->patch)
        return spot_fail(c, SPOT_INVALID, "tokens.patches: %d pictures of %d pixels, patches of %d", p->n, p->side, p->patch);
    SPOT_DISPATCH(c, tokens, patches, row, rgb, p);
}

static spot_status check_shape(spot_ctx *c, const char *op, int rows, int width)
{
    if (rows > 0 && width > 0) return SPOT_OK;
    return spot_fail(c, SPOT_INVALID, "tokens.%s: (%d, %d)", op, rows, width);
}

spot_status spot_tokens_join(spot_ctx *c, float *x, const float *patch, const float *first, const float *position, int n,
                             int count, int width)
{
    SPOT_TRY(check_shape(c, "join", n < count ? n : count, width));
    SPOT_DISPATCH(c, tokens, join, x, patch, first, position, n, count, width);
}

spot_status spot_tokens_words(spot_ctx *c, float *x, const int *id, const int *place, const float *table, const float *position,
                              int rows, int width)
{
    SPOT_TRY(check_shape(c, "words", rows, width));
    SPOT_DISPATCH(c, tokens, words, x, id, place, table, position, rows, width);
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
