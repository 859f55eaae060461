/* describe_items.c - the best conjunction of at most three items for a group of rows, exactly: see spotter/describe.h.
 *
 * F1 = 2 TP / (rows of the conjunction + rows of the group). For items a < b < c in the order of their own F1:
 *
 *     TP(abc) <= min(TP(ab), TP(ac))          FP(abc) >= FP(ab) + FP(ac) - FP(a)
 *
 * since b and c each take at most their own share of FP(a) away. The rows of a with every later item are counted once, and most
 * pairs and triples are then left by these two bounds, without a look at their bits. The group's own rows are packed
 * together, so that TP counts few words. First items go in blocks: a block starts with the best of the blocks before, so the
 * work, too, is the same for any number of threads. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "discover/describe/describe_match.h"

enum { WORD = 64, BLOCK = 64, CHUNK = 32, MOST = SPOT_MOST_ITEMS };

/* Bits of items on some rows. */
typedef struct { int rows; size_t words; uint64_t *bit; } table;       /* bit: (items, words) */

/* A conjunction in the order of the search; f1 = 2 inside / under. */
typedef struct { int items, item[MOST]; int64_t inside, under; } candidate;

typedef struct {
    spot_ctx *c;
    const spot_conjunctions_problem *p;
    spot_arena a;
    int     *seen, *unseen;            /* rows of the class by index, ascending: of the first half, of the second */
    int      first, second;            /* their numbers */
    uint8_t *member;                   /* (n): whether a row is in the group */
    table    half, own;                /* the first half; its rows of the group */
    int      group;                    /* rows of the group in the first half */
    int     *item, items;              /* the items that hold for a row of the group, by F1 on the first half */
    candidate *best;                   /* (BLOCK): of each first item of a block */
} mining;

/* The memory of a thread. */
typedef struct {
    int      *tp, *fp, *most_cut;      /* (items): of a first item with each later one; the most FP that any from here cuts */
    uint64_t *own, *half;              /* (words): the pair's rows of the group; of the first half */
} scratch;

/* ---- bits ---- */

static const uint64_t *item_bits(const table *t, int item) { return t->bit + (size_t)item * t->words; }

static int count_both(const uint64_t *x, const uint64_t *y, size_t words)
{
    int count = 0;

    for (size_t i = 0; i < words; i++) count += __builtin_popcountll(x[i] & y[i]);
    return count;
}

/* The same, or a number above most where there are more than most. */
static int count_up_to(const uint64_t *x, const uint64_t *y, size_t words, int64_t most)
{
    int count = 0;

    for (size_t i = 0; i < words && count <= most; i += CHUNK)
        count += count_both(x + i, y + i, words - i < CHUNK ? words - i : CHUNK);
    return count;
}

static void both_bits(uint64_t *out, const table *t, int x, int y)
{
    const uint64_t *a = item_bits(t, x), *b = item_bits(t, y);

    for (size_t i = 0; i < t->words; i++) out[i] = a[i] & b[i];
}

/* Packs every item's bits on the first half, or on its rows of the group. */
static void pack_rows(const mining *m, table *t, bool group)
{
    const spot_attributes *from = m->p->attributes;
    int *row = m->item;                /* which the search fills later */

    t->rows = 0;
    for (int i = 0; i < m->first; i++)
        if (!group || m->member[m->seen[i]]) row[t->rows++] = m->p->row[m->seen[i]];
    t->words = (size_t)(t->rows + WORD - 1) / WORD;
#pragma omp parallel for num_threads(m->c->threads) schedule(static)
    for (int k = 0; k < from->items; k++) {
        uint64_t *to = t->bit + (size_t)k * t->words;
        memset(to, 0, t->words * sizeof *to);
        for (int i = 0; i < t->rows; i++) to[i / WORD] |= (uint64_t)spot_item_holds(from, k, row[i]) << (i % WORD);
    }
}

/* ---- candidates ---- */

/* F1 = 2 inside / under is SPOT_LEAST_F1, and every conjunction with this F1 is better, as it has fewer items. */
static const candidate none = { .items = MOST + 1, .inside = 1, .under = (int64_t)(2 / SPOT_LEAST_F1) };

