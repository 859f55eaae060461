/* bdm.c - the table of methods, and the checks of their input. */
#include "spotter/bdm.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bdm/fit.h"
#include "bdm/methods.h"
#include "core/ops.h"
#include "models/embed_settings.h"

static const spot_method *const methods[] = {
#define X(NAME, name) [SPOT_##NAME] = &spot_method_##name,
    SPOT_BDM_METHODS(X)
#undef X
};

static const char *const names[] = {
#define X(NAME, name) #name,
    SPOT_BDM_METHODS(X)
#undef X
    NULL
};
static const char *const representations[] = { "model", "robust", "clip", "file", "attributes", NULL };

static bool known(int method) { return method >= 0 && method < SPOT_METHODS; }

bool spot_bdm_weighs(int method) { return known(method) && methods[method]->weighs; }

bool spot_bdm_reads_on_device(const spot_bdm_config *cfg)
{
    return !spot_embed_is_nothing(&cfg->embed) || (known(cfg->method) && !methods[cfg->method]->own_rows);
}

static const spot_setting *settings_of(int method) { return known(method) ? methods[method]->settings : NULL; }

const spot_setting spot_bdm_settings[] = {
#define S SPOT_BDM_ROW
    S("method",  NAME,  method,        "blindspot discovery method", .names = names, .affects = SPOT_AFFECTS_FINDING),
    S("name",    TEXT,  name,
      "label in tables; \"\": the method, and its profile, reducer and representation where they are not its own", .hi = 80,
      .affects = SPOT_AFFECTS_PRESENTATION),
    S("top",     INT,   top,           "most hypotheses returned", SPOT_IN(1, SPOT_MAX_HYPOTHESES), SPOT_DEF(10),
      .affects = SPOT_AFFECTS_FINDING),
    S("representation", NAME, representation,
      "source of the features: the classifier, a robust network, the config's encoder, files, or the attributes of the images",
      .names = representations, SPOT_DEF(SPOT_BY_MODEL), .affects = SPOT_AFFECTS_VIEW),
    S("embeddings", TEXT, embeddings,
      "folder of ec-000012.safetensors, each with a tensor \"embedding\" (representation: file)", .hi = 256,
      .affects = SPOT_AFFECTS_PATH,
      .of = &spot_bdm_settings[3], .values = 1u << SPOT_BY_FILE),
    { .kind = SETTING_PART, .offset = offsetof(spot_bdm_config, embed), .rows = spot_embed_settings,
      .affects = SPOT_AFFECTS_POINTS },
    { .kind = SETTING_PART, .of = spot_bdm_settings, .part = settings_of, .affects = SPOT_AFFECTS_FINDING },
#undef S
    SPOT_END
};

/* No reducer unless the method sets one. */
spot_bdm_config spot_bdm_defaults(int method)
{
    spot_bdm_config cfg = { .method = method, .mixture = spot_mixture_defaults() };

    spot_settings_defaults(spot_bdm_settings + 1, &cfg);
    cfg.embed.method = SPOT_REDUCE_NONE;
    if (known(method) && methods[method]->defaults) methods[method]->defaults(&cfg);
    return cfg;
}

void spot_bdm_preset(spot_bdm_config *cfg)
{
    if (known(cfg->method) && methods[cfg->method]->preset) methods[cfg->method]->preset(cfg);
}

/* "-paper" for a profile that is not the default. */
static const char *profile_word(const spot_bdm_config *cfg)
{
    const spot_setting_walk w = spot_settings_at(spot_bdm_settings, cfg, SPOT_BDM_PROFILE);
    int i = 0, profile = w.s ? *(const int *)(const void *)w.value : 0;

    while (w.s && i < profile && w.s->names[i]) i++;
    return i && w.s->names[i] ? w.s->names[i] : "";
}

/* PlaneSpot's name includes its reducer, and attributes are always named, because other methods do not know them. Else names
 * include only a reducer, profile or representation that is not the default. */
const char *spot_bdm_name(const spot_bdm_config *cfg, char *text, size_t size)
{
    const spot_bdm_config own = spot_bdm_defaults(cfg->method);
    bool reduced = cfg->method == SPOT_PLANESPOT || cfg->embed.method != own.embed.method;
    bool elsewhere = cfg->representation != own.representation || cfg->representation == SPOT_BY_ATTRIBUTES;

    if (cfg->name[0]) snprintf(text, size, "%s", cfg->name);
    else if (!known(cfg->method)) snprintf(text, size, "unknown");
    else snprintf(text, size, "%s%s%s%s%s%s%s", names[cfg->method], *profile_word(cfg) ? "-" : "", profile_word(cfg),
                  reduced ? "-" : "", reduced ? spot_embed_settings->names[cfg->embed.method] : "",
                  elsewhere ? "-" : "", elsewhere ? representations[cfg->representation] : "");
    return spot_plain(text);
}

