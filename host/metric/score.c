/* score.c - hypotheses against truth: equations 1 to 7 and the four ways to miss a blindspot (Table 13).
 *
 * c's device counts the rows that sets share. Counts are divided only to make the printed numbers. */
#include "spotter/metric.h"

#include <math.h>
#include <string.h>

#include "core/device.h"
#include "fit/overlap.h"
#include "metric/metric_settings.h"
#include "spotter/arena.h"

/* A threshold is the decimal number of the config, to nine digits: 0.8 is 8/10 and not the nearest double, so that 8 of 10
 * reach it. Both sides of the comparison are integers. */
enum { BILLION = 1000000000 };

typedef struct { int64_t p, r; bool strict; } thresholds;

static bool reaches(int part, int whole, int64_t lambda, bool strict)
{
    int64_t have = (int64_t)part * BILLION, need = lambda * whole;

    return strict ? have > need : have >= need;
}

static spot_status check_sets(spot_ctx *c, const spot_hypotheses *found, const spot_truth *truth)
{
    if (truth->blindspots < 0 || truth->blindspots > SPOT_MAX_BLINDSPOTS)
        return spot_fail(c, SPOT_INPUT, "{score.blindspots} %d blindspots to score against; there must be 0 to %d",
                         truth->blindspots, SPOT_MAX_BLINDSPOTS);
    if (found->len < 0 || found->len > SPOT_MAX_HYPOTHESES)
        return spot_fail(c, SPOT_INVALID, "a list of %d hypotheses; it holds 0 to %d", found->len, SPOT_MAX_HYPOTHESES);
    for (int k = 0; k < found->len; k++)
        for (int i = 0; i < found->h[k].len; i++) {
            int row = found->h[k].row[i];
            if (row < 0 || row >= truth->n)
                return spot_fail(c, SPOT_INVALID, "{score.row} hypothesis %d holds row %d, the truth has %d rows", k, row,
                                 truth->n);
            if (i && row <= found->h[k].row[i - 1])
                return spot_fail(c, SPOT_INVALID, "{score.row_order} hypothesis %d: row %d after row %d; rows must ascend", k,
                                 row, found->h[k].row[i - 1]);
        }
    return SPOT_OK;
}

static spot_status count_truth(spot_ctx *c, spot_score *s, const spot_truth *truth)
{
    for (int i = 0; i < truth->n; i++)
        for (int m = 0; m < truth->blindspots; m++) s->size[m] += truth->mask[i] >> m & 1;
    for (int m = 0; m < truth->blindspots; m++)
        if (!s->size[m])
            return spot_fail(c, SPOT_INPUT, "{score.blindspot_empty} blindspot %d has none of the %d images to score; make "
                             "more test images", m, truth->n);
    return SPOT_OK;
}

/* The sets on the host and on c's device: the hypotheses; the blindspots, followed by their union. The arrays have
 * one layout in both places, sets before queries, so that one copy takes all of them there. */
typedef struct {
    spot_overlap_problem here, on_device;
    uint64_t *set, *other;
    spot_overlap_query *query;
    spot_arena host, work;
} counter;

static spot_status take_sets(spot_ctx *c, spot_arena *a, counter *k, spot_overlap_problem *p)
{
    SPOT_TRY(SPOT_TAKE(c, a, k->set, p->sets * p->words));
    SPOT_TRY(SPOT_TAKE(c, a, k->other, p->others * p->words));
    SPOT_TRY(SPOT_TAKE(c, a, k->query, p->queries));
    SPOT_TRY(SPOT_TAKE(c, a, p->count, p->queries));
    p->set = k->set;
    p->other = k->other;
    p->query = k->query;
    return SPOT_OK;
}

static spot_status open_counter(spot_ctx *c, counter *k, int hypotheses, int blindspots, int n)
{
    spot_arena need = spot_arena_counting();

    *k = (counter){ .here = { .words = (n + 63) / 64, .sets = hypotheses, .others = blindspots + 1,
                              .queries = (hypotheses + 2) * (blindspots + 1) } };
    k->on_device = k->here;
    SPOT_TRY(take_sets(c, &need, k, &k->here));
    SPOT_TRY(spot_arena_open(c, &k->host, need.peak));
    SPOT_TRY(spot_arena_open_device(c, &k->work, need.peak));
    SPOT_TRY(take_sets(c, &k->work, k, &k->on_device));
    return take_sets(c, &k->host, k, &k->here);
}

static void set_bit(uint64_t *set, int row) { set[row / 64] |= (uint64_t)1 << row % 64; }