/* Whether x is better than y: greater F1, then fewer items, then lower items. */
static bool is_better(const candidate *x, const candidate *y)
{
    int64_t left, right;

    left = x->inside * y->under, right = y->inside * x->under;
    if (left != right) return left > right;
    if (x->items != y->items) return x->items < y->items;
    for (int i = 0; i < x->items && i < MOST; i++)
        if (x->item[i] != y->item[i]) return x->item[i] < y->item[i];
    return false;
}

/* Whether a conjunction of this many items, with tp at most and fp at least, can be better than best. */
static bool can_beat(const mining *m, const candidate *best, int64_t tp, int64_t fp, int items)
{
    const int64_t gain = tp * best->under - best->inside * (tp + fp + m->group);

    return tp > 0 && (gain > 0 || (gain == 0 && items <= best->items));
}

static void offer(const mining *m, candidate *best, int items, const int *item, int tp, int fp)
{
    candidate new = { .items = items, .inside = tp, .under = (int64_t)tp + fp + m->group };

    if (!can_beat(m, best, tp, fp, items)) return;
    for (int i = 0; i < items; i++) {
        int at = i;
        for (; at && new.item[at - 1] > item[i]; at--) new.item[at] = new.item[at - 1];
        new.item[at] = item[i];
    }
    if (is_better(&new, best)) *best = new;
}

/* ---- the search ---- */

static bool share_column(const mining *m, int x, int y)
{
    const int *column = m->p->attributes->column;

    return column[x] == column[y];
}

/* TP and FP of first item a with every later one; FP only where the pair, or a triple with it, can be better than the best. */
static void count_pairs(const mining *m, int a, const candidate *best, scratch *s)
{
    const uint64_t *own = item_bits(&m->own, m->item[a]), *half = item_bits(&m->half, m->item[a]);
    int cut = 0;

    for (int b = m->items - 1; b > a; b--) {
        const int item = m->item[b];
        s->tp[b] = share_column(m, m->item[a], item) ? 0 : count_both(own, item_bits(&m->own, item), m->own.words);
        s->fp[b] = s->fp[a];
        if (can_beat(m, best, s->tp[b], 0, 2)) s->fp[b] = count_both(half, item_bits(&m->half, item), m->half.words) - s->tp[b];
        else s->tp[b] = 0;
        if (s->fp[a] - s->fp[b] > cut) cut = s->fp[a] - s->fp[b];
        s->most_cut[b] = cut;
    }
}

/* can_beat of three items for any third item from k to end - 1: the same sum in doubles, which are exact below 2^53 and which
 * the compiler takes many at a time. */
static bool any_can_beat(const mining *m, const candidate *best, const scratch *s, int a, int b, int k, int end)
{
    const double gain = (double)(best->under - best->inside), loss = (double)best->inside, base = s->fp[b] - s->fp[a];
    const double need = loss * m->group + (best->items >= MOST ? 0 : 1), most = s->tp[b];
    int any = 0;

    for (; k < end; k++) {
        double tp = s->tp[k] < most ? s->tp[k] : most, fp = base + s->fp[k];
        any |= tp * gain - loss * (fp > 0 ? fp : 0) >= need;
    }
    return any;
}

/* The triple of these three, whose TP and FP are bounded by the pairs'. */
static void try_triple(const mining *m, int a, int b, int k, candidate *best, scratch *s)
{
    const int item = m->item[k];
    int tp = s->tp[k] < s->tp[b] ? s->tp[k] : s->tp[b], fp = s->fp[b] + s->fp[k] - s->fp[a];
    int64_t most;                      /* rows that the triple may have, for its F1 to be the best's */

    if (!can_beat(m, best, tp, fp > 0 ? fp : 0, 3) || share_column(m, m->item[b], item)) return;
    tp = count_both(s->own, item_bits(&m->own, item), m->own.words);
    if (!can_beat(m, best, tp, fp > 0 ? fp : 0, 3)) return;
    most = tp * best->under / best->inside - m->group;
    fp = count_up_to(s->half, item_bits(&m->half, item), m->half.words, most) - tp;
    offer(m, best, 3, (int[]){ m->item[a], m->item[b], item }, tp, fp);
}

/* The triples of first items a and b. */
static void try_triples(const mining *m, int a, int b, candidate *best, scratch *s)
{
    both_bits(s->own, &m->own, m->item[a], m->item[b]);
    both_bits(s->half, &m->half, m->item[a], m->item[b]);
    for (int from = b + 1; from < m->items; from += CHUNK) {
        const int end = from + CHUNK < m->items ? from + CHUNK : m->items;
        if (!any_can_beat(m, best, s, a, b, from, end)) continue;
        for (int k = from; k < end; k++) try_triple(m, a, b, k, best, s);
    }
}

