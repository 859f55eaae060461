/* itemsets.c - FP-growth (Han, Pei & Yin 2000).
 *
 * An FP-tree merges the transactions that begin with the same items, the most frequent items first. The frequent sets that end
 * with an item are the item itself and, recursively, those of the tree of the paths above its nodes. A tree is built from
 * sorted transactions: the path of the transaction before shows which nodes are there. */
#include <stdlib.h>
#include <string.h>

#include "spotter/itemsets.h"

enum { MOST_SETS = 50000000, LONGEST_SET = 1 << 20 };

/* Transactions as ranks of items, 0 the most frequent; ascending within a transaction. */
typedef struct { const int *item; int n, count; } path;

typedef struct { int rank, parent, count, next; } node;        /* next: the item's next node; -1: none */

/* The frequent sets that one thread found: ranks, one set behind the other. */
typedef struct {
    int    *item, *length, *count;
    size_t items, item_room, sets, set_room, most;
    bool   no_memory;
} harvest;

typedef struct {
    int least, longest, ranks;     /* ranks: number of frequent items of the whole */
    harvest *out;
    int *suffix;                   /* (ranks): the items that the present tree is of */
} mining;

/* ---- output ---- */

static bool grow(void *array, size_t *room, size_t need, size_t size)
{
    void **a = array;
    size_t more = *room ? 2 * *room : 1024;

    if (need <= *room) return true;
    while (more < need) more *= 2;
    void *moved = realloc(*a, more * size);
    if (!moved) return false;
    *a = moved, *room = more;
    return true;
}

