/* svm.c - failure directions (Jain, Lawrence, Moitra & Madry 2023, arXiv 2206.14754): a linear support vector machine tells the
 * rows that the classifier gets right from those that it gets wrong, and the rows far on the wrong side are slices.
 *
 * Each feature is divided by its standard deviation about its mean (a constant one becomes 0), each row by its length. Both
 * classes have the same total weight: n / (2 rows of the class). Of C = 1e-6, 1e-5, ..., 1 the first of greatest balanced
 * accuracy counts, the mean of two folds: of each class the first half of its rows and the others, as scikit-learn's
 * StratifiedKFold cuts them. A machine on all rows with this C gives each row its decision value, negative where failure is
 * expected. The rows with negative values, lowest first, are cut into pieces of `share` of all rows; each piece is a slice, and
 * its score is minus its mean value. A row's weight is the logistic function of minus its value, 0 if an earlier slice has it.
 *
 * The released code uses libsvm, whose intercept is free; here it is penalised like a weight (hinge.h), so that there is one
 * solution and a bound of the distance to it. All rows of a view are one problem: with two classes of labels, too.
 *
 * The device does all sums over features. The same bits on every device. A new row belongs to the slice in whose range its
 * value lies. Assigning a fitted row gives its slice again, except for rows of equal values at the end of a slice. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/twin.h"
#include "bdm/fit.h"
#include "bdm/methods.h"
#include "fit/hinge.h"
#include "fit/ridge.h"
#include "models/reduce.h"
#include "map/rows.h"

enum { FOLDS = 2, COSTS = 7, TRIALS = FOLDS * COSTS, FITS = TRIALS + 1, ALL = FOLDS, LEAST = 2 };

static const double costs[COSTS] = { 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1 };

typedef struct { double value; int row; } place;

typedef struct {
    int n, d, few;             /* few: a class has fewer than LEAST rows */
    const spot_view *view;
    spot_seed seed;
    const float *x;            /* (n, d), on the device as all that `work` gives */
    float *scaled, *z;         /* (n, d): after the first and after the second step */
    spot_twin column;          /* (d): the first step */
    spot_twin zero;            /* (d): nothing is taken off z */
    spot_twin row[FOLDS + 1], bound[FOLDS + 1];       /* (n) of each fold's training rows, and of all rows */
    int rows[FOLDS + 1];
    uint8_t *wrong, *fold;     /* (n) */
    spot_twin w, end, value;   /* (FITS, d + 1), (FITS), (FITS, n): weights; how each fit ended; decision values */
    double *dual, *square;     /* (FITS, n) */
    double accuracy;           /* balanced, of the best C */
    int best;                  /* its place in costs */
    place *order;              /* (n) */
} svm_problem;

static spot_status take_problem(spot_ctx *c, spot_arena *host, spot_arena *work, svm_problem *q, const spot_points *points)
{
    size_t n = (size_t)q->n, d = (size_t)q->d, each = sizeof(double);

    SPOT_TRY(spot_points_on_device(c, work, &q->x, points));
    SPOT_TRY(SPOT_TAKE(c, work, q->scaled, n * d));
    SPOT_TRY(SPOT_TAKE(c, work, q->z, n * d));
    SPOT_TRY(SPOT_TAKE(c, work, q->dual, FITS * n));
    SPOT_TRY(SPOT_TAKE(c, work, q->square, FITS * n));
    SPOT_TRY(spot_twin_take(c, host, work, &q->column, d * sizeof(spot_rows_column)));
    SPOT_TRY(spot_twin_take(c, host, work, &q->zero, d * each));
    for (int f = 0; f <= FOLDS; f++) {
        SPOT_TRY(spot_twin_take(c, host, work, &q->row[f], n * sizeof(int)));
        SPOT_TRY(spot_twin_take(c, host, work, &q->bound[f], n * each));
    }
    SPOT_TRY(spot_twin_take(c, host, work, &q->w, FITS * (d + 1) * each));
    SPOT_TRY(spot_twin_take(c, host, work, &q->end, FITS * sizeof(spot_hinge_end)));
    SPOT_TRY(spot_twin_take(c, host, work, &q->value, FITS * n * each));
    SPOT_TRY(SPOT_TAKE(c, host, q->wrong, n));
    SPOT_TRY(SPOT_TAKE(c, host, q->fold, n));
    return SPOT_TAKE(c, host, q->order, n);
}

