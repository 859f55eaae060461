/* affinity.h - from squared distances to probabilities of being neighbours (van der Maaten & Hinton 2008, eq. 1), for
 * `problems` independent sets of points.
 *
 *   nearest: per row of d (rows,m), the k smallest distances, ordered by column; ties go to the lower column.
 *   rows:    per row, p_j = exp(-beta d_j) / sum, with the beta at which -sum p log p is the wanted entropy.
 *   joint:   (P + P') / 2n of the conditional P (n,k), symmetric and sparse; or their fuzzy union P + P' - P o P', as UMAP
 *            (umap.h) has it.
 *
 * An entry of SPOT_FAR or more is no neighbour and gets p = 0. beta starts at 1, is doubled or halved until it is
 * bracketed, then bisected, as both scikit-learn and scvis do; an entropy that k neighbours cannot reach ends uniform.
 * rows: fp32 with 16 fixed partial sums per row, beta and entropy fp64. Every operation is correctly rounded or exact, so
 * devices are to agree in every bit; what is promised is P to 1e-5, and run_to_run.
 * Arrays lie in the memory of c's device, the structs on the host. */
#ifndef SPOTTER_AFFINITY_H
#define SPOTTER_AFFINITY_H

#include <stdint.h>

#include "core/ops.h"
#include "spotter/tensor.h"

#define SPOT_FAR 1e30f

enum { SPOT_AFFINITY_PAD = 16 };   /* rows of the joint P are whole multiples of this */

typedef struct {
    double entropy;       /* wanted, in nats: log(perplexity) */
    double tolerance;     /* of the entropy */
    int    tries;         /* values of beta looked at, at most */
} spot_affinity_rule;

typedef struct {
    spot_mat d;           /* (rows, m) */
    int own;              /* row i is column own + i and no neighbour of itself; -1: no row is a column */
    int *column;          /* (rows, k), out */
    spot_mat near;        /* (rows, k), out: the distances */
} spot_affinity_search;

typedef struct {
    int n, k, fuzzy;      /* fuzzy: the union */
    const int   *column;  /* (n, k), rising in each row, without the row itself */
    const float *p;       /* (n, k) */
    int   *start;         /* (n + 1), out: where a row begins */
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

/* Entries that `to` and `joint` have room for. */
static inline size_t spot_affinity_room(int n, int k) { return 2 * (size_t)n * k + (size_t)SPOT_AFFINITY_PAD * n; }

/* One row on the CPU; what larger CPU kernels call inside their own loops. */
void spot_affinity_row(float *p, const float *d, int k, const spot_affinity_rule *rule);

/* Moves the k smallest keys to the front; they differ, so the set is unique. 0 < k <= n. */
void spot_select_smallest(uint64_t *key, int n, int k);

#endif