static void fill_sets(counter *k, const spot_hypotheses *found, const spot_truth *truth)
{
    const spot_overlap_problem *p = &k->here;
    size_t words = p->words;

    memset(k->set, 0, p->sets * words * sizeof *k->set);
    memset(k->other, 0, p->others * words * sizeof *k->other);
    for (int h = 0; h < p->sets; h++)
        for (int i = 0; i < found->h[h].len; i++) set_bit(k->set + h * words, found->h[h].row[i]);
    for (int i = 0; i < truth->n; i++)
        for (int m = 0; m < truth->blindspots; m++)
            if (truth->mask[i] >> m & 1) {
                set_bit(k->other + m * words, i);
                set_bit(k->other + truth->blindspots * words, i);
            }
}

/* Counts the first `queries` of k->query; the counts arrive on the host. fresh: the sets go to the device with them. */
static spot_status count_overlaps(spot_ctx *c, counter *k, int queries, bool fresh)
{
    const void *from = fresh ? (void *)k->set : (void *)k->query;

    k->on_device.queries = queries;
    SPOT_TRY(spot_device_copy(c, fresh ? (void *)k->on_device.set : (void *)k->on_device.query, from,
                              (size_t)((const char *)(k->query + queries) - (const char *)from)));
    SPOT_TRY(spot_overlap_count(c, 1, &k->on_device));
    return spot_device_copy(c, k->here.count, k->on_device.count, queries * sizeof *k->here.count);
}

/* BP of every hypothesis with every blindspot, and the blindspots that it belongs to (equations 1 and 2). Bit h of of[m]:
 * hypothesis h belongs to blindspot m. Bit h of *pure: it belongs to the union of all blindspots. */
static spot_status match_hypotheses(spot_ctx *c, counter *k, spot_score *s, uint64_t *of, uint64_t *pure,
                                    const spot_hypotheses *found, const thresholds *t)
{
    int blindspots = s->blindspots, each = blindspots + 1;

    for (int h = 0; h < s->hypotheses; h++)
        for (int m = 0; m < each; m++) k->query[h * each + m] = (spot_overlap_query){ (uint64_t)1 << h, m };
    SPOT_TRY(count_overlaps(c, k, s->hypotheses * each, true));
    for (int h = 0; h < s->hypotheses; h++) {
        const int *shared = k->here.count + h * each, len = found->h[h].len;

        s->belongs[h] = -1;
        if (!len) continue;   /* no rows: belongs to no blindspot */
        for (int m = 0; m < blindspots; m++) {
            s->bp[h][m] = (double)shared[m] / len;
            if (!reaches(shared[m], len, t->p, t->strict)) continue;
            of[m] |= (uint64_t)1 << h;
            if (s->belongs[h] < 0 || shared[m] > shared[s->belongs[h]]) s->belongs[h] = m;
        }
        if (reaches(shared[blindspots], len, t->p, t->strict)) *pure |= (uint64_t)1 << h;
    }
    return SPOT_OK;
}

/* BR by the union of a blindspot's hypotheses (equations 3 and 4) after 1, 2, ... hypotheses; then DR, u and FDR; then, for
 * a missed blindspot, the shares of its rows in the four categories of failure, each row in the first that applies. */
static spot_status score_blindspots(spot_ctx *c, counter *k, spot_score *s, const uint64_t *of, uint64_t pure,
                                    const thresholds *t)
{
    int last = s->hypotheses, blindspots = s->blindspots, best = 0, strangers = 0;
    const uint64_t all = last < 64 ? ((uint64_t)1 << last) - 1 : ~(uint64_t)0;
    const int *hit, *returned, *mostly;      /* rows of blindspot m: found; in any hypothesis; in a pure one or found */

    for (int m = 0; m < blindspots; m++) {
        for (int h = 0; h < last; h++) k->query[h * blindspots + m] = (spot_overlap_query){ of[m] & all >> (last - 1 - h), m };
        k->query[last * blindspots + m] = (spot_overlap_query){ all, m };
        k->query[(last + 1) * blindspots + m] = (spot_overlap_query){ pure | of[m], m };
    }
    if (blindspots) SPOT_TRY(count_overlaps(c, k, (last + 2) * blindspots, false));
    /* Coverage never falls as the list grows, so the last rise ends the shortest prefix with the whole list's DR. */
    for (int h = 0; h < last; h++) {
        int covered = 0;
        for (int m = 0; m < blindspots; m++)
            covered += reaches(k->here.count[h * blindspots + m], s->size[m], t->r, t->strict);
        if (covered > best) s->u = h + 1;
        best = covered;
    }
    returned = k->here.count + last * blindspots;
    mostly = returned + blindspots;
    hit = last ? returned - blindspots : returned;      /* without hypotheses all counts are 0 */
    for (int h = 0; h < s->u; h++) strangers += s->belongs[h] < 0;
    s->dr = blindspots ? (double)best / blindspots : NAN;
    s->fdr = s->u ? (double)strangers / s->u : NAN;
    for (int m = 0; m < blindspots; m++) {
        const int count[] = { [SPOT_NOT_RETURNED] = s->size[m] - returned[m], [SPOT_FOUND] = hit[m],
                              [SPOT_MERGED] = mostly[m] - hit[m], [SPOT_IMPURE] = returned[m] - mostly[m] };

        s->br[m] = (double)hit[m] / s->size[m];
        s->covered[m] = reaches(hit[m], s->size[m], t->r, t->strict);
        for (int f = 0; f < SPOT_FAILURES; f++) s->failure[m][f] = s->covered[m] ? NAN : (double)count[f] / s->size[m];
    }
    return SPOT_OK;
}

