/* embed.c - the entry to the reducers: views -> points, on the host and on c's device. Checks, preparation (rows of length 1,
 * the part along the classifier's head apart: "hardness", Sohoni et al. 2020), memory, dispatch. Memory is counted by a pass of
 * the same functions over counting arenas, so whatever takes memory here comes before the `counting` that ends it. */
#include "spotter/embed.h"

#include <math.h>
#include <stdlib.h>

#include "base/twin.h"
#include "core/device.h"
#include "models/embed_settings.h"
#include "models/reduce.h"

static const spot_setting tsne[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_tsne_config, field, help, __VA_ARGS__)
    S("perplexity",   REAL, perplexity,   "effective number of neighbours", SPOT_IN(1, 1000), SPOT_DEF(30)),
    S("iterations",   INT,  iterations,   "iterations; the first 250 are exaggerated", SPOT_IN(1, 100000), SPOT_DEF(1000)),
    S("exaggeration", REAL, exaggeration, "exaggeration of the attraction in the first 250 iterations", SPOT_IN(1, 100),
      SPOT_DEF(12)),
    S("lr",           REAL, lr,           "learning rate; 0: max(n / exaggeration / 4, 50)", SPOT_IN(0, 1e6)),
    S("repulsion",    NAME, repulsion,
      "repulsion of all pairs (exact), or interpolated (fft; 1 and 2 dimensions); auto: exact up to 20000 points",
      SPOT_ONE_OF("auto", "exact", "fft"), SPOT_DEF(SPOT_TSNE_AUTO)),
#undef S
    SPOT_END
};

static const spot_setting compat[] = {
#define S(name, help) SPOT_ROW(#name, SWITCH, spot_scvis_config, compat.name, help, SPOT_SWITCH, SPOT_DEF(1))
    S(perplexity_log2, "target entropy log2(perplexity) although entropy is in nats: 10 acts as 27.7"),
    S(drop_tail,       "omission of the last partial batch of an epoch"),
    S(max_abs,         "input divided by its largest absolute value (false: standardised columns)"),
    S(weight_dropout,  "dropout (keep 0.9) on the weight matrix of the encoder's mean head"),
    S(kl_decay,        "KL term times max(0.1, D/t) (false: times 1)"),
    S(tsne_ramp,       "t-SNE term times min(t, D) (false: times D)"),
    S(column_weight,   "likelihood weighted by the clipped column sums of P (false: by 1)"),
    S(adam_eps,        "Adam's epsilon 1e-3 (false: 1e-8)"),
#undef S
    SPOT_END
};

static const spot_setting scvis[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_scvis_config, field, help, __VA_ARGS__)
    S("perplexity", REAL, perplexity, "effective number of neighbours", SPOT_IN(1, 1000), SPOT_DEF(10)),
    S("batch",      INT,  batch,      "rows per step, at most all rows", SPOT_IN(4, 4096), SPOT_DEF(512)),
    S("iterations", INT,  iterations, "iterations; 0: the original's rule, 3000 to 30000", SPOT_IN(0, 1000000)),
    S("lr",         REAL, lr,         "Adam's learning rate", SPOT_IN(1e-9, 100), SPOT_DEF(0.01)),
    S("l2",         REAL, l2,         "L2 penalty on the weights", SPOT_IN(0, 1), SPOT_DEF(0.001)),
    { .name = "compat", .kind = SETTING_GROUP, .rows = compat, .help = "behaviour of the original code, point by point" },
#undef S
    SPOT_END
};

static const spot_setting umap[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_umap_config, field, help, __VA_ARGS__)
    S("neighbours", INT,  neighbours, "neighbours of a point, itself included", SPOT_IN(2, 1000), SPOT_DEF(15)),
    S("min_dist",   REAL, min_dist,   "least distance of points on the map", SPOT_IN(0, 100), SPOT_DEF(0.1)),
    S("spread",     REAL, spread,     "scale of the map", SPOT_IN(0.001, 100), SPOT_DEF(1)),
    S("epochs",     INT,  epochs,     "epochs; 0: 500 up to 10000 points, 200 above", SPOT_IN(0, 100000)),
    S("negatives",  INT,  negatives,  "points that each drawn edge repels", SPOT_IN(0, 1000), SPOT_DEF(5)),
    S("lr",         REAL, lr,         "learning rate of the first epoch; it falls to 0", SPOT_IN(1e-9, 100), SPOT_DEF(1)),
