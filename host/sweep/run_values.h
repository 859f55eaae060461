/* run_values.h - what a run's classifiers saw and its methods found, from its store alone: nothing is trained or searched. */
#ifndef SPOTTER_RUN_VALUES_H
#define SPOTTER_RUN_VALUES_H

#include "store/keys.h"
#include "store/pack.h"

typedef struct {
    const spot_config *cfg;
    spot_identity id;
    spot_store    store;
} spot_memory;

/* photos: of the run's source, NULL where its images are rendered. */
spot_status spot_memory_open(spot_ctx *c, spot_memory *m, const char *dir, const spot_config *cfg,
                             const struct spot_photos *photos);

/* Bytes of an arena for an EC's view of so many rows and one method's findings in it. */
size_t spot_memory_needs(const spot_memory *m, int rows);

/* An EC's test positives as the classifier saw them. *there false: the store has no view of them. */
spot_status spot_memory_view(spot_ctx *c, spot_arena *a, const spot_memory *m, uint32_t ec, spot_seen *seen, bool *there);

/* What method b found there. Map: two columns on which it is best seen, as in the run's pictures: its own, another method's or
 * principal components; `of` is the method whose it is, -1 for components, and map->at NULL where that failed. */
spot_status spot_memory_found(spot_ctx *c, spot_arena *a, const spot_memory *m, uint32_t ec, const spot_seen *seen, int b,
                              spot_hypotheses *found, spot_points *map, int *of, bool *there);

#endif
