/* layernorm.c - a row to a thread; the row stays in the nearest cache for its three passes. */
#include "net/layernorm.h"

#include <math.h>

#include "core/bf16.h"
#include "core/vmath.h"

enum { L = 16 };

/* The sum of x - from, or of its square. */
static inline __attribute__((always_inline)) float sum_of(const float *x, int n, float from, bool squares)
{
    float part[L] = { 0 };
    int i = 0;

    for (; i + L <= n; i += L)
        for (int l = 0; l < L; l++) {
            float d = x[i + l] - from;
            part[l] = squares ? fmaf(d, d, part[l]) : part[l] + d;
        }
    for (int l = 0; i + l < n; l++) {
        float d = x[i + l] - from;
        part[l] = squares ? fmaf(d, d, part[l]) : part[l] + d;
    }
    return spot_fold(part);
}

static spot_status apply_cpu(spot_ctx *c, void *y, const float *x, const spot_layernorm *n, int rows, spot_precision precision)
{
#pragma omp parallel for num_threads(c->threads)
    for (int r = 0; r < rows; r++) {
        const float *in = x + (size_t)r * n->width;
        float *out = (float *)y + (size_t)r * n->width;
        uint16_t *half = (uint16_t *)y + (size_t)r * n->width;
        float mean = sum_of(in, n->width, 0, false) / (float)n->width;
        float scale = 1 / sqrtf(sum_of(in, n->width, mean, true) / (float)n->width + n->eps);

        if (precision == SPOT_BF16)
            for (int i = 0; i < n->width; i++) half[i] = spot_bf16_bits(fmaf((in[i] - mean) * scale, n->weight[i], n->bias[i]));
        else
            for (int i = 0; i < n->width; i++) out[i] = fmaf((in[i] - mean) * scale, n->weight[i], n->bias[i]);
    }
    return SPOT_OK;
}

const spot_layernorm_ops spot_layernorm_cpu = { apply_cpu };

spot_status spot_layernorm_apply(spot_ctx *c, void *y, const float *x, const spot_layernorm *l, int rows,
                                 spot_precision precision)
{
    if (rows < 1 || l->width < 1 || !(l->eps > 0) || (y == x && precision != SPOT_FP32))
        return spot_fail(c, SPOT_INVALID, "layernorm: (%d, %d), eps %g", rows, l->width, l->eps);
    SPOT_DISPATCH(c, layernorm, apply, y, x, l, rows, precision);
}
