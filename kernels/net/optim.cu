/* optim.cu - one pass over the parameters, four per thread, bound by memory bandwidth. */
#include "core/lanes.cuh"
#include "net/optim.h"

enum { THREADS = 256, OWN = 4 };

/* The constants of the loop, from a rule. */
typedef struct {
    spot_optim_stride now;
    float b1, a1, b2, a2, epsilon, decay, momentum;
} constants;

/* With a course, `now` and whether there is a momentum yet are read on the device. */
static constants constants_of(const spot_optim_rule *r)
{
    constants s = { { 0, 0 }, (float)r->beta1, (float)(1 - r->beta1), (float)r->beta2, (float)(1 - r->beta2),
                    (float)r->epsilon, (float)r->decay, (float)r->momentum };

    if (r->course) return s;
    s.now = spot_optim_stride_of(r, r->lr, r->t);
    if (r->t <= 1) s.momentum = 0;
    return s;
}

/* The expressions of optim.c, for the same bits. */
static __device__ void step_one(const constants *s, spot_optim_kind kind, float *p, float g, float *m, float *v)
{
    float d = g + s->decay * *p;

    if (kind == SPOT_OPTIM_ADAM) {
        *m = s->b1 * *m + s->a1 * d;
        *v = s->b2 * *v + s->a2 * d * d;
        *p -= s->now.rate * (*m / (sqrtf(*v) / s->now.root + s->epsilon));
    } else if (kind == SPOT_OPTIM_RMSPROP) {
        *v = s->b2 * *v + s->a2 * d * d;
        *m = s->momentum * *m + d / (sqrtf(*v) + s->epsilon);
        *p -= s->now.rate * *m;
    } else {
        *m = s->momentum * *m + d;
        *p -= s->now.rate * *m;
    }
}

/* grid (ceil(count / 1024)). made, strides: of the course; NULL without one */
static __global__ void __launch_bounds__(THREADS) step_kernel(float *p, const float *g, float *m, float *v, size_t count,
                                                              constants s, spot_optim_kind kind, spot_bf16 *rounded,
                                                              const int *made, const spot_optim_stride *strides)
{
    size_t i = ((size_t)blockIdx.x * THREADS + threadIdx.x) * OWN;
    const bool squares = kind != SPOT_OPTIM_SGD;
    float pv[OWN], gv[OWN], mv[OWN], vv[OWN] = { 0 };

    if (made) {
        const int before = *made;
        s.now = strides[before];
        if (!before) s.momentum = 0;
    }
    if (i + OWN <= count) {
        spot_load(pv, p + i);
        spot_load(gv, g + i);
        spot_load(mv, m + i);
        if (squares) spot_load(vv, v + i);
        for (int j = 0; j < OWN; j++) step_one(&s, kind, &pv[j], gv[j], &mv[j], &vv[j]);
        spot_store(p + i, pv);
        spot_store(m + i, mv);
        if (squares) spot_store(v + i, vv);
        if (rounded) spot_store_four(rounded + i, pv);
    } else {
        for (; i < count; i++) {
            if (squares) vv[0] = v[i];
            step_one(&s, kind, &p[i], g[i], &m[i], &vv[0]);
            if (squares) v[i] = vv[0];
            if (rounded) spot_round(&rounded[i], p[i]);
        }
    }
}

/* A separate launch: no block may change the count while another reads it. */
static __global__ void go_on_kernel(spot_optim_course o)
{
    o.losses[*o.made] = *o.loss;
    ++*o.made;
    *o.seen += o.batch;
}

static spot_status step_cuda(spot_ctx *c, float *p, const float *g, float *m, float *v, size_t count,
                             const spot_optim_rule *r)
{
    cudaStream_t stream = spot_cuda_stream(c);
    spot_optim_course o = { 0 };
    size_t blocks = (count + OWN * THREADS - 1) / (OWN * THREADS);

    if (count) SPOT_TRY(spot_cuda_needs(c, p, "optim.step: p"));
    if (r->course) o = *r->course;
    if (count)
        SPOT_LAUNCH(step_kernel, dim3((unsigned)blocks), THREADS, 0, stream, p, g, m, v, count, constants_of(r), r->kind,
                    (spot_bf16 *)r->rounded, o.made, o.strides);
    if (r->course) SPOT_LAUNCH(go_on_kernel, 1, 1, 0, stream, o);
    return spot_cuda_launched(c, "optim.step of %zu parameters", count);
}

extern const spot_optim_ops spot_optim_cuda = { .step = step_cuda };
