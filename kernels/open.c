/* open.c - opens a device by name and a context on it. It holds the CPU's table of kernels; CUDA's is in plugin.cu. */
#define _GNU_SOURCE
#include <cblas.h>
#include <dlfcn.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/beside.h"
#include "core/blas_buffers.h"
#include "core/blas_kernels.h"
#include "core/device.h"
#include "plugin_abi.h"

const spot_ops spot_ops_cpu = {
    .name = "cpu",
#define X(family) .family = &spot_##family##_cpu,
    SPOT_OP_FAMILIES(X)
#undef X
};

#define PLUGIN_FILE "libspotter_cuda.so"

/* The path of the plugin: in $SPOT_PLUGIN_DIR; else in the folder lib beside that of the library or program, or in its own. */
static void plugin_path(char *path, size_t size)
{
    static const char *const folder[] = { "/../lib", "" };

    spot_path_beside(path, size, "SPOT_PLUGIN_DIR", folder, 2, PLUGIN_FILE);
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

/* Only a library that was not called may go: CUDA's runtime is in it, has threads of its own, and ends with the program. */
static void unload_plugin(spot_device *d)
{
    dlclose(d->library);
    memset(d, 0, sizeof *d);
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
        snprintf(why, size, "%s was built from other headers (%08x) than this program (%08x): build both again", path,
                 d->plugin->abi, SPOT_PLUGIN_ABI);
    else
        s = SPOT_OK;
    if (s != SPOT_OK) unload_plugin(d);
    return s;
}

/* Loads the plugin and opens its first GPU. d is clean after a failure. */
static spot_status open_plugin(spot_device *d, char *why, size_t size)
{
    spot_status s;

    SPOT_TRY(load_plugin(d, why, size));
    s = d->plugin->open(&d->state, d->name, sizeof d->name, why, size);
    if (s != SPOT_OK) memset(d, 0, sizeof *d);
    return s;
}

/* Opens CUDA on c. With `complete`, a plugin that lacks a family is a failure. */
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
        return spot_fail(c, SPOT_USAGE, "{device.unknown} there is no device \"%s\"; say auto, cpu or cuda", device);
    if (strcmp(device, "cpu")) {
        s = open_cuda(c, automatic, why, sizeof why);
        if (s != SPOT_OK && !automatic)
            return spot_fail(c, s, "{device.no_cuda} cannot compute on CUDA: %s; run with --device cpu", why);
    }
    if (!c->ops) c->ops = &spot_ops_cpu;
    if (automatic) spot_log(c, SPOT_LOG_DEBUG, "device: %s%s%s", spot_device_name(c), *why ? ", because " : "", why);
    return SPOT_OK;
}

spot_status spot_device_count(spot_ctx *c, int *n)
{
    char why[PATH_MAX + 512];
    spot_device d = { 0 };

    *n = 0;
    if (load_plugin(&d, why, sizeof why) != SPOT_OK) return spot_fail(c, SPOT_DEVICE, "no GPU can be counted: %s", why);
    *n = d.plugin->count();
    return *n ? SPOT_OK : spot_fail(c, SPOT_DEVICE, "the driver shows no GPU");
}

enum { MOST_THREADS = 1024 };

static int cores_of_this_process(void)
{
    cpu_set_t set;      /* of 1,024 cores; a larger machine refuses it */

    return sched_getaffinity(0, sizeof set, &set) ? MOST_THREADS : CPU_COUNT(&set);
}

spot_status spot_ctx_open(spot_ctx *c, const char *device, int threads)
{
    c->ops = NULL;
    c->device = NULL;
    c->threads = 1;
    c->label = NULL;
    c->who = NULL;
    c->rotated = NULL;
    spot_forget(c);
    if (threads < 0 || threads > MOST_THREADS)
        return spot_fail(c, SPOT_USAGE, "{threads.number} %d threads asked for; give 1 to %d, or 0 for every core", threads,
                         MOST_THREADS);
    c->threads = threads ? threads : cores_of_this_process();
    spot_blas_kernels();
    SPOT_TRY(spot_blas_buffers(c, c->threads));
    openblas_set_num_threads(1);      /* called from inside our own threads, whose number must not change results */
    return spot_device_open(c, device);
}
