/* conv_trial.cu - runs plans of one task on arrays of hashed numbers. The same arrays serve every plan, so equal bits and equal
 * times are comparable. */
#include "net/conv_trial.cuh"

#include <stdlib.h>

enum { RUN = 256, TIMINGS = 7, BURST = 4 };   /* a burst of runs hides what the host needs to start one */

/* Arrays, each of fewer than 2^29 numbers, take their numbers from parts of one long sequence that do not overlap. If they did,
 * an array would be a shifted copy of another, some sums would be sums of squares and 300 times as large as the others, and a
 * bound relative to the largest would let through a plan that leaves out whole rows. */
enum { FILL_BIAS = ROLES, FILL_OTHER };

/* Numbers in [-1, 1), hashes of their positions (the last step of MurmurHash3). They use all bits, so that sums in another
 * order give other bits. Times `scale`. Grid (ceil(count / 256)). */
template <typename T>
static __global__ void __launch_bounds__(THREADS) fill_kernel(T *v, size_t count, unsigned array, float scale)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    unsigned h = (unsigned)i + (array << 29);

    h = (h ^ h >> 16) * 2246822507u;
    h = (h ^ h >> 13) * 3266489909u;
    h ^= h >> 16;
    if (i < count) spot_round(&v[i], (float)((int)(h >> 8) - (1 << 23)) / (float)(1 << 23) * scale);
}

/* seen[0]: a digest of all bits. seen[1]: the largest difference, seen[2]: the largest number wanted; as bits, in whose
 * order NaN is the largest. want NULL: the digest alone. Grid (ceil(count / 65536)). */
template <typename T>
static __global__ void __launch_bounds__(THREADS) compare_kernel(unsigned *seen, const T *got, const T *want, size_t count)
{
    size_t i = (size_t)blockIdx.x * RUN * THREADS + threadIdx.x;
    unsigned digest = 0, off = 0, largest = 0;

    for (int run = 0; run < RUN && i < count; run++, i += THREADS) {
        float a = spot_widen(got[i]), b = want ? spot_widen(want[i]) : 0;
        unsigned h = ((unsigned)__float_as_int(a) + (unsigned)i * 2246822519u) * 2654435761u;
        digest += (h ^ h >> 15) * 3266489917u;
        off = max(off, (unsigned)__float_as_int(fabsf(a - b)) & 0x7fffffffu);
        largest = max(largest, (unsigned)__float_as_int(fabsf(b)) & 0x7fffffffu);
    }
    atomicAdd(&seen[0], digest);
    atomicMax(&seen[1], off);
    atomicMax(&seen[2], largest);
}

static void fill_array(cudaStream_t stream, void *v, size_t count, size_t bytes, unsigned array, float scale)
{
    unsigned grid = blocks_for(count);

    if (bytes == 2) SPOT_LAUNCH(fill_kernel<spot_bf16>, grid, THREADS, 0, stream, (spot_bf16 *)v, count, array, scale);
    else            SPOT_LAUNCH(fill_kernel<float>, grid, THREADS, 0, stream, (float *)v, count, array, scale);
}

/* Fills an array of the written role. What a pass adds to is larger than its factors, so that a plan that overwrites it is
 * wrong by more than bound_of, a part of the largest sum: of 4,608 products, about 118. */
static void fill_written(spot_ctx *c, const spot_trial *t, void *v)
{
    fill_array(spot_cuda_stream(c), v, t->count[t->written], t->bytes[t->written], t->written, t->task.adds ? 16 : 1);
}

spot_status spot_trial_memory(spot_ctx *c, const spot_trial *t, void **out, size_t bytes)
{
    return spot_cuda_check(c, cudaMalloc(out, max(bytes, (size_t)1)), "taking %.1f MB to try plans of %s", bytes / 1e6,
                           t->task.words);
}

