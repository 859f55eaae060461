/* head.c - plain loops; they take a thousandth of a step's time. */
#include "net/head.h"

#include <math.h>
#include <string.h>

#include "core/bf16.h"
#include "net/norm_line.h"

/* The place of pixel 0 of a block of B channels of a row, and the distance to the next pixel. */
static inline size_t place_of(const spot_plane *p, int row, int block)
{
    size_t pixels = (size_t)p->size * p->size;

    return p->precision == SPOT_BF16 ? row * pixels * p->channels + block * B : (row * p->channels + block * B) * pixels;
}

static inline size_t step_of(const spot_plane *p) { return p->precision == SPOT_BF16 ? p->channels : B; }

/* B channels of a pixel. */
static inline void numbers_at(float *v, const void *x, size_t at, spot_precision precision)
{
    if (precision == SPOT_BF16)
        for (int j = 0; j < B; j++) v[j] = spot_bf16_float(((const uint16_t *)x)[at + j]);
    else
        memcpy(v, (const float *)x + at, B * sizeof *v);
}

static void features_of_row(float *feature, const void *x, const spot_plane *p, int row)
{
    int pixels = p->size * p->size;

    for (int block = 0; block < p->channels / B; block++) {
        size_t at = place_of(p, row, block), step = step_of(p);
        double sum[B] = { 0 };
        float v[B];
        for (int i = 0; i < pixels; i++, at += step) {
            numbers_at(v, x, at, p->precision);
            for (int j = 0; j < B; j++) sum[j] += v[j];
        }
        for (int j = 0; j < B; j++) feature[block * B + j] = (float)(sum[j] / pixels);
    }
}

