/* reduce.h - the three reducers behind spot_embed_fit. All rewind their scratch, and only count in a counting arena.
 * x is (n, d), finite; out is (n, dim). */
#ifndef SPOTTER_HOST_EMBED_REDUCE_H
#define SPOTTER_HOST_EMBED_REDUCE_H

#include "spotter/embed.h"

/* Scores on the first dim principal components, and the variance that they leave out. Each component's sign makes its
 * loading of largest magnitude positive. Components beyond min(n, d) are 0. Of the host: x, out and a lie there. */
spot_status spot_pca_scores(spot_ctx *c, spot_arena *a, float *out, double *left_out, const float *x, int n, int d, int dim);

/* Features and points lie in the memory of c's device. The descent and all before it run there, but for the start: PCA is
 * LAPACK's, so features cross to the host once and the start comes back; points pass the host on their way out. */
spot_status spot_tsne_map(spot_ctx *c, spot_arena *a, int problems, spot_points *out, const spot_view *views,
                          const spot_seed *seeds, const spot_tsne_config *cfg);

spot_status spot_scvis_map(spot_ctx *c, spot_arena *a, int problems, spot_points *out, const spot_view *views,
                           const spot_seed *seeds, const spot_scvis_config *cfg);

#endif
