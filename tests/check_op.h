/* check_op.h - the tests that every op's problems (bench/op.h) go through, each with a name of its own:
 *
 *   NAME_is_right                   on the CPU: what `check` knows; and the same bits by any number of threads, together or
 *                                   one by one (sanitizers: one by one). Runs without a device, too
 *   NAME_agrees                     all problems in one call: what `check` knows, the CPU's numbers, the same bits under every
 *                                   schedule, and no device memory left behind
 *   NAME_one_by_one                 each problem in a call of its own gives those numbers, too
 *   NAME_refuses_host_memory        every call of the op on a device says that an array lies on the host
 *
 * Results of the same bits rest on equal sequences of operations, and some of them on pow, exp and log, which a GPU's library
 * may round otherwise in the last bit. SPOT_BITS_WITHIN=1e-12 in the environment is a bound in the place of these bits,
 * relative to the largest number of a result, for a first run on a GPU; a second run must still give the same bits.
 */
#ifndef SPOTTER_TESTS_CHECK_OP_H
#define SPOTTER_TESTS_CHECK_OP_H

#include <math.h>

#include "check_cuda.h"
#include "op.h"

typedef struct {
    const spot_op *op;
    const int (*size)[SPOT_OP_SIZES];
    int sizes;
    int problems, again;        /* 0: one a size; else problem q behind the sizes is made of size[q % again] */
    int step;                   /* of the schedules that are tried; 0: all of them */
    bool on_host;               /* the op takes arrays on the host, so that it has none to refuse */
    int alone_step;             /* the same for problems one by one; 0: the second schedule alone; -1: a call takes one */
} op_row;

#define OP_ROW(op_, sizes_, ...) { .op = &(op_), .size = sizes_, .sizes = LEN(sizes_), __VA_ARGS__ }

static inline spot_op_run *open_run(spot_ctx *c, const op_row *row, bool misplaced)
{
    spot_op_run *r;

    CHECK_OK(c, spot_op_open(c, &r, row->op, row->problems ? row->problems : row->sizes, row->size, row->sizes,
                             row->again ? row->again : row->sizes, misplaced));
    return r;
}

/* All problems in one call, or each in its own. */
static inline spot_op_run *run_row(spot_ctx *c, const op_row *row, bool alone)
{
    spot_op_run *r = open_run(c, row, false);

    if (alone) CHECK_OK(c, row->op->run(r, r->problem, 0));
    for (int q = 0; q < (alone ? r->problems : 1); q++)
        CHECK_OK(c, row->op->run(r, (char *)r->problem + (size_t)q * row->op->bytes, alone ? 1 : r->problems));
    assert_int_equal(r->scratch.used, 0);
    return r;
}

/* Every result of a run, on the host. */
static inline void **fetch_results(spot_op_run *r)
{
    void **value = malloc((size_t)(r->results + 1) * sizeof *value);

    for (int i = 0; i < r->results; i++) {
        const spot_op_result *o = &r->result[i];
        value[i] = malloc(o->count * spot_op_size(o->kind) + 1);
        CHECK_OK(r->c, spot_op_result_back(r, value[i], o));
    }
    return value;
}

static inline void free_results(void **value, int results)
{
    for (int i = 0; value && i < results; i++) free(value[i]);
    free(value);
}

static inline double number_of(const void *p, size_t e, spot_op_kind kind)
{
    switch (kind) {
    case SPOT_OP_BYTE: return ((const unsigned char *)p)[e];
    case SPOT_OP_INT:  return ((const int *)p)[e];
    case SPOT_OP_FLOAT: return ((const float *)p)[e];
    default:           return ((const double *)p)[e];
    }
}

static inline double off(const spot_op_result *o, double want, double most)
{
    return o->off * (o->least > 0 ? o->least + fabs(want) : most);
}

/* The bound of SPOT_BITS_WITHIN; 0: none. */
static inline double bound_for_bits(void)
{
    const char *own = getenv("SPOT_BITS_WITHIN");

    return own ? atof(own) : 0;
}

/* Whether number e of a result is not the one wanted. most: the largest number wanted. */
static inline bool is_other(const spot_op_result *o, const char *got, const char *want, size_t e, double most, bool bits)
{
    const size_t size = spot_op_size(o->kind);
    const double g = number_of(got, e, o->kind), w = number_of(want, e, o->kind);

    return memcmp(got + e * size, want + e * size, size) && (bits || !(fabs(g - w) <= off(o, w, most)));
}

/* One result's numbers: to the bit, or within o->off of the largest one wanted. What nobody wrote has the same bits. */
static inline void compare_result(const spot_op_result *o, const char *got, const char *want, bool bits, const char *how)
{
    double most = 0;

    for (size_t e = 0; e < o->count; e++)
        if (isfinite(number_of(want, e, o->kind))) most = fmax(most, fabs(number_of(want, e, o->kind)));
    for (size_t e = 0; e < o->count; e++) {
        double g = number_of(got, e, o->kind), w = number_of(want, e, o->kind);
        if (is_other(o, got, want, e, most, bits))
            fail_msg("%s of problem %d, %s: number %zu of %zu is %.17g, wanted %.17g%s", o->what, o->number, how, e, o->count,
                     g, w, bits ? " to the bit" : "");
    }
}

/* A result as it is compared with the CPU's. *bits: whether to the bit. */
static inline spot_op_result as_the_cpu(const spot_op_result *result, bool *bits)
{
    spot_op_result o = *result;

    *bits = *bits || o.off == 0;
    if (!*bits || !(bound_for_bits() > 0) || o.kind == SPOT_OP_BYTE || o.kind == SPOT_OP_INT) return o;
    *bits = false;
    if (!(o.off > bound_for_bits())) o.off = bound_for_bits(), o.least = 0;
    return o;
}

