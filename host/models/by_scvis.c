/* by_scvis.c - prepares problems for the scvis ops. */
#include <stdlib.h>

#include "map/scvis.h"
#include "models/reduce.h"

static spot_status map_all(spot_ctx *c, spot_arena *a, spot_scvis_problem *s, const spot_reduction *r,
                           const spot_scvis_config *cfg)
{
    for (int p = 0; p < r->problems; p++) {
        s[p] = (spot_scvis_problem){ .n = r->views[p].n, .d = r->views[p].d, .dim = r->out[p].d, .seed = r->seeds[p].seed,
                                     .ec = r->seeds[p].ec, .map = spot_points_target(c, &r->out[p]) };
        SPOT_TRY(spot_reduce_features(c, a, &s[p].x, &r->views[p]));
    }
    SPOT_TRY(spot_scvis_fit(c, a, r->problems, s, cfg));
    for (int p = 0; p < r->problems; p++) r->out[p].objective = s[p].loss;
    return SPOT_OK;
}

spot_status spot_scvis_map(spot_ctx *c, spot_arena *work, const spot_reduction *r, const spot_scvis_config *cfg)
{
    size_t mark = work->used;
    spot_scvis_problem *s = calloc((size_t)r->problems, sizeof *s);
    spot_status status = s ? map_all(c, work, s, r, cfg)
                           : spot_fail(c, SPOT_NOMEM, "no memory for %d scvis problems", r->problems);

    free(s);
    work->used = mark;
    return status;
}
