/* ward_near.cu - the nearest clusters among many: products on tensor cores rule out nearly all pairs, fp64 decides the rest, so
 * that no bit depends on the products. A warp has 32 queries, a lane one of them; the block goes over the other clusters, 64 at
 * a time. Where the products leave a pair of a tile of 16 x 16, the warp computes the tile's costs as ward.cu does.
 *
 * The proof. Means a and b count in units of a power of two in which none is longer than 1. A and B are the same rounded to
 * bf16, of sizes s and t, alpha and beta the squared lengths of what rounding took, |a - A|^2 and |b - B|^2, computed in fp64.
 * The pair costs more than the least cost m that the query has met if |a - b|^2 > M = m (1/s + 1/t), and that follows from
 * |A - B| > sqrt(M) + sqrt(alpha) + sqrt(beta). Since (x + y)^2 <= (1 + e) x^2 + (1 + 1/e) y^2 for each e > 0, it follows from
 *
 *     |A - B|^2 > Z = (1 + e) m (1/s + 1/t) + 2 (1 + 1/e) (alpha + beta)
 *
 * A query chooses e near the best, 2 sqrt(alpha s / m). Half of Z - |A - B|^2 is a sum of products of a number of the query and
 * one of the other cluster: A B, and eleven columns behind the means, which spot_bf16 parts make, rounded up:
 *
 *     query     x1 x2 x3    1  1  1     f1 f1 f2 f2    g       f = (1 + e) m / 2, x = f / s + g alpha - |A|^2 / 2
 *     other      1  1  1   y1 y2 y3     r1 r2 r1 r2   beta     r = 1/t, y = -|B|^2 / 2, g = 1 + 1/e
 *
 * The computed sum is off. A tensor core multiplies bf16 exactly; an addition, in whatever order and whether it rounds or cuts,
 * is taken to lose at most 2^-22 of the sum S of all absolute terms (a chain of fp32 loses 2^-24; cutting 17 terms aligned to
 * their largest and once more at the end, which is the worst that was published of hardware, 18 2^-23 for 16 terms). For K
 * columns that is c S, c = K 2^-22, and S <= 1.05 (|A|^2 + |B|^2 + Z / 2), because 2 |A B| <= |A|^2 + |B|^2 and parts that are
 * rounded up exceed their number by 2^-6 of it at most. So the kernel sums
 *
 *     ((1 + w) Z - |A - B|^2 + w (|A|^2 + |B|^2)) / 2     with w = 2.25 c + 2^-20
 *
 * by 1 - w at |A|^2 and |B|^2, and 1 + w at f and g. A computed sum below 0 then means that the true one is below c S, hence
 * |A - B|^2 > Z. 2^-20 covers how fp64 computed |A|^2, |B|^2, alpha and beta, and as m (1 + 2^-20) is asked for, what fp64
 * computes for the pair's cost is above m, too: a chain of d terms is off by (d + 8) 2^-52. Products below fp32's least number
 * may vanish: 2^-100 in x covers them. */
#include "core/mma.cuh"
#include "core/tile.cuh"
#include "fit/ward.cuh"

#include <limits.h>
#include <math.h>

enum { WARP = 32, WARPS = 4, THREADS = WARP * WARPS, PACKERS = 8, QUERIES = THREADS, OTHERS = 64, CHUNK = SPOT_MMA, SLAB = 80,
       PITCH = SLAB + 8,      /* rows begin in different banks */
       LEFT = WARP / CHUNK, RIGHT = OTHERS / CHUNK, PIECE = 8, X = 0, Y = 3, F = 6, G = 10, EXTRA = SPOT_WARD_EXTRA };

static_assert(WARP * (CHUNK + 1) * sizeof(double) <= WARP * PITCH * sizeof(spot_bf16), "means lie where rounded ones lay");

typedef spot_ward_space space_of;
typedef spot_ward_nearest nearest;

