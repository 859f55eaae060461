/* bench.h - what `spotter bench` runs: rows that check the answer first and are then timed.
 *
 * A file bench_x.c defines one array of rows, ended by a row whose op is NULL, and is named in the list below. A row is
 * sizes; how to open, check, run and close work of these sizes is its kind's. On a GPU what `run` starts need not be done
 * when it returns: the clock is read after spot_device_wait. */
#ifndef SPOTTER_BENCH_H
#define SPOTTER_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "spotter/arena.h"
#include "spotter/ctx.h"
#include "spotter/model.h"

/* What one run does, for the rates. 0: not counted. */
typedef struct {
    double items;              /* images, fits, iterations */
    double bytes;              /* that must be read and written, each tensor once a pass */
    double flops;              /* multiply and add: two */
    bool   matrix;             /* flops that a large matrix product is the ceiling of */
} spot_bench_work;

typedef struct {
    spot_status (*open)(spot_ctx *c, void **state, const int *size, spot_bench_work *work);   /* makes the input; untimed */
    spot_status (*check)(spot_ctx *c, void *state);    /* SPOT_CHECK when the answer is wrong */
    spot_status (*run)(spot_ctx *c, void *state);      /* timed */
    void        (*close)(spot_ctx *c, void *state);    /* of a state that open left, be it half made */
} spot_bench_kind;

enum { SPOT_ON_CPU = 1, SPOT_ON_CUDA = 2, SPOT_ON_ALL = 3, SPOT_BENCH_SIZES = 8 };

typedef struct {
    const char *op, *name;     /* "render", "224 px" */
    const char *unit;          /* "images" */
    int on;
    const spot_bench_kind *kind;
    int size[SPOT_BENCH_SIZES], small[SPOT_BENCH_SIZES];   /* what kind->open reads; small: with --small */
} spot_bench_row;

#define SPOT_BENCHES(X) X(ceiling) X(raster) X(conv) X(norm) X(tail) X(model) X(pairs) X(embed) X(mixture) \
    X(domino) X(spotlight) X(barlow) X(george) X(look)

#define X(name) extern const spot_bench_row spot_bench_##name[];
SPOT_BENCHES(X)
#undef X

/* Normal random numbers, rounded to p, that host and device can both name: number i of tensor `id`. fill writes the first
 * `count` into memory of c's device. Zeros would hide wrong indexing and run faster than data does. */
float       spot_noise(int id, size_t i, spot_precision p);
spot_status spot_noise_fill(spot_ctx *c, void *to, int id, size_t count, spot_precision p);

/* Number i of a tensor on c's device. */
spot_status spot_number_at(spot_ctx *c, double *out, const void *tensor, size_t i, spot_precision p);

/* SPOT_CHECK unless |got - want| <= off, which NaN never is. */
spot_status spot_bench_near(spot_ctx *c, const char *what, size_t i, double got, double want, double off);

#endif
