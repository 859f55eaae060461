/* op.c - the memory of an op's problems, on any device. */
#include "op.h"

#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "core/device.h"

enum { UNWRITTEN = 0xFF };     /* NaN as float and as double */

size_t spot_op_size(spot_op_kind kind)
{
    static const size_t bytes[] = { 1, sizeof(int), sizeof(float), sizeof(double) };

    return bytes[kind];
}

static void *fail(spot_op_run *r, spot_status s)
{
    if (r->status == SPOT_OK) r->status = s;
    return NULL;
}

static void *take_memory(spot_op_run *r, size_t bytes)
{
    void *p = NULL, *more;

    if (r->taken == r->room) {
        more = realloc(r->memory, (size_t)(2 * r->room + 64) * sizeof *r->memory);
        if (!more) return fail(r, spot_fail(r->c, SPOT_NOMEM, "no memory for the problems of %s", r->op->name));
        r->memory = more;
        r->room = 2 * r->room + 64;
    }
    if (r->misplaced) {
        p = aligned_alloc(SPOT_ALIGN, spot_arena_room(bytes + 1));
        if (!p) return fail(r, spot_fail(r->c, SPOT_NOMEM, "no memory for the problems of %s", r->op->name));
    } else {
        spot_status s = spot_device_take(r->c, &p, bytes);
        if (s != SPOT_OK) return fail(r, s);
    }
    return r->memory[r->taken++] = p;
}

static void fill_array(spot_op_run *r, void *to, const void *from, size_t bytes)
{
    if (!to || !bytes) return;
    if (r->misplaced) memcpy(to, from, bytes);
    else fail(r, spot_device_copy(r->c, to, from, bytes));
}

void *spot_op_input(spot_op_run *r, const void *from, size_t bytes)
{
    void *p = from ? take_memory(r, bytes) : NULL;

    fill_array(r, p, from, bytes);
    return p;
}

void *spot_op_given(spot_op_run *r, void *from, size_t bytes)
{
    void *p = spot_op_input(r, from, bytes);

    free(from);
    return p;
}

float *spot_op_noise(spot_op_run *r, int id, size_t count)
{
    float *p = take_memory(r, count * sizeof *p);

    if (p && r->misplaced) memset(p, 0, count * sizeof *p);
    else if (p) fail(r, spot_noise_fill(r->c, p, id, count, SPOT_FP32));
    return p;
}

void *spot_op_room(spot_op_run *r, size_t bytes) { return take_memory(r, bytes); }

enum { LINK = 64 };             /* each array on the host begins behind the address of the one before it */

void *spot_op_host(spot_op_run *r, size_t bytes)
{
    void **p = aligned_alloc(LINK, (LINK + bytes + LINK - 1) / LINK * LINK);

    if (!p) return fail(r, spot_fail(r->c, SPOT_NOMEM, "no memory for the problems of %s", r->op->name));
    memset(p, 0, LINK + bytes);
    *p = r->host;
    r->host = p;
    return (char *)p + LINK;
}

static void add(spot_op_run *r, spot_op_result result)
{
    void *more = realloc(r->result, (size_t)(r->results + 1) * sizeof *r->result);

    if (!more) {
        fail(r, spot_fail(r->c, SPOT_NOMEM, "no memory for the results of %s", r->op->name));
        return;
    }
    r->result = more;
    r->result[r->results++] = result;
}

void *spot_op_both(spot_op_run *r, const char *what, const void *from, spot_op_kind kind, size_t count, double off)
{
    size_t bytes = count * spot_op_size(kind);
    unsigned char *blank = malloc(bytes + 1);
    void *p;

    if (!blank) return fail(r, spot_fail(r->c, SPOT_NOMEM, "no memory for the results of %s", r->op->name));
    if (from) memcpy(blank, from, bytes);
    else      memset(blank, UNWRITTEN, bytes);
    p = spot_op_given(r, blank, bytes);
    add(r, (spot_op_result){ what, r->number, p, kind, count, off, 0, false, { 0 } });
    return p;
}

void *spot_op_out(spot_op_run *r, const char *what, spot_op_kind kind, size_t count, double off)
{
    return spot_op_both(r, what, NULL, kind, count, off);
}

void *spot_op_each(spot_op_run *r, const char *what, const void *from, spot_op_kind kind, size_t count, double off,
                   double least)
{
    void *p = spot_op_both(r, what, from, kind, count, off);

    if (r->status == SPOT_OK) r->result[r->results - 1].least = least;
    return p;
}

void spot_op_part(spot_op_run *r, const char *what, void *part, spot_op_kind kind, size_t count, double off)
{
    add(r, (spot_op_result){ what, r->number, part, kind, count, off, 0, false, { 0 } });
}

