/* mma.h - stands in for CUDA's header of the same name: products of 16 x 16 tiles of bf16, which the lanes of a warp make
 * together.
 *
 * Number e of a tile belongs to lane e % 32: another division than the hardware's, of which kernels must know nothing. A lane
 * reads and writes memory for its own numbers alone, so that a missing __syncwarp shows as a race and as wrong numbers.
 * Sums are chains of fmaf in the order of k; the hardware's order is another. */
#ifndef SPOTTER_EMULATOR_MMA_H
#define SPOTTER_EMULATOR_MMA_H

#include "cuda_runtime.h"

struct __nv_bfloat16 { uint16_t bits; };

namespace nvcuda::wmma {

enum { SIDE = 16, OWN = SIDE * SIDE / emu::WARP };

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major { static size_t at(int row, int col, unsigned pitch) { return (size_t)row * pitch + col; } };
struct col_major { static size_t at(int row, int col, unsigned pitch) { return (size_t)col * pitch + row; } };
enum layout_t { mem_row_major };

template <typename USE, int M, int N, int K, typename T, typename ORDER = row_major> struct fragment {
    static_assert(M == SIDE && N == SIDE && K == SIDE, "one shape is emulated");
    static constexpr int num_elements = OWN;
    float x[OWN];
};

inline int row_of(int i) { return (int)(emu::lane() + i * emu::WARP) / SIDE; }
inline int col_of(int i) { return (int)(emu::lane() + i * emu::WARP) % SIDE; }

/* Checks the hardware's demands on a tile in memory: 32 bytes of alignment, rows of a multiple of 16 bytes. */
inline void check_tile(const void *p, size_t row_bytes)
{
    if ((uintptr_t)p % 32 || row_bytes % 16) emu::fault("a tile at %p with rows of %zu bytes is not aligned", p, row_bytes);
}

template <typename F> void fill_fragment(F &f, float v)
{
    for (float &x : f.x) x = v;
}

template <typename USE, typename ORDER>
void load_matrix_sync(fragment<USE, 16, 16, 16, __nv_bfloat16, ORDER> &f, const __nv_bfloat16 *from, unsigned pitch)
{
    check_tile(from, pitch * sizeof *from);
    for (int i = 0; i < OWN; i++)
        f.x[i] = __int_as_float((int)((unsigned)from[ORDER::at(row_of(i), col_of(i), pitch)].bits << 16));
}

template <typename USE, typename T>
void store_matrix_sync(float *to, const fragment<USE, 16, 16, 16, T> &f, unsigned pitch, layout_t)
{
    check_tile(to, pitch * sizeof *to);
    for (int i = 0; i < OWN; i++) to[row_major::at(row_of(i), col_of(i), pitch)] = f.x[i];
}

/* Other lanes' numbers, which only the hardware sees. */
EMU_ATOMICALLY inline float number_of(uint64_t lanes_x, int i) { return ((const float *)lanes_x)[i]; }

template <typename SUM, typename A, typename B> void mma_sync(SUM &d, const A &a, const B &b, const SUM &c)
{
    const uint64_t *given = emu::gather("mma a", "mma_sync", ~0u, (uint64_t)(uintptr_t)a.x);
    uint64_t left[emu::WARP], right[emu::WARP];
    float sum[OWN];

    memcpy(left, given, sizeof left);
    given = emu::gather("mma b", "mma_sync", ~0u, (uint64_t)(uintptr_t)b.x);
    memcpy(right, given, sizeof right);
    for (int i = 0; i < OWN; i++) {
        sum[i] = c.x[i];
        for (int k = 0; k < SIDE; k++) {
            const int e = row_of(i) * SIDE + k, f = k * SIDE + col_of(i);
            sum[i] = fmaf(number_of(left[e % emu::WARP], e / emu::WARP), number_of(right[f % emu::WARP], f / emu::WARP),
                          sum[i]);
        }
    }
    emu::gather("mma end", "mma_sync", ~0u, 0);        /* nobody changes what others still read */
    for (int i = 0; i < OWN; i++) d.x[i] = sum[i];
}

}
#endif
