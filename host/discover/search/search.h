/* search.h - types and functions that the parts of spot_discover share. */
#ifndef SPOTTER_SEARCH_H
#define SPOTTER_SEARCH_H

#include <stdio.h>

#include "spotter/discover.h"

/* A class that is worth examining; cls SPOT_ALL_CLASSES: all rows. */
typedef struct { int cls, n, wrong; } spot_candidate;

/* The classes that o->cls asks for: first `*count` that are worth examining, then `*left_out` others. Where none has a wrong
 * row, or none that is large enough, the first ones have none either, and are not searched. The caller sets *list to NULL and
 * frees it, also after a failure. SPOT_INPUT when rows are wrong and every class is too small. */
spot_status spot_candidates(spot_ctx *c, const spot_subject *s, const spot_discover_options *o, spot_candidate **list,
                            int *count, int *left_out);

/* Whether all rows are one more unit beside the classes (SPOT_EACH_AND_ALL); it is the last of the candidates to examine. */
bool spot_crosses_classes(const spot_subject *s, const spot_discover_options *o);

/* The classes that are searched now, and those that never are. */
typedef struct {
    const spot_candidate *list;            /* (count + left_out) */
    int count, left_out;
    struct spot_run_log *log;              /* of a run: gets a line when values were kept; NULL: none */
} spot_chosen;

/* Searches these classes without a proof; f is zeroed, and the options were checked. */
spot_status spot_search(spot_ctx *c, spot_findings *f, const spot_subject *s, const spot_discover_options *o,
                        const spot_chosen *k);
spot_status spot_discover_check(spot_ctx *c, const spot_subject *s, const spot_discover_options *o);
spot_status spot_discover_begin(spot_ctx *c, const spot_subject *s, const spot_discover_options *o);       /* and warns */

/* A reducer that draws no random numbers, so that all seeds share its map; a reducer that makes a map at all. */
bool spot_is_seedless(const spot_embed_config *cfg);
bool spot_is_map(const spot_embed_config *cfg);

/* Bytes needed to examine `count` classes together, without subject and findings. */
spot_bytes spot_group_needs(const spot_ctx *c, const spot_subject *s, const spot_discover_options *o,
                            const spot_candidate *candidates, int count);

/* Bytes of the findings of `count` classes; bytes of the subject's arrays. */
size_t spot_findings_bytes(const spot_subject *s, const spot_discover_options *o, const spot_candidate *candidates,
                           int count);
size_t spot_subject_bytes(const spot_subject *s);

/* Bytes that a search may take, with the subject's arrays: o->memory, else what there is. */
size_t spot_discover_limit(const spot_subject *s, const spot_discover_options *o);

/* *together: how many of the candidates fit into memory at once; SPOT_NOMEM when the first alone does not. *needs: memory of
 * that group. */
spot_status spot_group_fit(spot_ctx *c, const spot_subject *s, const spot_discover_options *o, const spot_candidate *candidates,
                           int count, size_t results, int *together, spot_bytes *needs);

/* Classes that spot_discover_run searches between two results that it keeps; as many are one batch of a GPU. */
enum { SPOT_CLASSES_AT_ONCE = 64 };

/* The classes to examine; at_once: so many are searched before the next ones. */
typedef struct { const spot_candidate *list; int count, at_once; } spot_examined;

/* *most: memory of spot_discover, with the subject's arrays (discover_memory.c). SPOT_NOMEM as spot_group_fit. */
spot_status spot_discover_needs(spot_ctx *c, const spot_subject *s, const spot_discover_options *o, spot_examined of,
                                spot_bytes *most);

/* spot_discover_run costs this; else as spot_discover_cost. */
spot_status spot_discover_run_cost(spot_ctx *c, const spot_subject *s, const spot_discover_options *o, spot_bytes *bytes,
                                   double *seconds);

/* *cls (*classes), to be freed: spot_slice_list.cls. */
spot_status spot_count_classes(spot_ctx *c, spot_class_errors **cls, int *classes, const spot_subject *s);

/* Writes "class "cat"" or "all rows" into text, for sentences, and returns it. Control characters become '?'. */
const char *spot_class_words(char *text, size_t size, const spot_subject *s, int cls);

/* Turns hypotheses about a view into slices of the subject: into f, with memory from a. `work` is for scratch. */
spot_status spot_slices_of(spot_ctx *c, spot_arena *a, spot_arena *work, spot_finding *f, const spot_subject *s,
                           const spot_view *view, const spot_hypotheses *found, int neighbours);

#endif