spot_status spot_trial_scratch(spot_ctx *c, spot_trial *t, void **out, size_t bytes)
{
    if (!t->scratch || t->scratch_bytes < bytes) {
        if (t->scratch) spot_cuda_memory(c)->give(c, t->scratch);
        t->scratch = NULL;
        SPOT_TRY(spot_trial_memory(c, t, &t->scratch, bytes));
        t->scratch_bytes = bytes;
    }
    *out = t->scratch;
    return SPOT_OK;
}

spot_status spot_trial_open(spot_ctx *c, spot_trial *t, const spot_conv *p, int pass, spot_cudnn *lib)
{
    static const int written[SPOT_PASSES] = { ROLE_Y, ROLE_X, ROLE_W };
    const layer *l = &p->l;
    const size_t count[ROLES] = { x_numbers(l), w_numbers(l), y_numbers(l) };

    *t = { .task = spot_conv_task_of(&p->s, pass), .p = p, .lib = lib };
    t->written = written[pass];
    for (int r = 0; r < ROLES; r++) {
        t->count[r] = count[r];
        t->bytes[r] = r == ROLE_W && t->written == ROLE_W ? 4 : spot_precision_bytes(p->s.precision);
        SPOT_TRY(spot_trial_memory(c, t, &t->at[r], count[r] * t->bytes[r]));
        fill_array(spot_cuda_stream(c), t->at[r], count[r], t->bytes[r], r, 1);
    }
    SPOT_TRY(spot_trial_memory(c, t, &t->bias, l->co * sizeof(float)));
    fill_array(spot_cuda_stream(c), t->bias, l->co, sizeof(float), FILL_BIAS, 1);
    if (t->task.adds && pass == SPOT_PASS_FORWARD) {
        SPOT_TRY(spot_trial_memory(c, t, &t->other, count[ROLE_Y] * t->bytes[ROLE_Y]));
        fill_array(spot_cuda_stream(c), t->other, count[ROLE_Y], t->bytes[ROLE_Y], FILL_OTHER, 1);
    }
    SPOT_TRY(spot_trial_memory(c, t, &t->want, t->count[t->written] * t->bytes[t->written]));
    return spot_trial_memory(c, t, (void **)&t->seen, 3 * sizeof *t->seen);
}

void spot_trial_close(spot_ctx *c, spot_trial *t)
{
    void *all[] = { t->at[ROLE_X], t->at[ROLE_W], t->at[ROLE_Y], t->bias, t->other, t->want, t->seen, t->scratch };

    for (void *p : all) spot_cuda_memory(c)->give(c, p);
}

static spot_conv_summands summands(const spot_trial *t)
{
    return { t->p->s.bias ? (const float *)t->bias : NULL, t->other };
}

static spot_status run_plan(spot_ctx *c, const spot_trial *t, const spot_cudnn_plan *plan, void *scratch)
{
    return spot_conv_by_plan(c, t->task.pass, t->p, plan, t->at[ROLE_X], t->at[ROLE_W], t->at[ROLE_Y], summands(t), scratch);
}

static spot_status make_wanted(spot_ctx *c, spot_trial *t)
{
    void *role[ROLES] = { t->at[ROLE_X], t->at[ROLE_W], t->at[ROLE_Y] };

    if (t->known) return SPOT_OK;
    t->known = true;
    role[t->written] = t->want;
    fill_written(c, t, t->want);
    return spot_conv_naive(c, t->task.pass, t->p, role[ROLE_X], role[ROLE_W], role[ROLE_Y], summands(t), t->p->l.rows);
}

/* The greatest difference from the naive kernel that a right plan may have, relative to the largest number of the result. A
 * wrong plan is far off: a border, a channel, a row. bf16 and tf32: two roundings to the written type, or of the factors. fp32
 * may sum in another order: forward and data sum up to 4,608 products. Weights sum up to 3.2 million (256 images of 112 x 112
 * pixels), and one chain of fp32 additions is then off by 7e-5 of the largest (measured for 1,024 sums). A pixel that is left
 * out takes a product of nearly 1 from some sum, 4e-4 of the largest: about 4 sqrt(3.2 million) / 3 = 2,400. */
