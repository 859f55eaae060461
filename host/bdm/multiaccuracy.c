/* multiaccuracy.c - Multiaccuracy (Kim, Ghorbani & Zou 2019, arXiv 1805.12317). An auditor is a ridge regression of the loss's
 * slope in the predicted probability, learnt on some rows. If it agrees with the residuals of other rows, the classifier's
 * logit is repaired along it, and the next auditor works on the rest. The rows where an auditor is steep are a hypothesis.
 *
 * Rows are split once, at random, into rows for learning auditors and held-out rows for choosing them. An auditor sees a part
 * of the rows: predicted positives, predicted negatives, or all. The slope is the paper's, bounded as in
 * the released notebook:  -1/p for a positive row, -(20 - 100 p) below p = 0.1;  1/(1-p) for a negative row, 100 p - 80 from
 * p = 0.9 on. Of the auditors whose mean product with the residual p - y on the held-out rows of their part is above `gain`,
 * the greatest is taken: h; z -= eta h(x) in its part. Its hypothesis: |h| at least `threshold` of its greatest in the part.
 *
 * The notebook drops the slope's sign and takes the first part that passes; then positives alone, whose residuals are all
 * negative, would never pass. Here they do, and predicted negatives come first because their residuals are large.
 *
 * compat: Domino's MultiaccuracySlicer (0.1.5): the last rows are held out, not random ones; the repaired classifier defines
 * the parts, negatives first; slope and residual have no sign; always the greatest, without `gain`; z += eta h in the first
 * part, -= in others; if a part is skipped because it has few rows, the repair changes the part before it; h / max h >
 * threshold over all rows. Its defaults are held_out: 0.1, top: 5. Where it fails with an error, the list ends.
 *
 * Each auditor of a hypothesis assigns new rows by their points and, without compat, by the classifier's prediction. Assigning
 * a fitted row gives its hypotheses again. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "bdm/auditors.h"
#include "bdm/fit.h"
#include "bdm/methods.h"
#include "bdm/rank.h"
#include "core/problems.h"
#include "fit/ridge.h"
#include "spotter/rng.h"

#define LEAST_PROBABILITY 1e-7      /* the spacing of fp32 below 1; logits stay within 16.2 */

typedef enum { LEARN, HELD_OUT, NEITHER } role;

typedef struct {
    const spot_view *view;
    spot_auditors a;
    double  *z;                /* (n): repaired logits */
    uint8_t *role;             /* (n) */
    uint8_t *side;             /* (n): the part of a row, 0 or 1 */
    uint8_t *member;           /* (top, n): members of each auditor's hypothesis */
    double  *score;            /* (top) */
    double  *chosen;           /* (top, d + 2): each auditor's w, b and greatest value */
    int     *which;            /* (top): each auditor's part, 0 to 2 */
    int      len, done;
} audit;

static double probability(double z) { return 1 / (1 + exp(-z)); }

/* Magnitude of the cross-entropy's slope in p, bounded. */
static double slope(double p, bool positive)
{
    if (positive) return p >= 0.1 ? 1 / p : 20 - 100 * p;
    return p < 0.9 ? 1 / (1 - p) : 100 * p - 80;
}

static spot_status take_audit(spot_ctx *c, spot_arena *a, audit *t, int top)
{
    size_t n = (size_t)t->a.n, d = (size_t)t->a.d;

    SPOT_TRY(SPOT_TAKE(c, a, t->member, (size_t)top * n));
    SPOT_TRY(SPOT_TAKE(c, a, t->score, top));
    SPOT_TRY(SPOT_TAKE(c, a, t->chosen, (size_t)top * (d + 2)));
    SPOT_TRY(SPOT_TAKE(c, a, t->which, top));
    SPOT_TRY(SPOT_TAKE(c, a, t->z, n));
    SPOT_TRY(SPOT_TAKE(c, a, t->role, n));
    return SPOT_TAKE(c, a, t->side, n);
}

static void split_rows(audit *t, spot_seed seed, const spot_bdm_config *cfg, uint32_t *order)
{
    double held = cfg->multiaccuracy.held_out;
    int n = t->a.n, learn = (int)((1 - held) * n), end = cfg->compat ? (int)((1 - held + held) * n) : n;
    spot_rng r = spot_rng_at(seed.seed, SPOT_RNG_AUDIT, seed.ec, 0);

    if (!cfg->compat) spot_rng_shuffle(&r, order, (uint32_t)n);
    for (int i = 0; i < n; i++) t->role[cfg->compat ? i : (int)order[i]] = i < learn ? LEARN : i < end ? HELD_OUT : NEITHER;
}

