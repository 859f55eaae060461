/* groups.c - see groups.h. */
#include "bdm/groups.h"

#include "bdm/methods.h"

/* A GPU solves a wave of a sweep at once. More than half as many make a CPU no faster, and its memory is smaller. */
static int most_at_once(const spot_ctx *c) { return c->device ? SPOT_BDM_GROUP : SPOT_BDM_GROUP / 2; }

spot_status spot_bdm_scratch(spot_ctx *c, spot_arena *a, size_t bytes)
{
    const size_t mark = a->used;
    unsigned char *scratch;

    SPOT_TRY(SPOT_TAKE(c, a, scratch, bytes));
    a->used = mark;
    return SPOT_OK;
}

spot_status spot_bdm_call(spot_ctx *c, spot_arena *host, const spot_bdm_group *g, spot_bytes needs)
{
    unsigned char *taken;

    if (needs.device > *g->beside) *g->beside = needs.device;
    return SPOT_TAKE(c, host, taken, needs.host);
}

/* Memory of a problem's hypotheses, which outlives the group. */
static spot_status take_lists(spot_ctx *c, spot_arena *host, int **row, float **weight, int n, int top, const spot_method *m)
{
    SPOT_TRY(SPOT_TAKE(c, host, *row, (m->overlap ? (size_t)top : 1) * (size_t)n));
    return m->weighs ? SPOT_TAKE(c, host, *weight, (size_t)top * (size_t)n) : SPOT_OK;
}

static spot_status solve_group(spot_ctx *c, spot_arena *host, spot_arena *work, spot_bdm_group *g, const spot_method *m)
{
    float *weight[SPOT_BDM_GROUP];
    int *row[SPOT_BDM_GROUP];
    spot_status s;
    size_t mark;

    g->row = row;
    g->weight = weight;
    for (int p = 0; p < g->problems; p++)
        SPOT_TRY(take_lists(c, host, &row[p], &weight[p], g->points[p].n, g->cfg->top, m));
    mark = host->used;
    s = m->solve(c, host, work, g);
    host->used = mark;
    return s;
}

static spot_bdm_group group_at(const spot_bdm_group *all, int p, int most)
{
    spot_bdm_group g = *all;

    g.problems = all->problems - p < most ? all->problems - p : most;
    g.out += p, g.views += p, g.points += p, g.seeds += p;
    if (g.fits) g.fits += p;
    return g;
}

/* Opens device memory for the group that needs most. */
static spot_status open_on_device(spot_ctx *c, spot_arena *on_device, const spot_bdm_group *all, const spot_method *m)
{
    size_t most = 0, beside = 0;

    for (int p = 0; p < all->problems; p += most_at_once(c)) {
        spot_arena host = spot_arena_counting(), work = host;
        spot_bdm_group g = group_at(all, p, most_at_once(c));
        g.beside = &beside;
        SPOT_TRY(solve_group(c, &host, &work, &g, m));
        if (work.peak > most) most = work.peak;
    }
    return most ? spot_arena_open_device(c, on_device, most) : SPOT_OK;
}

spot_status spot_bdm_groups_find(spot_ctx *c, spot_arena *a, const spot_bdm_group *all, const spot_method *m)
{
    spot_arena on_device = { 0 };
    spot_status s = SPOT_OK;

    if (c->device) SPOT_TRY(open_on_device(c, &on_device, all, m));
    for (int p = 0; p < all->problems && s == SPOT_OK; p += most_at_once(c)) {
        spot_bdm_group g = group_at(all, p, most_at_once(c));
        for (int q = 0; q < g.problems; q++) g.out[q] = (spot_hypotheses){ 0 };
        s = spot_check_stop(c);
        if (s == SPOT_OK) s = solve_group(c, a, c->device ? &on_device : a, &g, m);
        on_device.used = 0;
    }
    spot_arena_close(&on_device);
    return s;
}

/* The greatest of n, no more than `most` of them; returns their number. */
static int choose_greatest(int *greatest, int most, const int *n, int count)
{
    int len = 0;

    for (int p = 0; p < count; p++) {
        int at;
        if (len == most && n[p] <= greatest[len - 1]) continue;
        for (at = len < most ? len++ : len - 1; at > 0 && greatest[at - 1] < n[p]; at--) greatest[at] = greatest[at - 1];
        greatest[at] = n[p];
    }
    return len;
}

spot_bytes spot_bdm_groups_needs(const spot_ctx *c, int problems, const int *n, int d, const spot_bdm_config *cfg,
                                 const spot_method *m)
{
    spot_ctx quiet = { .device = c->device, .threads = c->threads };
    spot_arena host = spot_arena_counting(), on_device = host;
    spot_points points[SPOT_BDM_GROUP];
    spot_view views[SPOT_BDM_GROUP];
    int greatest[SPOT_BDM_GROUP];
    size_t beside = 0;
    spot_bdm_group g = { .views = views, .points = points, .cfg = cfg, .beside = &beside };

    g.problems = choose_greatest(greatest, most_at_once(c), n, problems);
    for (int p = 0; p < problems; p++) take_lists(&quiet, &host, &(int *){ 0 }, &(float *){ 0 }, n[p], cfg->top, m);
    for (int p = 0; p < g.problems; p++) {
        views[p] = (spot_view){ .n = greatest[p], .d = d };
        points[p] = (spot_points){ .n = greatest[p], .d = d };
    }
    if (problems) m->solve(&quiet, &host, c->device ? &on_device : &host, &g);
    return (spot_bytes){ host.peak, on_device.peak + beside };
}
