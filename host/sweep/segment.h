/* segment.h - writes the result segment of an EC (its struct is in spotter/sweep.h).
 *
 * Equal configs give equal bytes for any cut into waves, shards or threads, so a segment holds no times, hosts or numbers of
 * threads (the log has them). Verdicts (steps/chain.h) are results, too: a later run does not try them again. */
#ifndef SPOTTER_SEGMENT_H
#define SPOTTER_SEGMENT_H

#include "spotter/sweep.h"
#include "study/frame.h"
#include "study/keys.h"

#define SPOT_SEGMENT_SCHEMA 1

/* sweep_study.c: the sweep for work.h and frame.h. */
extern const spot_study spot_sweep_study;

void        spot_segment_path(char *path, size_t size, const char *dir, int index);
spot_status spot_segment_write(spot_ctx *c, const char *dir, spot_segment *s);

/* database.c: writes results.sqlite from the sweep's segments of this config ("": of any); y is spot_sweep_study. */
spot_status spot_database_fill(spot_ctx *c, const spot_study *y, const char *dir, const char *config);

/* The study's functions (work.h). Failures are those of training and of methods. */
void spot_segment_describe(struct spot_json *j, void *segment);
int  spot_segment_failures(const void *segment, spot_status *first, const char **who, const char **message);

/* segment_fill.c. begin: fills what is known before anything is computed; free with spot_segment_close; SPOT_NOMEM is the
 * only failure. note: copies the sizes and scores of hypotheses into the method's outcome. */
spot_status spot_segment_begin(spot_ctx *c, spot_segment *s, const spot_config *cfg, const spot_identity *id,
                               const spot_ec *ec);
void        spot_segment_note(spot_outcome *o, const spot_hypotheses *found);

#endif
