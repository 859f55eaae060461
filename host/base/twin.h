/* twin.h - an array on the host and on c's device. */
#ifndef SPOTTER_TWIN_H
#define SPOTTER_TWIN_H

#include "spotter/arena.h"

/* On the CPU both pointers are equal. */
typedef struct { void *here, *on_device; size_t bytes; } spot_twin;

/* Takes `bytes` of `host`, and on a device of `work`, which lies in its memory. Counting arenas set no pointers: push and pull
 * are not for then. */
spot_status spot_twin_take(spot_ctx *c, spot_arena *host, spot_arena *work, spot_twin *t, size_t bytes);

/* push copies what the caller wrote to `here` to the device, pull what an op wrote there to the host. Nothing to do on the
 * CPU. */
spot_status spot_twin_push(spot_ctx *c, const spot_twin *t);
spot_status spot_twin_pull(spot_ctx *c, const spot_twin *t);

/* *x: `count` numbers in the memory of c's device. On the CPU `here`; else `on_device`; if that is NULL, a copy in work. */
spot_status spot_numbers_on_device(spot_ctx *c, spot_arena *work, const float **x, const float *here, const float *on_device,
                               size_t count);

#endif
