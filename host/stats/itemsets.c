/* itemsets.c - frequent sets by occurrence deliver (Uno, Kiyomi & Arimura 2004, LCM version 2). Items are ranks, 0 the most
 * frequent.
 *
 * A set grows by items of lesser rank. Its transactions are gone through once: each is written into the list of every lesser
 * item that it has, so the length of a list is the count of the set with that item. Items are then taken in ascending order.
 * The sets that grow from an item use the lists of lesser items only, which are done by then, so one list for each item is
 * enough at all depths, and its greatest length is the item's count in the whole. */
#include <limits.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "core/pointer.h"
#include "spotter/ontology.h"

enum { MOST_SETS = 50000000, LONGEST_SET = 1 << 20 };

/* The whole, both ways: the transactions of rank r are by_rank[rank_first[r]] onwards, ascending; the ranks of transaction t
 * are by_row[row_first[t]] onwards, ascending. of[r]: the item. */
typedef struct { int ranks, *of, *rank_first, *by_rank, *row_first, *by_row; } ranked;

/* The frequent sets that one thread found: ranks, one set behind the other. */
typedef struct {
    int    *item, *length, *count;
    size_t items, item_room, sets, set_room, most;
    bool   no_memory;
} harvest;

/* The state of a thread. */
typedef struct {
    const ranked *k;
    int least, longest;
    harvest out;
    int *suffix;                   /* (ranks): the present set */
    int *list, *length;            /* by_rank's places once more; (ranks): the list of each item, and its length */
    int *met;                      /* items that the present set and those above it met, one behind the other */
    size_t met_room;
} mining;

/* ---- output ---- */

static bool grow(void *array, size_t *room, size_t need, size_t size)
{
    size_t more = *room ? 2 * *room : 1024;

    if (need <= *room) return true;
    while (more < need) more *= 2;
    void *moved = realloc(spot_pointer_get(array), more * size);
    if (!moved) return false;
    spot_pointer_put(array, moved);
    *room = more;
    return true;
}

static void put_set(mining *m, int length, int count)
{
    harvest *h = &m->out;
    size_t lengths = h->set_room, counts = h->set_room;

    if (h->sets == h->most || !grow(&h->item, &h->item_room, h->items + (size_t)length, sizeof *h->item)
        || !grow(&h->length, &lengths, h->sets + 1, sizeof *h->length)
        || !grow(&h->count, &counts, h->sets + 1, sizeof *h->count)) {
        h->no_memory = true;
        return;
    }
    h->set_room = lengths;
    memcpy(h->item + h->items, m->suffix, (size_t)length * sizeof *h->item);
    h->items += (size_t)length;
    h->length[h->sets] = length;
    h->count[h->sets++] = count;
}

/* ---- growth ---- */

/* Writes the transactions of a set, n of `row`, into the lists of the items below `rank`; met[at] onwards gets those that are
 * frequent beside the set, ascending. Returns their number, -1 without memory. */
static int deliver(mining *m, const int *row, int n, int rank, size_t at)
{
    const ranked *k = m->k;
    int all = 0, met = 0, *to;

    if (!grow(&m->met, &m->met_room, at + (size_t)rank, sizeof *m->met)) return -1;
    to = m->met + at;
    for (int i = 0; i < n; i++) {
        for (const int *r = k->by_row + k->row_first[row[i]]; *r < rank; r++) {
            if (!m->length[*r]) to[all++] = *r;
            m->list[k->rank_first[*r] + m->length[*r]++] = row[i];
        }
    }
    for (int i = 0; i < all; i++) {
        if (m->length[to[i]] >= m->least) to[met++] = to[i];
        else m->length[to[i]] = 0;
    }
    if (met > 1) spot_sort_ints(to, (size_t)met);
    return met;
}

/* The sets that end with `rank` and the suffix, which lie in n transactions. */
static void mine_item(mining *m, const int *row, int n, int rank, int length, size_t at)
{
    int met;

    m->suffix[length] = rank;
    put_set(m, length + 1, n);
    if (length + 1 == m->longest || m->out.no_memory) return;
    met = deliver(m, row, n, rank, at);
    if (met < 0) m->out.no_memory = true;
    for (int i = 0; i < met; i++) {
        const int r = m->met[at + (size_t)i];
        if (!m->out.no_memory)
            mine_item(m, m->list + m->k->rank_first[r], m->length[r], r, length + 1, at + (size_t)met);
        m->length[r] = 0;
    }
}

