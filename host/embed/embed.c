/* embed.c - the door to the reducers: checks, memory, dispatch. */
#include "spotter/embed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/device.h"
#include "embed/reduce.h"

spot_embed_config spot_embed_defaults(void)
{
    return (spot_embed_config){
        .method = SPOT_REDUCE_SCVIS,
        .dim = 2,
        .tsne = { .perplexity = 30, .iterations = 1000, .exaggeration = 12, .lr = 0 },
        .scvis = { .perplexity = 10, .batch = 512, .iterations = 0, .lr = 0.01, .l2 = 0.001,
                   .compat = { 1, 1, 1, 1, 1, 1, 1, 1 } },
        .umap = { .neighbours = 15, .min_dist = 0.1, .spread = 1, .epochs = 0, .negatives = 5, .lr = 1 },
    };
}

int spot_embed_dim(const spot_embed_config *cfg, int n, int d)
{
    int own = cfg->hardness != 0, most = n - 1 < d - own ? n - 1 : d - own;     /* hardness is the first and the others' loss */

    if (cfg->method == SPOT_REDUCE_NONE) return d;
    most = most > 1 ? most : 1;
    return cfg->method == SPOT_REDUCE_PCA && cfg->dim - own > most ? own + most : cfg->dim;
}

static spot_status check_view(spot_ctx *c, const spot_view *v, uint32_t ec, const spot_embed_config *cfg)
{
    double head;

    if (v->n < 4 || v->d < 1)
        return spot_fail_of(c, SPOT_INPUT, ec, "%d rows of %d features cannot be embedded; give at least 4 rows", v->n, v->d);
    SPOT_TRY(spot_view_check(c, v, ec));
    if (!cfg->hardness) return SPOT_OK;
    if (!v->head)
        return spot_fail_of(c, SPOT_INPUT, ec, "hardness needs the direction of the classifier's head, which is not known of "
                            "these features; give it or set hardness: false");
    head = spot_row_length(v->head, v->d);
    if (!(head > 0 && head <= SPOT_LARGEST_FEATURE))
        return spot_fail_of(c, SPOT_INPUT, ec, "the classifier's head has length %g and so no direction; set hardness: false",
                            head);
    return SPOT_OK;
}

static spot_status check_config(spot_ctx *c, const spot_embed_config *cfg)
{
    if (cfg->method < SPOT_REDUCE_NONE || cfg->method > SPOT_REDUCE_UMAP)
        return spot_fail(c, SPOT_USAGE, "there is no reducer number %d", cfg->method);
    if (cfg->method != SPOT_REDUCE_NONE && cfg->dim < 1)
        return spot_fail(c, SPOT_USAGE, "a map of %d dimensions cannot be; set reduce dim to 1 or more", cfg->dim);
    if (cfg->method == SPOT_REDUCE_NONE && cfg->hardness)
        return spot_fail(c, SPOT_USAGE, "hardness goes with a reducer of what is left; set reduce, and dim: 1 for hardness "
                         "alone");
    if (cfg->method == SPOT_REDUCE_TSNE
        && !(cfg->tsne.perplexity >= 1 && cfg->tsne.iterations >= 1 && cfg->tsne.exaggeration >= 1 && cfg->tsne.lr >= 0))
        return spot_fail(c, SPOT_USAGE, "t-SNE needs perplexity >= 1, iterations >= 1, exaggeration >= 1 and lr >= 0");
    if (cfg->method == SPOT_REDUCE_UMAP
        && !(cfg->umap.neighbours >= 2 && cfg->umap.min_dist >= 0 && cfg->umap.min_dist <= cfg->umap.spread
             && cfg->umap.spread > 0 && cfg->umap.epochs >= 0 && cfg->umap.negatives >= 0 && cfg->umap.lr > 0))
        return spot_fail(c, SPOT_USAGE, "UMAP needs neighbours >= 2, 0 <= min_dist <= spread, spread > 0, epochs >= 0, "
                         "negatives >= 0 and lr > 0");
    if (cfg->method == SPOT_REDUCE_SCVIS
        && !(cfg->scvis.perplexity >= 1 && cfg->scvis.batch >= 4 && cfg->scvis.iterations >= 0 && cfg->scvis.lr > 0
             && cfg->scvis.l2 >= 0))
        return spot_fail(c, SPOT_USAGE, "scvis needs perplexity >= 1, batch >= 4, iterations >= 0, lr > 0 and l2 >= 0");
    return SPOT_OK;
}

