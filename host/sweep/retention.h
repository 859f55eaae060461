/* retention.h - removes stage values of an EC once its segment is written (sweep --keep). */
#ifndef SPOTTER_RETENTION_H
#define SPOTTER_RETENTION_H

#include "sweep/pipeline.h"

/* Removes the values of the segment's EC that run->keep does not name. After a kill in the middle, a second call removes the
 * rest. A file that cannot be removed stays: it only takes space. */
void spot_keep_only(const spot_ctx *c, const spot_run *run, const spot_segment *s);

/* Bytes that stay for an EC whose view has `rows` rows, with features[b] numbers for method b: stage values, pictures of
 * `picture` bytes each, segment. */
double spot_keep_bytes(const spot_config *cfg, const int *features, int rows, spot_kept keep, double picture);

#endif
