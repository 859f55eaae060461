/* op_net.h - the ops of a network's training, for tests/test_cuda_net.c, bench_norm.c, bench_tail.c and bench_alexnet.c. In
 * bf16 what CUDA writes may be off by one last place, 2^-8: half of one from its own rounding, half from a sum whose last bits
 * differ. */
#ifndef SPOTTER_OP_NET_H
#define SPOTTER_OP_NET_H

#include "net/attack.h"
#include "net/dense.h"
#include "net/head.h"
#include "net/norm.h"
#include "net/optim.h"
#include "net/pooling.h"
#include "net/triplet.h"
#include "op.h"

static inline spot_op_tensor spot_op_plane(spot_plane p)
{
    return (spot_op_tensor){ p.rows, p.live, p.channels, p.size * p.size, p.channels, p.precision, 0 };
}

/* Batch norm there and back; the kind says what is added: nothing, a tensor, bn of a tensor; or it is the stem with its pool.
 * size: kind, rows, live, channels, pixels a side, second gradient (db), precision, numbers. Plain numbers are
 * spot_noise. Otherwise y has the mean 1, and in bf16 the sum of the gradients needs no rounding; broken: y[0] is a NaN. */
enum { SPOT_OP_PLAIN = 1, SPOT_OP_BROKEN };
typedef enum { SPOT_OP_ALONE, SPOT_OP_IDENTITY, SPOT_OP_SHORTCUT, SPOT_OP_POOLED } spot_op_join;

typedef struct {
    spot_op_join kind;
    spot_plane p, q;                       /* of y; of out; on the CPU fp32 */
    spot_precision precision;              /* to which the numbers are rounded on every device */
    bool plain, broken;
    int id;                                /* of the first of its tensors' noise */
    spot_norm l[2];
    void *y, *y2, *out, *da, *db, *dz, *scratch;
    unsigned char *at;
} spot_op_normed;
extern const spot_op spot_op_norm;

/* The numbers of the two layers, for make: filled with noise from `id` on, results called `what`. */
spot_norm spot_op_layer(spot_op_run *r, int channels, int id, double off);

/* Head and losses, forward and backward, and the activity of channels. size: rows, live, channels, pixels a side, outputs,
 * precision, whether the features have a gradient of their own */
typedef struct {
    spot_plane p;
    spot_precision precision;
    int outputs, id;
    void *x, *dx;
    float *w, *b, *target, *dfeature;
    float *feature, *logit, *dlogit, *dw, *db, *bare;      /* bare: features of a call without logits */
    float *soft_dlogit, *activity[2];                                      /* by softmax; without and with ReLU */
    double *loss, *bare_loss, *soft_loss, *soft_bare;                      /* bare: the loss of a call without gradients */
} spot_op_headed;
extern const spot_op spot_op_head;

/* Triplets. size: rows, channels, outputs, tenths of the margin, kind (0 random classes, 1 one class, 2 a row of zeros, 3 a
 * NaN) */
typedef struct {
    spot_triplet_batch t;
    int kind, id;
    double *loss;
    float *df;
    void *scratch;
} spot_op_tripled;
extern const spot_op spot_op_triplet;

/* Four steps, once with rates from the host and once with a course. size: parameters, rule (Adam, SGD, RMSprop), replayed (on
 * CUDA the course's step is recorded once and replayed) */
enum { SPOT_OP_STEPS = 4 };

typedef struct {
    size_t count;
    int rule, id;
    bool replayed;
    float *g, *p[2], *m[2], *v[2];         /* from the host's rates, from the course */
    void *rounded[2];                      /* NULL on the CPU */
    spot_optim_course course;
} spot_op_stepped;
extern const spot_op spot_op_optim;

/* A start and two moves. size: rows, live, pixels a side, start (0 at the image; 1 random; 2 at the image, and moves by signs),
 * tenths of epsilon, tenths of length, precision, and the first image's gradient (0 like the others', 1 zero, 2 with a NaN) */
typedef struct {
    spot_plane p;                          /* on the run's device */
    spot_op_tensor image, moved;
    spot_attack_rule rule;
    int odd, id;
    void *clean, *grad, *x;
    float *d;
} spot_op_attacked;
extern const spot_op spot_op_attack;

/* Bias, ReLU and pool there and back, and the mean. size: rows, live, channels, pixels a side, max, precision, kind */
typedef enum { SPOT_OP_POOL_NOISE, SPOT_OP_POOL_TIES, SPOT_OP_POOL_NAN } spot_op_pool_kind;

typedef struct {
    spot_plane p, q;                       /* of y and x; of out; on the CPU fp32 */
    spot_precision precision;
    bool max;
    spot_op_pool_kind kind;
    int id;
    void *y, *x, *da, *out, *bare, *dx, *scratch;          /* bare: out of a call without bias and winners */
    float *bias, *dbias, *mean, *dmean;
    unsigned char *at;
} spot_op_pooled;
extern const spot_op spot_op_pooling;

/* A linear layer there and back, and dropping. size: rows, inputs, outputs, relu, per cent that are dropped, broken (x[0] is a
 * NaN), precision. x, w and dy are rounded to the precision on every device. */
typedef struct {
    spot_dense_shape s;
    spot_drop_rule rule;
    spot_precision precision;
    bool broken;
    int id;
    void *w;
    float *x, *b, *y, *dy, *dx, *bare, *dw, *db, *dropped;     /* bare: dx of a call without dw and db */
    void *scratch;
} spot_op_densed;
extern const spot_op spot_op_dense;

#endif
