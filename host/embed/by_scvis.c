/* by_scvis.c - prepares problems for the scvis ops. */
#include <stdlib.h>

#include "embed/reduce.h"
#include "map/scvis.h"

static spot_status map_all(spot_ctx *c, spot_arena *a, spot_scvis_problem *s, int problems, spot_points *out,
                           const spot_view *views, const spot_seed *seeds, const spot_scvis_config *cfg)
{
    for (int p = 0; p < problems; p++) {
        s[p] = (spot_scvis_problem){ .n = views[p].n, .d = views[p].d, .dim = out[p].d, .seed = seeds[p].seed,
                                     .ec = seeds[p].ec, .map = spot_points_target(c, &out[p]) };
        SPOT_TRY(spot_reduce_features(c, a, &s[p].x, &views[p]));
    }
    SPOT_TRY(spot_scvis_fit(c, a, problems, s, cfg));
    for (int p = 0; p < problems; p++) out[p].objective = s[p].loss;
    return SPOT_OK;
}

spot_status spot_scvis_map(spot_ctx *c, spot_arena *work, int problems, spot_points *out, const spot_view *views,
                           const spot_seed *seeds, const spot_scvis_config *cfg)
{
    size_t mark = work->used;
    spot_scvis_problem *s = calloc((size_t)problems, sizeof *s);
    spot_status status = s ? map_all(c, work, s, problems, out, views, seeds, cfg)
                           : spot_fail(c, SPOT_NOMEM, "no memory for %d scvis problems", problems);

    free(s);
    work->used = mark;
    return status;
}
