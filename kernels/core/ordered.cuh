/* ordered.cuh - sums over rows in the order of the rows, by a block: all of its threads bring the numbers into shared memory,
 * and a chain is one thread's. So a sum has the bits of a plain loop, and the loop waits for no memory. All threads of the
 * block must call; every function ends with a barrier. */
#ifndef SPOTTER_ORDERED_CUH
#define SPOTTER_ORDERED_CUH

#include "core/cuda.cuh"

enum { SPOT_ORDERED = 1024 };      /* places that are looked at together, numbers of a chain that are loaded together */
enum { SPOT_ORDERED_ROWS = 128, SPOT_ORDERED_COLUMNS = 32, SPOT_ORDERED_TILE = SPOT_ORDERED_ROWS * SPOT_ORDERED_COLUMNS };

/* list: the places from first on, 1024 of them and below n, for which wanted(place) holds, in their order. Returns their
 * number. list (SPOT_ORDERED) and total (THREADS / 32) are shared. */
template <int THREADS, typename Wanted>
static __device__ inline int spot_list_places(int *list, int *total, int first, int n, Wanted wanted)
{
    enum { WARPS = THREADS / 32, EACH = SPOT_ORDERED / THREADS };
    const int thread = threadIdx.y * blockDim.x + threadIdx.x, warp = thread / 32, lane = thread % 32;
    const int from = first + warp * EACH * 32 + lane;
    unsigned held[EACH];
    int own = 0, before = 0, all = 0;

    for (int e = 0; e < EACH; e++) {
        held[e] = __ballot_sync(~0u, from + e * 32 < n && wanted(from + e * 32));
        own += __popc(held[e]);
    }
    if (!lane) total[warp] = own;
    __syncthreads();
    for (int w = 0; w < WARPS; w++) {
        before += w < warp ? total[w] : 0;
        all += total[w];
    }
    for (int e = 0; e < EACH; e++) {
        if (held[e] >> lane & 1) list[before + __popc(held[e] & ((1u << lane) - 1))] = from + e * 32;
        before += __popc(held[e]);
    }
    __syncthreads();
    return all;
}

/* *sum, of the first warp's lanes: term(row(e)[j0 + lane]) is added for e < len, in the order of e; columns past the last
 * repeat it. row(e): d numbers; tile (SPOT_ORDERED_TILE) is shared. */
template <int THREADS, typename Row, typename Term>
static __device__ inline void spot_add_rows(double *sum, float *tile, int d, int j0, int len, Row row, Term term)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, j = min(j0 + lane, d - 1);

    for (int e0 = 0; e0 < len; e0 += SPOT_ORDERED_ROWS) {
        const int rows = min((int)SPOT_ORDERED_ROWS, len - e0);
        for (int e = warp; e < rows; e += THREADS / 32) tile[e * 32 + lane] = row(e0 + e)[j];
        __syncthreads();
        for (int e = 0; e < rows && !warp; e++) *sum += term(tile[e * 32 + lane]);
        __syncthreads();
    }
}

/* The sum of x (n) in thread 0. tile (SPOT_ORDERED) is shared. before (ceil(n / 1024)), unless NULL: the sum before each
 * piece. */
template <int THREADS> static __device__ inline double spot_chain(const double *x, int n, double *tile, double *before)
{
    double sum = 0;

    for (int i0 = 0; i0 < n; i0 += SPOT_ORDERED) {
        const int some = min((int)SPOT_ORDERED, n - i0);
        for (int e = threadIdx.x; e < some; e += THREADS) tile[e] = x[i0 + e];
        __syncthreads();
        if (!threadIdx.x && before) before[i0 / SPOT_ORDERED] = sum;
        for (int e = 0; e < some && !threadIdx.x; e++) sum += tile[e];
        __syncthreads();
    }
    return sum;
}

#endif
