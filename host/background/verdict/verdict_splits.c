/* verdict_splits.c - how well assessors learn labels: repeated random splits (paper 003, section 5.3; verdict.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "background/verdict/verdict_reach.h"
#include "background/verdict/verdict_rows.h"
#include "spotter/verdict.h"

enum { LEAST_MODELS = 6,         /* two to test on, four to train */
       LEAST_RUNS = 3, FOLDS = 10 };

const char *spot_assessor_name(int assessor)
{
    static const char *const name[SPOT_ASSESSORS] = { "random forest", "AdaBoost", "worst-case accuracy" };

    return name[assessor];
}

double spot_dependence(const double share[SPOT_BACKGROUND_LABELS]) { return share[SPOT_BORDERLINE] / 2 + share[SPOT_VARIANT]; }

int spot_verdict_vote_step(double vote)
{
    int step = 0;

    while (step < SPOT_VERDICT_VOTES - 1 && vote >= 0.5 + 0.1 * step) step++;
    return step;
}

/* ---- the baseline ---- */

typedef struct { double worst; uint8_t label; } scored;

static int by_worst(const void *a, const void *b)
{
    const double x = ((const scored *)a)->worst, y = ((const scored *)b)->worst;

    return (x > y) - (x < y);
}

int spot_worst_cuts_label(const spot_worst_cuts *cuts, double worst)
{
    return worst < cuts->low ? SPOT_VARIANT : worst < cuts->high ? SPOT_BORDERLINE : SPOT_INVARIANT;
}

/* The place of a cut below the i-th of n ascending values. */
static double cut_below(const scored *v, int n, int i)
{
    return !i ? -INFINITY : i == n ? INFINITY : v[i - 1].worst + (v[i].worst - v[i - 1].worst) / 2;
}

static bool is_cut(const scored *v, int n, int i) { return !i || i == n || v[i - 1].worst < v[i].worst; }

/* Below a cut at i all models are variant, of which upto[i][VARIANT] are right, and so on. */
static void fit_cuts(spot_worst_cuts *cuts, const scored *v, int (*upto)[SPOT_BACKGROUND_LABELS], int n)
{
    memset(upto[0], 0, sizeof upto[0]);
    for (int i = 0; i < n; i++) {
        memcpy(upto[i + 1], upto[i], sizeof upto[0]);
        upto[i + 1][v[i].label]++;
    }
    cuts->right = -1;
    for (int a = 0; a <= n; a++)
        for (int b = a; b <= n; b++) {
            const int right = upto[a][SPOT_VARIANT] + upto[b][SPOT_BORDERLINE] - upto[a][SPOT_BORDERLINE] +
                              upto[n][SPOT_INVARIANT] - upto[b][SPOT_INVARIANT];
            if (right <= cuts->right || !is_cut(v, n, a) || !is_cut(v, n, b)) continue;
            *cuts = (spot_worst_cuts){ cut_below(v, n, a), cut_below(v, n, b), right };
        }
}

spot_status spot_worst_cuts_fit(spot_ctx *c, spot_worst_cuts *cuts, const double *worst, const uint8_t *label, int n)
{
    scored *v = malloc((size_t)n * sizeof *v + 1);
    int (*upto)[SPOT_BACKGROUND_LABELS] = malloc(((size_t)n + 1) * sizeof *upto);
    spot_status s = SPOT_OK;

    if (!v || !upto || n < 1)
        s = spot_fail(c, n < 1 ? SPOT_INVALID : SPOT_NOMEM, "cuts of the worst-case accuracy of %d models", n);
    for (int i = 0; s == SPOT_OK && i < n; i++) {
        v[i] = (scored){ worst[i], label[i] };
        if (!isfinite(worst[i])) s = spot_fail(c, SPOT_INPUT, "a model has no worst-case accuracy");
    }
    if (s == SPOT_OK) {
        qsort(v, (size_t)n, sizeof *v, by_worst);
        fit_cuts(cuts, v, upto, n);
    }
    free(v), free(upto);
    return s;
}

/* ---- labelled rows ---- */

void spot_verdict_rows_free(spot_verdict_rows *r)
{
    free(r->x), free(r->y), free(r->model), free(r->accuracy), free(r->group);
    *r = (spot_verdict_rows){ 0 };
}

