/* mixture.cuh - a block's workspace, for mixture.cu, mixture_wide.cu and mixture_start.cu.
 *
 * A sum over points is one warp's (each lane in the order of points, then a butterfly), or the block's (its warps' sums in
 * order). Of a wide fit each piece has such sums, and these are added in the same two ways. */
#ifndef SPOTTER_MIXTURE_CUH
#define SPOTTER_MIXTURE_CUH

#include "core/sums.cuh"
#include "fit/mixture_scratch.h"

enum { THREADS = 256, WARP = SPOT_MIXTURE_WARP, WARPS = THREADS / WARP, TRIALS = SPOT_MIXTURE_TRIALS };
enum { POLL = 25 };   /* iterations of a fit between two looks at the stop flag */
static_assert((int)SPOT_MIXTURE_PIECES <= (int)THREADS, "a thread a piece");

typedef spot_mixture_state state;

static inline __device__ int thread() { return threadIdx.x; }
static inline __device__ int lane()   { return threadIdx.x % WARP; }
static inline __device__ int warp()   { return threadIdx.x / WARP; }

typedef struct {
    double *moment, *point, *tile;   /* a fit's part of the scratch */
    int first, last;                 /* the block's points: first .. last - 1 */
} work;

/* All n points of a fit, which has the part of that number. */
static inline __device__ work work_of(const spot_mixture_space *m, unsigned part, int n)
{
    return { m->moment + part * m->moments, m->point + part * m->points, m->tile + part * m->tiles, 0, n };
}

/* The fit has no piece for this column of blocks. */
static inline __device__ bool has_no_piece(const state *f) { return (int)blockIdx.x >= spot_mixture_pieces(f->n); }

/* The points of a piece of a wide fit, and a room for their own moments. */
static inline __device__ work piece_of(const spot_mixture_space *m, unsigned part, int n, int piece)
{
    const int size = spot_mixture_piece(n), first = piece * size;
    work w = work_of(m, part, n);

    w.moment = m->partial + ((size_t)part * m->pieces + piece) * m->moments;
    w.first = first;
    w.last = n - first < size ? n : first + size;
    return w;
}

static inline __device__ spot_mixture_share *share_of(const spot_mixture_space *m, unsigned part)
{
    return m->share + (size_t)part * m->pieces;
}

/* The sum of a number over the pieces of a fit, which lie `pitch` numbers apart; the same in every thread. */
static inline __device__ double add_pieces(const double *number, size_t pitch, int n)
{
    return spot_block_sum<THREADS>(thread() < spot_mixture_pieces(n) ? number[thread() * pitch] : 0);
}

static inline __device__ double add_shares(const double *number, int n)
{
    return add_pieces(number, sizeof(spot_mixture_share) / sizeof *number, n);
}

/* The moments of a wide fit, of each component the first `some`, from those of its pieces. A warp a number. */
static inline __device__ void add_partials(const spot_mixture_space *m, const state *f, unsigned part, const work *w, int some)
{
    const double *partial = m->partial + (size_t)part * m->pieces * m->moments;
    const int pieces = spot_mixture_pieces(f->n);

    for (int e = warp(); e < f->k * some; e += WARPS) {
        const int own = e / some * f->stride + e % some;
        double sum = 0;
        for (int p = lane(); p < pieces; p += WARP) sum += partial[p * m->moments + own];
        sum = spot_warp_sum(sum);
        if (!lane()) w->moment[own] = sum;
    }
    __syncthreads();
}

/* Blocks take fits in their order. No result depends on the block. */
static inline __device__ unsigned next_fit(const spot_mixture_space *m, unsigned *turn)
{
    unsigned own;

    if (!thread()) *turn = atomicAdd(m->counter, 1u);
    __syncthreads();
    own = *turn;
    __syncthreads();
    return own;
}

/* Labels by k-means for the fits first .. first + count - 1, of which none is wide, unless they have responsibilities to start
 * from. */
spot_status spot_mixture_start_cuda(spot_ctx *c, const spot_mixture_space *m, int first, int count);

/* The same for wide fits. fit: (count), these on the host */
spot_status spot_mixture_start_wide(spot_ctx *c, const spot_mixture_space *m, const state *fit, int first, int count);

/* The first `count` fits, which are wide, as many together as there are blocks; without cfg only their starts. fit: (count), on
 * the host */
spot_status spot_mixture_run_wide(spot_ctx *c, const spot_mixture_space *m, const state *fit, int count,
                                  const spot_mixture_config *cfg);

/* A round begins: nobody has counted a fit. */
static inline spot_status begin_round(spot_ctx *c, const spot_mixture_space *m)
{
    SPOT_TRY(spot_check_stop(c));
    return spot_cuda_check(c, cudaMemsetAsync(m->counter, 0, 2 * sizeof *m->counter, spot_cuda_stream(c)),
                           "mixture.em: its counters");
}

/* The round ends: how many fits need another one. */
static inline spot_status read_left(spot_ctx *c, const spot_mixture_space *m, unsigned *left)
{
    cudaStream_t stream = spot_cuda_stream(c);
    unsigned counter[2] = { 0, 0 };

    SPOT_TRY(spot_cuda_launched(c, "mixture.em of at most %zu points", m->points));
    cudaError_t e = cudaMemcpyAsync(counter, m->counter, sizeof counter, cudaMemcpyDefault, stream);
    if (e == cudaSuccess) e = cudaStreamSynchronize(stream);
    *left = counter[1];
    return spot_cuda_check(c, e, "mixture.em of at most %zu points", m->points);
}

#endif