/* ---- the whole ---- */

typedef struct { int item, count; } frequency;

static int compare_frequencies(const void *a, const void *b)
{
    const frequency *x = a, *y = b;

    return x->count != y->count ? (x->count < y->count) - (x->count > y->count) : (x->item > y->item) - (x->item < y->item);
}

static void close_ranked(ranked *k)
{
    free(k->of), free(k->rank_first), free(k->by_rank), free(k->row_first), free(k->by_row);
}

/* A rank behind all others ends each transaction. */
static void fill_rows(ranked *k, const spot_baskets *b, const int *rank)
{
    int *end = k->row_first, at = 0;

    for (int t = 0; t < b->transactions; t++) {
        end[t] = at;
        for (int i = b->first[t]; i < b->first[t + 1]; i++) at += rank[b->item[i]] >= 0;
        k->by_row[at++] = k->ranks;
    }
    for (int r = 0; r < k->ranks; r++)
        for (int i = k->rank_first[r]; i < k->rank_first[r + 1]; i++) k->by_row[end[k->by_rank[i]]++] = r;
    for (int t = b->transactions - 1; t > 0; t--) end[t] = end[t - 1] + 1;
    if (b->transactions) end[0] = 0;
}

static void fill_ranks(ranked *k, const spot_baskets *b, const frequency *f, int *rank)
{
    int at = 0;

    for (int i = 0; i < b->items; i++) rank[f[i].item] = i < k->ranks ? i : -1;
    for (int r = 0; r < k->ranks; r++) k->of[r] = f[r].item, k->rank_first[r] = at, at += f[r].count;
    for (int t = 0; t < b->transactions; t++)
        for (int i = b->first[t]; i < b->first[t + 1]; i++)
            if (rank[b->item[i]] >= 0) k->by_rank[k->rank_first[rank[b->item[i]]]++] = t;
    for (int r = k->ranks; r > 0; r--) k->rank_first[r] = k->rank_first[r - 1];
    k->rank_first[0] = 0;
}

static bool rank_items(ranked *k, const spot_baskets *b, int least)
{
    const size_t items = (size_t)b->items, rows = (size_t)b->transactions, all = (size_t)b->first[rows];
    frequency *f = calloc(items + 1, sizeof *f);
    int *rank = malloc((items + 1) * sizeof *rank);

    *k = (ranked){ .of = malloc((items + 1) * sizeof(int)), .rank_first = malloc((items + 1) * sizeof(int)),
                   .by_rank = malloc((all + 1) * sizeof(int)), .row_first = malloc((rows + 1) * sizeof(int)),
                   .by_row = malloc((all + rows + 1) * sizeof(int)) };
    if (all + rows > INT_MAX || !f || !rank || !k->of || !k->rank_first || !k->by_rank || !k->row_first || !k->by_row)
        return free(f), free(rank), false;
    for (int i = 0; i < b->items; i++) f[i].item = i;
    for (size_t i = 0; i < all; i++) f[b->item[i]].count++;
    qsort(f, items, sizeof *f, compare_frequencies);
    while (k->ranks < b->items && f[k->ranks].count >= least) k->ranks++;
    fill_ranks(k, b, f, rank);
    fill_rows(k, b, rank);
    free(f), free(rank);
    return true;
}

static bool open_mining(mining *m, const ranked *k, const spot_itemsets_rule *rule, size_t most)
{
    const size_t ranks = (size_t)k->ranks + 1;

    *m = (mining){ .k = k, .least = rule->least_count, .longest = rule->longest ? rule->longest : LONGEST_SET,
                   .out.most = most, .suffix = malloc(ranks * sizeof(int)), .length = calloc(ranks, sizeof(int)),
                   .list = malloc(((size_t)k->rank_first[k->ranks] + 1) * sizeof(int)) };
    return m->suffix && m->length && m->list;
}

static void close_mining(mining *m)
{
    free(m->out.item), free(m->out.length), free(m->out.count);
    free(m->suffix), free(m->length), free(m->list), free(m->met);
}

