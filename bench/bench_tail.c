/* bench_tail.c - the ends of a training step: head and loss, forward and backward, the optimizer, and an adversary's steps:
 * their problems for the tests, and what they take on a GPU. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "core/device.h"
#include "core/imagenet.h"
#include "image/raster.h"
#include "op_net.h"

enum { CHECKED = 24, SPARE = 3 };

/* -- head ------------------------------------------------------------------------------------------------------- */

enum { X, W, B, TARGET, PULL, HEAD_IDS };               /* noise of a problem, from its id */

static float target_of(const spot_op_headed *p, size_t i) { return spot_noise(p->id + TARGET, i, SPOT_FP32) > 0; }

/* The results that are no part of a step with sigmoids. A row of activity has more room than channels. */
static void make_softmax(spot_op_run *r, spot_op_headed *p, size_t live, size_t channels, size_t logits)
{
    float *empty = calloc(live * (channels + SPARE), sizeof *empty);

    p->soft_loss = spot_op_out(r, "loss by softmax", SPOT_OP_DOUBLE, 1, 1e-6);
    p->soft_bare = spot_op_out(r, "loss by softmax alone", SPOT_OP_DOUBLE, 1, 1e-6);
    p->soft_dlogit = spot_op_out(r, "gradients by softmax", SPOT_OP_FLOAT, logits, 1e-6);
    for (int k = 0; k < 2; k++)
        p->activity[k] = spot_op_both(r, k ? "activity behind ReLU" : "activity", empty, SPOT_OP_FLOAT,
                                      live * (channels + SPARE), 1e-6);
    free(empty);
}

static void make_head(spot_op_run *r, void *problem, const int *size)
{
    spot_op_headed *p = problem;
    spot_op_tensor t;
    size_t live = (size_t)size[1], channels = (size_t)size[2], outputs = (size_t)size[4], logits = live * outputs;
    float *target = malloc((logits + 1) * sizeof *target);

    *p = (spot_op_headed){ .outputs = size[4], .id = HEAD_IDS * r->number, .precision = (spot_precision)size[5] };
    p->p = (spot_plane){ size[0], size[1], size[2], size[3], p->precision };
    t = spot_op_plane(p->p);
    for (size_t i = 0; target && i < logits; i++) target[i] = target_of(p, i);
    p->target = spot_op_given(r, target, logits * sizeof *target);
    p->x = spot_op_tensor_noise(r, t, p->id + X);
    p->w = spot_op_noise(r, p->id + W, outputs * channels);
    p->b = spot_op_noise(r, p->id + B, outputs);
    if (size[6]) p->dfeature = spot_op_noise(r, p->id + PULL, live * channels);
    p->feature = spot_op_out(r, "features", SPOT_OP_FLOAT, live * channels, 1e-6);
    p->bare = spot_op_out(r, "features alone", SPOT_OP_FLOAT, live * channels, 1e-6);
    p->logit = spot_op_out(r, "logits", SPOT_OP_FLOAT, logits, 1e-6);
    p->loss = spot_op_out(r, "loss", SPOT_OP_DOUBLE, 1, 1e-6);
    p->bare_loss = spot_op_out(r, "loss alone", SPOT_OP_DOUBLE, 1, 1e-6);
    p->dlogit = spot_op_out(r, "gradients of logits", SPOT_OP_FLOAT, logits, 1e-6);
    p->dw = spot_op_out(r, "gradients of weights", SPOT_OP_FLOAT, outputs * channels, 1e-6);
    p->db = spot_op_out(r, "gradients of biases", SPOT_OP_FLOAT, outputs, 1e-6);
    make_softmax(r, p, live, channels, logits);
    p->dx = spot_op_tensor_blank(r, t, SPOT_OP_FLOAT);
    spot_op_tensor_part(r, "gradients of x", p->dx, t, SPOT_OP_FLOAT, p->precision == SPOT_BF16 ? 0x1p-8 : 1e-6, 0);
    if (!r->c->device) p->p.precision = SPOT_FP32;
}

static spot_status there_and_back(spot_op_run *r, const spot_op_headed *p)
{
    SPOT_OP(r, spot_head_forward(r->c, &(spot_head_answers){ p->feature, p->logit, p->x, p->w, p->b }, p->p, p->outputs));
    SPOT_OP(r, spot_head_loss(r->c, p->loss, p->dlogit, p->logit, p->target, p->p.live * p->outputs));
    SPOT_OP(r, spot_head_backward(r->c, &(spot_head_gradients){ p->dx, p->dw, p->db, p->dlogit, p->feature, p->w, p->dfeature },
                                  p->p, p->outputs));
    return SPOT_OK;
}

