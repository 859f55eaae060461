/* test_cuda_net.c - the ops of a network's training: batch norm, head, optimizer, an adversary's steps. In fp32 CUDA agrees
 * with the CPU within what the headers promise. In bf16 the CPU gets the rounded inputs (bench/op_net.h). ctest: long */
#define _GNU_SOURCE   /* setenv */
#include "check_op.h"

#include "bench.h"
#include "op_net.h"

#define FP32_AND_BF16(...) { __VA_ARGS__, SPOT_FP32 }, { __VA_ARGS__, SPOT_BF16 }

/* Ragged: groups of channels that do not fill a block, places that do not fill a tile or a turn, padding. */
static const int norm_sizes[][SPOT_OP_SIZES] = {
    FP32_AND_BF16(SPOT_OP_ALONE,    5, 4,  32,  6, false),
    FP32_AND_BF16(SPOT_OP_ALONE,    3, 3,  80, 18, true),      /* 972 places: four tiles */
    FP32_AND_BF16(SPOT_OP_IDENTITY, 4, 3,  48,  7, true),
    FP32_AND_BF16(SPOT_OP_IDENTITY, 6, 6,  16,  1, false),     /* layer 4 of a 32 px image */
    FP32_AND_BF16(SPOT_OP_SHORTCUT, 5, 3,  16,  6, true),
    FP32_AND_BF16(SPOT_OP_SHORTCUT, 2, 2, 144, 17, false),
    FP32_AND_BF16(SPOT_OP_POOLED,   4, 3,  32,  6, true),
    FP32_AND_BF16(SPOT_OP_POOLED,   2, 2,  16, 30, false),
    { SPOT_OP_IDENTITY, 3, 2, 32, 9, true, SPOT_BF16, SPOT_OP_PLAIN },
    { SPOT_OP_SHORTCUT, 3, 2, 32, 9, true, SPOT_BF16, SPOT_OP_PLAIN },
    { SPOT_OP_ALONE,    3, 2, 32, 4, false, SPOT_BF16, SPOT_OP_BROKEN },
    { SPOT_OP_IDENTITY, 3, 2, 32, 4, false, SPOT_FP32, SPOT_OP_BROKEN },
    { SPOT_OP_POOLED,   3, 2, 32, 4, false, SPOT_FP32, SPOT_OP_BROKEN },
};

static const int head_sizes[][SPOT_OP_SIZES] = {
    FP32_AND_BF16(5, 4, 32, 7, 1), FP32_AND_BF16(1, 1, 16, 1, 3), FP32_AND_BF16(33, 31, 48, 2, 2),
    FP32_AND_BF16(3, 3, 272, 3, 20), { 5, 4, 48, 2, 3, SPOT_FP32, true },
    { 4, 3, 272, 1, 2, SPOT_BF16, true },
};

#define EVERY_RULE(n) { n, 0, false }, { n, 1, false }, { n, 2, false }, { n, 0, true }, { n, 1, true }, { n, 2, true }
static const int optim_sizes[][SPOT_OP_SIZES] = {
    EVERY_RULE(1), EVERY_RULE(31), EVERY_RULE(33), EVERY_RULE(255), EVERY_RULE(257), EVERY_RULE(4099),
};

/* More rows and channels than a block has threads; triplets of few and of no classes. */
static const int triplet_sizes[][SPOT_OP_SIZES] = {
    { 7, 16, 3, 2, 0 }, { 33, 48, 9, 10, 0 }, { 260, 5, 2, 3, 0 }, { 12, 272, 2, 20, 0 }, { 2, 16, 2, 2, 0 },
    { 6, 16, 3, 2, 1 }, { 9, 20, 3, 5, 2 }, { 8, 20, 2, 5, 3 },
};

