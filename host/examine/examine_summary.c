/* examine_summary.c - means over the objects of a model and an examiner, with intervals. */
#include <math.h>
#include <stdlib.h>

#include "examine/examine_study.h"
#include "stats/bootstrap.h"

static const double FOUND = 0.8;       /* share of the last renders that lie in the region */

static double number_at(const spot_examine_point *p, spot_examine_quantity q)
{
    const double all[SPOT_EXAMINE_QUANTITIES] = { p->mean, p->lowest, p->lowest_valid, p->robust, p->valid, p->inside };

    return all[q];
}

double spot_examine_over_seeds(const spot_examine_results *r, const spot_examine_result *first, int object, int k,
                               spot_examine_quantity q)
{
    double sum = 0;
    int n = 0;

    for (int s = 0; s < r->cfg->search.seeds; s++) {
        const double v = number_at(&first[s * r->objects + object].point[k], q);
        if (isfinite(v)) sum += v, n++;
    }
    return n ? sum / n : NAN;
}

/* learned: only the objects that learned the planted region. */
static spot_interval line_of(const spot_examine_results *r, const spot_examine_result *first, int k, spot_examine_quantity q,
                             bool learned, int threads, double *scratch)
{
    double *value = scratch + SPOT_REDRAWS;
    int n = 0;

    for (int i = 0; i < r->objects; i++)
        if (!learned || first[i].learned == 1) value[n++] = spot_examine_over_seeds(r, first, i, k, q);
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
    const spot_examine_result *first = spot_examine_first_unit(r, s->model, s->examiner);
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
#define OVER_OBJECTS(quantity, learned) line_of(r, first, k, SPOT_EXAMINE_##quantity, learned, threads, scratch)
        l->mean = OVER_OBJECTS(MEAN, false), l->robust = OVER_OBJECTS(ROBUST, false);
        l->lowest = OVER_OBJECTS(LOWEST, false), l->lowest_valid = OVER_OBJECTS(LOWEST_VALID, false);
        l->valid = OVER_OBJECTS(VALID, false).value, l->inside = OVER_OBJECTS(INSIDE, true);
#undef OVER_OBJECTS
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