/* An item of the whole is a task of its own. thread (threads): zeroed; fills it. */
static bool mine_all(spot_ctx *c, mining *thread, const ranked *k, const spot_itemsets_rule *rule, size_t most)
{
    int failed = 0;

#pragma omp parallel num_threads(c->threads) reduction(|| : failed)
    {
        mining *m = &thread[omp_get_thread_num()];
        failed = !open_mining(m, k, rule, most);
#pragma omp for schedule(dynamic, 1)
        for (int r = k->ranks - 1; r >= 0; r--) {
            if (failed || (c->stop && *c->stop)) continue;
            mine_item(m, k->by_rank + k->rank_first[r], k->rank_first[r + 1] - k->rank_first[r], r, 0, 0);
            failed = m->out.no_memory;
        }
    }
    return !failed;
}

/* ---- the sorted result ---- */

typedef struct { const int *item; int length, count; } found;

static int compare_found(const void *a, const void *b)
{
    const found *x = a, *y = b;

    if (x->length != y->length) return x->length < y->length ? -1 : 1;
    for (int i = 0; i < x->length; i++)
        if (x->item[i] != y->item[i]) return x->item[i] < y->item[i] ? -1 : 1;
    return 0;
}

static void list_found(found *f, const mining *m, int threads)
{
    for (int t = 0, n = 0; t < threads; t++) {
        const harvest *h = &m[t].out;
        int *at = h->item;
        for (size_t s = 0; s < h->sets; s++, at += f[n++].length) {
            for (int i = 0; i < h->length[s]; i++) at[i] = m[t].k->of[at[i]];
            spot_sort_ints(at, (size_t)h->length[s]);
            f[n] = (found){ at, h->length[s], h->count[s] };
        }
    }
}

static bool sort_sets(spot_itemsets *out, const mining *m, int threads, size_t sets, size_t items)
{
    found *f = malloc((sets + 1) * sizeof *f);
    int *all = malloc((2 * sets + 1 + items) * sizeof *all);

    if (!f || !all) return free(f), free(all), false;
    *out = (spot_itemsets){ .sets = (int)sets, .first = all, .count = all + sets + 1, .item = all + 2 * sets + 1,
                            .owned = all };
    list_found(f, m, threads);
    qsort(f, sets, sizeof *f, compare_found);
    out->first[0] = 0;
    for (size_t s = 0; s < sets; s++) {
        out->first[s + 1] = out->first[s] + f[s].length;
        out->count[s] = f[s].count;
        memcpy(out->item + out->first[s], f[s].item, (size_t)f[s].length * sizeof *out->item);
    }
    free(f);
    return true;
}

static spot_status find_sets(spot_ctx *c, spot_itemsets *out, const ranked *k, const spot_itemsets_rule *rule, size_t most)
{
    mining *m = calloc((size_t)c->threads, sizeof *m);
    size_t sets = 0, items = 0;
    bool whole = m && mine_all(c, m, k, rule, most);

    for (int t = 0; m && t < c->threads; t++) sets += m[t].out.sets, items += m[t].out.items;
    whole = whole && sets <= most && items < (size_t)1 << 31;
    if (whole) whole = sort_sets(out, m, c->threads, sets, items);
    for (int t = 0; m && t < c->threads; t++) close_mining(&m[t]);
    free(m);
    SPOT_TRY(spot_check_stop(c));
    return whole ? SPOT_OK
                 : spot_fail(c, SPOT_NOMEM, "{itemsets.too_many} more than %zu sets of items lie in %d transactions or more; "
                             "ask for a higher support or shorter sets", sets < most ? sets : most, rule->least_count);
}

spot_status spot_itemsets_find(spot_ctx *c, spot_itemsets *out, const spot_baskets *b, const spot_itemsets_rule *rule)
{
    const size_t most = rule->most ? rule->most : MOST_SETS;
    ranked k;

    *out = (spot_itemsets){ 0 };
    if (b->transactions < 0 || b->items < 0 || rule->least_count < 1 || rule->longest < 0 || most > MOST_SETS)
        return spot_fail(c, SPOT_INVALID, "{itemsets.sizes} itemsets: %d transactions of %d items, at least %d times, at most "
                         "%d long", b->transactions, b->items, rule->least_count, rule->longest);
    spot_status s = rank_items(&k, b, rule->least_count) ? find_sets(c, out, &k, rule, most)
                  : spot_fail(c, SPOT_NOMEM, "no memory for %d transactions of %d items", b->transactions, b->items);
    close_ranked(&k);
    if (s != SPOT_OK) spot_itemsets_close(out);
    return s;
}

void spot_itemsets_close(spot_itemsets *s)
{
    free(s->owned);
    memset(s, 0, sizeof *s);
}
