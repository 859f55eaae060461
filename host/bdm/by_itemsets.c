/* by_itemsets.c - `itemsets`: conjunctions of attributes on which the classifier fails more often than on all rows
 * (DivExplorer: Pastor, de Alfaro & Baralis 2021). The features must be columns of 0 and 1. It knows what other methods must
 * find, so it is no rival of theirs but a bound; its name in tables says so (representation: attributes).
 *
 * All conjunctions of up to `longest` attributes with at least `support` of the rows are looked at (spotter/ontology.h). One
 * with k wrong of n rows has divergence k/n minus the rate of all rows, and Bayesian
 *
 *     t = (m - M) / sqrt(v + V),   m = (k + 1) / (n + 2),   v = m (1 - m) / (n + 3),   M and V likewise of all rows
 *
 * (DivExplorer gives |t|). Those of positive divergence are ordered by t, of equal ones the shorter first, then that of lower
 * columns. One whose rows have a Jaccard index above `overlap` with those of a better one is dropped. Hypotheses may overlap.
 *
 * In discover they come from --attributes; without it the rows of --embeddings must be columns of 0 and 1.
 *
 * A new row belongs to every conjunction that holds for it. Assigning a fitted row gives its hypotheses again. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bdm/fit.h"
#include "bdm/methods.h"
#include "bdm/slices.h"
#include "spotter/ontology.h"

#define MOST_SETS 1e6

/* bit i % 64 of word i / 64 is row i. */
typedef struct {
    int n, d, wrong;
    size_t words;
    uint64_t *column, *fails;  /* (d, words), (words) */
    uint64_t *kept;            /* (top, words): rows of the hypotheses */
    int *chosen;               /* (top): their sets */
    int *first, *item;         /* (n + 1), (n d): the rows as baskets */
    spot_rank *ranks;          /* (sets): of positive divergence; which: the set; size: its wrong rows */
} itemsets_problem;

static int ones(const uint64_t *a, const uint64_t *b, size_t words)
{
    int count = 0;

    for (size_t w = 0; w < words; w++) count += __builtin_popcountll(a[w] & b[w]);
    return count;
}

/* The most conjunctions of `longest` of d columns that the search may give. */
static size_t sets_of(int d, const spot_bdm_config *cfg)
{
    double all = 0, of_length = 1;

    for (int l = 1; l <= cfg->itemsets.longest && l <= d && all < MOST_SETS; l++) {
        of_length *= (double)(d - l + 1) / l;
        all += of_length;
    }
    return (size_t)fmin(all, MOST_SETS);
}

static spot_status take_problem(spot_ctx *c, spot_arena *a, itemsets_problem *t, int n, int d, const spot_bdm_config *cfg)
{
    *t = (itemsets_problem){ .n = n, .d = d, .words = ((size_t)n + 63) / 64 };
    SPOT_TRY(SPOT_TAKE(c, a, t->column, (size_t)d * t->words));
    SPOT_TRY(SPOT_TAKE(c, a, t->fails, t->words));
    SPOT_TRY(SPOT_TAKE(c, a, t->kept, (size_t)cfg->top * t->words));
    SPOT_TRY(SPOT_TAKE(c, a, t->chosen, cfg->top));
    SPOT_TRY(SPOT_TAKE(c, a, t->first, n + 1));
    SPOT_TRY(SPOT_TAKE(c, a, t->item, (size_t)n * (size_t)d));
    return SPOT_TAKE(c, a, t->ranks, sets_of(d, cfg));
}

static spot_status fill_bits(spot_ctx *c, itemsets_problem *t, const spot_view *v, const spot_points *p, uint32_t ec)
{
    memset(t->column, 0, (size_t)t->d * t->words * sizeof *t->column);
    memset(t->fails, 0, t->words * sizeof *t->fails);
    for (int i = 0; i < t->n; i++) {
        uint64_t bit = (uint64_t)1 << i % 64;
        if (spot_is_wrong(v, i)) t->fails[i / 64] |= bit, t->wrong++;
        for (int j = 0; j < t->d; j++) {
            float x = p->at[(size_t)i * (size_t)t->d + (size_t)j];
            if (x != 0 && x != 1)
                return spot_fail_of(c, SPOT_INPUT, ec, "{itemsets.attribute_value} attribute %d of row %d is %g; itemsets "
                                    "takes columns of 0 and 1 (representation: attributes, without a reducer)", j, i, x);
            if (x == 1) t->column[(size_t)j * t->words + (size_t)(i / 64)] |= bit;
        }
    }
    return SPOT_OK;
}