static inline void compare_with_cpu(const spot_op_run *r, void **got, void **want, bool bits, const char *how)
{
    for (int i = 0; i < r->results; i++) {
        bool exact = bits;
        const spot_op_result o = as_the_cpu(&r->result[i], &exact);
        if (exact || !isinf(o.off)) compare_result(&o, got[i], want[i], exact, how);
    }
}

static inline void compare_results(const spot_op_run *r, void **got, void **want, bool bits, const char *how)
{
    for (int i = 0; i < r->results; i++)
        if (bits || !isinf(r->result[i].off))
            compare_result(&r->result[i], got[i], want[i], bits || r->result[i].off == 0, how);
}

static inline void check_all(spot_op_run *r)
{
    for (r->number = 0; r->op->check && r->number < r->problems; r->number++)
        CHECK_OK(r->c, r->op->check(r, (char *)r->problem + (size_t)r->number * r->op->bytes));
}

/* CUDA's numbers are the CPU's: on the emulator to the bit unless the op says otherwise, and the same under every schedule. */
static inline void op_on_cuda(const op_row *row, bool alone, int from, int step)
{
    spot_ctx cpu = check_ctx(2), c;
    spot_op_run *run = run_row(&cpu, row, false);
    bool bits = getenv("SPOT_EMULATOR") && !row->op->own_bits;
    void **want = fetch_results(run), **first = NULL;
    int results = run->results;

    check_all(run);
    spot_op_close(run);
    for (int s = from; s < LEN(schedules); s = schedule_after(s, step)) {
        size_t before, after, total;
        void **got;
        open_cuda(&c, s);
        CHECK_OK(&c, spot_device_room(&c, &before, &total));
        run = run_row(&c, row, alone);
        assert_int_equal(run->results, results);
        got = fetch_results(run);
        compare_with_cpu(run, got, want, bits, schedule(s));
        if (first) compare_results(run, got, first, true, schedule(s));
        if (!first) check_all(run);
        spot_op_close(run);
        if (alone && !bits) {                  /* what is not the CPU's to the bit is the batch's */
            void **batch = fetch_results(run = run_row(&c, row, false));
            compare_results(run, got, batch, true, "alone");
            free_results(batch, results);
            spot_op_close(run);
        }
        CHECK_OK(&c, spot_device_room(&c, &after, &total));
        if (getenv("SPOT_EMULATOR")) assert_int_equal(before, after);
        spot_device_close(&c);
        if (first) free_results(got, results);
        else       first = got;
    }
    free_results(first, results), free_results(want, results);
}

static inline void op_agrees(void **state)
{
    const op_row *row = *state;

    op_on_cuda(row, false, 0, row->step ? row->step : 1);
}

static inline void op_one_by_one(void **state)
{
    const op_row *row = *state;

    op_on_cuda(row, true, row->alone_step ? 0 : 1, row->alone_step ? row->alone_step : LEN(schedules));
}

static inline void op_is_right(void **state)
{
    const op_row *row = *state;
    void **want = NULL;
    int results = 0;

    for (int threads = 1 + SANITIZED; threads <= 3 - SANITIZED; threads++) {
        spot_ctx cpu = check_ctx(threads);
        spot_op_run *run = run_row(&cpu, row, threads == 2);
        void **got = fetch_results(run);
        check_all(run);
        if (want) compare_results(run, got, want, true, "by other threads");
        results = run->results;
        spot_op_close(run);
        if (want) free_results(got, results);
        else      want = got;
    }
    free_results(want, results);
}

static inline void op_refuses_host_memory(void **state)
{
    const op_row *row = *state;
    spot_op_run *r;
    spot_ctx c;

    open_cuda(&c, 0);
    r = open_run(&c, row, true);
    CHECK_OK(&c, row->op->run(r, r->problem, r->problems));
    assert_true(r->refused > 0);
    assert_int_equal(r->scratch.used, 0);
    spot_op_close(r);
    spot_device_close(&c);
}

enum { OP_TESTS = 4 };

/* A test of the file's own that needs a device; TEST(name) is one that does not. */
static test_list device_tests;
#define TEST_ON_CUDA(name) CHECK_TEST(device_tests, name, NULL, NULL)

/* main() of a test of ops: the rows and the file's own. */
static inline int run_ops(op_row *row, int rows)
{
    static const struct { const char *name; CMUnitTestFunction run; } all[OP_TESTS] = {
        { "is_right", op_is_right }, { "agrees", op_agrees }, { "one_by_one", op_one_by_one },
        { "refuses_host_memory", op_refuses_host_memory },
    };
    static char name[OP_TESTS * 64][80];
    int device = has_cuda(), kinds = device ? OP_TESTS : 1;

    assert_true(rows <= 64);
    for (int i = 0; i < kinds * rows; i++) {
        if (all[i % kinds].run == op_one_by_one && row[i / kinds].alone_step < 0) continue;
        if (all[i % kinds].run == op_is_right && is_watched()) continue;
        if (all[i % kinds].run == op_refuses_host_memory && row[i / kinds].on_host) continue;
        snprintf(name[i], sizeof *name, "%s_%s", row[i / kinds].op->name, all[i % kinds].name);
        add_test(&check_tests, (struct CMUnitTest){ name[i], all[i % kinds].run, NULL, NULL, &row[i / kinds] });
    }
    for (int i = 0; device && i < device_tests.count; i++) add_test(&check_tests, device_tests.test[i]);
    return run_all_tests();
}

#endif
