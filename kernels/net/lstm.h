/* lstm.h - a policy that draws one of `values` values for each of `factors` factors, one after another, for independent
 * policies: the examiner of paper 002 (section 3.2), and the gradient by which it learns (REINFORCE, Williams 1992).
 *
 *     h[0] = c[0] = 0          P(v[f] | v[<f]) = softmax(head[f] (h[f], 1))
 *     (i, f, g, o) = input (embedding[f-1][v[f-1]], 1) + recurrent (h[f-1], 1)         i, f, o by sigmoid, g by tanh
 *     c[f] = f c[f-1] + i g          h[f] = o tanh(c[f])
 *
 * The numbers and gates of torch.nn.LSTM, Embedding and Linear, with tables of their own for each factor. Each bias is a column
 * of its matrix; the LSTM has two, as in PyTorch. The first draw depends on nothing but the bias of head[0]: the paper feeds it
 * the initial state alone.
 *
 * draw: value v is drawn when the sum of the probabilities before it is at most u, that with it above u, u the uniform number.
 * learn: slope = the gradient by theta of
 *
 *     -1/live sum_b (reward[b] log P(b) + entropy sum_f H(P(. | v[<f] of b)))
 *
 * with the values of the draw held fixed. A step down this slope is a step up the expected reward; spot_optim_step makes it.
 *
 * All numbers are fp32, each sum one chain in an order that the shape fixes: CUDA has the CPU's bits, any number of threads the
 * same, and a policy the same beside any others. log_p and slope are within 1e-5 of double precision's (of slope's largest).
 * Arrays lie in the memory of c's device, the structs on the host. CUDA: a launch each; a block has a policy and, in draw, 32
 * rows of its batch. */
#ifndef SPOTTER_LSTM_H
#define SPOTTER_LSTM_H

#include <stddef.h>

#include "core/ops.h"
#include "net/lstm_layout.h"

typedef struct {
    spot_lstm_shape shape;
    int policies;
    int live;                   /* rows of the batch in use, 1 to batch */
    const float *theta;         /* (policies, count) */
    const float *uniform;       /* (policies, factors, lanes): from 0 to below 1, also in lanes that are not live */
    int   *choice;              /* (policies, factors, lanes): out of draw, in of learn */
    float *log_p;               /* (policies, lanes): out of draw: log P of all choices */
    float *trail;               /* (policies, trail): out of draw, used up by learn */
    const float *reward;        /* (policies, lanes): in of learn; not read in lanes that are not live */
    double entropy;
    float *slope;               /* (policies, count): out of learn */
} spot_lstm_batch;

struct spot_lstm_ops {
    spot_status (*draw) (spot_ctx *c, const spot_lstm_batch *b);
    spot_status (*learn)(spot_ctx *c, const spot_lstm_batch *b);
};

spot_status spot_lstm_draw (spot_ctx *c, const spot_lstm_batch *b);

/* Once after a draw, with the same theta, choice and trail. */
spot_status spot_lstm_learn(spot_ctx *c, const spot_lstm_batch *b);

#endif
