/* check_resnet.h - a small net to train in tests, with weights and images from a hash as in tools/golden/resnet18.py. */
#ifndef SPOTTER_TESTS_CHECK_RESNET_H
#define SPOTTER_TESTS_CHECK_RESNET_H

#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "models/network.h"

static inline double unit(int tensor, size_t i)
{
    uint32_t x = (uint32_t)((i + 1) * 2654435761u + ((uint64_t)tensor + 1) * 2246822519u);

    x = (x ^ x >> 15) * 2246822519u;
    x = (x ^ x >> 13) * 3266489917u;
    return (x ^ x >> 16) * 0x1p-32;
}

/* Whether tensor t is no weight: a running statistic or a count. */
static inline bool is_statistic(const spot_model *m, int t)
{
    return m->arch != SPOT_ARCH_ALEXNET && t < spot_model_tensors(m->arch) - 2 && t % 6 > 2;
}

/* Number u of [0, 1) as a number of tensor t. */
static inline double of_tensor(const spot_model *m, const spot_model_tensor *e, int t, double u)
{
    if (m->arch == SPOT_ARCH_ALEXNET) return (2 * u - 1) * (e->rank == 1 ? 0.1 : sqrt(6.0 * e->dim[0] / (double)e->count));
    if (t >= spot_model_tensors(m->arch) - 2) return (2 * u - 1) / sqrt(8.0 * m->width);
    if (t % 6 == 0) return (2 * u - 1) * sqrt(6.0 / ((double)e->dim[0] * e->dim[2] * e->dim[3]));
    if (t % 6 < 3) return (t % 6 == 1) + 0.4 * (u - 0.5);
    return t % 6 == 4;
}

static inline void fill_model(spot_model *m)
{
    spot_model_tensor table[SPOT_MAX_TENSORS];

    spot_model_layout(table, m->arch, m->width, m->outputs);
    for (int t = 0; t < spot_model_tensors(m->arch); t++)
        for (size_t i = 0; i < table[t].count; i++)
            m->value[table[t].offset + i] = (float)of_tensor(m, &table[t], t, unit(t, i));
}

static inline void fill_batch(float *x, float *y, int step, const spot_net_shape *s, int batch)
{
    for (size_t i = 0; i < (size_t)batch * s->size * s->size * 3; i++) x[i] = (float)(4 * (unit(1000 + step, i) - 0.5));
    for (int i = 0; i < batch * s->outputs; i++) y[i] = unit(2000 + step, (size_t)i) > 0.5;
}

/* A net with those weights in an arena of just the size that counting gives. */
typedef struct {
    spot_ctx   c;
    spot_arena a;
    spot_model m;
    spot_net   net;
    float     *x, *y;
} bed;

static inline void lay(bed *b, spot_arena *a, spot_net_shape s)
{
    CHECK_OK(&b->c, spot_model_take(&b->c, a, &b->m, s.arch, s.width, s.outputs));
    CHECK_OK(&b->c, spot_net_open(&b->c, a, &b->net, s));
    CHECK_OK(&b->c, SPOT_TAKE(&b->c, a, b->x, (size_t)s.rows * s.size * s.size * 3));
    CHECK_OK(&b->c, SPOT_TAKE(&b->c, a, b->y, (size_t)s.rows * s.outputs));
}

static inline void make_bed(bed *b, spot_net_shape s, int threads)
{
    spot_arena count = spot_arena_counting();

    memset(b, 0, sizeof *b);
    b->c = check_ctx(threads);
    lay(b, &count, s);
    spot_net_close(&b->c, &b->net);
    CHECK_OK(&b->c, spot_arena_open(&b->c, &b->a, count.peak));
    lay(b, &b->a, s);
    fill_model(&b->m);
    CHECK_OK(&b->c, spot_net_put(&b->c, &b->net, &b->m));
}

static inline void clear_bed(bed *b)
{
    spot_net_close(&b->c, &b->net);
    spot_arena_close(&b->a);
}

static inline double train_step(bed *b, int step, int batch, spot_optim_rule *rule)
{
    double loss;

    fill_batch(b->x, b->y, step, &b->net.s, batch);
    CHECK_OK(&b->c, spot_net_forward(&b->c, &b->net, b->x, batch, true));
    CHECK_OK(&b->c, spot_net_backward(&b->c, &b->net, b->y, batch, &loss));
    rule->t = step + 1;
    CHECK_OK(&b->c, spot_optim_step(&b->c, b->net.param, b->net.grad, b->net.moment, b->net.square, b->net.params, rule));
    return loss;
}

/* The gradient as a model, in torchvision's order. */
static inline void get_gradient(spot_ctx *c, spot_model *m, const spot_net *net)
{
    spot_net view = *net;

    for (int u = 0; u < net->arch.units; u++) {
        view.w[u] = view.dw[u];
        view.norm[u].weight = view.norm[u].dweight;
        view.norm[u].bias = view.norm[u].dbias;
        if (u < SPOT_MAX_BIASES) view.bias[u] = view.dbias[u];
    }
    for (int l = 0; l < 2; l++) {
        view.dense_w[l] = view.dense_dw[l];
        view.dense_b[l] = view.dense_db[l];
    }
    view.fc_w = view.fc_dw;
    view.fc_b = view.fc_db;
    CHECK_OK(c, spot_net_get(c, m, &view));
}

/* How a gradient in torchvision's order differs from another. worst: of its tensors, the root of the mean square difference
 * over that of the tensor; whole: the same of all numbers. A rounding that carries numbers over a ReLU's edge turns the
 * gradient, but hardly makes it longer. length: the length of a tensor of at least 1000 numbers over that wanted, the one
 * farthest from 1; small: the mean of the others, of weights or of biases. */
typedef struct { double worst, whole, length, small; } gradient_gap;

static inline double farther(double a, double b) { return fabs(a - 1) > fabs(b - 1) ? a : b; }

static inline gradient_gap compare_gradients(const spot_model *m, const float *got, const float *want)
{
    spot_model_tensor table[SPOT_MAX_TENSORS];
    gradient_gap g = { .length = 1, .small = 1 };
    double apart = 0, whole = 0, small[2] = { 0 };
    int smalls[2] = { 0 };

    spot_model_layout(table, m->arch, m->width, m->outputs);
    for (int t = 0; t < spot_model_tensors(m->arch); t++) {
        const int bias = strstr(table[t].name, "bias") != NULL;
        double off = 0, have = 0, all = 0;
        if (is_statistic(m, t)) continue;
        for (size_t i = table[t].offset; i < table[t].offset + table[t].count; i++) {
            off += pow((double)got[i] - want[i], 2);
            have += pow(got[i], 2);
            all += pow(want[i], 2);
        }
        if (!isfinite(off)) fail_msg("%s: the gradient is not finite", table[t].name);
        apart += off, whole += all;
        g.worst = fmax(g.worst, sqrt(off / all));
        if (table[t].count < 1000) small[bias] += sqrt(have / all), smalls[bias]++;
        else g.length = farther(g.length, sqrt(have / all));
    }
    for (int k = 0; k < 2; k++)
        if (smalls[k]) g.small = farther(g.small, small[k] / smalls[k]);
    g.whole = sqrt(apart / whole);
    return g;
}

static const spot_optim_rule adam = { .kind = SPOT_OPTIM_ADAM, .lr = 3e-4, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8 };
static const spot_optim_rule sgd = { .lr = 2e-3, .momentum = 0.9, .decay = 1e-4 };

#endif