static spot_status reduce_all(spot_ctx *c, spot_arena *host, spot_arena *work, int problems, spot_points *out,
                              const spot_view *views, const spot_seed *seeds, const spot_embed_config *cfg)
{
    switch (cfg->method) {
    case SPOT_REDUCE_PCA:   return spot_pca_map(c, host, work, problems, out, views);
    case SPOT_REDUCE_TSNE:  return spot_tsne_map(c, host, work, problems, out, views, seeds, &cfg->tsne);
    case SPOT_REDUCE_SCVIS: return spot_scvis_map(c, work, problems, out, views, seeds, &cfg->scvis);
    case SPOT_REDUCE_UMAP:  return spot_umap_map(c, host, work, problems, out, views, seeds, &cfg->umap);
    }
    for (int p = 0; p < problems && !host->counting; p++)
        memcpy(out[p].at, views[p].feature, (size_t)out[p].n * out[p].d * sizeof *out[p].at);
    return SPOT_OK;
}

/* out (n, dim): `along` beside the dim - 1 coordinates of `map`. */
static void join(const spot_points *out, const float *along, const spot_points *map)
{
    for (int i = 0; i < out->n; i++) {
        out->at[(size_t)i * out->d] = along[i];
        memcpy(out->at + (size_t)i * out->d + 1, map->at + (size_t)i * map->d, (size_t)map->d * sizeof *map->at);
    }
}

/* What the reducer gets instead of a batch: rows of length 1, or hardness taken out of them and the map's first coordinate. */
typedef struct { spot_view *left; spot_points *map; float **along; } prepared;

static spot_status take_prepared(spot_ctx *c, spot_arena *h, prepared *b, int problems, const spot_points *out,
                                 const spot_view *views, const spot_embed_config *cfg)
{
    for (int p = 0; p < problems; p++) {
        b->left[p] = views[p];
        b->map[p] = out[p];
        SPOT_TRY(SPOT_TAKE(c, h, b->left[p].feature, (size_t)views[p].n * views[p].d));
        if (!cfg->hardness) continue;
        b->map[p].d--;
        SPOT_TRY(SPOT_TAKE(c, h, b->along[p], views[p].n));
        SPOT_TRY(SPOT_TAKE(c, h, b->map[p].at, (size_t)out[p].n * b->map[p].d));
    }
    return SPOT_OK;
}

static spot_status reduce_prepared(spot_ctx *c, spot_arena *host, spot_arena *work, prepared *b, int problems,
                                   spot_points *out, const spot_view *views, const spot_seed *seeds,
                                   const spot_embed_config *cfg)
{
    SPOT_TRY(take_prepared(c, host, b, problems, out, views, cfg));
    for (int p = 0; p < problems && !host->counting; p++)
        spot_reduce_prepare(c, &b->left[p], b->along[p], &views[p], cfg);
    if (!cfg->hardness || cfg->dim > 1) SPOT_TRY(reduce_all(c, host, work, problems, b->map, b->left, seeds, cfg));
    for (int p = 0; p < problems && !host->counting; p++) {
        out[p].objective = b->map[p].objective;
        if (cfg->hardness) join(&out[p], b->along[p], &b->map[p]);
    }
    return SPOT_OK;
}

static spot_status reduce(spot_ctx *c, spot_arena *host, spot_arena *work, int problems, spot_points *out,
                          const spot_view *views, const spot_seed *seeds, const spot_embed_config *cfg)
{
    size_t mark = host->used, n = (size_t)problems;
    prepared b;
    spot_status s;

    if (!cfg->normalise && !cfg->hardness) return reduce_all(c, host, work, problems, out, views, seeds, cfg);
    b = (prepared){ calloc(n, sizeof *b.left), calloc(n, sizeof *b.map), calloc(n, sizeof *b.along) };
    s = b.left && b.map && b.along ? reduce_prepared(c, host, work, &b, problems, out, views, seeds, cfg)
                                   : spot_fail(c, SPOT_NOMEM, "no memory for %d problems", problems);
    free(b.left), free(b.map), free(b.along);
    host->used = mark;
    return s;
}

