/* itemset_rules.c - association rules between frequent sets. */
#include <stdlib.h>
#include <string.h>

#include "spotter/ontology.h"

enum { LONGEST_RULE = 24 };        /* items of a set that is divided in every way */

typedef struct { spot_association *rule; size_t n, room; } rules;

/* The place of a set; -1: not there, which cannot be for a part of a frequent set. */
static int find_set(const spot_itemsets *s, const int *item, int n)
{
    int low = 0, high = s->sets;

    while (low < high) {
        const int mid = (low + high) / 2, *at = s->item + s->first[mid], length = s->first[mid + 1] - s->first[mid];
        int order = length - n;
        for (int i = 0; !order && i < n; i++) order = (at[i] > item[i]) - (at[i] < item[i]);
        if (!order) return mid;
        if (order < 0) low = mid + 1;
        else high = mid;
    }
    return -1;
}

static bool add_rule(rules *r, spot_association rule)
{
    if (r->n == r->room) {
        const size_t room = r->room ? 2 * r->room : 1024;
        spot_association *more = realloc(r->rule, room * sizeof *more);
        if (!more) return false;
        r->rule = more, r->room = room;
    }
    r->rule[r->n++] = rule;
    return true;
}

/* All divisions of set `both` in two; bit i of a part says that it has item i. */
static bool divide_set(rules *r, const spot_itemsets *s, int both, int transactions, double confidence)
{
    const int *item = s->item + s->first[both], n = s->first[both + 1] - s->first[both];

    for (unsigned part = 1; part + 1 < 1u << n; part++) {
        int from[LONGEST_RULE], to[LONGEST_RULE], a = 0, b = 0;
        for (int i = 0; i < n; i++)
            if (part >> i & 1) from[a++] = item[i];
            else to[b++] = item[i];
        const int f = find_set(s, from, a), t = find_set(s, to, b);
        if (f < 0 || t < 0) continue;
        const double sure = (double)s->count[both] / s->count[f];
        const spot_association rule = { f, t, both, (double)s->count[both] / transactions, sure,
                                        sure * transactions / s->count[t] };
        if (sure >= confidence && !add_rule(r, rule)) return false;
    }
    return true;
}

static int compare_rules(const void *a, const void *b)
{
    const spot_association *x = a, *y = b;

    if (x->confidence != y->confidence) return x->confidence > y->confidence ? -1 : 1;
    return x->from != y->from ? (x->from > y->from) - (x->from < y->from) : (x->to > y->to) - (x->to < y->to);
}

spot_status spot_itemsets_rules(spot_ctx *c, spot_association **out, int *n, const spot_itemsets *s, int transactions,
                                double confidence)
{
    rules r = { 0 };

    *out = NULL, *n = 0;
    for (int k = 0; k < s->sets; k++) {
        const int length = s->first[k + 1] - s->first[k];
        if (length > LONGEST_RULE)
            return free(r.rule), spot_fail(c, SPOT_INVALID, "rules of a set of %d items; at most %d can be divided in every "
                                           "way; ask for shorter sets", length, LONGEST_RULE);
        if (r.n > (size_t)1 << 30 || !divide_set(&r, s, k, transactions, confidence))
            return free(r.rule), spot_fail(c, SPOT_NOMEM, "no memory for more than %zu rules; ask for more confidence", r.n);
    }
    qsort(r.rule, r.n, sizeof *r.rule, compare_rules);
    *out = r.rule, *n = (int)r.n;
    return SPOT_OK;
}
