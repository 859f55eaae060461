/* spotlight.c - Spotlight (d'Eon et al. 2022). */
#include "methods.h"

static spot_status find(spot_ctx *c, spot_arena *a, int problems, spot_hypotheses *out, const spot_view *views,
                        const spot_points *points, const spot_seed *seeds, const spot_bdm_config *cfg)
{
    (void)a; (void)problems; (void)out; (void)views; (void)points; (void)seeds; (void)cfg;
    return spot_fail(c, SPOT_UNSUPPORTED, "spotlight is not there yet");
}

static spot_bytes needs(const spot_ctx *c, int problems, const int *n, int d, const spot_bdm_config *cfg)
{
    (void)c; (void)problems; (void)n; (void)d; (void)cfg;
    return (spot_bytes){ 0, 0 };
}

static void defaults(spot_bdm_config *cfg)
{
    cfg->threshold = 0.5;
    cfg->spotlight = (spot_spotlight_config){ .min_weight = 0.01, .steps = 1000, .patience = 20, .lr = 1e-2, .barrier_scale = 1,
                                              .barrier_end = 0.05 };
}

const spot_method spot_method_spotlight = { defaults, find, needs };
