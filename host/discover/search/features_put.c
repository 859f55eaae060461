#include "discover/search/features_put.h"

#include "core/device.h"
#include "discover/subject/attribute_rows.h"

/* A view of the features is read on the device; attributes are counted by their method. */
static bool are_read(const spot_discover_options *o)
{
    bool any = false;

    for (int b = 0; b < o->bdms; b++) any = any || (!spot_by_table(o, b) && spot_bdm_reads_on_device(&o->bdm[b]));
    return any;
}

static spot_status take_features(spot_ctx *c, spot_arena *a, spot_view *view, int count)
{
    for (int i = 0; i < count; i++) SPOT_TRY(SPOT_TAKE(c, a, view[i].device_feature, (size_t)view[i].n * (size_t)view[i].d));
    return SPOT_OK;
}

static spot_status copy_features(spot_ctx *c, spot_view *view, int count)
{
    for (int i = 0; i < count; i++)
        SPOT_TRY(spot_device_copy(c, view[i].device_feature, view[i].feature,
                                  (size_t)view[i].n * (size_t)view[i].d * sizeof *view[i].feature));
    return SPOT_OK;
}

/* Opens the memory if there is room for what the methods need, too. */
static spot_status open_memory(spot_ctx *c, spot_arena *on_device, size_t bytes, size_t device)
{
    size_t left, total;

    SPOT_TRY(spot_device_room(c, &left, &total));
    if (left < device || left - device < bytes)
        return spot_fail(c, SPOT_NOMEM, "they take %.2f GB, the methods %.2f GB, and %.2f GB are free", bytes / 1e9,
                         device / 1e9, left / 1e9);
    return spot_arena_open_device(c, on_device, bytes);
}

spot_status spot_features_put(spot_ctx *c, spot_arena *on_device, const spot_discover_options *o, spot_view *view, int count,
                              size_t device)
{
    spot_arena a = spot_arena_counting();
    spot_status s;

    if (!c->device || !are_read(o)) return SPOT_OK;
    SPOT_TRY(take_features(c, &a, view, count));
    s = open_memory(c, on_device, a.peak, device);
    if (s == SPOT_NOMEM) {
        spot_log(c, SPOT_LOG_INFO, "features are copied to the device for every method: %s", spot_take_message(c, s));
        return SPOT_OK;
    }
    SPOT_TRY(s);
    SPOT_TRY(take_features(c, on_device, view, count));
    return copy_features(c, view, count);
}
