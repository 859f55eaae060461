/* twin.c - see twin.h. */
#include "base/twin.h"

#include "core/device.h"

spot_status spot_twin_take(spot_ctx *c, spot_arena *host, spot_arena *work, spot_twin *t, size_t bytes)
{
    t->bytes = bytes;
    SPOT_TRY(spot_arena_take(c, host, &t->here, bytes));
    t->there = t->here;
    return c->device ? spot_arena_take(c, work, &t->there, bytes) : SPOT_OK;
}

spot_status spot_twin_push(spot_ctx *c, const spot_twin *t)
{
    return t->there == t->here ? SPOT_OK : spot_device_copy(c, t->there, t->here, t->bytes);
}

spot_status spot_twin_pull(spot_ctx *c, const spot_twin *t)
{
    return t->there == t->here ? SPOT_OK : spot_device_copy(c, t->here, t->there, t->bytes);
}

spot_status spot_numbers_there(spot_ctx *c, spot_arena *work, const float **x, const float *here, const float *there,
                               size_t count)
{
    float *copy;

    *x = c->device ? there : here;
    if (!c->device || there) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(c, work, copy, count));
    *x = copy;
    return work->counting ? SPOT_OK : spot_device_copy(c, copy, here, count * sizeof *copy);
}
