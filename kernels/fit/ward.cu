/* ward.cu - Ward's clustering on CUDA: ward.c's costs, its rule for equal ones, and its rounds. Clusters keep the place of
 * their first row; lists say which are left. A block finds the nearest of 64 clusters among a part of the others, whose means
 * pass through shared memory, 64 at a time. The order of a list depends on the order of the blocks, the result does not.
 *
 * A round is four launches; then the host reads how many clusters there are and how many need their nearest. Among many
 * clusters ward_near.cu searches. */
#include "core/sort.cuh"
#include "core/tile.cuh"
#include "fit/ward.cuh"

#include <math.h>

enum { TILE = SPOT_TILE, SIDE = SPOT_TILE_SIDE, OWN = SPOT_TILE_OWN, SLAB = SPOT_TILE_SLAB, PITCH = TILE + 1, THREADS = 256,
       WARP = 32, WARPS = THREADS / WARP, SORT = 1024 };
static_assert((int)TILE == SPOT_WARD_TILE, "a tile of clusters is a block's");

typedef spot_ward_space space_of;
typedef spot_ward_nearest nearest;

static __device__ inline bool operator<(const spot_ward_merge &p, const spot_ward_merge &q)
{
    if (p.height != q.height) return p.height < q.height;
    return p.a != q.a ? p.a < q.a : p.b < q.b;
}

static __device__ inline size_t at(const space_of &m, int job) { return spot_ward_at(m, job); }

/* ---- the first clusters: equal rows are one ---- */

/* grid (ceil(n / 8), count): a warp's row */
static __global__ void __launch_bounds__(THREADS) hash_kernel(const __grid_constant__ space_of m)
{
    const spot_ward_job *job = &m.job[blockIdx.y];
    const int i = blockIdx.x * WARPS + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    uint64_t sum = 0;

    if (i >= job->n) return;      /* the whole warp */
    for (int j = lane; j < job->d; j += WARP) {
        uint64_t word = (uint64_t)(uint32_t)__float_as_int(job->x[(size_t)i * job->d + j]) << 32 | (uint32_t)j;
        word = (word ^ word >> 31) * 0x9e3779b97f4a7c15;
        word = (word ^ word >> 29) * 0xbf58476d1ce4e5b9;
        sum += word ^ word >> 32;
    }
    for (int by = WARP / 2; by; by /= 2) sum += __shfl_xor_sync(~0u, sum, by);
    if (!lane) m.hash[at(m, blockIdx.y) + i] = sum;
}

static __device__ bool are_equal(const float *a, const float *b, int d)
{
    for (int j = 0; j < d; j++)
        if (__float_as_int(a[j]) != __float_as_int(b[j])) return false;
    return true;
}

/* A row that equals an earlier one merges with the first such row. grid (ceil(n / 256), count) */
static __global__ void __launch_bounds__(THREADS) equals_kernel(const __grid_constant__ space_of m)
{
    const spot_ward_job *job = &m.job[blockIdx.y];
    const int i = blockIdx.x * THREADS + threadIdx.x, d = job->d;
    const uint64_t *hash = m.hash + at(m, blockIdx.y);
    int first = 0;

    if (i >= job->n) return;
    while (first < i && (hash[first] != hash[i] || !are_equal(job->x + (size_t)first * d, job->x + (size_t)i * d, d))) first++;
    m.query[at(m, blockIdx.y) + i] = first;
    atomicAdd(&m.near[at(m, blockIdx.y) + first], 1);
    if (first < i) job->merge[atomicAdd(&m.done[blockIdx.y], 1)] = { first, i, 0 };
}

/* grid (ceil(n / 8), count): a warp's row */
static __global__ void __launch_bounds__(THREADS) open_kernel(const __grid_constant__ space_of m)
{
    const spot_ward_job *job = &m.job[blockIdx.y];
    const int i = blockIdx.x * WARPS + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const size_t own = at(m, blockIdx.y) + i;
    double *mean;

    if (i >= job->n) return;
    mean = spot_ward_mean(m, blockIdx.y, i);
    for (int j = lane; j < job->d; j += WARP) mean[j] = (double)job->x[(size_t)i * job->d + j] - job->x[j];
    if (lane) return;
    m.size[own] = m.query[own] == i ? m.near[own] : 0;
    m.merged[own] = -1;
    if (!i) m.job[blockIdx.y].rounds = 0;
}

/* ---- the clusters that are left ---- */

/* The whole warp calls it: *count grows by the lanes that have something to add. Returns *count before, the same in all lanes;
 * *own: the lane's place. */
static __device__ inline int claim(int *count, unsigned adds, int *own)
{
    const int lane = threadIdx.x % WARP;
    int before = 0;

    if (!lane && adds) before = atomicAdd(count, __popc(adds));
    before = __shfl_sync(~0u, before, 0);
    *own = before + __popc(adds & ((1u << lane) - 1));
    return before;
}