#undef S
    SPOT_END
};

const spot_setting spot_embed_settings[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_embed_config, field, help, __VA_ARGS__)
#define WITH(reducers) .of = spot_embed_settings, .values = (reducers)
#define BIT(reducer)   (1u << SPOT_REDUCE_##reducer)
    S("reduce",    NAME,   method,    "dimensionality reduction before the method",
      SPOT_ONE_OF("none", "pca", "tsne", "scvis", "umap"), SPOT_DEF(SPOT_REDUCE_SCVIS)),
    S("dim",       INT,    dim,       "dimensions after the reduction; pca: at most rows - 1, and features", SPOT_IN(1, 4096),
      SPOT_DEF(2), WITH(BIT(PCA) | BIT(TSNE) | BIT(SCVIS) | BIT(UMAP))),
    S("normalise", SWITCH, normalise, "features scaled to length 1 before the reduction", SPOT_SWITCH),
    S("hardness",  SWITCH, hardness,  "first dimension along the classifier's direction; the reducer gets the rest",
      SPOT_SWITCH),
    S("tsne",      GROUP,  tsne,      "t-SNE (reduce: tsne)", .rows = tsne, WITH(BIT(TSNE))),
    S("scvis",     GROUP,  scvis,     "scvis (reduce: scvis)", .rows = scvis, WITH(BIT(SCVIS))),
    S("umap",      GROUP,  umap,      "UMAP (reduce: umap)", .rows = umap, WITH(BIT(UMAP))),
#undef BIT
#undef WITH
#undef S
    SPOT_END
};

spot_embed_config spot_embed_defaults(void)
{
    spot_embed_config cfg = { 0 };

    spot_settings_defaults(spot_embed_settings, &cfg);
    return cfg;
}

int spot_embed_dim(const spot_embed_config *cfg, int n, int d)
{
    int own = cfg->hardness != 0, most = n - 1 < d - own ? n - 1 : d - own;     /* hardness takes the first dimension */

    if (cfg->method == SPOT_REDUCE_NONE) return d;
    most = most > 1 ? most : 1;
    return cfg->method == SPOT_REDUCE_PCA && cfg->dim - own > most ? own + most : cfg->dim;
}

static spot_status check_view(spot_ctx *c, const spot_view *v, uint32_t ec, const spot_embed_config *cfg)
{
    double head;

    if (v->n < 4 || v->d < 1)
        return spot_fail_of(c, SPOT_INPUT, ec,
                            "{reducer.few_rows} %d rows of %d features cannot be embedded; give at least 4 rows", v->n, v->d);
    SPOT_TRY(spot_view_check(c, v, ec));
    if (!cfg->hardness) return SPOT_OK;
    if (!v->head)
        return spot_fail_of(c, SPOT_INPUT, ec, "{hardness.no_head} hardness needs the direction of the classifier's head, "
                            "which is not known of these features; give it or set hardness: false");
    head = spot_row_length(v->head, v->d);
    if (!(head > 0 && head <= SPOT_LARGEST_FEATURE))
        return spot_fail_of(c, SPOT_INPUT, ec, "{hardness.head_length} the classifier's head has length %g and so no "
                            "direction; set hardness: false", head);
    return SPOT_OK;
}

