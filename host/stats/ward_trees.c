/* ward_trees.c - see ward_trees.h. */
#include "stats/ward_trees.h"

#include "base/twin.h"
#include "core/device.h"
#include "core/problems.h"

static size_t scratch_of(const spot_ctx *c, int count, const spot_ward_job *jobs)
{
    return spot_ward_scratch(count, SPOT_MOST(count, jobs, n), SPOT_MOST(count, jobs, d), c->device ? 0 : c->threads);
}

/* there (count): the jobs with copies in the memory of c's device. */
static spot_status take_on_device(spot_ctx *c, spot_arena *work, int count, const spot_ward_job *jobs, spot_ward_job *on_device)
{
    for (int j = 0; j < count; j++) {
        const size_t n = (size_t)jobs[j].n;
        spot_ward_job own = jobs[j];
        SPOT_TRY(spot_numbers_on_device(c, work, &own.x, jobs[j].x, NULL, n * (size_t)own.d));
        SPOT_TRY(SPOT_TAKE(c, work, own.merge, n));
        if (!work->counting) on_device[j] = own;
    }
    return SPOT_OK;
}

static spot_status count_trees(spot_ctx *c, spot_arena *work, int count, const spot_ward_job *jobs)
{
    uint8_t *scratch;

    if (c->device) SPOT_TRY(take_on_device(c, work, count, jobs, NULL));
    return SPOT_TAKE(c, work, scratch, scratch_of(c, count, jobs));
}

static spot_status fit_on_device(spot_ctx *c, spot_arena *work, int count, spot_ward_job *jobs, spot_ward_job *on_device)
{
    SPOT_TRY(take_on_device(c, work, count, jobs, on_device));
    SPOT_TRY(spot_ward_fit(c, work, count, on_device));
    for (int j = 0; j < count; j++) {
        jobs[j].rounds = on_device[j].rounds;
        SPOT_TRY(spot_device_copy(c, jobs[j].merge, on_device[j].merge, (size_t)(jobs[j].n - 1) * sizeof *jobs[j].merge));
    }
    return SPOT_OK;
}

spot_status spot_ward_trees(spot_ctx *c, spot_arena *a, spot_arena *work, int count, spot_ward_job *jobs)
{
    const size_t mark = a->used, work_mark = work->used;
    spot_ward_job *on_device;
    spot_status s;

    SPOT_TRY(SPOT_TAKE(c, a, on_device, count));
    if (work->counting) s = count_trees(c, work, count, jobs);
    else if (c->device) s = fit_on_device(c, work, count, jobs, on_device);
    else                s = spot_ward_fit(c, work, count, jobs);
    work->used = work_mark;
    a->used = mark;
    return s;
}
