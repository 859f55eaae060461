/* slice_versions_spread.c - how equal trainings differ: the part of a change that its rows have in common. */
#include "versions/slice_versions_spread.h"

#include <math.h>
#include <stdlib.h>

#include "stats/statistics.h"

enum { LEAST = 20, ROUNDS = 8 };       /* rows of a question that tells about the spread; rounds of weights */

/* The change of one question between two trainings: its square over the sum of its rows' squares, e, which rows that have
 * nothing in common let expect to be 1; and n - 1. */
typedef struct { double ratio, more; } spread_pair;

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

/* The pairs of trainings on questions [first, last), into pair; their number. */
static int list_pairs(spot_questions *q, int first, int last, spread_pair *pair)
{
    int n = 0;

    for (int i = first; i < last; i++) {
        const spot_question *x = &q->of[i];
        for (int t = 1; t <= q->o->retrains && x->n >= LEAST; t++)
            for (int u = 0; u < t; u++) {
                double up, down;
                const double square = spot_question_sums(q, x, &q->before[u], 1, q->before[t], &up, &down);
                if (square > 0) pair[n++] = (spread_pair){ (up - down) * (up - down) / square, x->n - 1 };
            }
    }
    return n;
}

/* The share r, of which e lets expect 1 + (n - 1) r, by least squares with the weights that r gives: e varies as its square. */
static double share_of(const spread_pair *pair, int n)
{
    double r = 0;

    for (int k = 0; k < ROUNDS; k++) {
        double up = 0, down = 0;
        for (int i = 0; i < n; i++) {
            const double expected = 1 + pair[i].more * r, weight = 1 / (expected * expected);
            up += weight * pair[i].more * (pair[i].ratio - 1);
            down += weight * pair[i].more * pair[i].more;
        }
        r = down > 0 ? fmax(0, up / down) : 0;
    }
    return r;
}

double spot_question_share(spot_questions *q, const spot_question *x, double pooled, int *freedom)
{
    const int files = q->o->retrains, pairs = (files + 1) * files / 2;
    double ratio = 0, expected;

    if (files < 2 || x->n < LEAST) return pooled;
    for (int t = 1; t <= files; t++)
        for (int u = 0; u < t; u++) {
            double up, down;
            const double square = spot_question_sums(q, x, &q->before[u], 1, q->before[t], &up, &down);
            ratio += square > 0 ? (up - down) * (up - down) / square / pairs : 0;
        }
    expected = 1 + (x->n - 1) * pooled;
    if (!(spot_gamma_tail(files * ratio / expected, files, 2 * files) <= SPOT_LEVEL)) return pooled;
    *freedom = files;
    return (ratio - 1) / (x->n - 1);
}

static int least_first(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* Between version 1 and its first further training: 97.5 % of Student's t, times the error of a class, the median of classes.
 * */
static double move_of(spot_questions *q, const spot_version_spread *spread, int first, int last, double *scratch)
{
    int n = 0;

    for (int i = first; i < last; i++) {
        double up, down;
        const double rows = q->of[i].n, square = spot_question_sums(q, &q->of[i], q->before, 1, q->before[1], &up, &down);
        if (rows >= LEAST)
            scratch[n++] = spot_student_above(0.025, spread->freedom)
                           * sqrt(square / rows / rows + spot_spread_variance(spread->share[0], square, q->of[i].n));
    }
    if (!n) return 0;
    qsort(scratch, (size_t)n, sizeof *scratch, least_first);
    return scratch[n / 2];
}

spot_status spot_spread_measure(spot_ctx *c, spot_questions *q, spot_version_spread *spread)
{
    const int files = q->o->retrains, from = q->n[SPOT_ASK_ALL], classes = from + q->n[SPOT_ASK_CLASS];
    const int all = classes + q->n[SPOT_ASK_GUARD] + q->n[SPOT_ASK_SLICE];
    spread_pair *pair;
    int known = 0, n;

    *spread = (spot_version_spread){ .files = files };
    if (!files) return SPOT_OK;
    pair = malloc(((size_t)all * (size_t)(files + 1) * (size_t)files / 2 + 1) * sizeof *pair);
    if (!pair) return spot_fail(c, SPOT_NOMEM, "no memory for the spread of %d trainings", files + 1);
    for (int i = from; i < classes; i++) known += q->of[i].n >= LEAST;
    spread->freedom = files * (known > 2 ? known - 1 : 1);
    n = list_pairs(q, from ? from : 0, classes, pair);
    spread->share[0] = share_of(pair, n);
    n = list_pairs(q, classes, all, pair);
    spread->share[1] = n ? share_of(pair, n) : spread->share[0];
    spread->move = move_of(q, spread, from, classes, (double *)pair);
    free(pair);
    return SPOT_OK;
}
