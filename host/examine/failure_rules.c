/* failure_rules.c - see failure_rules.h. A column is a factor, or its magnitude where the range lies around 0, cut into bins at
 * round numbers; a limit is a run of bins. All runs of a column are tried at once, on counts of the rows in each bin. */
#include "examine/failure_rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 64, BEAM = 6, ROUNDS = 4, LEAST_ROWS = 5, LEAST_SHARE = 200, LEAST_FAILURES = 3 };      /* of a rule */

static const double FURTHER = 0.04, TWO_ENDS = 0.03;   /* score that one more limit, or a limit's second end, must be worth */
static const double OTHERS = 0.1;                      /* weight of the failures of other clusters */

typedef struct {
    int    dim, factor, absolute;
    bool   turns;
    double least, most;
    double unit, power;            /* a bin is unit * power wide: 1, 2 or 5 times a power of ten; 1/10: -10, for exact edges */
    int    first, bins;            /* bin b begins at (first + b) * unit * power */
} cut;

typedef struct { int column, from, to; } run;          /* bins; from above to: over the full turn */
typedef struct { int runs; run run[SPOT_MAX_RULE_LIMITS]; double score; } failure_rules_state;

struct spot_rule_search {
    const spot_failure_rows *rows;
    const spot_factor_space *space;
    const uint8_t *cluster;
    int    own;                    /* failures of the cluster */
    int    columns;
    cut    column[2 * SPOT_FACTORS];
    uint8_t *bin;                  /* (columns, n) */
    uint8_t *in;                   /* (n): rows of the state that is extended now */
};

/* ---- columns ---- */

static double edge(const cut *k, int bin)
{
    const double at = (k->first + bin) * k->unit;

    return k->power < 0 ? at / -k->power : at * k->power;
}

static void cut_column(cut *k)
{
    static const double units[] = { 1, 2, 5 };
    const double width = k->most - k->least;
    const int e = (int)floor(log10(width / BINS));
    double step = 0;

    for (int i = 0; i < 6; i++) {                      /* the finest that needs at most BINS, with both ends */
        const int power = e + i / 3;
        k->unit = units[i % 3], k->power = power < 0 ? -pow(10, -power) : pow(10, power);
        step = power < 0 ? k->unit / -k->power : k->unit * k->power;
        if (width / step <= BINS - 1) break;
    }
    k->first = (int)floor(k->least / step + 1e-9);
    k->bins = (int)ceil(k->most / step - 1e-9) - k->first;
}

static void add_column(spot_rule_search *f, int d, int absolute)
{
    const spot_factor_space *s = f->space;
    cut k = { .dim = d, .factor = s->factor[d], .absolute = absolute, .turns = s->turns[d],
                 .least = absolute ? 0 : s->least[d], .most = s->most[d] };
    uint8_t *bin = f->bin + (size_t)f->columns * (size_t)f->rows->n;

    cut_column(&k);
    f->column[f->columns++] = k;
    const double step = edge(&k, 1) - edge(&k, 0);
    for (int i = 0; i < f->rows->n; i++) {
        const double v = f->rows->at[i].value[k.factor];
        const int b = (int)floor((absolute ? fabs(v) : v) / step) - k.first;
        bin[i] = (uint8_t)(b < 0 ? 0 : b < k.bins ? b : k.bins - 1);
    }
}

spot_rule_search *spot_rule_search_open(const spot_failure_rows *rows, const spot_factor_space *s)
{
    spot_rule_search *f = calloc(1, sizeof *f);

    if (!f) return NULL;
    f->rows = rows, f->space = s;
    f->bin = malloc(2 * (size_t)s->dims * (size_t)rows->n + 1);
    f->in = malloc((size_t)rows->n + 1);
    if (!f->bin || !f->in) return spot_rule_search_close(f), NULL;
    for (int d = 0; d < s->dims; d++) {
        add_column(f, d, 0);
        if (!s->turns[d] && s->least[d] == -s->most[d]) add_column(f, d, 1);
    }
    return f;
}

void spot_rule_search_close(spot_rule_search *f)
{
    if (f) free(f->bin), free(f->in);
    free(f);
}

/* ---- scores ---- */

/* Rows, failures, failures of the cluster. */
typedef struct { int n, failures, own; } tally;