static spot_status check_problem(spot_ctx *c, uint32_t ec, const spot_view *view, const spot_points *points,
                                 const spot_bdm_config *cfg)
{
    const spot_view features = { .n = points->n, .d = points->d, .feature = points->at };

    if (view->n < 1) return spot_fail(c, SPOT_INPUT, "{view.empty} %s has no images to look for blindspots in",
                                      spot_label_of(c, ec).text);
    if (points->n != view->n)
        return spot_fail_of(c, SPOT_INVALID, ec, "{points.count} %d points for %d images", points->n, view->n);
    SPOT_TRY(spot_view_check(c, view, ec));
    if (spot_embed_is_nothing(&cfg->embed)) return spot_view_check(c, &features, ec);
    for (size_t e = 0; e < (size_t)points->n * points->d; e++)
        if (!isfinite(points->at[e]))
            return spot_fail_of(c, SPOT_INPUT, ec, "{points.value} coordinate %zu of point %zu is %g; did the reduction "
                                "diverge?", e % points->d, e / points->d, points->at[e]);
    return SPOT_OK;
}

static spot_status check_method(spot_ctx *c, const spot_bdm_config *cfg)
{
    if (!known(cfg->method)) return spot_fail(c, SPOT_INVALID, "{method.unknown} there is no discovery method %d", cfg->method);
    return spot_settings_check(c, SPOT_INVALID, spot_bdm_settings, cfg, names[cfg->method]);
}

spot_status spot_bdm_find(spot_ctx *c, spot_arena *a, int problems, spot_hypotheses *out, const spot_view *views,
                          const spot_points *points, const spot_seed *seeds, const spot_bdm_config *cfg)
{
    return spot_bdm_fit(c, a, problems, out, NULL, views, points, seeds, cfg);
}

spot_status spot_bdm_fit(spot_ctx *c, spot_arena *a, int problems, spot_hypotheses *out, spot_fit *fits, const spot_view *views,
                         const spot_points *points, const spot_seed *seeds, const spot_bdm_config *cfg)
{
    const spot_bdm_group all = { .problems = problems, .out = out, .fits = fits, .views = views, .points = points,
                                 .seeds = seeds, .cfg = cfg };
    spot_status s;

    for (int p = 0; fits && p < problems; p++) fits[p].count = 0;
    SPOT_TRY(check_method(c, cfg));
    for (int p = 0; p < problems; p++) SPOT_TRY(check_problem(c, seeds[p].ec, &views[p], &points[p], cfg));
    s = spot_bdm_groups_find(c, a, &all, methods[cfg->method]);
    for (int p = 0; s == SPOT_OK && p < problems; p++) out[p].n = views[p].n;
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
            return spot_fail(c, SPOT_INPUT, "{features.value} feature %zu of row %zu is %g; it must be a finite number", e % d,
                             e / d, rows->feature[e]);
    for (int i = 0; rows->confidence && i < rows->n; i++)
        if (!(rows->confidence[i] >= 0 && rows->confidence[i] <= 1))
            return spot_fail(c, SPOT_INPUT, "{confidence.value} the confidence of row %d is %g; it must lie in [0, 1]", i,
                             rows->confidence[i]);
    return SPOT_OK;
}

static spot_status assign_rows(spot_ctx *c, spot_arena *a, uint8_t *member, int hypotheses, const spot_view *rows,
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
    s = methods[cfg->method]->assign(c, a, &(spot_assignment){ member, hypotheses, rows, &points, fit, cfg });
    a->used = mark;
    return s;
}

/* Runs on the host, where the data lies: a CPU context of its own keeps the methods' ops there. */
spot_status spot_bdm_assign(spot_ctx *c, spot_arena *a, uint8_t *member, int hypotheses, const spot_view *rows,
                            const spot_fit *fit, const spot_bdm_config *cfg)
{
    spot_ctx here = { .ops = &spot_ops_cpu, .threads = c->threads, .on_log = c->on_log, .label = c->label, .user = c->user,
                      .who = c->who, .stop = c->stop };
    spot_status s;

    SPOT_TRY(check_method(c, cfg));
    if (!methods[cfg->method]->assign)
        return spot_fail(c, SPOT_UNSUPPORTED, "%s has no rule for rows it has not seen", names[cfg->method]);
    if (hypotheses < 0 || hypotheses > SPOT_MAX_HYPOTHESES || rows->n < 0 || cfg->embed.dim < 1)
        return spot_fail(c, SPOT_INVALID, "%d rows into %d hypotheses, on a map of %d columns", rows->n, hypotheses,
                         cfg->embed.dim);
    if (!rows->n || !hypotheses) return SPOT_OK;
    if (!a->counting) SPOT_TRY(check_rows(c, rows));
    if (!a->counting) memset(member, 0, (size_t)rows->n * (size_t)hypotheses);
    s = assign_rows(&here, a, member, hypotheses, rows, fit, cfg);
    return s == SPOT_OK ? s : spot_fail_from(c, s, &here);
}

spot_bytes spot_bdm_needs(const spot_ctx *c, int problems, const int *n, int d, const spot_bdm_config *cfg)
{
    return spot_bdm_groups_needs(c, problems, n, d, cfg, methods[cfg->method]);
}

size_t spot_bdm_bytes(int problems, const int *n, int d, const spot_bdm_config *cfg, int threads)
{
    const spot_ctx c = { .threads = threads };

    return spot_bdm_needs(&c, problems, n, d, cfg).host;
}