/* ---- the rows ---- */

/* Rounding gives a column of equal numbers a small deviation, by which it would become 1 or -1: its mean is its number. */
static void measure_columns(spot_rows_column *column, const float *x, int n, int d)
{
    for (int j = 0; j < d; j++) column[j] = (spot_rows_column){ .from = j, .times = 1 };
    for (int i = 0; i < n; i++)
        for (int j = 0; j < d; j++) column[j].minus += x[(size_t)i * d + j];
    for (int j = 0; j < d; j++) {
        int i = 0;
        while (i < n && x[(size_t)i * d + j] == x[j]) i++;
        column[j].minus = i == n ? x[j] : column[j].minus / n;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < d; j++) column[j].over += pow(x[(size_t)i * d + j] - column[j].minus, 2) / n;
    for (int j = 0; j < d; j++) column[j].over = sqrt(column[j].over);
}

/* z: x of n rows after both steps. */
static spot_status scale_rows(spot_ctx *c, float *z, float *scaled, const float *x, const spot_rows_column *column, int n,
                              int d)
{
    const spot_rows_pick_problem pick = { n, d, x, (size_t)d, 1, NULL, column, scaled, (size_t)d, 1 };
    const spot_rows_prepare_problem prepare = { .n = n, .d = d, .normalise = 1, .x = scaled, .y = z };

    SPOT_TRY(spot_rows_pick(c, 1, &pick));
    return spot_rows_prepare(c, 1, &prepare);
}

/* Puts the first half of each class into fold 0: rounded up for the class of the first row, and so that the folds' sizes differ
 * by no more than one. */
static void set_folds(svm_problem *q, int wrong)
{
    int first = q->wrong[0], own = first ? wrong : q->n - wrong, half[2], seen[2] = { 0, 0 };

    half[first] = (own + 1) / 2;
    half[!first] = (q->n + 1) / 2 - half[first];
    for (int i = 0; i < q->n; i++) {
        q->fold[i] = seen[q->wrong[i]] >= half[q->wrong[i]];
        seen[q->wrong[i]]++;
    }
}

/* Lists the training rows of a fold, or all rows, with the sign and the weight of their classes. */
static spot_status list_rows(spot_ctx *c, svm_problem *q, int f)
{
    int *row = q->row[f].here, len = 0, count[2] = { 0, 0 };
    double *bound = q->bound[f].here;

    for (int i = 0; i < q->n; i++) {
        if (f != ALL && q->fold[i] == f) continue;
        row[len++] = i;
        count[q->wrong[i]]++;
    }
    for (int r = 0; r < len; r++) {
        int wrong = q->wrong[row[r]];
        bound[r] = (wrong ? -1 : 1) * (len / (2.0 * count[wrong]));
    }
    q->rows[f] = len;
    SPOT_TRY(spot_twin_push(c, &q->row[f]));
    return spot_twin_push(c, &q->bound[f]);
}

static spot_status begin_problem(spot_ctx *c, svm_problem *q, const spot_points *points)
{
    int wrong = 0;

    for (int i = 0; i < q->n; i++) wrong += q->wrong[i] = spot_view_error(q->view, i) > 0.5;
    q->few = wrong < LEAST || q->n - wrong < LEAST;
    if (q->few) return SPOT_OK;
    set_folds(q, wrong);
    for (int f = 0; f <= FOLDS; f++) SPOT_TRY(list_rows(c, q, f));
    measure_columns(q->column.here, points->at, q->n, q->d);
    memset(q->zero.here, 0, q->zero.bytes);
    SPOT_TRY(spot_twin_push(c, &q->column));
    SPOT_TRY(spot_twin_push(c, &q->zero));
    return scale_rows(c, q->z, q->scaled, q->x, q->column.on_device, q->n, q->d);
}

