/* sample.cu - images: a thread draws an image with scene_draw.h; positives and shuffle: a block computes a problem. */
#include "core/cuda.cuh"
#include "image/sample.h"
#include "image/scene_draw.h"

enum { ARGUMENT = 4096 - 16 };

enum { THREADS = 128 };
typedef struct { spot_ec ec; spot_sample of; } image_job;
enum { IMAGE_JOBS = (ARGUMENT - sizeof(spot_geometry)) / sizeof(image_job) };
typedef struct { spot_geometry g; image_job job[IMAGE_JOBS]; } image_jobs;

/* grid (ceil(n / 128), problems) over the largest problem. With five blocks asked for, nvcc spills no register. */
static __global__ void __launch_bounds__(THREADS, 5) images_kernel(const __grid_constant__ image_jobs all)
{
    const spot_ec *ec = &all.job[blockIdx.y].ec;
    const spot_sample *s = &all.job[blockIdx.y].of;
    const int i = blockIdx.x * THREADS + threadIdx.x;
    spot_image image;

    if (i >= s->n) return;
    uint32_t at = s->first + (s->cursor ? *s->cursor : 0) + i;
    spot_scene_draw(&image, ec, &all.g, s->split, s->index ? s->index[at] : at);
    if (s->image) memcpy(&s->image[i], &image, sizeof image);      /* an assignment may leave out the padding between fields */
    if (s->target) spot_scene_targets(s->target + (size_t)i * ec->targets, &image, ec);
    if (s->mask) s->mask[i] = image.blindspots;
}

static spot_status images_cuda(spot_ctx *c, int problems, const spot_sample *s, const spot_geometry *g)
{
    for (int first = 0; first < problems; first += IMAGE_JOBS) {
        const int count = min(problems - first, (int)IMAGE_JOBS);
        image_jobs all;
        int n = 0;

        all.g = *g;
        for (int p = 0; p < count; p++) {
            const spot_sample *of = &s[first + p];
            all.job[p].ec = *of->ec;
            all.job[p].of = *of;
            n = max(n, of->n);
            if (of->n && of->index) SPOT_TRY(spot_cuda_needs(c, of->index, "sample.images: index"));
            if (of->n && of->cursor) SPOT_TRY(spot_cuda_needs(c, of->cursor, "sample.images: cursor"));
            if (of->n && of->image) SPOT_TRY(spot_cuda_needs(c, of->image, "sample.images: image"));
            if (of->n && of->target) SPOT_TRY(spot_cuda_needs(c, of->target, "sample.images: target"));
            if (of->n && of->mask) SPOT_TRY(spot_cuda_needs(c, of->mask, "sample.images: mask"));
        }
        if (!n) continue;
        SPOT_LAUNCH(images_kernel, dim3((n + THREADS - 1) / THREADS, count), THREADS, 0, spot_cuda_stream(c), all);
        SPOT_TRY(spot_cuda_launched(c, "sample.images of %d ECs, at most %d of each", count, n));
    }
    return SPOT_OK;
}

enum { SCAN = 512, WARPS = SCAN / 32 };
typedef struct { uint64_t seed; uint32_t ec, n, *index; spot_split split; int bit; } label_job;
typedef spot_batch<label_job, ARGUMENT / sizeof(label_job)> label_jobs;

/* grid (problems): 512 images at a time; a positive's place is the number of positives in earlier lanes, warps and rounds. */
static __global__ void __launch_bounds__(SCAN) positives_kernel(const __grid_constant__ label_jobs all)
{
    SPOT_SHARED(unsigned, found, WARPS);
    const label_job *p = &all.of[blockIdx.x];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint32_t before = 0;

    for (uint32_t round = 0; round < p->n; round += SCAN) {
        const uint32_t i = round + threadIdx.x;
        const bool yes = i < p->n && spot_scene_label(p->seed, p->ec, p->split, i, p->bit);
        const unsigned votes = __ballot_sync(~0u, yes);
        uint32_t at;

        if (lane == 0) found[warp] = __popc(votes);
        __syncthreads();
        at = before + __popc(votes & ((1u << lane) - 1));
        for (unsigned w = 0; w < WARPS; w++) {
            if (w < warp) at += found[w];
            before += found[w];
        }
        if (yes) p->index[at] = i;
        __syncthreads();
    }
}

