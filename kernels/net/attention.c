/* attention.c - a head of a sequence to a thread, in blocks of rows whose scores stay in the cache. */
#include "net/attention.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "core/bf16.h"
#include "core/gemm.h"
#include "core/vmath.h"

enum { L = 16, ROWS = 64 };            /* rows of a block */

/* A thread's memory: the keys of a head, transposed and scaled; the scores of a block; its results. */
typedef struct { float *key, *score, *out; } desk;

static size_t desk_floats(const spot_attention *a)
{
    size_t d = (size_t)(a->width / a->heads), longest = (size_t)a->longest;

    return (d * longest + ROWS * longest + ROWS * d + L - 1) / L * L;
}

static size_t scratch_cpu(spot_ctx *c, const spot_attention *a) { return (size_t)c->threads * desk_floats(a) * sizeof(float); }

static desk desk_of(const spot_attention *a, float *scratch, int thread)
{
    size_t d = (size_t)(a->width / a->heads);
    float *at = scratch + (size_t)thread * desk_floats(a);

    return (desk){ at, at + d * a->longest, at + d * a->longest + (size_t)ROWS * a->longest };
}

/* The first `seen` scores of a row become their softmax, the others 0. */
static void soften(float *score, int seen, int n)
{
    float most[L], part[L] = { 0 }, greatest, scale;
    int j = 0;

    for (int l = 0; l < L; l++) most[l] = score[l < seen ? l : 0];
    for (; j + L <= seen; j += L)
        for (int l = 0; l < L; l++) most[l] = score[j + l] > most[l] ? score[j + l] : most[l];
    for (int l = 0; j + l < seen; l++) most[l] = score[j + l] > most[l] ? score[j + l] : most[l];
    greatest = most[0];
    for (int l = 1; l < L; l++) greatest = most[l] > greatest ? most[l] : greatest;
    for (int i = 0; i < seen; i++) score[i] = spot_expf(score[i] - greatest);
    for (int i = seen; i < n; i++) score[i] = 0;
    for (j = 0; j + L <= n; j += L)
        for (int l = 0; l < L; l++) part[l] += score[j + l];
    for (int l = 0; j + l < n; l++) part[l] += score[j + l];
    scale = 1 / spot_fold(part);
    for (int i = 0; i < seen; i++) score[i] *= scale;
}

static void store_row(const spot_attention *a, void *out, size_t row, int head, const float *from)
{
    int d = a->width / a->heads;
    size_t at = row * (size_t)a->width + (size_t)head * d;

    if (a->precision == SPOT_BF16)
        for (int i = 0; i < d; i++) ((uint16_t *)out)[at + i] = spot_bf16_bits(from[i]);
    else
        memcpy((float *)out + at, from, (size_t)d * sizeof *from);
}

/* The results t->out of `rows` rows from row `first` on, of a sequence of n rows; qkv: row 0 at the head's q. */
static void attend(const spot_attention *a, const desk *t, const float *qkv, int n, int first, int rows)
{
    int d = a->width / a->heads, keys = a->causal ? first + rows : n;
    size_t step = (size_t)3 * a->width;

    memset(t->score, 0, (size_t)rows * n * sizeof(float));
    memset(t->out, 0, (size_t)rows * d * sizeof(float));
    spot_gemm_add(t->score, (size_t)n, (spot_gemm_factor){ qkv + first * step, step, 1 },
                  (spot_gemm_factor){ t->key, (size_t)n, 1 },
                  rows, keys, d);
    for (int r = 0; r < rows; r++) soften(t->score + (size_t)r * n, a->causal ? first + r + 1 : n, keys);
    spot_gemm_add(t->out, (size_t)d, (spot_gemm_factor){ t->score, (size_t)n, 1 },
                  (spot_gemm_factor){ qkv + 2 * (size_t)a->width, step, 1 }, rows, d, keys);
}

static void run_head(const spot_attention *a, const desk *t, void *out, const float *qkv, int sequence, int head)
{
    int d = a->width / a->heads, begin = a->start[sequence], n = a->start[sequence + 1] - begin;
    const float *q = qkv + (size_t)begin * 3 * a->width + (size_t)head * d, *k = q + a->width;
    float scale = 1 / sqrtf((float)d);

    for (int j = 0; j < n; j++)
        for (int i = 0; i < d; i++) t->key[(size_t)i * n + j] = k[(size_t)j * 3 * a->width + i] * scale;
    if (a->only) {
        attend(a, t, q, n, a->only[sequence] - begin, 1);
        store_row(a, out, (size_t)sequence, head, t->out);
        return;
    }
    for (int first = 0; first < n; first += ROWS) {
        int rows = n - first < ROWS ? n - first : ROWS;
        attend(a, t, q, n, first, rows);
        for (int r = 0; r < rows; r++) store_row(a, out, (size_t)(begin + first + r), head, t->out + (size_t)r * d);
    }
}

static bool fits(const spot_attention *a)
{
    for (int s = 0; s < a->sequences; s++) {
        int n = a->start[s + 1] - a->start[s], only = a->only ? a->only[s] - a->start[s] : 0;
        if (n < 1 || n > a->longest || only < 0 || only >= n) return false;
    }
    return true;
}

static spot_status forward_cpu(spot_ctx *c, void *out, const void *qkv, const spot_attention *a, void *scratch)
{
    int jobs = a->sequences * a->heads;

    if (!fits(a)) return spot_fail(c, SPOT_INVALID, "{attention.sequence} attention: a sequence has less than 1 or more than "
                                   "%d rows", a->longest);
#pragma omp parallel for num_threads(c->threads) schedule(dynamic, 1)
    for (int j = 0; j < jobs; j++) {
        desk t = desk_of(a, scratch, omp_get_thread_num());
        run_head(a, &t, out, qkv, j / a->heads, j % a->heads);
    }
    return SPOT_OK;
}

const spot_attention_ops spot_attention_cpu = { scratch_cpu, forward_cpu };

size_t spot_attention_scratch(spot_ctx *c, const spot_attention *a)
{
    return c->ops->attention && c->ops->attention->scratch ? c->ops->attention->scratch(c, a) : 0;
}

spot_status spot_attention_forward(spot_ctx *c, void *out, const void *qkv, const spot_attention *a, void *scratch)
{
    if (a->heads < 1 || a->width < 1 || a->width % a->heads || a->sequences < 1 || a->longest < 1)
        return spot_fail(c, SPOT_INVALID, "{attention.sizes} attention: %d sequences of at most %d rows, %d heads of width %d",
                         a->sequences, a->longest, a->heads, a->width);
    SPOT_DISPATCH(c, attention, forward, out, qkv, a, scratch);
}
