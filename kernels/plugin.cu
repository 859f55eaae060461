/* plugin.cu - libspotter_cuda.so: CUDA's table of kernels, its device and its memory. The one .cu file that knows every op. */
#include "core/cublas.cuh"
#include "net/conv.cuh"
#include "net/linear_cublas.cuh"
#include "plugin_abi.h"

#include <stdio.h>
#include <stdlib.h>

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#endif

static cudaError_t open_streams(spot_cuda *state)
{
    cudaError_t e = cudaStreamCreateWithFlags(&state->first, cudaStreamNonBlocking);

    if (e == cudaSuccess) e = cudaStreamCreateWithFlags(&state->beside, cudaStreamNonBlocking);
    if (e == cudaSuccess) e = cudaEventCreateWithFlags(&state->forked, cudaEventDisableTiming);
    if (e == cudaSuccess) e = cudaEventCreateWithFlags(&state->done, cudaEventDisableTiming);
    state->stream = state->first;
    return e;
}

/* The lowest capability that this build has kernels for, of (major 100 + minor 10): later GPUs compile the lowest one's PTX. */
static int lowest_capability(void)
{
    static const int built[] = { __CUDA_ARCH_LIST__ };
    int lowest = built[0];

    for (int one : built) lowest = one < lowest ? one : lowest;
    return lowest;
}

/* Whether this build has kernels for a GPU; else `why` is a sentence. Without this a first launch says "no kernel image". */
static bool is_able(const cudaDeviceProp *prop, char *why, size_t size)
{
    const int lowest = lowest_capability();

    if (100 * prop->major + 10 * prop->minor >= lowest) return true;
    snprintf(why, size, "%.100s has compute capability %d.%d, and this build has kernels for %d.%d and later", prop->name,
             prop->major, prop->minor, lowest / 100, lowest % 100 / 10);
    return false;
}

static spot_status cuda_open(void **device, char *name, size_t size, char *why, size_t why_size)
{
    spot_cuda *state = (spot_cuda *)calloc(1, sizeof *state);
    cudaDeviceProp prop;
    int count = 0;
    cudaError_t e = state ? cudaGetDeviceCount(&count) : cudaErrorMemoryAllocation;

    *device = NULL;
    if (e == cudaSuccess && count) e = cudaSetDevice(0);
    if (e == cudaSuccess && count) e = cudaGetDeviceProperties(&prop, 0);
    if (e == cudaSuccess && count && !is_able(&prop, why, why_size)) {
        free(state);
        return SPOT_DEVICE;
    }
    if (e == cudaSuccess && count) e = open_streams(state);
    if (e == cudaSuccess && count) e = cudaMalloc((void **)&state->tickets, SPOT_TICKETS * sizeof *state->tickets);
    if (e == cudaSuccess && count)
        e = cudaMemsetAsync(state->tickets, 0, SPOT_TICKETS * sizeof *state->tickets, state->stream);
    if (e != cudaSuccess || !count) {
        snprintf(why, why_size, "no GPU is available here (%s)", count ? cudaGetErrorString(e) : e == cudaSuccess
                 ? "the driver shows none" : cudaGetErrorString(e));
        free(state);
        return SPOT_DEVICE;
    }
    state->sync = getenv("SPOT_CUDA_SYNC") != NULL;
    state->poison = getenv("SPOT_CUDA_POISON") != NULL;
    snprintf(name, size, "cuda:0 %.100s", prop.name);
    *device = state;
    return SPOT_OK;
}

/* kind: "NVIDIA H200, sm_90 x 132, CUDA 12.9, cuDNN 9.11.0"; equal kinds give equal bits. unit: "GPU-<uuid>". */
static void cuda_about(spot_ctx *c, char *kind, size_t kind_size, char *unit, size_t unit_size)
{
    spot_cuda *kept = spot_cuda_of(c);
    cudaDeviceProp prop;
    int cuda = 0;

    if (cudaGetDeviceProperties(&prop, 0) != cudaSuccess) return;
    cudaRuntimeGetVersion(&cuda);
    if (kind && !kept->cudnn && spot_cudnn_open(c, &kept->cudnn) != SPOT_OK) spot_forget(c);   /* training will say why */
    if (kind) {
        size_t v = kept->cudnn ? spot_cudnn_version(kept->cudnn) : 0;
        snprintf(kind, kind_size, "%.100s, sm_%d%d x %d, CUDA %d.%d, cuDNN %zu.%zu.%zu", prop.name, prop.major, prop.minor,
                 prop.multiProcessorCount, cuda / 1000, cuda % 1000 / 10, v / 10000, v / 100 % 100, v % 100);
    }
    if (unit) {
        const unsigned char *u = (const unsigned char *)prop.uuid.bytes;
        snprintf(unit, unit_size, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1], u[2],
                 u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
    }
}

static int cuda_count(void)
{
    int n = 0;

    return cudaGetDeviceCount(&n) == cudaSuccess ? n : 0;
}

static void cuda_close(void *device)
{
    spot_cuda *state = (spot_cuda *)device;

    spot_conv_forget(state);
    spot_cublas_forget(state);
    spot_products_forget(state);
    cudaFree(state->tickets);
    cudaEventDestroy(state->forked);
    cudaEventDestroy(state->done);
    cudaStreamDestroy(state->beside);
    cudaStreamDestroy(state->first);
    free(state);
}

static spot_status cuda_take(spot_ctx *c, void **out, size_t bytes)
{
    return spot_cuda_check(c, cudaMalloc(out, bytes ? bytes : 1), "taking %.1f MB", bytes / 1e6);
}

