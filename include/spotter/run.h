/* run.h - what a sweep left in its run directory, read back: the result segment of each EC; from the cache what its
 * classifiers saw and its methods found. Nothing is trained or searched. */
#ifndef SPOTTER_RUN_H
#define SPOTTER_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "spotter/config.h"
#include "spotter/ctx.h"
#include "spotter/metric.h"
#include "spotter/model.h"
#include "spotter/photos.h"
#include "spotter/work.h"

#ifdef __cplusplus
extern "C" {
#endif

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
    spot_outcome *method;                      /* room for (methods) at least; the segment's own */
} spot_segment;

/* Zeroed room for the outcomes of n methods; false: no memory. And the end of what a segment holds, or of nothing; free also
 * ends one that was malloc'd, or NULL. */
bool spot_segment_methods(spot_segment *s, int n);
void spot_segment_close(spot_segment *s);
void spot_segment_free(spot_segment *s);

/* Into a zeroed segment, or one that was read before. A damaged one is no failure of the call: *state says so and `why` in a
 * few words what is wrong. */
spot_status spot_segment_read(spot_ctx *c, const char *dir, int index, spot_segment *s, spot_segment_state *state,
                              char *why, size_t why_size);

/* The indices of all segment files of a run, ascending, whole or not. *index is malloc'd. */
spot_status spot_segment_list(spot_ctx *c, const char *dir, int **index, int *n);

/* results.sqlite: the segments once more, as tables to be asked. From all whole segments of the run that are of this config
 * (its key as text; "": of any); damaged ones are left out. Written beside and renamed. */
spot_status spot_database_write(spot_ctx *c, const char *dir, const char *config);

/* Some method looks at the features of a robust network. */
bool spot_wants_robust(const spot_config *cfg);

/* The cache of a run. photos: of the run's source, NULL where its images are rendered. Close it, also after a failure. */
typedef struct spot_run_values spot_run_values;
spot_status spot_run_values_open (spot_ctx *c, spot_run_values **v, const char *dir, const spot_config *cfg,
                                  const spot_photos *photos);
void        spot_run_values_close(spot_run_values *v);           /* accepts NULL */

/* Bytes of an arena for an EC's view of so many rows and one method's findings in it. */
size_t spot_run_values_needs(const spot_run_values *v, int rows);

/* An EC's test positives as the classifier saw them. *there false: the cache has no view of them. */
spot_status spot_run_values_view(spot_ctx *c, spot_arena *a, const spot_run_values *v, uint32_t ec, spot_view *view,
                                 spot_truth *truth, bool *there);

/* Method b's findings in that view. Map: two columns on which it is best seen, as in the run's pictures: its own, another
 * method's or principal components; `of` is the method whose it is, -1 for components, and map->at NULL where that failed. */
spot_status spot_run_values_found(spot_ctx *c, spot_arena *a, const spot_run_values *v, uint32_t ec, const spot_view *view,
                                  int b, spot_hypotheses *found, spot_points *map, int *of, bool *there);

#ifdef __cplusplus
}
#endif
#endif