static spot_status check_config(spot_ctx *c, const spot_embed_config *cfg)
{
    SPOT_TRY(spot_settings_check(c, SPOT_USAGE, spot_embed_settings, cfg, ""));
    if (cfg->method == SPOT_REDUCE_NONE && cfg->hardness)
        return spot_fail(c, SPOT_USAGE, "{hardness.no_reducer} hardness goes with a reducer of what is left; set reduce, and "
                         "dim: 1 for hardness alone");
    if (cfg->method == SPOT_REDUCE_UMAP && cfg->umap.min_dist > cfg->umap.spread)
        return spot_fail(c, SPOT_USAGE, "{umap.min_dist} umap: min_dist %g is above spread %g", cfg->umap.min_dist,
                         cfg->umap.spread);
    return SPOT_OK;
}

static spot_status reduce_all(spot_ctx *c, spot_arena *host, spot_arena *work, const spot_reduction *r,
                              const spot_embed_config *cfg)
{
    switch (cfg->method) {
    case SPOT_REDUCE_PCA:   return spot_pca_map(c, host, work, r->problems, r->out, r->views);
    case SPOT_REDUCE_TSNE:  return spot_tsne_map(c, host, work, r, &cfg->tsne);
    case SPOT_REDUCE_SCVIS: return spot_scvis_map(c, work, r, &cfg->scvis);
    case SPOT_REDUCE_UMAP:  return spot_umap_map(c, host, work, r, &cfg->umap);
    }
    for (int p = 0; p < r->problems && !host->counting; p++) {
        const float *from = c->device && r->views[p].device_feature ? r->views[p].device_feature : r->views[p].feature;
        SPOT_TRY(spot_device_copy(c, spot_points_target(c, &r->out[p]), from,
                                  (size_t)r->out[p].n * r->out[p].d * sizeof *from));
    }
    return SPOT_OK;
}

/* The reducer's input and output after preparation: rows of length 1, or without hardness, which is the first coordinate. */
typedef struct { spot_view *left; spot_points *map; spot_rows_prepare_problem *rows; spot_rows_pick_problem *join; } prepared;

/* Whether the reducer gets anything after the preparation. */
static int reduces_rest(const spot_embed_config *cfg) { return !cfg->hardness || cfg->dim > 1; }

static spot_status take_prepared(spot_ctx *c, spot_arena *h, spot_arena *work, prepared *b, int p, const spot_reduction *d,
                                 const spot_embed_config *cfg)
{
    const spot_view *v = &d->views[p];
    spot_rows_prepare_problem *r = &b->rows[p];
    spot_points *map = &b->map[p];

    b->left[p] = *v;
    *map = d->out[p];
    *r = work->counting ? (spot_rows_prepare_problem){ 0 } : spot_reduce_preparation(v, cfg);
    SPOT_TRY(spot_reduce_features(c, work, &r->x, v));
    SPOT_TRY(SPOT_TAKE(c, work, r->y, (size_t)v->n * v->d));
    *(c->device ? &b->left[p].device_feature : &b->left[p].feature) = r->y;
    if (!cfg->hardness) return SPOT_OK;
    SPOT_TRY(spot_numbers_on_device(c, work, &r->head, v->head, NULL, (size_t)v->d));
    SPOT_TRY(SPOT_TAKE(c, work, r->along, v->n));
    map->d--;
    SPOT_TRY(SPOT_TAKE(c, h, map->at, (size_t)map->n * map->d));
    return c->device ? SPOT_TAKE(c, work, map->device_at, (size_t)map->n * map->d) : SPOT_OK;
}

/* out (n, dim): the part along the head beside the dim - 1 coordinates of the map. */
static void join_hardness(spot_ctx *c, const prepared *b, int p, const spot_points *out)
{
    const spot_points *map = &b->map[p];
    float *to = spot_points_target(c, out);
    size_t d = (size_t)out->d;

    b->join[2 * p] = (spot_rows_pick_problem){ .n = out->n, .d = 1, .x = b->rows[p].along, .x_row = 1, .x_column = 1, .y = to,
                                               .y_row = d, .y_column = 1 };
    b->join[2 * p + 1] = (spot_rows_pick_problem){ .n = out->n, .d = map->d, .x = spot_points_target(c, map),
                                                   .x_row = d - 1, .x_column = 1, .y = to + 1, .y_row = d, .y_column = 1 };
}

