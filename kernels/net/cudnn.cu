/* cudnn.cu - finds cuDNN 9, takes its functions and starts it. */
#if __has_include(<cudnn.h>)
#include "net/cudnn.cuh"

#include <dlfcn.h>
#include <stdlib.h>

#include "core/library.cuh"

enum { OLDEST = 91100 };
static const char *const LIBRARY = "libcudnn.so.9";

static spot_status load(spot_ctx *c, spot_cudnn *lib)
{
    char looked[2048];

    lib->so = spot_library_open(LIBRARY, "SPOT_CUDNN_DIR", lib->where, sizeof lib->where, looked, sizeof looked);
    if (!lib->so)
        return spot_fail(c, SPOT_DEVICE, "%s was not found (searched: %s): set SPOT_CUDNN_DIR to the folder of cuDNN 9, or run "
                         "with --device cpu", LIBRARY, looked);
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
    free(lib);                     /* the library stays loaded, because it runs code at the program's end */
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
