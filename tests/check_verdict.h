/* check_verdict.h - models whose features follow a known reliance. */
#ifndef SPOTTER_TESTS_CHECK_VERDICT_H
#define SPOTTER_TESTS_CHECK_VERDICT_H

#include "checks.h"

#include "spotter/verdict.h"

/* Features follow the reliance, each in its own measure and with its own noise; half of them do not. Worst-case accuracy
 * follows it loosely. */
static inline spot_verdict_model model_of(int i, int n, uint64_t seed)
{
    spot_rng r = spot_rng_at(seed, SPOT_RNG_PLANT, 0, (uint32_t)i);
    const double rho = (double)i / (n - 1);
    spot_verdict_model m = { .reliance = { rho, NAN }, .accuracy = 0.9 };

    snprintf(m.name, sizeof m.name, "model-%02d", i);
    for (int k = 0; k < SPOT_VERDICT_FEATURES; k++)
        m.feature[k] = (float)((k % 2 ? 0 : rho * (1 + k)) + 0.15 * (1 + k) * spot_rng_normal(&r));
    m.worst = 0.5 - 0.2 * rho + 0.1 * spot_rng_normal(&r);
    for (int k = 0; k < SPOT_COVERAGES; k++) m.coverage[k] = 1 - 0.2 * k;
    return m;
}

static inline spot_verdict_table table_of(spot_ctx *c, int n, int matrices, uint64_t seed)
{
    spot_verdict_table t = { .measured = "grid 8", .suite = "random, N 4" };

    for (int i = 0; i < n; i++) {
        const spot_verdict_model m = model_of(i, n, seed);
        CHECK_OK(c, spot_verdict_table_put(c, &t, &m, matrices));
    }
    return t;
}

#endif
