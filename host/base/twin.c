/* twin.c - see twin.h. */
#include "base/twin.h"

#include "core/device.h"

spot_status spot_twin_take(spot_ctx *c, spot_arena *host, spot_arena *work, spot_twin *t, size_t bytes)
{
    t->bytes = bytes;
    SPOT_TRY(spot_arena_take(c, host, &t->here, bytes));
    t->on_device = t->here;
    return c->device ? spot_arena_take(c, work, &t->on_device, bytes) : SPOT_OK;
}

spot_status spot_twin_push(spot_ctx *c, const spot_twin *t)
{
    return t->on_device == t->here ? SPOT_OK : spot_device_copy(c, t->on_device, t->here, t->bytes);
}

spot_status spot_twin_pull(spot_ctx *c, const spot_twin *t)
{
    return t->on_device == t->here ? SPOT_OK : spot_device_copy(c, t->here, t->on_device, t->bytes);
}

spot_status spot_numbers_on_device(spot_ctx *c, spot_arena *work, const float **x, const float *here, const float *on_device,
                               size_t count)
{
    float *copy;

    *x = c->device ? on_device : here;
    if (!c->device || on_device) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(c, work, copy, count));
    *x = copy;
    return work->counting ? SPOT_OK : spot_device_copy(c, copy, here, count * sizeof *copy);
}