/* Features alone and the loss alone are calls of their own. */
static spot_status run_head(spot_op_run *r, void *problems, int count)
{
    spot_op_headed *p = problems;

    for (int q = 0; q < count; q++, p++) {
        SPOT_OP(r, spot_head_forward(r->c, &(spot_head_answers){ p->bare, NULL, p->x, NULL, NULL }, p->p, p->outputs));
        SPOT_TRY(there_and_back(r, p));
        SPOT_OP(r, spot_head_loss(r->c, p->bare_loss, NULL, p->logit, p->target, p->p.live * p->outputs));
        SPOT_OP(r, spot_head_softmax(r->c, p->soft_bare, NULL, p->logit, p->target, p->p.live, p->outputs));
        SPOT_OP(r, spot_head_softmax(r->c, p->soft_loss, p->soft_dlogit, p->logit, p->target, p->p.live, p->outputs));
        for (int relu = 0; relu < 2; relu++)
            SPOT_OP(r, spot_head_channels(r->c, p->activity[relu], p->p.channels + SPARE, p->x, p->p, relu));
    }
    return SPOT_OK;
}

/* The mean over pixels of channel k of image n. */
static double mean(const spot_op_headed *p, int n, int k)
{
    int pixels = p->p.size * p->p.size;
    double sum = 0;

    for (int i = 0; i < pixels; i++)
        sum += spot_noise(p->id + X, ((size_t)n * pixels + i) * p->p.channels + k, p->precision) / pixels;
    return sum;
}

static double weight(const spot_op_headed *p, int o, int k)
{
    return spot_noise(p->id + W, (size_t)o * p->p.channels + k, SPOT_FP32);
}

static spot_status check_float(spot_op_run *r, const char *what, const float *v, size_t i, double want, double off)
{
    float got;

    SPOT_TRY(spot_op_fetch(r, &got, v + i, sizeof got));
    return spot_bench_near(r->c, what, i, got, want, off);
}

static double logit_of(const spot_op_headed *p, int n, int o)
{
    double z = spot_noise(p->id + B, (size_t)o, SPOT_FP32);

    for (int k = 0; k < p->p.channels; k++) z += mean(p, n, k) * weight(p, o, k);
    return z;
}

/* The gradient of the last row. */
static spot_status check_softmax(spot_op_run *r, const spot_op_headed *p)
{
    const int n = p->p.live - 1;
    double sum = 0, all = 0;

    for (int o = 0; o < p->outputs; o++) sum += exp(logit_of(p, n, o)), all += target_of(p, (size_t)n * p->outputs + o);
    for (int o = 0; o < p->outputs; o++) {
        size_t i = (size_t)n * p->outputs + o;
        double want = (all * exp(logit_of(p, n, o)) / sum - target_of(p, i)) / p->p.live;
        SPOT_TRY(check_float(r, "gradient by softmax", p->soft_dlogit, i, want, 1e-5));
    }
    return SPOT_OK;
}

static spot_status check_activity(spot_op_run *r, const spot_op_headed *p, bool relu)
{
    const int n = p->p.live - 1, channels = p->p.channels, pixels = p->p.size * p->p.size;
    double least = INFINITY, most = -INFINITY, sum = 0;

    for (int i = 0; i < pixels * channels; i++) {
        double v = spot_noise(p->id + X, (size_t)n * pixels * channels + i, p->precision);
        if (relu) v = fmax(v, 0);
        least = fmin(least, v), most = fmax(most, v);
        if (i % channels == channels - 1) sum += v / pixels;
    }
    return check_float(r, "activity", p->activity[relu], (size_t)n * (channels + SPARE) + channels - 1,
                       (sum - least) / (most - least), 1e-5);
}