static void put_set(const mining *m, int length, int count)
{
    harvest *h = m->out;
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

/* ---- trees ---- */

static int compare_paths(const void *a, const void *b)
{
    const path *x = a, *y = b;

    for (int i = 0; i < x->n && i < y->n; i++)
        if (x->item[i] != y->item[i]) return x->item[i] < y->item[i] ? -1 : 1;
    return (x->n > y->n) - (x->n < y->n);
}

/* Nodes of the paths, which it sorts; head[r]: first node of rank r. at: a node for each item of the longest path. */
static int build_tree(node *tree, int *head, int *at, path *p, int n, int ranks)
{
    int nodes = 0;

    for (int r = 0; r < ranks; r++) head[r] = -1;
    qsort(p, (size_t)n, sizeof *p, compare_paths);
    for (int t = 0; t < n; t++) {
        int same = 0;
        while (t && same < p[t].n && same < p[t - 1].n && p[t].item[same] == p[t - 1].item[same]) same++;
        for (int i = 0; i < same; i++) tree[at[i]].count += p[t].count;
        for (int i = same; i < p[t].n; i++) {
            const int r = p[t].item[i];
            tree[nodes] = (node){ r, i ? at[i - 1] : -1, p[t].count, head[r] };
            head[r] = at[i] = nodes++;
        }
    }
    return nodes;
}

static void mine_paths(const mining *m, path *p, int n, int ranks, int length);

/* The sets that end with `rank` and the suffix: the paths above its nodes, without rare items, make the next tree. */
static void mine_item(const mining *m, const node *tree, int head, int rank, int length)
{
    int nodes = 0, total = 0;
    size_t items = 0;

    for (int k = head; k >= 0; k = tree[k].next) {
        total += tree[k].count, nodes++;
        for (int up = tree[k].parent; up >= 0; up = tree[up].parent) items++;
    }
    if (total < m->least || m->out->no_memory) return;
    m->suffix[length] = rank;
    put_set(m, length + 1, total);
    if (length + 1 == m->longest || !items) return;
    int  *count = calloc((size_t)rank, sizeof *count), *item = malloc(items * sizeof *item), *end = item;
    path *p = malloc((size_t)nodes * sizeof *p);
    int  kept = 0;
    if (!count || !item || !p) m->out->no_memory = true, nodes = 0, head = -1;
    for (int k = head; k >= 0; k = tree[k].next)
        for (int up = tree[k].parent; up >= 0; up = tree[up].parent) count[tree[up].rank] += tree[k].count;
    for (int k = head; k >= 0; k = tree[k].next) {
        int long_ = 0;
        for (int up = tree[k].parent; up >= 0; up = tree[up].parent)
            if (count[tree[up].rank] >= m->least) end[long_++] = tree[up].rank;
        if (!long_) continue;
        for (int i = 0; i < long_ / 2; i++) {              /* from the root downwards */
            const int swap = end[i];
            end[i] = end[long_ - 1 - i], end[long_ - 1 - i] = swap;
        }
        p[kept++] = (path){ end, long_, tree[k].count };
        end += long_;
    }
    if (kept) mine_paths(m, p, kept, rank, length + 1);
    free(p), free(item), free(count);
}

static size_t count_items(const path *p, int n, int *longest)
{
    size_t items = 0;

    *longest = 0;
    for (int t = 0; t < n; t++) {
        items += (size_t)p[t].n;
        if (p[t].n > *longest) *longest = p[t].n;
    }
    return items;
}

/* All frequent sets among the paths, whose ranks are below `ranks`, each with the suffix behind it. */
static void mine_paths(const mining *m, path *p, int n, int ranks, int length)
{
    int longest;
    size_t items = count_items(p, n, &longest);
    node *tree = malloc(items * sizeof *tree);
    int *head = malloc(((size_t)ranks + (size_t)longest) * sizeof *head);

    if (!tree || !head) {
        m->out->no_memory = true;
    } else {
        build_tree(tree, head, head + ranks, p, n, ranks);
        for (int r = ranks - 1; r >= 0; r--)
            if (head[r] >= 0) mine_item(m, tree, head[r], r, length);
    }
    free(head), free(tree);
}

/* ---- the whole ---- */

typedef struct { int item, count; } frequency;

static int compare_frequencies(const void *a, const void *b)
{
    const frequency *x = a, *y = b;

    return x->count != y->count ? (x->count < y->count) - (x->count > y->count) : (x->item > y->item) - (x->item < y->item);
}

static int compare_ints(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;

    return (x > y) - (x < y);
}

/* The whole in ranks: of[r] is the item of rank r. */
typedef struct { int ranks, *of, *rank, *item; path *p; int n; } ranked;

static void close_ranked(ranked *k) { free(k->of), free(k->rank), free(k->item), free(k->p); }

static bool rank_items(ranked *k, const spot_baskets *b, int least)
{
    const size_t items = (size_t)b->items, all = (size_t)b->first[b->transactions];
    frequency *f = calloc(items + 1, sizeof *f);

    *k = (ranked){ .of = malloc((items + 1) * sizeof(int)), .rank = malloc((items + 1) * sizeof(int)),
                   .item = malloc((all + 1) * sizeof(int)), .p = malloc(((size_t)b->transactions + 1) * sizeof(path)) };
    if (!f || !k->of || !k->rank || !k->item || !k->p) return free(f), false;
    for (int i = 0; i < b->items; i++) f[i].item = i;
    for (size_t i = 0; i < all; i++) f[b->item[i]].count++;
    qsort(f, items, sizeof *f, compare_frequencies);
    for (int i = 0; i < b->items; i++) {
        k->rank[f[i].item] = f[i].count >= least ? k->ranks : -1;
        if (f[i].count >= least) k->of[k->ranks++] = f[i].item;
    }
    free(f);
    for (int t = 0, *end = k->item; t < b->transactions; t++) {
        int n = 0;
        for (int i = b->first[t]; i < b->first[t + 1]; i++)
            if (k->rank[b->item[i]] >= 0) end[n++] = k->rank[b->item[i]];
        if (!n) continue;
        qsort(end, (size_t)n, sizeof *end, compare_ints);
        k->p[k->n++] = (path){ end, n, 1 };
        end += n;
    }
    return true;
}

/* An item of the whole tree is a task of its own. */
static bool mine_all(spot_ctx *c, harvest *out, ranked *k, const spot_itemsets_rule *rule, size_t most)
{
    int longest;
    size_t items = count_items(k->p, k->n, &longest);
    node *tree = malloc((items + 1) * sizeof *tree);
    int *head = malloc(((size_t)k->ranks + (size_t)longest + 1) * sizeof *head), failed = !tree || !head;

    if (!failed) build_tree(tree, head, head + k->ranks, k->p, k->n, k->ranks);
#pragma omp parallel for num_threads(c->threads) schedule(dynamic, 1) reduction(|| : failed)
    for (int r = k->ranks - 1; r >= 0; r--) {
        if (failed) continue;
        int *suffix = malloc((size_t)k->ranks * sizeof *suffix);
        mining m = { rule->least_count, rule->longest ? rule->longest : LONGEST_SET, k->ranks, &out[r], suffix };
        out[r].most = most;
        if (suffix && !(c->stop && *c->stop)) mine_item(&m, tree, head[r], r, 0);
        failed = failed || !suffix || out[r].no_memory;
        free(suffix);
    }
    free(head), free(tree);
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

static void list_found(found *f, const harvest *part, const ranked *k)
{
    for (int r = 0, n = 0; r < k->ranks; r++) {
        int *at = part[r].item;
        for (size_t s = 0; s < part[r].sets; s++, at += f[n++].length) {
            for (int i = 0; i < part[r].length[s]; i++) at[i] = k->of[at[i]];
            qsort(at, (size_t)part[r].length[s], sizeof *at, compare_ints);
            f[n] = (found){ at, part[r].length[s], part[r].count[s] };
        }
    }
}

static bool sort_sets(spot_itemsets *out, const harvest *part, const ranked *k, size_t sets, size_t items)
{
    found *f = malloc((sets + 1) * sizeof *f);
    int *all = malloc((2 * sets + 1 + items) * sizeof *all);

    if (!f || !all) return free(f), free(all), false;
    *out = (spot_itemsets){ .sets = (int)sets, .first = all, .count = all + sets + 1, .item = all + 2 * sets + 1,
                            .owned = all };
    list_found(f, part, k);
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

static spot_status find_sets(spot_ctx *c, spot_itemsets *out, ranked *k, const spot_itemsets_rule *rule, size_t most)
{
    harvest *part = calloc((size_t)k->ranks + 1, sizeof *part);
    size_t sets = 0, items = 0;
    bool whole = part && mine_all(c, part, k, rule, most);

    for (int r = 0; part && r < k->ranks; r++) sets += part[r].sets, items += part[r].items;
    whole = whole && sets <= most && items < (size_t)1 << 31;
    if (whole) whole = sort_sets(out, part, k, sets, items);
    for (int r = 0; part && r < k->ranks; r++) free(part[r].item), free(part[r].length), free(part[r].count);
    free(part);
    SPOT_TRY(spot_check_stop(c));
    return whole ? SPOT_OK
                 : spot_fail(c, SPOT_NOMEM, "more than %zu sets of items lie in %d transactions or more; ask for a higher "
                             "support or shorter sets", sets < most ? sets : most, rule->least_count);
}

spot_status spot_itemsets_find(spot_ctx *c, spot_itemsets *out, const spot_baskets *b, const spot_itemsets_rule *rule)
{
    const size_t most = rule->most ? rule->most : MOST_SETS;
    ranked k;

    *out = (spot_itemsets){ 0 };
    if (b->transactions < 0 || b->items < 0 || rule->least_count < 1 || rule->longest < 0 || most > MOST_SETS)
        return spot_fail(c, SPOT_INVALID, "itemsets: %d transactions of %d items, at least %d times, at most %d long",
                         b->transactions, b->items, rule->least_count, rule->longest);
    spot_status s = rank_items(&k, b, rule->least_count) ? find_sets(c, out, &k, rule, most)
                  : spot_fail(c, SPOT_NOMEM, "no memory for %d transactions of %d items", b->transactions, b->items);
    close_ranked(&k);
    return s;
}

void spot_itemsets_close(spot_itemsets *s)
{
    free(s->owned);
    memset(s, 0, sizeof *s);
}
