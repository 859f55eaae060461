/* scvis.c - scvis' training loop on the CPU: input, batches, noise, Adam. One step is scvis_net.c. */
#include "map/scvis.h"

#include <math.h>
#include <string.h>

#include "core/column_sums.h"
#include "core/team.h"
#include "map/distance.h"
#include "map/scvis_net.h"
#include "spotter/rng.h"

enum { TELL_EVERY = 50, CACHED = SPOT_SCVIS_CACHED };

#define KEEP SPOT_SCVIS_KEEP
#define BETA1 SPOT_SCVIS_BETA1
#define BETA2 SPOT_SCVIS_BETA2

typedef struct {
    spot_scvis_net net;
    float *x;                 /* (n, d): the network's input */
    float *far;               /* (n, n), or (batch, batch) when n is large */
    uint32_t *order;          /* (n): rows of an epoch */
    float *m, *v;             /* (params): Adam's moments */
} trainer;

int spot_scvis_iterations(int n, const spot_scvis_config *cfg)
{
    int batch = cfg->batch < n ? cfg->batch : n;
    double per_epoch = nearbyint((double)n / batch), total = 100 * per_epoch;

    if (cfg->iterations) return cfg->iterations;
    if (total < 3000) return 3000;
    return (int)(total <= 30000 ? total : fmax(30000, 2 * per_epoch));
}

size_t spot_scvis_params(int d, int dim)
{
    spot_ctx c = { 0 };
    spot_arena a = spot_arena_counting();
    spot_scvis_config cfg = { .perplexity = 2 };
    spot_scvis_net net;

    spot_scvis_net_take(&c, &a, &net, d, dim, 1, &cfg);
    return net.params;
}

/* Divided by the largest magnitude, or standardised by column. Constant columns become 0 then. */
static void prepare_input(float *out, const spot_scvis_problem *s, int max_abs)
{
    size_t n = s->n, d = s->d;
    float largest = 0;

    if (max_abs) {
        for (size_t e = 0; e < n * d; e++) largest = fmaxf(largest, fabsf(s->x[e]));
        for (size_t e = 0; e < n * d; e++) out[e] = largest > 0 ? s->x[e] / largest : 0.0f;
        return;
    }
    for (size_t j = 0; j < d; j++) {
        double mean, squares;
        spot_column_means(&mean, s->x, s->n, s->d, (int)j, 1);
        spot_column_squares(&squares, &mean, s->x, s->n, s->d, (int)j, 1);
        double scale = squares > 0 ? sqrt((double)n / squares) : 0;
        for (size_t i = 0; i < n; i++) out[i * d + j] = (float)((s->x[i * d + j] - mean) * scale);
    }
}

/* Weights: normal, redrawn beyond two standard deviations of sqrt(2 / inputs). Biases 0.1, degrees of freedom 1. */
static void init_weights(trainer *t, const spot_scvis_problem *s)
{
    spot_scvis_net *net = &t->net;

    for (int l = 0; l < SPOT_SCVIS_LAYERS; l++) {
        const spot_scvis_layer *y = &net->layer[l];
        spot_rng r = spot_rng_at(s->seed, SPOT_RNG_SCVIS_INIT, s->ec, (uint32_t)l);
        double sd = sqrt(2.0 / y->in), z;
        for (int e = 0; e < y->in * y->out; e++) {
            while (fabs(z = spot_rng_normal(&r)) > 2) continue;
            net->theta[y->weight + e] = (float)(z * sd);
        }
        for (int o = 0; o < y->out; o++) net->theta[y->bias + o] = 0.1f;
    }
    for (int j = 0; j < net->d; j++) net->theta[net->freedom + j] = 1.0f;
    memset(t->m, 0, net->params * sizeof *t->m);
    memset(t->v, 0, net->params * sizeof *t->v);
    for (int q = 0; q < net->pieces; q++) spot_scvis_refresh(net, &net->piece[q]);
}

/* The batch that begins at *at of the epoch; a slice that would run past the end begins a new epoch, so the tail is dropped.
 * Without drop_tail a tail of 4 rows or more is a batch of its own. */
