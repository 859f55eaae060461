/* examine_summary.c - means over the objects of a model and an examiner, with intervals. */
#include <math.h>
#include <stdlib.h>

#include "examine/examine_study.h"
#include "fit/bootstrap.h"

static const double FOUND = 0.8;       /* share of the last renders that lie in the region */

/* One number of an object at a point of the curve, as the mean over its seeds. at: its offset in spot_examine_point. */
static double over_seeds(const spot_examine_results *r, const spot_examine_result *first, int object, int k, size_t at)
{
    double sum = 0;
    int n = 0;

    for (int s = 0; s < r->cfg->search.seeds; s++) {
        const char *p = (const char *)&first[s * r->objects + object].point[k];
        const double v = *(const double *)(const void *)(p + at);
        if (isfinite(v)) sum += v, n++;
    }
    return n ? sum / n : NAN;
}

/* learned: only the objects that learned the planted region. */
static spot_interval line_of(const spot_examine_results *r, const spot_examine_result *first, int k, size_t at, bool learned,
                             int threads, double *scratch)
{
    double *value = scratch + SPOT_REDRAWS;
    int n = 0;

    for (int i = 0; i < r->objects; i++)
        if (!learned || first[i].learned == 1) value[n++] = over_seeds(r, first, i, k, at);
    return spot_bootstrap_mean(value, n, 0, threads, scratch);
}

/* Whether the region of an object was found by the end of every search. */
static bool is_found(const spot_examine_results *r, const spot_examine_result *first, int object)
{
    for (int s = 0; s < r->cfg->search.seeds; s++) {
        const spot_examine_result *u = &first[s * r->objects + object];
        if (!(u->point[u->points - 1].inside >= FOUND)) return false;
    }
    return true;
}

/* scratch (SPOT_REDRAWS + objects) */
static void summarise(const spot_examine_results *r, spot_examine_summary *s, int threads, double *scratch)
{
    const spot_examine_result *first = r->unit + (s->model * r->cfg->examiners + s->examiner) * r->cfg->search.seeds
            * r->objects;
    const spot_examine_search search = spot_examine_search_of(r->cfg, &r->cfg->examiner[s->examiner]);

    s->objects = r->objects, s->seeds = r->cfg->search.seeds, s->points = search.points;
    for (int i = 0; i < r->objects; i++) {
        s->start += first[i].start / r->objects;
        if (first[i].learned != 1) continue;
        s->learned++;
        s->found += is_found(r, first, i);
    }
    for (int k = 0; k < s->points; k++) {
        spot_examine_line *l = &s->line[k];
        l->renders = search.point[k];
#define MEAN(field, learned) line_of(r, first, k, offsetof(spot_examine_point, field), learned, threads, scratch)
        l->mean = MEAN(mean, false), l->lowest = MEAN(lowest, false), l->lowest_valid = MEAN(lowest_valid, false);
        l->robust = MEAN(robust, false), l->inside = MEAN(inside, true);
        l->valid = MEAN(valid, false).value;
#undef MEAN
    }
}

spot_status spot_examine_summarise(spot_ctx *c, spot_examine_results *r)
{
    const int examiners = r->cfg->examiners;
    double *scratch = malloc((SPOT_REDRAWS + (size_t)r->objects) * sizeof *scratch);

    r->summaries = r->cfg->models * examiners;
    r->summary = calloc((size_t)r->summaries, sizeof *r->summary);
    if (!scratch || !r->summary)
        return free(scratch), spot_fail(c, SPOT_NOMEM, "no memory for the summary of %d searches", r->units);
    for (int i = 0; i < r->summaries; i++) {
        r->summary[i].model = i / examiners, r->summary[i].examiner = i % examiners;
        summarise(r, &r->summary[i], c->threads, scratch);
    }
    free(scratch);
    return SPOT_OK;
}