static double score_of(const spot_rule_search *f, tally t)
{
    const spot_failure_rows *r = f->rows;
    const int least = r->n / LEAST_SHARE > LEAST_ROWS ? r->n / LEAST_SHARE : LEAST_ROWS;
    const double usual = (double)r->failures / r->n;
    const double precision = (t.failures + SPOT_RULE_PRIOR * usual) / (t.n + SPOT_RULE_PRIOR);
    const double coverage = (double)t.own / f->own;

    if (t.n < least || !t.own) return -1;
    return 2 * precision * coverage / (precision + coverage) + OTHERS * t.failures / r->failures;
}

static bool run_holds(const run *r, int bin)
{
    return r->from <= r->to ? bin >= r->from && bin <= r->to : bin >= r->from || bin <= r->to;
}

/* Marks the rows of all runs but one. */
static void mark_rows(const spot_rule_search *f, const failure_rules_state *s, int without)
{
    const size_t n = (size_t)f->rows->n;

    memset(f->in, 1, n);
    for (int k = 0; k < s->runs; k++) {
        const uint8_t *bin = f->bin + (size_t)s->run[k].column * n;
        if (k == without) continue;
        for (size_t i = 0; i < n; i++) f->in[i] &= run_holds(&s->run[k], bin[i]);
    }
}

/* sum[b]: the marked rows in the bins before b, and once more behind the full turn. */
static void count_bins(const spot_rule_search *f, int column, tally sum[2 * BINS + 1])
{
    const uint8_t *bin = f->bin + (size_t)column * (size_t)f->rows->n;
    const int bins = f->column[column].bins;

    memset(sum, 0, (2 * BINS + 1) * sizeof *sum);
    for (int i = 0; i < f->rows->n; i++) {
        tally *t = &sum[bin[i] + 1];
        if (!f->in[i]) continue;
        t->n++, t->failures += f->rows->fails[i], t->own += f->rows->fails[i] && f->cluster[i];
    }
    for (int b = bins + 1; b <= 2 * bins; b++) sum[b] = sum[b - bins];
    for (int b = 1; b <= 2 * bins; b++)
        sum[b].n += sum[b - 1].n, sum[b].failures += sum[b - 1].failures, sum[b].own += sum[b - 1].own;
}

static bool has_two_ends(const spot_rule_search *f, const run *r)
{
    return r->from > 0 && r->to != f->column[r->column].bins - 1;
}

/* The run of a column that fits best beside the marked rows. */
static double best_run(const spot_rule_search *f, int column, run *best)
{
    const int bins = f->column[column].bins;
    tally sum[2 * BINS + 1];
    double most = -1;

    count_bins(f, column, sum);
    for (int from = 0; from < bins; from++) {
        const int last = f->column[column].turns ? from + bins - 2 : bins - 1;
        for (int to = from; to <= last; to++) {
            const tally t = { sum[to + 1].n - sum[from].n, sum[to + 1].failures - sum[from].failures,
                              sum[to + 1].own - sum[from].own };
            if (to - from + 1 >= bins) continue;
            const run r = { column, from, to % bins };
            const double score = score_of(f, t) - (has_two_ends(f, &r) ? TWO_ENDS : 0);
            if (score > most) most = score, *best = r;
        }
    }
    return most;
}

/* ---- the search ---- */

static bool uses_factor(const spot_rule_search *f, const failure_rules_state *s, int factor)
{
    for (int k = 0; k < s->runs; k++)
        if (f->column[s->run[k].column].factor == factor) return true;
    return false;
}

/* Whether two states have the same runs, in any order. */
static bool same_state(const failure_rules_state *a, const failure_rules_state *b)
{
    int same = 0;

    for (int i = 0; i < a->runs; i++)
        for (int k = 0; k < b->runs; k++) same += !memcmp(&a->run[i], &b->run[k], sizeof a->run[i]);
    return a->runs == b->runs && same == a->runs;
}

/* Keeps the BEAM best states, of equal ones the first. */
static int keep_state(failure_rules_state beam[BEAM], int n, const failure_rules_state *s)
{
    int at = n;

    for (int i = 0; i < n; i++)
        if (same_state(&beam[i], s)) return n;
    while (at > 0 && s->score > beam[at - 1].score) at--;
    if (at >= BEAM) return n;
    if (n < BEAM) n++;
    memmove(beam + at + 1, beam + at, (size_t)(n - 1 - at) * sizeof *beam);
    beam[at] = *s;
    return n;
}