static __device__ inline int tiles_of(int clusters) { return (clusters + TILE - 1) / TILE; }

/* A cluster's nearest is not known after one of the two merged, or when no two were each other's nearest, because a merge broke
 * a tie another way. grid (ceil(n / 256), count) */
static __global__ void __launch_bounds__(THREADS) list_kernel(const __grid_constant__ space_of m, int round)
{
    const int q = blockIdx.y, s = blockIdx.x * THREADS + threadIdx.x, n = m.job[q].n;
    spot_ward_round *own = &m.round[1 + q], *all = m.round;
    const size_t from = at(m, q);
    int place, before;

    if (m.done[q] == n - 1 || (int)(blockIdx.x * THREADS) >= n) return;     /* the whole block */
    const bool live = s < n && m.size[from + s] > 0;
    const bool stale = live && (!m.pairs[q] || m.merged[from + s] == round || m.merged[from + m.near[from + s]] == round);
    const unsigned some = __ballot_sync(~0u, live), asking = __ballot_sync(~0u, stale);
    before = claim(&own->live, some, &place);
    if (live) m.live[from + place] = s;
    if (!(threadIdx.x % WARP) && some) atomicMax(&all->live, before + __popc(some));
    before = claim(&own->queries, asking, &place);
    if (stale) m.query[from + place] = s;
    if (!(threadIdx.x % WARP) && asking) {
        const int after = before + __popc(asking);
        atomicMax(&all->queries, after);
        atomicAdd(&all->tiles, tiles_of(after) - tiles_of(before));
    }
    if (!s) atomicAdd(&all->going, 1);
}

/* ---- nearest clusters ---- */

/* slab[t][r] = column j0 + t of the mean of slot[r]; columns past the end repeat the last. */
static __device__ inline void load_slab(double *slab, const double *mean, const int *slot, int j0, int d)
{
    for (int e = threadIdx.y * SIDE + threadIdx.x; e < TILE * SLAB; e += SIDE * SIDE) {
        const int r = e / SLAB, t = e % SLAB;
        slab[t * PITCH + r] = mean[(size_t)slot[r] * d + min(j0 + t, d - 1)];
    }
}

/* Squared distances of the block's clusters to those of other[]. */
static __device__ inline void find_squares(double sum[OWN][OWN], double *left, double *right, const double *mean,
                                           const int *query, const int *other, int d)
{
    for (int a = 0; a < OWN; a++)
        for (int b = 0; b < OWN; b++) sum[a][b] = 0;
    for (int j0 = 0; j0 < d; j0 += SLAB) {
        load_slab(left, mean, query, j0, d);
        load_slab(right, mean, other, j0, d);
        __syncthreads();
        spot_tile_add<spot_tile_distance, PITCH>(sum, left, right, min((int)SLAB, d - j0));
        __syncthreads();
    }
}

/* A thread's clusters 16 a + y and what it knows of their nearest; sizes are those of the job. */
static __device__ inline void note_nearest(nearest best[OWN], const double sum[OWN][OWN], const double *size, const int *query,
                                           const int *other, int others)
{
    for (int a = 0; a < OWN; a++)
        for (int b = 0; b < OWN; b++) {
            const int col = b * SIDE + threadIdx.x, s = query[a * SIDE + threadIdx.y], to = other[col];
            const nearest found = { spot_ward_cost(size[s], size[to], sum[a][b]), to };
            if (col < others && s != to && spot_ward_is_less(found, best[a])) best[a] = found;
        }
}

/* grid (slices, query tiles, count): the nearest of 64 clusters in a slice of all */
static __global__ void __launch_bounds__(SIDE * SIDE) nearest_kernel(const __grid_constant__ space_of m)
{
    SPOT_SHARED(double, left, SLAB * PITCH);
    SPOT_SHARED(double, right, SLAB * PITCH);
    SPOT_SHARED(int, query, TILE);
    SPOT_SHARED(int, other, TILE);
    const int q = blockIdx.z, thread = threadIdx.y * SIDE + threadIdx.x, slice = blockIdx.x, slices = gridDim.x;
    const int live = m.round[1 + q].live, queries = m.round[1 + q].queries, first = blockIdx.y * TILE, tiles = tiles_of(live);
    const size_t from = at(m, q);
    double sum[OWN][OWN];
    nearest best[OWN];

    if (first >= queries) return;      /* the whole block */
    for (int a = 0; a < OWN; a++) best[a] = { INFINITY, -1 };
    if (thread < TILE) query[thread] = m.query[from + min(first + thread, queries - 1)];
    for (int t = slice * tiles / slices; t < (slice + 1) * tiles / slices; t++) {
        if (thread < TILE) other[thread] = m.live[from + min(t * TILE + thread, live - 1)];
        __syncthreads();
        find_squares(sum, left, right, spot_ward_mean(m, q, 0), query, other, m.job[q].d);
        note_nearest(best, sum, m.size + from, query, other, live - t * TILE);
        __syncthreads();
    }
    for (int a = 0; a < OWN; a++)
        for (int by = SIDE / 2; by; by /= 2) {
            const nearest found = { __shfl_xor_sync(~0u, best[a].cost, by), __shfl_xor_sync(~0u, best[a].near, by) };
            if (spot_ward_is_less(found, best[a])) best[a] = found;
        }
    for (int a = 0; a < OWN; a++) {
        const int row = first + a * SIDE + threadIdx.y;
        if (!threadIdx.x && row < queries) spot_ward_put_part(m, q, row, slice, slices, best[a]);
    }
}