static __device__ inline int columns_of(const space_of &m, int job) { return spot_ward_columns(m.job[job].d); }
static __device__ inline spot_bf16 *low_of(const space_of &m, int job, int slot)
{
    return (spot_bf16 *)m.low + spot_ward_at(m, job) * spot_ward_columns(m.d) + (size_t)slot * columns_of(m, job);
}

/* ---- the rounded means ---- */

/* Returns w of the proof. */
static __device__ inline double width_of(int columns) { return (2.25 * columns + 4) * 0x1p-22; }

/* Returns the power of two by which means are multiplied. */
static __device__ inline double scale_of(const space_of &m, int job)
{
    int exponent;

    frexp(__longlong_as_double((long long)m.longest[job]), &exponent);
    return ldexp(1.0, -((exponent + 1) >> 1));
}

/* The least bf16 that is not below v. */
static __device__ inline spot_bf16 round_up(double v)
{
    unsigned bits = (unsigned)__float_as_int((float)v) & 0xffff0000u;

    if (__int_as_float((int)bits) < v) bits += bits >> 31 ? -0x10000u : 0x10000u;
    return { (uint16_t)(bits >> 16) };
}

/* v as a sum of parts, rounded up. */
static __device__ inline void split(spot_bf16 *part, int parts, double v)
{
    for (int k = 0; k < parts; k++) {
        part[k] = round_up(v);
        v -= spot_widen(part[k]);
    }
}

/* The squared length of the longest mean. grid (ceil(n / 8), count): a warp's row */
static __global__ void __launch_bounds__(WARP * PACKERS) longest_kernel(const __grid_constant__ space_of m)
{
    const int q = blockIdx.y, s = blockIdx.x * PACKERS + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    double sum = 0;

    if (s >= m.job[q].n) return;      /* the whole warp */
    const double *mean = spot_ward_mean(m, q, s);
    for (int j = lane; j < m.job[q].d; j += WARP) sum = fma(mean[j], mean[j], sum);
    for (int by = WARP / 2; by; by /= 2) sum += __shfl_xor_sync(~0u, sum, by);
    if (!lane) atomicMax((unsigned long long *)&m.longest[q], (unsigned long long)__double_as_longlong(sum));
}

/* Rounds the means of clusters that merged since a round, with the columns of the other cluster behind them.
 * grid (ceil(live / 8), count): a warp's cluster */
static __global__ void __launch_bounds__(WARP * PACKERS) pack_kernel(const __grid_constant__ space_of m, int since)
{
    const int q = blockIdx.y, i = blockIdx.x * PACKERS + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const size_t from = spot_ward_at(m, q);
    double square = 0, off = 0;

    if (i >= m.round[1 + q].live) return;      /* the whole warp */
    const int s = m.live[from + i], columns = columns_of(m, q), d = m.job[q].d;
    if (m.merged[from + s] < since) return;
    const double *mean = spot_ward_mean(m, q, s), scale = scale_of(m, q);
    spot_bf16 *low = low_of(m, q, s);
    for (int j = lane; j < columns - EXTRA; j += WARP) {
        const double v = j < d ? scale * mean[j] : 0;
        spot_bf16 rounded;
        spot_round(&rounded, (float)v);
        const double kept = spot_widen(rounded), lost = v - kept;
        low[j] = rounded;
        square = fma(kept, kept, square);
        off = fma(lost, lost, off);
    }
    for (int by = WARP / 2; by; by /= 2) {
        square += __shfl_xor_sync(~0u, square, by);
        off += __shfl_xor_sync(~0u, off, by);
    }
    if (lane) return;
    off *= 1 + 0x1p-20;
    m.rounded[from + s] = { square, off };
    low += columns - EXTRA;
    for (int k = 0; k < 3; k++) low[X + k] = round_up(1);
    split(low + Y, 3, -0.5 * (1 - width_of(columns)) * square);
    split(low + F, 2, 1 / m.size[from + s]);
    for (int k = 0; k < 2; k++) low[F + 2 + k] = low[F + k];
    low[G] = round_up(off);
}

