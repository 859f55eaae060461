/* reduce.h - the reducers behind spot_embed_fit. All rewind their scratch, and only count in a counting arena.
 * x is (n, d), finite; out is (n, dim). Views and points lie in the host's memory; `host` is an arena there and `work` one in
 * that of c's device. On the CPU the two are one. */
#ifndef SPOTTER_REDUCE_H
#define SPOTTER_REDUCE_H

#include "spotter/embed.h"

/* Scores on the first out[p].d principal components into out[p].at, and into its objective the variance that they leave
 * out. Each component's sign makes its loading of largest magnitude positive. Components beyond min(n, d) are 0. The same bits
 * on every device, for a problem alone and in a batch. */
spot_status spot_pca_map(spot_ctx *c, spot_arena *host, spot_arena *work, int problems, spot_points *out,
                         const spot_view *views);

/* The mean (d) and the axes (kept, d), kept <= d, that spot_pca_map projects v on: found again, on the host on every device. */
spot_status spot_pca_axes(spot_ctx *c, double *mean, double *axis, int kept, const spot_view *v);

/* The length of a row of d numbers. */
double spot_row_length(const float *x, int d);

/* Rows of v, made length 1 and their part along v's head taken out as cfg has it, into left->feature (n, d); that part into
 * along (n), or NULL. All on the host. */
void spot_reduce_prepare(spot_ctx *c, const spot_view *left, float *along, const spot_view *v, const spot_embed_config *cfg);

/* v's features where c's kernels can read them: themselves on the CPU, else a copy in work. */
spot_status spot_reduce_features(spot_ctx *c, spot_arena *work, float **x, const spot_view *v);

spot_status spot_tsne_map(spot_ctx *c, spot_arena *host, spot_arena *work, int problems, spot_points *out,
                          const spot_view *views, const spot_seed *seeds, const spot_tsne_config *cfg);

/* spot_umap_curve: a and b of (1 + a x^2b)^-1, nearest to 1 up to min_dist and exp(-(x - min_dist) / spread) beyond, by least
 * squares over 300 points of [0, 3 spread]. */
spot_status spot_umap_map(spot_ctx *c, spot_arena *host, spot_arena *work, int problems, spot_points *out,
                          const spot_view *views, const spot_seed *seeds, const spot_umap_config *cfg);
void        spot_umap_curve(double *a, double *b, double min_dist, double spread);

spot_status spot_scvis_map(spot_ctx *c, spot_arena *work, int problems, spot_points *out, const spot_view *views,
                           const spot_seed *seeds, const spot_scvis_config *cfg);

#endif
