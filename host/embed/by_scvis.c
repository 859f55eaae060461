#include "reduce.h"
spot_status spot_scvis_map(spot_ctx *c, spot_arena *a, int problems, spot_points *out, const spot_view *views,
                           const spot_seed *seeds, const spot_scvis_config *cfg)
{
    (void)a; (void)problems; (void)out; (void)views; (void)seeds; (void)cfg;
    return spot_fail(c, SPOT_UNSUPPORTED, "scvis is not there yet");
}
