/* describe_terms.h - words of a group of rows from a column of free text of the table, by the enrichment of its terms. */
#ifndef SPOTTER_DESCRIBE_TERMS_H
#define SPOTTER_DESCRIBE_TERMS_H

#include "spotter/describe.h"

/* word (groups, most): the terms that a group's rows have more often than the other rows of the class, with p of 0.05 at most,
 * the greatest score first; of equal scores the earlier item. Terms are items "NAME has TERM" of a column whose items all are
 * (spotter/describe.h). Entries borrow the names. kept (groups): their number, 0 where there are no terms.
 *
 *     score    z of the log odds with an informative Dirichlet prior (Monroe, Colaresi and Quinn 2008): with y of n terms in
 *              the group, y' of n' in the other rows, and a of a0 expected in ten rows of the class,
 *              log((y + a) / (n + a0 - y - a)) - log((y' + a) / (n' + a0 - y' - a)), over sqrt(1 / (y + a) + 1 / (y' + a))
 *     auc      probability that a row of the group has the term and another row has not; ties count 1/2
 *     p        hypergeometric tail of the group's rows with the term, times the number of terms, 1 at most
 *
 * SPOT_NOMEM. The bits do not depend on the number of threads. */
spot_status spot_terms_find(spot_ctx *c, spot_word *word, int *kept, int most, const spot_conjunctions_problem *p);

/* Bytes of the findings that a slice with `most` words and a conjunction takes. */
static inline size_t spot_description_bytes(int most)
{
    return spot_arena_room((size_t)most * sizeof(spot_word)) + spot_arena_room(sizeof(spot_conjunction));
}

#endif
