/* attention_bf16.cu - attention on tensor cores. A block of 8 warps has 128 queries of a head, a warp 16 of them. The block
 * goes over the keys twice, 32 at a time: for the greatest score of each query, then for weights and sums, so that sums stay
 * in registers and are never scaled anew. q, k and v are bf16 in memory; scores are divided by sqrt(d) in fp32. The weights are
 * rounded to bf16 once and divided by the sum of the rounded ones, so that equal values stay as they are. */
#include "core/mma.cuh"
#include "core/vmath.h"
#include "net/attention.cuh"

/* A lane of a warp has 8 numbers of a row of a tile in shared memory. Pitches: no two of 8 rows begin in the same bank. */
enum { WARPS = 8, THREADS = 32 * WARPS, TILE = SPOT_MMA, ROWS = WARPS * TILE, KEYS = 2 * TILE, OWN = 8, SCORE_PITCH = TILE + 4,
       WEIGHT_PITCH = TILE + 8 };

/* A warp's memory: a tile of scores or results, and one of weights or queries. */
typedef struct { float *score; spot_bf16 *weight; } desk;

/* A lane's numbers for its query: `end` is the first key that the query may not see. */
typedef struct { int row, col, end; float most, sum; } query;

/* KEYS rows of d numbers from row `first` on -> to (KEYS, 16 CHUNKS + 8); what is not there is 0. */
template <int CHUNKS>
static __device__ void fetch(spot_bf16 *to, const spot_bf16 *from, size_t step, int first, int n, int d)
{
    constexpr int WIDE = CHUNKS * TILE;

    for (int e = threadIdx.x; e < KEYS * WIDE; e += THREADS) {
        const int row = e / WIDE, i = e % WIDE;
        to[row * (WIDE + 8) + i] = first + row < n && i < d ? from[(first + row) * step + i] : spot_bf16{ 0 };
    }
}

/* The warp's 16 queries, by way of its tile of weights. */
template <int CHUNKS>
static __device__ void take_queries(spot_mma_left *q, const desk &t, const query &own, const spot_bf16 *from, size_t step,
                                    int live, int d)
{
    for (int ch = 0; ch < CHUNKS; ch++) {
        for (int i = 0; i < OWN; i++) {
            const int at = ch * TILE + own.col + i;
            t.weight[own.row * WEIGHT_PITCH + own.col + i] = own.row < live && at < d ? from[own.row * step + at]
                                                                                      : spot_bf16{ 0 };
        }
        __syncwarp();
        spot_mma_load(q[ch], t.weight, WEIGHT_PITCH);
        __syncwarp();
    }
}

/* The scores of the warp's queries and 16 keys -> t.score. */
template <int CHUNKS> static __device__ void score(const desk &t, const spot_mma_left *q, const spot_bf16 *keys)
{
    spot_mma_sum sum;
    spot_mma_turned k;

    spot_mma_clear(sum);
    for (int ch = 0; ch < CHUNKS; ch++) {
        spot_mma_load(k, keys + ch * TILE, CHUNKS * TILE + 8);
        spot_mma_add(sum, q[ch], k);
    }
    spot_mma_store(t.score, sum, SCORE_PITCH);
    __syncwarp();
}

/* The lane's greatest score, with those of 16 keys from `first` on. */
static __device__ void look(const desk &t, query *own, int first, float scale)
{
    for (int i = 0; i < OWN; i++) {
        const float s = t.score[own->row * SCORE_PITCH + own->col + i] * scale;
        own->most = first + own->col + i < own->end && s > own->most ? s : own->most;
    }
    __syncwarp();
}

/* Scores -> t.weight, and their sum. */
static __device__ void weigh(const desk &t, query *own, int first, float scale)
{
    for (int i = 0; i < OWN; i++) {
        spot_bf16 *w = t.weight + own->row * WEIGHT_PITCH + own->col + i;
        const float s = t.score[own->row * SCORE_PITCH + own->col + i] * scale;
        spot_round(w, first + own->col + i < own->end ? spot_expf(s - own->most) : 0.0f);
        own->sum += spot_widen(*w);
    }
    __syncwarp();
}

/* out[ch] += weights of 16 keys times their values. */
template <int CHUNKS> static __device__ void add_values(spot_mma_sum *out, const desk &t, const spot_bf16 *values)
{
    spot_mma_left weight;
    spot_mma_right v;

    spot_mma_load(weight, t.weight, WEIGHT_PITCH);
    for (int ch = 0; ch < CHUNKS; ch++) {
        spot_mma_load(v, values + ch * TILE, CHUNKS * TILE + 8);
        spot_mma_add(out[ch], weight, v);
    }
    __syncwarp();
}

