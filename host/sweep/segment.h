/* segment.h - the results of one EC of a sweep: the content of its result segment (work.h).
 *
 * Equal bytes for equal configs, however the run was cut, sharded or threaded: no times, hosts or counts of threads
 * (those are in the log). Failures that would come again are results too and stand in the segment ("a verdict", see
 * pipeline.h); a run does not try them again. */
#ifndef SPOTTER_SEGMENT_H
#define SPOTTER_SEGMENT_H

#include "spotter/config.h"
#include "spotter/store.h"
#include "store/keys.h"
#include "work/frame.h"

#define SPOT_SEGMENT_SCHEMA 1

/* The outcome of one method on the EC. With any status but SPOT_OK only the message has a meaning below it. */
typedef struct {
    char   name[80], settings[33];             /* label; hash of the method's settings */
    int    status;                             /* spot_status */
    char   message[1024];
    char   embedding[33];                      /* hash of the file it looked at; "": at none, or the file was not to be read */
    int    components;
    int    size[SPOT_MAX_HYPOTHESES];          /* of hypothesis k ... */
    double order[SPOT_MAX_HYPOTHESES];         /* ... the score it was ordered by */
    double mean_error[SPOT_MAX_HYPOTHESES];
    spot_score score;
} spot_outcome;

typedef struct {
    int      index;                            /* of the EC in the sweep */
    uint64_t seed;
    char     config[33], build[32], device[32];
    int      numbers;                          /* SPOT_NUMBERS of the build */
    spot_metric_config metric;
    char     layers[128], rollable[512];       /* "square circle"; "background.color square.size"; of pictures: "animal"; "" */
    int      images[SPOT_SPLITS];
    int      blindspots, specificity[SPOT_MAX_BLINDSPOTS];
    char     blindspot[SPOT_MAX_BLINDSPOTS][512];
    int      status;                           /* of training: any but SPOT_OK means that there is no lesson */
    char     message[1024];
    spot_learning lesson;                        /* without its seconds */
    int      methods;
    spot_outcome *method;                      /* room for (methods) at least; the segment's own */
} spot_segment;

/* sweep_study.c: a sweep, for all of work.h and frame.h. */
extern const spot_study spot_sweep_study;

/* Zeroed room for the outcomes of n methods; false: no memory. And the end of what a segment holds, or of nothing; free also
 * ends one that was malloc'd, or NULL. */
bool spot_segment_methods(spot_segment *s, int n);
void spot_segment_close(spot_segment *s);
void spot_segment_free(spot_segment *s);

void        spot_segment_path(char *path, size_t size, const char *dir, int index);
spot_status spot_segment_write(spot_ctx *c, const char *dir, spot_segment *s);

/* Into a zeroed segment, or one that was read before. A damaged one is no failure of the call: *state says so and `why` in a
 * few words what is wrong. */
spot_status spot_segment_read(spot_ctx *c, const char *dir, int index, spot_segment *s, spot_segment_state *state,
                              char *why, size_t why_size);

/* The indices of all segment files of a run, ascending, whole or not. *index is malloc'd. */
spot_status spot_segment_list(spot_ctx *c, const char *dir, int **index, int *n);

/* The study's functions (work.h): training and methods that failed. */
void spot_segment_describe(struct spot_json *j, void *segment);
int  spot_segment_failures(const void *segment, spot_status *first, const char **who, const char **message);

/* segment_fill.c: a segment with what is known before anything is computed, for spot_segment_close; what a method found into
 * its outcome. SPOT_NOMEM only. */
spot_status spot_segment_begin(spot_ctx *c, spot_segment *s, const spot_config *cfg, const spot_identity *id,
                               const spot_ec *ec);
void        spot_segment_note(spot_outcome *o, const spot_hypotheses *found);

const char *spot_profile_name(int profile);
const char *spot_failure_name(int failure);

#endif