/* An attribute that holds for every row tells nothing and is left out. */
static void fill_baskets(itemsets_problem *t)
{
    int items = 0;

    for (int j = 0; j < t->d; j++) {
        uint64_t *column = t->column + (size_t)j * t->words;
        if (ones(column, column, t->words) == t->n) memset(column, 0, t->words * sizeof *column);
    }
    for (int i = 0; i < t->n; i++) {
        t->first[i] = items;
        for (int j = 0; j < t->d; j++) {
            uint64_t word = t->column[(size_t)j * t->words + (size_t)(i / 64)];
            if (word >> i % 64 & 1) t->item[items++] = j;
        }
    }
    t->first[t->n] = items;
}

static double mean_of(int k, int n) { return (k + 1.0) / (n + 2); }

static double variance_of(int k, int n) { return mean_of(k, n) * (1 - mean_of(k, n)) / (n + 3); }

/* Rows of the set, in `rows` (words). */
static void find_rows(uint64_t *rows, const itemsets_problem *t, const spot_itemsets *s, int set)
{
    memcpy(rows, t->column + (size_t)s->item[s->first[set]] * t->words, t->words * sizeof *rows);
    for (int i = s->first[set] + 1; i < s->first[set + 1]; i++)
        for (size_t w = 0; w < t->words; w++) rows[w] &= t->column[(size_t)s->item[i] * t->words + w];
}

/* Wrong rows of a set. */
static int count_wrong(const itemsets_problem *t, const spot_itemsets *s, int set)
{
    int wrong = 0;

    for (size_t w = 0; w < t->words; w++) {
        uint64_t rows = t->fails[w];
        for (int i = s->first[set]; i < s->first[set + 1]; i++) rows &= t->column[(size_t)s->item[i] * t->words + w];
        wrong += __builtin_popcountll(rows);
    }
    return wrong;
}

/* Ranks the sets of positive divergence by t; returns their number. */
static int rank_sets(spot_ctx *c, itemsets_problem *t, const spot_itemsets *s)
{
    const double mean = mean_of(t->wrong, t->n), variance = variance_of(t->wrong, t->n);
    int len = 0;

#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (int k = 0; k < s->sets; k++) t->ranks[k] = (spot_rank){ .which = k, .size = count_wrong(t, s, k) };
    for (int k = 0; k < s->sets; k++) {
        spot_rank r = t->ranks[k];
        if ((double)r.size * t->n <= (double)t->wrong * s->count[k]) continue;
        r.score = (mean_of(r.size, s->count[k]) - mean) / sqrt(variance_of(r.size, s->count[k]) + variance);
        t->ranks[len++] = r;
    }
    spot_ranks_sort(t->ranks, len);
    return len;
}

/* Whether the rows overlap too much with those of a hypothesis. */
static bool is_known(const itemsets_problem *t, const uint64_t *rows, int count, const spot_hypotheses *out, double overlap)
{
    for (int k = 0; k < out->len; k++) {
        int both = ones(rows, t->kept + (size_t)k * t->words, t->words);
        if (both > overlap * (count + out->h[k].len - both)) return true;
    }
    return false;
}

static void put_hypothesis(spot_hypothesis *h, int *row, const uint64_t *rows, const spot_view *v, double score)
{
    *h = (spot_hypothesis){ .row = row, .score = score };
    for (int i = 0; i < v->n; i++)
        if (rows[i / 64] >> i % 64 & 1) {
            row[h->len++] = i;
            h->mean_error += spot_view_error(v, i);
        }
    h->mean_error /= h->len;
}

static void collect(spot_hypotheses *out, int *space, itemsets_problem *t, const spot_itemsets *s, int len, const spot_view *v,
                    const spot_bdm_config *cfg)
{
    *out = (spot_hypotheses){ .components = len };
    for (int k = 0; k < len && out->len < cfg->top; k++) {
        uint64_t *rows = t->kept + (size_t)out->len * t->words;
        int set = t->ranks[k].which;
        find_rows(rows, t, s, set);
        if (is_known(t, rows, s->count[set], out, cfg->itemsets.overlap)) continue;
        put_hypothesis(&out->h[out->len], space, rows, v, t->ranks[k].score);
        space += out->h[out->len].len;
        t->chosen[out->len++] = set;
    }
}

static spot_status keep_fit(spot_ctx *c, spot_fit *f, const itemsets_problem *t, const spot_itemsets *s, int len)
{
    int items = 0, *first, *item;

    for (int k = 0; k < len; k++) items += s->first[t->chosen[k] + 1] - s->first[t->chosen[k]];
    SPOT_TRY(spot_fit_put(c, f, "itemset.first", SPOT_I32, NULL, len + 1, 0, &first));
    SPOT_TRY(spot_fit_put(c, f, "itemset.item", SPOT_I32, NULL, items, 0, &item));
    for (int k = items = 0; k < len; first[++k] = items)
        for (int i = s->first[t->chosen[k]]; i < s->first[t->chosen[k] + 1]; i++) item[items++] = s->item[i];
    return SPOT_OK;
}