static double bounded_confidence(const spot_view *v, int i)
{
    return fmin(fmax(v->confidence[i], LEAST_PROBABILITY), 1 - LEAST_PROBABILITY);
}

/* The part, 0 or 1, of a row with this predicted probability. */
static int side_of(double p) { return !(p > 0.5); }

static void begin_audit(audit *t, spot_seed seed, const spot_bdm_config *cfg, uint32_t *order)
{
    for (int i = 0; i < t->a.n; i++) {
        double p = bounded_confidence(t->view, i);
        t->z[i] = log(p / (1 - p));
        t->side[i] = (uint8_t)side_of(p);
    }
    split_rows(t, seed, cfg, order);
}

/* Sets parts and targets of the next round; an audit without a large enough part is done. */
static void set_round(audit *t, const spot_bdm_config *cfg)
{
    int rows[2][SPOT_AUDITORS] = { { 0 } };

    t->done = 1;
    for (int i = 0; i < t->a.n; i++) {
        double p = probability(t->z[i]);
        bool positive = spot_view_positive(t->view, i), learn = t->role[i] == LEARN;
        if (cfg->compat) t->side[i] = p > 0.5;
        t->a.part[i] = learn ? t->side[i] : SPOT_NO_PART;
        t->a.target[i] = slope(p, positive) * (cfg->compat || !positive ? 1 : -1);
        if (t->role[i] == NEITHER) continue;
        rows[!learn][t->side[i]]++;
        rows[!learn][2]++;
    }
    for (int q = 0; q < SPOT_AUDITORS; q++) {
        t->a.wanted[q] = rows[0][q] >= cfg->least && rows[1][q] >= cfg->least;
        if (t->a.wanted[q]) t->done = 0;
    }
}

static bool in_part(const audit *t, int q, int i) { return q == 2 || t->side[i] == q; }

/* Mean product of auditor q with the residual, on the held-out rows of its part. */
static double correlation(const audit *t, int q, bool compat)
{
    const double *h = t->a.h + (size_t)q * t->a.n;
    double sum = 0;
    int rows = 0;

    for (int i = 0; i < t->a.n; i++) {
        double residual = probability(t->z[i]) - spot_view_positive(t->view, i);
        if (t->role[i] != HELD_OUT || !in_part(t, q, i)) continue;
        sum += h[i] * (compat ? fabs(residual) : residual);
        rows++;
    }
    return sum / rows;
}

/* The auditor of greatest correlation (*score), the first of equals; -1: none passes. */
static int choose_auditor(const audit *t, const spot_bdm_config *cfg, double *score)
{
    int best = -1;

    *score = cfg->compat ? -INFINITY : cfg->multiaccuracy.gain;
    for (int q = 0; q < SPOT_AUDITORS; q++) {
        double found = t->a.wanted[q] ? correlation(t, q, cfg->compat) : -INFINITY;
        if (!(found > *score)) continue;
        *score = found;
        best = q;
    }
    return best;
}

/* Whether h is steep; most: the auditor's greatest value. */
static bool is_steep(double h, double most, bool inside, const spot_bdm_config *cfg)
{
    return cfg->compat ? h / most > cfg->threshold : inside && fabs(h) >= cfg->threshold * most;
}

/* Marks the rows where auditor q is steep; returns its greatest value. */
static double mark_members(uint8_t *member, const audit *t, int q, const spot_bdm_config *cfg)
{
    const double *h = t->a.h + (size_t)q * t->a.n;
    double most = cfg->compat ? -INFINITY : 0;

    for (int i = 0; i < t->a.n; i++)
        if (cfg->compat) most = fmax(most, h[i]);
        else if (in_part(t, q, i)) most = fmax(most, fabs(h[i]));
    for (int i = 0; i < t->a.n; i++) member[i] = is_steep(h[i], most, in_part(t, q, i), cfg);
    return most;
}