/* All logits, the loss of the sigmoids, the gradients of the last channel's weights and of the last live number. */
static spot_status check_head(spot_op_run *r, void *problem)
{
    const spot_op_headed *p = problem;
    const spot_op_tensor t = spot_op_plane(p->p);
    int k = p->p.channels - 1, logits = p->p.live * p->outputs;
    double loss = 0, dx = 0, got;

    if (p->dfeature) dx = spot_noise(p->id + PULL, (size_t)p->p.live * p->p.channels - 1, SPOT_FP32) / t.pixels;
    for (int o = 0; o < p->outputs; o++) {
        double dw = 0, db = 0;
        for (int n = 0; n < p->p.live; n++) {
            size_t i = (size_t)n * p->outputs + o;
            double z = logit_of(p, n, o), y = target_of(p, i), dz;
            loss += (fmax(z, 0) - z * y + log1p(exp(-fabs(z)))) / logits;
            dz = (1 / (1 + exp(-z)) - y) / logits;
            dw += dz * mean(p, n, k), db += dz;
            if (n == p->p.live - 1) dx += dz * weight(p, o, k) / t.pixels;
            SPOT_TRY(check_float(r, "logit", p->logit, i, z, 1e-4));
        }
        SPOT_TRY(check_float(r, "gradient of weight", p->dw, (size_t)o * p->p.channels + k, dw, 1e-5));
        SPOT_TRY(check_float(r, "gradient of bias", p->db, (size_t)o, db, 1e-5));
    }
    SPOT_TRY(spot_op_fetch(r, &got, p->loss, sizeof got));
    SPOT_TRY(spot_bench_near(r->c, "loss", 0, got, loss, 1e-4));
    SPOT_TRY(check_softmax(r, p));
    for (int relu = 0; relu < 2; relu++) SPOT_TRY(check_activity(r, p, relu));
    SPOT_TRY(spot_op_number(r, &got, p->dx, &t, (size_t)p->p.live * t.pixels * t.channels - 1));
    return spot_bench_near(r->c, "gradient of the last number", 0, got, dx, 0x1p-7 * fabs(dx));
}

const spot_op spot_op_head = { "head", sizeof(spot_op_headed), make_head, run_head, check_head, true };

/* -- triplets --------------------------------------------------------------------------------------------------- */

enum { F, CLASS, TRIPLET_IDS };
enum { MIXED, ONE_CLASS, ZEROS, WITH_NAN };

static int class_of(const spot_op_tripled *p, int row)
{
    return p->kind == ONE_CLASS ? 0 : (int)(fabs(spot_noise(p->id + CLASS, (size_t)row, SPOT_FP32)) * 97) % p->t.outputs;
}

static double feature_of(const spot_op_tripled *p, int row, int k)
{
    if (p->kind == ZEROS && row == 1) return 0;
    return spot_noise(p->id + F, (size_t)row * p->t.channels + k, SPOT_FP32);
}

static void make_triplet(spot_op_run *r, void *problem, const int *size)
{
    spot_op_tripled *p = problem;
    const size_t rows = (size_t)size[0], channels = (size_t)size[1], outputs = (size_t)size[2];
    float *f = malloc(rows * channels * sizeof *f), *target = calloc(rows * outputs, sizeof *target);
    const double before = 3;

    *p = (spot_op_tripled){ .t = { size[0], size[1], size[2], size[3] / 10.0, 0.5, NULL, NULL }, .kind = size[4],
                            .id = TRIPLET_IDS * r->number };
    for (size_t i = 0; f && i < rows * channels; i++) f[i] = (float)feature_of(p, (int)(i / channels), (int)(i % channels));
    for (size_t i = 0; target && i < rows; i++) target[i * outputs + (size_t)class_of(p, (int)i)] = 1;
    if (f && p->kind == WITH_NAN) f[channels + 1] = NAN;
    p->t.f = spot_op_given(r, f, rows * channels * sizeof *f);
    p->t.target = spot_op_given(r, target, rows * outputs * sizeof *target);
    p->loss = spot_op_both(r, "loss", &before, SPOT_OP_DOUBLE, 1, 1e-12);
    p->df = spot_op_out(r, "gradients of features", SPOT_OP_FLOAT, rows * channels, 1e-6);
    p->scratch = spot_op_room(r, spot_triplet_scratch(size[0]));
}

static spot_status run_triplet(spot_op_run *r, void *problems, int count)
{
    spot_op_tripled *p = problems;

    for (int q = 0; q < count; q++, p++) SPOT_OP(r, spot_triplet_loss(r->c, p->loss, p->df, &p->t, p->scratch));
    return SPOT_OK;
}

static double distance_of(const spot_op_tripled *p, int i, int j)
{
    double length[2] = { 0 }, sum = 0;

    for (int k = 0; k < p->t.channels; k++) {
        length[0] += feature_of(p, i, k) * feature_of(p, i, k);
        length[1] += feature_of(p, j, k) * feature_of(p, j, k);
    }
    for (int k = 0; k < p->t.channels; k++) {
        const double u = length[0] > 0 ? feature_of(p, i, k) / sqrt(length[0]) : 0,
                     v = length[1] > 0 ? feature_of(p, j, k) / sqrt(length[1]) : 0;
        sum += (u - v) * (u - v);
    }
    return sum;
}

