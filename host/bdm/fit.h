/* fit.h - what a method keeps so that new rows can be assigned, and the reducer's part of it, which all methods share. All of
 * it is the host's on every device. */
#ifndef SPOTTER_FIT_H
#define SPOTTER_FIT_H

#include "spotter/bdm.h"

/* A named array of (rows, columns), columns 0: (rows). The first copies data, unless it is NULL, and hands out the copy; the
 * second borrows it. */
spot_status spot_fit_put   (spot_ctx *c, spot_fit *f, const char *name, spot_dtype type, const void *data, int rows,
                            int columns, void **copy);
spot_status spot_fit_borrow(spot_ctx *c, spot_fit *f, const char *name, spot_dtype type, const void *data, int rows,
                            int columns);

/* NULL where there is none. */
spot_fit_tensor *spot_fit_find(const spot_fit *f, const char *name);

/* When it is there with this type and shape, and its numbers are finite; else SPOT_INPUT. rows or columns -1: any. */
spot_status spot_fit_take(spot_ctx *c, const spot_fit *f, const char *name, spot_dtype type, int rows, int columns,
                          const spot_fit_tensor **t);

/* The same of I32s that must lie in [least, most]: they will be indices. */
spot_status spot_fit_indices(spot_ctx *c, const spot_fit *f, const char *name, int rows, int least, int most, const int **v);

/* The same of F64s that are probabilities. */
spot_status spot_fit_shares(spot_ctx *c, const spot_fit *f, const char *name, int rows, int columns, const spot_fit_tensor **t);

/* SPOT_INPUT when rows have no confidence, for methods that go by it; `method` names it in the sentence. */
spot_status spot_fit_wants_confidence(spot_ctx *c, const spot_view *rows, const char *method);

/* The reducer, as learned from a view and its points. PCA is a mean and axes. A map (t-SNE, UMAP, scvis) is its rows and
 * points, borrowed from the view: a new row lies at the mean of its 3 nearest rows' points, weighted by 1 / distance, or on the
 * first one whose features it has. */
spot_status spot_fit_reducer(spot_ctx *c, spot_fit *f, const spot_view *view, const spot_points *points,
                             const spot_embed_config *cfg);
spot_status spot_fit_place(spot_ctx *c, spot_arena *a, spot_points *points, const spot_view *rows, const spot_fit *f,
                           const spot_embed_config *cfg);

/* Whether that keeps the points themselves, as reduce.point (n, d). */
bool spot_fit_has_points(const spot_embed_config *cfg);

/* label (n): the component of greatest responsibility, the first of equals, of a full mixture that the fit holds as
 * mixture.weight (k), mixture.mean (k, d) and mixture.covariance (k, d * d), for each of n rows of d coordinates. a is for
 * scratch. */
spot_status spot_fit_component(spot_ctx *c, spot_arena *a, int *label, const float *x, int n, int d, const spot_fit *f);

#endif