/* grid (ceil(queries / 256), count) */
static __global__ void __launch_bounds__(THREADS) settle_kernel(const __grid_constant__ space_of m, int slices)
{
    const int q = blockIdx.y, i = blockIdx.x * THREADS + threadIdx.x;
    const size_t part = q * m.parts + (size_t)i * slices;
    nearest best = { INFINITY, -1 };

    if (!i) {
        m.pairs[q] = 0;
        m.job[q].rounds += m.round[1 + q].live > 0;
    }
    if (i >= m.round[1 + q].queries) return;
    for (int k = 0; k < slices; k++) {
        const nearest found = { m.part_cost[part + k], m.part_near[part + k] };
        if (spot_ward_is_less(found, best)) best = found;
    }
    m.near[at(m, q) + m.query[at(m, q) + i]] = best.near;
    m.cost[at(m, q) + m.query[at(m, q) + i]] = best.cost;
}

/* ---- merges ---- */

/* Merges a cluster with its nearest where each is the other's and it is the earlier one. grid (ceil(live / 8), count): a warp's
 * cluster */
static __global__ void __launch_bounds__(THREADS) merge_kernel(const __grid_constant__ space_of m, int round)
{
    const int q = blockIdx.y, i = blockIdx.x * WARPS + threadIdx.x / WARP, lane = threadIdx.x % WARP, d = m.job[q].d;
    const int *near = m.near + at(m, q);
    double *size = m.size + at(m, q);

    if (i >= m.round[1 + q].live) return;      /* the whole warp */
    const int s = m.live[at(m, q) + i], other = near[s];
    if (other < s || near[other] != s) return;
    double *a = spot_ward_mean(m, q, s);
    const double *b = spot_ward_mean(m, q, other), own = size[s], others = size[other], all = own + others;
    for (int j = lane; j < d; j += WARP) a[j] = (own * a[j] + others * b[j]) / all;
    __syncwarp();
    if (lane) return;
    m.job[q].merge[atomicAdd(&m.done[q], 1)] = { s, other, sqrt(2 * m.cost[at(m, q) + s]) };
    atomicAdd(&m.pairs[q], 1);
    size[s] = all;
    size[other] = 0;
    m.merged[at(m, q) + s] = m.merged[at(m, q) + other] = round;
}

/* grid (count); the 1 keeps ptxas from spilling so that more blocks fit */
static __global__ void __launch_bounds__(SORT, 1) sort_kernel(const __grid_constant__ space_of m)
{
    spot_block_sort(m.job[blockIdx.x].merge, m.job[blockIdx.x].n - 1);
}

/* ---- the rounds ---- */

static spot_status open_jobs(spot_ctx *c, const space_of *m, int count)
{
    const size_t bytes = count * sizeof(int);
    cudaStream_t stream = spot_cuda_stream(c);

    SPOT_TRY(spot_cuda_check(c, cudaMemsetAsync(m->near, 0, bytes * m->n, stream), "ward.fit: clusters"));
    SPOT_TRY(spot_cuda_check(c, cudaMemsetAsync(m->done, 0, bytes, stream), "ward.fit: merges"));
    SPOT_TRY(spot_cuda_check(c, cudaMemsetAsync(m->pairs, 0, bytes, stream), "ward.fit: pairs"));
    SPOT_LAUNCH(hash_kernel, dim3(spot_blocks(m->n, WARPS), count), THREADS, 0, stream, *m);
    SPOT_LAUNCH(equals_kernel, dim3(spot_blocks(m->n, THREADS), count), THREADS, 0, stream, *m);
    SPOT_LAUNCH(open_kernel, dim3(spot_blocks(m->n, WARPS), count), THREADS, 0, stream, *m);
    return spot_cuda_launched(c, "ward.fit of %d jobs, at most %d points of %d dimensions", count, m->n, m->d);
}

