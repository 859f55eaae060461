/* segment.h - writing a result segment (spotter/run.h): what the sweep alone does with one.
 *
 * Equal bytes for equal configs, however the run was cut, sharded or threaded: no times, hosts or counts of threads
 * (those are in the log). Failures that would come again are results too and stand in the segment ("a verdict", see
 * pipeline.h); a run does not try them again. */
#ifndef SPOTTER_SEGMENT_H
#define SPOTTER_SEGMENT_H

#include "spotter/run.h"
#include "store/keys.h"
#include "work/frame.h"

#define SPOT_SEGMENT_SCHEMA 1

/* sweep_study.c: a sweep, for all of work.h and frame.h. */
extern const spot_study spot_sweep_study;

void        spot_segment_path(char *path, size_t size, const char *dir, int index);
spot_status spot_segment_write(spot_ctx *c, const char *dir, spot_segment *s);

/* database.c: spot_database_write, from the segments of that study, which is the sweep. */
spot_status spot_database_fill(spot_ctx *c, const spot_study *y, const char *dir, const char *config);

/* The study's functions (work.h): training and methods that failed. */
void spot_segment_describe(struct spot_json *j, void *segment);
int  spot_segment_failures(const void *segment, spot_status *first, const char **who, const char **message);

/* segment_fill.c: a segment with what is known before anything is computed, for spot_segment_close; what a method found into
 * its outcome. SPOT_NOMEM only. */
spot_status spot_segment_begin(spot_ctx *c, spot_segment *s, const spot_config *cfg, const spot_identity *id,
                               const spot_ec *ec);
void        spot_segment_note(spot_outcome *o, const spot_hypotheses *found);

#endif