/* Results of the warp's queries, by way of t.score. */
template <int CHUNKS>
static __device__ void store(spot_bf16 *to, int width, int d, int live, const spot_mma_sum *out, const desk &t,
                             const query &own)
{
    const float scale = 1 / own.sum;

    for (int ch = 0; ch < CHUNKS; ch++) {
        spot_mma_store(t.score, out[ch], SCORE_PITCH);
        __syncwarp();
        for (int i = 0; i < OWN; i++)
            if (own.row < live && ch * TILE + own.col + i < d)
                spot_round(to + (size_t)own.row * width + ch * TILE + own.col + i,
                           t.score[own.row * SCORE_PITCH + own.col + i] * scale);
        __syncwarp();
    }
}

/* grid (tiles of 128 queries x heads x sequences). Heads of up to 96 numbers leave room for two blocks on a multiprocessor. */
template <int CHUNKS>
static __global__ void __launch_bounds__(THREADS, CHUNKS <= 6 ? 2 : 1) attend_kernel(spot_bf16 *out, const spot_bf16 *qkv,
                                                                                     spot_attended a)
{
    constexpr int PITCH = CHUNKS * TILE + 8;
    SPOT_SHARED(spot_mma_room, keys_room, SPOT_MMA_ROOM(spot_bf16, KEYS * PITCH));
    SPOT_SHARED(spot_mma_room, values_room, SPOT_MMA_ROOM(spot_bf16, KEYS * PITCH));
    SPOT_SHARED(spot_mma_room, score_room, SPOT_MMA_ROOM(float, WARPS * TILE * SCORE_PITCH));
    SPOT_SHARED(spot_mma_room, weight_room, SPOT_MMA_ROOM(spot_bf16, WARPS * TILE * WEIGHT_PITCH));
    spot_bf16 *const keys = (spot_bf16 *)keys_room, *const values = (spot_bf16 *)values_room;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, first = warp * TILE;
    const desk t = { (float *)score_room + warp * TILE * SCORE_PITCH, (spot_bf16 *)weight_room + warp * TILE * WEIGHT_PITCH };
    const spot_head_part p = spot_head_part_of(a, ROWS);
    const int live = min((int)TILE, p.rows - first), seen = live < 1 ? 0 : a.causal ? p.first + first + live : p.n;
    query own = { lane / 2, lane % 2 * OWN, 0, -INFINITY, 0 };
    spot_mma_left q[CHUNKS];
    spot_mma_sum sum[CHUNKS];

    if (p.rows < 1) return;
    own.end = a.causal ? min(p.n, p.first + first + own.row + 1) : p.n;
    take_queries<CHUNKS>(q, t, own, qkv + p.q + (p.first + first) * p.step, p.step, live, a.d);
    for (int ch = 0; ch < CHUNKS; ch++) spot_mma_clear(sum[ch]);
    for (int turn = 0; turn < 2; turn++) {
        for (int at = 0; at < p.keys; at += KEYS) {
            fetch<CHUNKS>(keys, qkv + p.q + a.width, p.step, at, p.n, a.d);
            if (turn) fetch<CHUNKS>(values, qkv + p.q + 2 * a.width, p.step, at, p.n, a.d);
            __syncthreads();
            for (int k = 0; k < KEYS && at + k < seen; k += TILE) {
                score<CHUNKS>(t, q, keys + k * PITCH);
                if (!turn) {
                    look(t, &own, at + k, a.scale);
                } else {
                    weigh(t, &own, at + k, a.scale);
                    add_values<CHUNKS>(sum, t, values + k * PITCH);
                }
            }
            __syncthreads();
        }
        const float other = __shfl_xor_sync(~0u, turn ? own.sum : own.most, 1);
        if (turn) own.sum += other;
        else      own.most = other > own.most ? other : own.most;
    }
    if (live > 0) store<CHUNKS>(out + p.out + (size_t)first * a.width, a.width, a.d, live, sum, t, own);
}

spot_status spot_attend_bf16(spot_ctx *c, spot_bf16 *out, const spot_bf16 *qkv, const spot_attended *a, int sequences,
                             int longest)
{
    spot_attended b = *a;

    b.tiles = a->only ? 1 : spot_blocks(longest, ROWS);
    const dim3 grid(b.tiles * b.heads * sequences);
    if (a->d <= 4 * SPOT_HEAD_CHUNK)
        SPOT_LAUNCH(attend_kernel<4>, grid, THREADS, 0, spot_cuda_stream(c), out, qkv, b);
    else if (a->d <= 6 * SPOT_HEAD_CHUNK)
        SPOT_LAUNCH(attend_kernel<6>, grid, THREADS, 0, spot_cuda_stream(c), out, qkv, b);
    else
        SPOT_LAUNCH(attend_kernel<8>, grid, THREADS, 0, spot_cuda_stream(c), out, qkv, b);
    return spot_cuda_launched(c, "attention.forward of %d sequences of at most %d rows in bf16", sequences, longest);
}