void spot_op_told(spot_op_run *r, const char *what, void *member, spot_op_kind kind, size_t count, double off)
{
    add(r, (spot_op_result){ what, r->number, member, kind, count, off, 0, true, { 0 } });
}

spot_status spot_op_scratch(spot_op_run *r, spot_arena **out, size_t bytes)
{
    *out = &r->scratch;
    if (r->scratch.size == bytes) return SPOT_OK;
    spot_arena_close(&r->scratch);
    return spot_arena_open_device(r->c, &r->scratch, bytes);
}

spot_status spot_op_answers(spot_op_run *r, size_t bytes)
{
    r->answers.used = 0;
    if (r->answers.size >= bytes) return SPOT_OK;
    spot_arena_close(&r->answers);
    return spot_arena_open(r->c, &r->answers, bytes);
}

const void *spot_op_all(spot_op_run *r, const void *member, size_t bytes, int count)
{
    unsigned char *all = r->gathered.base + r->gathered.used;

    for (int p = 0; p < count; p++) memcpy(all + (size_t)p * bytes, (const char *)member + (size_t)p * r->op->bytes, bytes);
    r->gathered.used += spot_arena_room((size_t)count * bytes);
    return all;
}

spot_status spot_op_judge(spot_op_run *r, spot_status s)
{
    r->gathered.used = 0;
    if (!r->misplaced) return s;
    if (s != SPOT_UNSUPPORTED || !strstr(spot_message(r->c, s), "host memory"))
        return spot_fail(r->c, SPOT_CHECK, "%s takes arrays in host memory: %s", r->op->name, spot_status_name(s));
    spot_forget(r->c);
    r->refused++;
    return SPOT_OK;
}

spot_status spot_op_fetch(spot_op_run *r, void *to, const void *from, size_t bytes)
{
    return bytes ? spot_device_copy(r->c, to, from, bytes) : SPOT_OK;
}

spot_status spot_op_open(spot_ctx *c, spot_op_run **out, const spot_op *op, int problems, const int (*size)[SPOT_OP_SIZES],
                         int sizes, int again, bool misplaced)
{
    spot_op_run *r = *out = calloc(1, sizeof *r);

    if (!r) return spot_fail(c, SPOT_NOMEM, "no memory for a run of %s", op->name);
    *r = (spot_op_run){ .c = c, .op = op, .misplaced = misplaced, .problem = calloc((size_t)problems, op->bytes) };
    if (!r->problem) return spot_fail(c, SPOT_NOMEM, "no memory for a run of %s", op->name);
    SPOT_TRY(spot_arena_open(c, &r->gathered, (size_t)problems * op->bytes + 16 * SPOT_ALIGN));
    for (; r->problems < problems && r->status == SPOT_OK; r->problems++) {
        int q = r->number = r->problems;
        op->make(r, (char *)r->problem + (size_t)q * op->bytes, size[q < sizes ? q : q % again]);
    }
    return r->status;
}

void spot_op_close(spot_op_run *r)
{
    if (!r) return;
    for (int i = 0; i < r->taken; i++) {
        if (r->misplaced) free(r->memory[i]);
        else              spot_device_give(r->c, r->memory[i]);
    }
    spot_arena_close(&r->scratch);
    spot_arena_close(&r->gathered);
    spot_arena_close(&r->answers);
    for (void *p = r->host, *next; p; p = next) {
        next = *(void **)p;
        free(p);
    }
    free(r->problem), free(r->result), free(r->memory), free(r);
}

spot_status spot_op_bench_open(spot_ctx *c, void **state, const spot_op *op, int problems, const int *size)
{
    spot_op_run *r = NULL;
    spot_status s = spot_op_open(c, &r, op, problems, (const int(*)[SPOT_OP_SIZES])size, 1, 1, false);

    *state = r;
    return s;
}

spot_status spot_op_bench_run(spot_ctx *c, void *state)
{
    spot_op_run *r = state;

    (void)c;
    return r->op->run(r, r->problem, r->problems);
}

spot_status spot_op_bench_check(spot_ctx *c, void *state)
{
    spot_op_run *r = state;

    SPOT_TRY(spot_op_bench_run(c, state));
    return r->op->check(r, (char *)r->problem + (size_t)(r->problems - 1) * r->op->bytes);
}

spot_status spot_op_bench_check_all(spot_ctx *c, void *state)
{
    spot_op_run *r = state;

    SPOT_TRY(spot_op_bench_run(c, state));
    for (r->number = 0; r->number < r->problems; r->number++)
        SPOT_TRY(r->op->check(r, (char *)r->problem + (size_t)r->number * r->op->bytes));
    return SPOT_OK;
}

void spot_op_bench_close(spot_ctx *c, void *state)
{
    (void)c;
    spot_op_close(state);
}
