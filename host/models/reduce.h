/* reduce.h - the reducers behind spot_embed_fit. All rewind their scratch, and only count in a counting arena.
 * x is (n, d), finite; out is (n, dim). Views and `host` lie in the host's memory, `work` in that of c's device. On the CPU
 * both arenas are the same. A reducer writes its points to out[p].at; on a device to out[p].device_at alone, which is never
 * NULL. */
#ifndef SPOTTER_REDUCE_H
#define SPOTTER_REDUCE_H

#include "map/rows.h"
#include "spotter/embed.h"

/* Writes the scores on the first out[p].d principal components, and the variance outside these components to its
 * objective. Each component's loading of largest magnitude is positive. Components beyond min(n, d) are 0. A problem has
 * the same bits on every device, alone and in a batch. */
spot_status spot_pca_map(spot_ctx *c, spot_arena *host, spot_arena *work, int problems, spot_points *out,
                         const spot_view *views);

/* Recomputes the mean (d) and the axes (kept, d), kept <= d, of spot_pca_map for v. Runs on the host on every device. */
spot_status spot_pca_axes(spot_ctx *c, double *mean, double *axis, int kept, const spot_view *v);

/* The Euclidean length of a row of d numbers. */
double spot_row_length(const float *x, int d);

/* Copies v's rows to left->feature (n, d), normalised to length 1 and without their part along v's head, as cfg asks. along
 * (n), or NULL, receives that part. On the host. preparation: the op's problem for it, without arrays. */
spot_status spot_reduce_prepare(spot_ctx *c, const spot_view *left, float *along, const spot_view *v,
                                const spot_embed_config *cfg);
spot_rows_prepare_problem spot_reduce_preparation(const spot_view *v, const spot_embed_config *cfg);

/* v's features, or points, in the memory of c's device: their own array on the CPU; where they are on the device, that array;
 * else a copy in work. */
spot_status spot_reduce_features(spot_ctx *c, spot_arena *work, const float **x, const spot_view *v);
spot_status spot_points_on_device(spot_ctx *c, spot_arena *work, const float **x, const spot_points *points);

/* target: where a reducer writes the points. put: takes device_at from `on_device` and copies the points to it. fetch: copies
 * them from there; nothing to do on the CPU. */
float      *spot_points_target(const spot_ctx *c, const spot_points *points);
spot_status spot_points_put(spot_ctx *c, spot_arena *on_device, spot_points *points);
spot_status spot_points_fetch(spot_ctx *c, const spot_points *points);

/* Problems of a reducer: views[p] -> out[p]. */
typedef struct { int problems; spot_points *out; const spot_view *views; const spot_seed *seeds; } spot_reduction;

spot_status spot_tsne_map(spot_ctx *c, spot_arena *host, spot_arena *work, const spot_reduction *r,
                          const spot_tsne_config *cfg);

/* spot_umap_curve: fits a and b of (1 + a x^2b)^-1 by least squares at 300 points of [0, 3 spread]. The target is 1 up to
 * min_dist and exp(-(x - min_dist) / spread) beyond. */
spot_status spot_umap_map(spot_ctx *c, spot_arena *host, spot_arena *work, const spot_reduction *r,
                          const spot_umap_config *cfg);
void        spot_umap_curve(double *a, double *b, double min_dist, double spread);

spot_status spot_scvis_map(spot_ctx *c, spot_arena *work, const spot_reduction *r, const spot_scvis_config *cfg);

#endif