/* The loss from its definition; the gradients are checked on the CPU (tests/test_triplet.c). */
static spot_status check_triplet(spot_op_run *r, void *problem)
{
    const spot_op_tripled *p = problem;
    double got, sum = 0, all = 0;

    SPOT_TRY(spot_op_fetch(r, &got, p->loss, sizeof got));
    if (p->kind == WITH_NAN)
        return isnan(got) ? SPOT_OK : spot_fail(r->c, SPOT_CHECK, "the loss of a batch with a NaN is %g", got);
    for (int a = 0; a < p->t.live; a++)
        for (int i = 0; i < p->t.live; i++) {
            if (i == a || class_of(p, i) != class_of(p, a)) continue;
            const double near = distance_of(p, a, i);
            for (int j = 0; j < p->t.live; j++)
                if (class_of(p, j) != class_of(p, a))
                    sum += fmax(0, near - distance_of(p, a, j) + p->t.margin), all++;
        }
    return spot_bench_near(r->c, "loss", 0, got, 3 + (all > 0 ? p->t.weight * sum / all : 0), 1e-9);
}

const spot_op spot_op_triplet = { "triplet", sizeof(spot_op_tripled), make_triplet, run_triplet, check_triplet, true };

/* -- optimizer -------------------------------------------------------------------------------------------------- */

enum { P, M, G, OPTIM_IDS };

static const spot_optim_rule rules[] = {
    { .kind = SPOT_OPTIM_ADAM, .lr = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .decay = 1e-2 },
    { .lr = 1e-2, .momentum = 0.9, .decay = 1e-3 },
    { .kind = SPOT_OPTIM_RMSPROP, .lr = 1e-3, .momentum = 0.5, .beta2 = 0.99, .epsilon = 1e-8, .decay = 1e-2 },
};

static double rate_of(const spot_op_stepped *p, int step)
{
    static const double part[SPOT_OP_STEPS] = { 1, 0.5, 0, 2 };

    return rules[p->rule].lr * part[step];
}

static void make_course(spot_op_run *r, spot_op_stepped *p)
{
    static const double loss = 0.5;
    static const int none;
    static const uint32_t seen = 7;
    spot_optim_stride strides[SPOT_OP_STEPS];

    for (int i = 0; i < SPOT_OP_STEPS; i++) strides[i] = spot_optim_stride_of(&rules[p->rule], rate_of(p, i), i + 1);
    p->course = (spot_optim_course){ .strides = spot_op_input(r, strides, sizeof strides), .batch = 3,
                                     .loss = spot_op_input(r, &loss, sizeof loss),
                                     .losses = spot_op_out(r, "losses", SPOT_OP_DOUBLE, SPOT_OP_STEPS, 0),
                                     .made = spot_op_both(r, "steps made", &none, SPOT_OP_INT, 1, 0),
                                     .seen = spot_op_both(r, "images seen", &seen, SPOT_OP_INT, 1, 0) };
}

static void make_optim(spot_op_run *r, void *problem, const int *size)
{
    spot_op_stepped *p = problem;
    size_t n = (size_t)size[0];
    const spot_op_tensor t = { 1, 1, 1, size[0], 1, SPOT_BF16, 0 };
    float *none = calloc(n, sizeof *none);

    *p = (spot_op_stepped){ .count = n, .rule = size[1], .replayed = size[2], .id = OPTIM_IDS * r->number };
    p->g = spot_op_noise(r, p->id + G, n);
    for (int k = 0; k < 2; k++) {
        p->p[k] = spot_op_noise(r, p->id + P, n);
        p->m[k] = spot_op_noise(r, p->id + M, n);
        p->v[k] = spot_op_input(r, none, n * sizeof *none);
        spot_op_part(r, k ? "p by a course" : "p", p->p[k], SPOT_OP_FLOAT, n, 0);
        spot_op_part(r, k ? "m by a course" : "m", p->m[k], SPOT_OP_FLOAT, n, 0);
        spot_op_part(r, k ? "v by a course" : "v", p->v[k], SPOT_OP_FLOAT, n, 0);
        if (r->c->device) p->rounded[k] = spot_op_tensor_blank(r, t, SPOT_OP_FLOAT);
        spot_op_tensor_part(r, k ? "bf16 of p by a course" : "bf16 of p", p->rounded[k] ? p->rounded[k] : p->p[k], t,
                            SPOT_OP_FLOAT, 0, 0);
    }
    make_course(r, p);
    free(none);
}

