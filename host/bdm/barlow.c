/* barlow.c - Barlow (Singla et al. 2021). */
#include "methods.h"

static spot_status find(spot_ctx *c, spot_arena *a, int problems, spot_hypotheses *out, const spot_view *views,
                        const spot_points *points, const spot_seed *seeds, const spot_bdm_config *cfg)
{
    (void)a; (void)problems; (void)out; (void)views; (void)points; (void)seeds; (void)cfg;
    return spot_fail(c, SPOT_UNSUPPORTED, "barlow is not there yet");
}

static spot_bytes needs(const spot_ctx *c, int problems, const int *n, int d, const spot_bdm_config *cfg)
{
    (void)c; (void)problems; (void)n; (void)d; (void)cfg;
    return (spot_bytes){ 0, 0 };
}

static void defaults(spot_bdm_config *cfg)
{
    cfg->representation = SPOT_BY_ROBUST;
    cfg->barlow = (spot_barlow_config){ .depth = 11, .features = 128 };
}

const spot_method spot_method_barlow = { defaults, find, needs };