static void next_batch(trainer *t, const spot_scvis_problem *s, int *at, uint32_t *epoch)
{
    int left = s->n - *at, rows = t->net.batch;

    if (left < rows && (t->net.cfg->compat.drop_tail || left < 4)) {
        spot_rng r = spot_rng_at(s->seed, SPOT_RNG_SCVIS_BATCH, s->ec, (*epoch)++);
        spot_rng_shuffle(&r, t->order, (uint32_t)s->n);
        *at = 0;
        left = s->n;
    }
    t->net.rows = left < rows ? left : rows;
    memcpy(t->net.row, t->order + *at, t->net.rows * sizeof *t->net.row);
    *at += t->net.rows;
}

/* Rows, noise and mask of the step. The noise is one stream a step; a tile of rows skips to its part: two words a normal
 * number, four words a block. */
static spot_status fill_batch(spot_ctx *c, trainer *t, const spot_scvis_problem *s)
{
    spot_scvis_net *net = &t->net;
    spot_rng drop = spot_rng_at(s->seed, SPOT_RNG_SCVIS_DROP, s->ec, (uint32_t)net->step);

#pragma omp parallel for num_threads(net->threads) schedule(dynamic)
    for (int r = 0; r < net->rows; r += SPOT_SCVIS_TILE) {
        spot_rng noise = spot_rng_at(s->seed, SPOT_RNG_SCVIS_NOISE, s->ec, (uint32_t)net->step);
        noise.counter[0] = (uint32_t)(r * net->dim / 2);
        for (int i = r; i < r + SPOT_SCVIS_TILE && i < net->rows; i++) {
            memcpy(net->x + (size_t)i * s->d, t->x + (size_t)net->row[i] * s->d, s->d * sizeof *t->x);
            for (int k = 0; k < net->dim; k++) net->noise[i * net->dim + k] = (float)spot_rng_normal(&noise);
        }
    }
    for (int e = 0; e < 32 * net->dim; e++)
        net->keep[e] = !net->cfg->compat.weight_dropout ? 1.0f : spot_rng_uniform(&drop) < KEEP ? (float)(1 / KEEP) : 0.0f;
    if (s->n <= CACHED) return SPOT_OK;
    for (int i = 0; i < net->rows; i++) net->row[i] = (uint32_t)i;
    spot_mat x = { net->x, net->rows, s->d }, d = { t->far, net->rows, net->rows };
    net->far_stride = net->rows;
    return spot_distance_squared(c, 1, &d, &x, &x);
}

typedef struct { double lr, eps, shrink; } adam;

static inline void adam_step(trainer *t, adam how, size_t begin, size_t count, float limit)
{
    float lr = (float)how.lr, eps = (float)how.eps, shrink = (float)how.shrink;
    float *theta = t->net.theta + begin, *m = t->m + begin, *v = t->v + begin;
    const float *grad = t->net.grad + begin;

#pragma omp simd
    for (size_t e = 0; e < count; e++) {
        float g = grad[e] * shrink;
        g = g > limit ? limit : g < -limit ? -limit : g;
        m[e] = fmaf((float)(1 - BETA1), g - m[e], m[e]);
        v[e] = fmaf((float)(1 - BETA2), g * g - v[e], v[e]);
        theta[e] -= lr * m[e] / (sqrtf(v[e]) + eps);
    }
}

/* Adam with TensorFlow's epsilon (outside the bias correction). The gradient's norm is cut to 10, then each element. */
static void update_weights(trainer *t, double norm)
{
    spot_scvis_net *net = &t->net;
    double b1 = pow(BETA1, net->step), b2 = pow(BETA2, net->step);
    adam how = { net->cfg->lr * sqrt(1 - b2) / (1 - b1), net->cfg->compat.adam_eps ? 1e-3 : 1e-8,
                 SPOT_SCVIS_NORM / fmax(norm, SPOT_SCVIS_NORM) };

#pragma omp parallel for num_threads(net->threads) schedule(dynamic)
    for (int q = 0; q < net->pieces; q++) {
        const spot_scvis_piece *piece = &net->piece[q];
        const spot_scvis_layer *y = &net->layer[piece->layer < 0 ? 0 : piece->layer];
        float limit = piece->layer == SIGMA ? 0.3f : 3.0f;

        if (piece->layer < 0) adam_step(t, how, net->freedom, net->d, limit);
        else adam_step(t, how, y->weight + (size_t)piece->row * y->out, (size_t)piece->rows * y->out, limit);
        if (piece->layer >= 0 && !piece->row) adam_step(t, how, y->bias, y->out, limit);
        spot_scvis_refresh(net, piece);
    }
}