/* Models of one run have one suite, so that runs are groups where there are several; else every FOLDS-th model is one. */
static void group_rows(spot_verdict_rows *r, const spot_verdict_table *t)
{
    int runs = 0;

    for (int i = 0; i < r->n; i++) {
        const int run = t->model[r->model[i]].run;
        if (!i || run != t->model[r->model[i - 1]].run) runs++;
        r->group[i] = runs - 1;
    }
    r->groups = runs;
    if (runs >= LEAST_RUNS) return;
    r->groups = r->n < FOLDS ? r->n : FOLDS;
    for (int i = 0; i < r->n; i++) r->group[i] = i % r->groups;
}

spot_status spot_verdict_rows_take(spot_ctx *c, spot_verdict_rows *r, const spot_verdict_table *t, const spot_verdict_labels *l)
{
    const size_t n = (size_t)(l->labelled ? l->labelled : 1);
    int kinds = 0;

    *r = (spot_verdict_rows){ .x = malloc(n * (size_t)(t->features ? t->features : 1) * sizeof *r->x), .y = malloc(n),
                              .model = malloc(n * sizeof *r->model), .accuracy = malloc(n * sizeof *r->accuracy),
                              .group = malloc(n * sizeof *r->group) };
    if (l->models != t->models) return spot_fail(c, SPOT_INVALID, "labels of %d models for %d", l->models, t->models);
    if (!r->x || !r->y || !r->model || !r->accuracy || !r->group)
        return spot_fail(c, SPOT_NOMEM, "no memory for the features of %d models", l->labelled);
    for (int i = 0; i < t->models; i++) {
        if (l->majority[i] < 0) continue;
        memcpy(r->x + (size_t)r->n * (size_t)t->features, t->model[i].feature, (size_t)t->features * sizeof *r->x);
        r->y[r->n] = (uint8_t)l->majority[i];
        r->accuracy[r->n] = (float)t->model[i].accuracy;
        r->model[r->n++] = i;
    }
    for (int k = 0; k < SPOT_BACKGROUND_LABELS; k++) kinds += l->count[k] > 0;
    if (r->n < LEAST_MODELS)
        return spot_fail(c, SPOT_INPUT, "{verdict.few_labels} %d of %d models have a label; a verdict is learned from %d or "
                         "more", r->n, t->models, LEAST_MODELS);
    if (kinds < 2)
        return spot_fail(c, SPOT_INPUT, "{verdict.one_label} all %d labelled models are %s: there is nothing to learn", r->n,
                         spot_background_label_name(r->y[0]));
    group_rows(r, t);
    return SPOT_OK;
}

/* ---- splits ---- */

/* Split s has its rows at s * n of order, x and y: first those to train on. */
typedef struct {
    const spot_verdict_table *t;
    const spot_verdict_rows  *all;
    spot_verdict_scores *out;
    int       splits, n, train;
    uint32_t *order;           /* (splits, n) */
    float    *x;               /* (splits, n, features) */
    uint8_t  *y, *said;        /* (splits, n); (n) */
    double   *share, *worst;   /* (n, labels); (n) */
    int      *tested;          /* (models) */
    float    *accuracy;        /* (n): in a split's order */
    int      *group;           /* (n) */
    spot_forest_rows *rows;    /* (splits) */
    spot_forest *forest;       /* (splits) */
    int      (*count)[SPOT_BACKGROUND_LABELS];         /* (n) */
} splitter;

static void free_splits(splitter *w)
{
    for (int s = 0; w->forest && s < w->splits; s++) spot_forest_close(&w->forest[s]);
    free(w->order), free(w->x), free(w->y), free(w->said), free(w->share), free(w->worst), free(w->tested), free(w->rows);
    free(w->forest), free(w->count), free(w->accuracy), free(w->group);
}

static spot_status take_splits(spot_ctx *c, splitter *w)
{
    const size_t n = (size_t)w->n, all = n * (size_t)w->splits;

    w->order = malloc(all * sizeof *w->order);
    w->x = malloc(all * (size_t)w->t->features * sizeof *w->x);
    w->y = malloc(all);
    w->said = malloc(n);
    w->share = malloc(n * SPOT_BACKGROUND_LABELS * sizeof *w->share);
    w->worst = malloc(n * sizeof *w->worst);
    w->tested = calloc((size_t)w->t->models, sizeof *w->tested);
    w->rows = calloc((size_t)w->splits, sizeof *w->rows);
    w->forest = calloc((size_t)w->splits, sizeof *w->forest);
    w->count = malloc(n * sizeof *w->count);
    w->accuracy = malloc(n * sizeof *w->accuracy);
    w->group = malloc(n * sizeof *w->group);
    if (w->order && w->x && w->y && w->said && w->share && w->worst && w->tested && w->rows && w->forest && w->count &&
        w->accuracy && w->group)
        return SPOT_OK;
    return spot_fail(c, SPOT_NOMEM, "no memory for %d splits of %d models", w->splits, w->n);
}

