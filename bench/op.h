/* op.h - an op and its problems, written once. tests/check_op.h runs them on the CPU, on the emulator and on a GPU and
 * compares; a row of bench.h times them.
 *
 * `make` describes one problem: it takes the problem's arrays in the memory of the run's device, fills what is read and names
 * what is written. `run` calls the op for `count` problems in a row. Random numbers come from (number of the problem), so that
 * every run gets the same ones. */
#ifndef SPOTTER_OP_H
#define SPOTTER_OP_H

#include <stdbool.h>
#include <stddef.h>

#include "spotter/arena.h"
#include "spotter/ctx.h"

enum { SPOT_OP_SIZES = 8 };

typedef struct spot_op_run spot_op_run;

typedef struct {
    const char *name;
    size_t bytes;               /* of what describes one problem */
    void        (*make)(spot_op_run *r, void *problem, const int *size);
    spot_status (*run)(spot_op_run *r, void *problems, int count);
    spot_status (*check)(spot_op_run *r, void *problem);      /* SPOT_CHECK when the answer is wrong; NULL: nothing knows it */
    bool own_bits;              /* the emulator, too, may leave the CPU's bits by a result's tolerance */
} spot_op;

/* What an op writes: numbers of a kind that are the CPU's to `off` times the largest of them, or each to off (least + itself)
 * where least > 0. off 0: to the bit; INFINITY: not compared with the CPU's, only between schedules. */
typedef enum { SPOT_OP_BYTE, SPOT_OP_INT, SPOT_OP_FLOAT, SPOT_OP_DOUBLE } spot_op_kind;

typedef struct {
    const char *what;
    int number;                 /* of the problem */
    void *p;
    spot_op_kind kind;
    size_t count;
    double off, least;
    bool on_host;               /* a member of what describes the problem */
} spot_op_result;

struct spot_op_run {
    spot_ctx *c;
    const spot_op *op;
    int number;                 /* of the problem that is being made */
    int problems, results, taken, room, refused;
    bool misplaced;             /* all arrays lie on the host, and every call has to refuse them */
    void *problem;              /* (problems) */
    spot_op_result *result;
    void **memory;              /* (taken) */
    spot_arena scratch, gathered;
    spot_status status;         /* of the first take that failed */
};

/* Problem q is made of size[q], or of size[q % again] behind the last of `sizes`. close accepts what a failure left. */
spot_status spot_op_open(spot_ctx *c, spot_op_run **out, const spot_op *op, int problems, const int (*size)[SPOT_OP_SIZES],
                         int sizes, int again, bool misplaced);
void        spot_op_close(spot_op_run *r);

/* For `make`. Memory lives until the run is closed; NULL when there is none, which spot_op_open tells. */
void *spot_op_input(spot_op_run *r, const void *from, size_t bytes);          /* a copy; NULL of NULL */
void *spot_op_given(spot_op_run *r, void *from, size_t bytes);                /* frees `from`, which malloc gave */
float *spot_op_noise(spot_op_run *r, int id, size_t count);                   /* spot_noise */
void *spot_op_room(spot_op_run *r, size_t bytes);                             /* nothing in it, no result */
void *spot_op_out(spot_op_run *r, const char *what, spot_op_kind kind, size_t count, double off);
void *spot_op_both(spot_op_run *r, const char *what, const void *from, spot_op_kind kind, size_t count, double off);
void *spot_op_each(spot_op_run *r, const char *what, const void *from, spot_op_kind kind, size_t count, double off,
                   double least);
void  spot_op_part(spot_op_run *r, const char *what, void *part, spot_op_kind kind, size_t count, double off);
void  spot_op_told(spot_op_run *r, const char *what, void *member, spot_op_kind kind, size_t count, double off);

/* For `run`: scratch of the run's device, free until the next call; and one member of `count` problems in a row, as ops want
 * arrays of some. */
spot_status spot_op_scratch(spot_op_run *r, spot_arena **out, size_t bytes);
const void *spot_op_all(spot_op_run *r, const void *member, size_t bytes, int count);
#define SPOT_OP_ALL(r, problem, member, count) spot_op_all((r), &(problem)->member, sizeof (problem)->member, (count))

/* A call of an op in `run`. */
#define SPOT_OP(r, call) SPOT_TRY(spot_op_judge((r), (call)))
spot_status spot_op_judge(spot_op_run *r, spot_status s);

/* Results and inputs back on the host, for `check`. */
spot_status spot_op_fetch(spot_op_run *r, void *to, const void *from, size_t bytes);

size_t spot_op_size(spot_op_kind kind);

/* A spot_bench_kind's functions, of the run that is its state: run is all problems, check runs and asks the last one. */
spot_status spot_op_bench_check(spot_ctx *c, void *state);
spot_status spot_op_bench_run(spot_ctx *c, void *state);
void        spot_op_bench_close(spot_ctx *c, void *state);

#endif
