/* mixture_step.h - the arithmetic that mixture.c and mixture.cu share. */
#ifndef SPOTTER_MIXTURE_STEP_H
#define SPOTTER_MIXTURE_STEP_H

#include <math.h>
#include <stdbool.h>

#include "core/hd.h"

/* The d x d matrix in f, lower, row by row, packed, becomes the inverse of its Cholesky factor. False if it is not positive
 * definite. Not LAPACK: a 3 x 3 matrix, hundreds of thousands of times, and equal bits everywhere. */
static SPOT_HD inline bool spot_mixture_inverse_cholesky(double *f, int d)
{
    for (int i = 0; i < d; i++)
        for (int j = 0; j <= i; j++) {
            double *own = f + i * (i + 1) / 2, *other = f + j * (j + 1) / 2, s = own[j];
            for (int t = 0; t < j; t++) s -= own[t] * other[t];
            if (i == j && !(s > 0 && s < INFINITY)) return false;
            own[j] = i == j ? sqrt(s) : s / other[j];
        }
    for (int i = 0; i < d; i++) {
        double *row = f + i * (i + 1) / 2;
        for (int j = 0; j < i; j++) {
            double s = 0;
            for (int t = j; t < i; t++) s -= row[t] * f[t * (t + 1) / 2 + j];
            row[j] = s / row[i];
        }
        row[i] = 1 / row[i];
    }
    return true;
}

#endif
