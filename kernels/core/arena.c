/* arena.c - a bump allocator over reserved address space or device memory. Linked into the program and into every device
 * plugin, so it calls the plugin's table and not device.c. */
#define _DEFAULT_SOURCE
#include "spotter/arena.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "core/device.h"
#include "core/pointer.h"

/* At least one room. More than all memory stays what it is, so that opening fails. */
static size_t size_for(size_t bytes)
{
    return bytes > SIZE_MAX - SPOT_ALIGN ? bytes : spot_arena_room(bytes ? bytes : 1);
}

spot_status spot_arena_open(spot_ctx *c, spot_arena *a, size_t bytes)
{
    void *p;

    memset(a, 0, sizeof *a);
    bytes = size_for(bytes);
    p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return spot_fail(c, SPOT_NOMEM, "{arena.unreserved} cannot reserve %.1f MB of memory; make the batch or the images "
                         "smaller", bytes / 1e6);
    a->base = p;
    a->size = bytes;
    return SPOT_OK;
}

spot_status spot_arena_open_pinned(spot_ctx *c, spot_arena *a, size_t bytes)
{
    const spot_device *d = c->device;

    SPOT_TRY(spot_arena_open(c, a, bytes));
    if (!d || !d->plugin->pin) return SPOT_OK;
    if (d->plugin->pin(c, a->base, a->size) == SPOT_OK) a->pinned = c;
    else spot_forget(c);
    return SPOT_OK;
}

spot_status spot_arena_open_device(spot_ctx *c, spot_arena *a, size_t bytes)
{
    const spot_device *d = c->device;
    void *p;

    if (!d) return spot_arena_open(c, a, bytes);
    memset(a, 0, sizeof *a);
    bytes = size_for(bytes);
    SPOT_TRY(d->plugin->take(c, &p, bytes));
    *a = (spot_arena){ .base = p, .size = bytes, .on = c };
    return SPOT_OK;
}

void spot_arena_close(spot_arena *a)
{
    if (a->pinned) ((const spot_device *)a->pinned->device)->plugin->unpin(a->pinned, a->base);
    if (a->on) ((const spot_device *)a->on->device)->plugin->give(a->on, a->base);
    else if (a->base) munmap(a->base, a->size);
    memset(a, 0, sizeof *a);
}

spot_arena spot_arena_counting(void)
{
    return (spot_arena){ .counting = true, .size = SIZE_MAX / 2 };
}

/* c: whose kernels will use the memory. */
static spot_status poison(spot_ctx *c, void *p, size_t bytes)
{
    const spot_plugin *plugin = ((const spot_device *)c->device)->plugin;

    return plugin->poison ? plugin->poison(c, p, bytes) : SPOT_OK;
}

spot_status spot_arena_take(spot_ctx *c, spot_arena *a, void *out, size_t bytes)
{
    const size_t start = a->used;

    spot_pointer_put(out, NULL);
    if (bytes > a->size || spot_arena_room(bytes) > a->size - start)
        return spot_fail(c, SPOT_NOMEM, "{arena.full} %.1f MB asked for, %.1f of %.1f MB free: not enough memory set aside",
                         bytes / 1e6, (a->size - start) / 1e6, a->size / 1e6);
    if (!a->counting) spot_pointer_put(out, a->base + start);
    a->used = start + spot_arena_room(bytes);
    if (a->used > a->peak) a->peak = a->used;
    return a->on && bytes ? poison(c->device ? c : a->on, a->base + start, bytes) : SPOT_OK;
}
