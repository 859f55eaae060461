/* device.c - opens a device by name; nothing here knows CUDA. */
#define _GNU_SOURCE
#include "core/device.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLUGIN_FILE "libspotter_cuda.so"

/* An address in this library or program. */
static const char us_are_here;

/* Where the plugin should be: $SPOT_PLUGIN_DIR; else the folder of the library or program that this code is in, or the lib
 * beside it. */
static void plugin_path(char *path, size_t size)
{
    const char *dir = getenv("SPOT_PLUGIN_DIR"), *const below[] = { "", "/../lib" };
    char here[PATH_MAX] = "";
    Dl_info us;
    char *slash;

    if (dir && *dir) {
        snprintf(path, size, "%s/" PLUGIN_FILE, dir);
        return;
    }
    /* Of a program the loader knows the name that it was called by, which may lack the folder. */
    if (dladdr(&us_are_here, &us) && strstr(us.dli_fname, ".so")) snprintf(here, sizeof here, "%s", us.dli_fname);
    else if (readlink("/proc/self/exe", here, sizeof here - 1) < 0) here[0] = 0;
    slash = strrchr(here, '/');
    if (slash) *slash = 0;
    for (size_t i = 2; i-- > 0;) {
        snprintf(path, size, "%s%s/" PLUGIN_FILE, here, below[i]);
        if (!access(path, R_OK)) return;
    }
}

/* The names of the families that ops lacks; "" when it is complete. */
static const char *missing_families(const spot_ops *ops, char *names, size_t size)
{
    size_t used = 0;

    names[0] = 0;
#define X(family)                                                                                  \
    if (!ops->family && used < size)                                                               \
        used += (size_t)snprintf(names + used, size - used, "%s" #family, used ? ", " : "");
    SPOT_OP_FAMILIES(X)
#undef X
    return names;
}

/* Loads the plugin into d; the reason goes to `why`. d is clean after a failure. */
static spot_status load_plugin(spot_device *d, char *why, size_t size)
{
    char path[PATH_MAX + 32];
    spot_status s = SPOT_DEVICE;

    plugin_path(path, sizeof path);
    if (access(path, R_OK)) {
        snprintf(why, size, "%s is not there: this build was made without nvcc", path);
        return s;
    }
    d->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!d->library) {
        snprintf(why, size, "%s does not load: %s", path, dlerror());
        return s;
    }
    d->plugin = dlsym(d->library, SPOT_PLUGIN_ENTRY);
    if (!d->plugin)
        snprintf(why, size, "%s is no Spotter plugin: it exports no " SPOT_PLUGIN_ENTRY, path);
    else if (d->plugin->abi != SPOT_PLUGIN_ABI)
        snprintf(why, size, "%s speaks version %d of the plugin interface and this program version %d: build both again",
                 path, d->plugin->abi, SPOT_PLUGIN_ABI);
    else
        s = SPOT_OK;
    if (s != SPOT_OK) {
        dlclose(d->library);
        memset(d, 0, sizeof *d);
    }
    return s;
}

/* Loads it and opens its first GPU. */
static spot_status open_plugin(spot_device *d, char *why, size_t size)
{
    spot_status s;

    SPOT_TRY(load_plugin(d, why, size));
    s = d->plugin->open(&d->state, d->name, sizeof d->name, why, size);
    if (s != SPOT_OK) {
        dlclose(d->library);
        memset(d, 0, sizeof *d);
    }
    return s;
}

/* CUDA into c. With `complete`, only a plugin that has every family will do. */
static spot_status open_cuda(spot_ctx *c, bool complete, char *why, size_t size)
{
    spot_device *d = calloc(1, sizeof *d);
    char names[256];
    spot_status s;

    if (!d) {
        snprintf(why, size, "no memory");
        return SPOT_NOMEM;
    }
    s = open_plugin(d, why, size);
    if (s == SPOT_OK && complete && *missing_families(d->plugin->ops, names, sizeof names)) {
        snprintf(why, size, "the CUDA plugin has no kernels yet for %s", names);
        d->plugin->close(d->state);
        dlclose(d->library);
        s = SPOT_UNSUPPORTED;
    }
    if (s != SPOT_OK) {
        free(d);
        return s;
    }
    c->ops = d->plugin->ops;
    c->device = d;
    return SPOT_OK;
}

spot_status spot_device_open(spot_ctx *c, const char *device)
{
    bool automatic = !strcmp(device, "auto");
    char why[PATH_MAX + 512] = "";
    spot_status s;

    c->ops = NULL;
    c->device = NULL;
    if (!automatic && strcmp(device, "cpu") && strcmp(device, "cuda"))
        return spot_fail(c, SPOT_USAGE, "there is no device \"%s\"; say auto, cpu or cuda", device);
    if (strcmp(device, "cpu")) {
        s = open_cuda(c, automatic, why, sizeof why);
        if (s != SPOT_OK && !automatic)
            return spot_fail(c, s, "cannot compute on CUDA: %s; run with --device cpu", why);
    }
    if (!c->ops) c->ops = &spot_ops_cpu;
    if (automatic) spot_log(c, SPOT_LOG_DEBUG, "device: %s%s%s", spot_device_name(c), *why ? ", because " : "", why);
    return SPOT_OK;
}

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

spot_status spot_device_count(spot_ctx *c, int *n)
{
    char why[PATH_MAX + 512];
    spot_device d = { 0 };

    *n = 0;
    if (load_plugin(&d, why, sizeof why) != SPOT_OK) return spot_fail(c, SPOT_DEVICE, "no GPU can be counted: %s", why);
    *n = d.plugin->count();
    dlclose(d.library);
    return *n ? SPOT_OK : spot_fail(c, SPOT_DEVICE, "the driver shows no GPU");
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
