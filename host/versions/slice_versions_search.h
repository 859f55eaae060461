/* slice_versions_search.h - the slices of two versions that are compared, and the rows to compare them on. */
#ifndef SPOTTER_SLICE_VERSIONS_SEARCH_H
#define SPOTTER_SLICE_VERSIONS_SEARCH_H

#include "spotter/versions.h"

/* A piece with its rows of the subject, ascending. */
typedef struct {
    spot_version_piece is;
    int *row, *at;             /* (rows) rows of its search and compared ones; (is.compared) the latter; one block */
    int  rows;
    char *rule;                /* spot_version_slice.rule, or NULL */
} spot_compared;

typedef struct { int n, room; spot_compared *of; } spot_compared_list;

/* Finds the slices that are compared, and the rows to compare them on; *features says whose features were searched. The caller
 * sets *list to zeros and frees it, also after a failure. */
spot_status spot_versions_search(spot_ctx *c, spot_compared_list *list, const spot_subject *const s[SPOT_VERSIONS],
                                 const spot_versions_options *o, spot_version_features *features);
void        spot_compared_free(spot_compared_list *list);

/* Whether the class that s predicts is known, and not only the probability of the true one. */
static inline bool spot_knows_predicted(const spot_subject *s) { return s->prob || s->predicted; }

#endif
