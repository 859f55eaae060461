/* ward_trees.h - Ward's trees (fit/ward.h) of rows in host memory, on c's device. A GPU works on copies of the rows, and the
 * merges are copied back. */
#ifndef SPOTTER_WARD_TREES_H
#define SPOTTER_WARD_TREES_H

#include "fit/ward.h"

/* Fits `count` jobs, whose arrays lie on the host, with scratch of a and of work, which lies in the memory of c's device; on
 * the CPU it may be a. A counting work only counts and reads no more than n and d of each job. */
spot_status spot_ward_trees(spot_ctx *c, spot_arena *a, spot_arena *work, int count, spot_ward_job *jobs);

#endif
