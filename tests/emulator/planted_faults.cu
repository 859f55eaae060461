/* planted_faults.cu - the kernels of planted_faults.h: what the emulator must see, and what it must leave alone. */
#include "core/cuda.cuh"
#include "planted_faults.h"

#include <stdio.h>
#include <string.h>

enum { THREADS = 96, BLOCKS = 5 };

/* Sums 1..96 in the fixed shape that our kernels use: butterfly in the warp, then thread 0 over the warps. */
static __device__ float block_sum(float x, float *warps, int with_barrier)
{
    float sum = 0;

    for (int by = 16; by; by /= 2) x += __shfl_xor_sync(~0u, x, by);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = x;
    if (with_barrier) __syncthreads();
    for (int w = 0; w < THREADS / 32; w++) sum += warps[w];
    return sum;
}

static __global__ void correct_sum(float *out)
{
    SPOT_SHARED(float, warps, THREADS / 32);
    float sum = block_sum(1.0f + threadIdx.x, warps, 1);

    if (!threadIdx.x && blockIdx.x < FAULT_OUTPUTS) out[blockIdx.x] = sum;
}

static __global__ void missing_barrier(float *out)
{
    SPOT_SHARED(float, warps, THREADS / 32);
    float sum = block_sum(1.0f + threadIdx.x, warps, 0);

    if (!threadIdx.x && blockIdx.x < FAULT_OUTPUTS) out[blockIdx.x] = sum;
}

/* Which block is last is not for a kernel to know; integer counting is. */
static __global__ void correct_count(unsigned *out)
{
    SPOT_DYNAMIC_SHARED(unsigned, seen);

    if (!threadIdx.x) seen[0] = 0;
    __syncthreads();
    atomicAdd(&seen[0], threadIdx.x);
    atomicMax(&out[1], blockIdx.x * THREADS + threadIdx.x);
    __syncthreads();
    if (!threadIdx.x && !blockIdx.x) out[0] = seen[0];
    unsigned odd = __syncthreads_count(threadIdx.x % 2);
    if (!threadIdx.x && !blockIdx.x) out[2] = odd;
}

static __global__ void race_of_blocks(float *out)
{
    if (!threadIdx.x) out[0] = blockIdx.x;
}

static __global__ void neighbours_result(float *out)
{
    if (!threadIdx.x && blockIdx.x < FAULT_OUTPUTS)
        out[blockIdx.x] = blockIdx.x ? out[blockIdx.x - 1] + 1.0f : 1.0f;
}

/* Reads what the lane below wrote a line above, as if a warp still ran in step. */
static __global__ void lockstep(float *out)
{
    SPOT_SHARED(float, x, THREADS);

    x[threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 31) out[0] = x[30] + x[29];
}

static __global__ void never_written(float *out)
{
    SPOT_SHARED(float, x, THREADS);

    if (threadIdx.x) x[threadIdx.x] = 1.0f;
    __syncthreads();
    if (!threadIdx.x) out[0] = x[0];
}

static __global__ void divergent_barrier(float *out)
{
    if (threadIdx.x < 40) __syncthreads();
    else
        __syncthreads();
    out[0] = 1;
}

static __global__ void early_return(float *out)
{
    if (threadIdx.x == 50) return;
    __syncthreads();
    out[0] = 1;
}

static __global__ void lane_outside_mask(float *out)
{
    out[0] = __shfl_sync(0xffffu, 1.0f, 0);
}

static __global__ void lane_that_returned(float *out)
{
    if (threadIdx.x == 7) return;
    out[0] = __shfl_xor_sync(~0u, 1.0f, 1);
}

static __global__ void lane_without_thread(float *out)
{
    out[0] = __shfl_xor_sync(~0u, 1.0f, 1);
}

static __global__ void too_much_shared(float *out)
{
    SPOT_SHARED(float, x, 12 * 1024 + 1);

    x[threadIdx.x] = 1;
    out[0] = 1;
}