static spot_status forward_cpu(spot_ctx *c, const spot_head_answers *a, spot_plane p, int outputs)
{
#pragma omp parallel for num_threads(c->threads)
    for (int n = 0; n < p.live; n++) {
        float *f = a->feature + (size_t)n * p.channels;
        features_of_row(f, a->x, &p, n);
        for (int o = 0; a->b && o < outputs; o++) {
            double z = a->b[o];
            for (int k = 0; k < p.channels; k++) z += (double)f[k] * a->w[(size_t)o * p.channels + k];
            a->logit[(size_t)n * outputs + o] = (float)z;
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

/* One row: its loss, and the gradient times `live`. */
static double softmax_row(float *dlogit, const float *logit, const float *target, int outputs, int live)
{
    double most = logit[0], sum = 0, all = 0, loss = 0, log_sum;

    for (int o = 1; o < outputs; o++) most = logit[o] > most ? logit[o] : most;
    for (int o = 0; o < outputs; o++) {
        sum += exp(logit[o] - most);               /* keeps a NaN */
        all += target[o];
    }
    log_sum = most + log(sum);
    for (int o = 0; o < outputs; o++) {
        loss += target[o] * (log_sum - logit[o]);
        if (dlogit) dlogit[o] = (float)((all * (exp(logit[o] - most) / sum) - target[o]) / live);
    }
    return loss;
}

static spot_status softmax_cpu(spot_ctx *c, double *loss, float *dlogit, const float *logit, const float *target, int live,
                               int outputs)
{
    double sum = 0;

    (void)c;
    for (int n = 0; n < live; n++) {
        size_t at = (size_t)n * outputs;
        sum += softmax_row(dlogit ? dlogit + at : NULL, logit + at, target + at, outputs, live);
    }
    *loss = sum / live;
    return SPOT_OK;
}

static spot_status back_cpu(spot_ctx *c, const spot_head_gradients *g, spot_plane p, int outputs)
{
    int pixels = p.size * p.size;

#pragma omp parallel for num_threads(c->threads)
    for (int k = 0; k < p.channels; k++)
        for (int o = 0; o < outputs; o++) {
            double sum = 0;
            for (int n = 0; n < p.live; n++)
                sum += (double)g->dlogit[(size_t)n * outputs + o] * g->feature[(size_t)n * p.channels + k];
            g->dw[(size_t)o * p.channels + k] = (float)sum;
        }
    for (int o = 0; o < outputs; o++) {
        double sum = 0;
        for (int n = 0; n < p.live; n++) sum += g->dlogit[(size_t)n * outputs + o];
        g->db[o] = (float)sum;
    }
#pragma omp parallel for num_threads(c->threads)
    for (int n = 0; n < p.rows; n++)
        for (int k = 0; k < p.channels; k++) {
            double sum = g->dfeature && n < p.live ? g->dfeature[(size_t)n * p.channels + k] : 0;
            size_t to = place_of(&p, n, k / B) + k % B, step = step_of(&p);
            for (int o = 0; o < outputs && n < p.live; o++)
                sum += (double)g->dlogit[(size_t)n * outputs + o] * g->w[(size_t)o * p.channels + k];
            for (int i = 0; i < pixels; i++, to += step)
                if (p.precision == SPOT_BF16) ((uint16_t *)g->dx)[to] = spot_bf16_bits((float)(sum / pixels));
                else                          ((float *)g->dx)[to] = (float)(sum / pixels);
        }
    return SPOT_OK;
}

/* Channels of a sum in double: one register. gcc takes a vector of two registers through memory. Rows lie at any address. */
enum { HALF = B / 2 };
typedef float          hf __attribute__((vector_size(HALF * 4), aligned(4), may_alias));
typedef int            hi __attribute__((vector_size(HALF * 4), may_alias));
typedef unsigned       hu __attribute__((vector_size(HALF * 4), may_alias));
typedef unsigned short hh __attribute__((vector_size(HALF * 2), aligned(2), may_alias));
typedef double         hd __attribute__((vector_size(HALF * 8), may_alias));

/* Half k of the channels of pixel i. */
FOR_BOTH hf get_half(line l, int i, int k, bool half)
{
    const char *at = l.first + (size_t)i * l.step;

    return half ? (hf)(__builtin_convertvector(((const hh *)at)[k], hu) << 16) : ((const hf *)at)[k];
}

/* a where `first` is -1, else b. */
static inline hf either(hi first, hf a, hf b) { return (hf)(((hi)a & first) | ((hi)b & ~first)); }

/* The means, and in range[] the least and the greatest number of the row. Numbers below `bottom` count as it (0: a ReLU). A NaN
 * is in its channel's mean alone. */
FOR_BOTH void means_of_row(float *mean, float range[2], const void *x, const spot_plane *p, int row, float bottom, bool half)
{
    const int pixels = p->size * p->size;
    const hf none = { 0 }, low = none + bottom;
    hf least = none + INFINITY, most = none - INFINITY;

    for (int block = 0; block < p->channels / B; block++) {
        const line from = line_of(x, p, row, block, half);
        hd sum[2] = { { 0 } };
        for (int i = 0; i < pixels; i++)
            for (int k = 0; k < 2; k++) {
                hf v = get_half(from, i, k, half);
                v = either(v < low, low, v);
                sum[k] += __builtin_convertvector(v, hd);
                least = either(v < least, v, least);
                most = either(v > most, v, most);
            }
        for (int j = 0; j < B; j++) mean[block * B + j] = (float)(sum[j / HALF][j % HALF] / pixels);
    }
    range[0] = INFINITY, range[1] = -INFINITY;
    for (int j = 0; j < HALF; j++) {
        if (least[j] < range[0]) range[0] = least[j];
        if (most[j] > range[1]) range[1] = most[j];
    }
}

static spot_status channels_cpu(spot_ctx *c, float *activity, int stride, const void *x, spot_plane p, bool relu)
{
    const float bottom = relu ? 0 : -INFINITY;

#pragma omp parallel for num_threads(c->threads)
    for (int n = 0; n < p.live; n++) {
        float *v = activity + (size_t)n * stride, range[2];
        if (p.precision == SPOT_BF16) means_of_row(v, range, x, &p, n, bottom, true);
        else                          means_of_row(v, range, x, &p, n, bottom, false);
        for (int k = 0; k < p.channels; k++) v[k] = spot_head_scaled(v[k], range[0], range[1]);
    }
    return SPOT_OK;
}

const spot_head_ops spot_head_cpu = { forward_cpu, loss_cpu, softmax_cpu, back_cpu, channels_cpu };

static spot_status check_plane(spot_ctx *c, const char *op, spot_plane p, int outputs)
{
    if (p.live < 1 || p.live > p.rows || p.size < 1 || p.channels < 16 || p.channels % 16 || outputs < 1)
        return spot_fail(c, SPOT_INVALID, "head.%s: %d of %d rows, %d channels, size %d, %d outputs", op, p.live,
                         p.rows, p.channels, p.size, outputs);
    return spot_conv_able(c, p.precision);
}

spot_status spot_head_forward(spot_ctx *c, const spot_head_answers *a, spot_plane p, int outputs)
{
    SPOT_TRY(check_plane(c, "forward", p, outputs));
    SPOT_DISPATCH(c, head, forward, a, p, outputs);
}

spot_status spot_head_loss(spot_ctx *c, double *loss, float *dlogit, const float *logit, const float *target, int count)
{
    if (count < 1) return spot_fail(c, SPOT_INVALID, "{head.loss_sizes} head.loss: %d logits", count);
    SPOT_DISPATCH(c, head, loss, loss, dlogit, logit, target, count);
}

spot_status spot_head_backward(spot_ctx *c, const spot_head_gradients *g, spot_plane p, int outputs)
{
    SPOT_TRY(check_plane(c, "back", p, outputs));
    SPOT_DISPATCH(c, head, back, g, p, outputs);
}

spot_status spot_head_softmax(spot_ctx *c, double *loss, float *dlogit, const float *logit, const float *target, int live,
                              int outputs)
{
    if (live < 1 || outputs < 1) return spot_fail(c, SPOT_INVALID, "{head.softmax_sizes} head.softmax: %d rows of %d logits",
                                                  live, outputs);
    SPOT_DISPATCH(c, head, softmax, loss, dlogit, logit, target, live, outputs);
}

spot_status spot_head_channels(spot_ctx *c, float *activity, int stride, const void *x, spot_plane p, bool relu)
{
    SPOT_TRY(check_plane(c, "channels", p, 1));
    if (stride < p.channels)
        return spot_fail(c, SPOT_INVALID, "{head.channels} head.channels: rows of %d numbers for %d channels", stride,
                         p.channels);
    SPOT_DISPATCH(c, head, channels, activity, stride, x, p, relu);
}
