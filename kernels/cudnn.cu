/* cudnn.cu - finds cuDNN 9, takes its functions and starts it. */
#if __has_include(<cudnn.h>)
#include "cudnn.cuh"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OLDEST = 91100 };
static const char *const LIBRARY = "libcudnn.so.9";

/* The folders to look in, a pattern each; "" is the loader's own search. NULL ends. */
static const char *folder_of(int i, char *buffer, size_t size)
{
    const char *own = getenv("SPOT_CUDNN_DIR"), *python = getenv("VIRTUAL_ENV"), *cuda = getenv("CUDA_HOME");

    if (own && *own) return i ? NULL : own;            /* whoever names a folder means it */
    switch (i) {
    case 0: return "";
    case 1: snprintf(buffer, size, "%s/lib/python3*/site-packages/nvidia/cudnn/lib", python ? python : "/usr/local"); break;
    case 2: snprintf(buffer, size, "%s/lib64", cuda ? cuda : "/usr/local/cuda"); break;
    case 3: snprintf(buffer, size, "%s/lib", cuda ? cuda : "/usr/local/cuda"); break;
    default: return NULL;
    }
    return buffer;
}

static void *load_from(const char *folder, const char *name, char *where, size_t size)
{
    glob_t found;
    void *so = NULL;

    if (!*folder) {
        snprintf(where, size, "%s", name);
        return dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    if (glob(folder, 0, NULL, &found)) return NULL;
    for (size_t i = 0; i < found.gl_pathc && !so; i++) {
        snprintf(where, size, "%s/%s", found.gl_pathv[i], name);
        so = dlopen(where, RTLD_NOW | RTLD_LOCAL);
    }
    globfree(&found);
    return so;
}

static spot_status load(spot_ctx *c, spot_cudnn *lib)
{
    char buffer[512], looked[2048] = "";
    const char *folder;

    for (int i = 0; !lib->so && (folder = folder_of(i, buffer, sizeof buffer)); i++) {
        size_t n = strlen(looked);
        lib->so = load_from(folder, LIBRARY, lib->where, sizeof lib->where);
        snprintf(looked + n, sizeof looked - n, "%s%s", n ? ", " : "", *folder ? folder : "where the loader looks");
    }
    if (!lib->so)
        return spot_fail(c, SPOT_DEVICE, "%s is not to be had (%s): set SPOT_CUDNN_DIR to the folder of cuDNN 9, or run with "
                         "--device cpu", LIBRARY, looked);
#define X(member, name)                                                                                               \
    lib->member = (decltype(&name))dlsym(lib->so, #name);                                                              \
    if (!lib->member) return spot_fail(c, SPOT_DEVICE, "%s has no " #name ": it is not cuDNN 9", lib->where);
    FUNCTIONS(X)
#undef X
    if (lib->version() < OLDEST || lib->version() / 10000 != CUDNN_MAJOR)
        return spot_fail(c, SPOT_DEVICE, "%s is cuDNN %zu.%zu; 9.11 or a later 9 is wanted", lib->where,
                         lib->version() / 10000, lib->version() / 100 % 100);
    return SPOT_OK;
}

spot_status spot_cudnn_told(spot_ctx *c, const spot_cudnn *lib, cudnnStatus_t e, const char *what, const char *words)
{
    char last[256] = "";

    if (e == CUDNN_STATUS_SUCCESS) return SPOT_OK;
    lib->last_error(last, sizeof last);
    return spot_fail(c, SPOT_DEVICE, "cuDNN cannot %s, %s on %s: %s%s%s", what, words,
                     ((const spot_device *)c->device)->name, lib->error_string(e), *last ? ": " : "", last);
}

void spot_cudnn_close(spot_cudnn *lib)
{
    if (!lib) return;
    if (lib->handle) lib->destroy(lib->handle);
    free(lib);                     /* the library stays loaded: it has work of its own at the program's end */
}

spot_status spot_cudnn_open(spot_ctx *c, spot_cudnn **out)
{
    spot_cudnn *lib = (spot_cudnn *)calloc(1, sizeof *lib);
    spot_status s;

    if (!lib) return spot_fail(c, SPOT_NOMEM, "no memory for cuDNN's handle");
    s = load(c, lib);
    if (!s) s = spot_cudnn_told(c, lib, lib->create(&lib->handle), "start", lib->where);
    if (!s) s = spot_cudnn_told(c, lib, lib->set_stream(lib->handle, spot_cuda_stream(c)), "take a stream", lib->where);
    if (s) {
        spot_cudnn_close(lib);
        return s;
    }
    spot_log(c, SPOT_LOG_DEBUG, "cuDNN %zu of %s", lib->version(), lib->where);
    *out = lib;
    return SPOT_OK;
}

#endif
