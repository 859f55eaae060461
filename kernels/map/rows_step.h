/* rows_step.h - the arithmetic of rows.h on one entry and on one row, for CPU and CUDA. */
#ifndef SPOTTER_ROWS_STEP_H
#define SPOTTER_ROWS_STEP_H

#include <math.h>

#include "core/hd.h"
#include "map/rows.h"

#define SPOT_ROWS_SHORTEST 1e-6        /* least length that a row is divided by */

SPOT_HD static inline float spot_rows_value(const spot_rows_column *u, float x)
{
    return u->over == 0 ? 0 : (float)((x - u->minus) * u->times / u->over);
}

SPOT_HD static inline void spot_rows_pick_entry(const spot_rows_pick_problem *p, size_t i, size_t j)
{
    const size_t row = p->row ? (size_t)p->row[i] : i, from = p->column ? (size_t)p->column[j].from : j;
    const float x = p->x[row * p->x_row + from * p->x_column];

    p->y[i * p->y_row + j * p->y_column] = p->column ? spot_rows_value(&p->column[j], x) : x;
}

SPOT_HD static inline void spot_rows_prepare_row(const spot_rows_prepare_problem *p, size_t i)
{
    const float *x = p->x + i * p->d;
    float *y = p->y + i * p->d;
    double squares = 0, along = 0, shrink = 1;

    for (int k = 0; k < p->d && p->normalise; k++) squares = fma((double)x[k], (double)x[k], squares);
    if (p->normalise) shrink = 1 / fmax(sqrt(squares), SPOT_ROWS_SHORTEST);
    for (int k = 0; k < p->d; k++) y[k] = (float)(x[k] * shrink);
    if (!p->head) return;
    for (int k = 0; k < p->d; k++) along = fma((double)y[k], p->head[k] / p->length, along);
    for (int k = 0; k < p->d; k++) y[k] = (float)(y[k] - along * (p->head[k] / p->length));
    if (p->along) p->along[i] = (float)along;
}

SPOT_HD static inline void spot_rows_square_column(const spot_rows_squares_problem *p, int j)
{
    double sum = 0;

    for (int i = 0; i < p->n; i++) {
        const double x = p->x[(size_t)i * p->d + j];
        sum += x * x;
    }
    p->square[j] = sum;
}

SPOT_HD static inline void spot_rows_fade_entry(const spot_rows_fade_problem *p, size_t i)
{
    p->loss[i] *= 1 - p->weight[i] / p->most;
}

SPOT_HD static inline void spot_rows_best_of(const spot_rows_best_problem *p, size_t i)
{
    double most = 0;
    int best = 0;

    for (int s = 0; s < p->len; s++) {
        const double value = p->value[(size_t)(p->choice ? p->choice[s] : s) * p->n + i];
        if (s && !(value > most)) continue;
        most = value;
        best = s;
    }
    p->best[i] = best;
}

#endif
