/* examine_summary.c - means over the objects of a model and an examiner, with intervals. */
#include <math.h>
#include <stdlib.h>

#include "examine/examine_study.h"
#include "spotter/rng.h"

enum { DRAWS = 2000 };

static const double FOUND = 0.8;       /* share of the last renders that lie in the region */

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* The mean of value (n), and its interval by a bootstrap: a draw is n of the objects. NaN: left out. */
static spot_interval mean_of(double *value, int n, double draw[DRAWS])
{
    int kept = 0;
    double sum = 0;

    for (int i = 0; i < n; i++)
        if (isfinite(value[i])) value[kept++] = value[i];
    for (int i = 0; i < kept; i++) sum += value[i];
    if (!kept) return (spot_interval){ NAN, NAN, NAN };
    for (int d = 0; d < DRAWS; d++) {
        spot_rng r = spot_rng_at(1, SPOT_RNG_BOOTSTRAP, 0, (uint32_t)d);
        double all = 0;
        for (int i = 0; i < kept; i++) all += value[spot_rng_below(&r, (uint32_t)kept)];
        draw[d] = all / kept;
    }
    qsort(draw, DRAWS, sizeof *draw, ascending);
    return (spot_interval){ sum / kept, spot_quantile(draw, DRAWS, 0.025), spot_quantile(draw, DRAWS, 0.975) };
}

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
                             double *value, double *draw)
{
    int n = 0;

    for (int i = 0; i < r->objects; i++)
        if (!learned || first[i].learned == 1) value[n++] = over_seeds(r, first, i, k, at);
    return mean_of(value, n, draw);
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

static void summarise(const spot_examine_results *r, spot_examine_summary *s, double *value, double *draw)
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
#define MEAN(field, learned) line_of(r, first, k, offsetof(spot_examine_point, field), learned, value, draw)
        l->mean = MEAN(mean, false), l->lowest = MEAN(lowest, false), l->lowest_valid = MEAN(lowest_valid, false);
        l->robust = MEAN(robust, false), l->inside = MEAN(inside, true);
        l->valid = MEAN(valid, false).value;
#undef MEAN
    }
}

spot_status spot_examine_summarise(spot_ctx *c, spot_examine_results *r)
{
    const int examiners = r->cfg->examiners;
    double *value = malloc(((size_t)r->objects + DRAWS) * sizeof *value);

    r->summaries = r->cfg->models * examiners;
    r->summary = calloc((size_t)r->summaries, sizeof *r->summary);
    if (!value || !r->summary) return free(value), spot_fail(c, SPOT_NOMEM, "no memory for the summary of %d searches",
                                                             r->units);
    for (int i = 0; i < r->summaries; i++) {
        r->summary[i].model = i / examiners, r->summary[i].examiner = i % examiners;
        summarise(r, &r->summary[i], value, value + r->objects);
    }
    free(value);
    return SPOT_OK;
}