static void end_round(audit *t, const spot_bdm_config *cfg)
{
    double score, eta = cfg->multiaccuracy.eta;
    int q = choose_auditor(t, cfg, &score), hit = q;
    size_t d = (size_t)t->a.d;
    const double *h = t->a.h + (size_t)q * t->a.n;
    double *chosen = t->chosen + (size_t)t->len * (d + 2);

    if (q < 0) { t->done = 1; return; }
    memcpy(chosen, (double *)t->a.w.here + (size_t)q * d, d * sizeof *chosen);
    chosen[d] = ((double *)t->a.b.here)[q];
    chosen[d + 1] = mark_members(t->member + (size_t)t->len * t->a.n, t, q, cfg);
    t->which[t->len] = q;
    t->score[t->len++] = score;
    if (cfg->compat)
        for (int before = 0; before < q; before++) hit -= !t->a.wanted[before];
    for (int i = 0; i < t->a.n; i++)
        if (in_part(t, hit, i)) t->z[i] += cfg->compat && !hit ? eta * h[i] : -eta * h[i];
    t->done = t->len == cfg->top;
}

/* Runs the rounds of all problems together. */
static spot_status run_rounds(spot_ctx *c, spot_arena *host, audit *t, const spot_bdm_group *g)
{
    for (int round = 0;; round++) {
        spot_auditors *running[SPOT_BDM_GROUP];
        int len = 0;
        SPOT_TRY(spot_check_stop(c));
        for (int p = 0; p < g->problems; p++)
            if (!t[p].done) set_round(&t[p], g->cfg);
        for (int p = 0; p < g->problems; p++)
            if (!t[p].done) running[len++] = &t[p].a;
        if (!len) return SPOT_OK;
        if (!round) SPOT_TRY(spot_auditors_open(c, len, running));
        SPOT_TRY(spot_auditors_fit(c, host, len, running, g->cfg->multiaccuracy.ridge));
#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
        for (int p = 0; p < g->problems; p++)
            if (!t[p].done) end_round(&t[p], g->cfg);
    }
}

static spot_status keep_auditors(spot_ctx *c, spot_fit *f, const audit *t, const spot_rank *ranks, int len)
{
    int *part, d = t->a.d;
    double *w, *b, *most;

    SPOT_TRY(spot_fit_put(c, f, "auditor.centre", SPOT_F64, t->len ? t->a.centre.here : NULL, d, 0, NULL));
    SPOT_TRY(spot_fit_put(c, f, "auditor.w", SPOT_F64, NULL, len, d, &w));
    SPOT_TRY(spot_fit_put(c, f, "auditor.b", SPOT_F64, NULL, len, 0, &b));
    SPOT_TRY(spot_fit_put(c, f, "auditor.most", SPOT_F64, NULL, len, 0, &most));
    SPOT_TRY(spot_fit_put(c, f, "auditor.part", SPOT_I32, NULL, len, 0, &part));
    for (int k = 0; k < len; k++) {
        const double *chosen = t->chosen + (size_t)ranks[k].which * (size_t)(d + 2);
        memcpy(w + (size_t)k * d, chosen, (size_t)d * sizeof *w);
        b[k] = chosen[d];
        most[k] = chosen[d + 1];
        part[k] = t->which[ranks[k].which];
    }
    return SPOT_OK;
}

static spot_status collect_hypotheses(spot_ctx *c, const audit *t, const spot_bdm_group *g, int p)
{
    spot_rank ranks[SPOT_MAX_HYPOTHESES];
    spot_hypotheses *out = &g->out[p];
    int n = t->a.n, *row = g->row[p];

    if (!t->len)
        spot_log_of(c, SPOT_LOG_WARN, g->seeds[p].ec, "multiaccuracy's list is empty: no auditor, made from at least %d rows, "
                    "follows the errors of at least %d held out by more than gain %g", g->cfg->least, g->cfg->least,
                    g->cfg->multiaccuracy.gain);
    for (int k = 0; k < t->len; k++) {
        spot_rank r = { .which = k, .score = t->score[k] };
        for (int i = 0; i < n; i++) {
            if (!t->member[(size_t)k * n + i]) continue;
            r.size++;
            r.error += spot_view_error(t->view, i);
        }
        r.error /= r.size;
        if (r.size) ranks[out->len++] = r;
    }
    out->components = out->len;
    if (!g->cfg->compat) spot_ranks_sort(ranks, out->len);     /* else in the order of rounds */
    for (int k = 0; k < out->len; k++) {
        spot_hypothesis *h = &out->h[k];
        const uint8_t *member = t->member + (size_t)ranks[k].which * n;
        *h = (spot_hypothesis){ .row = row, .score = ranks[k].score, .mean_error = ranks[k].error };
        for (int i = 0; i < n; i++) if (member[i]) row[h->len++] = i;
        row += h->len;
    }
    return g->fits ? keep_auditors(c, &g->fits[p], t, ranks, out->len) : SPOT_OK;
}

