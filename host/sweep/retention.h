/* retention.h - what of an EC's stage values stays on the disk once its segment is written. */
#ifndef SPOTTER_RETENTION_H
#define SPOTTER_RETENTION_H

#include "sweep/pipeline.h"

/* Of the EC whose segment this is, removes what run->keep does not name. Again, or after a kill in the middle, removes the
 * rest. What cannot be removed stays: it is in nobody's way but the disk's. */
void spot_keep_only(const spot_ctx *c, const spot_run *run, const spot_segment *s);

/* Bytes that stay of an EC whose view has so many rows: stage values, pictures of `picture` bytes each, segment. */
double spot_keep_bytes(const spot_config *cfg, int rows, spot_kept keep, double picture);

#endif
