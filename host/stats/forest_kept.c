/* forest_kept.c - the rows that a forest was fitted to, kept with it, and votes on them by forests that did not see them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/forest_grow.h"

spot_status spot_forest_kept_take(spot_ctx *c, spot_forest *f, int rows)
{
    const size_t n = (size_t)rows;

    f->kept = (spot_forest_kept){ .rows = rows, .x = calloc(n * (size_t)f->features + 1, sizeof *f->kept.x),
                                  .cls = calloc(n + 1, sizeof *f->kept.cls), .group = calloc(n + 1, sizeof *f->kept.group),
                                  .share = calloc(n * (size_t)f->classes + 1, sizeof *f->kept.share),
                                  .aside = calloc(n + 1, sizeof *f->kept.aside) };
    if (f->kept.x && f->kept.cls && f->kept.group && f->kept.share && f->kept.aside) return SPOT_OK;
    spot_forest_kept_free(&f->kept);
    return spot_fail(c, SPOT_NOMEM, "no memory for the %d rows that a forest keeps", rows);
}

spot_status spot_forest_kept_check(spot_ctx *c, const spot_forest *f, const char *name)
{
    int others = 0;        /* rows that are not of the first row's group */

    for (int i = 0; i < f->kept.rows; i++) others += f->kept.group[i] != f->kept.group[0];
    if (f->kept.rows && !others)
        return spot_fail(c, SPOT_INPUT, "{forest.kept_groups} %s: all its %d rows are of one group; it is damaged", name,
                         f->kept.rows);
    for (int i = 0; i < f->kept.rows; i++) {
        double all = 0;
        if (f->kept.cls[i] < 0 || f->kept.cls[i] >= f->classes || f->kept.group[i] < 0 || f->kept.group[i] >= f->kept.rows)
            return spot_fail(c, SPOT_INPUT, "{forest.kept_class} %s: its row %d has class %d of %d and group %d; it is damaged",
                             name, i, f->kept.cls[i], f->classes, f->kept.group[i]);
        if (!isfinite(f->kept.aside[i]))
            return spot_fail(c, SPOT_INPUT, "{forest.kept_number} %s: the number beside its row %d is %g; it is damaged", name,
                             i, f->kept.aside[i]);
        for (int j = 0; j < f->features; j++) {
            const float v = f->kept.x[(size_t)i * (size_t)f->features + (size_t)j];
            if (!(v >= f->least[j] && v <= f->most[j]))
                return spot_fail(c, SPOT_INPUT, "{forest.kept_feature} %s: feature %d of its row %d is %g, beyond the range %g "
                                 "to %g; it is damaged", name, j, i, v, f->least[j], f->most[j]);
        }
        for (int k = 0; k < f->classes; k++) {
            const double share = f->kept.share[(size_t)i * (size_t)f->classes + (size_t)k];
            all += share >= 0 && share <= 1 ? share : NAN;
        }
        if (!(fabs(all - 1) < 1e-6))
            return spot_fail(c, SPOT_INPUT, "{forest.kept_shares} %s: the class shares of its row %d do not add up to 1; it is "
                             "damaged", name, i);
    }
    return SPOT_OK;
}

/* Forest g is fitted with weight 0 for the rows of group g. forest, rows: (groups); weight: (groups, rows) */
static spot_status vote_on_groups(spot_ctx *c, spot_forest_kept *kept, const spot_forest_rows *all, int groups,
                                  const spot_forest_config *cfg, spot_forest *forest, spot_forest_rows *rows, double *weight)
{
    const size_t n = (size_t)all->x.rows, features = (size_t)all->x.cols, classes = (size_t)all->classes;
    spot_status s;

    for (size_t g = 0; g < (size_t)groups; g++) {
        rows[g] = *all;
        rows[g].weight = weight + g * n;
        rows[g].seed.ec = all->seed.ec + (uint32_t)g + 1;
        for (size_t i = 0; i < n; i++) weight[g * n + i] = kept->group[i] == (int)g ? 0 : all->weight ? all->weight[i] : 1;
    }
    SPOT_TRY(spot_forest_fit(c, groups, forest, rows, cfg));
    s = SPOT_OK;
    for (size_t i = 0; i < n && s == SPOT_OK; i++)
        s = spot_forest_shares(c, &forest[kept->group[i]], (spot_mat){ all->x.v + i * features, 1, all->x.cols }, 0,
                               kept->share + i * classes);
    for (int g = 0; g < groups; g++) spot_forest_close(&forest[g]);
    return s;
}

spot_status spot_forest_keep(spot_ctx *c, spot_forest *f, const spot_forest_rows *rows, const float *aside, const int *group,
                             int groups, const spot_forest_config *cfg)
{
    const size_t n = (size_t)rows->x.rows, g = (size_t)groups;
    spot_forest *forest = calloc(g, sizeof *forest);
    spot_forest_rows *part = malloc(g * sizeof *part);
    double *weight = malloc(g * n * sizeof *weight);
    spot_status s = SPOT_OK;

    spot_forest_kept_free(&f->kept);
    if (groups < 2) s = spot_fail(c, SPOT_INVALID, "{forest.groups} a forest keeps rows of %d groups; at least 2", groups);
    else if (!forest || !part || !weight) s = spot_fail(c, SPOT_NOMEM, "no memory for %d forests of %zu rows", groups, n);
    if (s == SPOT_OK) s = spot_forest_kept_take(c, f, rows->x.rows);
    if (s == SPOT_OK) {
        memcpy(f->kept.x, rows->x.v, n * (size_t)rows->x.cols * sizeof *f->kept.x);
        memcpy(f->kept.group, group, n * sizeof *group);
        memcpy(f->kept.aside, aside, n * sizeof *aside);
        for (size_t i = 0; i < n; i++) f->kept.cls[i] = rows->y[i];
        s = vote_on_groups(c, &f->kept, rows, groups, cfg, forest, part, weight);
    }
    if (s != SPOT_OK) spot_forest_kept_free(&f->kept);
    free(forest), free(part), free(weight);
    return s;
}
