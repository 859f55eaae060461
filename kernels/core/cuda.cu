/* cuda.cu - CUDA's errors as statuses. */
#include "core/cuda.cuh"

#include <stdarg.h>
#include <stdio.h>

static spot_status check_error(spot_ctx *c, cudaError_t e, const char *fmt, va_list args)
{
    const char *name = ((const spot_device *)c->device)->name;
    char words[512];

    if (e == cudaSuccess) return SPOT_OK;
    vsnprintf(words, sizeof words, fmt, args);
    if (e == cudaErrorMemoryAllocation)
        return spot_fail(c, SPOT_NOMEM, "{device.full} %s on %s: %s", words, name, cudaGetErrorString(e));
    return spot_fail(c, SPOT_DEVICE, "{device.call} %s on %s: %s", words, name, cudaGetErrorString(e));
}

spot_status spot_cuda_check(spot_ctx *c, cudaError_t e, const char *fmt, ...)
{
    va_list args;
    spot_status s;

    va_start(args, fmt);
    s = check_error(c, e, fmt, args);
    va_end(args);
    return s;
}

spot_status spot_cuda_launched(spot_ctx *c, const char *fmt, ...)
{
    cudaError_t e = cudaGetLastError();
    va_list args;
    spot_status s;

    if (e == cudaSuccess && spot_cuda_of(c)->sync && !spot_cuda_of(c)->recording)
        e = cudaStreamSynchronize(spot_cuda_stream(c));
    va_start(args, fmt);
    s = check_error(c, e, fmt, args);
    va_end(args);
    return s;
}

spot_status spot_cuda_needs(spot_ctx *c, const void *p, const char *what)
{
    cudaPointerAttributes at;

    SPOT_TRY(spot_cuda_check(c, cudaPointerGetAttributes(&at, p), "%s", what));
    if (at.type == cudaMemoryTypeDevice || at.type == cudaMemoryTypeManaged) return SPOT_OK;
    return spot_fail(c, SPOT_UNSUPPORTED, "%s: in host memory, where CUDA cannot compute; run with --device cpu", what);
}

spot_status spot_cuda_needs_each(spot_ctx *c, const char *op, const spot_cuda_array *array, int count)
{
    char what[128];

    for (int i = 0; i < count; i++) {
        if (array[i].optional && !array[i].p) continue;
        snprintf(what, sizeof what, "%s: %s", op, array[i].name);
        SPOT_TRY(spot_cuda_needs(c, array[i].p, what));
    }
    return SPOT_OK;
}
