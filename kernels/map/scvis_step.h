/* scvis_step.h - scvis' formulas for one element: the CPU and CUDA run the same operations, so they give the same bits.
 * Private to scvis*. */
#ifndef SPOTTER_SCVIS_STEP_H
#define SPOTTER_SCVIS_STEP_H

#include "core/philox.h"
#include "core/vmath.h"
#include "map/scvis.h"

/* The factors A and K of the loss (scvis.h) in a step. */
static inline SPOT_HD double spot_scvis_tsne_factor(const spot_scvis_config *cfg, int step, int d)
{
    return cfg->compat.tsne_ramp && step < d ? step : d;
}

static inline SPOT_HD double spot_scvis_kl_factor(const spot_scvis_config *cfg, int step, int d)
{
    return cfg->compat.kl_decay ? fmax(0.1, (double)d / step) : 1;
}

/* The variance, clipped to [1e-6, 1e10]. Outside, *slope becomes 0. */
static inline SPOT_HD float spot_scvis_clip(float v, float *slope)
{
    float up = v < 1e-6f ? 1e-6f : v, in = up > 1e10f ? 1e10f : up;

    *slope = in == v ? *slope : 0.0f;
    return in;
}

/* Softplus, clipped, and its slope. */
static inline SPOT_HD float spot_scvis_variance(float raw, float *slope)
{
    float soft = spot_softplusf(raw, slope);

    return spot_scvis_clip(soft, slope);
}

/* log Gamma and digamma of x > 0: Stirling's series beyond 8, recurrence below. libm's lgamma writes a global. */
static inline SPOT_HD double spot_scvis_log_gamma(double x, double *digamma)
{
    double shift = 0, below = 0;

    for (; x < 8; x++) {
        shift += spot_philox_log(x);
        below += 1 / x;
    }
    double r = 1 / x, r2 = r * r, log_x = spot_philox_log(x);
    *digamma = log_x - r / 2 - r2 * (1 / 12.0 - r2 * (1 / 120.0 - r2 * (1 / 252.0 - r2 * (1 / 240.0 - r2 / 132)))) - below;
    return (x - 0.5) * log_x - x + 0.91893853320467274 - shift
           + r * (1 / 12.0 - r2 * (1 / 360.0 - r2 * (1 / 1260.0 - r2 * (1 / 1680.0 - r2 / 1188))));
}

/* nu, the degrees of freedom clipped to [0.1, 10]; the Student-t's log-normaliser without its variance, and its slope. */
static inline SPOT_HD float spot_scvis_freedom(float raw, float *log_norm, float *slope)
{
    float nu = raw < 0.1f ? 0.1f : raw > 10.0f ? 10.0f : raw;
    double high, low, norm = spot_scvis_log_gamma((nu + 1.0) / 2, &high) - spot_scvis_log_gamma(nu / 2.0, &low);

    *log_norm = (float)(norm - 0.5 * spot_philox_log(3.14159265358979324 * nu));
    *slope = (float)(0.5 * (high - low - 1.0 / nu));
    return nu;
}

/* The variance of a feature, and its slope by what the decoder gives. */
typedef struct { float v, slope; } spot_scvis_spread;

static inline SPOT_HD spot_scvis_spread spot_scvis_spread_of(float raw)
{
    spot_scvis_spread s;

    s.v = spot_scvis_variance(raw, &s.slope);
    return s;
}

/* The log-density of feature x, `scale` times its slopes by mean and raw variance, and its slope by nu. With e = x - mean and
 * v the variance:  log t = log_norm(nu) - log(v)/2 - (nu+1)/2 log(1 + e^2 / (nu v)) */
typedef struct { float log, mean, raw, nu; } spot_scvis_density;

static inline SPOT_HD spot_scvis_density spot_scvis_student(float x, float mean, spot_scvis_spread s, float nu, float log_norm,
                                                            float nu_slope, float scale)
{
    float e = x - mean, part_of = 1.0f / fmaf(nu, s.v, e * e), half = 0.5f * (nu + 1.0f);
    float tail = spot_logf(1.0f + e * e / (nu * s.v)), pull = e * part_of;
    spot_scvis_density t;

    t.log = log_norm - 0.5f * spot_logf(s.v) - half * tail;
    t.mean = scale * (nu + 1.0f) * pull;
    t.raw = scale * s.slope * (half * e * pull - 0.5f) / s.v;
    t.nu = nu_slope - 0.5f * tail + half * e * pull / nu;
    return t;
}

#endif
