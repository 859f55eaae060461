/* cuda.cu - libspotter_cuda.so: CUDA's table of kernels, its device and its memory. */
#include "core/cublas.cuh"
#include "net/conv_cudnn.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#endif

typedef struct {
    cudaStream_t stream;
    int sync;               /* wait for every kernel, so that its failure names it */
    int recording;
    spot_cuda_kept kept;
} cuda_state;

static cuda_state *state_of(const spot_ctx *c)
{
    return (cuda_state *)((const spot_device *)c->device)->state;
}

cudaStream_t spot_cuda_stream(const spot_ctx *c) { return state_of(c)->stream; }
spot_cuda_kept *spot_cuda_keeps(const spot_ctx *c) { return &state_of(c)->kept; }

static spot_status check(spot_ctx *c, cudaError_t e, const char *fmt, va_list args)
{
    char words[512];

    if (e == cudaSuccess) return SPOT_OK;
    vsnprintf(words, sizeof words, fmt, args);
    return spot_fail(c, e == cudaErrorMemoryAllocation ? SPOT_NOMEM : SPOT_DEVICE, "%s on %s: %s", words,
                     ((const spot_device *)c->device)->name, cudaGetErrorString(e));
}

spot_status spot_cuda_check(spot_ctx *c, cudaError_t e, const char *fmt, ...)
{
    va_list args;
    spot_status s;

    va_start(args, fmt);
    s = check(c, e, fmt, args);
    va_end(args);
    return s;
}

spot_status spot_cuda_launched(spot_ctx *c, const char *fmt, ...)
{
    cudaError_t e = cudaGetLastError();
    va_list args;
    spot_status s;

    if (e == cudaSuccess && state_of(c)->sync && !state_of(c)->recording) e = cudaStreamSynchronize(state_of(c)->stream);
    va_start(args, fmt);
    s = check(c, e, fmt, args);
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

static spot_status cuda_open(void **device, char *name, size_t size, char *why, size_t why_size)
{
    cuda_state *state = (cuda_state *)calloc(1, sizeof *state);
    cudaDeviceProp prop;
    int count = 0;
    cudaError_t e = state ? cudaGetDeviceCount(&count) : cudaErrorMemoryAllocation;

    *device = NULL;
    if (e == cudaSuccess && count) e = cudaSetDevice(0);
    if (e == cudaSuccess && count) e = cudaGetDeviceProperties(&prop, 0);
    if (e == cudaSuccess && count) e = cudaStreamCreateWithFlags(&state->stream, cudaStreamNonBlocking);
    if (e != cudaSuccess || !count) {
        snprintf(why, why_size, "no GPU to be had here (%s)", count ? cudaGetErrorString(e) : e == cudaSuccess
                 ? "the driver shows none" : cudaGetErrorString(e));
        free(state);
        return SPOT_DEVICE;
    }
    state->sync = getenv("SPOT_CUDA_SYNC") != NULL;
    snprintf(name, size, "cuda:0 %.100s", prop.name);
    *device = state;
    return SPOT_OK;
}

/* "NVIDIA H200, sm_90 x 132, CUDA 12.9, cuDNN 9.11.0" and "GPU-<uuid>": by an equal first text bits are equal. */
static void cuda_about(spot_ctx *c, char *kind, size_t kind_size, char *unit, size_t unit_size)
{
    spot_cuda_kept *kept = spot_cuda_keeps(c);
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
    cuda_state *state = (cuda_state *)device;

    spot_conv_forget(&state->kept);
    spot_cublas_forget(&state->kept);
    cudaStreamDestroy(state->stream);
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

static spot_status cuda_clear(spot_ctx *c, void *p, size_t bytes)
{
    return spot_cuda_check(c, cudaMemsetAsync(p, 0, bytes, spot_cuda_stream(c)), "clearing %.1f MB", bytes / 1e6);
}

static spot_status cuda_room(spot_ctx *c, size_t *left, size_t *total)
{
    return spot_cuda_check(c, cudaMemGetInfo(left, total), "asking how much memory is left");
}

static spot_status cuda_wait(spot_ctx *c)
{
    return spot_cuda_check(c, cudaStreamSynchronize(spot_cuda_stream(c)), "waiting for what was begun before");
}

/* Other threads may take memory meanwhile, for streams of their own: the capture does not mind ("relaxed"). */
static spot_status cuda_record(spot_ctx *c)
{
    cudaError_t e = cudaStreamBeginCapture(spot_cuda_stream(c), cudaStreamCaptureModeRelaxed);

    state_of(c)->recording = e == cudaSuccess;
    return spot_cuda_check(c, e, "beginning to record kernels");
}

static spot_status cuda_recorded(spot_ctx *c, void **graph)
{
    cudaGraph_t noted = NULL;
    cudaGraphExec_t ready = NULL;
    cudaError_t e;

    if (graph) *graph = NULL;
    if (!state_of(c)->recording) return SPOT_OK;
    state_of(c)->recording = 0;
    e = cudaStreamEndCapture(spot_cuda_stream(c), &noted);
    if (e == cudaSuccess && graph) e = cudaGraphInstantiate(&ready, noted, 0);
    if (noted) cudaGraphDestroy(noted);
    if (graph) *graph = ready;
    return graph ? spot_cuda_check(c, e, "recording kernels") : SPOT_OK;
}

static spot_status cuda_replay(spot_ctx *c, void *graph)
{
    return spot_cuda_check(c, cudaGraphLaunch((cudaGraphExec_t)graph, spot_cuda_stream(c)), "replaying recorded kernels");
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
    .sample = &spot_sample_cuda,
    .raster = &spot_raster_cuda,
    .conv = &spot_conv_cuda,
    .norm = &spot_norm_cuda,
    .head = &spot_head_cuda,
    .optim = &spot_optim_cuda,
    .attack = &spot_attack_cuda,
    .distance = &spot_distance_cuda,
    .pca = &spot_pca_cuda,
    .affinity = &spot_affinity_cuda,
    .tsne = &spot_tsne_cuda,
    .scvis = &spot_scvis_cuda,
    .umap = &spot_umap_cuda,
    .mixture = &spot_mixture_cuda,
    .kmeans = &spot_kmeans_cuda,
    .domino = &spot_domino_cuda,
    .spotlight = &spot_spotlight_cuda,
    .silhouette = &spot_silhouette_cuda,
    .information = &spot_information_cuda,
    .tree = &spot_tree_cuda,
    .ridge = &spot_ridge_cuda,
    .overlap = &spot_overlap_cuda,
};

/* The symbol is called SPOT_PLUGIN_ENTRY, which in C++ is the name of the type already. */
extern "C" __attribute__((visibility("default"))) const spot_plugin spot_plugin_entry __asm__(SPOT_PLUGIN_ENTRY) = {
    SPOT_PLUGIN_ABI, &spot_ops_cuda, cuda_open, cuda_close, cuda_take, cuda_give, cuda_copy, cuda_clear,
    cuda_room, cuda_wait, cuda_record, cuda_recorded, cuda_replay, cuda_forget, cuda_range,
    spot_cublas_multiply, cuda_about, cuda_count,
};
