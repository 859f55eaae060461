/* score.c - hypotheses against truth: equations 1 to 7 and the four ways to miss a blindspot (Table 13).
 *
 * Everything is counted in integers over one array of flags, a word for each row of the truth; a division comes only
 * where a count becomes a number to print. */
#include "spotter/metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Flags of a row. Bits 0 to SPOT_MAX_BLINDSPOTS-1: it is in a hypothesis that belongs to that blindspot. */
enum { RETURNED = 1 << 30, PURE = 1 << 29 };   /* in any hypothesis; in one that is mostly blindspots, whichever */

/* A threshold is the decimal that the config wrote, to nine digits: 0.8 is 8/10 and not the double nearest to it,
 * so that 8 of 10 reach it, and both sides of the comparison are integers. */
enum { BILLION = 1000000000 };

typedef struct { int64_t p, r; bool strict; } thresholds;

static bool reaches(int part, int whole, int64_t lambda, bool strict)
{
    int64_t have = (int64_t)part * BILLION, need = lambda * whole;

    return strict ? have > need : have >= need;
}

static spot_status check_settings(spot_ctx *c, const spot_metric_config *cfg)
{
    double lambda[] = { cfg->lambda_p, cfg->lambda_r };

    for (int i = 0; i < 2; i++)
        if (!(lambda[i] >= 1e-9 && lambda[i] <= 1))
            return spot_fail(c, SPOT_INVALID, "metric.lambda_%c is %g; it must lie in (0, 1]", "pr"[i], lambda[i]);
    if (cfg->profile != SPOT_PROFILE_TMLR && cfg->profile != SPOT_PROFILE_WORKSHOP)
        return spot_fail(c, SPOT_INVALID, "metric.profile %d is neither tmlr nor workshop", cfg->profile);
    if (cfg->top < 1 || cfg->top > SPOT_MAX_HYPOTHESES)
        return spot_fail(c, SPOT_INVALID, "metric.top is %d; it must lie in 1..%d", cfg->top, SPOT_MAX_HYPOTHESES);
    return SPOT_OK;
}

static spot_status check_sets(spot_ctx *c, const spot_hypotheses *found, const spot_truth *truth)
{
    if (truth->blindspots < 1 || truth->blindspots > SPOT_MAX_BLINDSPOTS)
        return spot_fail(c, SPOT_INPUT, "%d blindspots to score against; there must be 1 to %d", truth->blindspots,
                         SPOT_MAX_BLINDSPOTS);
    if (found->len < 0 || found->len > SPOT_MAX_HYPOTHESES)
        return spot_fail(c, SPOT_INVALID, "a list of %d hypotheses; it holds 0 to %d", found->len, SPOT_MAX_HYPOTHESES);
    for (int k = 0; k < found->len; k++)
        for (int i = 0; i < found->h[k].len; i++) {
            int row = found->h[k].row[i];
            if (row < 0 || row >= truth->n)
                return spot_fail(c, SPOT_INVALID, "hypothesis %d holds row %d, the truth has %d rows", k, row, truth->n);
            if (i && row <= found->h[k].row[i - 1])
                return spot_fail(c, SPOT_INVALID, "hypothesis %d: row %d after row %d; rows must ascend", k, row,
                                 found->h[k].row[i - 1]);
        }
    return SPOT_OK;
}

static spot_status count_truth(spot_ctx *c, spot_score *s, const spot_truth *truth)
{
    for (int i = 0; i < truth->n; i++)
        for (int m = 0; m < truth->blindspots; m++) s->size[m] += truth->mask[i] >> m & 1;
    for (int m = 0; m < truth->blindspots; m++)
        if (!s->size[m])
            return spot_fail(c, SPOT_INPUT, "blindspot %d has none of the %d images to score; make more test images", m,
                             truth->n);
    return SPOT_OK;
}

/* BP of hypothesis k with every blindspot and which it belongs to (equations 1 and 2); marks its rows and adds to
 * hit[m] those rows of blindspot m that no earlier hypothesis belonging to m had (the union of equation 4). */