/* The best of all conjunctions whose first item is a. */
static void search_first(const mining *m, int a, candidate *best, scratch *s)
{
    const uint64_t *own = item_bits(&m->own, m->item[a]), *half = item_bits(&m->half, m->item[a]);

    s->tp[a] = count_both(own, own, m->own.words);
    if (!can_beat(m, best, s->tp[a], 0, 1)) return;
    s->fp[a] = count_both(half, half, m->half.words) - s->tp[a];
    offer(m, best, 1, &m->item[a], s->tp[a], s->fp[a]);
    count_pairs(m, a, best, s);
    for (int b = a + 1; b < m->items; b++)
        if (s->tp[b]) offer(m, best, 2, (int[]){ m->item[a], m->item[b] }, s->tp[b], s->fp[b]);
    for (int b = a + 1; b + 1 < m->items; b++) {
        int fp = s->fp[b] - s->most_cut[b + 1];
        if (can_beat(m, best, s->tp[b], fp > 0 ? fp : 0, 3)) try_triples(m, a, b, best, s);
    }
}

typedef struct { int item; double f1; } strength;

static int stronger_first(const void *x, const void *y)
{
    const strength *a = x, *b = y;

    return a->f1 != b->f1 ? (a->f1 < b->f1 ? 1 : -1) : a->item - b->item;
}

static spot_status order_items(mining *m)
{
    const int all = m->p->attributes->items;
    strength *list = malloc(((size_t)all + 1) * sizeof *list);
    int n = 0;

    if (!list) return spot_fail(m->c, SPOT_NOMEM, "no memory for %d attributes", all);
    for (int k = 0; k < all; k++) {
        const uint64_t *own = item_bits(&m->own, k), *half = item_bits(&m->half, k);
        const int tp = count_both(own, own, m->own.words), covered = count_both(half, half, m->half.words);
        if (tp && covered < m->half.rows) list[n++] = (strength){ k, 2.0 * tp / (covered + m->group) };
    }
    qsort(list, (size_t)n, sizeof *list, stronger_first);
    for (int i = 0; i < n; i++) m->item[i] = list[i].item;
    m->items = n;
    free(list);
    return SPOT_OK;
}

/* The blocks of first items grow from 1 to BLOCK: the strongest items give a best one that prunes most of the rest. */
static spot_status search_items(mining *m, candidate *best, scratch *s)
{
    *best = none;
    pack_rows(m, &m->own, true);
    m->group = m->own.rows;
    if (!m->group) return SPOT_OK;
    SPOT_TRY(order_items(m));
    for (int from = 0, size = 1; from < m->items; from += size, size = 2 * size < BLOCK ? 2 * size : BLOCK) {
        const int end = from + size < m->items ? from + size : m->items;
        SPOT_TRY(spot_check_stop(m->c));
#pragma omp parallel for num_threads(m->c->threads) schedule(dynamic)
        for (int a = from; a < end; a++) {
            m->best[a - from] = *best;
            search_first(m, a, &m->best[a - from], &s[omp_get_thread_num()]);
        }
        for (int a = from; a < end; a++)
            if (is_better(&m->best[a - from], best)) *best = m->best[a - from];
    }
    return SPOT_OK;
}

/* ---- all ---- */

static spot_match match_of(const mining *m, const candidate *best, const int *row, int rows)
{
    return spot_match_on(m->p, best->item, best->items, m->member, row, rows);
}

static spot_conjunction conjunction_of(const mining *m, const candidate *best)
{
    spot_conjunction out = { .items = best->items <= MOST ? best->items : 0 };

    for (int k = 0; k < MOST; k++) {
        out.item[k] = k < out.items ? best->item[k] : -1;
        if (k < out.items) out.name[k] = m->p->attributes->name[best->item[k]];
    }
    if (!out.items) return out;
    out.held_out = match_of(m, best, m->unseen, m->second);
    out.all = match_of(m, best, NULL, m->p->n);
    return out;
}

