/* attention.cu - attention on CUDA. In fp32 a block of 16 x 16 threads has 32 queries of a head and goes over the keys, 32 at a
 * time, with the greatest score and the sum of weights so far (Milakov and Gimelshein 2018): scores never leave the chip. */
#include "core/sums.cuh"
#include "core/vmath.h"
#include "net/attention.cuh"

enum { SIDE = 16, OWN = 2, ROWS = SIDE * OWN, THREADS = SIDE * SIDE };

static __device__ float half_warp_max(float v, unsigned mask)
{
    for (int by = SIDE / 2; by; by /= 2) {
        const float other = __shfl_xor_sync(mask, v, by);
        v = other > v ? other : v;
    }
    return v;
}

/* 32 rows of d numbers from row `first` on -> to (32, pitch); what is not there is 0. */
template <int PITCH>
static __device__ void fetch(float *to, const float *from, size_t step, int first, int n, int d, float scale)
{
    for (int e = threadIdx.y * SIDE + threadIdx.x; e < ROWS * (PITCH - 1); e += THREADS) {
        const int row = e / (PITCH - 1), i = e % (PITCH - 1);
        to[row * PITCH + i] = first + row < n && i < d ? from[(first + row) * step + i] * scale : 0;
    }
}

/* A thread's numbers for its queries y and y + 16; all lanes of a half-warp know the same greatest score and sum. */
template <int CHUNKS> struct queries { float most[OWN], sum[OWN], out[OWN][CHUNKS]; };

/* The weights of 32 keys from `first` on, relative to the greatest score so far, -> weight (32, 33). */
template <int CHUNKS, int PITCH>
static __device__ void weigh(queries<CHUNKS> *own, float *weight, const float *q, const float *k, const spot_head_part &p,
                             int first, bool causal)
{
    const int x = threadIdx.x, y = threadIdx.y;
    const unsigned mask = y % 2 ? 0xffff0000u : 0xffffu;

    for (int a = 0; a < OWN; a++) {
        const int row = y + a * SIDE, end = causal ? min(p.n, p.first + row + 1) : p.n;
        float score[OWN] = { 0, 0 }, most = own->most[a];
        for (int i = 0; i < PITCH - 1; i++)
            for (int b = 0; b < OWN; b++) score[b] = fmaf(q[row * PITCH + i], k[(x + b * SIDE) * PITCH + i], score[b]);
        for (int b = 0; b < OWN; b++) most = first + x + b * SIDE < end && score[b] > most ? score[b] : most;
        most = half_warp_max(most, mask);
        const float less = spot_expf(own->most[a] - most);
        float sum = 0;
        for (int b = 0; b < OWN; b++) {
            const float w = first + x + b * SIDE < end ? spot_expf(score[b] - most) : 0;
            weight[row * (ROWS + 1) + x + b * SIDE] = w;
            sum += w;
        }
        own->sum[a] = fmaf(own->sum[a], less, spot_half_warp_sum(sum, mask));
        for (int ch = 0; ch < CHUNKS; ch++) own->out[a][ch] *= less;
        own->most[a] = most;
    }
}

/* grid (tiles of 32 queries x heads x sequences) */
template <int CHUNKS>
static __global__ void __launch_bounds__(THREADS) attend_kernel(float *out, const float *qkv, spot_attended a)
{
    constexpr int PITCH = CHUNKS * SPOT_HEAD_CHUNK + 1;
    SPOT_SHARED(float, q, ROWS * PITCH);
    SPOT_SHARED(float, k, ROWS * PITCH);                   /* keys, then values */
    SPOT_SHARED(float, weight, ROWS * (ROWS + 1));
    const spot_head_part p = spot_head_part_of(a, ROWS);
    const int x = threadIdx.x, y = threadIdx.y;
    queries<CHUNKS> own;

    if (p.rows < 1) return;
    for (int s = 0; s < OWN; s++) {
        own.most[s] = -INFINITY;
        own.sum[s] = 0;
        for (int ch = 0; ch < CHUNKS; ch++) own.out[s][ch] = 0;
    }
    fetch<PITCH>(q, qkv + p.q, p.step, p.first, p.first + p.rows, a.d, a.scale);
    for (int first = 0; first < p.keys; first += ROWS) {
        fetch<PITCH>(k, qkv + p.q + a.width, p.step, first, p.n, a.d, 1);
        __syncthreads();
        weigh<CHUNKS, PITCH>(&own, weight, q, k, p, first, a.causal);
        __syncthreads();
        fetch<PITCH>(k, qkv + p.q + 2 * a.width, p.step, first, p.n, a.d, 1);
        __syncthreads();
        for (int j = 0; j < ROWS; j++)
            for (int s = 0; s < OWN; s++)
                for (int ch = 0; ch < CHUNKS; ch++)
                    own.out[s][ch] = fmaf(weight[(y + s * SIDE) * (ROWS + 1) + j], k[j * PITCH + x + ch * SIDE],
                                          own.out[s][ch]);
        __syncthreads();
    }
    for (int s = 0; s < OWN; s++)
        for (int ch = 0; ch < CHUNKS && y + s * SIDE < p.rows; ch++)
            if (x + ch * SIDE < a.d)
                out[p.out + (size_t)(y + s * SIDE) * a.width + x + ch * SIDE] = own.out[s][ch] / own.sum[s];
}

static spot_status attend_fp32(spot_ctx *c, float *out, const float *qkv, const spot_attended *a, int sequences, int longest)
{
    spot_attended b = *a;
    const dim3 block(SIDE, SIDE);

    b.tiles = a->only ? 1 : spot_blocks(longest, ROWS);
    const dim3 grid(b.tiles * b.heads * sequences);
    if (a->d <= 4 * SPOT_HEAD_CHUNK)
        SPOT_LAUNCH(attend_kernel<4>, grid, block, 0, spot_cuda_stream(c), out, qkv, b);
    else
        SPOT_LAUNCH(attend_kernel<8>, grid, block, 0, spot_cuda_stream(c), out, qkv, b);
    return spot_cuda_launched(c, "attention.forward of %d sequences of at most %d rows", sequences, longest);
}

static size_t scratch_cuda(spot_ctx *, const spot_attention *) { return 0; }

static spot_status forward_cuda(spot_ctx *c, void *out, const void *qkv, const spot_attention *a, void *)
{
    const spot_attended b = { a->heads, a->width / a->heads, a->width, 0, a->causal, a->start, a->only,
                              1 / sqrtf((float)(a->width / a->heads)) };

    if (b.d > SPOT_HEAD_WIDTH)
        return spot_fail(c, SPOT_UNSUPPORTED, "{attention.head_width} attention.forward: heads of %d numbers, CUDA's kernels "
                         "have at most %d; run with --device cpu", b.d, (int)SPOT_HEAD_WIDTH);
    SPOT_TRY(spot_cuda_needs_all(c, "attention.forward", { { out, "out" }, { qkv, "qkv" }, { a->start, "start" } }));
    if (a->only) SPOT_TRY(spot_cuda_needs(c, a->only, "attention.forward: only"));
    if (a->precision == SPOT_BF16)
        return spot_attend_bf16(c, (spot_bf16 *)out, (const spot_bf16 *)qkv, &b, a->sequences, a->longest);
    return attend_fp32(c, (float *)out, (const float *)qkv, &b, a->sequences, a->longest);
}

extern const spot_attention_ops spot_attention_cuda = { scratch_cuda, forward_cuda };
