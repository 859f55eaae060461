/* ontology.h - keywords of images as a graph, and the expansion of an image's keywords along it (paper 003, 4.1 and
 * appendix A).
 *
 * A directed edge a -> b has the weight confidence(a -> b) = support(a, b) / support(a), the share of the images with a that
 * also have b (eq. 2). */
#ifndef SPOTTER_ONTOLOGY_H
#define SPOTTER_ONTOLOGY_H

#include <stdint.h>

#include "spotter/arena.h"
#include "spotter/ctx.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- item sets ---- */

/* Sets of items that occur together often, and rules between them (Agrawal & Srikant 1994). The sets
 * are those of FP-growth (Han, Pei & Yin 2000). Transactions are images, items are keywords or attributes. */

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

/* ---- ontologies ---- */

typedef struct {
    int    keywords;               /* all, also those without an edge */
    int    images;
    double support, confidence;    /* least values: a rarer keyword is no node, a weaker rule no edge */
    double *share;                 /* (keywords): support */
    int    *first, *to;            /* edges of keyword a: first[a] .. first[a + 1] - 1, by descending weight, then by keyword */
    double *weight;                /* (edges) */
    void   *owned;
} spot_ontology;

/* b: images and their keywords. rows: NULL, or those images alone (n of them), for a graph of one class. */
spot_status spot_ontology_build(spot_ctx *c, spot_ontology *o, const spot_baskets *b, const int *rows, int n, double support,
                                double confidence);
void        spot_ontology_close(spot_ontology *o);

/* The worth of a path: the product of its weights; or the paper's second measure,
 * max(0, w1 - sum over i >= 2 of (1 - w_i)^alpha); or 1 / (1 + number of edges). */
typedef enum { SPOT_PATH_PRODUCT, SPOT_PATH_DECAY, SPOT_PATH_HOPS } spot_path_measure;

typedef struct { int keyword, level; double path; } spot_expanded;     /* level 0: detected; path: of the best one from there */

typedef struct {
    int    least;                  /* MINKWS: stop when there are so many keywords */
    int    levels;                 /* MAXITS: most levels; 0: detected keywords alone */
    int    most;                   /* keep so many: lowest level first, then the best path, then the keyword's number; 0: all */
    int    measure;                /* spot_path_measure */
    double alpha;                  /* of SPOT_PATH_DECAY, 1 or more */
} spot_expansion;

/* A5: level i + 1 has the neighbours of level i that are in no level before. out (o->keywords) gets *n entries, in the order
 * of `most`. Detected keywords that are no node of the graph (too rare) are level 0 all the same. */
spot_status spot_ontology_expand(spot_ctx *c, spot_expanded *out, int *n, const spot_ontology *o, const int *detected,
                                 int count, const spot_expansion *rule);

#ifdef __cplusplus
}
#endif
#endif
