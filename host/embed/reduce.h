/* reduce.h - the three reducers behind spot_embed_fit. All rewind their scratch, and only count in a counting arena.
 * x is (n, d), finite; out is (n, dim). Views and points lie in the host's memory; `host` is an arena there and `work` one in
 * that of c's device. On the CPU the two are one. */
#ifndef SPOTTER_HOST_EMBED_REDUCE_H
#define SPOTTER_HOST_EMBED_REDUCE_H

#include "spotter/embed.h"

/* Scores on the first dim principal components, and the variance that they leave out. Each component's sign makes its
 * loading of largest magnitude positive. Components beyond min(n, d) are 0. Of the host: x, out and a lie there. */
spot_status spot_pca_scores(spot_ctx *c, spot_arena *a, float *out, double *left_out, const float *x, int n, int d, int dim);

/* v's features where c's kernels can read them: themselves on the CPU, else a copy in work. */
spot_status spot_reduce_features(spot_ctx *c, spot_arena *work, float **x, const spot_view *v);

/* The descent and all before it run on the device but for the start: PCA is LAPACK's. */
spot_status spot_tsne_map(spot_ctx *c, spot_arena *host, spot_arena *work, int problems, spot_points *out,
                          const spot_view *views, const spot_seed *seeds, const spot_tsne_config *cfg);

spot_status spot_scvis_map(spot_ctx *c, spot_arena *work, int problems, spot_points *out, const spot_view *views,
                           const spot_seed *seeds, const spot_scvis_config *cfg);

#endif
