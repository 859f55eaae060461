/* domino_start.c - the start from the confusion matrix: its checked entry and the CPU. A row is a thread's. */
#include "fit/domino_mixture.h"
#include "spotter/rng.h"

/* Row i of the start: cells, over their sum; noise; over the sum again. */
static void start_row(const spot_domino_cells *s, int i)
{
    spot_rng noise = spot_rng_at(s->seed.seed, SPOT_RNG_DOMINO, s->seed.ec, (uint32_t)i);
    const float *p = s->p + (size_t)i * s->classes;
    int cells = s->classes * s->classes;
    double sum = 0, again = 0;

    for (int k = 0; k < s->k; k++) sum += s->y[i] == k % cells / s->classes ? (double)p[k % s->classes] : 0;
    for (int k = 0; k < s->k; k++) {
        double cell = s->y[i] == k % cells / s->classes ? (double)p[k % s->classes] : 0;
        again += s->r[(size_t)k * s->n + i] = cell / sum + spot_rng_uniform(&noise) * s->noise;
    }
    for (int k = 0; k < s->k; k++) s->r[(size_t)k * s->n + i] /= again;
}

spot_status spot_domino_confusion_cpu(spot_ctx *c, int count, const spot_domino_cells *cells)
{
    for (int j = 0; j < count; j++) {
#pragma omp parallel for num_threads(c->threads) schedule(static)
        for (int i = 0; i < cells[j].n; i++) start_row(&cells[j], i);
    }
    return SPOT_OK;
}

spot_status spot_domino_confusion(spot_ctx *c, int count, const spot_domino_cells *cells)
{
    for (int j = 0; j < count; j++) {
        const spot_domino_cells *s = &cells[j];
        if (s->n < 1 || s->classes < 1 || s->classes > 255 || s->k < s->classes * s->classes || s->k > SPOT_DOMINO_MOST)
            return spot_fail(c, SPOT_INVALID, "{domino_start.sizes} domino.confusion %d: %d slices of %d rows for %d classes; "
                             "at least the square of the classes, at most %d", j, s->k, s->n, s->classes, SPOT_DOMINO_MOST);
    }
    SPOT_DISPATCH(c, domino, confusion, count, cells);
}