static spot_status reduce_prepared(spot_ctx *c, spot_arena *host, spot_arena *work, prepared *b, const spot_reduction *r,
                                   const spot_embed_config *cfg)
{
    const spot_reduction rest = { r->problems, b->map, b->left, r->seeds };

    for (int p = 0; p < r->problems; p++) SPOT_TRY(take_prepared(c, host, work, b, p, r, cfg));
    if (!host->counting) SPOT_TRY(spot_rows_prepare(c, r->problems, b->rows));
    if (reduces_rest(cfg)) SPOT_TRY(reduce_all(c, host, work, &rest, cfg));
    if (host->counting) return SPOT_OK;
    for (int p = 0; p < r->problems; p++) {
        r->out[p].objective = b->map[p].objective;
        if (cfg->hardness) join_hardness(c, b, p, &r->out[p]);
    }
    return cfg->hardness ? spot_rows_pick(c, 2 * r->problems, b->join) : SPOT_OK;
}

static spot_status reduce_batch(spot_ctx *c, spot_arena *host, spot_arena *work, const spot_reduction *r,
                                const spot_embed_config *cfg)
{
    size_t mark = host->used, n = (size_t)r->problems;
    prepared b;
    spot_status s;

    if (!cfg->normalise && !cfg->hardness) return reduce_all(c, host, work, r, cfg);
    b = (prepared){ calloc(n, sizeof *b.left), calloc(n, sizeof *b.map), calloc(n, sizeof *b.rows),
                    calloc(2 * n, sizeof *b.join) };
    s = b.left && b.map && b.rows && b.join ? reduce_prepared(c, host, work, &b, r, cfg)
                                            : spot_fail(c, SPOT_NOMEM, "no memory for %d problems", r->problems);
    free(b.left), free(b.map), free(b.rows), free(b.join);
    host->used = mark;
    return s;
}

/* Takes the device's memory for maps that shall not stay there. */
static spot_status take_maps(spot_ctx *c, spot_arena *work, int problems, spot_points *out)
{
    for (int p = 0; p < problems; p++) SPOT_TRY(SPOT_TAKE(c, work, out[p].device_at, (size_t)out[p].n * out[p].d));
    return SPOT_OK;
}

/* Opens the device's arena for the reducer; the host gets the points once. stays: the points have their place on the device. */
static spot_status reduce_on_device(spot_ctx *c, spot_arena *host, bool stays, const spot_reduction *r,
                                    const spot_embed_config *cfg)
{
    spot_arena work = spot_arena_counting(), sizes = work;
    spot_status s;

    if (!stays) SPOT_TRY(take_maps(c, &work, r->problems, r->out));
    SPOT_TRY(reduce_batch(c, &sizes, &work, r, cfg));
    SPOT_TRY(spot_arena_open_device(c, &work, work.peak));
    s = stays ? SPOT_OK : take_maps(c, &work, r->problems, r->out);
    if (s == SPOT_OK) s = reduce_batch(c, host, &work, r, cfg);
    for (int p = 0; p < r->problems; p++) {
        if (s == SPOT_OK) s = spot_points_fetch(c, &r->out[p]);
        if (!stays) r->out[p].device_at = NULL;
    }
    spot_arena_close(&work);
    return s;
}

static spot_status take_points(spot_ctx *c, spot_arena *a, spot_arena *on_device, int problems, spot_points *out,
                               const spot_view *views, const spot_embed_config *cfg)
{
    for (int p = 0; p < problems; p++) {
        int d = spot_embed_dim(cfg, views[p].n, views[p].d);
        out[p] = (spot_points){ .n = views[p].n, .d = d, .objective = NAN };
        SPOT_TRY(SPOT_TAKE(c, a, out[p].at, (size_t)out[p].n * out[p].d));
        if (on_device && c->device) SPOT_TRY(SPOT_TAKE(c, on_device, out[p].device_at, (size_t)out[p].n * out[p].d));
    }
    return SPOT_OK;
}

