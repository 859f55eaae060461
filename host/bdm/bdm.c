/* bdm.c - the table of methods, and what every method may rely on about its input. */
#include "spotter/bdm.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/config_table.h"
#include "bdm/fit.h"
#include "methods.h"

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
    return text;
}

static spot_status check_problem(spot_ctx *c, uint32_t ec, const spot_view *view, const spot_points *points,
                                 const spot_bdm_config *cfg)
{
    const spot_view features = { .n = points->n, .d = points->d, .feature = points->at };

    if (view->n < 1) return spot_fail(c, SPOT_INPUT, "EC %u has no images to look for blindspots in", ec);
    if (points->n != view->n)
        return spot_fail(c, SPOT_INVALID, "EC %u: %d points for %d images", ec, points->n, view->n);
    SPOT_TRY(spot_view_check(c, view, ec));
    if (spot_embed_is_nothing(&cfg->embed)) return spot_view_check(c, &features, ec);
    for (size_t e = 0; e < (size_t)points->n * points->d; e++)
        if (!isfinite(points->at[e]))
            return spot_fail(c, SPOT_INPUT, "EC %u: coordinate %zu of point %zu is %g; did the reduction diverge?", ec,
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

    SPOT_TRY(check_method(c, cfg));
    for (int p = 0; p < problems; p++) SPOT_TRY(check_problem(c, seeds[p].ec, &views[p], &points[p], cfg));
    for (int p = 0; fits && p < problems; p++) fits[p].count = 0;
    s = methods[cfg->method]->find(c, a, problems, out, fits, views, points, seeds, cfg);
    for (int p = 0; fits && s == SPOT_OK && p < problems; p++)
        s = spot_fit_reducer(c, &fits[p], &views[p], &points[p], &cfg->embed);
    for (int p = 0; fits && s != SPOT_OK && p < problems; p++) spot_fit_close(&fits[p]);
    return s;
}

spot_status spot_bdm_assign(spot_ctx *c, spot_arena *a, uint8_t *member, int hypotheses, const spot_view *rows,
                            const spot_fit *fit, const spot_bdm_config *cfg)
{
    spot_points points;
    size_t mark = a->used;
    spot_status s;

    SPOT_TRY(check_method(c, cfg));
    if (!methods[cfg->method]->assign)
        return spot_fail(c, SPOT_UNSUPPORTED, "%s has no rule for rows it has not seen", spot_method_names[cfg->method]);
    SPOT_TRY(spot_fit_place(c, a, &points, rows, fit, &cfg->embed));
    SPOT_TRY(check_problem(c, 0, rows, &points, cfg));
    memset(member, 0, (size_t)rows->n * (size_t)hypotheses);
    s = methods[cfg->method]->assign(c, a, member, hypotheses, rows, &points, fit, cfg);
    a->used = mark;
    return s;
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
