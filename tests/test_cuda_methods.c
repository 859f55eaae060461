/* test_cuda_methods.c - whole methods on the benches' problems. More methods and settings: test_cuda_bdm.c. */
#define _GNU_SOURCE   /* setenv */
#include "check_blas.h"
#include "check_op.h"

#include "op_views.h"

/* Unequal numbers of rows, edges of warps and blocks. */
static const int barlow_sizes[][SPOT_OP_SIZES] = { { 60, 8, 3 }, { 129, 8, 3 }, { 97, 8, 3 } };
static const int domino_sizes[][SPOT_OP_SIZES] = { { 70, 9, 6, 6 }, { 33, 9, 6, 6 }, { 129, 9, 6, 6 } };
static const int george_sizes[][SPOT_OP_SIZES] = { { 64, 2 }, { 129, 2 }, { 97, 2 } };
static const int audit_sizes[][SPOT_OP_SIZES] = { { 100, 20 }, { 161, 20 }, { 120, 20 } };
static const int newer_sizes[][SPOT_OP_SIZES] = { { 64, 9 }, { 129, 9 }, { 97, 9 } };
static const int spotlight_sizes[][SPOT_OP_SIZES] = { { 320, 32, 500, 1 }, { 320, 32, 500, 1 } };

int main(void)
{
    static op_row rows[] = {
        OP_ROW(spot_op_barlow, barlow_sizes, .step = 2, .on_host = true),
        OP_ROW(spot_op_domino, domino_sizes, .step = 2, .on_host = true),
        OP_ROW(spot_op_george, george_sizes, .step = 2, .on_host = true),
        OP_ROW(spot_op_multiaccuracy, audit_sizes, .step = 2, .on_host = true),
        OP_ROW(spot_op_influence, newer_sizes, .step = 2, .on_host = true),
        OP_ROW(spot_op_svm, newer_sizes, .step = 2, .on_host = true),
        OP_ROW(spot_op_density, newer_sizes, .step = 2, .on_host = true),
        OP_ROW(spot_op_dbscan_group, newer_sizes, .step = 2, .on_host = true),
        OP_ROW(spot_op_spotlight, spotlight_sizes, .step = LEN(schedules), .on_host = true),
    };

    return run_ops(rows, LEN(rows));
}
