/* shift_gaps.c - classes whose base pictures are harder than real ones, beyond what is so for the source's other classes: the
 * source changes more than its prompt says (the paper's empty plates).
 *
 * The gap of a class is the mean accuracy on its real pictures less that on its base pictures, over the same models. The usual
 * gap is the median of the source's classes, or 0 where base pictures are easier than real ones: a class is confounded when its
 * base pictures are harder than its own real ones, and by more than is usual. A claim about thousands of classes needs
 * correction: p-values are Holm's over all classes of all sources.
 *
 * Answers to one picture are alike: n pictures and M models are worth n M / (1 + (M - 1) r) independent answers, where r is
 * their correlation within pictures. It is that of all classes of the folder, or of the class where that is greater. */
#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "shifts/shifts_config.h"
#include "shifts/shifts_write.h"
#include "stats/means_apart.h"
#include "stats/statistics.h"

enum { MOST_ANSWERS = 2000 };          /* of a class: more tell no more, and the test's time grows with their square */

static int set_of(const spot_shift_result *u) { return u->filtered ? SPOT_SHIFT_KEPT : SPOT_SHIFT_ALL; }

/* The mean of right answers over the pictures of a class that pass and the models. */
static double share_of_class(const spot_shift_result *u, int cls)
{
    const int set = set_of(u), n = u->count[set][cls];
    double right = 0;

    for (int m = 0; m < u->models; m++) right += u->right[set][(size_t)m * (size_t)u->classes + (size_t)cls];
    return n ? right / u->models / n : 0;
}

/* Sums over pictures of the variance of answers to one picture, and to all of a class. */
typedef struct { double within, all; } answer_variance;

static void add_variance(answer_variance *v, const spot_shift_result *u, int cls)
{
    const int n = u->count[set_of(u)][cls];
    const double share = share_of_class(u, cls);

    if (n < 2 || u->models < 2) return;
    v->within += u->split[cls] / ((double)u->models * (u->models - 1));
    v->all += n * share * (1 - share) * n / (n - 1);
}

/* 1 where answers do not vary. */
static double correlation_of(answer_variance v) { return v.all > 0 ? fmin(fmax(1 - v.within / v.all, 0), 1) : 1; }

static double correlation_of_folder(const spot_shift_result *u)
{
    answer_variance v = { 0, 0 };

    for (int k = 0; k < u->classes; k++) add_variance(&v, u, k);
    return correlation_of(v);
}

/* of_folder: the correlation of all classes. A class without two different answers says nothing about its own. */
static spot_counted_mean mean_of_class(const spot_shift_result *u, int cls, double of_folder)
{
    const double answers = (double)u->count[set_of(u)][cls] * u->models;
    answer_variance v = { 0, 0 };

    add_variance(&v, u, cls);
    const double r = v.all > 0 ? fmax(of_folder, correlation_of(v)) : of_folder;
    return (spot_counted_mean){ share_of_class(u, cls), (int)fmin(answers / (1 + (u->models - 1) * r), MOST_ANSWERS) };
}

/* ---- one source ---- */

/* Both folders, and the correlations of answers within pictures in each. */
typedef struct { const spot_shift_result *real, *base; double of_real, of_base; } compared;

static spot_status list_gaps(spot_ctx *c, spot_shift_source_result *s, const compared *f, int least)
{
    const spot_shift_result *real = f->real, *base = f->base;
    double *gap = malloc(((size_t)real->classes + 1) * sizeof *gap);

    s->gap = calloc((size_t)real->classes + 1, sizeof *s->gap);
    if (!gap || !s->gap) return free(gap), spot_fail(c, SPOT_NOMEM, "no memory to compare %d classes", real->classes);
    for (int k = 0; k < real->classes; k++) {
        if (real->count[set_of(real)][k] < least || base->count[set_of(base)][k] < least) continue;
        const spot_counted_mean x = mean_of_class(real, k, f->of_real), y = mean_of_class(base, k, f->of_base);
        const spot_interval v = spot_mean_difference(x, y);
        s->gap[s->gaps] = (spot_shift_gap){ .cls = k, .real = x.mean, .base = y.mean, .gap = v.value, .low = v.low,
                                            .high = v.high };
        gap[s->gaps++] = v.value;
    }
    spot_sort_doubles(gap, (size_t)s->gaps);
    s->median_gap = spot_quantile(gap, s->gaps, 0.5);
    free(gap);
    return SPOT_OK;
}

static double usual_gap(const spot_shift_source_result *s) { return fmax(s->median_gap, 0); }

static spot_status test_gap(spot_ctx *c, spot_shift_gap *g, const compared *f, double usual)
{
    return spot_mean_exceeds(c, &g->p, mean_of_class(f->real, g->cls, f->of_real), mean_of_class(f->base, g->cls, f->of_base),
                             usual);
}

static spot_status test_gaps(spot_ctx *c, spot_shift_source_result *s, const compared *f)
{
    spot_status first = SPOT_OK;

#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
    for (int i = 0; i < s->gaps; i++) {
        const spot_status own = c->stop && *c->stop ? SPOT_STOPPED : test_gap(c, &s->gap[i], f, usual_gap(s));
        if (own != SPOT_OK) {
#pragma omp critical
            first = own;
        }
    }
    return first == SPOT_STOPPED ? spot_check_stop(c) : first;
}

/* ---- all sources ---- */

static int largest_first(const void *a, const void *b)
{
    const spot_shift_gap *x = a, *y = b;

    return x->gap != y->gap ? (x->gap < y->gap ? 1 : -1) : x->cls - y->cls;
}

static spot_status adjust(spot_ctx *c, spot_shifts_results *r)
{
    spot_ranked_p *scratch;
    int n = 0, at = 0;
    double *p;

    for (int s = 0; s < r->sources; s++) n += r->source[s].gaps;
    scratch = malloc(((size_t)n + 1) * (sizeof *scratch + sizeof *p));
    if (!scratch) return spot_fail(c, SPOT_NOMEM, "no memory to compare %d classes", n);
    p = (double *)(scratch + n);
    for (int s = 0; s < r->sources; s++)
        for (int i = 0; i < r->source[s].gaps; i++) p[at++] = r->source[s].gap[i].p;
    spot_holm(p, n, scratch);
    at = 0;
    for (int s = 0; s < r->sources; s++) {
        spot_shift_source_result *v = &r->source[s];
        for (int i = 0; i < v->gaps; i++) {
            spot_shift_gap *g = &v->gap[i];
            g->p = p[at++];
            g->confounded = spot_is_significant(g->p, SPOT_LEVEL) && g->gap - usual_gap(v) >= r->cfg->evaluation.confounded;
        }
        qsort(v->gap, (size_t)v->gaps, sizeof *v->gap, largest_first);
    }
    free(scratch);
    return SPOT_OK;
}

spot_status spot_shift_gaps(spot_ctx *c, spot_shifts_results *r)
{
    const spot_shift_result *real = &r->unit[0];

    if (!r->cfg->data.real[0] || !r->cfg->models) return SPOT_OK;
    for (int m = 0; m < r->cfg->models; m++)
        if (!real->answered[m]) return SPOT_OK;
    for (int s = 0; s < r->sources; s++) {
        const spot_shift_result *base = &r->unit[spot_shift_unit_of(r->cfg, s, SPOT_BASE_PICTURES)];
        const compared f = { real, base, correlation_of_folder(real), correlation_of_folder(base) };
        SPOT_TRY(list_gaps(c, &r->source[s], &f, r->cfg->evaluation.rule.least));
        SPOT_TRY(test_gaps(c, &r->source[s], &f));
    }
    return adjust(c, r);
}
