/* zoo_ranks.c - how well the measures of a study order planted models by their reliance on the background. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "background/background_study.h"
#include "background/zoo_make.h"
#include "spotter/variance.h"

enum { DRAWS = 2000, LEAST = 3, FIRST_DRAW = 0x9000 };

/* ---- rank correlation ---- */

/* Numbers of models, and scratch of as many. */
typedef struct { int n; double x[SPOT_ZOO_MODELS], y[SPOT_ZOO_MODELS]; } pairs;

/* Ranks from 0 on; equal numbers share the mean of theirs. */
static void rank_of(double *rank, const double *x, int n)
{
    for (int i = 0; i < n; i++) {
        int below = 0, equal = 0;
        for (int k = 0; k < n; k++) below += x[k] < x[i], equal += x[k] == x[i];
        rank[i] = below + 0.5 * (equal - 1);
    }
}

/* NaN where all numbers of a side are equal. */
static double spearman(const pairs *p)
{
    double a[SPOT_ZOO_MODELS], b[SPOT_ZOO_MODELS], aa = 0, bb = 0, ab = 0;
    const double middle = 0.5 * (p->n - 1);

    rank_of(a, p->x, p->n);
    rank_of(b, p->y, p->n);
    for (int i = 0; i < p->n; i++) {
        aa += (a[i] - middle) * (a[i] - middle), bb += (b[i] - middle) * (b[i] - middle);
        ab += (a[i] - middle) * (b[i] - middle);
    }
    return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : NAN;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static spot_interval with_interval(const pairs *p, uint64_t seed)
{
    spot_interval v = { p->n < LEAST ? NAN : spearman(p), NAN, NAN };
    double drawn[DRAWS];
    int kept = 0;

    for (uint32_t d = 0; d < DRAWS && isfinite(v.value); d++) {
        spot_rng r = spot_rng_at(seed, SPOT_RNG_ZOO, FIRST_DRAW, d);
        pairs q = { .n = p->n };
        for (int i = 0; i < p->n; i++) {
            const uint32_t k = spot_rng_below(&r, (uint32_t)p->n);
            q.x[i] = p->x[k], q.y[i] = p->y[k];
        }
        drawn[kept] = spearman(&q);
        if (isfinite(drawn[kept])) kept++;
    }
    qsort(drawn, (size_t)kept, sizeof *drawn, ascending);
    v.low = spot_quantile(drawn, kept, 0.025), v.high = spot_quantile(drawn, kept, 0.975);
    return v;
}

/* ---- measures ---- */

enum { ACCURACY, WORST_CASE, SUITE, GAP, TURNED, LEARNED, BEFORE_MATRICES };

static const char *const measure_name[BEFORE_MATRICES] = { "accuracy", "worst-case accuracy", "accuracy on the suite", "BG-gap",
                                                           "turned by a background", "reliance learned" };

static double measure_of(const spot_background_results *r, int unit, const spot_zoo_truth *t, int k)
{
    const spot_background_summary *s = &r->summary[unit];
    const int matrix = (k - BEFORE_MATRICES) / SPOT_BACKGROUND_FEATURES;

    switch (k) {
    case ACCURACY:   return s->accuracy[SPOT_SET_ORIGINAL].value;
    case WORST_CASE: return s->steady.value;
    case SUITE:      return s->accuracy[SPOT_SET_SUITE].value;
    case GAP:        return s->gap.value;
    case TURNED:     return s->turned.value;
    case LEARNED:    return t->reliance;
    default:
        if (!r->unit[unit].has[matrix]) return NAN;
        return r->unit[unit].feature[matrix][(k - BEFORE_MATRICES) % SPOT_BACKGROUND_FEATURES];
    }
}

static void name_measure(char name[64], int k)
{
    const int feature = k - BEFORE_MATRICES;

    if (k < BEFORE_MATRICES) snprintf(name, 64, "%s", measure_name[k]);
    else snprintf(name, 64, "%s, %s", spot_background_matrix_name(feature / SPOT_BACKGROUND_FEATURES),
                  spot_variance_names[feature % SPOT_BACKGROUND_FEATURES]);
}

static int unit_called(const spot_background_results *r, const char *name)
{
    for (int u = 0; u < r->units; u++)
        if (!strcmp(r->unit[u].name, name)) return u;
    return -1;
}

static spot_zoo_rank rank_measure(const spot_background_results *r, const spot_zoo_truth *t, int k)
{
    const spot_background_zoo *cfg = &r->cfg->zoo;
    pairs planted = { .n = 0 }, learned;
    spot_zoo_rank rank;

    for (int m = 0; m < cfg->models; m++) {
        const int unit = unit_called(r, t[m].recipe.name);
        const double x = unit < 0 ? NAN : measure_of(r, unit, &t[m], k);
        if (!isfinite(x)) continue;
        planted.x[planted.n] = learned.x[planted.n] = x;
        planted.y[planted.n] = t[m].recipe.rho;
        learned.y[planted.n++] = t[m].reliance;
    }
    learned.n = rank.models = planted.n;
    name_measure(rank.name, k);
    rank.planted = with_interval(&planted, cfg->seed);
    rank.learned = with_interval(&learned, cfg->seed);
    return rank;
}

spot_status spot_zoo_ranks(spot_ctx *c, spot_zoo_rank rank[SPOT_ZOO_RANKS], int *n, const spot_background_results *r,
                           const char *out)
{
    spot_zoo_truth t[SPOT_ZOO_MODELS];
    char dir[SPOT_ZOO_PATH];
    int kept = 0;

    *n = 0;
    snprintf(dir, sizeof dir, "%.1000s/zoo", out);
    SPOT_TRY(spot_zoo_truth_read(c, t, dir, &r->cfg->zoo));
    for (int k = 0; k < SPOT_ZOO_RANKS; k++) {
        rank[kept] = rank_measure(r, t, k);
        if (rank[kept].models) kept++;
    }
    *n = kept;
    return SPOT_OK;
}
