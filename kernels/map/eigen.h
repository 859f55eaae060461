/* eigen.h - the greatest eigenvalues of a symmetric matrix and their eigenvectors, on the host.
 *
 * LAPACK's tridiagonal form; then a lane of a vector register is an eigenvalue, found by bisection, and its vector, solved from
 * both ends of the matrix to where they meet best (Parlett and Dhillon 1997, their twisted factorisation); threads own 32 of
 * them. Vectors of close eigenvalues are not quite at right angles then: a few steps of Newton's for the nearest orthonormal
 * ones follow. Where those do not converge, as for matrices that fall apart into equal blocks, and where a residual is
 * large, LAPACK's dstemr does all of it. The same bits for any number of threads. */
#ifndef SPOTTER_EIGEN_H
#define SPOTTER_EIGEN_H

#include <lapacke.h>
#include <stdbool.h>

#include "spotter/arena.h"

typedef struct {
    double *diagonal, *beside, *tau;       /* (d): the tridiagonal form and its reflectors */
    double *value;                         /* (d): kept of them out, rising */
    double *vector;                        /* (kept, d): out, of length 1, for value */
    double *lane, *back;                   /* (ceil(kept / 32), d, 32) */
    double *gram;                          /* (kept, kept) */
    lapack_int *support;                   /* (2 kept) */
} spot_eigen;

spot_status spot_eigen_take(spot_ctx *c, spot_arena *a, spot_eigen *s, int d, int kept);

/* Of a (d, d), of which the triangle above the diagonal is read and all is lost. False if LAPACK fails, too. */
bool spot_eigen_top(const spot_eigen *s, double *a, int d, int kept, int threads);

#endif
