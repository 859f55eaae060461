/* bench_attention.c - attention and layer norms: their problems for the tests, and what those of ViT-B/16 take on a GPU. */
#include <math.h>
#include <stdlib.h>

#include "op_transformer.h"

/* -- layernorm -------------------------------------------------------------------------------------------------------- */

enum { NORM_X, NORM_WEIGHT, NORM_BIAS };
static const float EPS = 1e-5f;

static float number_of(const spot_op_normal *p, size_t i)
{
    return spot_noise(p->id + NORM_X, i, SPOT_FP32) + (float)(i / (size_t)p->l.width % 5);
}

static void make_layernorm(spot_op_run *r, void *problem, const int *size)
{
    spot_op_normal *p = problem;
    size_t n = (size_t)size[0] * size[1], width = (size_t)size[1];
    float *x = malloc(n * sizeof *x);

    *p = (spot_op_normal){ .rows = size[0], .id = SPOT_OP_IDS * r->number,
                           .precision = spot_op_on_device(r, (spot_precision)size[2]) };
    p->l = (spot_layernorm){ size[1], EPS, spot_op_noise(r, p->id + NORM_WEIGHT, width),
                             spot_op_noise(r, p->id + NORM_BIAS, width) };
    for (size_t i = 0; x && i < n; i++) x[i] = number_of(p, i);
    p->x = spot_op_given(r, x, n * sizeof *x);
    p->result = spot_op_row_of(n, (spot_precision)size[2]);
    p->y = size[3] ? p->x : spot_op_tensor_blank(r, p->result, SPOT_OP_FLOAT);
    spot_op_tensor_part(r, "y", p->y, p->result, SPOT_OP_FLOAT, 0, 0);
}

static spot_status run_layernorm(spot_op_run *r, void *problems, int count)
{
    spot_op_normal *p = problems;

    for (int q = 0; q < count; q++, p++) SPOT_OP(r, spot_layernorm_apply(r->c, p->y, p->x, &p->l, p->rows, p->precision));
    return SPOT_OK;
}

static spot_status check_layernorm(spot_op_run *r, void *problem)
{
    const spot_op_normal *p = problem;
    size_t n = (size_t)p->l.width;

    for (size_t e = 0; e < SPOT_OP_CHECKED; e++) {
        size_t row = (size_t)p->rows - 1 - e * (size_t)(p->rows - 1) / SPOT_OP_CHECKED, i = e * 7 % n;
        double mean = 0, var = 0, want;
        for (size_t k = 0; k < n; k++) mean += number_of(p, row * n + k) / (double)n;
        for (size_t k = 0; k < n; k++) var += pow(number_of(p, row * n + k) - mean, 2) / (double)n;
        want = (number_of(p, row * n + i) - mean) / sqrt(var + EPS) * spot_noise(p->id + NORM_WEIGHT, i, SPOT_FP32)
             + spot_noise(p->id + NORM_BIAS, i, SPOT_FP32);
        SPOT_TRY(spot_op_check_number(r, "normalised number", p->y, &p->result, row * n + i, want,
                                      p->precision == SPOT_BF16 ? 0x1p-8 * fabs(want) + 1e-5 : 2e-5));
    }
    return SPOT_OK;
}

const spot_op spot_op_layernorm = { "layernorm", sizeof(spot_op_normal), make_layernorm, run_layernorm, check_layernorm, true };

static spot_status open_layernorm(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    work->items = size[0];
    work->bytes = (double)size[0] * size[1] * (sizeof(float) + spot_precision_bytes((spot_precision)size[2]));
    return spot_op_bench_open(c, state, &spot_op_layernorm, 1, size);
}

/* -- attention -------------------------------------------------------------------------------------------------------- */

static int length_of(const spot_op_attended *p, int s) { return p->even || !s ? p->a.longest : 1 + (5 * s + 2) % p->a.longest; }

static float qkv_of(const spot_op_attended *p, size_t i) { return spot_noise(p->id, i, p->result.precision); }

static void lay_sequences(spot_op_attended *p)
{
    for (int s = 0; s < p->a.sequences; s++) {
        p->start[s + 1] = p->start[s] + length_of(p, s);
        p->only[s] = p->start[s] + length_of(p, s) / 2;
    }
}

static void make_attention(spot_op_run *r, void *problem, const int *size)
{
    spot_op_attended *p = problem;
    size_t n = (size_t)size[3], width = (size_t)size[0] * size[1], rows;
    float *qkv;

    *p = (spot_op_attended){ .id = SPOT_OP_IDS * r->number, .d = size[1], .even = size[6] };
    p->a = (spot_attention){ .heads = size[0], .width = (int)width, .sequences = size[3], .longest = size[4], .causal = size[2],
                             .precision = spot_op_on_device(r, (spot_precision)size[5]) };
    p->start = spot_op_host(r, (n + 1) * sizeof *p->start), p->only = spot_op_host(r, n * sizeof *p->only);
    if (!p->start || !p->only) return;
    lay_sequences(p);
    rows = (size_t)p->start[n];
    p->result = spot_op_row_of(rows * width, (spot_precision)size[5]);
    qkv = malloc(rows * 3 * width * sizeof *qkv);
    for (size_t i = 0; qkv && i < rows * 3 * width; i++) qkv[i] = qkv_of(p, i);
    if (qkv)
        p->qkv = spot_op_tensor_of(r, spot_op_row_of(rows * 3 * width, spot_attention_reads(r->c, p->a.precision)), qkv);
    free(qkv);
    p->a.start = spot_op_input(r, p->start, (n + 1) * sizeof *p->start);
    p->a.only = spot_op_input(r, p->only, n * sizeof *p->only);
    p->out = spot_op_tensor_blank(r, p->result, SPOT_OP_FLOAT);
    spot_op_tensor_part(r, "out", p->out, p->result, SPOT_OP_FLOAT, size[5] == SPOT_BF16 ? 0x1p-6 : 1e-5, 0);
    p->rows = spot_op_tensor_blank(r, spot_op_row_of(n * width, p->result.precision), SPOT_OP_FLOAT);
    if (!p->even)
        spot_op_tensor_part(r, "single rows", p->rows, spot_op_row_of(n * width, p->result.precision), SPOT_OP_FLOAT,
                            size[5] == SPOT_BF16 ? 0x1p-6 : 1e-5, 0);
}

