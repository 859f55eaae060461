/* head.c - plain loops; they take a thousandth of a step's time. */
#include "net/head.h"

#include <math.h>

#include "core/bf16.h"

enum { B = SPOT_CHANNELS };

/* Where pixel 0 of a block of B channels of a row lies, and how far the next pixel is. */
static inline size_t place_of(const spot_plane *p, int row, int block)
{
    size_t pixels = (size_t)p->size * p->size;

    return p->precision == SPOT_BF16 ? row * pixels * p->channels + block * B : (row * p->channels + block * B) * pixels;
}

static inline size_t step_of(const spot_plane *p) { return p->precision == SPOT_BF16 ? p->channels : B; }

static void features_of_row(float *feature, const void *x, const spot_plane *p, int row)
{
    int pixels = p->size * p->size;

    for (int block = 0; block < p->channels / B; block++) {
        size_t at = place_of(p, row, block), step = step_of(p);
        double sum[B] = { 0 };
        for (int i = 0; i < pixels; i++, at += step)
            for (int j = 0; j < B; j++)
                sum[j] += p->precision == SPOT_BF16 ? spot_bf16_float(((const uint16_t *)x)[at + j])
                                                    : ((const float *)x)[at + j];
        for (int j = 0; j < B; j++) feature[block * B + j] = (float)(sum[j] / pixels);
    }
}

static spot_status forward_cpu(spot_ctx *c, float *feature, float *logit, const void *x, const float *w,
                               const float *b, spot_plane p, int outputs)
{
#pragma omp parallel for num_threads(c->threads)
    for (int n = 0; n < p.live; n++) {
        float *f = feature + (size_t)n * p.channels;
        features_of_row(f, x, &p, n);
        for (int o = 0; b && o < outputs; o++) {
            double z = b[o];
            for (int k = 0; k < p.channels; k++) z += (double)f[k] * w[(size_t)o * p.channels + k];
            logit[(size_t)n * outputs + o] = (float)z;
        }
    }
    return SPOT_OK;
}

static spot_status loss_cpu(spot_ctx *c, double *loss, float *dlogit, const float *logit, const float *target, int count)
{
    double sum = 0;

    (void)c;
    for (int i = 0; i < count; i++) {
        double z = logit[i], t = target[i];
        sum += (z > 0 ? z : 0) - z * t + log1p(exp(-fabs(z)));     /* z * t keeps a NaN */
        if (dlogit) dlogit[i] = (float)((1 / (1 + exp(-z)) - t) / count);
    }
    *loss = sum / count;
    return SPOT_OK;
}

static spot_status back_cpu(spot_ctx *c, void *dx, float *dw, float *db, const float *dlogit, const float *feature,
                            const float *w, spot_plane p, int outputs)
{
    int pixels = p.size * p.size;

#pragma omp parallel for num_threads(c->threads)
    for (int k = 0; k < p.channels; k++)
        for (int o = 0; o < outputs; o++) {
            double sum = 0;
            for (int n = 0; n < p.live; n++)
                sum += (double)dlogit[(size_t)n * outputs + o] * feature[(size_t)n * p.channels + k];
            dw[(size_t)o * p.channels + k] = (float)sum;
        }
    for (int o = 0; o < outputs; o++) {
        double sum = 0;
        for (int n = 0; n < p.live; n++) sum += dlogit[(size_t)n * outputs + o];
        db[o] = (float)sum;
    }
#pragma omp parallel for num_threads(c->threads)
    for (int n = 0; n < p.rows; n++)
        for (int k = 0; k < p.channels; k++) {
            double sum = 0;
            size_t to = place_of(&p, n, k / B) + k % B, step = step_of(&p);
            for (int o = 0; o < outputs && n < p.live; o++)
                sum += (double)dlogit[(size_t)n * outputs + o] * w[(size_t)o * p.channels + k];
            for (int i = 0; i < pixels; i++, to += step)
                if (p.precision == SPOT_BF16) ((uint16_t *)dx)[to] = spot_bf16_bits((float)(sum / pixels));
                else                          ((float *)dx)[to] = (float)(sum / pixels);
        }
    return SPOT_OK;
}

const spot_head_ops spot_head_cpu = { forward_cpu, loss_cpu, back_cpu };

static spot_status check_plane(spot_ctx *c, const char *op, spot_plane p, int outputs)
{
    if (p.live < 1 || p.live > p.rows || p.size < 1 || p.channels < 16 || p.channels % 16 || outputs < 1)
        return spot_fail(c, SPOT_INVALID, "head.%s: %d of %d rows, %d channels, size %d, %d outputs", op, p.live,
                         p.rows, p.channels, p.size, outputs);
    return spot_conv_able(c, p.precision);
}

spot_status spot_head_forward(spot_ctx *c, float *feature, float *logit, const void *x, const float *w, const float *b,
                              spot_plane p, int outputs)
{
    SPOT_TRY(check_plane(c, "forward", p, outputs));
    SPOT_DISPATCH(c, head, forward, feature, logit, x, w, b, p, outputs);
}

spot_status spot_head_loss(spot_ctx *c, double *loss, float *dlogit, const float *logit, const float *target, int count)
{
    if (count < 1) return spot_fail(c, SPOT_INVALID, "head.loss: %d logits", count);
    SPOT_DISPATCH(c, head, loss, loss, dlogit, logit, target, count);
}

spot_status spot_head_backward(spot_ctx *c, void *dx, float *dw, float *db, const float *dlogit, const float *feature,
                               const float *w, spot_plane p, int outputs)
{
    SPOT_TRY(check_plane(c, "back", p, outputs));
    SPOT_DISPATCH(c, head, back, dx, dw, db, dlogit, feature, w, p, outputs);
}
