/* join_pieces.h - small pieces of the rows become slices: pieces that fail and lie together are joined.
 *
 * b, the background's rate, is the error rate of the median row's piece. A piece of n rows and error sum s fails if its
 * shrunken rate (s + b) / (n + 1) is above 0.15 and has more than twice the odds of b. All other pieces are the background.
 *
 * Two groups of failing pieces, with means A and B of their rows' features, lie together if for every piece K of the
 * background
 *
 *     |A - B|^2  <  (|A - K|^2 + |B - K|^2) / 2
 *
 * that is, if they are nearer to each other than to anything that does not fail. The scale is that of the data around them, so
 * there is no distance to set; a piece of the background between two groups (in the ball on A and B) always parts them. The
 * pair with the least quotient of the two sides is joined first, until no pair lies together. Their rates need not be equal:
 * the pieces were cut with the help of the confidence, so pieces of one blindspot differ in it.
 *
 * Every sum is one chain in a fixed order. */
#ifndef SPOTTER_JOIN_PIECES_H
#define SPOTTER_JOIN_PIECES_H

#include "spotter/arena.h"

typedef struct {
    int pieces, stride, d;     /* the centres' rows are `stride` apart; their first d columns are the features */
    const double *centre;      /* (pieces, stride) */
    const int *size;           /* (pieces): rows; a piece may have none, and is then in no group */
    const double *error;       /* (pieces): sums of errors in [0, 1] */

    int *group;                /* (pieces): out, -1 for the background, else the slice of the piece, from 0 on, in the order of
                                  their first pieces */
    int groups;                /* out */
    double base, above;        /* out: b, and the rate that a failing piece is above */

    int *member, *rest;        /* (pieces): the pieces that fail, and those that do not */
    double *mean, *mass;       /* (pieces, d), (pieces): of each group */
    double *away;              /* (pieces, pieces): squared distance of a group to a piece of the background */
    double *quotient;          /* (pieces, pieces) */
} spot_joined;

/* Takes the outputs and scratch for at most `pieces` pieces. */
spot_status spot_join_take(spot_ctx *c, spot_arena *a, spot_joined *j, int pieces, int d);

void spot_join_pieces(spot_joined *j);

/* The evidence against "a slice of n rows fails like the background", n * KL(rate || b), in nats; 0 where rate is not above
 * b. */
double spot_join_evidence(double errors, double n, double b);

#endif
