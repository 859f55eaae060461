/* fit.h - the arrays that a method keeps to assign new rows, and the reducer's part of them, which all methods share. They lie
 * on the host on every device. */
#ifndef SPOTTER_FIT_H
#define SPOTTER_FIT_H

#include "spotter/bdm.h"

/* Add a named array of shape (rows, columns); columns 0: (rows). put copies data (zeros if NULL) and returns the copy; borrow
 * keeps the pointer. */
spot_status spot_fit_put   (spot_ctx *c, spot_fit *f, const char *name, spot_dtype type, const void *data, int rows,
                            int columns, void *copy);
spot_status spot_fit_borrow(spot_ctx *c, spot_fit *f, const char *name, spot_dtype type, const void *data, int rows,
                            int columns);

/* NULL if there is no such array. */
spot_fit_tensor *spot_fit_find(const spot_fit *f, const char *name);

/* Finds an array of this type and shape with finite numbers; else SPOT_INPUT. rows or columns -1: any. */
spot_status spot_fit_take(spot_ctx *c, const spot_fit *f, const char *name, spot_dtype type, int rows, int columns,
                          const spot_fit_tensor **t);

/* spot_fit_take for I32 indices, all in [least, most]. */
spot_status spot_fit_indices(spot_ctx *c, const spot_fit *f, const char *name, int rows, int least, int most, const int **v);

/* spot_fit_take for F64 probabilities. */
spot_status spot_fit_shares(spot_ctx *c, const spot_fit *f, const char *name, int rows, int columns, const spot_fit_tensor **t);

/* SPOT_INPUT if rows have no confidence, for methods that need it; `method` is for the error. */
spot_status spot_fit_wants_confidence(spot_ctx *c, const spot_view *rows, const char *method);

/* reducer: keeps the reducer of a view and its points. place: computes the points of new rows. PCA keeps a mean and axes. A map
 * (t-SNE, UMAP, scvis) keeps its rows and points, borrowed from the view: a new row lies at the mean of its 3 nearest rows'
 * points, weighted by 1 / distance, or on the first row with the same features. */
spot_status spot_fit_reducer(spot_ctx *c, spot_fit *f, const spot_view *view, const spot_points *points,
                             const spot_embed_config *cfg);
spot_status spot_fit_place(spot_ctx *c, spot_arena *a, spot_points *points, const spot_view *rows, const spot_fit *f,
                           const spot_embed_config *cfg);

/* For methods whose new rows look for fitted ones. hypotheses: each fitted row's, -1 for none, as "hypothesis" (n). points: the
 * fitted rows' points, which the reducer of a map keeps already. */
spot_status spot_fit_put_hypotheses(spot_ctx *c, spot_fit *f, const spot_hypotheses *found, int n);
spot_status spot_fit_put_points (spot_ctx *c, spot_fit *f, const spot_points *points, const spot_embed_config *cfg);
spot_status spot_fit_take_points(spot_ctx *c, const spot_fit *f, int d, const spot_embed_config *cfg,
                                 const spot_fit_tensor **t);

/* label (n): the component of greatest responsibility, the first of equals, for each of n rows of d coordinates. The fit holds
 * a full mixture: mixture.weight (k), mixture.mean (k, d), mixture.covariance (k, d * d). a: scratch memory. */
spot_status spot_fit_component(spot_ctx *c, spot_arena *a, int *label, const float *x, int n, int d, const spot_fit *f);

#endif
