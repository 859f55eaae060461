/* vote.h - membership by neighbours: a row belongs where most of its nearest rows do, whatever the classifier says of it. */
#ifndef SPOTTER_VOTE_H
#define SPOTTER_VOTE_H

#include "spotter/arena.h"
#include "spotter/bdm.h"

/* Rows of a matrix of d columns; row NULL: the first n. */
typedef struct { const float *feature; const int *row; int n; } spot_some_rows;

/* The votes among n rows that `asked` of them cast: an odd number, asked at most. n and asked are at least 1. */
int spot_voters(int n, int asked);

/* nearest (x.n, k): for each row of x its k nearest rows of y by squared distance (gemm.h: sums in a fixed order), nearest
 * first; of equals the first. Entries index y, from 0 to y.n - 1. k is y.n at most. Takes scratch from a; a counting arena only
 * counts. Arrays lie on the host. The same neighbours on every device (gpu_to_gpu) and for any number of threads. */
spot_status spot_nearest_rows(spot_ctx *c, spot_arena *a, int *nearest, spot_some_rows x, spot_some_rows y, int d, int k);

/* Bytes of scratch, at most, for y.n of n and any x. */
size_t spot_nearest_bytes(const spot_ctx *c, int n, int d, int k);

/* The fit of a merged finding: the examined rows of a class with their slices; without slices the features alone, which
 * assigns no row. feature (n, d) is borrowed, member (n, slices) copied. `voters` as in spot_proof_options.neighbours. */
spot_status spot_vote_fit(spot_ctx *c, spot_fit *f, const float *feature, int n, int d, const uint8_t *member, int slices,
                          int voters);

/* Names of a fit's features: of a finding's rows; in the fit of the first finding, of all rows, ascending, whose class was left
 * out as too small or without an error. Findings of earlier versions have neither where there is no slice. */
#define SPOT_VOTE_FEATURE "neighbours.feature"
#define SPOT_LEFT_OUT     "left_out.feature"

/* Whether a fit has slices that vote; spot_assign for it. */
bool        spot_is_vote(const spot_fit *f);
spot_status spot_vote_assign(spot_ctx *c, spot_arena *a, uint8_t *member, int slices, const spot_view *rows, const spot_fit *f);

#endif
