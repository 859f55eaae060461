/* device.c - memory and order of work of an open device; kernels/open.c opens it. */
#include "core/device.h"

#include <stdlib.h>
#include <string.h>

#include "spotter/arena.h"

/* The plugin of c's device; NULL on the CPU. */
static const spot_plugin *plugin_of(const spot_ctx *c)
{
    return c->device ? ((const spot_device *)c->device)->plugin : NULL;
}

void spot_device_close(spot_ctx *c)
{
    spot_device *d = c->device;

    if (d) {
        d->plugin->close(d->state);        /* the library stays: CUDA's runtime in it still has work at the program's end */
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
    if (kind) kind[0] = 0;
    if (unit) unit[0] = 0;
    if (c->device) plugin_of(c)->about(c, kind, kind_size, unit, unit_size);
}

spot_status spot_device_take(spot_ctx *c, void **out, size_t bytes)
{
    if (c->device) return plugin_of(c)->take(c, out, bytes);
    *out = aligned_alloc(SPOT_ALIGN, spot_arena_room(bytes ? bytes : 1));
    if (!*out) return spot_fail(c, SPOT_NOMEM, "{device.full} no %.1f MB of memory left", bytes / 1e6);
    return SPOT_OK;
}

void spot_device_give(spot_ctx *c, void *p)
{
    if (c->device) plugin_of(c)->give(c, p);
    else           free(p);
}

spot_status spot_device_copy(spot_ctx *c, void *to, const void *from, size_t bytes)
{
    if (to == from || !bytes) return SPOT_OK;
    if (c->device) return plugin_of(c)->copy(c, to, from, bytes);
    memcpy(to, from, bytes);
    return SPOT_OK;
}

spot_status spot_device_clear(spot_ctx *c, void *p, size_t bytes)
{
    if (c->device) return plugin_of(c)->clear(c, p, bytes);
    memset(p, 0, bytes);
    return SPOT_OK;
}

spot_status spot_device_room(spot_ctx *c, size_t *left, size_t *total)
{
    *left = *total = 0;
    return c->device ? plugin_of(c)->room(c, left, total) : SPOT_OK;
}

spot_status spot_device_wait(spot_ctx *c)
{
    return c->device ? plugin_of(c)->wait(c) : SPOT_OK;
}

spot_status spot_device_record(spot_ctx *c)
{
    return c->device ? plugin_of(c)->record(c) : spot_fail(c, SPOT_UNSUPPORTED, "the CPU cannot record kernels");
}

spot_status spot_device_recorded(spot_ctx *c, void **graph)
{
    return plugin_of(c)->recorded(c, graph);
}

spot_status spot_device_replay(spot_ctx *c, void *graph)
{
    return plugin_of(c)->replay(c, graph);
}

void spot_device_forget(spot_ctx *c, void *graph)
{
    if (graph) plugin_of(c)->forget(graph);
}

spot_status spot_device_fork(spot_ctx *c)   { return c->device ? plugin_of(c)->fork(c) : SPOT_OK; }
spot_status spot_device_unfork(spot_ctx *c) { return c->device ? plugin_of(c)->unfork(c) : SPOT_OK; }
spot_status spot_device_join(spot_ctx *c)   { return c->device ? plugin_of(c)->join(c) : SPOT_OK; }

void spot_range_begin(const spot_ctx *c, const char *name)
{
    if (c->device) plugin_of(c)->range(name);
}

void spot_range_end(const spot_ctx *c)
{
    if (c->device) plugin_of(c)->range(NULL);
}

spot_status spot_device_multiply(spot_ctx *c, void *product, const void *a, const void *b, int n)
{
    if (c->device) return plugin_of(c)->multiply(c, product, a, b, n);
    return spot_fail(c, SPOT_UNSUPPORTED, "a bf16 matrix product needs a GPU; run with --device cuda");
}