static __global__ void behind_shared(float *out)
{
    SPOT_SHARED(float, x, THREADS);

    x[threadIdx.x + 1] = 1;
    out[0] = 1;
}

static __global__ void behind_buffer(float *out)
{
    out[threadIdx.x % (FAULT_OUTPUTS + 1)] = 1;
}

#ifdef __SANITIZE_ADDRESS__
enum { OUT_OF_BOUNDS = SPOT_DIES };

/* Only ASan can see this one, and only where the switch of fibres leaves its red zones alone. */
static __global__ void behind_local(float *out)
{
    volatile float x[3] = { 0 };

    __syncthreads();
    x[threadIdx.x % 4] = 1;
    out[0] = x[0];
}
#else
enum { OUT_OF_BOUNDS = SPOT_REPORTED };
#endif

#define RUN(kernel, threads) [](float *out) { SPOT_LAUNCH(kernel, BLOCKS, (threads), 0, cudaStream_t(), out); }

const spot_fault spot_faults[] = {
    { "correct_sum",         NULL, SPOT_CORRECT, RUN(correct_sum, THREADS) },
    { "correct_count",       NULL, SPOT_CORRECT, [](float *out) {
          cudaMemsetAsync(out, 0, FAULT_OUTPUTS * sizeof *out, cudaStream_t());
          SPOT_LAUNCH(correct_count, BLOCKS, THREADS, sizeof(unsigned), cudaStream_t(), (unsigned *)out);
      } },
    { "missing_barrier",     NULL, SPOT_VARIES, RUN(missing_barrier, THREADS) },
    { "race_of_blocks",      NULL, SPOT_VARIES, RUN(race_of_blocks, THREADS) },
    { "neighbours_result",   NULL, SPOT_VARIES, RUN(neighbours_result, THREADS) },
    { "lockstep",            NULL, SPOT_VARIES, RUN(lockstep, THREADS) },
    { "never_written",       NULL, SPOT_LEAVES_NAN, RUN(never_written, THREADS) },
    { "divergent_barrier",   "barrier divergence", SPOT_REPORTED, RUN(divergent_barrier, THREADS) },
    { "early_return",        "has returned", SPOT_REPORTED, RUN(early_return, THREADS) },
    { "lane_outside_mask",   "leaves out the lane that calls", SPOT_REPORTED, RUN(lane_outside_mask, THREADS) },
    { "lane_that_returned",  "deadlock", SPOT_REPORTED, RUN(lane_that_returned, THREADS) },
    { "lane_without_thread", "which a block of 33 threads has not", SPOT_REPORTED, RUN(lane_without_thread, 33) },
    { "too_much_shared",     "shared memory", SPOT_REPORTED, RUN(too_much_shared, THREADS) },
    { "block_too_large",     "not to be had", SPOT_REPORTED, RUN(race_of_blocks, 1025) },
    { "behind_shared",       "behind its last shared array", (spot_sign)OUT_OF_BOUNDS, RUN(behind_shared, THREADS) },
    { "behind_buffer",       "behind a device buffer of 16 bytes", (spot_sign)OUT_OF_BOUNDS, RUN(behind_buffer, THREADS) },
#ifdef __SANITIZE_ADDRESS__
    { "behind_local",        NULL, SPOT_DIES, RUN(behind_local, THREADS) },
#endif
};
const int spot_fault_count = sizeof spot_faults / sizeof *spot_faults;

void spot_fault_run(const spot_fault *fault, float out[FAULT_OUTPUTS], char *report, int size)
{
    void *p;
    cudaError_t e;

    cudaMalloc(&p, FAULT_OUTPUTS * sizeof *out);
    fault->run((float *)p);
    e = cudaGetLastError();
    snprintf(report, size, "%s", e == cudaSuccess ? "" : cudaGetErrorString(e));
    cudaMemcpyAsync(out, p, FAULT_OUTPUTS * sizeof *out, cudaMemcpyDefault, cudaStream_t());
    cudaFree(p);
}