/* ---- the search ---- */

/* Where the products leave more than a quarter of the tiles, they save too little, and nearest_kernel has all later rounds. */
enum { QUARTER = 4 };

/* A lane's query. */
typedef struct { int slot; nearest best; } query;

/* Sets a cost to begin with: that of the cluster which the last search found, or of the one into which it merged. */
static __device__ void begin(query *own, const space_of &m, int job)
{
    const size_t from = spot_ward_at(m, job);
    int other = m.near[from + own->slot];
    double sum = 0;

    if (!(m.size[from + other] > 0)) other = m.near[from + other];
    if (other == own->slot || !(m.size[from + other] > 0)) return;
    const double *a = spot_ward_mean(m, job, own->slot), *b = spot_ward_mean(m, job, other);
    for (int j = 0; j < m.job[job].d; j++) sum = spot_tile_distance::step(sum, a[j], b[j]);
    own->best = { spot_ward_cost(m.size[from + own->slot], m.size[from + other], sum), other };
}

/* A query's columns behind its mean, for the least cost that it has met. No cost of means of length 1 and 2^31 rows comes near
 * 2^40, so that there nothing is ruled out. */
static __device__ void put_query(spot_bf16 *to, const query &own, const space_of &m, int job)
{
    const double scale = scale_of(m, job), w = width_of(columns_of(m, job)), size = m.size[spot_ward_at(m, job) + own.slot];
    const spot_ward_rounded of = m.rounded[spot_ward_at(m, job) + own.slot];
    const double least = fmin(own.best.cost * scale * scale, 0x1p40) * (1 + 0x1p-20);
    const double e = fmin(fmax(2 * sqrt(of.off * size / least), 0x1p-10), 0x1p10);     /* of NaN, 2^-10 */
    const double f = 0.5 * (1 + w) * (1 + e) * least, g = (1 + w) * (1 + 1 / e);

    split(to + X, 3, f / size + g * of.off - 0.5 * (1 - w) * of.square + 0x1p-100);
    for (int k = 0; k < 3; k++) to[Y + k] = round_up(1);
    split(to + F + 1, 2, f);
    to[F] = to[F + 1];
    to[F + 3] = to[F + 2];
    to[G] = round_up(g);
}

/* 16-byte pieces first, first + step, ... of `columns` numbers. */
static __device__ inline void copy(spot_bf16 *to, const spot_bf16 *from, int columns, int first, int step)
{
    for (int p = first; p < columns / PIECE; p += step) ((uint4 *)to)[p] = ((const uint4 *)from)[p];
}

/* sum += products of the warp's 32 queries and 64 others over some columns. */
static __device__ void multiply(spot_mma_sum sum[LEFT][RIGHT], const spot_bf16 *asked, const spot_bf16 *others, int columns)
{
    spot_mma_left left[LEFT];
    spot_mma_turned right;

    for (int j = 0; j < columns; j += CHUNK) {
        for (int a = 0; a < LEFT; a++) spot_mma_load(left[a], asked + a * CHUNK * PITCH + j, PITCH);
        for (int b = 0; b < RIGHT; b++) {
            spot_mma_load(right, others + b * CHUNK * PITCH + j, PITCH);
            for (int a = 0; a < LEFT; a++) spot_mma_add(sum[a][b], left[a], right);
        }
    }
}

/* The costs of the warp's queries from `row` on, 16 of them, and others other[0 .. count), at most 16: by ward.cu's chains. A
 * lane has a query and every other of the others. room: the warp's, for 16 columns of these 32 means. */