static spot_status solve_group(spot_ctx *c, spot_arena *host, spot_arena *work, const spot_bdm_group *g)
{
    audit t[SPOT_BDM_GROUP];
    uint32_t *order;

    SPOT_TRY(SPOT_TAKE(c, host, order, SPOT_MOST(g->problems, g->points, n)));
    for (int p = 0; p < g->problems; p++) {
        const spot_points *x = &g->points[p];
        t[p] = (audit){ .view = &g->views[p],
                        .a = { .n = x->n, .d = x->d, .feature = x->at, .device_feature = x->device_at } };
        SPOT_TRY(take_audit(c, host, &t[p], g->cfg->top));
        SPOT_TRY(spot_auditors_take(c, host, work, &t[p].a));
        if (!work->counting) begin_audit(&t[p], g->seeds[p], g->cfg, order);
    }
    SPOT_TRY(spot_bdm_scratch(c, host, spot_auditors_scratch(g->problems)));
    if (work->counting) return SPOT_OK;
    SPOT_TRY(run_rounds(c, host, t, g));
    for (int p = 0; p < g->problems; p++) SPOT_TRY(collect_hypotheses(c, &t[p], g, p));
    return SPOT_OK;
}

static spot_status assign_rows(spot_ctx *c, spot_arena *a, const spot_assignment *to)
{
    const spot_fit_tensor *centre, *w, *b, *most;
    spot_ridge_fit f = { to->rows->n, to->points->d, 1, to->points->at, NULL, NULL, NULL, NULL };
    const int *part;

    SPOT_TRY(spot_fit_wants_confidence(c, to->rows, "multiaccuracy"));
    SPOT_TRY(spot_fit_take(c, to->fit, "auditor.centre", SPOT_F64, to->points->d, 0, &centre));
    SPOT_TRY(spot_fit_take(c, to->fit, "auditor.w", SPOT_F64, to->hypotheses, to->points->d, &w));
    SPOT_TRY(spot_fit_take(c, to->fit, "auditor.b", SPOT_F64, to->hypotheses, 0, &b));
    SPOT_TRY(spot_fit_take(c, to->fit, "auditor.most", SPOT_F64, to->hypotheses, 0, &most));
    SPOT_TRY(spot_fit_indices(c, to->fit, "auditor.part", to->hypotheses, 0, SPOT_AUDITORS - 1, &part));
    SPOT_TRY(SPOT_TAKE(c, a, f.score, to->rows->n));
    f.centre = centre->data;
    for (int k = 0; !a->counting && k < to->hypotheses; k++) {
        f.w = (const double *)w->data + (size_t)k * to->points->d;
        f.b = (const double *)b->data + k;
        SPOT_TRY(spot_ridge_score(c, 1, &f));
        for (int i = 0; i < to->rows->n; i++) {
            bool inside = part[k] == 2 || side_of(bounded_confidence(to->rows, i)) == part[k];
            to->member[(size_t)i * to->hypotheses + k] = is_steep(f.score[i], ((const double *)most->data)[k], inside, to->cfg);
        }
    }
    return SPOT_OK;
}

static const spot_setting settings[] = {
#define S SPOT_BDM_ROW
    SPOT_BDM_COMPAT,
    S("threshold", REAL, threshold,    "share of an auditor's greatest value that a row needs", SPOT_IN(0, 1), SPOT_DEF(0.5)),
    S("least",   INT,   least,         "fewest rows of a partition", SPOT_IN(1, 1e9), SPOT_DEF(10)),
    S("eta",     REAL,  multiaccuracy.eta, "step of the repair after each auditor", SPOT_IN(1e-9, 100), SPOT_DEF(0.1)),
    S("ridge",   REAL,  multiaccuracy.ridge, "ridge of the auditors' regression", SPOT_IN(1e-12, 1e12), SPOT_DEF(1)),
    S("held_out", REAL, multiaccuracy.held_out, "share of the rows by which an auditor is chosen", SPOT_IN(0.01, 0.9),
      SPOT_DEF(0.3)),
    S("gain",    REAL,  multiaccuracy.gain, "least held-out correlation of an auditor", SPOT_IN(0, 1e6), SPOT_DEF(1e-4)),
#undef S
    SPOT_END
};

const spot_method spot_method_multiaccuracy = { .overlap = true, .settings = settings, .solve = solve_group,
                                                .assign = assign_rows };
