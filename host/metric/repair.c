/* repair.c - what a slice is good for: the classifier's last layer is fitted again with balanced groups, and the worst group is
 * measured on rows that the fit has not seen (deep feature reweighting: Kirichenko et al. 2023, "Last Layer Re-Training is
 * Sufficient for Robustness to Spurious Correlations"). */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "spotter/metric.h"
#include "stats/logistic.h"

enum { MOST = SPOT_MAX_HYPOTHESES + 1 };        /* groups of the positives, with the rest */

/* Both halves, positives first: rows 0, 2, .. of each view are fitted, rows 1, 3, .. measured. */
typedef struct {
    int n[2], positives[2], d;         /* [0]: to fit, [1]: to measure */
    double *x[2];                      /* (n, d): features minus their mean over their deviation, of the rows to fit */
    double *mean, *scale;              /* (d) */
    uint8_t *y;                        /* (n[0]) */
    double *weight;                    /* (n[0]) */
    int *group;                        /* (positives[0]) */
    double *v, b;                      /* (d): the layer */
} halves;

static int half_of(int n, int h) { return h ? n / 2 : n - n / 2; }

static spot_status take_halves(spot_ctx *c, spot_arena *a, halves *k, int positives, int negatives, int d)
{
    k->d = d;
    for (int h = 0; h < 2; h++) {
        k->positives[h] = half_of(positives, h);
        k->n[h] = k->positives[h] + half_of(negatives, h);
        SPOT_TRY(SPOT_TAKE(c, a, k->x[h], (size_t)k->n[h] * d));
    }
    SPOT_TRY(SPOT_TAKE(c, a, k->mean, d));
    SPOT_TRY(SPOT_TAKE(c, a, k->scale, d));
    SPOT_TRY(SPOT_TAKE(c, a, k->y, k->n[0]));
    SPOT_TRY(SPOT_TAKE(c, a, k->weight, k->n[0]));
    SPOT_TRY(SPOT_TAKE(c, a, k->group, k->positives[0]));
    return SPOT_TAKE(c, a, k->v, d);
}

static void copy_half(halves *k, int h, const spot_view *positives, const spot_view *negatives)
{
    for (int i = 0; i < k->n[h]; i++) {
        bool positive = i < k->positives[h];
        const spot_view *v = positive ? positives : negatives;
        const float *from = v->feature + (size_t)(2 * (positive ? i : i - k->positives[h]) + h) * k->d;
        for (int j = 0; j < k->d; j++) k->x[h][(size_t)i * k->d + j] = from[j];
        if (!h) k->y[i] = positive;
    }
}

/* As scikit-learn's StandardScaler: a column without variance is only centred. */
static void standardise(halves *k)
{
    for (int j = 0; j < k->d; j++) k->mean[j] = k->scale[j] = 0;
    for (int i = 0; i < k->n[0]; i++)
        for (int j = 0; j < k->d; j++) k->mean[j] += k->x[0][(size_t)i * k->d + j] / k->n[0];
    for (int i = 0; i < k->n[0]; i++)
        for (int j = 0; j < k->d; j++) {
            double off = k->x[0][(size_t)i * k->d + j] - k->mean[j];
            k->scale[j] += off * off / k->n[0];
        }
    for (int j = 0; j < k->d; j++) k->scale[j] = k->scale[j] > 0 ? sqrt(k->scale[j]) : 1;
    for (int h = 0; h < 2; h++)
        for (int i = 0; i < k->n[h]; i++)
            for (int j = 0; j < k->d; j++) {
                double *x = &k->x[h][(size_t)i * k->d + j];
                *x = (*x - k->mean[j]) / k->scale[j];
            }
}

/* Half of the weight for each label; the positives' half in equal parts for their groups. One group is scikit-learn's
 * class_weight="balanced". */
static void weigh_groups(halves *k)
{
    int size[MOST] = { 0 }, groups = 0, negatives = k->n[0] - k->positives[0];

    for (int i = 0; i < k->positives[0]; i++) size[k->group[i]]++;
    for (int g = 0; g < MOST; g++) groups += size[g] > 0;
    for (int i = 0; i < k->n[0]; i++)
        k->weight[i] = i < k->positives[0] ? k->n[0] / (2.0 * groups * size[k->group[i]]) : k->n[0] / (2.0 * negatives);
}

