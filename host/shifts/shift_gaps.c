/* shift_gaps.c - classes whose base pictures are harder than real ones, beyond what is so for the source's other classes: the
 * source changes more than its prompt says (the paper's empty plates).
 *
 * The value of a picture is the share of models that answer it right. The gap of a class is the mean of real minus that of base
 * pictures. A claim about thousands of classes needs correction: p-values are Holm's over all classes of all sources. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/order.h"
#include "shifts/shift_result.h"
#include "shifts/shifts_config.h"
#include "shifts/shifts_write.h"
#include "stats/statistics.h"

/* The values of a folder's pictures that pass, class after class: class k has value[from[k] .. from[k + 1] - 1]. */
typedef struct { double *value; int *from; } sample;

static void close_sample(sample *x)
{
    free(x->value);
    free(x->from);
}

static spot_status read_sample(spot_ctx *c, sample *x, const spot_shift_result *u, const char *dir)
{
    spot_shift_pictures_result p = { 0 };
    spot_status s = spot_shift_pictures_read(c, &p, dir, u);
    int used = 0, cls = 0;

    x->value = malloc(((size_t)u->pictures + 1) * sizeof *x->value);
    x->from = malloc(((size_t)u->classes + 1) * sizeof *x->from);
    if (s == SPOT_OK && (!x->value || !x->from)) s = spot_fail(c, SPOT_NOMEM, "no memory to compare classes");
    for (int i = 0; i < p.n && s == SPOT_OK; i++) {
        while (cls <= p.cls[i]) x->from[cls++] = used;
        if ((p.pass[i] & 3) == 3) x->value[used++] = (double)p.right[i] / u->models;
    }
    while (s == SPOT_OK && cls <= u->classes) x->from[cls++] = used;
    spot_shift_pictures_free(&p);
    return s;
}

static double mean_of_class(const sample *x, int k)
{
    double sum = 0;

    for (int i = x->from[k]; i < x->from[k + 1]; i++) sum += x->value[i];
    return sum / (x->from[k + 1] - x->from[k]);
}

/* ---- one source ---- */

static spot_status list_gaps(spot_ctx *c, spot_shift_source_result *s, const sample *real, const sample *base, int classes,
                             const spot_shift_rule *rule)
{
    double *gap = malloc(((size_t)classes + 1) * sizeof *gap);

    s->gap = calloc((size_t)classes + 1, sizeof *s->gap);
    if (!gap || !s->gap) return free(gap), spot_fail(c, SPOT_NOMEM, "no memory to compare %d classes", classes);
    for (int k = 0; k < classes; k++) {
        if (real->from[k + 1] - real->from[k] < rule->least || base->from[k + 1] - base->from[k] < rule->least) continue;
        spot_shift_gap *g = &s->gap[s->gaps];
        *g = (spot_shift_gap){ .cls = k, .real = mean_of_class(real, k), .base = mean_of_class(base, k) };
        gap[s->gaps++] = g->gap = g->real - g->base;
    }
    spot_sort_doubles(gap, (size_t)s->gaps);
    s->median_gap = spot_quantile(gap, s->gaps, 0.5);
    free(gap);
    return SPOT_OK;
}

/* The interval and p of a gap minus the median gap: real pictures against base pictures moved by the median. */
static spot_status test_gap(spot_ctx *c, spot_shift_gap *g, const sample *real, const sample *base, double median,
                            uint32_t address)
{
    const int n = real->from[g->cls + 1] - real->from[g->cls], m = base->from[g->cls + 1] - base->from[g->cls];
    double *moved = malloc((size_t)m * sizeof *moved);
    spot_difference d;
    spot_status s;

    if (!moved) return spot_fail(c, SPOT_NOMEM, "no memory to compare classes");
    for (int i = 0; i < m; i++) moved[i] = base->value[base->from[g->cls] + i] + median;
    s = spot_difference_of(c, &d, real->value + real->from[g->cls], n, moved, m, address);
    free(moved);
    if (s != SPOT_OK) return s;
    g->low = d.low + median, g->high = d.high + median;
    g->p = d.mean > 0 ? d.p : 1;
    return SPOT_OK;
}

static spot_status test_gaps(spot_ctx *c, spot_shift_source_result *s, const sample *real, const sample *base, int source)
{
    spot_status first = SPOT_OK;

#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
    for (int i = 0; i < s->gaps; i++) {
        spot_status own = c->stop && *c->stop ? SPOT_STOPPED
                        : test_gap(c, &s->gap[i], real, base, s->median_gap, (uint32_t)source << 24 | (uint32_t)s->gap[i].cls);
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
            g->confounded = spot_is_significant(g->p, SPOT_LEVEL) && g->gap - v->median_gap >= r->cfg->evaluation.confounded;
        }
        qsort(v->gap, (size_t)v->gaps, sizeof *v->gap, largest_first);
    }
    free(scratch);
    return SPOT_OK;
}

static spot_status compare_source(spot_ctx *c, spot_shifts_results *r, const sample *real, int source, const char *dir)
{
    const spot_shift_result *base = &r->unit[spot_shift_unit_of(r->cfg, source, SPOT_BASE_PICTURES)];
    sample x = { NULL, NULL };
    spot_status s = read_sample(c, &x, base, dir);

    if (s == SPOT_OK) s = list_gaps(c, &r->source[source], real, &x, base->classes, &r->cfg->evaluation.rule);
    if (s == SPOT_OK) s = test_gaps(c, &r->source[source], real, &x, source);
    close_sample(&x);
    return s;
}

static bool has_file(const char *dir, int unit)
{
    char path[1300];

    spot_shift_pictures_path(path, sizeof path, dir, unit);
    return !access(path, F_OK);
}

spot_status spot_shift_gaps(spot_ctx *c, spot_shifts_results *r, const char *dir)
{
    sample real = { NULL, NULL };
    spot_status s;

    if (!r->cfg->data.real[0] || !r->cfg->models) return SPOT_OK;
    for (int m = 0; m < r->cfg->models; m++)
        if (!r->unit[0].answered[m]) return SPOT_OK;
    for (int u = 0; u < r->units; u++)
        if (r->unit[u].shift < 0 && !has_file(dir, u)) {
            spot_log(c, SPOT_LOG_WARN, "%s has no files of pictures, which the search for confounded classes needs", dir);
            return SPOT_OK;
        }
    s = read_sample(c, &real, &r->unit[0], dir);
    for (int i = 0; i < r->sources && s == SPOT_OK; i++) s = compare_source(c, r, &real, i, dir);
    close_sample(&real);
    return s == SPOT_OK ? adjust(c, r) : s;
}
