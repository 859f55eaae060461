/* dnnl_copy.h - weights from one of oneDNN's orders and types into another, on the CPU. */
#ifndef SPOTTER_DNNL_COPY_H
#define SPOTTER_DNNL_COPY_H

#include <oneapi/dnnl/dnnl.h>

#include "spotter/ctx.h"

/* The values of `src`, which lie as *from says, into `dst` as *to says. It runs on c->threads threads, whatever OMP_NUM_THREADS
 * says; the bits do not depend on them. */
dnnl_status_t spot_dnnl_copy(spot_ctx *c, dnnl_stream_t stream, const dnnl_memory_desc_t *to, void *dst,
                             const dnnl_memory_desc_t *from, const void *src);

#endif
