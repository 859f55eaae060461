/* cuda_runtime.h - stands in for CUDA's when a .cu file is compiled for the block emulator: the part of the language
 * and of the runtime that our kernels use. What is not here does not compile, which is the point: read the list of what
 * kernels must not do in tests/test_layers.sh before adding to it. */
#ifndef SPOTTER_EMULATOR_CUDA_RUNTIME_H
#define SPOTTER_EMULATOR_CUDA_RUNTIME_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "emulator.h"

#define __global__
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __restrict__ __restrict

#define threadIdx emu::thread_index()
#define blockIdx  emu::block_index()
#define blockDim  emu::block_size()
#define gridDim   emu::grid_size()
enum { warpSize = emu::WARP };

#define SPOT_LAUNCH(kernel, grid, block, shared, stream, ...) \
    emu::start(#kernel, (stream), (grid), (block), (shared), kernel, ##__VA_ARGS__)
#define SPOT_SHARED(T, name, n) \
    static const char name##_key = 0; \
    T *const name = (T *)emu::shared(&name##_key, sizeof(T) * (n))
#define SPOT_DYNAMIC_SHARED(T, name) T *const name = (T *)emu::dynamic_shared()

#ifdef SPOT_WATCHED_KERNEL                       /* an atomic is to be seen as one access, not as a read and a write */
#define EMU_ATOMICALLY __attribute__((no_sanitize("thread"), noinline))
#define EMU_INLINE inline __attribute__((always_inline))      /* so that the place of the access is the kernel's */
#define EMU_WATCH(p) emu::watch_atomic((p), sizeof *(p), __builtin_return_address(0))
#define EMU_FENCE()  emu::watch_fence()
#else
#define EMU_ATOMICALLY
#define EMU_INLINE inline
#define EMU_WATCH(p) ((void)0)
#define EMU_FENCE()  ((void)0)
#endif

/* Barriers and warp operations. */
#define EMU_TEXT_(x) #x
#define EMU_TEXT(x)  EMU_TEXT_(x)
#define EMU_SITE     __FILE__ ":" EMU_TEXT(__LINE__)

#define __syncthreads()        ((void)emu::barrier(EMU_SITE, false))
#define __syncthreads_count(p) ((int)emu::barrier(EMU_SITE, (p) != 0))
#define __syncthreads_or(p)    ((int)(emu::barrier(EMU_SITE, (p) != 0) > 0))
#define __syncthreads_and(p)   ((int)(emu::barrier(EMU_SITE, (p) == 0) == 0))
#define __threadfence()        EMU_FENCE()

#define __syncwarp(...)                emu::sync_warp(EMU_SITE __VA_OPT__(,) __VA_ARGS__)
#define __shfl_sync(mask, ...)         emu::shuffle("shfl", EMU_SITE, (mask), __VA_ARGS__)
#define __shfl_xor_sync(mask, ...)     emu::shuffle("shfl_xor", EMU_SITE, (mask), __VA_ARGS__)
#define __shfl_up_sync(mask, ...)      emu::shuffle("shfl_up", EMU_SITE, (mask), __VA_ARGS__)
#define __shfl_down_sync(mask, ...)    emu::shuffle("shfl_down", EMU_SITE, (mask), __VA_ARGS__)
#define __ballot_sync(mask, p)         emu::ballot(EMU_SITE, (mask), (p) != 0)
#define __any_sync(mask, p)            (emu::ballot(EMU_SITE, (mask), (p) != 0) != 0)
#define __all_sync(mask, p)            (emu::ballot(EMU_SITE, (mask), (p) == 0) == 0)

namespace emu {

/* A launch with its arguments as the kernel takes them: copies, for a graph may run it when they are long gone. static, and
 * no std::tuple: two files may have types of the same name. */
template <typename... P, typename... A>
static void start(const char *name, emu_stream *stream, dim3 grid, dim3 block, size_t shared_bytes, void (*kernel)(P...),
                  A &&...arguments)
{
    submit([=, types = __PRETTY_FUNCTION__, ... taken = static_cast<std::decay_t<P>>(arguments)] {
        launch({ name, types }, grid, block, shared_bytes, [&] { kernel(taken...); });
    }, EMU_launches, stream);
}

inline void sync_warp(const char *site, unsigned mask = ~0u) { gather("syncwarp", site, mask, 0); }

inline unsigned ballot(const char *site, unsigned mask, bool p)
{
    const uint64_t *value = gather("ballot", site, mask, p);
    unsigned bits = 0;

    for (unsigned i = 0; i < WARP; i++) bits |= (mask >> i & 1) && value[i] ? 1u << i : 0;
    return bits;
}

/* The lane that a shuffle reads; its own where the source lies outside the group of `width` lanes. */
inline unsigned shuffle_source(const char *op, unsigned own, int by, unsigned width)
{
    unsigned first = own & ~(width - 1), from = own;

    if (!strcmp(op, "shfl"))           return first + ((unsigned)by & (width - 1));
    if (!strcmp(op, "shfl_xor"))       from = own ^ (unsigned)by;
    else if (!strcmp(op, "shfl_down")) from = own + (unsigned)by;
    else                               return own >= first + (unsigned)by ? own - (unsigned)by : own;
    return from < first + width ? from : own;
}

template <typename T>
T shuffle(const char *op, const char *site, unsigned mask, T value, int by, int width = WARP)
{
    static_assert(sizeof(T) <= sizeof(uint64_t), "a shuffle moves at most 8 bytes");
    uint64_t word = 0;

    memcpy(&word, &value, sizeof value);
    memcpy(&value, &gather(op, site, mask, word)[shuffle_source(op, lane(), by, (unsigned)width)], sizeof value);
    return value;
}

}

/* Atomics: fibres make them so. Only integers: a float sum would depend on the order. */
template <typename T, typename F> EMU_ATOMICALLY T emu_atomic(T *p, F change)
{
    static_assert(std::is_integral<T>::value, "no float atomics: results would depend on the schedule");
    emu::step();
    EMU_WATCH(p);
    T old = *p;
    *p = change(old);
    return old;
}
template <typename T> struct emu_same { typedef T type; };   /* so that atomicAdd(&counter, 1) compiles as in CUDA */
#define EMU_ATOMIC(name, result)                                               \
    template <typename T> EMU_INLINE T name(T *p, typename emu_same<T>::type v) \
    {                                                                          \
        return emu_atomic(p, [=]([[maybe_unused]] T old) { return (T)(result); });              \
    }
EMU_ATOMIC(atomicAdd,  old + v)
EMU_ATOMIC(atomicMin,  v < old ? v : old)
EMU_ATOMIC(atomicMax,  v > old ? v : old)
EMU_ATOMIC(atomicExch, v)
EMU_ATOMIC(atomicAnd,  old & v)
EMU_ATOMIC(atomicOr,   old | v)
template <typename T> EMU_INLINE T atomicCAS(T *p, typename emu_same<T>::type expected, typename emu_same<T>::type v)
{
    return emu_atomic(p, [=](T old) { return old == expected ? v : old; });
}

/* Arithmetic that CUDA has beyond the C library. */
struct float2 { float x, y; };
struct float4 { float x, y, z, w; };
struct uchar4 { unsigned char x, y, z, w; };
struct uint2  { unsigned x, y; };
struct uint4  { unsigned x, y, z, w; };
inline float2 make_float2(float x, float y) { return { x, y }; }
inline float4 make_float4(float x, float y, float z, float w) { return { x, y, z, w }; }

template <typename T> T min(T a, T b) { return b < a ? b : a; }
template <typename T> T max(T a, T b) { return a < b ? b : a; }
template <typename T> T __ldg(const T *p) { return *p; }
inline float    __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline float    __int_as_float(int i)     { float f; memcpy(&f, &i, sizeof f); return f; }
inline long long __double_as_longlong(double d)   { long long i; memcpy(&i, &d, sizeof i); return i; }
inline double   __longlong_as_double(long long i) { double d; memcpy(&d, &i, sizeof d); return d; }
inline int      __float_as_int(float f)   { int i; memcpy(&i, &f, sizeof i); return i; }
inline int      __popc(unsigned x)        { return __builtin_popcount(x); }
inline int      __ffs(int x)              { return __builtin_ffs(x); }
inline int      __clz(int x)              { return x ? __builtin_clz((unsigned)x) : 32; }
inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((uint64_t)a * b >> 32); }

/* The runtime: one device, everything in order, memory of exact size filled with NaNs between red zones. */
enum cudaError_t {
    cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2, cudaErrorInvalidConfiguration = 9,
    cudaErrorLaunchFailure = 719, cudaErrorStreamCaptureUnsupported = 900, cudaErrorStreamCaptureInvalidated = 901,
    cudaErrorStreamCaptureUnjoined = 904, cudaErrorStreamCaptureIsolation = 905
};
enum cudaMemcpyKind { cudaMemcpyDefault = 4 };
enum cudaMemoryType { cudaMemoryTypeUnregistered = 0, cudaMemoryTypeDevice = 2, cudaMemoryTypeManaged = 3 };
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2 };
typedef struct emu_stream *cudaStream_t;
typedef struct emu_event *cudaEvent_t;
typedef struct emu_graph *cudaGraph_t, *cudaGraphExec_t;
enum cudaStreamCaptureMode { cudaStreamCaptureModeRelaxed = 2 };
#define __CUDA_ARCH_LIST__ 800, 900      /* as the build of the plugin has it */
struct cudaDeviceProp {
    char name[256];
    struct { char bytes[16]; } uuid;
    int major, minor, multiProcessorCount;
};
struct cudaPointerAttributes { cudaMemoryType type; };

cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *prop, int device);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *ready, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t ready, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t ready);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaMemGetInfo(size_t *left, size_t *total);
cudaError_t cudaMalloc(void **p, size_t bytes);
cudaError_t cudaFree(void *p);
constexpr unsigned cudaHostRegisterDefault = 0;
cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void *p);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void *p, int byte, size_t bytes, cudaStream_t stream);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *a, const void *p);
cudaError_t cudaGetLastError();
const char *cudaGetErrorString(cudaError_t e);   /* of cudaErrorLaunchFailure: the emulator's report */

/* The compiler shows accesses by assignment; a copy of many bytes it does itself, unseen. */
#ifdef SPOT_WATCHED_KERNEL
EMU_INLINE void *emu_copy(void *to, const void *from, size_t bytes)
{
    if (!__builtin_constant_p(bytes) || bytes > 8) emu::watch_copy(to, from, bytes);
    return memcpy(to, from, bytes);
}

EMU_INLINE void *emu_fill(void *to, int byte, size_t bytes)
{
    emu::watch_copy(to, nullptr, bytes);
    return memset(to, byte, bytes);
}

#define memcpy(to, from, bytes) emu_copy((to), (from), (bytes))
#define memset(to, byte, bytes) emu_fill((to), (byte), (bytes))
#endif

#endif
