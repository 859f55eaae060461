/* failure_clusters.c - blindspot discovery methods on the factors: a view whose rows are renders, whose features are their
 * conditions and whose confidence is p. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/ops.h"
#include "examine/failure_parts.h"
#include "spotter/bdm.h"

enum { TOP = 10, MOST_CLUSTERS = 12, DEPTH = 4 };      /* hypotheses of a method; PlaneSpot's components; levels of the tree */

/* PlaneSpot's weight of p beside factors that have nothing to do with it: each of them is as wide as p is at 1. */
static const double WEIGHT = 2;

/* A row of features: a factor in the cube; a whole turn as a circle; a magnitude beside a factor whose range lies around 0. */
static int put_features(float *to, const spot_factor_space *s, const spot_conditions *at)
{
    double x[SPOT_FACTORS];
    int n = 0;

    spot_factor_space_point(x, s, at);
    for (int d = 0; d < s->dims; d++) {
        const double turn = 2 * acos(-1) * x[d];
        const bool around = !s->turns[d] && s->least[d] == -s->most[d];
        if (s->turns[d]) {
            if (to) to[n] = (float)(0.5 + 0.5 * cos(turn)), to[n + 1] = (float)(0.5 + 0.5 * sin(turn));
            n += 2;
        } else {
            if (to) to[n] = (float)x[d];
            n++;
        }
        if (around && to) to[n] = (float)fabs(2 * x[d] - 1);
        n += around;
    }
    return n;
}

static spot_bdm_config config_of(int method)
{
    spot_bdm_config cfg = spot_bdm_defaults(method);

    cfg.top = TOP;
    cfg.representation = SPOT_BY_MODEL;
    cfg.embed.method = SPOT_REDUCE_NONE, cfg.embed.normalise = cfg.embed.hardness = 0;
    cfg.mixture.k_min = 2, cfg.mixture.k_max = MOST_CLUSTERS;
    cfg.weight = WEIGHT;
    cfg.barlow.depth = DEPTH;
    return cfg;
}

static spot_status add_cluster(spot_ctx *c, spot_failure_clusters *k, const char *source, int n, const int *row, int rows)
{
    spot_failure_cluster *to = &k->cluster[k->n];

    snprintf(to->source, sizeof to->source, "%s", source);
    to->member = malloc((size_t)n + 1);
    if (!to->member) return spot_fail(c, SPOT_NOMEM, "no memory for a cluster of %d renders", n);
    memset(to->member, !row, (size_t)n);
    for (int i = 0; row && i < rows; i++) to->member[row[i]] = 1;
    k->n++;
    return SPOT_OK;
}

static spot_status run_method(spot_ctx *c, spot_failure_clusters *k, const char *source, const spot_view *view, int method)
{
    const spot_bdm_config cfg = config_of(method);
    const spot_points points = { .n = view->n, .d = view->d, .at = view->feature, .objective = NAN };
    const spot_seed seed = { 1, 0 };
    spot_hypotheses *found = malloc(sizeof *found);
    spot_arena a = { 0 };
    spot_status s;

    if (!found) return spot_fail(c, SPOT_NOMEM, "no memory for the clusters of failures");
    s = spot_arena_open(c, &a, spot_bdm_needs(c, 1, &view->n, view->d, &cfg).host
                        + (size_t)view->n * SPOT_MAX_HYPOTHESES * sizeof(int));
    if (s == SPOT_OK) s = spot_bdm_find(c, &a, 1, found, view, &points, &seed, &cfg);
    for (int h = 0; s == SPOT_OK && h < found->len && h < TOP; h++)
        s = add_cluster(c, k, source, view->n, found->h[h].row, found->h[h].len);
    spot_arena_close(&a);
    free(found);
    return s;
}

static spot_status run_methods(spot_ctx *c, spot_failure_clusters *k, const spot_failure_rows *rows, const spot_view *view)
{
    SPOT_TRY(add_cluster(c, k, "all failures", rows->n, NULL, 0));
    SPOT_TRY(run_method(c, k, "planespot", view, SPOT_PLANESPOT));
    return run_method(c, k, "barlow", view, SPOT_BARLOW);
}

spot_status spot_failure_clusters_find(spot_ctx *c, spot_failure_clusters *k, const spot_failure_rows *rows, float *p,
                                       const spot_factor_space *s)
{
    spot_view view = { .n = rows->n, .d = put_features(NULL, s, &rows->at[0]), .confidence = p };
    spot_status how = SPOT_OK;

    *k = (spot_failure_clusters){ 0 };
    view.feature = malloc((size_t)view.n * (size_t)view.d * sizeof *view.feature);
    view.image = malloc((size_t)view.n * sizeof *view.image);
    if (!view.feature || !view.image) how = spot_fail(c, SPOT_NOMEM, "no memory for a view of %d renders", view.n);
    for (int i = 0; how == SPOT_OK && i < view.n; i++) {
        put_features(view.feature + (size_t)i * (size_t)view.d, s, &rows->at[i]);
        view.image[i] = i;
    }
    if (how == SPOT_OK) how = run_methods(c, k, rows, &view);
    free(view.feature), free(view.image);
    return how;
}

void spot_failure_clusters_close(spot_failure_clusters *k)
{
    for (int i = 0; i < SPOT_FAILURE_CLUSTERS; i++) free(k->cluster[i].member);
    *k = (spot_failure_clusters){ 0 };
}