/* Lists the clusters of all jobs. */
static spot_status list_clusters(spot_ctx *c, const space_of *m, int count, int round, spot_ward_round *now)
{
    cudaStream_t stream = spot_cuda_stream(c);

    SPOT_TRY(spot_cuda_check(c, cudaMemsetAsync(m->round, 0, (1 + count) * sizeof *m->round, stream), "ward.fit: a round"));
    SPOT_LAUNCH(list_kernel, dim3(spot_blocks(m->n, THREADS), count), THREADS, 0, stream, *m, round);
    SPOT_TRY(spot_cuda_launched(c, "ward.fit: clusters of %d jobs", count));
    return spot_cuda_memory(c)->copy(c, now, m->round, sizeof *now);
}

/* The parts in which a round's products search; 0: nearest_kernel is faster. Each part begins without a least cost, so it needs
 * many clusters to be of use; and at least a quarter of a large GPU has a block. */
static int sift_slices(const space_of *m, const spot_ward_round *now, const spot_ward_search *how)
{
    const int slices = spot_ward_slices(now->tiles, now->live), most = m->low ? now->live / how->many : 0;

    return how->many == 1 ? most > 0 : most >= slices ? slices : 4 * most >= slices ? most : 0;
}

static spot_status merge_nearest(spot_ctx *c, const space_of *m, int count, int round, const spot_ward_round *now,
                                 spot_ward_search *how)
{
    const int sifts = sift_slices(m, now, how), slices = sifts ? sifts : spot_ward_slices(now->tiles, now->live);
    cudaStream_t stream = spot_cuda_stream(c);

    if (sifts)
        SPOT_TRY(spot_ward_sift(c, m, count, round, now, slices, how));
    else
        SPOT_LAUNCH(nearest_kernel, dim3(slices, spot_blocks(now->queries, TILE), count), dim3(SIDE, SIDE), 0, stream, *m);
    SPOT_LAUNCH(settle_kernel, dim3(spot_blocks(now->queries, THREADS), count), THREADS, 0, stream, *m, slices);
    SPOT_LAUNCH(merge_kernel, dim3(spot_blocks(now->live, WARPS), count), THREADS, 0, stream, *m, round);
    return spot_cuda_launched(c, "ward.fit: round %d of %d jobs, at most %d clusters", round, count, now->live);
}

static spot_status run_jobs(spot_ctx *c, const space_of *m, int count, spot_ward_job *jobs)
{
    const spot_plugin *memory = spot_cuda_memory(c);
    spot_ward_search how = { .many = spot_ward_many(), .since = -1 };
    spot_ward_round now;

    SPOT_TRY(spot_cuda_needs(c, m->job, "ward.fit: scratch"));
    for (int j = 0; j < count; j++) {
        SPOT_TRY(spot_cuda_needs(c, jobs[j].x, "ward.fit: x"));
        if (jobs[j].n > 1) SPOT_TRY(spot_cuda_needs(c, jobs[j].merge, "ward.fit: merge"));
    }
    SPOT_TRY(memory->copy(c, m->job, jobs, count * sizeof *jobs));
    SPOT_TRY(open_jobs(c, m, count));
    SPOT_TRY(list_clusters(c, m, count, -1, &now));
    for (int round = 0; now.going; round++) {
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(merge_nearest(c, m, count, round, &now, &how));
        SPOT_TRY(list_clusters(c, m, count, round, &now));
    }
    if (how.tiles[1])
        spot_log(c, SPOT_LOG_DEBUG, "ward: fp64 decided %llu of %llu tiles of costs", (unsigned long long)how.tiles[0],
                 (unsigned long long)how.tiles[1]);
    SPOT_LAUNCH(sort_kernel, count, min((int)SORT, spot_blocks(m->n, 2 * WARP) * WARP), 0, spot_cuda_stream(c), *m);
    SPOT_TRY(spot_cuda_launched(c, "ward.fit: order of the merges of %d jobs", count));
    return memory->copy(c, jobs, m->job, count * sizeof *jobs);
}

static spot_status fit_cuda(spot_ctx *c, spot_arena *scratch, int count, spot_ward_job *jobs)
{
    const size_t mark = scratch->used;
    int n = 0, d = 0;
    spot_ward_space m;
    spot_status s;

    for (int j = 0; j < count; j++) {
        n = max(n, jobs[j].n);
        d = max(d, jobs[j].d);
    }
    SPOT_TRY(spot_ward_space_take(c, scratch, &m, count, n, d));
    s = run_jobs(c, &m, count, jobs);
    scratch->used = mark;
    return s;
}

extern const spot_ward_ops spot_ward_cuda = { .fit = fit_cuda };
