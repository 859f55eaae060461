/* ward_trees.c - see ward_trees.h. */
#include "fit/ward_trees.h"

#include "base/twin.h"
#include "core/device.h"
#include "core/problems.h"

enum { GROUP = 16 };           /* jobs at a time on a GPU, so that many large ones fit into its memory */

static int group_at(int count, int first) { return count - first < GROUP ? count - first : GROUP; }

static size_t scratch_of(const spot_ctx *c, int count, const spot_ward_job *jobs)
{
    return spot_ward_scratch(count, SPOT_MOST(count, jobs, n), SPOT_MOST(count, jobs, d), c->device ? 0 : c->threads);
}

/* there (count): the jobs with copies in the memory of c's device. */
static spot_status take_there(spot_ctx *c, spot_arena *work, int count, const spot_ward_job *jobs, spot_ward_job *there)
{
    for (int j = 0; j < count; j++) {
        const size_t n = (size_t)jobs[j].n;
        spot_ward_job own = jobs[j];
        SPOT_TRY(spot_numbers_there(c, work, &own.x, jobs[j].x, NULL, n * (size_t)own.d));
        SPOT_TRY(SPOT_TAKE(c, work, own.merge, n));
        if (!work->counting) there[j] = own;
    }
    return SPOT_OK;
}

static spot_status count_trees(spot_ctx *c, spot_arena *work, int count, const spot_ward_job *jobs)
{
    uint8_t *scratch;

    if (c->device) SPOT_TRY(take_there(c, work, count, jobs, NULL));
    return SPOT_TAKE(c, work, scratch, scratch_of(c, count, jobs) + 64);
}

static spot_status fit_there(spot_ctx *c, spot_arena *work, int count, spot_ward_job *jobs, spot_ward_job *there)
{
    SPOT_TRY(take_there(c, work, count, jobs, there));
    SPOT_TRY(spot_ward_fit(c, work, count, there));
    for (int j = 0; j < count; j++) {
        jobs[j].rounds = there[j].rounds;
        SPOT_TRY(spot_device_copy(c, jobs[j].merge, there[j].merge, (size_t)(jobs[j].n - 1) * sizeof *jobs[j].merge));
    }
    return SPOT_OK;
}

spot_status spot_ward_trees_in(spot_ctx *c, spot_arena *a, spot_arena *work, int count, spot_ward_job *jobs)
{
    const size_t mark = a->used, work_mark = work->used;
    spot_ward_job *there;
    spot_status s;

    SPOT_TRY(SPOT_TAKE(c, a, there, count));
    if (work->counting) s = count_trees(c, work, count, jobs);
    else if (c->device) s = fit_there(c, work, count, jobs, there);
    else                s = spot_ward_fit(c, work, count, jobs);
    work->used = work_mark;
    a->used = mark;
    return s;
}

/* The device memory of the group that needs most. */
static spot_status count_groups(spot_ctx *c, size_t *bytes, int count, const spot_ward_job *jobs)
{
    *bytes = 0;
    for (int first = 0; first < count; first += GROUP) {
        spot_arena there = spot_arena_counting();
        SPOT_TRY(count_trees(c, &there, group_at(count, first), jobs + first));
        if (there.peak > *bytes) *bytes = there.peak;
    }
    return SPOT_OK;
}

spot_status spot_ward_trees(spot_ctx *c, spot_arena *a, int count, spot_ward_job *jobs)
{
    spot_status s = SPOT_OK;
    spot_arena there;
    size_t bytes;

    if (!c->device || count < 1) return spot_ward_trees_in(c, a, a, count, jobs);
    SPOT_TRY(count_groups(c, &bytes, count, jobs));
    SPOT_TRY(spot_arena_open_device(c, &there, bytes));
    for (int first = 0; first < count && s == SPOT_OK; first += GROUP)
        s = spot_ward_trees_in(c, a, &there, group_at(count, first), jobs + first);
    spot_arena_close(&there);
    return s;
}

/* On a GPU for a group of jobs of the most rows: the caller may leave out jobs, so that others meet in a group. */
spot_bytes spot_ward_trees_needs(const spot_ctx *c, int count, const int *n, int d)
{
    spot_ctx quiet = { .device = c->device, .threads = c->threads };
    spot_bytes all = { (size_t)count * sizeof(spot_ward_job) + 2 * 64, 0 };
    spot_ward_job jobs[GROUP];
    int most = 1;

    for (int j = 0; j < count; j++) most = n[j] > most ? n[j] : most;
    for (int j = 0; j < group_at(count, 0); j++) jobs[j] = (spot_ward_job){ .n = most, .d = d };
    if (c->device) count_groups(&quiet, &all.device, group_at(count, 0), jobs);
    else           all.host += spot_ward_scratch(count, most, d, c->threads) + 64;
    return all;
}
