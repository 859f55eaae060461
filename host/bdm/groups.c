/* groups.c - see groups.h. */
#include "bdm/groups.h"

#include "bdm/slices.h"

static spot_bdm_group group_at(const spot_bdm_group *all, int p)
{
    spot_bdm_group g = *all;

    g.problems = all->problems - p < SPOT_BDM_GROUP ? all->problems - p : SPOT_BDM_GROUP;
    g.out += p, g.views += p, g.points += p, g.seeds += p;
    if (g.fits) g.fits += p;
    return g;
}

/* The device memory of the group that needs most. */
static spot_status count_there(spot_ctx *c, size_t *bytes, const spot_bdm_group *all, spot_bdm_group_run *run)
{
    *bytes = 0;
    for (int p = 0; p < all->problems; p += SPOT_BDM_GROUP) {
        const spot_bdm_group g = group_at(all, p);
        spot_arena host = spot_arena_counting(), there = host;
        SPOT_TRY(run(c, &host, &there, &g));
        if (there.peak > *bytes) *bytes = there.peak;
    }
    return SPOT_OK;
}

spot_status spot_bdm_groups_find(spot_ctx *c, spot_arena *a, const spot_bdm_group *all, spot_bdm_group_run *run)
{
    spot_arena there = { 0 };
    spot_status s = SPOT_OK;
    size_t bytes;

    if (c->device) {
        SPOT_TRY(count_there(c, &bytes, all, run));
        SPOT_TRY(spot_arena_open_device(c, &there, bytes));
    }
    for (int p = 0; p < all->problems && s == SPOT_OK; p += SPOT_BDM_GROUP) {
        const spot_bdm_group g = group_at(all, p);
        s = spot_check_stop(c);
        if (s == SPOT_OK) s = run(c, a, c->device ? &there : a, &g);
        there.used = 0;
    }
    if (c->device) spot_arena_close(&there);
    return s;
}

spot_bytes spot_bdm_groups_needs(const spot_ctx *c, int problems, const int *n, int d, const spot_bdm_config *cfg,
                                 spot_bdm_group_run *run)
{
    spot_ctx quiet = { .device = c->device, .threads = c->threads };
    spot_arena host = spot_arena_counting(), there = host;
    spot_view views[SPOT_BDM_GROUP];
    spot_points points[SPOT_BDM_GROUP];
    size_t most = 0;

    for (int p = 0; p < problems; p += SPOT_BDM_GROUP) {
        spot_bdm_group g = { .problems = problems - p < SPOT_BDM_GROUP ? problems - p : SPOT_BDM_GROUP, .views = views,
                             .points = points, .cfg = cfg };
        for (int q = 0; q < g.problems; q++) {
            views[q] = (spot_view){ .n = n[p + q], .d = d };
            points[q] = (spot_points){ .n = n[p + q], .d = d };
        }
        run(&quiet, &host, c->device ? &there : &host, &g);
        if (there.peak > most) most = there.peak;
        there.used = 0;
    }
    return (spot_bytes){ host.peak + SPOT_SLICES_SLACK, most };
}
