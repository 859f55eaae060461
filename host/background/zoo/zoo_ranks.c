/* zoo_ranks.c - how well the measures of a study order planted models by their reliance on the background. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "background/background_study.h"
#include "background/zoo/zoo_make.h"
#include "spotter/verdict.h"

enum { LEAST = 3 };        /* models that have a rank correlation */

/* Numbers of models. */
typedef struct { int n; double x[SPOT_ZOO_MODELS], y[SPOT_ZOO_MODELS]; } pairs;

static spot_status rank_pairs(spot_ctx *c, spot_interval *v, const pairs *p, uint64_t seed)
{
    *v = (spot_interval){ NAN, NAN, NAN };
    return p->n < LEAST ? SPOT_OK : spot_rank_correlation(c, v, p->x, p->y, p->n, seed);
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

static spot_status rank_measure(spot_ctx *c, spot_zoo_rank *rank, const spot_background_results *r, const spot_zoo_truth *t,
                                int k)
{
    const spot_background_zoo *cfg = &r->cfg->zoo;
    pairs planted = { .n = 0 }, learned;

    for (int m = 0; m < cfg->models; m++) {
        const int unit = unit_called(r, t[m].recipe.name);
        const double x = unit < 0 ? NAN : measure_of(r, unit, &t[m], k);
        if (!isfinite(x)) continue;
        planted.x[planted.n] = learned.x[planted.n] = x;
        planted.y[planted.n] = t[m].recipe.rho;
        learned.y[planted.n++] = t[m].reliance;
    }
    learned.n = rank->models = planted.n;
    name_measure(rank->name, k);
    SPOT_TRY(rank_pairs(c, &rank->planted, &planted, cfg->seed));
    return rank_pairs(c, &rank->learned, &learned, cfg->seed);
}

spot_status spot_zoo_ranks(spot_ctx *c, spot_zoo_rank rank[SPOT_ZOO_RANKS], int *n, const spot_background_results *r,
                           const char *out)
{
    spot_zoo_truth t[SPOT_ZOO_MODELS];
    char dir[SPOT_ZOO_PATH];
    int kept = 0;

    *n = 0;
    SPOT_TRY(spot_zoo_folder(c, dir, sizeof dir, out));
    SPOT_TRY(spot_zoo_truth_read(c, t, dir, &r->cfg->zoo));
    for (int k = 0; k < SPOT_ZOO_RANKS; k++) {
        SPOT_TRY(rank_measure(c, &rank[kept], r, t, k));
        if (rank[kept].models) kept++;
    }
    *n = kept;
    return SPOT_OK;
}
