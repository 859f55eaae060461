/* html_findings.h - what the page of findings holds, its slices (html_slices.c) and lists (html_lists.c).
 *
 *     rows      the first model's rows, 0 to n - 1; those of other models are matched to them by id
 *     places    the rows of one class of one model: examined together, and on one map
 *     maps      a place's points, once for each reduction
 *     findings  a method's slices of a place, or those of all methods, merged; members as indices into the place */
#ifndef SPOTTER_HTML_FINDINGS_H
#define SPOTTER_HTML_FINDINGS_H

#include "report/page/html.h"

enum { SPOT_PAGE_MODELS = 16 };

typedef struct { int model, finding, cls; } spot_page_place;       /* finding: the first on it */
typedef struct { int place, finding; bool shared; } spot_page_layer;       /* shared: the findings' map, not a method's */

typedef struct {
    spot_page *p;
    int models;
    const spot_subject *const *s;
    const spot_findings *const *f;
    const spot_discover_options *const *o;
    int  *row[SPOT_PAGE_MODELS];   /* model k, row i: the first model's row with that id */
    int  *mine[SPOT_PAGE_MODELS];  /* the first model's row i: model k's row with that id */
    int   findings;                /* number over all models */
    spot_page_place *place; int places;
    spot_page_layer *map;   int maps;
    int  *place_of, *map_of;       /* (findings) */
    int  *local;                   /* (rows): scratch, index of a row in the current place */
    uint8_t *at;                   /* (rows): scratch, confidences of the current place */
    spot_slice_list entries[SPOT_PAGE_MODELS];        /* of each model's slices */
} spot_findings_page;

/* The class of a row: cls, or its own if all classes are examined at once. */
int spot_page_class_of(const spot_subject *s, int i, int cls);

/* Adds a slice of model k, an object. r->local is of the finding's rows. */
void spot_page_slice(spot_findings_page *r, int k, const spot_finding *f, const spot_slice *s);

/* Add model k's summary, classes, entries and suspect labels; the first model's attributes, a bit for each row and item, and
 * each model's wrong rows. These count for the budget, and pictures come after them. */
void spot_page_list      (spot_findings_page *r, int k);
void spot_page_attributes(spot_findings_page *r);

/* Adds how much a model's features decide its answers, where that is known. */
void spot_page_decided(spot_page *p, const spot_decided *d);

#endif