static spot_status take_memory(mining *m, spot_arena *a)
{
    const size_t n = (size_t)m->p->n, items = (size_t)m->p->attributes->items, words = n / WORD + 1;

    SPOT_TRY(SPOT_TAKE(m->c, a, m->seen, n));
    SPOT_TRY(SPOT_TAKE(m->c, a, m->unseen, n));
    SPOT_TRY(SPOT_TAKE(m->c, a, m->member, n));
    SPOT_TRY(SPOT_TAKE(m->c, a, m->item, items > n ? items : n));
    SPOT_TRY(SPOT_TAKE(m->c, a, m->best, BLOCK));
    SPOT_TRY(SPOT_TAKE(m->c, a, m->own.bit, items * words));
    return SPOT_TAKE(m->c, a, m->half.bit, items * words);
}

static spot_status take_scratch(const mining *m, spot_arena *a, scratch *s)
{
    const size_t items = (size_t)m->p->attributes->items;

    for (int t = 0; t < m->c->threads; t++) {
        scratch one;
        SPOT_TRY(SPOT_TAKE(m->c, a, one.tp, items));
        SPOT_TRY(SPOT_TAKE(m->c, a, one.fp, items));
        SPOT_TRY(SPOT_TAKE(m->c, a, one.most_cut, items));
        SPOT_TRY(SPOT_TAKE(m->c, a, one.own, (size_t)m->p->n / WORD + 1));
        SPOT_TRY(SPOT_TAKE(m->c, a, one.half, (size_t)m->p->n / WORD + 1));
        if (s) s[t] = one;
    }
    return SPOT_OK;
}

/* A random order's first n/2 rows are the first half, or all rows are; m->member serves as a mark. */
static spot_status halve_rows(mining *m)
{
    const int n = m->p->n, half = m->p->whole ? n : n / 2;
    uint32_t *order = malloc(((size_t)n + 1) * sizeof *order);
    spot_rng r = spot_rng_at(m->p->seed.seed, SPOT_RNG_DESCRIBE, m->p->seed.ec, 0);

    if (!order) return spot_fail(m->c, SPOT_NOMEM, "no memory for the order of %d rows", n);
    spot_rng_shuffle(&r, order, (uint32_t)n);
    memset(m->member, 0, (size_t)n);
    for (int i = 0; i < half; i++) m->member[order[i]] = 1;
    free(order);
    m->first = m->second = 0;
    for (int i = 0; i < n; i++)
        if (m->member[i]) m->seen[m->first++] = i;
        else m->unseen[m->second++] = i;
    return SPOT_OK;
}

static spot_status find_conjunctions(mining *m, spot_conjunction *best, scratch *s)
{
    const spot_conjunctions_problem *p = m->p;

    SPOT_TRY(halve_rows(m));
    pack_rows(m, &m->half, false);
    for (int g = 0; g < p->groups; g++) {
        candidate found;
        memset(m->member, 0, (size_t)p->n);
        for (int i = 0; i < p->group[g].n; i++) m->member[p->group[g].row[i]] = 1;
        SPOT_TRY(search_items(m, &found, s));
        best[g] = conjunction_of(m, &found);
    }
    return SPOT_OK;
}

spot_status spot_conjunctions_needs(spot_ctx *c, size_t *bytes, const spot_conjunctions_problem *p)
{
    mining m = { .c = c, .p = p };
    spot_arena size = spot_arena_counting();

    SPOT_TRY(take_memory(&m, &size));
    SPOT_TRY(take_scratch(&m, &size, NULL));
    *bytes = size.peak;
    return SPOT_OK;
}

spot_status spot_conjunctions_find(spot_ctx *c, spot_conjunction *best, const spot_conjunctions_problem *p)
{
    mining m = { .c = c, .p = p };
    scratch *s;
    size_t bytes;
    spot_status how;

    if (p->n < 1 || p->groups < 0)
        return spot_fail(c, SPOT_INVALID, "attributes: %d groups of %d rows; at least one row", p->groups, p->n);
    SPOT_TRY(spot_conjunctions_needs(c, &bytes, p));
    s = malloc((size_t)c->threads * sizeof *s);
    if (!s) return spot_fail(c, SPOT_NOMEM, "no memory for the attributes on %d threads", c->threads);
    how = spot_arena_open(c, &m.a, bytes);
    if (how == SPOT_OK) how = take_memory(&m, &m.a);
    if (how == SPOT_OK) how = take_scratch(&m, &m.a, s);
    if (how == SPOT_OK) how = find_conjunctions(&m, best, s);
    spot_arena_close(&m.a);
    free(s);
    return how;
}
