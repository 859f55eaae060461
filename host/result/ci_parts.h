/* ci_parts.h - what the formats of a report for continuous integration share. */
#ifndef SPOTTER_CI_PARTS_H
#define SPOTTER_CI_PARTS_H

#include <stdalign.h>

#include "result/ci_report.h"

/* A walk over the rows of one level (SPOT_CI_LEVELS: of all), in their order. */
typedef struct {
    const spot_ci_report *r;
    spot_ci_level level;
    long at;                           /* the row's number + 1; 0: before the first */
    const spot_ci_rule *rule;
    char name[SPOT_CI_NAME];
    alignas(max_align_t) char row[SPOT_QUANTITY_ITEM];
} spot_ci_walk;

bool spot_ci_next(spot_ci_walk *w);

/* Appends the columns of the row that have a value, of those that tables show: in one line, or a line for each with what it
 * is. The row's own number, and what the report has `named`, are left out of the one line. */
void spot_ci_columns(spot_text *out, const spot_ci_walk *w, bool lines);

int spot_ci_count(const spot_ci_report *r, spot_ci_level level);

#define SPOT_CI_JUNIT_TOP "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"spotter "
#define SPOT_CI_SARIF_TOP "{\n  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n  \"version\": \"2.1.0\",\n" \
                          "  \"runs\": [\n    {\n      \"tool\": {\n        \"driver\": {\n          \"name\": \"spotter\","

spot_status spot_ci_junit  (spot_ctx *c, spot_text *out, const spot_ci_report *r);
spot_status spot_ci_sarif  (spot_ctx *c, spot_text *out, const spot_ci_report *r);
spot_status spot_ci_summary(spot_ctx *c, spot_text *out, const spot_ci_report *r);

#endif
