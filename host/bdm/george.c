/* george.c - GEORGE (Sohoni et al. 2020). */
#include "methods.h"

static spot_status find(spot_ctx *c, spot_arena *a, int problems, spot_hypotheses *out, const spot_view *views,
                        const spot_points *points, const spot_seed *seeds, const spot_bdm_config *cfg)
{
    (void)a; (void)problems; (void)out; (void)views; (void)points; (void)seeds; (void)cfg;
    return spot_fail(c, SPOT_UNSUPPORTED, "george is not there yet");
}

static spot_bytes needs(const spot_ctx *c, int problems, const int *n, int d, const spot_bdm_config *cfg)
{
    (void)c; (void)problems; (void)n; (void)d; (void)cfg;
    return (spot_bytes){ 0, 0 };
}

static void defaults(spot_bdm_config *cfg)
{
    cfg->embed.method = SPOT_REDUCE_UMAP;
    cfg->embed.normalise = 1;
    cfg->embed.umap.neighbours = 10;
    cfg->embed.umap.min_dist = 0;
    cfg->least = 25;
    cfg->george = (spot_george_config){ .clusters = 10, .search = 1, .starts = 3, .overcluster = 5 };
}

const spot_method spot_method_george = { defaults, find, needs };
