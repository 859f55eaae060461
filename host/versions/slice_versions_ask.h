/* slice_versions_ask.h - the tests of all questions, level by level. */
#ifndef SPOTTER_SLICE_VERSIONS_ASK_H
#define SPOTTER_SLICE_VERSIONS_ASK_H

#include "versions/slice_versions_spread.h"

/* Adds a question about rows (n) of class cls, or of their own, to q->of, which has room for it. Its counts have their margins.
 * Levels come in their order. */
void spot_questions_add(spot_questions *q, spot_version_level level, spot_version_counts *k, const int *row, int n, int cls);

/* Counts, tests and corrects: fills the counts of all questions, whose margin is there, and v->spread and v->tests. */
spot_status spot_questions_ask(spot_ctx *c, spot_questions *q, spot_versions *v);

#endif
