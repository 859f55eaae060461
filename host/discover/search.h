/* search.h - what the parts of spot_discover share. */
#ifndef SPOTTER_SEARCH_H
#define SPOTTER_SEARCH_H

#include <stdio.h>

#include "spotter/discover.h"

/* A class that is worth examining. */
typedef struct { int cls, n, wrong; } spot_candidate;

/* The classes that o->cls asks for: `*count` that are worth examining, and behind them `*left_out` others. *list is malloc'd
 * and the caller's, also after a failure; NULL before the call. SPOT_INPUT where no class is worth it. */
spot_status spot_candidates(spot_ctx *c, const spot_subject *s, const spot_discover_options *o, spot_candidate **list,
                            int *count, int *left_out);
spot_status spot_discover_check(spot_ctx *c, const spot_subject *s, const spot_discover_options *o);

/* A reducer that draws nothing at random, so that seeds share its map; a reducer that makes a map at all. */
bool spot_is_seedless(const spot_embed_config *cfg);
bool spot_is_map(const spot_embed_config *cfg);

/* Bytes needed to examine `count` classes together, without subject and findings. */
spot_bytes spot_group_needs(const spot_ctx *c, const spot_subject *s, const spot_discover_options *o,
                            const spot_candidate *candidates, int count);

/* Bytes of the findings of `count` classes; of the subject's arrays. */
size_t spot_findings_bytes(const spot_subject *s, const spot_discover_options *o, const spot_candidate *candidates,
                           int count);
size_t spot_subject_bytes(const spot_subject *s);

/* *together: how many of the candidates fit into memory at once; SPOT_NOMEM when the first alone does not. *needs: memory of
 * that group. */
spot_status spot_group_fit(spot_ctx *c, const spot_subject *s, const spot_discover_options *o, const spot_candidate *candidates,
                           int count, size_t results, int *together, spot_bytes *needs);

/* "class "cat"" or "all rows", for sentences; what does not print becomes '?'. Into text; returns it. */
const char *spot_class_words(char *text, size_t size, const spot_subject *s, int cls);

/* Hypotheses about a view as slices of the subject, into f, in a. `work` is for scratch. */
spot_status spot_slices_of(spot_ctx *c, spot_arena *a, spot_arena *work, spot_finding *f, const spot_subject *s,
                           const spot_view *view, const spot_hypotheses *found, int neighbours);

#endif
