/* rbf.c - variance matrices: the checked entry, and the CPU's images in order of their places. */
#include "map/rbf_cpu.h"

#include <stdint.h>
#include <string.h>

/* -- images ---------------------------------------------------------------------------------------------------------- */

/* Puts an image among the `held` ones of its target, behind those that are not farther. */
static void insert_image(const spot_rbf_space *o, const spot_rbf_problem *p, int t, int held, float x, int image)
{
    const size_t m = (size_t)p->images, row = (size_t)t * m, plane = (size_t)p->targets * m;
    int at = held;

    for (; at && o->x[row + (size_t)at - 1] > x; at--) o->x[row + (size_t)at] = o->x[row + (size_t)at - 1];
    o->x[row + (size_t)at] = x;
    for (int s = 0; s < p->signals; s++) {
        float *own = o->s + (size_t)s * plane + row;
        memmove(own + at + 1, own + at, (size_t)(held - at) * sizeof *own);
        own[at] = p->signal[(size_t)s * plane + row + (size_t)image];
    }
}

static void sort_responses(float *s, int count)
{
    for (int i = 1; i < count; i++) {
        float own = s[i];
        int at = i;
        for (; at && s[at - 1] > own; at--) s[at] = s[at - 1];
        s[at] = own;
    }
}

/* Images at one place make the same points in any order, so each signal may have its own. */
static void order_places(const spot_rbf_space *o, const spot_rbf_problem *p, int t, int held)
{
    const size_t row = (size_t)t * (size_t)p->images, plane = (size_t)p->targets * (size_t)p->images;

    for (int i = 0, next; o->first && i < held; i = next) {
        for (next = i + 1; next < held && o->x[row + (size_t)next] == o->x[row + (size_t)i];) next++;
        for (int k = i; k < next; k++) {
            o->first[row + (size_t)k] = (uint8_t)i;
            o->last[row + (size_t)k] = (uint8_t)(next - 1);
        }
        for (int s = 0; next - i > 1 && s < p->signals; s++) sort_responses(o->s + (size_t)s * plane + row + i, next - i);
    }
}

static void order_images(const spot_ctx *c, const spot_rbf_space *o, const spot_rbf_config *cfg, const spot_rbf_problem *p)
{
    int absent = 0, outside = 0, unusable = 0;

#pragma omp parallel for num_threads(c->threads) reduction(+ : absent, outside, unusable)
    for (int t = 0; t < p->targets; t++) {
        int held = 0;
        for (int i = 0; i < p->images; i++) {
            size_t at = (size_t)t * (size_t)p->images + (size_t)i;
            int reason = spot_rbf_reason(p, at);
            absent += reason == SPOT_RBF_ABSENT;
            outside += reason == SPOT_RBF_OUTSIDE;
            unusable += reason == SPOT_RBF_UNUSABLE;
            if (reason == SPOT_RBF_REASONS)
                insert_image(o, p, t, held++, spot_rbf_place(cfg, p->range, p->distance[at]), i);
        }
        o->held[t] = held;
        order_places(o, p, t, held);
    }
    p->left_out[SPOT_RBF_ABSENT] = absent;
    p->left_out[SPOT_RBF_OUTSIDE] = outside;
    p->left_out[SPOT_RBF_UNUSABLE] = unusable;
}

/* -- the op ---------------------------------------------------------------------------------------------------------- */

static spot_status matrices_cpu(spot_ctx *c, spot_arena *scratch, const spot_rbf_config *cfg, int problems,
                                const spot_rbf_problem *p)
{
    size_t mark = scratch->used;

    for (int q = 0; q < problems; q++) {
        spot_rbf_space o;
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(spot_rbf_take(c, scratch, &o, cfg, &p[q], c->threads));
        scratch->used = mark;
        if (scratch->counting) continue;
        order_images(c, &o, cfg, &p[q]);
        spot_rbf_fill_bins(c, &o, cfg, &p[q]);
        if (cfg->method == SPOT_RBF_EXACT) spot_rbf_gather(c, &o, cfg, &p[q]);
        else                               spot_rbf_bin_sums(c, &o, cfg, &p[q]);
        spot_rbf_fill_values(c, &o, cfg, &p[q]);
    }
    return SPOT_OK;
}

const spot_rbf_ops spot_rbf_cpu = { .matrices = matrices_cpu };

size_t spot_rbf_scratch(const spot_rbf_config *cfg, int problems, const spot_rbf_problem *p, int threads)
{
    spot_ctx c = { 0 };
    spot_arena a = spot_arena_counting();
    spot_rbf_space o;

    for (int q = 0; q < problems; q++) {
        a.used = 0;
        (void)spot_rbf_take(&c, &a, &o, cfg, &p[q], threads);
    }
    return a.peak;
}

static spot_status check_config(spot_ctx *c, const spot_rbf_config *cfg)
{
    if (cfg->grid < 1 || cfg->grid > SPOT_RBF_GRID || cfg->kernel < 1 || cfg->kernel > SPOT_RBF_KERNEL)
        return spot_fail(c, SPOT_INVALID, "{rbf.window} rbf.matrices: a window of %d cells on a grid of %d; from 1 to %d, and "
                         "to %d", cfg->kernel, cfg->grid, SPOT_RBF_KERNEL, SPOT_RBF_GRID);
    if (cfg->nearest < 1 || cfg->nearest > SPOT_RBF_NEAREST || (unsigned)cfg->method >= SPOT_RBF_METHODS)
        return spot_fail(c, SPOT_INVALID, "{rbf.nearest} rbf.matrices: %d nearest points by method %d; from 1 to %d points",
                         cfg->nearest, (int)cfg->method, SPOT_RBF_NEAREST);
    if (!(cfg->sigma >= 1e-3f && cfg->sigma <= 1e6f))
        return spot_fail(c, SPOT_INVALID, "{rbf.sigma} rbf.matrices: sigma is %g cells; from 0.001 to 1e6", (double)cfg->sigma);
    return SPOT_OK;
}

spot_status spot_rbf_matrices(spot_ctx *c, spot_arena *scratch, const spot_rbf_config *cfg, int problems,
                              const spot_rbf_problem *p)
{
    SPOT_TRY(check_config(c, cfg));
    for (int q = 0; q < problems; q++) {
        if (p[q].targets < 1 || p[q].images < 2 || p[q].images > SPOT_RBF_IMAGES || p[q].signals < 1)
            return spot_fail(c, SPOT_INVALID, "{rbf.sizes} rbf.matrices, problem %d: %d signals of %d targets with %d images; "
                             "an original and from 1 to %d others",
                             q, p[q].signals, p[q].targets, p[q].images, SPOT_RBF_IMAGES - 1);
        if ((int64_t)p[q].targets * p[q].images * (p[q].images - 1) > INT32_MAX)
            return spot_fail(c, SPOT_INVALID, "{rbf.too_many} rbf.matrices, problem %d: %d targets with %d images have 2^31 "
                             "points or more; take fewer targets", q, p[q].targets, p[q].images);
        if (!(p[q].range >= 1e-20f && p[q].range <= 1e20f))
            return spot_fail(c, SPOT_INVALID, "{rbf.axes} rbf.matrices, problem %d: the axes end at %g; from 1e-20 to 1e20", q,
                             (double)p[q].range);
    }
    SPOT_DISPATCH(c, rbf, matrices, scratch, cfg, problems, p);
}