/* ---- the machines ---- */

/* Fit k of a problem, on the rows of list f. */
static spot_hinge_problem machine(const svm_problem *q, int k, int f, double cost, const spot_svm_config *cfg)
{
    return (spot_hinge_problem){
        .n = q->n, .d = q->d, .rows = q->rows[f], .x = q->z, .row = q->row[f].on_device, .bound = q->bound[f].on_device,
        .cost = cost,
        .tolerance = cfg->tolerance, .most = cfg->most, .seed = q->seed, .w = (double *)q->w.on_device + (size_t)k * (q->d + 1),
        .dual = q->dual + (size_t)k * q->n, .square = q->square + (size_t)k * q->n,
        .end = (spot_hinge_end *)q->end.on_device + k };
}

static spot_ridge_fit values_of(const svm_problem *q, int k)
{
    double *w = (double *)q->w.on_device + (size_t)k * (q->d + 1);

    return (spot_ridge_fit){ q->n, q->d, 1, q->z, q->zero.on_device, w, w + q->d,
                             (double *)q->value.on_device + (size_t)k * q->n };
}

static spot_status solve_machines(spot_ctx *c, spot_arena *work, int count, const spot_hinge_problem *fits,
                                  const spot_ridge_fit *values)
{
    SPOT_TRY(spot_hinge_fit(c, work, count, fits));
    return spot_ridge_score(c, count, values);
}

/* Balanced accuracy of fit k on fold f. */
static double balanced_accuracy(const svm_problem *q, int k, int f)
{
    const double *value = (const double *)q->value.here + (size_t)k * q->n;
    int right[2] = { 0, 0 }, rows[2] = { 0, 0 };

    for (int i = 0; i < q->n; i++) {
        if (q->fold[i] != f) continue;
        rows[q->wrong[i]]++;
        right[q->wrong[i]] += (value[i] > 0) != q->wrong[i];
    }
    return (right[0] / (double)rows[0] + right[1] / (double)rows[1]) / 2;
}

static int trial(int cost, int fold) { return cost * FOLDS + fold; }

static void choose_cost(svm_problem *q)
{
    q->accuracy = -1;
    for (int k = 0; k < COSTS; k++) {
        double found = 0;
        for (int f = 0; f < FOLDS; f++) found += balanced_accuracy(q, trial(k, f), f) / FOLDS;
        if (found > q->accuracy) q->accuracy = found, q->best = k;
    }
}

/* Fits the trials of all problems together, then the machines on all rows. The slow ones, of large C, come first. */
static spot_status find_machines(spot_ctx *c, spot_arena *work, svm_problem *q, int problems, spot_hinge_problem *fits,
                                 spot_ridge_fit *values, const spot_svm_config *cfg)
{
    int count = 0;

    for (int k = COSTS - 1; k >= 0; k--)
        for (int p = 0; p < problems; p++)
            for (int f = 0; f < FOLDS && !q[p].few; f++) {
                fits[count] = machine(&q[p], trial(k, f), f, costs[k], cfg);
                values[count++] = values_of(&q[p], trial(k, f));
            }
    SPOT_TRY(solve_machines(c, work, count, fits, values));
    count = 0;
    for (int p = 0; p < problems; p++) {
        if (q[p].few) continue;
        SPOT_TRY(spot_twin_pull(c, &q[p].value));
        choose_cost(&q[p]);
        fits[count] = machine(&q[p], TRIALS, ALL, costs[q[p].best], cfg);
        values[count++] = values_of(&q[p], TRIALS);
    }
    SPOT_TRY(solve_machines(c, work, count, fits, values));
    for (int p = 0; p < problems; p++) {
        if (q[p].few) continue;
        SPOT_TRY(spot_twin_pull(c, &q[p].w));
        SPOT_TRY(spot_twin_pull(c, &q[p].end));
        SPOT_TRY(spot_twin_pull(c, &q[p].value));
    }
    return SPOT_OK;
}

/* ---- the answer ---- */

