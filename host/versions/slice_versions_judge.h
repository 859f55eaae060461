/* slice_versions_judge.h - the questions of a comparison and their verdicts.
 *
 *     slices of the search -> questions about named rows -> merged slices and questions about them -> tests, level by level
 *     (slice_versions_ask.h) -> verdicts -> rows outside
 */
#ifndef SPOTTER_SLICE_VERSIONS_JUDGE_H
#define SPOTTER_SLICE_VERSIONS_JUDGE_H

#include "versions/slice_versions_search.h"

/* Searches, asks, merges and judges: fills v but its names. */
spot_status spot_versions_judge(spot_ctx *c, spot_versions *v, spot_compared_list *list,
                                const spot_subject *const s[SPOT_VERSIONS], const spot_versions_options *o);

#endif