/* Accuracies of the layer on the half to measure; the least over the blindspots, the other positives, and the negatives. */
static double worst_group(const halves *k, const spot_truth *truth)
{
    int right[SPOT_MAX_BLINDSPOTS + 2] = { 0 }, size[SPOT_MAX_BLINDSPOTS + 2] = { 0 };
    double worst = 1;

    for (int i = 0; i < k->n[1]; i++) {
        bool positive = i < k->positives[1];
        uint32_t mask = positive ? truth->mask[2 * i + 1] : 0;
        double z = k->b + cblas_ddot(k->d, k->x[1] + (size_t)i * k->d, 1, k->v, 1);
        bool hit = (z > 0) == positive;
        for (int m = 0; m < truth->blindspots + 2; m++) {
            bool in = m < truth->blindspots ? mask >> m & 1 : m == truth->blindspots ? positive && !mask : !positive;
            size[m] += in;
            right[m] += in && hit;
        }
    }
    for (int m = 0; m < truth->blindspots + 2; m++)
        if (size[m]) worst = fmin(worst, (double)right[m] / size[m]);
    return worst;
}

static spot_status refit(spot_ctx *c, spot_arena *a, double *worst, halves *k, const spot_truth *truth)
{
    spot_logistic p = { .n = k->n[0], .d = k->d, .x = k->x[0], .y = k->y, .weight = k->weight, .c = 1, .v = k->v };

    weigh_groups(k);
    SPOT_TRY(spot_logistic_fit(c, a, &p));
    k->b = p.b;
    *worst = worst_group(k, truth);
    return SPOT_OK;
}

static spot_status refit_by_truth(spot_ctx *c, spot_arena *a, spot_repair *same, halves *k, const spot_truth *truth)
{
    if (same->known) return SPOT_OK;
    memset(k->group, 0, (size_t)k->positives[0] * sizeof *k->group);
    SPOT_TRY(refit(c, a, &same->none, k, truth));
    for (int i = 0; i < k->positives[0]; i++)
        k->group[i] = truth->mask[2 * i] ? 1 + __builtin_ctz(truth->mask[2 * i]) : 0;
    SPOT_TRY(refit(c, a, &same->truth, k, truth));
    same->known = true;
    return SPOT_OK;
}

/* A row of several hypotheses goes to the first, since the best come first. */
static void group_by_hypotheses(halves *k, const spot_score *s, const spot_hypotheses *found)
{
    memset(k->group, 0, (size_t)k->positives[0] * sizeof *k->group);
    for (int h = s->hypotheses - 1; h >= 0; h--)
        for (int i = 0; i < found->h[h].len; i++)
            if (found->h[h].row[i] % 2 == 0) k->group[found->h[h].row[i] / 2] = 1 + h;
}

static spot_status repair(spot_ctx *c, spot_arena *a, spot_score *s, spot_repair *same, halves *k, const spot_hypotheses *found,
                          const spot_truth *truth)
{
    double worst;

    SPOT_TRY(refit_by_truth(c, a, same, k, truth));
    group_by_hypotheses(k, s, found);
    SPOT_TRY(refit(c, a, &worst, k, truth));
    s->beside[SPOT_REPAIR_NONE] = same->none;
    s->beside[SPOT_REPAIR_TRUE] = same->truth;
    s->beside[SPOT_REPAIR_FOUND] = worst;
    if (same->truth > same->none) s->beside[SPOT_REPAIR_SHARE] = (worst - same->none) / (same->truth - same->none);
    return SPOT_OK;
}

size_t spot_metric_repair_bytes(int positives, int negatives, int d)
{
    spot_arena a = spot_arena_counting();
    spot_ctx quiet = { 0 };
    spot_logistic p;
    halves k;

    take_halves(&quiet, &a, &k, positives, negatives, d);
    p = (spot_logistic){ .n = k.n[0], .d = d };
    spot_logistic_fit(&quiet, &a, &p);
    return a.peak;
}

spot_status spot_metric_repair(spot_ctx *c, spot_score *s, spot_repair *same, const spot_hypotheses *found,
                               const spot_view *positives, const spot_truth *truth, const spot_view *negatives)
{
    spot_status status;
    spot_arena a;
    halves k;

    if (positives->n != truth->n || positives->d != negatives->d)
        return spot_fail(c, SPOT_INVALID, "a repair with %d positives of %d features, a truth of %d rows and negatives of %d "
                         "features", positives->n, positives->d, truth->n, negatives->d);
    if (!truth->blindspots || positives->n < 2 || negatives->n < 2) return SPOT_OK;
    SPOT_TRY(spot_arena_open(c, &a, spot_metric_repair_bytes(positives->n, negatives->n, positives->d)));
    status = take_halves(c, &a, &k, positives->n, negatives->n, positives->d);
    if (status == SPOT_OK) {
        for (int h = 0; h < 2; h++) copy_half(&k, h, positives, negatives);
        standardise(&k);
        status = repair(c, &a, s, same, &k, found, truth);
    }
    spot_arena_close(&a);
    return status;
}