static void deal_rows(splitter *w, uint64_t seed)
{
    const size_t features = (size_t)w->t->features;

    for (int s = 0; s < w->splits; s++) {
        const size_t from = (size_t)s * (size_t)w->n;
        w->train = spot_split_rows(w->order + from, w->n, (spot_seed){ seed, 0 }, s);
        for (int i = 0; i < w->n; i++) {
            const size_t row = w->order[from + (size_t)i];
            memcpy(w->x + (from + (size_t)i) * features, w->all->x + row * features, features * sizeof *w->x);
            w->y[from + (size_t)i] = w->all->y[row];
        }
        w->rows[s] = (spot_forest_rows){ .x = { w->x + from * features, w->train, w->t->features }, .y = w->y + from,
                                         .classes = SPOT_BACKGROUND_LABELS, .seed = { seed, (uint32_t)s } };
    }
}

/* The tested part of a split; said: what the assessor says of it. */
static spot_status score_split(spot_ctx *c, splitter *w, int assessor, int split)
{
    const int test = w->n - w->train;
    const uint8_t *y = w->y + (size_t)split * (size_t)w->n + (size_t)w->train;
    int right = 0;

    memset(w->count, 0, (size_t)test * sizeof *w->count);
    for (int i = 0; i < test; i++) {
        right += w->said[i] == y[i];
        w->out->assessor[assessor].confusion[y[i]][w->said[i]]++;
        w->count[i][w->said[i]]++, w->count[i][y[i]]++;
    }
    w->out->assessor[assessor].accuracy[split] = (double)right / test;
    return spot_fleiss_kappa(c, &w->out->assessor[assessor].kappa[split], w->count[0], test, SPOT_BACKGROUND_LABELS);
}

/* Adds what the forest of a split says of models that it has not seen. */
static void add_held_out(splitter *w, int split)
{
    const size_t from = (size_t)split * (size_t)w->n + (size_t)w->train;

    for (int i = 0; i < w->n - w->train; i++) {
        const int model = w->all->model[w->order[from + (size_t)i]];
        w->out->held_out[model] += spot_dependence(w->share + (size_t)i * SPOT_BACKGROUND_LABELS);
        w->tested[model]++;
    }
}

/* How many of the tested models the forest of a split may judge, how many of those it judges rightly, and how sure it is. */
static spot_status add_judged(spot_ctx *c, splitter *w, int split)
{
    const size_t from = (size_t)split * (size_t)w->n, features = (size_t)w->t->features;
    const float *x = w->x + from * features;
    const uint8_t *y = w->y + from + w->train;
    spot_verdict_reach *reach;

    for (int i = 0; i < w->n; i++) {
        w->accuracy[i] = w->all->accuracy[w->order[from + (size_t)i]];
        w->group[i] = w->all->group[w->order[from + (size_t)i]];
    }
    const spot_reach_models of = { w->train, w->t->features, x, w->accuracy, w->group };
    SPOT_TRY(spot_verdict_reach_open(c, &reach, &of));
    for (int i = 0; i < w->n - w->train; i++) {
        const int row = w->train + i, step = spot_verdict_vote_step(w->share[i * SPOT_BACKGROUND_LABELS + w->said[i]]);
        spot_verdict_distance d;
        spot_verdict_reach_find(reach, &d, x + (size_t)row * features, w->accuracy[row]);
        if (!d.within) continue;
        w->out->judged++, w->out->judged_right += w->said[i] == y[i];
        w->out->sure[step].models++, w->out->sure[step].right += w->said[i] == y[i];
    }
    spot_verdict_reach_close(reach);
    return SPOT_OK;
}

static spot_status run_forests(spot_ctx *c, splitter *w, int assessor)
{
    const spot_forest_config cfg =
        spot_forest_defaults(assessor == SPOT_ASSESSOR_FOREST ? SPOT_FOREST_BAGGED : SPOT_FOREST_SAMME_R);
    const int test = w->n - w->train;

    SPOT_TRY(spot_forest_fit(c, w->splits, w->forest, w->rows, &cfg));
    for (int s = 0; s < w->splits; s++) {
        const size_t from = (size_t)s * (size_t)w->n + (size_t)w->train;
        const spot_mat x = { w->x + from * (size_t)w->t->features, test, w->t->features };
        SPOT_TRY(spot_forest_shares(c, &w->forest[s], x, 0, w->share));
        spot_forest_classes(w->said, w->share, test, SPOT_BACKGROUND_LABELS);
        SPOT_TRY(score_split(c, w, assessor, s));
        if (assessor != SPOT_ASSESSOR_FOREST) continue;
        add_held_out(w, s);
        SPOT_TRY(add_judged(c, w, s));
    }
    for (int s = 0; s < w->splits; s++) {
        spot_forest_close(&w->forest[s]);
        w->forest[s] = (spot_forest){ 0 };
    }
    return SPOT_OK;
}

