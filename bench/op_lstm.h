/* op_lstm.h - policies that draw and learn, for tests/test_cuda_lstm.c and bench_lstm.c. */
#ifndef SPOTTER_OP_LSTM_H
#define SPOTTER_OP_LSTM_H

#include "net/lstm.h"
#include "op.h"

/* size: factors, values, hidden, batch, live, policies, weight of the entropy in hundredths, rounds of draw and learn with a
 * step of Adam behind each. The results of more than one round are compared, not checked. */
typedef struct {
    spot_lstm_batch b;
    int rounds;
    float *theta, *m, *v;
} spot_op_policy;
extern const spot_op spot_op_lstm;

#endif
