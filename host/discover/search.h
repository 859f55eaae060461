/* search.h - what the parts of spot_discover share. */
#ifndef SPOTTER_SEARCH_H
#define SPOTTER_SEARCH_H

#include <stdio.h>

#include "spotter/discover.h"

/* A class that is worth examining. */
typedef struct { int cls, n, wrong; } spot_candidate;

/* Those of o->cls into `all`, which has room for s->classes + 1; the others into `left`, likewise. SPOT_INPUT where none is. */
spot_status spot_candidates(spot_ctx *c, const spot_subject *s, const spot_discover_options *o, spot_candidate *all, int *count,
                            int *left, int *left_out);
spot_status spot_discover_check(spot_ctx *c, const spot_subject *s, const spot_discover_options *o);

/* Whether the reducer draws nothing at random, so that seeds share its map; and whether it makes a map at all. */
bool spot_is_seedless(const spot_embed_config *cfg);
bool spot_is_map(const spot_embed_config *cfg);

/* Of the work on some classes at once, without subject and findings; of the findings of all; of the subject's arrays. */
spot_bytes spot_group_needs(const spot_ctx *c, const spot_subject *s, const spot_discover_options *o, const spot_candidate *x,
                            int count);
size_t spot_findings_bytes(const spot_subject *s, const spot_discover_options *o, const spot_candidate *x, int count);
size_t spot_subject_bytes(const spot_subject *s);

/* How many of x can go together; SPOT_NOMEM when the first alone cannot. peak: of the group, or NULL. */
spot_status spot_group_fit(spot_ctx *c, const spot_subject *s, const spot_discover_options *o, const spot_candidate *x,
                           int count, size_t results, int *together, spot_bytes *needs);

/* Seconds that all of it takes, at a guess; NaN: none is to be had in a moment. */
void spot_discover_pace(spot_ctx *c, double *seconds, const spot_subject *s, const spot_discover_options *o,
                        const spot_candidate *of, int count);

/* "class "cat"" or "all rows", for sentences; what does not print becomes '?'. Into text; returns it. */
const char *spot_class_words(char *text, size_t size, const spot_subject *s, int cls);

/* The hypotheses about a view as slices of the subject, in f's arena; work is for scratch. */
spot_status spot_slices_of(spot_ctx *c, spot_arena *a, spot_arena *work, spot_finding *f, const spot_subject *s,
                           const spot_view *view, const spot_hypotheses *found, int neighbours);

#endif