/* `work` for as long as the reducer works. */
static spot_status reduce_on_device(spot_ctx *c, spot_arena *host, int problems, spot_points *out, const spot_view *views,
                                    const spot_seed *seeds, const spot_embed_config *cfg)
{
    spot_arena work = spot_arena_counting(), sizes = work;
    spot_status s;

    SPOT_TRY(reduce(c, &sizes, &work, problems, out, views, seeds, cfg));
    SPOT_TRY(spot_arena_open_device(c, &work, work.peak));
    s = reduce(c, host, &work, problems, out, views, seeds, cfg);
    spot_arena_close(&work);
    return s;
}

static spot_status take_points(spot_ctx *c, spot_arena *a, int problems, spot_points *out, const spot_view *views,
                               const spot_embed_config *cfg)
{
    for (int p = 0; p < problems; p++) {
        int d = spot_embed_dim(cfg, views[p].n, views[p].d);
        out[p] = (spot_points){ .n = views[p].n, .d = d, .objective = NAN };
        SPOT_TRY(SPOT_TAKE(c, a, out[p].at, (size_t)out[p].n * out[p].d));
    }
    return SPOT_OK;
}

spot_status spot_embed_fit(spot_ctx *c, spot_arena *a, int problems, spot_points *out, const spot_view *views,
                           const spot_seed *seeds, const spot_embed_config *cfg)
{
    SPOT_TRY(check_config(c, cfg));
    for (int p = 0; p < problems; p++) SPOT_TRY(check_view(c, &views[p], seeds[p].ec, cfg));
    SPOT_TRY(take_points(c, a, problems, out, views, cfg));
    for (int p = 0; p < problems; p++)
        if (cfg->method != SPOT_REDUCE_NONE && out[p].d < cfg->dim)
            spot_log_of(c, SPOT_LOG_WARN, seeds[p].ec, "%d rows of %d features have no %d principal components; the map has %d "
                        "dimensions", views[p].n, views[p].d, cfg->dim, out[p].d);
    return c->device ? reduce_on_device(c, a, problems, out, views, seeds, cfg)
                     : reduce(c, a, a, problems, out, views, seeds, cfg);
}

/* The peaks of a batch in `host` and in `work`, both counting. */
static void measure(spot_ctx *c, spot_arena *host, spot_arena *work, int problems, const int *n, int d,
                    const spot_embed_config *cfg)
{
    spot_view *views = calloc((size_t)problems, sizeof *views);
    spot_points *out = calloc((size_t)problems, sizeof *out);
    spot_seed *seeds = calloc((size_t)problems, sizeof *seeds);

    if (views && out && seeds) {
        for (int p = 0; p < problems; p++) views[p] = (spot_view){ .n = n[p], .d = d };
        if (take_points(c, host, problems, out, views, cfg) == SPOT_OK)
            reduce(c, host, work, problems, out, views, seeds, cfg);
    }
    free(views);
    free(out);
    free(seeds);
}

spot_bytes spot_embed_needs(const spot_ctx *c, int problems, const int *n, int d, const spot_embed_config *cfg)
{
    spot_ctx quiet = { .ops = c->ops, .device = c->device, .threads = c->threads };
    spot_arena host = spot_arena_counting(), work = host;

    measure(&quiet, &host, c->device ? &work : &host, problems, n, d, cfg);
    return (spot_bytes){ host.peak + 64, work.peak };      /* an arena that is not at a multiple of 64 loses up to that */
}

size_t spot_embed_bytes(int problems, const int *n, int d, const spot_embed_config *cfg, int threads)
{
    const spot_ctx c = { .ops = &spot_ops_cpu, .threads = threads };

    return spot_embed_needs(&c, problems, n, d, cfg).host;
}
