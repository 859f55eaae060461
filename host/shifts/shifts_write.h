/* shifts_write.h - the files that a run of shifts derives from its segments, and pieces of its evaluation. */
#ifndef SPOTTER_SHIFTS_WRITE_H
#define SPOTTER_SHIFTS_WRITE_H

#include "result/result.h"
#include "spotter/shifts.h"

/* spot_shifts_read; y is spot_shifts_study. */
spot_status spot_shifts_collect(spot_ctx *c, const struct spot_study *y, spot_shifts_results *r, const char *dir);

/* Results with their sentences: answers for each source, how to read them, settings that are not the paper's. */
typedef struct { const spot_shifts_results *r; spot_words source[SPOT_MAX_SOURCES], notes, differs; } spot_shifts_account;

spot_status spot_shifts_tell(spot_ctx *c, spot_shifts_account *a, const spot_shifts_results *r);
void        spot_shifts_account_close(spot_shifts_account *a);

/* shifts.json of an account; shifts.csv of results. */
extern const spot_quantity spot_shifts_parts[];

/* shifts_covers.c: adds an object of one; the object "coverage" of a folder. */
void spot_shift_cover_put (spot_json *j, const char *key, const spot_shift_cover *v);
void spot_shift_covers_put(spot_json *j, const spot_shift_result *u);

/* DIR/shifts.json, DIR/shifts.csv and, where pictures are compared with real ones, DIR/coverage.csv, from all segments of the
 * config with this key; nothing while some are missing (r->missing). A file that has these bytes already is left as it is. r
 * receives the results; close it also after a failure. */
spot_status spot_shifts_write(spot_ctx *c, const struct spot_study *y, spot_shifts_results *r, const char *dir,
                              const char *key);

/* shift_gaps.c: r->source[].gap. Nothing where models have not answered the real pictures. */
spot_status spot_shift_gaps(spot_ctx *c, spot_shifts_results *r);

#endif