static spot_status step(spot_op_run *r, const spot_op_stepped *p, int k, spot_optim_rule rule)
{
    rule.rounded = p->rounded[k];
    SPOT_OP(r, spot_optim_step(r->c, p->p[k], p->g, p->m[k], p->v[k], p->count, &rule));
    return SPOT_OK;
}

static spot_status replay(spot_op_run *r, const spot_op_stepped *p, const spot_optim_rule *rule)
{
    void *graph = NULL;
    spot_status s;

    SPOT_TRY(spot_device_record(r->c));
    s = step(r, p, 1, *rule);
    if (s == SPOT_OK) s = spot_device_recorded(r->c, &graph);
    for (int t = 0; s == SPOT_OK && t < SPOT_OP_STEPS; t++) s = spot_device_replay(r->c, graph);
    spot_device_forget(r->c, graph);
    return s;
}

static spot_status run_optim(spot_op_run *r, void *problems, int count)
{
    spot_op_stepped *p = problems;

    for (int q = 0; q < count; q++, p++) {
        bool replayed = p->replayed && r->c->device && !r->misplaced;
        spot_optim_rule told = rules[p->rule], by_course = told;
        by_course.course = &p->course;
        for (told.t = 1; told.t <= SPOT_OP_STEPS; told.t++) {
            told.lr = rate_of(p, told.t - 1);
            SPOT_TRY(step(r, p, 0, told));
            if (!replayed) SPOT_TRY(step(r, p, 1, by_course));
        }
        if (replayed) SPOT_TRY(replay(r, p, &by_course));
    }
    return SPOT_OK;
}

/* The formulas in double. */
static void step_in_double(double *p, double *m, double *v, double g, double lr, int t, const spot_optim_rule *rule)
{
    g += rule->decay * *p;
    if (rule->kind == SPOT_OPTIM_ADAM) {
        *m = rule->beta1 * *m + (1 - rule->beta1) * g;
        *v = rule->beta2 * *v + (1 - rule->beta2) * g * g;
        *p -= lr * (*m / (1 - pow(rule->beta1, t))) / (sqrt(*v / (1 - pow(rule->beta2, t))) + rule->epsilon);
    } else if (rule->kind == SPOT_OPTIM_RMSPROP) {
        *v = rule->beta2 * *v + (1 - rule->beta2) * g * g;
        *m = (t == 1 ? 0 : rule->momentum * *m) + g / (sqrt(*v) + rule->epsilon);
        *p -= lr * *m;
    } else {
        *m = t == 1 ? g : rule->momentum * *m + g;
        *p -= lr * *m;
    }
}

/* bf16 of p is p to the nearest, ties to even. */
static spot_status compare_rounded(spot_op_run *r, const spot_op_stepped *s, int k, float *p, uint16_t *rounded)
{
    SPOT_TRY(spot_op_fetch(r, p, s->p[k], s->count * sizeof *p));
    SPOT_TRY(spot_op_fetch(r, rounded, s->rounded[k], s->count * sizeof *rounded));
    for (size_t i = 0; i < s->count; i++)
        if (rounded[i] != spot_bf16_bits(p[i]))
            return spot_fail(r->c, SPOT_CHECK, "parameter %zu, %.9g, has the bits %04x in bf16", i, p[i], rounded[i]);
    return SPOT_OK;
}

static spot_status check_rounded(spot_op_run *r, const spot_op_stepped *s, int k)
{
    float *p = malloc(s->count * sizeof *p);
    uint16_t *rounded = malloc(s->count * sizeof *rounded);
    spot_status done = p && rounded ? compare_rounded(r, s, k, p, rounded)
                                    : spot_fail(r->c, SPOT_NOMEM, "no memory to check the optimizer");

    free(p), free(rounded);
    return done;
}