static spot_status run_attention(spot_op_run *r, void *problems, int count)
{
    spot_op_attended *p = problems;
    spot_arena *a;

    for (int q = 0; q < count; q++, p++) {
        size_t bytes = spot_attention_scratch(r->c, &p->a);
        spot_attention all = p->a;
        void *scratch = NULL;
        all.only = NULL;
        if (bytes) {
            SPOT_TRY(spot_op_scratch(r, &a, bytes));
            scratch = a->base;
        }
        SPOT_OP(r, spot_attention_forward(r->c, p->out, p->qkv, &all, scratch));
        if (!p->even) SPOT_OP(r, spot_attention_forward(r->c, p->rows, p->qkv, &p->a, scratch));
    }
    return SPOT_OK;
}

/* Number `at` of row `row` of sequence s. */
static double attended(const spot_op_attended *p, int s, int row, int at)
{
    size_t w = (size_t)p->a.width, head = (size_t)(at / p->d * p->d);
    double sum = 0, out = 0;

    for (int j = p->start[s]; j < (p->a.causal ? row + 1 : p->start[s + 1]); j++) {
        double score = 0;
        for (int i = 0; i < p->d; i++)
            score += (double)qkv_of(p, 3 * w * row + head + i) * qkv_of(p, 3 * w * j + w + head + i);
        score = exp(score / sqrt(p->d));
        sum += score;
        out += score * qkv_of(p, 3 * w * j + 2 * w + at);
    }
    return out / sum;
}

static spot_status check_attention(spot_op_run *r, void *problem)
{
    const spot_op_attended *p = problem;
    size_t w = (size_t)p->a.width;
    double off = p->a.precision == SPOT_BF16 ? 0x1p-5 : 2e-5;

    for (int e = 0; e < SPOT_OP_CHECKED; e++) {
        int s = (e + 1) * p->a.sequences / SPOT_OP_CHECKED - 1, n, row, at = e * 11 % p->a.width;
        s = s < 0 ? 0 : s;
        n = p->start[s + 1] - p->start[s];
        row = p->start[s] + n - 1 - e * (n - 1) / SPOT_OP_CHECKED;
        SPOT_TRY(spot_op_check_number(r, "number of attention", p->out, &p->result, (size_t)row * w + at,
                                      attended(p, s, row, at), off));
    }
    return SPOT_OK;
}

const spot_op spot_op_attention = { "attention", sizeof(spot_op_attended), make_attention, run_attention, check_attention,
                                    true };

static spot_status open_attention(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    double pairs = (double)size[3] * size[4] * size[4], width = (double)size[0] * size[1];

    work->items = (double)size[3];
    work->flops = 4 * pairs * width;
    work->matrix = true;
    return spot_op_bench_open(c, state, &spot_op_attention, 1, size);
}

/* -- rows ------------------------------------------------------------------------------------------------------------- */

static const spot_bench_kind kind_layernorm = { open_layernorm, spot_op_bench_check, spot_op_bench_run, spot_op_bench_close };
static const spot_bench_kind kind_attention = { open_attention, spot_op_bench_check, spot_op_bench_run, spot_op_bench_close };

enum { ROWS = SPOT_OP_VIT_PICTURES * SPOT_OP_VIT_TOKENS };

const spot_bench_row spot_bench_attention[] = {
    { "layernorm", "ViT-B/16, rows of 768, bf16", "rows", SPOT_ON_CUDA, &kind_layernorm, { ROWS, 768, SPOT_BF16 },
      { 20, 16, SPOT_BF16 } },
    { "attention", "ViT-B/16, 12 heads of 64, 197 rows, bf16", "sequences", SPOT_ON_CUDA, &kind_attention,
      { 12, 64, false, SPOT_OP_VIT_PICTURES, SPOT_OP_VIT_TOKENS, SPOT_BF16, true }, { 2, 16, false, 2, 20, SPOT_BF16, true } },
    { "attention", "ViT-B/16, 12 heads of 64, 197 rows, fp32", "sequences", SPOT_ON_CUDA, &kind_attention,
      { 12, 64, false, SPOT_OP_VIT_PICTURES, SPOT_OP_VIT_TOKENS, SPOT_FP32, true }, { 2, 16, false, 2, 20, SPOT_FP32, true } },
    { .op = NULL },
};
