/* affinity.h - from squared distances to probabilities of being neighbours (van der Maaten & Hinton 2008, eq. 1), for
 * `problems` independent sets of points.
 *
 *   nearest: per row of d (rows,m), the k smallest distances, ordered by column; ties go to the lower column.
 *   rows:    per row, p_j = exp(-beta d_j) / sum, with the beta at which -sum p log p is the wanted entropy.
 *   joint:   (P + P') / 2n of the conditional P (n,k), symmetric and sparse; or, for UMAP
 *            (umap.h), their fuzzy union P + P' - P o P'.
 *
 * An entry of SPOT_FAR or more is no neighbour and gets p = 0. beta starts at 1, is doubled or halved until it is
 * bracketed, then bisected, as both scikit-learn and scvis do. If k neighbours cannot reach the entropy, p ends uniform.
 * rows: fp32 with 16 fixed partial sums per row, beta and entropy fp64. Every operation is correctly rounded or exact, so
 * devices should agree in every bit. The contract is P to 1e-5, and run_to_run.
 * Arrays lie in the memory of c's device, the structs on the host. */
#ifndef SPOTTER_AFFINITY_H
#define SPOTTER_AFFINITY_H

#include <stdint.h>

#include "core/ops.h"
#include "spotter/arena.h"

#define SPOT_FAR 1e30f

enum { SPOT_AFFINITY_PAD = 16 };   /* rows of the joint P are whole multiples of this */

typedef struct {
    double entropy;       /* wanted, in nats: log(perplexity) */
    double tolerance;     /* of the entropy */
    int    tries;         /* at most so many values of beta */
} spot_affinity_rule;

typedef struct {
    spot_mat d;           /* (rows, m) */
    int own;              /* row i is column own + i, and not its own neighbour; -1: no row is a column */
    int *column;          /* (rows, k), out */
    spot_mat near;        /* (rows, k), out: the distances */
} spot_affinity_search;

typedef struct {
    int n, k, fuzzy;      /* fuzzy: union instead of mean */
    const int   *column;  /* (n, k), rising in each row, without the row itself */
    const float *p;       /* (n, k) */
    int   *start;         /* (n + 1), out: first entry of each row */
    int   *to;            /* (2 n k + 16 n), out: columns in rising order; padding names the row itself */
    float *joint;         /* (2 n k + 16 n), out: padding is 0 */
    int   *begin, *edge;  /* scratch: (n + 2) and (n, k) */
} spot_affinity_graph;

struct spot_affinity_ops {
    spot_status (*nearest)(spot_ctx *c, int problems, const spot_affinity_search *s, uint64_t *scratch);
    spot_status (*rows)(spot_ctx *c, int problems, const spot_mat *p, const spot_mat *d, const spot_affinity_rule *rule);
    spot_status (*joint)(spot_ctx *c, int problems, const spot_affinity_graph *g);
};

/* 0 < k <= m, and less with `own`. scratch is (c->threads, largest m). */
spot_status spot_affinity_nearest(spot_ctx *c, int problems, const spot_affinity_search *s, uint64_t *scratch);

/* p and d are (rows,k) and do not overlap; a rule for each problem. */
spot_status spot_affinity_rows(spot_ctx *c, int problems, const spot_mat *p, const spot_mat *d,
                               const spot_affinity_rule *rule);

/* 0 < k < n. */
spot_status spot_affinity_joint(spot_ctx *c, int problems, const spot_affinity_graph *g);

/* Length of `to` and of `joint`. */
static inline size_t spot_affinity_room(int n, int k) { return 2 * (size_t)n * k + (size_t)SPOT_AFFINITY_PAD * n; }

/* One row, for CPU kernels that have their own loop over rows. guess: 1, or the beta of a like row, which saves time and
 * changes nothing else; the row's own comes back. */
void spot_affinity_row(float *p, const float *d, int k, const spot_affinity_rule *rule, double *guess);

/* Moves the k smallest keys to the front. All keys differ, so the set is unique. 0 < k <= n. */
void spot_select_smallest(uint64_t *key, int n, int k);

#endif
