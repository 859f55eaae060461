/* bench.h - the rows of `spotter bench`: each checks the result first and is then timed.
 *
 * A file bench_x.c defines one array of rows, ended by a row with op NULL, and is named in the list below. A row has sizes;
 * its kind opens, checks, runs and closes work of these sizes. On a GPU `run` may return before its work is done: the clock
 * is read after spot_device_wait. */
#ifndef SPOTTER_BENCH_H
#define SPOTTER_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "spotter/arena.h"
#include "spotter/ctx.h"
#include "spotter/model.h"

/* Work of one run, for the rates. 0: not counted. */
typedef struct {
    double items;              /* images, fits, iterations */
    double bytes;              /* necessary reads and writes, each tensor once a pass */
    double flops;              /* multiply and add: two */
    bool   matrix;             /* a large matrix product is the ceiling of flops */
} spot_bench_work;

typedef struct {
    spot_status (*open)(spot_ctx *c, void **state, const int *size, spot_bench_work *work);   /* makes the input; untimed */
    spot_status (*check)(spot_ctx *c, void *state);    /* SPOT_CHECK if the result is wrong */
    spot_status (*run)(spot_ctx *c, void *state);      /* timed */
    void        (*close)(spot_ctx *c, void *state);    /* accepts a state that open left half made */
} spot_bench_kind;

enum { SPOT_ON_CPU = 1, SPOT_ON_CUDA = 2, SPOT_ON_ALL = 3, SPOT_BENCH_SIZES = 8 };

typedef struct {
    const char *op, *name;     /* "render", "224 px" */
    const char *unit;          /* "images" */
    int on;
    const spot_bench_kind *kind;
    int size[SPOT_BENCH_SIZES], small[SPOT_BENCH_SIZES];   /* for kind->open; small: with --small */
} spot_bench_row;

#define SPOT_BENCHES(X) X(ceiling) X(raster) X(mesh) X(resize) X(blend) X(backdrop) X(photo) X(jpeg) X(conv) X(norm) X(tail) \
    X(alexnet) X(model) X(pairs) X(embed) X(mixture) X(domino) X(spotlight) X(barlow) X(forest) X(george) X(look) X(bpe) \
    X(linear) X(attention) X(tokens) X(clip) X(itemsets) X(rbf) X(background) X(lstm) X(examiner) X(gaussian) X(newer) X(proof)

#define X(name) extern const spot_bench_row spot_bench_##name[];
SPOT_BENCHES(X)
#undef X

/* Normal random numbers, rounded to p, with an address on host and device: number i of tensor `id`. fill writes the first
 * `count` into memory of c's device. Zeros would hide wrong indexing and run faster than data. */
float       spot_noise(int id, size_t i, spot_precision p);
spot_status spot_noise_fill(spot_ctx *c, void *to, int id, size_t count, spot_precision p);

/* Number i of a tensor on c's device. */
spot_status spot_number_at(spot_ctx *c, double *out, const void *tensor, size_t i, spot_precision p);

/* SPOT_CHECK unless |got - want| <= off; also for NaN. */
spot_status spot_bench_near(spot_ctx *c, const char *what, size_t i, double got, double want, double off);

#endif
