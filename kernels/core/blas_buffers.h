/* blas_buffers.h - the addresses that OpenBLAS takes beside its callers' matrices. */
#ifndef SPOTTER_BLAS_BUFFERS_H
#define SPOTTER_BLAS_BUFFERS_H

#include "spotter/ctx.h"

/* Where this process may not take all addresses that it likes (ulimit -v or -d, or a machine that does not overcommit), takes
 * OpenBLAS' buffers for products on `threads` threads now: at a first product without room for its buffer, OpenBLAS tries for
 * ever. SPOT_NOMEM when the buffers, the threads' stacks and a little more do not fit. Later calls take what is missing. */
spot_status spot_blas_buffers(spot_ctx *c, int threads);

#endif
