/* ridge.h - the sums over rows of x (n,d) that a ridge regression needs, for many problems and sets of rows.
 *
 *   gram:    out[j,k] += sum_r weight[r] (x[row[r],j] - centre[j]) (x[row[r],k] - centre[k]),   j <= k
 *   moment:  out[j]    = sum_r weight[r] (x[row[r],j] - centre[j])
 *   score:   score[v,i] = b[v] + sum_j (x[i,j] - centre[j]) w[v,j]
 *
 * When a set changes by a few rows, add their gram with weight 1 or -1 instead of computing all of it again. The host finds the
 * Cholesky factor and the solution with LAPACK. All but x is fp64. Each sum of a gram or a moment is one fma chain in the order
 * of r. A score has 32 chains, chain t over the j with j % 32 == t; they are added 16 apart, then 8, 4, 2, 1, and then to b.
 * So every device gives the same bits (gpu_to_gpu). With a centre near the rows' mean a
 * regression agrees with scikit-learn's Ridge to 1e-8. Arrays lie in the memory of c's device, the structs on the host. */
#ifndef SPOTTER_RIDGE_H
#define SPOTTER_RIDGE_H

#include "core/ops.h"

enum { SPOT_RIDGE_SCORES = 4, SPOT_RIDGE_CHAINS = 32 };

/* Some rows of a problem. */
typedef struct {
    int n, d, rows;
    const float  *x;           /* (n, d) */
    const double *centre;      /* (d) */
    const int    *row;         /* (rows) */
    const double *weight;      /* (rows); NULL: 1 each */
    double       *out;         /* gram: (d, d), on and above the diagonal; moment: (d) */
} spot_ridge_rows;

typedef struct {
    int n, d, scores;          /* scores of each row, 1 to 4 */
    const float  *x;           /* (n, d) */
    const double *centre;      /* (d) */
    const double *w, *b;       /* (scores, d), (scores) */
    double       *score;       /* (scores, n), out */
} spot_ridge_fit;

struct spot_ridge_ops {
    spot_status (*gram)(spot_ctx *c, int count, const spot_ridge_rows *sets);
    spot_status (*moment)(spot_ctx *c, int count, const spot_ridge_rows *sets);
    spot_status (*score)(spot_ctx *c, int count, const spot_ridge_fit *fits);
};

/* n, d >= 1; rows may be 0. */
spot_status spot_ridge_gram(spot_ctx *c, int count, const spot_ridge_rows *sets);
spot_status spot_ridge_moment(spot_ctx *c, int count, const spot_ridge_rows *sets);
spot_status spot_ridge_score(spot_ctx *c, int count, const spot_ridge_fit *fits);

#endif
