/* bdm.c - the table of methods, and what every method may rely on about its input. */
#include "spotter/bdm.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bdm/fit.h"
#include "bdm/methods.h"
#include "config/config_table.h"
#include "core/ops.h"

static const spot_method *const methods[] = {
#define X(NAME, name) [SPOT_##NAME] = &spot_method_##name,
    SPOT_BDM_METHODS(X)
#undef X
};

static const char *const reducers[] = {
    [SPOT_REDUCE_NONE] = "none", [SPOT_REDUCE_PCA] = "pca", [SPOT_REDUCE_TSNE] = "tsne", [SPOT_REDUCE_SCVIS] = "scvis",
    [SPOT_REDUCE_UMAP] = "umap",
};
static const char *const representations[] = {
    [SPOT_BY_MODEL] = "model", [SPOT_BY_ROBUST] = "robust", [SPOT_BY_FILE] = "file",
};

static bool known(int method) { return method >= 0 && method < SPOT_METHODS; }

spot_bdm_config spot_bdm_defaults(int method)
{
    spot_bdm_config cfg = { .method = method, .top = 10, .embed = spot_embed_defaults(), .mixture = spot_mixture_defaults() };

    cfg.embed.method = SPOT_REDUCE_NONE;
    if (known(method)) methods[method]->defaults(&cfg);
    return cfg;
}

/* PlaneSpot's name says its reducer; the others' names say what is not their own. */
const char *spot_bdm_name(const spot_bdm_config *cfg, char *text, size_t size)
{
    const spot_bdm_config own = spot_bdm_defaults(cfg->method);
    bool reduced = cfg->method == SPOT_PLANESPOT || cfg->embed.method != own.embed.method;
    bool elsewhere = cfg->representation != own.representation;

    if (cfg->name[0]) snprintf(text, size, "%s", cfg->name);
    else if (!known(cfg->method)) snprintf(text, size, "unknown");
    else snprintf(text, size, "%s%s%s%s%s", spot_method_names[cfg->method],
                  reduced ? "-" : "", reduced ? reducers[cfg->embed.method] : "",
                  elsewhere ? "-" : "", elsewhere ? representations[cfg->representation] : "");
    return spot_plain(text);
}

static spot_status check_problem(spot_ctx *c, uint32_t ec, const spot_view *view, const spot_points *points,
                                 const spot_bdm_config *cfg)
{
    const spot_view features = { .n = points->n, .d = points->d, .feature = points->at };

    if (view->n < 1) return spot_fail(c, SPOT_INPUT, "%s has no images to look for blindspots in", spot_label_of(c, ec).text);
    if (points->n != view->n)
        return spot_fail_of(c, SPOT_INVALID, ec, "%d points for %d images", points->n, view->n);
    SPOT_TRY(spot_view_check(c, view, ec));
    if (spot_embed_is_nothing(&cfg->embed)) return spot_view_check(c, &features, ec);
    for (size_t e = 0; e < (size_t)points->n * points->d; e++)
        if (!isfinite(points->at[e]))
            return spot_fail_of(c, SPOT_INPUT, ec, "coordinate %zu of point %zu is %g; did the reduction diverge?",
                                e % points->d, e / points->d, points->at[e]);
    return SPOT_OK;
}

static spot_status check_method(spot_ctx *c, const spot_bdm_config *cfg)
{
    if (!known(cfg->method)) return spot_fail(c, SPOT_INVALID, "there is no discovery method %d", cfg->method);
    if (cfg->top < 1 || cfg->top > SPOT_MAX_HYPOTHESES)
        return spot_fail(c, SPOT_INVALID, "bdm.top is %d; it must lie in 1..%d", cfg->top, SPOT_MAX_HYPOTHESES);
    return SPOT_OK;
}

spot_status spot_bdm_find(spot_ctx *c, spot_arena *a, int problems, spot_hypotheses *out, const spot_view *views,
                          const spot_points *points, const spot_seed *seeds, const spot_bdm_config *cfg)
{
    return spot_bdm_fit(c, a, problems, out, NULL, views, points, seeds, cfg);
}

