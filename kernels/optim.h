/* optim.h - one step of Adam (Kingma and Ba 2015, as PyTorch computes it) or SGD with momentum over all parameters.
 *
 *     g += decay*p
 *     Adam: m = b1*m + (1-b1)*g   v = b2*v + (1-b2)*g*g   p -= lr/(1-b1^t) * m / (sqrt(v)/sqrt(1-b2^t) + eps)
 *     SGD:  m = g (t = 1), momentum*m + g (t > 1)         p -= lr*m
 *
 * p, g, m, v (count), fp32 on every device; v is not touched by SGD. Elementwise: the order of parameters is the caller's
 * affair, and the bits do not depend on threads; CUDA's are the CPU's. A step is within 1e-6 of double precision: of |p|
 * and of lr (Adam) or lr*|m| (SGD).
 *
 * Where activations are bf16 (conv.h), p are the master weights and `rounded` receives what the convolutions read. */
#ifndef SPOTTER_KERNELS_OPTIM_H
#define SPOTTER_KERNELS_OPTIM_H

#include "ops.h"

typedef struct {
    int    adam;                        /* 0: SGD */
    double lr, decay;
    double momentum;                    /* SGD */
    double beta1, beta2, epsilon;       /* Adam */
    int    t;                           /* 1 for the first step */
    /* Instead of lr and t, both in the memory of c's device, so that a captured graph of kernels can be replayed: the
     * rate of each step from 0, and how many steps were made, which this one adds to. NULL: lr and t count. */
    const double *rates;
    int    *made;
    void   *rounded;                    /* (count) bf16: p to the nearest, ties to even; NULL: nobody asks; CUDA only */
} spot_optim_rule;

struct spot_optim_ops {
    spot_status (*step)(spot_ctx *c, float *p, const float *g, float *m, float *v, size_t count,
                        const spot_optim_rule *rule);
};

spot_status spot_optim_step(spot_ctx *c, float *p, const float *g, float *m, float *v, size_t count,
                            const spot_optim_rule *rule);

#endif