static spot_status positives_cuda(spot_ctx *c, int problems, const spot_positives *p)
{
    for (int k = 0; k < problems; k++)
        if (p[k].ec->images[p[k].split]) SPOT_TRY(spot_cuda_needs(c, p[k].index, "sample.positives: index"));
    const auto fill = [=](label_job *one, int k) {
        const spot_ec *ec = p[k].ec;
        *one = { ec->seed, ec->index, (uint32_t)ec->images[p[k].split], p[k].index, p[k].split, spot_scene_label_bit(ec) };
    };
    return spot_cuda_fill_batches<label_jobs>(problems, fill, [=](auto &all, int count) {
        SPOT_LAUNCH(positives_kernel, dim3(count), SCAN, 0, spot_cuda_stream(c), all);
        return spot_cuda_launched(c, "sample.positives of %d ECs", count);
    });
}

enum { STEPS = 256 };
typedef spot_batch<spot_shuffle, ARGUMENT / sizeof(spot_shuffle)> order_jobs;

/* The swap partner of step t of the shuffle: a number from 0 to t. Each word that spot_rng_below rejects (about one in some
 * hundred thousand) shifts all later steps by a word. `rejected` counts the rejected words so far and is updated. */
static __device__ uint32_t draw_swap(const spot_shuffle *s, uint32_t t, uint32_t *rejected, unsigned *earliest)
{
    const uint32_t below = t + 1, unfair = (0 - below) % below;
    uint32_t skip = *rejected;

    for (;;) {      /* __syncthreads_or is a barrier in every round: nothing of the tile or round before is in use after it */
        const uint32_t at = t + skip, counter[4] = { at / 4, s->epoch, s->ec, SPOT_RNG_SHUFFLE };
        uint32_t word[4];
        spot_philox4x32_10(word, counter, s->seed);
        const uint64_t m = (uint64_t)(at % 2 ? at % 4 == 1 ? word[1] : word[3] : at % 4 ? word[2] : word[0]) * below;
        const bool reject = t < s->n && (uint32_t)m < unfair;
        if (!__syncthreads_or(reject)) return m >> 32;
        if (threadIdx.x == 0) *earliest = STEPS;
        __syncthreads();
        if (reject) atomicMin(earliest, threadIdx.x);
        __syncthreads();
        if (threadIdx.x >= *earliest) skip++;
        ++*rejected;
    }
}

/* grid (problems). Step t of the shuffle draws j <= t, then does order[t] = order[j]; order[j] = t.
 * A tile of 256 steps runs at once. Step t moves to place t
 *     the last step of the tile before t with the same j, which wrote itself to place j; or else
 *     order[j] from before the tile, when place j lies before the tile; or else
 *     t, when j is t; or else the value that step j moved to place j: a chain to earlier steps.
 * Step t writes place t unless a step of the tile writes itself there. It writes itself to place j unless a later step does.
 * So each place has one writer. */
static __global__ void __launch_bounds__(STEPS) shuffle_kernel(const __grid_constant__ order_jobs all)
{
    SPOT_SHARED(uint32_t, swap, STEPS);
    SPOT_SHARED(uint32_t, moved, STEPS);
    SPOT_SHARED(unsigned, earliest, 1);
    enum : uint32_t { NOWHERE = ~0u, LINK = 1u << 31 };
    const spot_shuffle *s = &all.of[blockIdx.x];
    uint32_t rejected = 0;

    for (uint32_t tile = 0; tile < s->n; tile += STEPS) {
        const uint32_t t = tile + threadIdx.x, j = draw_swap(s, t, &rejected, earliest);
        const bool live = t < s->n;
        bool taken = false, last = true;
        uint32_t value = NOWHERE;

        swap[threadIdx.x] = live ? j : (uint32_t)NOWHERE;
        __syncthreads();
        for (uint32_t k = 0; k < STEPS; k++) {
            taken |= swap[k] == t;
            if (swap[k] != j) continue;
            if (k < threadIdx.x) value = tile + k;
            if (k > threadIdx.x) last = false;
        }
        if (value == NOWHERE) value = j < tile ? s->order[j] : j == t ? t : LINK | (j - tile);
        moved[threadIdx.x] = value;
        __syncthreads();
        while (live && value & LINK) value = moved[value - LINK];
        if (live && !taken) s->order[t] = value;
        if (live && last) s->order[j] = t;
    }
}

static spot_status shuffle_cuda(spot_ctx *c, int problems, const spot_shuffle *s)
{
    for (int p = 0; p < problems; p++)
        if (s[p].n) SPOT_TRY(spot_cuda_needs(c, s[p].order, "sample.shuffle: order"));
    return spot_cuda_batches<order_jobs>(problems, s, [=](auto &all, int count) {
        SPOT_LAUNCH(shuffle_kernel, dim3(count), STEPS, 0, spot_cuda_stream(c), all);
        return spot_cuda_launched(c, "sample.shuffle of %d orders", count);
    });
}

extern const spot_sample_ops spot_sample_cuda = {
    .images = images_cuda, .positives = positives_cuda, .shuffle = shuffle_cuda,
};