static spot_status check_optim(spot_op_run *r, void *problem)
{
    const spot_op_stepped *s = problem;
    double losses[SPOT_OP_STEPS];

    for (size_t e = 0; e < CHECKED && e < s->count; e++) {
        size_t i = e ? e * 2654435761u % s->count : s->count - 1;
        double p = spot_noise(s->id + P, i, SPOT_FP32), m = spot_noise(s->id + M, i, SPOT_FP32), v = 0, moved = 0, was = p;
        double g = spot_noise(s->id + G, i, SPOT_FP32);
        for (int t = 1; t <= SPOT_OP_STEPS; t++, moved += fabs(p - was), was = p)
            step_in_double(&p, &m, &v, g, rate_of(s, t - 1), t, &rules[s->rule]);
        for (int k = 0; k < 2; k++) {
            SPOT_TRY(check_float(r, "parameter", s->p[k], i, p, 1e-6 * (fabs(p) + moved)));
            SPOT_TRY(check_float(r, "m of parameter", s->m[k], i, m, 1e-6 * (fabs(m) + fabs(g) + 1)));
            SPOT_TRY(check_float(r, "v of parameter", s->v[k], i, v, 1e-6 * v));
            if (s->rounded[k] && !e) SPOT_TRY(check_rounded(r, s, k));
        }
    }
    SPOT_TRY(spot_op_fetch(r, losses, s->course.losses, sizeof losses));
    for (size_t t = 0; t < SPOT_OP_STEPS; t++) SPOT_TRY(spot_bench_near(r->c, "loss of step", t, losses[t], 0.5, 0));
    return SPOT_OK;
}

const spot_op spot_op_optim = { "optim", sizeof(spot_op_stepped), make_optim, run_optim, check_optim, true };

/* -- adversary -------------------------------------------------------------------------------------------------- */

enum { CLEAN, GRAD, ATTACK_IDS, MOVES = 2 };
enum { FLAT = 1, BROKEN };

/* Pixel values from 0 to 1, ends included, normalised as the raster does. */
static float clean_of(const spot_op_attacked *p, size_t i)
{
    float v = spot_noise(p->id + CLEAN, i, SPOT_FP32), pixel = v < -1 ? 0 : v > 1 ? 1 : (v + 1) / 2;

    return spot_op_rounded((pixel - spot_imagenet[0][i % 3]) / spot_imagenet[1][i % 3], p->image.precision);
}

static float gradient_of(const spot_op_attacked *p, size_t i)
{
    if (p->odd && i < 3 * (size_t)p->image.pixels) return p->odd == FLAT ? 0 : i == 7 ? NAN : 1;
    return spot_noise(p->id + GRAD, i, p->image.precision);
}

static void make_attack(spot_op_run *r, void *problem, const int *size)
{
    spot_op_attacked *p = problem;
    int stem = r->c->ops->conv->stem, made = 5;
    spot_precision precision = (spot_precision)size[6];
    size_t n = (size_t)size[0] * 3 * size[2] * size[2];
    float *v = malloc((n + 1) * sizeof *v);

    *p = (spot_op_attacked){ .p = { size[0], size[1], stem, size[2], r->c->device ? precision : SPOT_FP32 },
                             .image = { size[0], size[1], 3, size[2] * size[2], stem, precision, size[2] },
                             .moved = { size[1], size[1], 3, size[2] * size[2], 3, SPOT_FP32, size[2] },
                             .rule = { .epsilon = size[4] / 10.0, .length = size[5] / 10.0, .random = size[3] == 1,
                                       .signs = size[3] == 2, .seed = 3, .ec = 9 },
                             .id = ATTACK_IDS * r->number, .odd = size[7] };
    p->rule.made = spot_op_input(r, &made, sizeof made);
    for (size_t i = 0; v && i < n; i++) v[i] = clean_of(p, i);
    if (v) p->clean = spot_op_tensor_of(r, p->image, v);
    for (size_t i = 0; v && i < n; i++) v[i] = gradient_of(p, i);
    if (v) p->grad = spot_op_tensor_of(r, p->image, v);
    else if (r->status == SPOT_OK) r->status = spot_fail(r->c, SPOT_NOMEM, "no memory for the problems of attack");
    p->x = spot_op_tensor_blank(r, p->image, SPOT_OP_FLOAT);
    p->d = spot_op_tensor_blank(r, p->moved, SPOT_OP_FLOAT);
    /* |d| is at most epsilon: each number within 1e-6 of epsilon; x, too, divided by a deviation */
    spot_op_tensor_part(r, "d", p->d, p->moved, SPOT_OP_FLOAT, 5e-7, p->rule.epsilon);
    if (precision == SPOT_BF16)
        spot_op_tensor_part(r, "x", p->x, p->image, SPOT_OP_FLOAT, 0x1p-8, 0x1p8 * 1e-6 * (1 + p->rule.epsilon / 0.2));
    else
        spot_op_tensor_part(r, "x", p->x, p->image, SPOT_OP_FLOAT, 2.5e-7, 1 + p->rule.epsilon / 0.2);
    free(v);
}

