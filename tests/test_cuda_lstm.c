/* test_cuda_lstm.c - kernels/net/lstm: the paper's policy; more cells, values and rows than warps and lanes; one of everything;
 * batches that are not full; entropy; several updates. test_lstm.c compares with PyTorch and with slopes. */
#define _GNU_SOURCE   /* setenv */
#include "check_op.h"

#include "op_lstm.h"

/* factors, values, hidden, batch, live, policies, weight of the entropy in hundredths, rounds */
static const int sizes[][SPOT_OP_SIZES] = {
    { 9, 100, 30, 32, 32, 2, 0, 1 }, { 3, 7, 31, 33, 33, 1, 10, 1 }, { 2, 5, 32, 70, 65, 1, 0, 1 }, { 1, 3, 2, 4, 4, 3, 5, 1 },
    { 4, 1, 1, 1, 1, 1, 0, 1 },      { 2, 40, 65, 5, 2, 1, 1, 1 },   { 5, 9, 6, 40, 3, 3, 20, 3 },
};

int main(void)
{
    static op_row rows[] = { OP_ROW(spot_op_lstm, sizes, .step = 2) };

    return run_ops(rows, LEN(rows));
}