/* The cost of two ends of all runs but one. */
static double ends_of(const spot_rule_search *f, const failure_rules_state *s, int without)
{
    double cost = 0;

    for (int k = 0; k < s->runs; k++) cost += k != without && has_two_ends(f, &s->run[k]) ? TWO_ENDS : 0;
    return cost;
}

static int extend(const spot_rule_search *f, const failure_rules_state *from, failure_rules_state beam[BEAM], int n)
{
    mark_rows(f, from, -1);
    for (int k = 0; k < f->columns; k++) {
        failure_rules_state next = *from;
        if (uses_factor(f, from, f->column[k].factor)) continue;
        next.score = best_run(f, k, &next.run[next.runs++]) - ends_of(f, from, -1);
        if (next.score > 0) n = keep_state(beam, n, &next);
    }
    return n;
}

/* Finds each run anew beside the others, until none changes. */
static void refine(const spot_rule_search *f, failure_rules_state *s)
{
    bool changed = true;

    for (int round = 0; round < ROUNDS && changed; round++) {
        changed = false;
        for (int i = 0; i < s->runs; i++) {
            mark_rows(f, s, i);
            for (int k = 0; k < f->columns; k++) {
                run r;
                double score;
                if (f->column[k].factor != f->column[s->run[i].column].factor) continue;
                score = best_run(f, k, &r) - ends_of(f, s, i);
                if (score > s->score + 1e-9) s->run[i] = r, s->score = score, changed = true;
            }
        }
    }
}

static spot_examine_limit limit_of(const spot_rule_search *f, const run *r)
{
    const cut *k = &f->column[r->column];
    const bool over = r->from > r->to;

    return (spot_examine_limit){ k->factor, k->absolute, !over && r->from == 0 ? k->least : edge(k, r->from),
                                 !over && r->to == k->bins - 1 ? k->most : edge(k, r->to + 1) };
}

double spot_rule_find(spot_rule_search *f, spot_failure_rule *rule, const uint8_t *cluster)
{
    failure_rules_state beam[BEAM] = { { 0 } }, next[BEAM], best = { .score = -1 };
    int n = 1, found;

    *rule = (spot_failure_rule){ 0 };
    f->cluster = cluster, f->own = 0;
    for (int i = 0; i < f->rows->n; i++) f->own += f->rows->fails[i] && cluster[i];
    if (!f->own) return -1;
    for (int depth = 0; depth < SPOT_MAX_RULE_LIMITS && n; depth++, n = found) {
        found = 0;
        for (int i = 0; i < n; i++) found = extend(f, &beam[i], next, found);
        memcpy(beam, next, sizeof beam);
        if (found) refine(f, &beam[0]);
        if (found && beam[0].score > best.score + (depth ? FURTHER : 0)) best = beam[0];
    }
    rule->limits = best.runs;
    for (int i = 0; i < best.runs; i++) rule->limit[i] = limit_of(f, &best.run[i]);
    return best.score;
}

/* ---- rules beside each other ---- */

bool spot_rules_hold(const spot_failure_rule *r, int rules, const spot_conditions *at)
{
    for (int k = 0; k < rules; k++)
        if (spot_failure_rule_holds(&r[k], at)) return true;
    return false;
}

double spot_rule_worth(const spot_failure_rule *r, const spot_failure_rule *before, int rules, const spot_failure_rows *rows)
{
    int n[2] = { 0, 0 }, failures[2] = { 0, 0 }, had = 0;

    for (int i = 0; i < rows->n; i++) {
        const int in = spot_failure_rule_holds(r, &rows->at[i]);
        if (spot_rules_hold(before, rules, &rows->at[i])) had += in && rows->fails[i];
        else n[in]++, failures[in] += rows->fails[i];
    }
    if (failures[1] < LEAST_FAILURES || failures[1] < had || (double)failures[1] * n[0] <= (double)failures[0] * n[1]) return 0;
    return 2.0 * failures[1] / (n[1] + failures[0] + failures[1]);
}