/* Numbers that charge for what DR and FDR leave free: many pieces of a blindspot, and false hypotheses behind the first u. */
static void count_beside(spot_score *s, const uint64_t *of)
{
    int found = 0, pieces = 0, strangers = 0;

    for (int m = 0; m < s->blindspots; m++) {
        found += s->covered[m];
        pieces += s->covered[m] ? __builtin_popcountll(of[m]) : 0;
    }
    if (!s->blindspots) {
        s->beside[SPOT_FALSE_ALARMS] = s->hypotheses;
        return;
    }
    for (int h = 0; h < s->hypotheses; h++) strangers += s->belongs[h] < 0;
    s->beside[SPOT_SPREAD] = found ? (double)pieces / found : NAN;
    s->beside[SPOT_FALSE_SHARE] = s->hypotheses ? (double)strangers / s->hypotheses : NAN;
}

static spot_status score_all(spot_ctx *c, counter *k, spot_score *s, const spot_hypotheses *found, const spot_truth *truth,
                             const thresholds *t)
{
    uint64_t of[SPOT_MAX_BLINDSPOTS] = { 0 }, pure = 0;

    SPOT_TRY(open_counter(c, k, s->hypotheses, s->blindspots, truth->n));
    fill_sets(k, found, truth);
    SPOT_TRY(match_hypotheses(c, k, s, of, &pure, found, t));
    SPOT_TRY(score_blindspots(c, k, s, of, pure, t));
    count_beside(s, of);
    return SPOT_OK;
}

const spot_setting spot_metric_settings[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_metric_config, field, help, __VA_ARGS__)
    S("profile",  NAME, profile,  "whether thresholds are reached (tmlr) or passed (workshop)", SPOT_ONE_OF("tmlr", "workshop"),
      SPOT_DEF(SPOT_PROFILE_TMLR)),
    S("lambda_p", REAL, lambda_p, "precision from which a hypothesis belongs to a blindspot", SPOT_IN(1e-9, 1), SPOT_DEF(0.8)),
    S("lambda_r", REAL, lambda_r, "recall from which a blindspot is found", SPOT_IN(1e-9, 1), SPOT_DEF(0.8)),
    S("top",      INT,  top,      "number of hypotheses looked at", SPOT_IN(1, SPOT_MAX_HYPOTHESES), SPOT_DEF(10)),
    S("repair",   SWITCH, repair, "worst-group accuracy after the last layer was fitted again with the groups found; takes a "
      "look at the negatives", SPOT_SWITCH, .newer = SPOT_NEWER),
    S("neighbours", INT, neighbours, "nearest neighbours of a row, on whose graph coherence is measured; 0: it is not",
      SPOT_IN(0, 1000), SPOT_DEF(10), .newer = SPOT_NEWER),
#undef S
    SPOT_END
};

spot_metric_config spot_metric_defaults(void)
{
    spot_metric_config cfg = { 0 };

    spot_settings_defaults(spot_metric_settings, &cfg);
    return cfg;
}

spot_status spot_metric_score(spot_ctx *c, spot_score *score, const spot_hypotheses *found, const spot_truth *truth,
                              const spot_metric_config *cfg)
{
    thresholds t = { llround(cfg->lambda_p * BILLION), llround(cfg->lambda_r * BILLION),
                     cfg->profile == SPOT_PROFILE_WORKSHOP };
    counter k = { 0 };
    spot_status s;

    memset(score, 0, sizeof *score);
    for (int b = 0; b < SPOT_BESIDES; b++) score->beside[b] = NAN;
    for (int h = 0; h < SPOT_MAX_HYPOTHESES; h++) score->coherence[h] = NAN;
    SPOT_TRY(spot_settings_check(c, SPOT_INVALID, spot_metric_settings, cfg, "metric"));
    SPOT_TRY(check_sets(c, found, truth));
    SPOT_TRY(count_truth(c, score, truth));
    score->blindspots = truth->blindspots;
    score->hypotheses = found->len < cfg->top ? found->len : cfg->top;
    s = score_all(c, &k, score, found, truth, &t);
    spot_arena_close(&k.host);
    spot_arena_close(&k.work);
    return s;
}
