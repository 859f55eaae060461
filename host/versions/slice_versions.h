/* slice_versions.h - the judgement of spot_versions_compare, and a count that its parts share. */
#ifndef SPOTTER_SLICE_VERSIONS_H
#define SPOTTER_SLICE_VERSIONS_H

#include "versions/slice_versions_search.h"

/* Tests, merges and judges: fills v but its names. */
spot_status spot_versions_judge(spot_ctx *c, spot_versions *v, spot_compared_list *list,
                                const spot_subject *const s[SPOT_VERSIONS], const spot_versions_options *o);

/* Adds row `row` of class cls (SPOT_ALL_CLASSES: its own) to the counts. */
void spot_version_count(spot_version_counts *k, const spot_subject *const s[SPOT_VERSIONS], int row, int cls);

#endif
