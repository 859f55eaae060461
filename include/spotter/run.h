/* run.h - reads the run directory of a sweep: the result segment of each EC, and from the cache its view and what its methods
 * found. Nothing is trained or searched. */
#ifndef SPOTTER_RUN_H
#define SPOTTER_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "spotter/config.h"
#include "spotter/ctx.h"
#include "spotter/metric.h"
#include "spotter/model.h"
#include "spotter/photos.h"
#include "spotter/severity.h"
#include "spotter/work.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The result of one method on the EC. Where status is not SPOT_OK, only the message is valid below it. */
typedef struct {
    char   name[80], settings[33];             /* label; hash of the method's settings */
    int    status;                             /* spot_status */
    char   message[1024];
    char   embedding[33];                      /* hash of the embedding file; "": none, or it could not be read */
    int    components;
    int    size[SPOT_MAX_HYPOTHESES];          /* rows of hypothesis k */
    double order[SPOT_MAX_HYPOTHESES];         /* score by which it was ordered */
    double mean_error[SPOT_MAX_HYPOTHESES];
    spot_score score;
} spot_outcome;

typedef struct {
    int      index;                            /* of the EC in the sweep */
    uint64_t seed;
    char     config[33], build[32], device[32];
    int      numbers;                          /* SPOT_NUMBERS of the build */
    spot_metric_config metric;
    char     layers[128], rollable[512];       /* "square circle", "background.color square.size"; pictures: "animal", "" */
    int      images[SPOT_SPLITS];
    int      blindspots, specificity[SPOT_MAX_BLINDSPOTS];
    char     blindspot[SPOT_MAX_BLINDSPOTS][512];
    char     induce[16];                       /* how blindspots are planted (spot_induce_name); "": pictures, an old segment */
    double   strength;                         /* spot_induce_strength */
    int      status;                           /* of training; there is no lesson unless it is SPOT_OK */
    char     message[1024];
    spot_learning lesson;                      /* without its seconds */
    spot_severity severity;                    /* no rows outside and inside: an old segment */
    int      methods;
    spot_outcome *method;                      /* (methods) or more; owned by the segment */
} spot_segment;

/* methods: takes zeroed memory for the outcomes of n methods; false: out of memory. close: frees it; accepts a zeroed segment.
 * free: also frees s itself, which was malloc'd; accepts NULL. */
bool spot_segment_methods(spot_segment *s, int n);
void spot_segment_close(spot_segment *s);
void spot_segment_free(spot_segment *s);

/* Reads into a zeroed segment, or into one that was read before. A damaged file is no failure of the call: *state reports it
 * and `why` describes it in a few words. */
spot_status spot_segment_read(spot_ctx *c, const char *dir, int index, spot_segment *s, spot_segment_state *state,
                              char *why, size_t why_size);

/* The indices of all segment files of a run, whole or damaged, ascending. *index is malloc'd. */
spot_status spot_segment_list(spot_ctx *c, const char *dir, int **index, int *n);

/* Writes results.sqlite: tables of all whole segments that have this config key (text; "": any). Leaves out damaged ones.
 * Writes a temp file and renames it. */
spot_status spot_database_write(spot_ctx *c, const char *dir, const char *config);

/* Whether a method uses the features of a robust network. */
bool spot_wants_robust(const spot_config *cfg);

/* Opens the cache of a run. photos: those of the run's source, NULL for rendered images. Close it also after a failure. */
typedef struct spot_run_values spot_run_values;
spot_status spot_run_values_open (spot_ctx *c, spot_run_values **v, const char *dir, const spot_config *cfg,
                                  const spot_photos *photos);
void        spot_run_values_close(spot_run_values *v);           /* accepts NULL */

/* Arena bytes for an EC's view of that many rows and one method's findings in it. */
size_t spot_run_values_needs(const spot_run_values *v, int rows);

/* The classifier's view of an EC's test positives. *there is false where the cache has none. */
spot_status spot_run_values_view(spot_ctx *c, spot_arena *a, const spot_run_values *v, uint32_t ec, spot_view *view,
                                 spot_truth *truth, bool *there);

/* The findings of a method, and two columns to draw them on, as in the run's pictures: its own points, or another method's, or
 * principal components. */
typedef struct {
    spot_hypotheses *found;            /* the caller's; is_kept false: the cache has none */
    bool is_kept;
    spot_points map;                   /* at NULL where principal components failed */
    int of;                            /* the method that owns the map, -1 for components */
} spot_drawn_finding;

/* Those of method b in that view. */
spot_status spot_run_values_found(spot_ctx *c, spot_arena *a, const spot_run_values *v, uint32_t ec, const spot_view *view,
                                  int b, spot_drawn_finding *f);

#ifdef __cplusplus
}
#endif
#endif
