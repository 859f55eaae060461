/* eigen.h - the greatest eigenvalues of a symmetric matrix and their eigenvectors, on the host.
 *
 * LAPACK makes the tridiagonal form. Then each lane of a vector register has one eigenvalue: bisection finds it, and a twisted
 * factorisation (Parlett and Dhillon 1997) from both ends of the matrix finds its vector. A thread owns 32 eigenvalues. Vectors
 * of close eigenvalues are not exactly orthogonal yet; a few Newton steps move them to the nearest orthonormal ones. If these
 * steps do not converge (a matrix that splits into equal blocks) or a residual is large, LAPACK's dstemr solves all of it.
 * The same bits for any number of threads.
 *
 * Why not LAPACKE_dsyevr alone: this solver is 1.6 times as fast for Domino's PCA (d = 512, 128 vectors), and Domino's time is
 * compared with that of its package. Another solver would change the bits of every result that has a PCA. Measured on
 * 2026-11-22, one thread, two-core machine shared with other work, median of 3 to 41 runs, in ms:
 *
 *     d, vectors              128, 30    512, 3    512, 128    2048, 30
 *     spot_eigen_top            0.453     10.65        21.2         651
 *     LAPACKE_dsyevr            1.661      9.23        33.7         654      vectors differ by at most 3.7e-13 */
#ifndef SPOTTER_EIGEN_H
#define SPOTTER_EIGEN_H

#include <lapacke.h>
#include <stdbool.h>

#include "spotter/arena.h"

typedef struct {
    double *diagonal, *beside, *tau;       /* (d): the tridiagonal form, and the factors of its reflectors */
    double *value;                         /* (d): out, the first `kept` of them, rising */
    double *vector;                        /* (kept, d): out, a vector of length 1 for each value */
    double *lane, *back;                   /* (ceil(kept / 32), d, 32): scratch */
    double *gram;                          /* (kept, kept): scratch */
    lapack_int *support;                   /* (2 kept): dstemr's */
} spot_eigen;

spot_status spot_eigen_take(spot_ctx *c, spot_arena *a, spot_eigen *s, int d, int kept);

/* The `kept` greatest eigenvalues of a (d, d) and their vectors. Reads the upper triangle, overwrites all of a. False if LAPACK
 * fails, too. */
bool spot_eigen_top(const spot_eigen *s, double *a, int d, int kept, int threads);

#endif