static spot_status run_baseline(spot_ctx *c, splitter *w)
{
    for (int s = 0; s < w->splits; s++) {
        const size_t from = (size_t)s * (size_t)w->n;
        spot_worst_cuts cuts;
        for (int i = 0; i < w->n; i++) w->worst[i] = w->t->model[w->all->model[w->order[from + (size_t)i]]].worst;
        SPOT_TRY(spot_worst_cuts_fit(c, &cuts, w->worst, w->y + from, w->train));
        for (int i = w->train; i < w->n; i++) w->said[i - w->train] = (uint8_t)spot_worst_cuts_label(&cuts, w->worst[i]);
        SPOT_TRY(score_split(c, w, SPOT_ASSESSOR_WORST, s));
    }
    return SPOT_OK;
}

static spot_spread spread_of_some(const double *value, int n, double *scratch)
{
    int m = 0;

    for (int i = 0; i < n; i++)
        if (isfinite(value[i])) scratch[m++] = value[i];
    if (!m) return (spot_spread){ NAN, NAN, 0 };
    return spot_spread_of(scratch, m);
}

static void summarise(splitter *w, double *scratch)
{
    spot_verdict_scores *o = w->out;

    for (int a = 0; a < SPOT_ASSESSORS; a++) {
        o->assessor[a].of_accuracy = spread_of_some(o->assessor[a].accuracy, w->splits, scratch);
        o->assessor[a].of_kappa = spread_of_some(o->assessor[a].kappa, w->splits, scratch);
    }
    for (int s = 0; s < w->splits; s++)
        scratch[s] = o->assessor[SPOT_ASSESSOR_FOREST].accuracy[s] - o->assessor[SPOT_ASSESSOR_WORST].accuracy[s];
    o->gain = spot_spread_of(scratch, w->splits);
    o->test = w->n - w->train, o->train = w->train;
    for (int i = 0; i < w->t->models; i++) o->held_out[i] = w->tested[i] ? o->held_out[i] / w->tested[i] : NAN;
}

static spot_status take_scores(spot_ctx *c, spot_verdict_scores *out, int models, int splits)
{
    const size_t n = (size_t)splits;
    double *at = calloc((2 * SPOT_ASSESSORS + 1) * n + (size_t)models, sizeof *at);

    *out = (spot_verdict_scores){ .splits = splits, .owned = at };
    if (!at) return spot_fail(c, SPOT_NOMEM, "no memory for %d splits", splits);
    for (int a = 0; a < SPOT_ASSESSORS; a++, at += 2 * n) out->assessor[a].accuracy = at, out->assessor[a].kappa = at + n;
    out->held_out = at + n;
    return SPOT_OK;
}

void spot_verdict_scores_free(spot_verdict_scores *s)
{
    free(s->owned);
    *s = (spot_verdict_scores){ 0 };
}

spot_status spot_verdict_try(spot_ctx *c, spot_verdict_scores *out, const spot_verdict_table *t, const spot_verdict_labels *l,
                             int splits, uint64_t seed)
{
    spot_verdict_rows all = { 0 };
    splitter w = { .t = t, .all = &all, .out = out, .splits = splits };
    spot_status s = SPOT_OK;

    *out = (spot_verdict_scores){ 0 };
    if (splits < 1) return spot_fail(c, SPOT_INVALID, "%d splits", splits);
    s = spot_verdict_rows_take(c, &all, t, l);
    w.n = all.n;
    if (s == SPOT_OK) s = take_scores(c, out, t->models, splits);
    if (s == SPOT_OK) s = take_splits(c, &w);
    if (s == SPOT_OK) deal_rows(&w, seed);
    for (int a = SPOT_ASSESSOR_FOREST; s == SPOT_OK && a <= SPOT_ASSESSOR_BOOST; a++) s = run_forests(c, &w, a);
    if (s == SPOT_OK) s = run_baseline(c, &w);
    if (s == SPOT_OK) summarise(&w, out->held_out - splits);
    free_splits(&w);
    spot_verdict_rows_free(&all);
    if (s != SPOT_OK) spot_verdict_scores_free(out);
    return s;
}