static __device__ void decide(query *own, double *room, const space_of &m, int job, int row, const int *other, int count)
{
    const int lane = threadIdx.x % WARP, at = lane % CHUNK, half = lane / CHUNK, d = m.job[job].d;
    const int asker = __shfl_sync(~0u, own->slot, row + at), mine = half ? other[min(at, count - 1)] : asker;
    const double *mean = spot_ward_mean(m, job, 0), *size = m.size + spot_ward_at(m, job);
    double sum[CHUNK / 2] = { 0 };
    nearest best = { INFINITY, -1 };

    for (int j0 = 0; j0 < d; j0 += CHUNK) {
        for (int r = half; r < WARP; r += 2) {      /* 16 lanes a row */
            const int slot = __shfl_sync(~0u, mine, r);
            if (j0 + at < d) room[r * (CHUNK + 1) + at] = mean[(size_t)slot * d + j0 + at];
        }
        __syncwarp();
        for (int j = 0; j < min((int)CHUNK, d - j0); j++)
            for (int k = 0; k < CHUNK / 2; k++)
                sum[k] = spot_tile_distance::step(sum[k], room[at * (CHUNK + 1) + j],
                                                  room[(CHUNK + 2 * k + half) * (CHUNK + 1) + j]);
        __syncwarp();
    }
    for (int k = 0; k < CHUNK / 2 && 2 * k + half < count; k++) {
        const int to = other[2 * k + half];
        const nearest found = { spot_ward_cost(size[asker], size[to], sum[k]), to };
        if (to != asker && spot_ward_is_less(found, best)) best = found;
    }
    const nearest rest = { __shfl_xor_sync(~0u, best.cost, CHUNK), __shfl_xor_sync(~0u, best.near, CHUNK) };
    if (spot_ward_is_less(rest, best)) best = rest;
    if (half == row / CHUNK && spot_ward_is_less(best, own->best)) own->best = best;
}

/* The tiles in which the sums do not rule out all pairs: bit RIGHT a + b. */
static __device__ inline unsigned left_by(const spot_mma_sum sum[LEFT][RIGHT])
{
    unsigned tiles = 0;

    for (int a = 0; a < LEFT; a++)
        for (int b = 0; b < RIGHT; b++) tiles |= spot_mma_below_0(sum[a][b]) ? 0 : 1u << (RIGHT * a + b);
    return tiles;
}

/* Queries and others past the end repeat the last. Rows in an order that has a meaning lie near those that are alike, so the
 * block begins where its queries are among the others. grid (slices, ceil(queries / 128), count) */
