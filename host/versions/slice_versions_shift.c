/* slice_versions_shift.c - see slice_versions_shift.h. */
#include "versions/slice_versions_shift.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "stats/statistics.h"

enum { LEAST = 10 };                           /* rows of a slice that tells how far slices move */
static const double certain = 1e-6;            /* probabilities are taken as at least so far from 0 and 1 */

/* The standard deviation of normal numbers over their median absolute deviation, and the part of n - 1 degrees of freedom that
 * an estimate by the latter has: its efficiency (Rousseeuw and Croux 1993). */
static const double normal_mad = 1.4826, mad_efficiency = 0.37;

static bool knows_odds(const spot_questions *q)
{
    for (int t = 0; t <= q->o->retrains; t++)
        if (!q->before[t]->confidence && !q->before[t]->prob) return false;
    return q->s[1]->confidence || q->s[1]->prob;
}

static double log_odds(const spot_subject *s, int row, int cls)
{
    const double wrong = fmin(1 - certain, fmax(certain, spot_subject_error(s, row, cls < 0 ? s->target[row] : cls)));

    return log1p(-wrong) - log(wrong);
}

/* Version 2's log odds less the mean of all trainings of version 1. */
static double shift_of_row(const spot_questions *q, int row, int cls)
{
    const int befores = q->o->retrains + 1;
    double before = 0;

    for (int t = 0; t < befores; t++) before += log_odds(q->before[t], row, cls) / befores;
    return log_odds(q->s[1], row, cls) - before;
}

/* The mean over the slice's rows; *error: its squared error, by groups where rows have them. by (rows): scratch. */
static double shift_of(spot_questions *q, const spot_question *x, double *by, double *error)
{
    double mean = 0;

    *error = 0;
    for (int i = 0; i < x->n; i++) mean += (by[i] = shift_of_row(q, x->row[i], x->cls)) / x->n;
    if (q->sums.place) spot_group_sums_clear(&q->sums);
    for (int i = 0; i < x->n; i++) {
        if (q->sums.place) spot_group_sums_add(&q->sums, q->s[0]->group[x->row[i]], by[i] - mean);
        else *error += (by[i] - mean) * (by[i] - mean) / x->n / x->n;
    }
    for (int g = 0; q->sums.place && g < q->sums.n; g++) *error += q->sums.sum[g] * q->sums.sum[g] / x->n / x->n;
    return mean;
}

static double median(double *x, int n)
{
    spot_sort_doubles(x, (size_t)n);
    return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

/* Middle and spread of n slices: their moves and errors, which change places. */
static void measure_spread(double *move, double *error, int n, spot_version_shift *shift)
{
    double mad;

    shift->slices = n;
    if (n < SPOT_ENOUGH_SLICES) return;
    shift->middle = median(move, n);
    for (int i = 0; i < n; i++) move[i] = fabs(move[i] - shift->middle);
    mad = normal_mad * median(move, n);
    shift->spread = sqrt(fmax(0, mad * mad - median(error, n)));
    shift->freedom = (int)fmax(1, mad_efficiency * (n - 1));
}

spot_status spot_shift_measure(spot_ctx *c, spot_questions *q, const bool *changed, spot_version_shift *shift, double *fall,
                               double *rise)
{
    const int first = q->n[SPOT_ASK_ALL] + q->n[SPOT_ASK_CLASS] + q->n[SPOT_ASK_GUARD], slices = q->n[SPOT_ASK_SLICE];
    const spot_question *of = q->of + first;
    double *error, *by;
    int n = 0;

    *shift = (spot_version_shift){ 0 };
    for (int i = 0; i < first + slices; i++) q->of[i].counts->shift = NAN;
    for (int i = 0; i < slices; i++) fall[i] = rise[i] = 0;
    if (!slices || !knows_odds(q)) return SPOT_OK;
    error = malloc(3 * (size_t)slices * sizeof *error);
    by = malloc((size_t)q->s[0]->n * sizeof *by);
    if (error && by) {
        for (int i = 0; i < slices; i++)
            if (of[i].n) of[i].counts->shift = shift_of(q, &of[i], by, &error[i]);
        for (int i = 0; i < slices; i++)
            if (of[i].n >= LEAST && !changed[i]) error[slices + n] = of[i].counts->shift, error[2 * slices + n++] = error[i];
        measure_spread(error + slices, error + 2 * slices, n, shift);
        for (int i = 0; i < slices && shift->freedom; i++) {
            const double moves = sqrt(shift->spread * shift->spread + error[i]);
            if (!of[i].n || !(moves > 0)) continue;
            rise[i] = spot_student_tail((of[i].counts->shift - shift->middle) / moves, shift->freedom);
            fall[i] = spot_student_tail((shift->middle - of[i].counts->shift) / moves, shift->freedom);
        }
    }
    free(by), free(error);
    return error && by ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the log odds of %d slices", slices);
}