static void match(spot_score *s, uint32_t *flags, int *hit, int k, const spot_hypothesis *h, const spot_truth *truth,
                  const thresholds *t)
{
    uint32_t all = (1u << truth->blindspots) - 1, belongs = 0;
    int shared[SPOT_MAX_BLINDSPOTS] = { 0 }, in_any = 0;

    s->belongs[k] = -1;
    if (!h->len) return;   /* no rows: precise about nothing, belongs to nothing */
    for (int i = 0; i < h->len; i++) {
        uint32_t mask = truth->mask[h->row[i]] & all;
        in_any += mask != 0;
        for (int m = 0; m < truth->blindspots; m++) shared[m] += mask >> m & 1;
    }
    for (int m = 0; m < truth->blindspots; m++) {
        s->bp[k][m] = (double)shared[m] / h->len;
        if (!reaches(shared[m], h->len, t->p, t->strict)) continue;
        belongs |= 1u << m;
        if (s->belongs[k] < 0 || shared[m] > shared[s->belongs[k]]) s->belongs[k] = m;
    }
    for (int i = 0; i < h->len; i++) {
        uint32_t *flag = &flags[h->row[i]], fresh = truth->mask[h->row[i]] & belongs & ~*flag;
        for (int m = 0; m < truth->blindspots; m++) hit[m] += fresh >> m & 1;
        *flag |= belongs | RETURNED | (reaches(in_any, h->len, t->p, t->strict) ? PURE : 0);
    }
}

/* Why the rows of blindspot m were missed: shares of the four categories, each row in the first that holds. */
static void explain(spot_score *s, int m, const uint32_t *flags, const spot_truth *truth)
{
    int count[SPOT_FAILURES] = { 0 };

    for (int i = 0; i < truth->n; i++) {
        if (!(truth->mask[i] >> m & 1)) continue;
        if (!(flags[i] & RETURNED))  count[SPOT_NOT_RETURNED]++;
        else if (flags[i] >> m & 1)  count[SPOT_FOUND]++;
        else if (flags[i] & PURE)    count[SPOT_MERGED]++;
        else                         count[SPOT_IMPURE]++;
    }
    for (int f = 0; f < SPOT_FAILURES; f++)
        s->failure[m][f] = s->covered[m] ? NAN : (double)count[f] / s->size[m];
}

static void score_all(spot_score *s, uint32_t *flags, const spot_hypotheses *found, const spot_truth *truth,
                      const thresholds *t)
{
    int hit[SPOT_MAX_BLINDSPOTS] = { 0 }, covered = 0, strangers = 0;

    /* Coverage never falls as the list grows, so the last rise ends the shortest prefix with the whole list's DR. */
    for (int k = 0; k < s->hypotheses; k++) {
        int before = covered;
        match(s, flags, hit, k, &found->h[k], truth, t);
        covered = 0;
        for (int m = 0; m < truth->blindspots; m++) covered += reaches(hit[m], s->size[m], t->r, t->strict);
        if (covered > before) s->u = k + 1;
    }
    for (int k = 0; k < s->u; k++) strangers += s->belongs[k] < 0;
    s->dr = (double)covered / truth->blindspots;
    s->fdr = s->u ? (double)strangers / s->u : NAN;
    for (int m = 0; m < truth->blindspots; m++) {
        s->br[m] = (double)hit[m] / s->size[m];
        s->covered[m] = reaches(hit[m], s->size[m], t->r, t->strict);
        explain(s, m, flags, truth);
    }
}

spot_metric_config spot_metric_defaults(void)
{
    return (spot_metric_config){ .profile = SPOT_PROFILE_TMLR, .lambda_p = 0.8, .lambda_r = 0.8, .top = 10 };
}

spot_status spot_metric_score(spot_ctx *c, spot_score *score, const spot_hypotheses *found, const spot_truth *truth,
                              const spot_metric_config *cfg)
{
    thresholds t = { llround(cfg->lambda_p * BILLION), llround(cfg->lambda_r * BILLION),
                     cfg->profile == SPOT_PROFILE_WORKSHOP };
    uint32_t *flags;   /* (n) */

    memset(score, 0, sizeof *score);
    SPOT_TRY(check_settings(c, cfg));
    SPOT_TRY(check_sets(c, found, truth));
    SPOT_TRY(count_truth(c, score, truth));
    score->blindspots = truth->blindspots;
    score->hypotheses = found->len < cfg->top ? found->len : cfg->top;
    flags = calloc((size_t)truth->n, sizeof *flags);
    if (!flags) return spot_fail(c, SPOT_NOMEM, "no memory to score %d rows", truth->n);
    score_all(score, flags, found, truth, &t);
    free(flags);
    return SPOT_OK;
}
