/* bench_ceiling.c - measured ceilings of a GPU, for comparison with the other rows: a large copy (bytes read and written), and
 * a large bf16 matrix product with fp32 sums by the vendor's library. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "core/device.h"
#include "net/conv.h"

enum { COPY_A, COPY_B, MATRICES, PARTS = 3 };

typedef struct {
    void *part[PARTS];         /* on c's device */
    size_t bytes;              /* of each */
    int n;                     /* side of a matrix */
    spot_precision precision;
} ceiling;

static void close_ceiling(spot_ctx *c, void *state)
{
    ceiling *s = state;

    for (int i = 0; i < PARTS; i++) spot_device_give(c, s->part[i]);
    free(s);
}

static spot_status open_parts(spot_ctx *c, void **state, int parts, size_t numbers, spot_precision p)
{
    ceiling *s = *state = calloc(1, sizeof *s);

    if (!s) return spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    s->precision = p;
    s->bytes = numbers * spot_precision_bytes(p);
    for (int i = 0; i < parts; i++) {
        SPOT_TRY(spot_device_take(c, &s->part[i], s->bytes));
        SPOT_TRY(spot_noise_fill(c, s->part[i], i, numbers, p));
    }
    return SPOT_OK;
}

/* size: MiB. */
static spot_status open_copy(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    size_t bytes = (size_t)size[0] << 20;

    work->items = 1;
    work->bytes = 2.0 * (double)bytes;
    return open_parts(c, state, 2, bytes / sizeof(float), SPOT_FP32);
}

static spot_status run_copy(spot_ctx *c, void *state)
{
    ceiling *s = state;

    return spot_device_copy(c, s->part[COPY_B], s->part[COPY_A], s->bytes);
}

static spot_status check_copy(spot_ctx *c, void *state)
{
    ceiling *s = state;
    size_t last = s->bytes / sizeof(float) - 1;
    double got;

    SPOT_TRY(run_copy(c, state));
    SPOT_TRY(spot_number_at(c, &got, s->part[COPY_B], last, SPOT_FP32));
    return spot_bench_near(c, "copied number", last, got, spot_noise(COPY_A, last, SPOT_FP32), 0);
}

/* size: side. */
static spot_status open_product(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    size_t n = (size_t)size[0];

    work->items = 1;
    work->flops = 2.0 * (double)n * (double)n * (double)n;
    work->matrix = true;
    SPOT_TRY(open_parts(c, state, PARTS, n * n, SPOT_BF16));
    ((ceiling *)*state)->n = size[0];
    return SPOT_OK;
}

static spot_status run_product(spot_ctx *c, void *state)
{
    ceiling *s = state;

    return spot_device_multiply(c, s->part[MATRICES], s->part[0], s->part[1], s->n);
}

static spot_status check_product(spot_ctx *c, void *state)
{
    ceiling *s = state;
    size_t n = (size_t)s->n;

    SPOT_TRY(run_product(c, state));
    for (size_t e = 0; e < 16; e++) {
        size_t row = e * 977 % n, column = (e * 499 + n - 1) % n;
        double want = 0, got;
        for (size_t k = 0; k < n; k++)
            want += (double)spot_noise(0, row * n + k, s->precision) * spot_noise(1, k * n + column, s->precision);
        SPOT_TRY(spot_number_at(c, &got, s->part[MATRICES], row * n + column, s->precision));
        SPOT_TRY(spot_bench_near(c, "entry", row * n + column, got, want, 0.01 * sqrt((double)n)));
    }
    return SPOT_OK;
}

static const spot_bench_kind copy = { open_copy, check_copy, run_copy, close_ceiling };
static const spot_bench_kind product = { open_product, check_product, run_product, close_ceiling };

const spot_bench_row spot_bench_ceiling[] = {
    { "ceiling", "copy, 4 GiB",                "runs", SPOT_ON_CUDA, &copy,    { 4096 }, { 1 } },
    { "ceiling", "matrix product, 8192, bf16", "runs", SPOT_ON_CUDA, &product, { 8192 }, { 48 } },
    { 0 },
};
