/* segment.h - all that one EC of a sweep left behind, as a JSON file that is whole or not there.
 *
 * Equal bytes for equal configs, however the run was cut, sharded or threaded: no times, hosts or counts of threads
 * (those are in the log). Failures that would come again are results too and stand in the segment ("a verdict", see
 * pipeline.h); a run does not try them again. */
#ifndef SPOTTER_SEGMENT_H
#define SPOTTER_SEGMENT_H

#include "spotter/config.h"
#include "spotter/store.h"
#include "store/keys.h"

#define SPOT_SEGMENT_SCHEMA 1
#define SPOT_SEGMENT_LIMIT  ((size_t)1 << 26)       /* bytes of a file */

/* What one method did on the EC. With any status but SPOT_OK only the message has a meaning below it. */
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
    spot_outcome method[SPOT_MAX_BDMS];
} spot_segment;

typedef enum { SPOT_SEGMENT_ABSENT, SPOT_SEGMENT_WHOLE, SPOT_SEGMENT_DAMAGED } spot_segment_state;

void        spot_segment_path(char *path, size_t size, const char *dir, int index);
spot_status spot_segment_write(spot_ctx *c, const char *dir, spot_segment *s);

/* A damaged one is no failure of the call: *state says so and `why` in a few words what is wrong. */
spot_status spot_segment_read(spot_ctx *c, const char *dir, int index, spot_segment *s, spot_segment_state *state,
                              char *why, size_t why_size);

/* The same of a file's n bytes, which are left as they are. *wrong is NULL, or in a few words what is. */
spot_status spot_segment_parse(spot_ctx *c, spot_segment *s, unsigned char *text, size_t n, int index, const char **wrong);

/* For those that go on whatever they find: a file that cannot be read is damaged, too. Its bytes are malloc'd, NULL where there
 * are none. SPOT_NOMEM only. */
spot_status spot_segment_load(spot_ctx *c, const char *dir, int index, spot_segment *s, unsigned char **bytes, size_t *n,
                              spot_segment_state *state, char *why, size_t why_size);

/* The first failure among training and methods, or SPOT_OK; *message is its sentence, *who the method or "training". */
spot_status spot_segment_failure(const spot_segment *s, const char **who, const char **message);

/* The indices of all segment files of a run, ascending, whole or not. *index is malloc'd. */
spot_status spot_segment_list(spot_ctx *c, const char *dir, int **index, int *n);

/* segment_fill.c: a segment with what is known before anything is computed; what a method found into its outcome. */
void spot_segment_begin(const spot_ctx *c, spot_segment *s, const spot_config *cfg, const spot_identity *id,
                        const spot_ec *ec);
void spot_segment_note(spot_outcome *o, const spot_hypotheses *found);

const char *spot_profile_name(int profile);
const char *spot_failure_name(int failure);

#endif