#define ATTACK(...) { __VA_ARGS__, SPOT_FP32, 0 }, { __VA_ARGS__, SPOT_BF16, 0 }
static const int attack_sizes[][SPOT_OP_SIZES] = {
    ATTACK(3, 3, 32, false, 15, 10), ATTACK(3, 3, 32, true, 15, 40), ATTACK(3, 3, 34, true, 7, 1),
    ATTACK(3, 3, 2, false, 1000, 300), ATTACK(4, 2, 6, true, 10, 10),
    { 2, 2, 10, true, 10, 5, SPOT_FP32, 1 }, { 3, 2, 10, false, 10, 5, SPOT_BF16, 1 }, { 2, 2, 10, false, 10, 5, SPOT_FP32, 2 },
    ATTACK(3, 3, 32, 2, 1, 1), ATTACK(4, 2, 6, 2, 3, 2), { 3, 2, 10, 2, 10, 5, SPOT_FP32, 1 },
    { 2, 2, 10, 2, 10, 5, SPOT_BF16, 2 },
};

/* Sides at which windows reach the edge and at which they do not; the mean of fewer and of more pixels than it has numbers. */
static const int pooling_sizes[][SPOT_OP_SIZES] = {
    FP32_AND_BF16(3, 2, 32, 7, true), FP32_AND_BF16(5, 4, 16, 8, true), FP32_AND_BF16(2, 2, 80, 3, true),
    FP32_AND_BF16(4, 3, 32, 13, false), FP32_AND_BF16(2, 1, 272, 1, false), FP32_AND_BF16(3, 3, 16, 6, false),
    { 3, 2, 32, 9, true, SPOT_FP32, SPOT_OP_POOL_TIES }, { 3, 2, 32, 9, true, SPOT_BF16, SPOT_OP_POOL_TIES },
    { 2, 2, 16, 5, true, SPOT_FP32, SPOT_OP_POOL_NAN }, { 2, 2, 16, 5, true, SPOT_BF16, SPOT_OP_POOL_NAN },
    { 2, 2, 16, 5, false, SPOT_FP32, SPOT_OP_POOL_NAN },
};

/* The CPU cuts at 128 and has chains of 256. */
static const int dense_sizes[][SPOT_OP_SIZES] = {
    { 6, 576, 144, true, 50 }, { 1, 1, 1, false, 0 }, { 65, 33, 63, true, 20 }, { 64, 64, 64, false, 0 },
    { 3, 257, 130, true, 90 }, { 70, 15, 17, true, 1 }, { 5, 40, 24, true, 50, true }, { 258, 515, 257, false, 10 },
    { 6, 576, 144, true, 50, false, SPOT_BF16 }, { 3, 257, 130, true, 90, false, SPOT_BF16 },
    { 1, 1, 1, false, 0, false, SPOT_BF16 },     { 5, 40, 24, true, 50, true, SPOT_BF16 },
    { 65, 33, 63, true, 20, false, SPOT_BF16 },  { 6, 576, 144, true, 50, false, SPOT_TF32 },
};

/* -- pool with equals, a NaN and the running statistics -------------------------------------------------------------- */

/* size: rows, live, channels, pixels a side, precision */
typedef struct {
    spot_plane p;
    spot_norm l;
    void *y, *out, *bare;
    unsigned char *at;
} tied;

static const int tied_sizes[][SPOT_OP_SIZES] = { FP32_AND_BF16(4, 3, 32, 6), FP32_AND_BF16(2, 2, 272, 4) };

