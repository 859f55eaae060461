/* class_result.h - the result of a unit of spotter discover: what the searches of one class found.
 *
 * With a proof it holds the slices as they were found and the rows that joined them; their tests, their correction and the list
 * that a user sees follow from the results of all classes. Without a proof it holds what became of each method; the slices
 * themselves lie in DIR/cache, and what is missing there is computed again. */
#ifndef SPOTTER_CLASS_RESULT_H
#define SPOTTER_CLASS_RESULT_H

#include "discover/proof/judge.h"

struct spot_json;

/* Rows as hexadecimal digits: digit i has rows 4 i to 4 i + 3 of the class, the first in its lowest bit. */
typedef struct { int bdm, part, rank; uint64_t seed; double score; bool backed; char *found, *judged; spot_rule rule; }
    spot_class_piece;

/* The search of a method with a seed: its slices, or why it has none. */
typedef struct { int bdm, slices, status; uint64_t seed; char message[1024]; } spot_class_search;

typedef struct {
    int  index, numbers;
    char config[33];
    int  cls, rows, wrong;             /* as in spot_candidate */
    bool again;                        /* a search failed that may succeed another time: the unit is computed again */
    bool proved;
    int  left, tried[2], failed[2], failure;           /* as in spot_proved, and here to `piece` only with a proof */
    double best;
    char why[1024];
    int  pieces;
    spot_class_piece *piece;
    int  searches;
    spot_class_search *search;
} spot_class_result;

void spot_class_result_describe(struct spot_json *j, void *result);
void spot_class_result_close(void *result);

/* From class i of a proof that was searched; of the findings of one class. They set nothing but what was found. */
spot_status spot_class_result_of_proof(spot_ctx *c, spot_class_result *r, const spot_proving *j, int i);
spot_status spot_class_result_of_search(spot_ctx *c, spot_class_result *r, const spot_finding *f, int count);

/* Puts the results (j->classes) of all classes into a proof that is open, as if it had searched. */
spot_status spot_class_results_load(spot_proving *j, const spot_class_result *r);

#endif