static spot_status move(spot_op_run *r, const spot_op_attacked *p)
{
    SPOT_OP(r, spot_attack_move(r->c, p->x, p->d, p->clean, p->grad, p->p, &p->rule));
    return SPOT_OK;
}

static spot_status run_attack(spot_op_run *r, void *problems, int count)
{
    spot_op_attacked *p = problems;

    for (int q = 0; q < count; q++, p++) {
        SPOT_OP(r, spot_attack_start(r->c, p->x, p->d, p->clean, p->p, &p->rule));
        for (int i = 0; i < MOVES; i++) SPOT_TRY(move(r, p));
    }
    return SPOT_OK;
}

static double length_of(const double *v, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) sum += v[i] * v[i];
    return sqrt(sum);
}

static double cut(const spot_op_attacked *p, size_t i, double d)
{
    double pixel = (double)clean_of(p, i) * spot_imagenet[1][i % 3] + spot_imagenet[0][i % 3];

    return fmin(fmax(pixel + d, 0), 1) - pixel;
}

static double by_sign(const spot_op_attacked *p, double d, double g)
{
    return fmin(fmax(d + p->rule.length * ((g > 0) - (g < 0)), -p->rule.epsilon), p->rule.epsilon);
}

/* A start that is not random and the moves of image `image`, from the text of attack.h. In bf16 a clean pixel may lie outside
 * [0, 1], and the start cuts it. */
static void move_in_double(const spot_op_attacked *p, size_t image, double *d, double *g)
{
    size_t n = 3 * (size_t)p->image.pixels, from = image * n;
    double steep, far;

    for (size_t i = 0; i < n; i++) g[i] = gradient_of(p, from + i) / (double)spot_imagenet[1][i % 3];
    for (size_t i = 0; i < n; i++) d[i] = cut(p, from + i, 0);
    steep = length_of(g, n);
    for (int k = 0; k < MOVES; k++) {
        for (size_t i = 0; i < n && p->rule.signs; i++) d[i] = by_sign(p, d[i], g[i]);
        for (size_t i = 0; i < n && steep > 0 && !p->rule.signs; i++) d[i] += p->rule.length * g[i] / steep;
        far = p->rule.signs ? 0 : length_of(d, n);
        for (size_t i = 0; i < n; i++) d[i] = cut(p, from + i, far > p->rule.epsilon ? d[i] * p->rule.epsilon / far : d[i]);
    }
}

/* One image's d, x; scratch: two images in double. A random start is not computed again: its d lies in the ball. */
static spot_status compare_image(spot_op_run *r, const spot_op_attacked *p, size_t image, const float *d, const float *x,
                                 double *scratch)
{
    size_t n = 3 * (size_t)p->image.pixels, from = image * n;
    double *want = scratch, last_place = p->image.precision == SPOT_BF16 ? 0x1p-8 : 0;

    move_in_double(p, image, want, scratch + n);
    for (size_t i = 0; i < n; i++) {
        float clean = clean_of(p, from + i), std = spot_imagenet[1][i % 3], pixel = clean * std + spot_imagenet[0][i % 3];
        double moved = clean + d[from + i] / std;
        if (!p->rule.random) SPOT_TRY(spot_bench_near(r->c, "d", from + i, d[from + i], want[i], 1e-6 * p->rule.epsilon));
        SPOT_TRY(spot_bench_near(r->c, "pixel", from + i, pixel + d[from + i], 0.5, 0.5 + 1e-6));
        SPOT_TRY(spot_bench_near(r->c, "x", from + i, x[from + i], moved, 1e-5 + last_place * fabs(moved)));
        want[i] = d[from + i];
    }
    if (p->rule.signs || length_of(want, n) <= p->rule.epsilon * (1 + 1e-6)) return SPOT_OK;
    return spot_fail(r->c, SPOT_CHECK, "image %zu is %g from where it was, at most %g are allowed", image, length_of(want, n),
                     p->rule.epsilon);
}

