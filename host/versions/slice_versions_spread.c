/* slice_versions_spread.c - how equal trainings differ: the part of a change that its rows have in common. */
#include "versions/slice_versions_spread.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "stats/statistics.h"

enum { LEAST = 20, ROUNDS = 8 };       /* rows of a question that tells about the spread; rounds of weights */

double spot_question_sums(spot_questions *q, const spot_question *x, const spot_subject *const *before, int befores,
                          const spot_subject *b, double *up, double *down)
{
    double square = 0;

    *up = *down = 0;
    if (q->sums.place) spot_group_sums_clear(&q->sums);
    for (int i = 0; i < x->n; i++) {
        const int row = x->row[i], is = spot_subject_wrong(b, row, x->cls);
        int was = 0;
        for (int t = 0; t < befores; t++) was += spot_subject_wrong(before[t], row, x->cls);
        const double by = is - (double)was / befores;
        if (is) *up += (double)(befores - was) / befores;
        else *down += (double)was / befores;
        square += by * by;
        if (q->sums.place) spot_group_sums_add(&q->sums, q->s[0]->group[row], by);
    }
    if (!q->sums.place) return square;
    square = 0;
    for (int g = 0; g < q->sums.n; g++) square += q->sums.sum[g] * q->sums.sum[g];
    return square;
}

/* x->ratio and x->square: means over the pairs of trainings between which rows of the question changed. */
static void compare_trainings(spot_questions *q, spot_question *x)
{
    int pairs = 0;

    x->ratio = x->square = 0;
    for (int t = 1; t <= q->o->retrains && x->n >= LEAST; t++)
        for (int u = 0; u < t; u++) {
            double up, down;
            const double square = spot_question_sums(q, x, &q->before[u], 1, q->before[t], &up, &down);
            if (!(square > 0)) continue;
            x->ratio += (up - down) * (up - down) / square;
            x->square += square;
            pairs++;
        }
    if (pairs) x->ratio /= pairs, x->square /= pairs;
}

/* The share r of questions [first, last), of whose ratio 1 + (n - 1) r is expected, by least squares with the weights that r
 * gives: a ratio varies as its square. -1: no question tells. */
static double share_of(const spot_question *of, int first, int last)
{
    double r = -1;

    for (int k = 0; k < ROUNDS; k++) {
        double up = 0, down = 0;
        for (int i = first; i < last; i++) {
            const double more = of[i].n - 1, expected = 1 + more * fmax(0, r), weight = 1 / (expected * expected);
            if (!(of[i].square > 0)) continue;
            up += weight * more * (of[i].ratio - 1);
            down += weight * more * more;
        }
        if (down > 0) r = fmax(0, up / down);
    }
    return r;
}

double spot_question_share(const spot_questions *q, const spot_question *x, double pooled, int *freedom)
{
    const int files = q->o->retrains;
    const double expected = 1 + (x->n - 1) * pooled;

    if (files < 2 || !(x->square > 0) || spot_gamma_tail(files * x->ratio / expected, files, 2 * files) > SPOT_LEVEL)
        return pooled;
    *freedom = files;
    return (x->ratio - 1) / (x->n - 1);
}

/* 97.5 % of Student's t, times the error of the change of a class between two trainings: the median of classes. move: for
 * scratch. */
static double move_of(const spot_questions *q, const spot_version_spread *spread, int first, int last, double *move)
{
    const double t = spot_student_above(0.025, spread->freedom);
    int n = 0;

    for (int i = first; i < last; i++) {
        const double rows = q->of[i].n, square = q->of[i].square;
        const double more = spot_spread_variance(spread->share[0], square, q->of[i].n);
        if (square > 0) move[n++] = t * sqrt(square / rows / rows + more);
    }
    if (!n) return 0;
    spot_sort_doubles(move, (size_t)n);
    return move[n / 2];
}

spot_status spot_spread_measure(spot_ctx *c, spot_questions *q, spot_version_spread *spread)
{
    const int files = q->o->retrains, first = q->n[SPOT_ASK_ALL], classes = first + q->n[SPOT_ASK_CLASS];
    const int all = classes + q->n[SPOT_ASK_GUARD] + q->n[SPOT_ASK_SLICE];
    double *move, slices;
    int known = 0;

    *spread = (spot_version_spread){ .files = files };
    if (!files) return SPOT_OK;
    move = malloc(((size_t)classes + 1) * sizeof *move);
    if (!move) return spot_fail(c, SPOT_NOMEM, "no memory for the spread of %d trainings", files + 1);
    for (int i = 0; i < all; i++) compare_trainings(q, &q->of[i]);
    for (int i = first; i < classes; i++) known += q->of[i].square > 0;
    spread->freedom = files * (known > 2 ? known - 1 : 1);
    spread->share[0] = fmax(0, share_of(q->of, first, classes));
    slices = share_of(q->of, classes, all);
    spread->share[1] = slices >= 0 ? slices : spread->share[0];
    spread->move = move_of(q, spread, first, classes, move);
    free(move);
    return SPOT_OK;
}