/* Only UMAP has a learning rate that a user can set so high that steps are not finite any more; t-SNE's and scvis' own checks
 * are in their files. */
/* t-SNE and scvis see as they go when they leave the finite numbers. */
static spot_status check_map(spot_ctx *c, const spot_points *map, uint32_t ec)
{
    for (size_t e = 0; e < (size_t)map->n * map->d; e++)
        if (!isfinite(map->at[e]))
            return spot_fail_of(c, SPOT_NUMERIC, ec, "UMAP left the finite numbers at point %zu; lower its lr", e / map->d);
    return SPOT_OK;
}

spot_status spot_embed_fit(spot_ctx *c, spot_arena *a, int problems, spot_points *out, const spot_view *views,
                           const spot_seed *seeds, const spot_embed_config *cfg)
{
    return spot_embed_fit_on(c, a, NULL, problems, out, views, seeds, cfg);
}

spot_status spot_embed_fit_on(spot_ctx *c, spot_arena *a, spot_arena *on_device, int problems, spot_points *out,
                              const spot_view *views, const spot_seed *seeds, const spot_embed_config *cfg)
{
    const spot_reduction r = { problems, out, views, seeds };

    SPOT_TRY(check_config(c, cfg));
    for (int p = 0; p < problems; p++) SPOT_TRY(check_view(c, &views[p], seeds[p].ec, cfg));
    SPOT_TRY(take_points(c, a, on_device, problems, out, views, cfg));
    for (int p = 0; p < problems; p++)
        if (cfg->method != SPOT_REDUCE_NONE && out[p].d < cfg->dim)
            spot_log_of(c, SPOT_LOG_WARN, seeds[p].ec, "%d rows of %d features have no %d principal components; the map has %d "
                        "dimensions", views[p].n, views[p].d, cfg->dim, out[p].d);
    if (c->device) SPOT_TRY(reduce_on_device(c, a, on_device != NULL, &r, cfg));
    else           SPOT_TRY(reduce_batch(c, a, a, &r, cfg));
    for (int p = 0; p < problems && cfg->method == SPOT_REDUCE_UMAP; p++) SPOT_TRY(check_map(c, &out[p], seeds[p].ec));
    return SPOT_OK;
}

/* Counts a batch in `host` and `work`. */
static void count_batch(spot_ctx *c, spot_arena *host, spot_arena *work, int problems, const int *n, int d,
                        const spot_embed_config *cfg)
{
    spot_view *views = calloc((size_t)problems, sizeof *views);
    spot_points *out = calloc((size_t)problems, sizeof *out);
    spot_seed *seeds = calloc((size_t)problems, sizeof *seeds);

    if (views && out && seeds) {
        for (int p = 0; p < problems; p++) views[p] = (spot_view){ .n = n[p], .d = d };
        if (take_points(c, host, NULL, problems, out, views, cfg) == SPOT_OK
            && (!c->device || take_maps(c, work, problems, out) == SPOT_OK))
            reduce_batch(c, host, work, &(spot_reduction){ problems, out, views, seeds }, cfg);
    }
    free(views);
    free(out);
    free(seeds);
}

spot_bytes spot_embed_needs(const spot_ctx *c, int problems, const int *n, int d, const spot_embed_config *cfg)
{
    spot_ctx quiet = { .ops = c->ops, .device = c->device, .threads = c->threads };
    spot_arena host = spot_arena_counting(), work = host;

    count_batch(&quiet, &host, c->device ? &work : &host, problems, n, d, cfg);
    return (spot_bytes){ host.peak, work.peak };
}

size_t spot_embed_bytes(int problems, const int *n, int d, const spot_embed_config *cfg, int threads)
{
    const spot_ctx c = { .ops = &spot_ops_cpu, .threads = threads };

    return spot_embed_needs(&c, problems, n, d, cfg).host;
}
