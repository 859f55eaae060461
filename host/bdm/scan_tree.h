/* scan_tree.h - a tree of clusters is searched for the clusters that fail and are one thing each.
 *
 * A node of the tree has n rows with errors s. Against the background's rate b its evidence is
 *
 *     n KL(s / n || b) / phi,     KL(r || b) = r log(r / b) + (1 - r) log((1 - r) / (1 - b)),     0 where r is not above b
 *
 * the log-likelihood that the rows gain by a rate of their own. Errors are soft numbers in [0, 1] and scatter less than those
 * of coins: phi is the variance of the background's errors over b (1 - b) (quasi-likelihood, Wedderburn 1974), at least 0.15,
 * so that a background without errors does not make a finding of everything. The slices are the set of nodes, none inside
 * another, with the greatest sum of (evidence - log N), N the number of all rows: the penalty is for the choice among the
 * nodes. It is found from the leaves up: the best of a node is its own evidence less log N, or the sum of the best of its two
 * children, or 0. So every slice is as fine as its own rows demand, and there is no number of clusters to set.
 *
 * A node may be a slice only if its two children A and B are one thing. They are two if one of these holds:
 *
 *  - something that does not fail lies between them: for a piece K of the background,
 *
 *        |A - B|^2  >=  (|A - K|^2 + |B - K|^2) / 2           with the means of their rows' features
 *
 *    The scale is that of the data around them, so there is no distance to set. Pieces are the tree cut into N / 10, at least
 *    10; those with an evidence below 2, which chance gives one piece in twenty, are the background.
 *
 *  - they are far apart for their width: along the line of their means they are more than 8 standard deviations apart. In many
 *    columns a line fitted to the rows parts any rows, so the line is that of every other row of A and of B, and distance and
 *    deviation are those of the rest; and the other way round; the mean of both counts. A child of fewer than 5 rows is no
 *    second thing. On tuning ECs halves of one planted blindspot had at most 7.6 where both had ten rows and more.
 *
 * b starts as the rate of the piece that holds the median row, in the order of the pieces' rates. Then it is the rate of all
 * rows in no slice, at least 0.0001, and the search begins again, four times in all; so is phi, at first of all rows. Where
 * nearly half of the rows lie in blindspots, the median is one of the background's greatest rates, and a b that begins too high
 * stays there: nothing seems to fail. So a second search begins at the piece that holds the row at a quarter. Its slices stay
 * if they are worth more: with the rate r of all rows, and the lesser phi of the two searches,
 *
 *     sum of n KL(s / n || r) / phi over the slices and the background, less log N for each slice.
 *
 * Ward's tree may part a blindspot near its root. So at last two slices that are one thing by the same two rules are joined,
 * the pair with the least quotient |A - B|^2 / ((|A - K|^2 + |B - K|^2) / 2) first, until none is below 0.6. Here the first
 * rule is stricter than in the tree, which has its own evidence that A and B belong together: with 1, neighbouring blindspots
 * of the same error became one slice. On tuning ECs 0.5 to 0.7 found the most (49 hard ECs: 0.49 to 0.51; 1: 0.45; 0.3: 0.44).
 *
 * Every sum is one chain in a fixed order, so that threads change no bit. Time: n d for each level of the tree, and nodes *
 * pieces * d. It runs on the host on every device. */
#ifndef SPOTTER_SCAN_TREE_H
#define SPOTTER_SCAN_TREE_H

#include "fit/ward.h"

#define SPOT_SCAN_FAR  8.0         /* standard deviations */
#define SPOT_SCAN_NEAR 0.6         /* quotient of two slices that are joined */
enum { SPOT_SCAN_MOST = 400 };     /* slices before they are joined; of more, those with the greatest evidence stay */

typedef struct { int left, right, from, to; } spot_scan_node;      /* children, -1 at a leaf; its places in `place` */

typedef struct {
    int n, stride, d;          /* rows; they are `stride` apart, their first d columns are the features */
    const float *x;            /* (n, stride) */
    const double *error;       /* (n): in [0, 1] */
    int leaves;
    const int *leaf;           /* (n): the leaf of each row, below `leaves`; a leaf may have no row */
    const spot_ward_merge *merge;      /* (leaves - 1): a and b are leaves, each other merge's clusters have their first leaf */
    int least;                 /* rows of a slice */
    int threads;               /* 0: one */

    int *slice;                /* (leaves): out, -1: in no slice */
    int slices;                /* out */
    double base, spread;       /* out: b, and phi */

    spot_scan_node *node;      /* (2 leaves): leaves, then merges */
    int *place;                /* (leaves): place of a leaf in the order in which every node's leaves are neighbours */
    int *name;                 /* (leaves) */
    double *size, *sum, *squares, *best, *apart;       /* (2 leaves): rows, errors, their squares, best sum, and the distance
                                                          of the children once known */
    bool *take;                /* (2 leaves) */
    double *mean;              /* (2 leaves, d) */
    int *piece, *rest, pieces, others;         /* (leaves): nodes of the pieces, and of the background */
    uint8_t *side;             /* (n): 0, 1 or, of neither, 2 */
    int *row;                  /* (n): rows of side 0 or 1 */
    uint8_t *part;             /* (n): of these rows, the side and the half of it */
    double *line, *at;         /* (2 d), (n) */
    int *chosen, *group;       /* (SPOT_SCAN_MOST): nodes that are slices; the slice that they are joined to */
    double *mass, *away, *quotient;            /* (MOST), (MOST, pieces), (MOST, MOST) */
} spot_scan;

/* Takes the output and scratch for n rows and at most `leaves` leaves. */
spot_status spot_scan_take(spot_ctx *c, spot_arena *a, spot_scan *s, int n, int leaves, int d);

void spot_scan_tree(spot_scan *s);

/* The evidence above with phi 1, in nats. */
double spot_scan_evidence(double errors, double n, double b);

#endif
