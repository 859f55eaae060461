/* bench.h - what `spotter bench` runs: rows that check the answer first and are then timed.
 *
 * A file bench_x.c defines one array of rows, ended by a row whose op is NULL, and is named in the list below. */
#ifndef SPOTTER_BENCH_H
#define SPOTTER_BENCH_H

#include "spotter/ctx.h"

typedef struct {
    const char *op, *name;     /* "render", "224 px" */
    double items;              /* units of work in one run: images, fits, iterations */
    const char *unit;          /* "images" */
    spot_status (*open)(spot_ctx *c, void **state);    /* makes the input; not timed */
    spot_status (*check)(spot_ctx *c, void *state);    /* SPOT_CHECK when the answer is wrong; NULL only of pure timing */
    spot_status (*run)(spot_ctx *c, void *state);      /* timed */
    void        (*close)(void *state);
} spot_bench_row;

#define SPOT_BENCHES(X) X(raster) X(model) X(embed) X(mixture)

#define X(name) extern const spot_bench_row spot_bench_##name[];
SPOT_BENCHES(X)
#undef X

#endif
