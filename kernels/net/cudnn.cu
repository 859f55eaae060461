/* cudnn.cu - finds cuDNN 9, takes its functions and starts it. */
#if __has_include(<cudnn.h>)
#include "net/cudnn.cuh"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    return spot_fail(c, SPOT_DEVICE, "{cudnn.refused} cuDNN cannot %s, %s on %s: %s%s%s", what, words,
                     ((const spot_device *)c->device)->name, lib->error_string(e), *last ? ": " : "", last);
}

void spot_cudnn_close(spot_cudnn *lib)
{
    if (!lib) return;
    if (lib->device) lib->unmake(lib->device);
    if (lib->handle) lib->destroy(lib->handle);
    free(lib);                     /* the library stays loaded, because it runs code at the program's end */
}

/* Starts cuDNN on c's GPU. */
static spot_status start(spot_ctx *c, spot_cudnn *lib)
{
    SPOT_TRY(spot_cudnn_told(c, lib, lib->create(&lib->handle), "start", lib->where));
    return spot_cudnn_told(c, lib, lib->set_stream(lib->handle, spot_cuda_stream(c)), "take a stream", lib->where);
}

/* Makes the descriptor of a GPU from cuDNN's description of it. */
static spot_status make_device(spot_ctx *c, spot_cudnn *lib, const char *json)
{
    cudnnStatus_t e = lib->make(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &lib->device);

    if (!e) e = lib->set(lib->device, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, (int64_t)strlen(json), json);
    if (!e) e = lib->finalize(lib->device);
    return spot_cudnn_told(c, lib, e, "take the description of a GPU", lib->where);
}

void spot_cudnn_describe(const spot_cudnn *lib, char *json, size_t size)
{
    cudnnBackendDescriptor_t d = lib->device;
    int64_t count = 0;

    json[0] = 0;
    if (!d && (lib->make(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &d)
               || lib->set(d, CUDNN_ATTR_DEVICEPROP_HANDLE, CUDNN_TYPE_HANDLE, 1, &lib->handle) || lib->finalize(d)))
        count = -1;
    if (!count && lib->get(d, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, (int64_t)size - 1, &count, json))
        count = 0;
    json[count > 0 && count < (int64_t)size ? count : 0] = 0;
    if (d && d != lib->device) lib->unmake(d);
}

/* A real GPU's description serves spot_cudnn_open_described on other machines. */
static void write_description(spot_ctx *c, const spot_cudnn *lib, const char *path)
{
    enum { MOST_TEXT = 1 << 16 };
    char *json = (char *)calloc(1, MOST_TEXT);
    FILE *f = json ? fopen(path, "we") : NULL;

    if (json) spot_cudnn_describe(lib, json, MOST_TEXT);
    if (f && *json) fputs(json, f);
    if (!f || !*json || ferror(f)) spot_log(c, SPOT_LOG_WARN, "cuDNN's description of the GPU was not written to %s", path);
    if (f) fclose(f);
    free(json);
}

static spot_status open_for(spot_ctx *c, spot_cudnn **out, const char *json)
{
    spot_cudnn *lib = (spot_cudnn *)calloc(1, sizeof *lib);
    spot_status s;

    if (!lib) return spot_fail(c, SPOT_NOMEM, "no memory for cuDNN's handle");
    s = load(c, lib);
    if (!s) s = json ? make_device(c, lib, json) : start(c, lib);
    if (s) {
        spot_cudnn_close(lib);
        return s;
    }
    spot_log(c, SPOT_LOG_DEBUG, "cuDNN %zu of %s", lib->version(), lib->where);
    if (getenv("SPOT_CUDNN_DESCRIBE")) write_description(c, lib, getenv("SPOT_CUDNN_DESCRIBE"));
    *out = lib;
    return SPOT_OK;
}

spot_status spot_cudnn_open(spot_ctx *c, spot_cudnn **lib) { return open_for(c, lib, NULL); }

spot_status spot_cudnn_open_described(spot_ctx *c, spot_cudnn **lib, const char *json) { return open_for(c, lib, json); }

#endif
