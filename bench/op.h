/* op.h - an op and its problems, written once. tests/check_op.h runs them on the CPU, on the emulator and on a GPU and
 * compares; a row of bench.h times them.
 *
 * `make` describes one problem: it takes the problem's arrays in the memory of the run's device, fills the inputs and names the
 * results. `run` calls the op for `count` problems in a row. Random numbers depend only on the number of the problem, so that
 * every run gets the same ones. */
#ifndef SPOTTER_OP_H
#define SPOTTER_OP_H

#include <stdbool.h>
#include <stddef.h>

#include "spotter/arena.h"
#include "spotter/ctx.h"
#include "spotter/model.h"

enum { SPOT_OP_SIZES = 8 };

typedef struct spot_op_run spot_op_run;

typedef struct {
    const char *name;
    size_t bytes;               /* size of a problem's description */
    void        (*make)(spot_op_run *r, void *problem, const int *size);
    spot_status (*run)(spot_op_run *r, void *problems, int count);
    spot_status (*check)(spot_op_run *r, void *problem);      /* SPOT_CHECK if the result is wrong; NULL: no check */
    bool own_bits;              /* the emulator may differ from the CPU's bits by a result's tolerance */
} spot_op;

/* A tensor of a network. Its layout and type depend on the device (conv.h): on the CPU blocks of channels in fp32, on CUDA
 * pixels in `precision`. Tests compare it as (rows, pixels, channels) in fp32, where all NaNs are one. If its `off` is 0, the
 * CPU's numbers are rounded to `precision` first. */
typedef struct {
    int rows, live;             /* rows from `live` on pad the batch */
    int channels, pixels;
    int pitch;                  /* channels that a pixel takes on CUDA; those behind `channels` are 0 in live rows */
    spot_precision precision;
    int image;                  /* above 0: pixels a side of images, which CUDA has in the order of core/stem.h */
} spot_op_tensor;

/* A result of an op. Its numbers differ from the CPU's by at most `off` times the largest of them; with least > 0, each by at
 * most off (least + itself). off 0: the same bits; INFINITY: compared only between schedules, not with the CPU's. */
typedef enum { SPOT_OP_BYTE, SPOT_OP_INT, SPOT_OP_FLOAT, SPOT_OP_DOUBLE } spot_op_kind;

typedef struct {
    const char *what;
    int number;                 /* number of the problem */
    void *p;
    spot_op_kind kind;
    size_t count;
    double off, least;
    bool on_host;               /* a member of the problem's description */
    spot_op_tensor tensor;      /* rows 0: an array that has the same layout on every device */
} spot_op_result;

struct spot_op_run {
    spot_ctx *c;
    const spot_op *op;
    int number;                 /* number of the problem in `make` */
    int problems, results, taken, room, refused;
    bool misplaced;             /* all arrays are on the host, and every call must refuse them */
    void *problem;              /* (problems) */
    spot_op_result *result;
    void **memory;              /* (taken) */
    spot_arena scratch, gathered;
    spot_arena answers;         /* of calls that return arrays on the host */
    void *host;                 /* the newest array of spot_op_host */
    spot_status status;         /* of the first failed allocation */
};

/* Problem q has size[q], or size[q % again] after the last of `sizes`. close accepts the run after a failure. */
spot_status spot_op_open(spot_ctx *c, spot_op_run **out, const spot_op *op, int problems, const int (*size)[SPOT_OP_SIZES],
                         int sizes, int again, bool misplaced);
void        spot_op_close(spot_op_run *r);

/* For `make`. Memory lives until the run is closed; NULL without memory, and spot_op_open then fails. */
void *spot_op_input(spot_op_run *r, const void *from, size_t bytes);          /* a copy; NULL of NULL */
void *spot_op_given(spot_op_run *r, void *from, size_t bytes);                /* frees `from`, which malloc gave */
float *spot_op_noise(spot_op_run *r, int id, size_t count);                   /* spot_noise */
void *spot_op_host(spot_op_run *r, size_t bytes);                             /* zeros on the host */
void *spot_op_room(spot_op_run *r, size_t bytes);                             /* not filled, not a result */
void *spot_op_out(spot_op_run *r, const char *what, spot_op_kind kind, size_t count, double off);
void *spot_op_both(spot_op_run *r, const char *what, const void *from, spot_op_kind kind, size_t count, double off);
void *spot_op_each(spot_op_run *r, const char *what, const void *from, spot_op_kind kind, size_t count, double off,
                   double least);
void  spot_op_part(spot_op_run *r, const char *what, void *part, spot_op_kind kind, size_t count, double off);
void  spot_op_told(spot_op_run *r, const char *what, void *member, spot_op_kind kind, size_t count, double off);

/* For `make`: tensors of a network. `from` is (rows, pixels, channels) and is rounded to the precision. Noise is spot_noise in
 * that order, in rows from `live` on NaN. */
size_t spot_op_numbers(const spot_op_tensor *t);
float  spot_op_rounded(float v, spot_precision precision);
void  *spot_op_tensor_of(spot_op_run *r, spot_op_tensor t, const float *from);
void  *spot_op_tensor_noise(spot_op_run *r, spot_op_tensor t, int id);
void  *spot_op_tensor_blank(spot_op_run *r, spot_op_tensor t, spot_op_kind kind);      /* bytes or floats; unwritten */
void   spot_op_tensor_part(spot_op_run *r, const char *what, void *part, spot_op_tensor t, spot_op_kind kind, double off,
                           double least);

/* For `run`: scratch of the run's device, valid until the next call; and one member of `count` problems as an array. */
spot_status spot_op_scratch(spot_op_run *r, spot_arena **out, size_t bytes);
const void *spot_op_all(spot_op_run *r, const void *member, size_t bytes, int count);
spot_status spot_op_answers(spot_op_run *r, size_t bytes);      /* empties r->answers, on the host, of at least so many bytes */
#define SPOT_OP_ALL(r, problem, member, count) spot_op_all((r), &(problem)->member, sizeof (problem)->member, (count))

/* A call of an op in `run`. */
#define SPOT_OP(r, call) SPOT_TRY(spot_op_judge((r), (call)))
spot_status spot_op_judge(spot_op_run *r, spot_status s);

/* Results and inputs back on the host, for `check`; and number i of a tensor's (rows, pixels, channels). */
spot_status spot_op_fetch(spot_op_run *r, void *to, const void *from, size_t bytes);
spot_status spot_op_number(spot_op_run *r, double *out, const void *tensor, const spot_op_tensor *t, size_t i);

/* A result on the host, in the layout in which it is compared. */
spot_status spot_op_result_back(spot_op_run *r, void *to, const spot_op_result *result);

size_t spot_op_size(spot_op_kind kind);

/* The functions of a spot_bench_kind with a spot_op_run as state: open makes problems of one size; run does all problems; check
 * does, too, and checks the last. */
spot_status spot_op_bench_open(spot_ctx *c, void **state, const spot_op *op, int problems, const int *size);
spot_status spot_op_bench_check(spot_ctx *c, void *state);
spot_status spot_op_bench_check_all(spot_ctx *c, void *state);     /* each problem; r->number is the problem's */
spot_status spot_op_bench_run(spot_ctx *c, void *state);
void        spot_op_bench_close(spot_ctx *c, void *state);

#endif
