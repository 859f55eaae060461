/* domino.c - Domino (Eyuboglu et al. 2022). */
#include "methods.h"

static spot_status find(spot_ctx *c, spot_arena *a, int problems, spot_hypotheses *out, const spot_view *views,
                        const spot_points *points, const spot_seed *seeds, const spot_bdm_config *cfg)
{
    (void)a; (void)problems; (void)out; (void)views; (void)points; (void)seeds; (void)cfg;
    return spot_fail(c, SPOT_UNSUPPORTED, "domino is not there yet");
}

static spot_bytes needs(const spot_ctx *c, int problems, const int *n, int d, const spot_bdm_config *cfg)
{
    (void)c; (void)problems; (void)n; (void)d; (void)cfg;
    return (spot_bytes){ 0, 0 };
}

static void defaults(spot_bdm_config *cfg)
{
    cfg->embed.method = SPOT_REDUCE_PCA;
    cfg->embed.dim = 128;
    cfg->domino = (spot_domino_config){ .components = 25, .gamma = 10, .gamma_hat = -1, .noise = 1e-3 };
}

const spot_method spot_method_domino = { defaults, find, needs };