static int lower(const void *a, const void *b)
{
    const place *x = a, *y = b;

    return x->value != y->value ? (x->value < y->value ? -1 : 1) : x->row - y->row;
}

/* The weights of the slice that begins at place `first` of the order by value, over all rows of the view. */
static void weigh_rows(float *weight, const svm_problem *q, int first)
{
    for (int e = 0; e < q->n; e++)
        weight[q->order[e].row] = e < first ? 0 : (float)(1 / (1 + exp(q->order[e].value)));
}

static void list_slice(spot_hypothesis *h, int *list, const svm_problem *q, int first, int len)
{
    for (int e = first; e < first + len; e++) {
        list[e] = q->order[e].row;
        h->score -= q->order[e].value / len;
        h->mean_error += spot_view_error(q->view, q->order[e].row) / len;
    }
    h->row = list + first;
    h->len = len;
    spot_sort_ints(h->row, (size_t)len);
    weigh_rows(h->weight, q, first);
}

/* last (top): the greatest value of each slice, by which new rows find theirs; of the last slice of all, the greatest below 0,
 * so that every new row with a negative value has a slice. */
static void list_slices(svm_problem *q, double *last, const spot_bdm_group *g, int p)
{
    const double *value = (const double *)q->value.here + (size_t)TRIALS * q->n;
    int m = (int)(g->cfg->svm.share * q->n + 0.5), negative = 0;
    spot_hypotheses *out = &g->out[p];

    if (m < 1) m = 1;
    for (int i = 0; i < q->n; i++) {
        q->order[i] = (place){ value[i], i };
        negative += value[i] < 0;
    }
    qsort(q->order, (size_t)q->n, sizeof *q->order, lower);
    out->components = (negative + m - 1) / m;
    for (int first = 0; first < negative && out->len < g->cfg->top; first += m, out->len++) {
        int len = negative - first < m ? negative - first : m;
        out->h[out->len].weight = g->weight[p] + (size_t)out->len * q->n;
        list_slice(&out->h[out->len], g->row[p], q, first, len);
        last[out->len] = first + len == negative ? nextafter(0, -1) : q->order[first + len - 1].value;
    }
}

static spot_status keep_fit(spot_ctx *c, spot_fit *f, const svm_problem *q, const double *last, int len)
{
    SPOT_TRY(spot_fit_put(c, f, "svm.column", SPOT_F64, NULL, q->d, 2, NULL));
    for (int j = 0; j < q->d; j++) {
        const spot_rows_column *u = (const spot_rows_column *)q->column.here + j;
        double *to = (double *)f->tensor[f->count - 1].data + 2 * (size_t)j;
        to[0] = u->minus, to[1] = u->over;
    }
    SPOT_TRY(spot_fit_put(c, f, "svm.w", SPOT_F64, (const double *)q->w.here + (size_t)TRIALS * (q->d + 1), q->d + 1, 0, NULL));
    return spot_fit_put(c, f, "svm.last", SPOT_F64, last, len, 0, NULL);
}

static spot_status report_problem(spot_ctx *c, const spot_bdm_group *g, int p, svm_problem *q)
{
    const spot_hinge_end *end = (const spot_hinge_end *)q->end.here + TRIALS;
    double last[SPOT_MAX_HYPOTHESES];

    if (q->few) {
        spot_log_of(c, SPOT_LOG_WARN, q->seed.ec, "svm's list is empty: it needs %d errors and %d rows without", LEAST, LEAST);
        return SPOT_OK;
    }
    spot_log_of(c, SPOT_LOG_DEBUG, q->seed.ec, "failure is predicted with balanced accuracy %.3f, C %g", q->accuracy,
                costs[q->best]);
    if (!end->reached)
        spot_log_of(c, SPOT_LOG_WARN, q->seed.ec, "svm's machine is %.2g of its objective from the best after %d passes; raise "
                    "`passes`", (end->primal - end->dual) / end->primal, end->passes);
    list_slices(q, last, g, p);
    return g->fits ? keep_fit(c, &g->fits[p], q, last, g->out[p].len) : SPOT_OK;
}

