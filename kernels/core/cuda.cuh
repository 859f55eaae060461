/* cuda.cuh - for every .cu file: launches, shared memory, and statuses that name op, shapes and device.
 *
 * Kernels are plain CUDA C that also compiles for the block emulator of tests/emulator. So they use SPOT_LAUNCH instead of
 * <<<>>> and SPOT_SHARED instead of __shared__, and obey the rules that tests/test_layers.sh lists. */
#ifndef SPOTTER_CUDA_CUH
#define SPOTTER_CUDA_CUH

#include <cuda_runtime.h>

#include "core/device.h"
#include "core/problems.h"

#ifndef SPOT_LAUNCH   /* the emulator's cuda_runtime.h brings its own three */
#define SPOT_LAUNCH(kernel, grid, block, shared, stream, ...) \
    kernel<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__)
#define SPOT_SHARED(T, name, n) __shared__ T name[n]
#define SPOT_DYNAMIC_SHARED(T, name)                            \
    extern __shared__ __align__(16) unsigned char spot_dynamic[]; \
    T *const name = (T *)spot_dynamic
#endif

/* The tables of the families' .cu files; weak: the address of a table that no file defines is NULL. */
#define X(family) extern const spot_##family##_ops spot_##family##_cuda __attribute__((weak));
SPOT_OP_FAMILIES(X)
#undef X

/* Memory of c's device: take, give, copy, clear (device.c is not linked here). */
static inline const spot_plugin *spot_cuda_memory(const spot_ctx *c)
{
    return ((const spot_device *)c->device)->plugin;
}

enum { SPOT_TICKETS = 1 << 13 };

/* The state of a device. */
typedef struct {
    cudaStream_t stream;           /* takes all work of c: `first`, or from fork to unfork `beside` */
    cudaStream_t first, beside;
    cudaEvent_t forked, done;      /* beside begins behind forked; first goes on behind done, at join */
    int sync;                      /* wait for every kernel, so that a failure names its kernel */
    int recording;
    unsigned *tickets;             /* (SPOT_TICKETS), 0 between kernels: how many blocks of a launch have finished */
    struct spot_cudnn *cudnn;      /* these two, and the plans made so far: opened by the first convolution, */
    struct spot_conv *convs;       /* closed by spot_conv_forget */
    char *run_plans;               /* spot_conv_keep_in's folder; NULL: none */
    int runs;                      /* how often it was another one */
    struct spot_cublas *cublas;    /* opened by the first product, closed by spot_cublas_forget */
    struct spot_products *products; /* opened by the first linear layer, closed by spot_products_forget */
    int poison;                    /* what an arena hands out is set to 0xFF */
} spot_cuda;

static inline spot_cuda *spot_cuda_of(const spot_ctx *c) { return (spot_cuda *)((const spot_device *)c->device)->state; }
static inline cudaStream_t spot_cuda_stream(const spot_ctx *c) { return spot_cuda_of(c)->stream; }

/* SPOT_OK, or e as a failure: "<words> on cuda:0 NVIDIA H200: <CUDA's words>". fmt gives the words: op and shapes. */
spot_status spot_cuda_check(spot_ctx *c, cudaError_t e, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Ends a launcher: the status of the launch; with SPOT_CUDA_SYNC=1 in the environment also the status of the kernel, which
 * otherwise appears at the next copy. */
spot_status spot_cuda_launched(spot_ctx *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* SPOT_UNSUPPORTED when p lies in host memory, which a kernel must not touch; `what` is e.g. "distance.squared: a". */
spot_status spot_cuda_needs(spot_ctx *c, const void *p, const char *what);

/* The check of each array of an op: `{ p->x, "x" }` is reported as "op: x"; `{ p->x, "x", true }` may be NULL. */
typedef struct { const void *p; const char *name; bool optional; } spot_cuda_array;
spot_status spot_cuda_needs_each(spot_ctx *c, const char *op, const spot_cuda_array *array, int count);

template <int N> static inline spot_status spot_cuda_needs_all(spot_ctx *c, const char *op, const spot_cuda_array (&array)[N])
{
    return spot_cuda_needs_each(c, op, array, N);
}

/* Pieces of a whole: blocks of a grid. */
static inline int spot_blocks(size_t whole, size_t piece) { return (int)((whole + piece - 1) / piece); }

/* The problems of a launch are its argument, so that nothing is allocated or copied: N of them. */
template <typename T, int N> struct spot_batch {
    static_assert(N * sizeof(T) <= 4096, "a launch takes 4 kB of arguments");
    typedef T problem;
    enum { LIMIT = N };
    T of[N];
};

/* Cuts the problems into batches. fill(one, q) sets problem q, launch(all, count) starts kernels on a batch; grids are as large
 * as the largest of all problems needs. */
template <typename Batch, typename Fill, typename Launch>
static spot_status spot_cuda_fill_batches(int problems, Fill fill, Launch launch)
{
    for (int first = 0; first < problems; first += Batch::LIMIT) {
        const int count = problems - first < Batch::LIMIT ? problems - first : (int)Batch::LIMIT;
        Batch all;

        for (int q = 0; q < count; q++) fill(&all.of[q], first + q);
        SPOT_TRY(launch(all, count));
    }
    return SPOT_OK;
}

/* The same for problems that are copied. */
template <typename Batch, typename Launch>
static spot_status spot_cuda_batches(int problems, const typename Batch::problem *p, Launch launch)
{
    return spot_cuda_fill_batches<Batch>(problems, [=](typename Batch::problem *one, int q) { *one = p[q]; }, launch);
}

#endif
