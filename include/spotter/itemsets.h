/* itemsets.h - sets of items that occur together often, and rules between them (Agrawal & Srikant 1994). The sets
 * are those of FP-growth (Han, Pei & Yin 2000). Transactions are images, items are keywords or attributes. */
#ifndef SPOTTER_ITEMSETS_H
#define SPOTTER_ITEMSETS_H

#include <stdint.h>

#include "spotter/arena.h"
#include "spotter/ctx.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of a 0/1 matrix: transaction t holds item[first[t]] .. item[first[t + 1] - 1], ascending, each once. */
typedef struct {
    int transactions, items;
    const int *first;              /* (transactions + 1) */
    const int *item;
} spot_baskets;

/* Set s is item[first[s]] .. item[first[s + 1] - 1], ascending, and lies in count[s] transactions. Sorted by length, then by
 * items. */
typedef struct {
    int  sets;
    int *first, *item, *count;
    void *owned;
} spot_itemsets;

/* All sets of at most `longest` items (0: any length) that lie in least_count transactions (1 or more) or in more. SPOT_NOMEM
 * names the number of sets where they do not fit into `most` (0: 50 million). Exact; equal bytes for any number of threads. */
typedef struct { int least_count, longest; size_t most; } spot_itemsets_rule;

spot_status spot_itemsets_find (spot_ctx *c, spot_itemsets *out, const spot_baskets *b, const spot_itemsets_rule *rule);
void        spot_itemsets_close(spot_itemsets *s);

/* Rule: from -> to (disjoint sets of `sets`, whose union is a set, too). support = count(from and to) / transactions,
 * confidence = support(from and to) / support(from), lift = confidence / support(to). */
typedef struct { int from, to, both; double support, confidence, lift; } spot_association;

/* Rules of at least this confidence between the sets found; *out is malloc'd, sorted by confidence (greatest first), then by
 * from and to. */
spot_status spot_itemsets_rules(spot_ctx *c, spot_association **out, int *n, const spot_itemsets *s, int transactions,
                                double confidence);

#ifdef __cplusplus
}
#endif
#endif
