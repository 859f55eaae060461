/* run_values.h - views, findings and maps of a run, from its store alone: nothing is trained or searched. */
#ifndef SPOTTER_RUN_VALUES_H
#define SPOTTER_RUN_VALUES_H

#include "store/keys.h"
#include "store/pack.h"

typedef struct {
    const spot_config *cfg;
    spot_identity id;
    spot_store    store;
} spot_run_values;

/* photos: of the run's source, NULL where its images are rendered. */
spot_status spot_run_values_open(spot_ctx *c, spot_run_values *m, const char *dir, const spot_config *cfg,
                                 const struct spot_photos *photos);

/* Bytes of an arena for an EC's view of so many rows and one method's findings in it. */
size_t spot_run_values_needs(const spot_run_values *m, int rows);

/* An EC's test positives as the classifier saw them. *there false: the store has no view of them. */
spot_status spot_run_values_view(spot_ctx *c, spot_arena *a, const spot_run_values *m, uint32_t ec, spot_seen *seen,
                                 bool *there);

/* The findings of method b in a view. map: two columns on which they are best seen, as in the run's pictures: the method's own
 * points, another method's, or principal components. `of` is the method that made the map, -1 for components; map->at is NULL
 * where that failed. */
spot_status spot_run_values_found(spot_ctx *c, spot_arena *a, const spot_run_values *m, uint32_t ec, const spot_seen *seen,
                                  int b, spot_hypotheses *found, spot_points *map, int *of, bool *there);

#endif
