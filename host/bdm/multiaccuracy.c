/* multiaccuracy.c - Multiaccuracy (Kim, Ghorbani & Zou 2019). */
#include "methods.h"

static spot_status find(spot_ctx *c, spot_arena *a, int problems, spot_hypotheses *out, const spot_view *views,
                        const spot_points *points, const spot_seed *seeds, const spot_bdm_config *cfg)
{
    (void)a; (void)problems; (void)out; (void)views; (void)points; (void)seeds; (void)cfg;
    return spot_fail(c, SPOT_UNSUPPORTED, "multiaccuracy is not there yet");
}

static spot_bytes needs(const spot_ctx *c, int problems, const int *n, int d, const spot_bdm_config *cfg)
{
    (void)c; (void)problems; (void)n; (void)d; (void)cfg;
    return (spot_bytes){ 0, 0 };
}

static void defaults(spot_bdm_config *cfg)
{
    cfg->threshold = 0.5;
    cfg->least = 10;
    cfg->multiaccuracy = (spot_multiaccuracy_config){ .eta = 0.1, .ridge = 1, .held_out = 0.3, .gain = 1e-4 };
}

const spot_method spot_method_multiaccuracy = { defaults, find, needs };
