/* optim.h - one step of Adam (Kingma and Ba 2015, as PyTorch computes it), SGD with momentum or RMSprop (Hinton 2012, lecture
 * 6e, as PyTorch computes it, not centred) over all parameters.
 *
 *     g += decay*p
 *     Adam: m = b1*m + (1-b1)*g   v = b2*v + (1-b2)*g*g   p -= lr/(1-b1^t) * m / (sqrt(v)/sqrt(1-b2^t) + eps)
 *     SGD:  m = g (t = 1), momentum*m + g (t > 1)         p -= lr*m
 *     RMSprop: v = b2*v + (1-b2)*g*g   m = momentum*m (0 for t = 1) + g / (sqrt(v) + eps)   p -= lr*m
 *
 * p, g, m, v (count), fp32 on every device; SGD does not touch v. The op is elementwise: the order of parameters is free, and
 * the bits do not depend on threads; CUDA has the CPU's bits. The error of a step against double precision is within 1e-6 of
 * |p| plus lr (Adam), lr*|m| (SGD) or lr*(|m| + (|g| + decay*|p|)/(sqrt(v) + eps)) (RMSprop).
 *
 * Where activations are bf16 (conv.h), p are the master weights and `rounded` receives the weights for the convolutions. */
#ifndef SPOTTER_OPTIM_H
#define SPOTTER_OPTIM_H

#include <math.h>
#include <stdint.h>

#include "core/ops.h"

/* Two numbers change from step to step: the rate, which Adam divides by 1-b1^t, and Adam's sqrt(1-b2^t). The host computes
 * them for every device, because a GPU's powers may differ in the last bit. */
typedef struct { float rate, root; } spot_optim_stride;

/* The state of a step that is recorded once and replayed, in the memory of c's device. */
typedef struct {
    const spot_optim_stride *strides;   /* (steps), from 0: spot_optim_stride_of */
    const double *loss;                 /* the loss of this step */
    double   *losses;                   /* (steps): receives the loss */
    int      *made;                     /* steps so far; a step adds 1 */
    uint32_t *seen;                     /* images of this epoch so far, where the next batch begins; a step adds `batch` */
    uint32_t  batch;
} spot_optim_course;

typedef enum { SPOT_OPTIM_SGD, SPOT_OPTIM_ADAM, SPOT_OPTIM_RMSPROP } spot_optim_kind;

typedef struct {
    spot_optim_kind kind;
    double lr, decay;
    double momentum;                    /* SGD, RMSprop */
    double beta1, beta2, epsilon;       /* Adam; RMSprop's smoothing constant is beta2, and it has no beta1 */
    int    t;                           /* 1 for the first step */
    const spot_optim_course *course;    /* replaces lr and t; on the host, read before the step returns. NULL: lr and t */
    void   *rounded;                    /* (count) bf16: p to the nearest, ties to even; may be NULL */
} spot_optim_rule;

/* Returns the stride of step t, from 1, whose learning rate is lr. */
static inline spot_optim_stride spot_optim_stride_of(const spot_optim_rule *r, double lr, int t)
{
    spot_optim_stride s = { (float)lr, 1 };

    if (r->kind != SPOT_OPTIM_ADAM) return s;
    s.rate = (float)(lr / (1 - pow(r->beta1, t)));
    s.root = (float)sqrt(1 - pow(r->beta2, t));
    return s;
}

struct spot_optim_ops {
    spot_status (*step)(spot_ctx *c, float *p, const float *g, float *m, float *v, size_t count,
                        const spot_optim_rule *rule);
};

spot_status spot_optim_step(spot_ctx *c, float *p, const float *g, float *m, float *v, size_t count,
                            const spot_optim_rule *rule);

#endif
