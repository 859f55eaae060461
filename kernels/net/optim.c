/* optim.c - one pass over the parameters, bound by memory bandwidth. */
#include "net/optim.h"

#include "core/bf16.h"
#include "core/lanes.h"

/* A step's rule with its stride. */
typedef struct { spot_optim_rule r; spot_optim_stride now; } stepped;

/* All rules round the new parameters while they are at hand; rounded may be NULL. */
static inline __attribute__((always_inline))
void adam(spot_ctx *c, float *restrict p, const float *restrict g, float *restrict m, float *restrict v,
          uint16_t *restrict rounded, size_t count, const stepped *s)
{
    const spot_optim_rule *r = &s->r;
    float b1 = (float)r->beta1, a1 = (float)(1 - r->beta1), b2 = (float)r->beta2, a2 = (float)(1 - r->beta2);
    float rate = s->now.rate, root = s->now.root, eps = (float)r->epsilon, decay = (float)r->decay;

#pragma omp parallel for simd num_threads(c->threads) schedule(static)
    for (size_t i = 0; i < count; i++) {
        float d = g[i] + decay * p[i];
        m[i] = b1 * m[i] + a1 * d;
        v[i] = b2 * v[i] + a2 * d * d;
        p[i] -= rate * (m[i] / (sqrtf(v[i]) / root + eps));
        if (rounded) rounded[i] = spot_bf16_bits(p[i]);
    }
}

static inline __attribute__((always_inline))
void sgd(spot_ctx *c, float *restrict p, const float *restrict g, float *restrict m, uint16_t *restrict rounded, size_t count,
         const stepped *s)
{
    const spot_optim_rule *r = &s->r;
    float momentum = r->t > 1 ? (float)r->momentum : 0.0f, rate = s->now.rate, decay = (float)r->decay;

#pragma omp parallel for simd num_threads(c->threads) schedule(static)
    for (size_t i = 0; i < count; i++) {
        m[i] = momentum * m[i] + (g[i] + decay * p[i]);
        p[i] -= rate * m[i];
        if (rounded) rounded[i] = spot_bf16_bits(p[i]);
    }
}

static inline __attribute__((always_inline))
void rmsprop(spot_ctx *c, float *restrict p, const float *restrict g, float *restrict m, float *restrict v,
             uint16_t *restrict rounded, size_t count, const stepped *s)
{
    const spot_optim_rule *r = &s->r;
    float b2 = (float)r->beta2, a2 = (float)(1 - r->beta2), eps = (float)r->epsilon, decay = (float)r->decay;
    float momentum = r->t > 1 ? (float)r->momentum : 0.0f, rate = s->now.rate;

#pragma omp parallel for simd num_threads(c->threads) schedule(static)
    for (size_t i = 0; i < count; i++) {
        float d = g[i] + decay * p[i];
        v[i] = b2 * v[i] + a2 * d * d;
        m[i] = momentum * m[i] + d / (sqrtf(v[i]) + eps);
        p[i] -= rate * m[i];
        if (rounded) rounded[i] = spot_bf16_bits(p[i]);
    }
}

/* rounded is a constant NULL or none, so that each case has a loop of its own. */
static inline __attribute__((always_inline))
void step_by(spot_ctx *c, float *p, const float *g, float *m, float *v, uint16_t *rounded, size_t count,
             const stepped *s)
{
    if (s->r.kind == SPOT_OPTIM_ADAM)         adam(c, p, g, m, v, rounded, count, s);
    else if (s->r.kind == SPOT_OPTIM_RMSPROP) rmsprop(c, p, g, m, v, rounded, count, s);
    else                                      sgd(c, p, g, m, rounded, count, s);
}

static spot_status step_cpu(spot_ctx *c, float *p, const float *g, float *m, float *v, size_t count,
                            const spot_optim_rule *r)
{
    const spot_optim_course *o = r->course;
    stepped s = { .r = *r };

    if (o) {
        s.now = o->strides[*o->made];
        o->losses[*o->made] = *o->loss;
        s.r.t = ++*o->made;
        *o->seen += o->batch;
    } else {
        s.now = spot_optim_stride_of(r, r->lr, r->t);
    }
    if (r->rounded) step_by(c, p, g, m, v, r->rounded, count, &s);
    else            step_by(c, p, g, m, v, NULL, count, &s);
    return SPOT_OK;
}

const spot_optim_ops spot_optim_cpu = { step_cpu };

spot_status spot_optim_step(spot_ctx *c, float *p, const float *g, float *m, float *v, size_t count,
                            const spot_optim_rule *r)
{
    const spot_optim_course *o = r->course;

    if (r->kind < SPOT_OPTIM_SGD || r->kind > SPOT_OPTIM_RMSPROP)
        return spot_fail(c, SPOT_INVALID, "optim.step: there is no optimizer %d", (int)r->kind);
    if (o && !(o->strides && o->loss && o->losses && o->made && o->seen))
        return spot_fail(c, SPOT_INVALID, "optim.step: a course has strides, a loss, losses and two counts");
    if (!o && (r->t < 1 || !(r->lr >= 0) || !isfinite(r->lr)))
        return spot_fail(c, SPOT_INVALID, "{optim.step} optim.step: step %d with learning rate %g", r->t, r->lr);
    SPOT_DISPATCH(c, optim, step, p, g, m, v, count, r);
}
