/* device.c - memory and order of work of an open device; kernels/open.c opens it. */
#include "core/device.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

void spot_device_close(spot_ctx *c)
{
    spot_device *d = c->device;

    if (d) {
        d->plugin->close(d->state);
        dlclose(d->library);
        free(d);
    }
    c->ops = NULL;
    c->device = NULL;
}

const char *spot_device_name(const spot_ctx *c)
{
    if (c->device) return ((const spot_device *)c->device)->name;
    return c->ops ? c->ops->name : "none";
}

void spot_device_about(spot_ctx *c, char *kind, size_t kind_size, char *unit, size_t unit_size)
{
    const spot_device *d = c->device;

    if (kind) kind[0] = 0;
    if (unit) unit[0] = 0;
    if (d) d->plugin->about(c, kind, kind_size, unit, unit_size);
}

spot_status spot_device_take(spot_ctx *c, void **out, size_t bytes)
{
    const spot_device *d = c->device;

    if (d) return d->plugin->take(c, out, bytes);
    *out = aligned_alloc(64, (bytes + 64) / 64 * 64);
    if (!*out) return spot_fail(c, SPOT_NOMEM, "no %.1f MB of memory left", bytes / 1e6);
    return SPOT_OK;
}

void spot_device_give(spot_ctx *c, void *p)
{
    const spot_device *d = c->device;

    if (d) d->plugin->give(c, p);
    else   free(p);
}

spot_status spot_device_copy(spot_ctx *c, void *to, const void *from, size_t bytes)
{
    const spot_device *d = c->device;

    if (d) return d->plugin->copy(c, to, from, bytes);
    memcpy(to, from, bytes);
    return SPOT_OK;
}

spot_status spot_device_clear(spot_ctx *c, void *p, size_t bytes)
{
    const spot_device *d = c->device;

    if (d) return d->plugin->clear(c, p, bytes);
    memset(p, 0, bytes);
    return SPOT_OK;
}

spot_status spot_device_room(spot_ctx *c, size_t *left, size_t *total)
{
    const spot_device *d = c->device;

    *left = *total = 0;
    return d ? d->plugin->room(c, left, total) : SPOT_OK;
}

spot_status spot_device_wait(spot_ctx *c)
{
    const spot_device *d = c->device;

    return d ? d->plugin->wait(c) : SPOT_OK;
}

spot_status spot_device_record(spot_ctx *c)
{
    const spot_device *d = c->device;

    return d ? d->plugin->record(c) : spot_fail(c, SPOT_UNSUPPORTED, "the CPU does work at once and records none");
}

spot_status spot_device_recorded(spot_ctx *c, void **graph)
{
    return ((const spot_device *)c->device)->plugin->recorded(c, graph);
}

spot_status spot_device_replay(spot_ctx *c, void *graph)
{
    return ((const spot_device *)c->device)->plugin->replay(c, graph);
}

void spot_device_forget(spot_ctx *c, void *graph)
{
    if (graph) ((const spot_device *)c->device)->plugin->forget(graph);
}

void spot_range_begin(const spot_ctx *c, const char *name)
{
    if (c->device) ((const spot_device *)c->device)->plugin->range(name);
}

void spot_range_end(const spot_ctx *c)
{
    if (c->device) ((const spot_device *)c->device)->plugin->range(NULL);
}

spot_status spot_device_multiply(spot_ctx *c, void *product, const void *a, const void *b, int n)
{
    const spot_device *d = c->device;

    if (d) return d->plugin->multiply(c, product, a, b, n);
    return spot_fail(c, SPOT_UNSUPPORTED, "a bf16 matrix product is a GPU's; run with --device cuda");
}