static double norm_of(const spot_scvis_net *net)
{
    double squares = 0;

    for (int q = 0; q < net->pieces; q++) squares += net->piece[q].squares;
    return sqrt(squares);
}

static void read_map(trainer *t, spot_scvis_problem *s)
{
    for (int i = 0; i < s->n; i += t->net.rows) {
        t->net.rows = s->n - i < t->net.batch ? s->n - i : t->net.batch;
        memcpy(t->net.x, t->x + (size_t)i * s->d, (size_t)t->net.rows * s->d * sizeof *t->x);
        spot_scvis_encode(&t->net, s->map + (size_t)i * s->dim);
    }
}

static spot_status train_one(spot_ctx *c, trainer *t, spot_scvis_problem *s, int threads)
{
    int total = s->iterations, at = s->n;
    spot_team team = spot_team_of(threads);
    uint32_t epoch = 0;
    spot_mat x = { t->x, s->n, s->d }, far = { t->far, s->n, s->n };

    t->net.threads = threads;
    t->net.far = t->far;
    t->net.far_stride = s->n;
    prepare_input(t->x, s, t->net.cfg->compat.max_abs);
    if (s->n <= CACHED) SPOT_TRY(spot_distance_squared(c, 1, &far, &x, &x));
    init_weights(t, s);
    for (int step = 1; step <= total; step++) {
        t->net.step = step;
        next_batch(t, s, &at, &epoch);
        SPOT_TRY(fill_batch(c, t, s));
        s->loss = spot_scvis_step(&t->net);
        double norm = norm_of(&t->net);
        if (!isfinite(s->loss) || !isfinite(norm))
            return spot_fail(c, SPOT_NUMERIC, "{scvis.diverged} scvis of %s left the finite numbers at iteration %d; lower "
                             "scvis.lr", spot_label_of(c, s->ec).text, step);
        update_weights(t, norm);
        t->net.threads = spot_team_step(&team);
        if (step % TELL_EVERY && step != total) continue;
        SPOT_TRY(spot_check_stop(c));
        spot_tell(c, "scvis", (int)s->ec, step, total, "");
    }
    read_map(t, s);
    return SPOT_OK;
}

static spot_status take_trainer(spot_ctx *c, spot_arena *a, trainer *t, const spot_scvis_problem *s,
                                const spot_scvis_config *cfg)
{
    int batch = cfg->batch < s->n ? cfg->batch : s->n;
    size_t n = s->n, side = s->n <= CACHED ? s->n : batch;

    SPOT_TRY(spot_scvis_net_take(c, a, &t->net, s->d, s->dim, batch, cfg));
    SPOT_TRY(SPOT_TAKE(c, a, t->x, n * s->d));
    SPOT_TRY(SPOT_TAKE(c, a, t->far, side * side));
    SPOT_TRY(SPOT_TAKE(c, a, t->order, n));
    SPOT_TRY(SPOT_TAKE(c, a, t->m, t->net.params));
    return SPOT_TAKE(c, a, t->v, t->net.params);
}

/* Rounds of problems: one problem a thread, or, when problems are few, all threads on each in turn. The next round uses the
 * same memory. */