static spot_status solve_group(spot_ctx *c, spot_arena *host, spot_arena *work, const spot_bdm_group *g)
{
    svm_problem q[SPOT_BDM_GROUP];
    spot_hinge_problem *fits;
    spot_ridge_fit *values;

    SPOT_TRY(SPOT_TAKE(c, host, fits, TRIALS * (size_t)g->problems));
    SPOT_TRY(SPOT_TAKE(c, host, values, TRIALS * (size_t)g->problems));
    for (int p = 0; p < g->problems; p++) {
        q[p] = (svm_problem){ .n = g->points[p].n, .d = g->points[p].d, .view = &g->views[p] };
        if (!work->counting) q[p].seed = g->seeds[p];
        SPOT_TRY(take_problem(c, host, work, &q[p], &g->points[p]));
        if (!work->counting) SPOT_TRY(begin_problem(c, &q[p], &g->points[p]));
    }
    SPOT_TRY(spot_bdm_scratch(c, work, spot_hinge_scratch(c, TRIALS * g->problems)));
    if (work->counting) return SPOT_OK;
    SPOT_TRY(find_machines(c, work, q, g->problems, fits, values, &g->cfg->svm));
    for (int p = 0; p < g->problems; p++) SPOT_TRY(report_problem(c, g, p, &q[p]));
    return SPOT_OK;
}

/* ---- new rows ---- */

static spot_status assign_rows(spot_ctx *c, spot_arena *a, const spot_assignment *to)
{
    spot_ridge_fit f = { .n = to->rows->n, .d = to->points->d, .scores = 1 };
    const spot_fit_tensor *scale, *w, *last;
    spot_rows_column *column;
    float *scaled, *z;
    double *zero;

    SPOT_TRY(spot_fit_take(c, to->fit, "svm.column", SPOT_F64, f.d, 2, &scale));
    SPOT_TRY(spot_fit_take(c, to->fit, "svm.w", SPOT_F64, f.d + 1, 0, &w));
    SPOT_TRY(spot_fit_take(c, to->fit, "svm.last", SPOT_F64, to->hypotheses, 0, &last));
    SPOT_TRY(SPOT_TAKE(c, a, column, f.d));
    SPOT_TRY(SPOT_TAKE(c, a, zero, f.d));
    SPOT_TRY(SPOT_TAKE(c, a, scaled, (size_t)f.n * f.d));
    SPOT_TRY(SPOT_TAKE(c, a, z, (size_t)f.n * f.d));
    SPOT_TRY(SPOT_TAKE(c, a, f.score, f.n));
    if (a->counting) return SPOT_OK;
    for (int j = 0; j < f.d; j++) {
        const double *u = (const double *)scale->data + 2 * (size_t)j;
        column[j] = (spot_rows_column){ j, u[0], 1, u[1] };
        zero[j] = 0;
    }
    SPOT_TRY(scale_rows(c, z, scaled, to->points->at, column, f.n, f.d));
    f.x = z, f.centre = zero, f.w = w->data, f.b = f.w + f.d;
    SPOT_TRY(spot_ridge_score(c, 1, &f));
    for (int i = 0; i < f.n; i++)
        for (int k = 0; k < to->hypotheses; k++)
            to->member[(size_t)i * to->hypotheses + k] = f.score[i] <= ((const double *)last->data)[k] &&
                                                 (!k || f.score[i] > ((const double *)last->data)[k - 1]);
    return SPOT_OK;
}

static const spot_setting settings[] = {
#define S SPOT_BDM_ROW
    S("share",   REAL,  svm.share,     "rows of a slice, as a share of all", SPOT_IN(0.0001, 1), SPOT_DEF(0.05)),
    S("tolerance", REAL, svm.tolerance, "greatest distance from the best objective, as a share of it", SPOT_IN(1e-12, 1),
      SPOT_DEF(1e-3)),
    S("passes",  INT,   svm.most,      "most passes over the rows", SPOT_IN(1, 1000000), SPOT_DEF(10000)),
#undef S
    SPOT_END
};

const spot_method spot_method_svm = { .weighs = true, .settings = settings, .solve = solve_group, .assign = assign_rows };