static spot_status solve_problem(spot_ctx *c, itemsets_problem *t, const spot_bdm_group *g, int p)
{
    const spot_view *v = &g->views[p];
    const spot_itemset_config *cfg = &g->cfg->itemsets;
    const int least = (int)ceil(cfg->support * v->n - 1e-9);
    const spot_itemsets_rule rule = { least > 1 ? least : 1, cfg->longest, sets_of(t->d, g->cfg) };
    spot_itemsets sets = { 0 };
    spot_status s;

    SPOT_TRY(fill_bits(c, t, v, &g->points[p], g->seeds[p].ec));
    fill_baskets(t);
    SPOT_TRY(spot_itemsets_find(c, &sets, &(spot_baskets){ t->n, t->d, t->first, t->item }, &rule));
    collect(&g->out[p], g->row[p], t, &sets, rank_sets(c, t, &sets), v, g->cfg);
    if (!g->out[p].len)
        spot_log_of(c, SPOT_LOG_WARN, g->seeds[p].ec, "no conjunction of up to %d attributes with %d rows has a greater error "
                    "rate than all %d rows", cfg->longest, rule.least_count, v->n);
    s = g->fits ? keep_fit(c, &g->fits[p], t, &sets, g->out[p].len) : SPOT_OK;
    spot_itemsets_close(&sets);
    return s;
}

/* The search has no arena: a set has its items, three numbers, and room to grow in the lists of the threads. */
static spot_status count_search(spot_ctx *c, spot_arena *host, int d, const spot_bdm_config *cfg)
{
    return spot_bdm_scratch(c, host, sets_of(d, cfg) * 4 * (size_t)(cfg->itemsets.longest + 3) * sizeof(int));
}

static spot_status solve_group(spot_ctx *c, spot_arena *host, spot_arena *work, const spot_bdm_group *g)
{
    for (int p = 0; p < g->problems; p++) {
        const size_t mark = host->used;
        itemsets_problem t;
        SPOT_TRY(take_problem(c, host, &t, g->points[p].n, g->points[p].d, g->cfg));
        if (work->counting) SPOT_TRY(count_search(c, host, t.d, g->cfg));
        else {
            SPOT_TRY(spot_check_stop(c));
            SPOT_TRY(solve_problem(c, &t, g, p));
        }
        host->used = mark;
    }
    return SPOT_OK;
}

static bool holds(const float *x, const int *item, int items)
{
    for (int i = 0; i < items; i++)
        if (x[item[i]] != 1) return false;
    return true;
}

static spot_status assign(spot_ctx *c, spot_arena *a, const spot_assignment *to)
{
    const spot_fit_tensor *all;
    const int *first, *item;
    int d = to->points->d;

    SPOT_TRY(spot_fit_indices(c, to->fit, "itemset.item", -1, 0, d - 1, &item));
    SPOT_TRY(spot_fit_take(c, to->fit, "itemset.item", SPOT_I32, -1, 0, &all));
    SPOT_TRY(spot_fit_indices(c, to->fit, "itemset.first", to->hypotheses + 1, 0, all->rows, &first));
    for (int k = 0; k < to->hypotheses; k++)
        if (first[0] || first[k + 1] <= first[k] || first[to->hypotheses] != all->rows)
            return spot_fail(c, SPOT_INPUT,
                             "{fit.conjunctions} the fit's \"itemset.first\" is no list of conjunctions; the fit is damaged");
    for (int i = 0; !a->counting && i < to->rows->n; i++)
        for (int k = 0; k < to->hypotheses; k++)
            to->member[(size_t)i * to->hypotheses + k] = holds(to->points->at + (size_t)i * d, item + first[k],
                                                               first[k + 1] - first[k]);
    return SPOT_OK;
}

static const spot_setting settings[] = {
#define S SPOT_BDM_ROW
    S("support", REAL,  itemsets.support, "least share of the rows that a conjunction has", SPOT_IN(0, 1), SPOT_DEF(0.02)),
    S("longest", INT,   itemsets.longest, "most attributes of a conjunction", SPOT_IN(1, 20), SPOT_DEF(6)),
    S("overlap", REAL,  itemsets.overlap, "greatest Jaccard index with a better hypothesis; 1: any", SPOT_IN(0, 1),
      SPOT_DEF(0.5)),
#undef S
    SPOT_END
};

static void defaults(spot_bdm_config *cfg) { cfg->representation = SPOT_BY_ATTRIBUTES; }

const spot_method spot_method_itemsets = { .own_rows = true, .overlap = true, .settings = settings, .defaults = defaults,
                                           .solve = solve_group, .assign = assign };