static void cuda_give(spot_ctx *c, void *p)
{
    spot_cuda_check(c, cudaFree(p), "giving memory back");
}

static spot_status cuda_copy(spot_ctx *c, void *to, const void *from, size_t bytes)
{
    cudaStream_t stream = spot_cuda_stream(c);
    cudaError_t e = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream);

    if (e == cudaSuccess) e = cudaStreamSynchronize(stream);
    return spot_cuda_check(c, e, "copying %.1f MB", bytes / 1e6);
}

static spot_status cuda_pin(spot_ctx *c, void *p, size_t bytes)
{
    return spot_cuda_check(c, cudaHostRegister(p, bytes, cudaHostRegisterDefault), "pinning %.1f MB on the host", bytes / 1e6);
}

static void cuda_unpin(spot_ctx *c, void *p)
{
    spot_cuda_check(c, cudaHostUnregister(p), "giving pinned memory back");
}

static spot_status cuda_clear(spot_ctx *c, void *p, size_t bytes)
{
    return spot_cuda_check(c, cudaMemsetAsync(p, 0, bytes, spot_cuda_stream(c)), "clearing %.1f MB", bytes / 1e6);
}

static spot_status cuda_poison(spot_ctx *c, void *p, size_t bytes)
{
    if (!spot_cuda_of(c)->poison) return SPOT_OK;
    return spot_cuda_check(c, cudaMemsetAsync(p, 0xff, bytes, spot_cuda_stream(c)), "poisoning %.1f MB", bytes / 1e6);
}

static spot_status cuda_room(spot_ctx *c, size_t *left, size_t *total)
{
    return spot_cuda_check(c, cudaMemGetInfo(left, total), "reading the size of the free memory");
}

static spot_status cuda_wait(spot_ctx *c)
{
    return spot_cuda_check(c, cudaStreamSynchronize(spot_cuda_stream(c)), "waiting for the work before");
}

/* Relaxed: other threads may take memory during the capture, for streams of their own. */
static spot_status cuda_record(spot_ctx *c)
{
    cudaError_t e = cudaStreamBeginCapture(spot_cuda_stream(c), cudaStreamCaptureModeRelaxed);

    spot_cuda_of(c)->recording = e == cudaSuccess;
    return spot_cuda_check(c, e, "beginning to record kernels");
}

static spot_status cuda_recorded(spot_ctx *c, void **graph)
{
    cudaGraph_t noted = NULL;
    cudaGraphExec_t ready = NULL;
    cudaError_t e;

    if (graph) *graph = NULL;
    if (!spot_cuda_of(c)->recording) return SPOT_OK;
    spot_cuda_of(c)->recording = 0;
    e = cudaStreamEndCapture(spot_cuda_of(c)->first, &noted);
    if (e == cudaSuccess && graph) e = cudaGraphInstantiate(&ready, noted, 0);
    if (noted) cudaGraphDestroy(noted);
    if (graph) *graph = ready;
    return graph ? spot_cuda_check(c, e, "recording kernels") : SPOT_OK;
}

static spot_status cuda_replay(spot_ctx *c, void *graph)
{
    return spot_cuda_check(c, cudaGraphLaunch((cudaGraphExec_t)graph, spot_cuda_stream(c)), "replaying recorded kernels");
}

static spot_status cuda_fork(spot_ctx *c)
{
    spot_cuda *cuda = spot_cuda_of(c);
    cudaError_t e = cudaEventRecord(cuda->forked, cuda->first);

    if (e == cudaSuccess) e = cudaStreamWaitEvent(cuda->beside, cuda->forked, 0);
    if (e == cudaSuccess) cuda->stream = cuda->beside;
    return spot_cuda_check(c, e, "beginning work beside other work");
}

static spot_status cuda_unfork(spot_ctx *c)
{
    spot_cuda *cuda = spot_cuda_of(c);

    cuda->stream = cuda->first;
    return spot_cuda_check(c, cudaEventRecord(cuda->done, cuda->beside), "ending work beside other work");
}

static spot_status cuda_join(spot_ctx *c)
{
    spot_cuda *cuda = spot_cuda_of(c);

    return spot_cuda_check(c, cudaStreamWaitEvent(cuda->first, cuda->done, 0), "waiting for the work beside");
}

static void cuda_forget(void *graph) { cudaGraphExecDestroy((cudaGraphExec_t)graph); }

static void cuda_range(const char *name)
{
#ifdef NVTX_VERSION
    if (name) nvtxRangePushA(name);
    else      nvtxRangePop();
#else
    (void)name;
#endif
}

static const spot_ops spot_ops_cuda = {
    .name = "cuda",
#define X(family) .family = &spot_##family##_cuda,
    SPOT_OP_FAMILIES(X)
#undef X
};

/* The symbol's name is SPOT_PLUGIN_ENTRY, which in C++ is already the name of the type. */
extern "C" __attribute__((visibility("default"))) const spot_plugin spot_plugin_entry __asm__(SPOT_PLUGIN_ENTRY) = {
    SPOT_PLUGIN_ABI, &spot_ops_cuda, cuda_open, cuda_close, cuda_take, cuda_give, cuda_copy, cuda_clear,
    cuda_room, cuda_wait, cuda_record, cuda_recorded, cuda_replay, cuda_forget,
    cuda_fork, cuda_unfork, cuda_join, cuda_range, spot_cublas_multiply, cuda_about, cuda_count, cuda_pin, cuda_unpin,
    cuda_poison,
};