spot_status spot_bdm_fit(spot_ctx *c, spot_arena *a, int problems, spot_hypotheses *out, spot_fit *fits, const spot_view *views,
                         const spot_points *points, const spot_seed *seeds, const spot_bdm_config *cfg)
{
    spot_status s;

    for (int p = 0; fits && p < problems; p++) fits[p].count = 0;
    SPOT_TRY(check_method(c, cfg));
    for (int p = 0; p < problems; p++) SPOT_TRY(check_problem(c, seeds[p].ec, &views[p], &points[p], cfg));
    s = methods[cfg->method]->find(c, a, problems, out, fits, views, points, seeds, cfg);
    for (int p = 0; fits && s == SPOT_OK && p < problems; p++)
        s = spot_fit_reducer(c, &fits[p], &views[p], &points[p], &cfg->embed);
    for (int p = 0; fits && s != SPOT_OK && p < problems; p++) spot_fit_close(&fits[p]);
    return s;
}

static spot_status check_rows(spot_ctx *c, const spot_view *rows)
{
    size_t d = (size_t)rows->d;

    if (rows->d < 1) return spot_fail(c, SPOT_INVALID, "rows of %d features", rows->d);
    for (size_t e = 0; e < (size_t)rows->n * d; e++)
        if (!isfinite(rows->feature[e]))
            return spot_fail(c, SPOT_INPUT, "feature %zu of row %zu is %g; it must be a finite number", e % d, e / d,
                             rows->feature[e]);
    for (int i = 0; rows->confidence && i < rows->n; i++)
        if (!(rows->confidence[i] >= 0 && rows->confidence[i] <= 1))
            return spot_fail(c, SPOT_INPUT, "the confidence of row %d is %g; it must lie in [0, 1]", i, rows->confidence[i]);
    return SPOT_OK;
}

static spot_status assign(spot_ctx *c, spot_arena *a, uint8_t *member, int hypotheses, const spot_view *rows,
                          const spot_fit *fit, const spot_bdm_config *cfg)
{
    size_t mark = a->used;
    spot_points points;
    spot_status s;

    SPOT_TRY(spot_fit_place(c, a, &points, rows, fit, &cfg->embed));
    for (size_t e = 0; !a->counting && e < (size_t)points.n * points.d; e++)
        if (!isfinite(points.at[e]))
            return spot_fail(c, SPOT_INPUT, "row %zu has no place in the fit's map; the fit is damaged, or the row's features "
                             "are beyond measure", e / (size_t)points.d);
    s = methods[cfg->method]->assign(c, a, member, hypotheses, rows, &points, fit, cfg);
    a->used = mark;
    return s;
}

/* What methods look at there is the host's; a context of its own keeps their ops there, too. */
spot_status spot_bdm_assign(spot_ctx *c, spot_arena *a, uint8_t *member, int hypotheses, const spot_view *rows,
                            const spot_fit *fit, const spot_bdm_config *cfg)
{
    spot_ctx here = { .ops = &spot_ops_cpu, .threads = c->threads, .on_log = c->on_log, .label = c->label, .user = c->user,
                      .who = c->who, .stop = c->stop };
    spot_status s;

    SPOT_TRY(check_method(c, cfg));
    if (!methods[cfg->method]->assign)
        return spot_fail(c, SPOT_UNSUPPORTED, "%s has no rule for rows it has not seen", spot_method_names[cfg->method]);
    if (hypotheses < 0 || hypotheses > SPOT_MAX_HYPOTHESES || rows->n < 0 || cfg->embed.dim < 1)
        return spot_fail(c, SPOT_INVALID, "%d rows into %d hypotheses, on a map of %d columns", rows->n, hypotheses,
                         cfg->embed.dim);
    if (!rows->n || !hypotheses) return SPOT_OK;
    if (!a->counting) SPOT_TRY(check_rows(c, rows));
    if (!a->counting) memset(member, 0, (size_t)rows->n * (size_t)hypotheses);
    s = assign(&here, a, member, hypotheses, rows, fit, cfg);
    return s == SPOT_OK ? s : spot_fail(c, s, "%s", spot_message(&here, s));
}

spot_bytes spot_bdm_needs(const spot_ctx *c, int problems, const int *n, int d, const spot_bdm_config *cfg)
{
    return methods[cfg->method]->needs(c, problems, n, d, cfg);
}

size_t spot_bdm_bytes(int problems, const int *n, int d, const spot_bdm_config *cfg, int threads)
{
    const spot_ctx c = { .threads = threads };

    return spot_bdm_needs(&c, problems, n, d, cfg).host;
}