static __global__ void __launch_bounds__(THREADS, 3) sift_kernel(const __grid_constant__ space_of m, int round)
{
    SPOT_SHARED(spot_mma_room, asked_room, SPOT_MMA_ROOM(spot_bf16, QUERIES * PITCH));
    SPOT_SHARED(spot_mma_room, others_room, SPOT_MMA_ROOM(spot_bf16, OTHERS * PITCH));
    SPOT_SHARED(spot_bf16, extra, QUERIES * EXTRA);
    const int q = blockIdx.z, slice = blockIdx.x, slices = gridDim.x, live = m.round[1 + q].live;
    const int queries = m.round[1 + q].queries, first = blockIdx.y * QUERIES, tiles = (live + OTHERS - 1) / OTHERS;
    const int from = (int)((long)slice * tiles / slices), count = (int)((long)(slice + 1) * tiles / slices) - from;
    const int lane = threadIdx.x % WARP, row = first + threadIdx.x, columns = columns_of(m, q), part = threadIdx.x % 2;
    const int *const list = m.live + spot_ward_at(m, q);
    const bool idle = row - lane >= queries;      /* the whole warp */
    spot_bf16 *const asked = (spot_bf16 *)asked_room + (threadIdx.x - lane) * PITCH, *const others = (spot_bf16 *)others_room;
    spot_bf16 *const own_row = asked + lane * PITCH, *const behind = extra + threadIdx.x * EXTRA;
    bool fresh = false;      /* the warp's rows of `asked` are what is asked next */
    int decided = 0;

    if (first >= queries) return;      /* the whole block */
    query own = { m.query[spot_ward_at(m, q) + min(row, queries - 1)], { INFINITY, -1 } };
    if (round) begin(&own, m, q);
    const int start = max(0, min((int)((long)first * live / queries / OTHERS) - from, count - 1));
    for (int k = 0; k < count; k++) {
        const int t = from + (start + k < count ? start + k : start + k - count), rest = live - t * OTHERS;
        spot_mma_sum sum[LEFT][RIGHT];
        for (int a = 0; a < LEFT; a++)
            for (int b = 0; b < RIGHT; b++) spot_mma_clear(sum[a][b]);
        if (!fresh) put_query(behind, own, m, q);
        const spot_bf16 *low = low_of(m, q, list[t * OTHERS + min((int)threadIdx.x / 2, rest - 1)]);
        for (int j0 = 0; j0 < columns; j0 += SLAB) {
            const int wide = min((int)SLAB, columns - j0);
            __syncthreads();
            copy(others + threadIdx.x / 2 * PITCH, low + j0, wide, part, 2);
            if (!fresh || columns > SLAB) {
                copy(own_row, low_of(m, q, own.slot) + j0, wide, 0, 1);
                for (int e = 0; e < EXTRA && j0 + wide == columns; e++) own_row[wide - EXTRA + e] = behind[e];
            }
            __syncthreads();
            if (!idle) multiply(sum, asked, others, wide);
        }
        unsigned left = idle ? 0 : left_by(sum);
        fresh = !left;
        decided += __popc(left);
        for (; left; left &= left - 1) {
            const int tile = __ffs((int)left) - 1, b = tile % RIGHT * CHUNK;
            if (b >= rest) continue;
            decide(&own, (double *)asked, m, q, tile / RIGHT * CHUNK, list + t * OTHERS + b, min((int)CHUNK, rest - b));
        }
    }
    if (row < queries) spot_ward_put_part(m, q, row, slice, slices, own.best);
    if (lane || idle) return;
    atomicAdd((unsigned long long *)&m.sifted[0], (unsigned long long)decided);
    atomicAdd((unsigned long long *)&m.sifted[1], (unsigned long long)count * LEFT * RIGHT);
}

spot_status spot_ward_sift(spot_ctx *c, const space_of *m, int count, int round, const spot_ward_round *now, int slices,
                           spot_ward_search *how)
{
    cudaStream_t stream = spot_cuda_stream(c);
    uint64_t tiles[2];

    SPOT_TRY(spot_cuda_check(c, cudaMemsetAsync(m->sifted, 0, sizeof tiles, stream), "ward.fit: tiles"));
    if (how->since < 0) {
        SPOT_TRY(spot_cuda_check(c, cudaMemsetAsync(m->longest, 0, count * sizeof *m->longest, stream), "ward.fit: lengths"));
        SPOT_LAUNCH(longest_kernel, dim3(spot_blocks(m->n, PACKERS), count), WARP * PACKERS, 0, stream, *m);
    }
    SPOT_LAUNCH(pack_kernel, dim3(spot_blocks(now->live, PACKERS), count), WARP * PACKERS, 0, stream, *m, how->since);
    SPOT_LAUNCH(sift_kernel, dim3(slices, spot_blocks(now->queries, QUERIES), count), THREADS, 0, stream, *m, round);
    SPOT_TRY(spot_cuda_launched(c, "ward.fit: search %d of %d jobs, at most %d of %d clusters", round, count, now->queries,
                                now->live));
    SPOT_TRY(spot_cuda_memory(c)->copy(c, tiles, m->sifted, sizeof tiles));
    how->since = round;
    for (int k = 0; k < 2; k++) how->tiles[k] += tiles[k];
    if (how->many > 1 && QUARTER * how->tiles[0] > how->tiles[1]) how->many = INT_MAX;
    return SPOT_OK;
}