static float bound_of(const spot_trial *t)
{
    switch (t->p->s.precision) {
    case SPOT_BF16: return 1e-2f;
    case SPOT_TF32: return 5e-3f;
    default:        return t->task.pass == SPOT_PASS_WEIGHTS ? 2e-4f : 1e-4f;
    }
}

spot_status spot_trial_run(spot_ctx *c, spot_trial *t, const spot_cudnn_plan *plan, void *scratch, bool compare,
                           unsigned *digest, bool *right)
{
    size_t count = t->count[t->written], bytes = t->bytes[t->written];
    union { unsigned bits; float number; } seen[3];
    unsigned grid = blocks_for((count + RUN - 1) / RUN);
    void *got = t->at[t->written], *want = compare ? t->want : NULL;
    cudaStream_t stream = spot_cuda_stream(c);

    if (compare) SPOT_TRY(make_wanted(c, t));
    fill_written(c, t, got);
    *right = run_plan(c, t, plan, scratch) == SPOT_OK;
    if (!*right) {                                     /* the plan does not run; a broken device fails again below */
        spot_forget(c);
        cudaGetLastError();
    }
    SPOT_TRY(spot_cuda_memory(c)->clear(c, t->seen, sizeof seen));
    if (bytes == 2)
        SPOT_LAUNCH(compare_kernel<spot_bf16>, grid, THREADS, 0, stream, t->seen, (spot_bf16 *)got, (spot_bf16 *)want, count);
    else
        SPOT_LAUNCH(compare_kernel<float>, grid, THREADS, 0, stream, t->seen, (float *)got, (float *)want, count);
    SPOT_TRY(spot_conv_launched(c, t->task.pass, &t->p->l, t->p->s.precision));
    SPOT_TRY(spot_cuda_memory(c)->copy(c, seen, t->seen, sizeof seen));
    *digest = seen[0].bits;
    if (*right && compare) *right = seen[1].number <= bound_of(t) * seen[2].number;
    return SPOT_OK;
}

static int by_size(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

static spot_status take_times(spot_ctx *c, const spot_trial *t, const spot_cudnn_plan *plan, void *scratch, cudaEvent_t from,
                              cudaEvent_t to, float best, float *ms)
{
    float burst[TIMINGS] = { 0 };
    int made = 0;

    while (made < TIMINGS && (!made || burst[0] < 2.0f * (int)BURST * best)) {
        SPOT_TRY(spot_cuda_check(c, cudaEventRecord(from, spot_cuda_stream(c)), "timing %s", t->task.words));
        for (int i = 0; i < BURST; i++) SPOT_TRY(run_plan(c, t, plan, scratch));
        SPOT_TRY(spot_cuda_check(c, cudaEventRecord(to, spot_cuda_stream(c)), "timing %s", t->task.words));
        SPOT_TRY(spot_cuda_check(c, cudaEventSynchronize(to), "timing %s", t->task.words));
        SPOT_TRY(spot_cuda_check(c, cudaEventElapsedTime(&burst[made++], from, to), "timing %s", t->task.words));
    }
    qsort(burst, made, sizeof *burst, by_size);
    *ms = burst[made / 2] / (int)BURST;
    return SPOT_OK;
}

spot_status spot_trial_time(spot_ctx *c, const spot_trial *t, const spot_cudnn_plan *plan, void *scratch, float best,
                            float *ms)
{
    cudaEvent_t from = NULL, to = NULL;
    spot_status s = spot_cuda_check(c, cudaEventCreate(&from), "timing %s", t->task.words);

    if (!s) s = spot_cuda_check(c, cudaEventCreate(&to), "timing %s", t->task.words);
    if (!s) s = take_times(c, t, plan, scratch, from, to, best, ms);
    if (from) cudaEventDestroy(from);
    if (to) cudaEventDestroy(to);
    return s;
}
