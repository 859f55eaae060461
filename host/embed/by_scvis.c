/* by_scvis.c - views in, maps out; the work is the op family scvis. */
#include <stdlib.h>

#include "reduce.h"
#include "scvis.h"

spot_status spot_scvis_map(spot_ctx *c, spot_arena *a, int problems, spot_points *out, const spot_view *views,
                           const spot_seed *seeds, const spot_scvis_config *cfg)
{
    spot_scvis_problem *s = calloc((size_t)problems, sizeof *s);
    spot_status status;

    if (!s) return spot_fail(c, SPOT_NOMEM, "no memory for %d scvis problems", problems);
    for (int p = 0; p < problems; p++)
        s[p] = (spot_scvis_problem){ .n = views[p].n, .d = views[p].d, .dim = out[p].d, .seed = seeds[p].seed,
                                     .ec = seeds[p].ec, .x = views[p].feature, .map = out[p].at };
    status = spot_scvis_fit(c, a, problems, s, cfg);
    for (int p = 0; p < problems; p++) out[p].objective = s[p].loss;
    free(s);
    return status;
}
