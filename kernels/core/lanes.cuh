/* lanes.cuh - the numbers of an activation on a GPU, float or bf16, moved 16 bytes at a time and computed in float. */
#ifndef SPOTTER_LANES_CUH
#define SPOTTER_LANES_CUH

#include <stdint.h>
#include <string.h>

#include "core/cuda.cuh"
#ifdef __CUDACC__
#include <cuda_bf16.h>
#endif

/* The upper half of a float. It is our own struct, because CUDA's header may be missing where the emulator runs. */
typedef struct { uint16_t bits; } spot_bf16;

template <typename T> struct spot_lanes { static constexpr int N = 16 / sizeof(T); };   /* channels that a thread owns */

static __device__ inline float spot_widen(float v) { return v; }
static __device__ inline float spot_widen(spot_bf16 v) { return __int_as_float((int)((unsigned)v.bits << 16)); }

static __device__ inline void spot_round(float *to, float v) { *to = v; }

/* Rounds to the nearest, ties to even; NaN stays NaN. The hardware's instruction gives these bits, too. */
static __host__ __device__ inline void spot_round(spot_bf16 *to, float v)
{
#ifdef __CUDA_ARCH__
    to->bits = __bfloat16_as_ushort(__float2bfloat16_rn(v));
#else
    unsigned u;
    memcpy(&u, &v, sizeof u);
    to->bits = (uint16_t)(v != v ? 0x7fff : (u + 0x7fff + (u >> 16 & 1)) >> 16);
#endif
}

/* Loads spot_lanes<T>::N numbers; `from` is aligned to 16 bytes, as all tensors are. spot_store writes them likewise. */
template <typename T> static __device__ inline void spot_load(float *v, const T *from)
{
    union { uint4 word; T number[spot_lanes<T>::N]; } u;

    u.word = *(const uint4 *)from;
    for (int j = 0; j < spot_lanes<T>::N; j++) v[j] = spot_widen(u.number[j]);
}

template <typename T> static __device__ inline void spot_store(T *to, const float *v)
{
    union { uint4 word; T number[spot_lanes<T>::N]; } u;

    for (int j = 0; j < spot_lanes<T>::N; j++) spot_round(&u.number[j], v[j]);
    *(uint4 *)to = u.word;
}

/* N constants of a thread's channels, in as few loads as their 16 bytes allow. A kernel reads them before its loop: inside it
 * the compiler would load each again for each place, because a tensor that the loop writes may overlap them. */
template <int N> static __device__ inline void spot_load_constants(float *v, const float *from)
{
    for (int j = 0; j < N; j += spot_lanes<float>::N) spot_load(v + j, from + j);
}

/* Four numbers as they lie in memory: 16 bytes of floats, 8 of bf16. A thread that keeps sums per channel owns four channels
 * rather than spot_lanes<T>::N, so that the sums of bf16 fit into its registers. `from` is aligned to the four numbers. */
template <typename T> struct spot_four;
template <> struct spot_four<float>     { uint4 word; };
template <> struct spot_four<spot_bf16> { uint2 word; };

template <typename T> static __device__ inline spot_four<T> spot_load_four(const T *from)
{
    return { ((const spot_four<T> *)from)->word };
}

template <typename T> static __device__ inline void spot_widen_four(float *v, spot_four<T> four)
{
    union { spot_four<T> four; T number[4]; } u;

    u.four = four;
    for (int j = 0; j < 4; j++) v[j] = spot_widen(u.number[j]);
}

template <typename T> static __device__ inline void spot_store_four(T *to, const float *v)
{
    union { spot_four<T> four; T number[4]; } u;

    for (int j = 0; j < 4; j++) spot_round(&u.number[j], v[j]);
    ((spot_four<T> *)to)->word = u.four.word;
}

#endif