/* Small whole numbers: most windows have equals. */
static void make_tied(spot_op_run *r, void *problem, const int *size)
{
    tied *b = problem;
    spot_op_tensor in, out;
    size_t n, channels = (size_t)size[2];
    float *v, *var = malloc(channels * sizeof *var);

    b->p = (spot_plane){ size[0], size[1], size[2], size[3], (spot_precision)size[4] };
    in = out = spot_op_plane(b->p);
    out.pixels /= 4;
    n = spot_op_numbers(&in);
    v = malloc(n * sizeof *v);
    for (size_t i = 0; i < n; i++) v[i] = (float)((int)(4 + 2 * spot_noise(r->number, i, SPOT_FP32)) % 3 - 1);
    for (size_t i = n / (size_t)in.rows * in.live; i < n; i++) v[i] = NAN;
    v[0] = NAN;
    b->y = spot_op_tensor_of(r, in, v);
    for (size_t i = 0; i < channels; i++) var[i] = 4 + (float)i;
    b->l = (spot_norm){ .weight = spot_op_noise(r, 100, channels), .bias = spot_op_noise(r, 101, channels),
                        .running_mean = spot_op_noise(r, 102, channels),
                        .running_var = spot_op_given(r, var, channels * sizeof *var),
                        .scale = spot_op_out(r, "scale", SPOT_OP_FLOAT, channels, 0),
                        .shift = spot_op_out(r, "shift", SPOT_OP_FLOAT, channels, 0) };
    b->out = spot_op_tensor_blank(r, out, SPOT_OP_FLOAT), b->bare = spot_op_tensor_blank(r, out, SPOT_OP_FLOAT);
    b->at = spot_op_tensor_blank(r, out, SPOT_OP_BYTE);
    spot_op_tensor_part(r, "out", b->out, out, SPOT_OP_FLOAT, 0, 0);
    spot_op_tensor_part(r, "out without winners", b->bare, out, SPOT_OP_FLOAT, 0, 0);
    spot_op_tensor_part(r, "winners", b->at, out, SPOT_OP_BYTE, 0, 0);
    if (!r->c->device) b->p.precision = SPOT_FP32;
    free(v);
}

static spot_status run_tied(spot_op_run *r, void *problems, int count)
{
    tied *b = problems;

    for (int q = 0; q < count; q++, b++) {
        SPOT_OP(r, spot_norm_fixed(r->c, &b->l, b->p.channels));
        SPOT_OP(r, spot_norm_pool(r->c, b->bare, NULL, b->y, &b->l, b->p));
        SPOT_OP(r, spot_norm_pool(r->c, b->out, b->at, b->y, &b->l, b->p));
    }
    return SPOT_OK;
}

/* The first window has the NaN. */
static spot_status check_tied(spot_op_run *r, void *problem)
{
    const tied *b = problem;
    spot_op_tensor t = spot_op_plane(b->p);
    double got;

    t.pixels /= 4;
    SPOT_TRY(spot_op_number(r, &got, b->out, &t, 0));
    return isnan(got) ? SPOT_OK : spot_fail(r->c, SPOT_CHECK, "the largest of a NaN and others is %g", got);
}

static const spot_op ties = { "norm_ties", sizeof(tied), make_tied, run_tied, check_tied, true };

/* -- linear layers ---------------------------------------------------------------------------------------------------- */

/* The library would answer with a number, or a kernel end all work on the device. */
TEST_ON_CUDA(misaligned_layers_are_refused)
{
    const spot_dense_shape s = { .rows = 4, .in = 3, .out = 5, .precision = SPOT_BF16 };
    spot_ctx c;
    char *p[5];

    open_cuda(&c, 0);
    for (int i = 0; i < LEN(p); i++) p[i] = to_device(&c, NULL, spot_dense_scratch(&c, &s) + 64);
    for (int i = 0; i < LEN(p); i++) {
        float *f[5];
        for (int j = 0; j < LEN(p); j++) f[j] = (float *)(void *)(p[j] + (i == j ? 8 : 0));
        CHECK_FAILS(&c, spot_dense_forward(&c, f[0], f[1], f[2], f[3], &s, f[4]), SPOT_INVALID, "dense.unaligned");
    }
    for (int i = 0; i < LEN(p); i++) spot_device_give(&c, p[i]);
    spot_device_close(&c);
}

int main(void)
{
    static op_row rows[] = {
        OP_ROW(spot_op_norm, norm_sizes, .step = 1),
        OP_ROW(ties, tied_sizes, .step = 1),
        OP_ROW(spot_op_head, head_sizes, .step = 1),
        OP_ROW(spot_op_triplet, triplet_sizes, .step = 1),
        OP_ROW(spot_op_optim, optim_sizes, .step = 1),
        OP_ROW(spot_op_attack, attack_sizes, .step = 1),
        OP_ROW(spot_op_pooling, pooling_sizes, .step = 1),
        OP_ROW(spot_op_dense, dense_sizes, .step = 1),
    };

    return run_ops(rows, LEN(rows));
}