static spot_status fit_cpu(spot_ctx *c, spot_arena *scratch, int problems, spot_scvis_problem *s, const spot_scvis_config *cfg)
{
    size_t mark = scratch->used;
    int abreast = spot_abreast(problems, c->threads), inner = abreast == 1 ? c->threads : 1;
    spot_status status = SPOT_OK;

    for (int p0 = 0; p0 < problems && status == SPOT_OK; p0 += abreast) {
        int round = problems - p0 < abreast ? problems - p0 : abreast;
        trainer t[abreast];

        scratch->used = mark;
        for (int p = 0; p < round; p++) SPOT_TRY(take_trainer(c, scratch, &t[p], &s[p0 + p], cfg));
        if (scratch->counting) continue;
#pragma omp parallel for num_threads(abreast) schedule(static, 1)
        for (int p = 0; p < round; p++) {
            spot_status one = train_one(c, &t[p], &s[p0 + p], inner);
            if (one != SPOT_OK)
#pragma omp critical(spot_scvis_status)
                status = one;
        }
    }
    scratch->used = mark;
    return status;
}

static spot_status gradient_cpu(spot_ctx *c, spot_arena *scratch, const spot_scvis_batch *b, const spot_scvis_config *cfg,
                                float *gradient, double *loss, double *norm)
{
    size_t mark = scratch->used;
    spot_scvis_net net;
    float *far;

    SPOT_TRY(spot_scvis_net_take(c, scratch, &net, b->d, b->dim, b->rows, cfg));
    SPOT_TRY(SPOT_TAKE(c, scratch, far, (size_t)b->rows * b->rows));
    net.rows = b->rows;
    net.step = b->step;
    net.far = far;
    net.far_stride = b->rows;
    memcpy(net.theta, b->params, net.params * sizeof *net.theta);
    memcpy(net.x, b->x, (size_t)b->rows * b->d * sizeof *net.x);
    memcpy(net.noise, b->noise, (size_t)b->rows * b->dim * sizeof *net.noise);
    for (int e = 0; e < 32 * b->dim; e++) net.keep[e] = cfg->compat.weight_dropout ? (float)(b->keep[e] / KEEP) : 1.0f;
    for (int i = 0; i < b->rows; i++) net.row[i] = (uint32_t)i;
    for (int q = 0; q < net.pieces; q++) spot_scvis_refresh(&net, &net.piece[q]);
    spot_mat x = { net.x, b->rows, b->d }, d = { far, b->rows, b->rows };
    SPOT_TRY(spot_distance_squared(c, 1, &d, &x, &x));
    *loss = spot_scvis_step(&net);
    *norm = norm_of(&net);
    memcpy(gradient, net.grad, net.params * sizeof *gradient);
    scratch->used = mark;
    return SPOT_OK;
}

const spot_scvis_ops spot_scvis_cpu = { .fit = fit_cpu, .gradient = gradient_cpu };

spot_status spot_scvis_fit(spot_ctx *c, spot_arena *scratch, int problems, spot_scvis_problem *s, const spot_scvis_config *cfg)
{
    for (int p = 0; p < problems; p++)
        if (s[p].n < 4 || s[p].d < 1 || s[p].dim < 1)
            return spot_fail(c, SPOT_INVALID, "scvis.fit, problem %d: (%d,%d) to %d dimensions", p, s[p].n, s[p].d, s[p].dim);
    if (cfg->batch < 4 || !(cfg->perplexity >= 1) || !(cfg->lr > 0) || !(cfg->l2 >= 0) || cfg->iterations < 0)
        return spot_fail(c, SPOT_INVALID, "scvis.fit: batch %d, perplexity %g, lr %g, l2 %g, %d iterations", cfg->batch,
                         cfg->perplexity, cfg->lr, cfg->l2, cfg->iterations);
    for (int p = 0; p < problems; p++) s[p].iterations = spot_scvis_iterations(s[p].n, cfg);
    SPOT_DISPATCH(c, scvis, fit, scratch, problems, s, cfg);
}

spot_status spot_scvis_gradient(spot_ctx *c, spot_arena *scratch, const spot_scvis_batch *b, const spot_scvis_config *cfg,
                                float *gradient, double *loss, double *norm)
{
    if (b->rows < 4 || b->d < 1 || b->dim < 1 || b->step < 1)
        return spot_fail(c, SPOT_INVALID, "scvis.gradient: (%d,%d) to %d dimensions, step %d", b->rows, b->d, b->dim, b->step);
    SPOT_DISPATCH(c, scvis, gradient, scratch, b, cfg, gradient, loss, norm);
}
