/* embed.h - features -> points: scvis, t-SNE, UMAP, PCA, or nothing at all.
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

/* Of t-SNE's points: of every pair, or interpolated (Linderman et al. 2019); auto is exact up to 20,000 points. */
typedef enum { SPOT_TSNE_AUTO, SPOT_TSNE_BY_PAIR, SPOT_TSNE_BY_FFT } spot_tsne_repulsion;

/* t-SNE (van der Maaten & Hinton 2008); defaults are scikit-learn's. */
typedef struct {
    double perplexity;         /* 30 */
    int    iterations;         /* 1000, the first 250 exaggerated by 12 */
    double exaggeration;
    double lr;                 /* 0 = max(n / exaggeration / 4, 50) */
    int    repulsion;          /* spot_tsne_repulsion */
} spot_tsne_config;

/* scvis (Ding, Condon, Shah 2018). Each switch on = the original implementation's behaviour. */
typedef struct {
    double perplexity;         /* 10 */
    int    batch;              /* 512, at most n */
    int    iterations;         /* 0 = the original's rule: 100 epochs of round(n/batch), at least 3000, at most 30000 */
    double lr, l2;             /* 0.01, 0.001 */
    struct {
        int perplexity_log2;   /* target entropy log2(perplexity) though entropy is in nats: 10 acts as 27.7 */
        int drop_tail;         /* the last partial batch of an epoch is dropped */
        int max_abs;           /* input divided by its largest absolute value (off: standardised columns) */
        int weight_dropout;    /* keep 0.9 on the weight matrix of the encoder's mean head */
        int kl_decay;          /* KL times max(0.1, D/t) (off: 1) */
        int tsne_ramp;         /* t-SNE term times min(t, D) (off: D) */
        int column_weight;     /* likelihood weighted by the clipped column sums of P (off: 1) */
        int adam_eps;          /* epsilon 1e-3 (off: 1e-8) */
    } compat;
} spot_scvis_config;

/* UMAP (McInnes, Healy & Melville 2018) with exact neighbours, to at most 32 dimensions; defaults are umap-learn's. */
typedef struct {
    int    neighbours;         /* 15, a point counts as its own first; at most n, with a message */
    double min_dist, spread;   /* 0.1, 1 */
    int    epochs;             /* 0: 500 up to 10,000 points, 200 above */
    int    negatives;          /* 5 a drawn edge */
    double lr;                 /* 1 */
} spot_umap_config;

typedef struct {
    int method;                /* spot_reduce */
    int normalise;             /* every row to length 1 first */
    int hardness;              /* 1st coordinate: along view.head; the others: of the reducer on what is left (GEORGE); dim 1:
                                * hardness alone. Not with none. */
    int dim;                   /* of the points, see spot_embed_dim; ignored by none */
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

/* Dimensions of the points of n rows of d features: dim, or what PCA has where these are fewer: min(n - 1, d), at least 1.
 * It grows with n and with d. */
int spot_embed_dim(const spot_embed_config *cfg, int n, int d);

/* Views, arena and out[p], which lives in a, are the host's on every device; features and maps cross over and the work is
 * done in device memory of its own. SPOT_INPUT for fewer than 4 rows or features that are not finite; SPOT_NUMERIC if it
 * diverges. */
spot_status spot_embed_fit(spot_ctx *c, spot_arena *a, int problems, spot_points *out, const spot_view *views,
                           const spot_seed *seeds, const spot_embed_config *cfg);

/* For the batch, n[p] rows of d features; and what it takes of the arena on the CPU, which is the most. */
spot_bytes spot_embed_needs(const spot_ctx *c, int problems, const int *n, int d, const spot_embed_config *cfg);
size_t     spot_embed_bytes(int problems, const int *n, int d, const spot_embed_config *cfg, int threads);

#ifdef __cplusplus
}
#endif
#endif
