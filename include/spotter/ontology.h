/* ontology.h - keywords of images as a graph, and the expansion of an image's keywords along it (paper 003, 4.1 and
 * appendix A).
 *
 * A directed edge a -> b has the weight confidence(a -> b) = support(a, b) / support(a), the share of the images with a that
 * also have b (eq. 2). */
#ifndef SPOTTER_ONTOLOGY_H
#define SPOTTER_ONTOLOGY_H

#include "spotter/ctx.h"
#include "spotter/itemsets.h"

#ifdef __cplusplus
extern "C" {
#endif

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
