/* optim.cu - one pass over the parameters, four per thread, bound by memory bandwidth. */
#include "core/lanes.cuh"
#include "net/optim.h"

enum { THREADS = 256, OWN = 4 };

/* The constants of the loop, from a rule. */
typedef struct {
    float rate, root, b1, a1, b2, a2, epsilon, decay, momentum;
} strides;

static __host__ __device__ strides strides_of(const spot_optim_rule *r, double lr, int t)
{
    strides s = { 0 };

    s.rate = (float)(r->kind == SPOT_OPTIM_ADAM ? lr / (1 - pow(r->beta1, (double)t)) : lr);
    s.root = (float)sqrt(1 - pow(r->beta2, (double)t));
    s.b1 = (float)r->beta1, s.a1 = (float)(1 - r->beta1);
    s.b2 = (float)r->beta2, s.a2 = (float)(1 - r->beta2);
    s.epsilon = (float)r->epsilon, s.decay = (float)r->decay;
    s.momentum = t > 1 ? (float)r->momentum : 0.0f;
    return s;
}

/* The expressions of optim.c, for the same bits. */
static __device__ void step_one(const strides *s, spot_optim_kind kind, float *p, float g, float *m, float *v)
{
    float d = g + s->decay * *p;

    if (kind == SPOT_OPTIM_ADAM) {
        *m = s->b1 * *m + s->a1 * d;
        *v = s->b2 * *v + s->a2 * d * d;
        *p -= s->rate * (*m / (sqrtf(*v) / s->root + s->epsilon));
    } else if (kind == SPOT_OPTIM_RMSPROP) {
        *v = s->b2 * *v + s->a2 * d * d;
        *m = s->momentum * *m + d / (sqrtf(*v) + s->epsilon);
        *p -= s->rate * *m;
    } else {
        *m = s->momentum * *m + d;
        *p -= s->rate * *m;
    }
}

/* grid (ceil(count / 1024)). `fixed` is used where there is no course. */
static __global__ void __launch_bounds__(THREADS) step_kernel(float *p, const float *g, float *m, float *v, size_t count,
                                                              strides fixed, spot_optim_rule r, spot_optim_course o)
{
    SPOT_SHARED(strides, now, 1);
    size_t i = ((size_t)blockIdx.x * THREADS + threadIdx.x) * OWN;
    spot_bf16 *rounded = (spot_bf16 *)r.rounded;
    const bool squares = r.kind != SPOT_OPTIM_SGD;
    float pv[OWN], gv[OWN], mv[OWN], vv[OWN] = { 0 };

    if (threadIdx.x == 0) now[0] = o.made ? strides_of(&r, o.rates[*o.made], *o.made + 1) : fixed;
    __syncthreads();
    if (i + OWN <= count) {
        spot_load(pv, p + i);
        spot_load(gv, g + i);
        spot_load(mv, m + i);
        if (squares) spot_load(vv, v + i);
        for (int j = 0; j < OWN; j++) step_one(now, r.kind, &pv[j], gv[j], &mv[j], &vv[j]);
        spot_store(p + i, pv);
        spot_store(m + i, mv);
        if (squares) spot_store(v + i, vv);
        for (int j = 0; rounded && j < OWN; j++) spot_round(&rounded[i + j], pv[j]);
    } else {
        for (; i < count; i++) {
            if (squares) vv[0] = v[i];
            step_one(now, r.kind, &p[i], g[i], &m[i], &vv[0]);
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
    strides fixed = { 0 };
    spot_optim_course o = { 0 };
    size_t blocks = (count + OWN * THREADS - 1) / (OWN * THREADS);

    if (count) SPOT_TRY(spot_cuda_needs(c, p, "optim.step: p"));
    if (r->course) o = *r->course;
    else           fixed = strides_of(r, r->lr, r->t);
    if (count) SPOT_LAUNCH(step_kernel, dim3((unsigned)blocks), THREADS, 0, stream, p, g, m, v, count, fixed, *r, o);
    if (r->course) SPOT_LAUNCH(go_on_kernel, 1, 1, 0, stream, o);
    return spot_cuda_launched(c, "optim.step of %zu parameters", count);
}

extern const spot_optim_ops spot_optim_cuda = { .step = step_cuda };
