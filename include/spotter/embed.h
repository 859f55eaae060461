/* embed.h - features -> points: scvis, t-SNE, UMAP, PCA, or no reduction.
 *
 * Every function takes `problems` independent problems (ECs, seeds) and solves them as one batch; a problem's result
 * does not depend on its neighbours in the batch. run_to_run; the same bits for any number of threads. */
#ifndef SPOTTER_EMBED_H
#define SPOTTER_EMBED_H

#include <stdint.h>

#include "spotter/arena.h"
#include "spotter/ctx.h"
#include "spotter/rng.h"
#include "spotter/view.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { SPOT_REDUCE_NONE, SPOT_REDUCE_PCA, SPOT_REDUCE_TSNE, SPOT_REDUCE_SCVIS,
               SPOT_REDUCE_UMAP } spot_reduce;

/* Repulsion of t-SNE's points: exact for every pair, or interpolated (Linderman et al. 2019). AUTO: exact to 20,000 points. */
typedef enum { SPOT_TSNE_AUTO, SPOT_TSNE_BY_PAIR, SPOT_TSNE_BY_FFT } spot_tsne_repulsion;

/* Defaults, ranges and meanings of all settings: `spotter help config`. */

/* t-SNE (van der Maaten & Hinton 2008); defaults are scikit-learn's. */
typedef struct {
    double perplexity;
    int    iterations;         /* the first 250 are exaggerated */
    double exaggeration;
    double lr;                 /* 0 = max(n / exaggeration / 4, 50) */
    int    repulsion;          /* spot_tsne_repulsion */
} spot_tsne_config;

/* scvis (Ding, Condon, Shah 2018). Each switch of compat, if on, selects the behaviour of the original implementation. */
typedef struct {
    double perplexity;
    int    batch;              /* at most n */
    int    iterations;         /* 0 = the original's rule: 100 epochs of round(n/batch), at least 3000, at most 30000 */
    double lr, l2;
    struct {
        int perplexity_log2;   /* target entropy log2(perplexity) though entropy is in nats: 10 acts as 27.7 */
        int drop_tail;         /* the last partial batch of an epoch is dropped */
        int max_abs;           /* input divided by its largest absolute value (off: standardised columns) */
        int weight_dropout;    /* dropout (keep 0.9) on the weight matrix of the encoder's mean head */
        int kl_decay;          /* KL times max(0.1, D/t) (off: 1) */
        int tsne_ramp;         /* t-SNE term times min(t, D) (off: D) */
        int column_weight;     /* likelihood weighted by the clipped column sums of P (off: 1) */
        int adam_eps;          /* epsilon 1e-3 (off: 1e-8) */
    } compat;
} spot_scvis_config;

/* UMAP (McInnes, Healy & Melville 2018) with exact neighbours, to at most 32 dimensions; defaults are umap-learn's. */
typedef struct {
    int    neighbours;         /* a point is its own first neighbour; at most n, with a message */
    double min_dist, spread;
    int    epochs;             /* 0: 500 up to 10,000 points, 200 above */
    int    negatives;          /* points that each drawn edge repels */
    double lr;
} spot_umap_config;

typedef struct {
    int method;                /* spot_reduce */
    int normalise;             /* every row to length 1 first */
    int hardness;              /* GEORGE: the 1st coordinate is the projection on view.head, the others are the reducer's on the
                                * residual; dim 1: the 1st alone. Not with method NONE */
    int dim;                   /* dimensions of the points, see spot_embed_dim; NONE ignores it */
    spot_tsne_config  tsne;
    spot_scvis_config scvis;
    spot_umap_config  umap;
} spot_embed_config;

spot_embed_config spot_embed_defaults(void);

/* Whether the points are the features as they are. */
static inline int spot_embed_is_nothing(const spot_embed_config *cfg)
{
    return cfg->method == SPOT_REDUCE_NONE && !cfg->normalise && !cfg->hardness;
}

/* Dimensions of the points for n rows of d features: dim, with PCA at most max(min(n - 1, d), 1). It grows with n and d. */
int spot_embed_dim(const spot_embed_config *cfg, int n, int d);

/* Views, arena and out[p], which lives in a, lie on the host on every device; on CUDA the call copies maps, and features that
 * are not on the device, and works in device memory of its own. SPOT_INPUT for fewer than 4 rows or features that are not
 * finite; SPOT_NUMERIC if it diverges. */
spot_status spot_embed_fit(spot_ctx *c, spot_arena *a, int problems, spot_points *out, const spot_view *views,
                           const spot_seed *seeds, const spot_embed_config *cfg);

/* spot_embed_fit that leaves the points on the device, too: out[p].device_at lives in `on_device`, an arena of c's device.
 * NULL, or on the CPU: they lie on the host alone. */
spot_status spot_embed_fit_on(spot_ctx *c, spot_arena *a, spot_arena *on_device, int problems, spot_points *out,
                              const spot_view *views, const spot_seed *seeds, const spot_embed_config *cfg);

/* Memory of spot_embed_fit for a batch of n[p] rows of d features; and its arena bytes on the CPU, the most of all devices. */
spot_bytes spot_embed_needs(const spot_ctx *c, int problems, const int *n, int d, const spot_embed_config *cfg);
size_t     spot_embed_bytes(int problems, const int *n, int d, const spot_embed_config *cfg, int threads);

#ifdef __cplusplus
}
#endif
#endif
