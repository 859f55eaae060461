/* test_cuda_rbf.c - kernels/map/rbf against the definition, point by point (bench/bench_rbf.c): windows wider than the grid,
 * one cell, more signals and targets than a thread or a block takes at once, empty windows, equal distances. test_variance.c
 * compares with numpy and with limits. ctest: threads */
#define _GNU_SOURCE   /* setenv */
#include "check_op.h"

#include "op_rbf.h"

#define KIND(method, kind) (SPOT_RBF_##method + SPOT_RBF_METHODS * OP_RBF_##kind)

/* targets, images, signals, grid, kernel, nearest, method and kind, sigma in thousandths */
static const int sizes[][SPOT_OP_SIZES] = {
    { 20, 9, 1, 14, 8, 8, KIND(EXACT, SPREAD), 2500 },      { 20, 9, 1, 14, 8, 8, KIND(BINNED, SPREAD), 2500 },
    { 1, 2, 2, 5, 3, 32, KIND(EXACT, SPREAD), 700 },        { 1, 2, 2, 5, 3, 32, KIND(BINNED, SPREAD), 700 },
    { 67, 5, 3, 13, 40, 32, KIND(EXACT, SPREAD), 10000 },   { 2, 70, 6, 10, 5, 7, KIND(EXACT, NARROW), 900 },
    { 70, 4, 6, 11, 6, 3, KIND(BINNED, NARROW), 900 },      { 9, 12, 1, 12, 4, 5, KIND(EXACT, MIXED), 1500 },
    { 9, 12, 2, 12, 4, 5, KIND(BINNED, MIXED), 1500 },      { 12, 6, 1, 9, 4, 32, KIND(EXACT, ZERO), 2000 },
    { 12, 6, 1, 9, 4, 32, KIND(BINNED, ZERO), 2000 },       { 12, 6, 1, 10, 5, 200, KIND(EXACT, EQUAL), 2000 },
    { 14, 8, 1, 12, 6, 9, KIND(EXACT, STEPPED), 3000 },     { 4, 5, 1, 6, 4, 4, KIND(EXACT, NONE), 1000 },
    { 4, 5, 1, 6, 4, 4, KIND(BINNED, NONE), 1000 },         { 8, 3, 1, 1, 2, 4, KIND(EXACT, SPREAD), 1000 },
};

TEST(a_number_out_of_range_is_refused)
{
    static const struct { spot_rbf_config cfg; spot_rbf_problem p; const char *words; } bad[] = {
        { { 0, 8, 8, 1, 0 }, { .targets = 1, .images = 2, .signals = 1, .range = 1 }, "rbf.window: 0" },
        { { 8, SPOT_RBF_KERNEL + 1, 8, 1, 0 }, { .targets = 1, .images = 2, .signals = 1, .range = 1 }, "rbf.window: 129" },
        { { 8, 8, 0, 1, 0 }, { .targets = 1, .images = 2, .signals = 1, .range = 1 }, "rbf.nearest: 0" },
        { { 8, 8, 8, 1, SPOT_RBF_METHODS }, { .targets = 1, .images = 2, .signals = 1, .range = 1 }, "rbf.nearest: method 2" },
        { { 8, 8, 8, NAN, 0 }, { .targets = 1, .images = 2, .signals = 1, .range = 1 }, "rbf.sigma: nan" },
        { { 8, 8, 8, 0, 0 }, { .targets = 1, .images = 2, .signals = 1, .range = 1 }, "rbf.sigma: 0" },
        { { 8, 8, 8, 1, 0 }, { .targets = 1, .images = 1, .signals = 1, .range = 1 }, "rbf.sizes: 1" },
        { { 8, 8, 8, 1, 0 }, { .targets = 1, .images = 2, .signals = 0, .range = 1 }, "rbf.sizes: 0" },
        { { 8, 8, 8, 1, 0 }, { .targets = 1 << 20, .images = 256, .signals = 1, .range = 1 }, "rbf.too_many" },
        { { 8, 8, 8, 1, 0 }, { .targets = 1, .images = 2, .signals = 1, .range = NAN }, "rbf.axes: nan" },
    };
    spot_ctx c = check_ctx(1);
    spot_arena a = spot_arena_counting();

    for (int i = 0; i < LEN(bad); i++)
        CHECK_FAILS(&c, spot_rbf_matrices(&c, &a, &bad[i].cfg, 1, &bad[i].p), SPOT_INVALID, bad[i].words);
}

int main(void)
{
    static op_row rows[] = { OP_ROW(spot_op_rbf_matrices, sizes, .step = 4) };

    return run_ops(rows, LEN(rows));
}