static spot_status check_images(spot_op_run *r, const spot_op_attacked *p, float *d, float *x, double *scratch)
{
    const spot_op_result result[2] = {
        { .what = "d", .p = p->d, .kind = SPOT_OP_FLOAT, .count = spot_op_numbers(&p->moved), .off = 1, .tensor = p->moved },
        { .what = "x", .p = p->x, .kind = SPOT_OP_FLOAT, .count = spot_op_numbers(&p->image), .off = 1, .tensor = p->image },
    };

    SPOT_TRY(spot_op_result_back(r, d, &result[0]));
    SPOT_TRY(spot_op_result_back(r, x, &result[1]));
    for (int n = p->odd == BROKEN; n < p->image.live; n++)
        SPOT_TRY(compare_image(r, p, (size_t)n, d, x, scratch));
    for (size_t i = 0; p->odd == BROKEN && i < 3 * (size_t)p->image.pixels; i++)
        if (isnan(d[i]) != (!p->rule.signs || i == 7))
            return spot_fail(r->c, SPOT_CHECK, "number %zu is %g after a gradient with a NaN", i, d[i]);
    return SPOT_OK;
}

static spot_status check_attack(spot_op_run *r, void *problem)
{
    const spot_op_attacked *p = problem;
    size_t n = spot_op_numbers(&p->image);
    float *d = malloc(2 * n * sizeof *d);
    double *scratch = malloc(6 * (size_t)p->image.pixels * sizeof *scratch);
    spot_status s = d && scratch ? check_images(r, p, d, d + n, scratch)
                                 : spot_fail(r->c, SPOT_NOMEM, "no memory to check an attack");

    free(d), free(scratch);
    return s;
}

const spot_op spot_op_attack = { "attack", sizeof(spot_op_attacked), make_attack, run_attack, check_attack, true };

/* -- timed passes ------------------------------------------------------------------------------------------------ */

static spot_status open_op(spot_ctx *c, void **state, const spot_op *op, const int size[SPOT_OP_SIZES])
{
    spot_op_run *r = NULL;
    spot_status s = spot_op_open(c, &r, op, 1, (const int(*)[SPOT_OP_SIZES])size, 1, 1, false);

    *state = r;
    return s;
}

/* size: channels, pixels a side, images, precision; one output. x is read, dx written. */
static spot_status open_head(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    work->items = size[2];
    work->bytes = 2.0 * size[2] * size[0] * size[1] * size[1] * (double)spot_precision_bytes((spot_precision)size[3]);
    return open_op(c, state, &spot_op_head, (int[SPOT_OP_SIZES]){ size[2], size[2], size[0], size[1], 1, size[3] });
}

static spot_status head(spot_ctx *c, void *state)
{
    (void)c;
    return there_and_back(state, ((spot_op_run *)state)->problem);
}

/* size: parameters. Read: p, g, m, v. Written: p, m, v and the bf16 weights for convolutions. */
static spot_status open_optim(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    work->items = size[0];
    work->bytes = (4 * 4 + 3 * 4 + 2) * (double)size[0];
    return open_op(c, state, &spot_op_optim, (int[SPOT_OP_SIZES]){ size[0], 0, 0 });
}

static spot_status optim(spot_ctx *c, void *state)
{
    spot_optim_rule rule = rules[0];

    (void)c;
    rule.t = 10;
    return step(state, ((spot_op_run *)state)->problem, 0, rule);
}

/* size: pixels a side, images, precision. clean is read once and the gradient twice, d twice; d is written twice, x once. */
static spot_status open_attack(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    double pixels = (double)size[1] * size[0] * size[0], each = (double)spot_precision_bytes((spot_precision)size[2]);

    work->items = size[1];
    work->bytes = pixels * (4 * 8 * each + 4 * 3 * sizeof(float));
    return open_op(c, state, &spot_op_attack, (int[SPOT_OP_SIZES]){ size[1], size[1], size[0], false, 15, 10, size[2], 0 });
}

static spot_status attack(spot_ctx *c, void *state)
{
    (void)c;
    return move(state, ((spot_op_run *)state)->problem);
}

#define KIND(name) static const spot_bench_kind kind_##name = { open_##name, spot_op_bench_check, name, spot_op_bench_close }
KIND(head);
KIND(optim);
KIND(attack);

const spot_bench_row spot_bench_tail[] = {
    { "head", "512 channels, 7 px, batch 256, bf16, there and back", "images", SPOT_ON_CUDA, &kind_head,
      { 512, 7, 256, SPOT_BF16 }, { 32, 3, 4, SPOT_BF16 } },
    { "optim", "Adam, 11.2 million parameters, bf16 copies", "parameters", SPOT_ON_CUDA, &kind_optim, { 11177537 }, { 1500 } },
    { "attack", "a move, 224 px, batch 256, bf16", "images", SPOT_ON_CUDA, &kind_attack, { 224, 256, SPOT_BF16 },
      { 10, 2, SPOT_BF16 } },
    { 0 },
};
