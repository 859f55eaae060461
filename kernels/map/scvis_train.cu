/* scvis_train.cu - around the network: input, first weights, batches, noise, loss, Adam. Random numbers have the
 * CPU's streams and positions. */
#include "map/scvis_tiles.cuh"

enum { THREADS = SPOT_SCVIS_THREADS, TILE = SPOT_SCVIS_TILE, COLUMNS = 64, BLOCKS = 64, ADAM = 8 * THREADS, WORDS = 128,
       CACHED = SPOT_SCVIS_CACHED };

/* Column-wise to mean 0 and standard deviation 1, or for max_abs in two steps: the largest magnitude, then the division.
 * grid (ceil(d / COLUMNS), problems); a thread owns a column, rows in order. */
static __global__ void __launch_bounds__(COLUMNS) standardise_kernel(const spot_scvis_device *nets)
{
    const spot_scvis_device *net = nets + blockIdx.y;
    size_t n = net->n, d = net->d, j = blockIdx.x * COLUMNS + threadIdx.x;
    double mean = 0, squares = 0;

    if (j >= d) return;
    for (size_t i = 0; i < n; i++) mean += net->features[i * d + j];
    mean /= (double)n;
    for (size_t i = 0; i < n; i++) squares += (net->features[i * d + j] - mean) * (net->features[i * d + j] - mean);
    double scale = squares > 0 ? sqrt((double)n / squares) : 0;
    for (size_t i = 0; i < n; i++) net->input[i * d + j] = (float)((net->features[i * d + j] - mean) * scale);
}

/* grid (BLOCKS, problems). Magnitudes and their bits have the same order, and a maximum depends on no order. */
static __global__ void __launch_bounds__(THREADS) largest_kernel(spot_scvis_device *nets)
{
    spot_scvis_device *net = nets + blockIdx.y;
    size_t count = (size_t)net->n * net->d;
    float largest = 0;

    for (size_t e = blockIdx.x * THREADS + threadIdx.x; e < count; e += (size_t)BLOCKS * THREADS)
        largest = fmaxf(largest, fabsf(net->features[e]));
    atomicMax(&net->largest, spot_float_bits(largest));
}

static __global__ void __launch_bounds__(THREADS) divide_kernel(const spot_scvis_device *nets)
{
    const spot_scvis_device *net = nets + blockIdx.y;
    size_t count = (size_t)net->n * net->d;
    float largest = spot_bits_float(net->largest);

    for (size_t e = blockIdx.x * THREADS + threadIdx.x; e < count; e += (size_t)BLOCKS * THREADS)
        net->input[e] = largest > 0 ? net->features[e] / largest : 0.0f;
}

/* Updates nu, log_norm and nu_slope after the degrees of freedom changed. */
static __device__ void refresh_freedom(const spot_scvis_device *net, int j)
{
    net->nu[j] = spot_scvis_freedom(net->theta[net->freedom + j], &net->log_norm[j], &net->nu_slope[j]);
}

/* Weights: normal, redrawn beyond two standard deviations of sqrt(2 / inputs). A block draws 256 numbers of its layer's
 * stream at a time and appends those that it keeps, in their order. Biases 0.1, degrees of freedom 1.
 * grid (layers, problems) */
static __global__ void __launch_bounds__(THREADS) start_kernel(const spot_scvis_device *nets)
{
    SPOT_SHARED(int, kept, THREADS / 32);
    const spot_scvis_device *net = nets + blockIdx.y;
    const spot_scvis_layer *y = &net->layer[blockIdx.x];
    int count = y->in * y->out, thread = threadIdx.x, warp = thread / 32;
    double sd = sqrt(2.0 / y->in);

    for (int done = 0, drawn = 0; done < count; drawn += THREADS) {
        spot_rng r = spot_philox_at(net->seed, SPOT_RNG_SCVIS_INIT, net->ec, blockIdx.x);
        r.counter[0] = (uint32_t)(drawn + thread) / 2;        /* two words a number, four a block */
        if (thread % 2) spot_philox_normal(&r);               /* the block's other number is the neighbour's */
        double z = spot_philox_normal(&r);
        unsigned good = __ballot_sync(~0u, fabs(z) <= 2);
        if (thread % 32 == 0) kept[warp] = __popc(good);
        __syncthreads();
        int before = __popc(good & ((1u << thread % 32) - 1)), all = 0;
        for (int w = 0; w < THREADS / 32; w++) {
            before += w < warp ? kept[w] : 0;
            all += kept[w];
        }
        if (fabs(z) <= 2 && done + before < count) net->theta[y->weight + done + before] = (float)(z * sd);
        done += all;
        __syncthreads();
    }
    for (int o = thread; o < y->out; o += THREADS) net->theta[y->bias + o] = 0.1f;
    for (int j = thread; !blockIdx.x && j < net->d; j += THREADS) {
        net->theta[net->freedom + j] = 1.0f;
        refresh_freedom(net, j);
    }
}

/* spot_rng_shuffle: the warp draws words and its first lane uses them; it skips a word that would bias the draw below n. */
static __device__ void shuffle(uint32_t *order, uint32_t *words, const spot_scvis_device *net, uint32_t epoch)
{
    uint32_t counter[4] = { threadIdx.x, epoch, net->ec, SPOT_RNG_SCVIS_BATCH }, i = 0, n = net->n;

    do {
        spot_philox4x32_10(words + 4 * threadIdx.x, counter, net->seed);
        counter[0] += 32;
        __syncthreads();
        for (int w = 0; !threadIdx.x && w < WORDS && i < n; w++) {
            uint64_t m = (uint64_t)words[w] * (i + 1);
            if ((uint32_t)m < i + 1 && (uint32_t)m < (0 - (i + 1)) % (i + 1)) continue;
            order[i] = order[m >> 32];
            order[m >> 32] = i++;
        }
    } while (__syncthreads_or(!threadIdx.x && i < n));
}

/* The batch at the epoch's position; a slice that would run past the end begins a new epoch, so the tail is
 * dropped. Without drop_tail a tail of 4 rows or more is a batch of its own. grid (problems), one warp; the order of up to
 * CACHED rows is shuffled in shared memory. */
static __global__ void __launch_bounds__(32) choose_kernel(spot_scvis_device *nets, const __grid_constant__ spot_scvis_now t)
{
    SPOT_SHARED(uint32_t, words, WORDS);
    SPOT_DYNAMIC_SHARED(uint32_t, cards);
    spot_scvis_device *net = nets + blockIdx.x;
    int n = net->n, at = net->at, left = n - at, rows = net->batch;
    uint32_t epoch = net->epoch;

    if (spot_scvis_idle(net, &t)) return;
    if (left < rows && (t.cfg.compat.drop_tail || left < 4)) {
        shuffle(n <= CACHED ? cards : net->order, words, net, epoch++);
        for (int i = threadIdx.x; n <= CACHED && i < n; i += 32) net->order[i] = cards[i];
        at = 0;
        left = n;
    }
    __syncthreads();
    rows = min(rows, left);
    for (int i = threadIdx.x; i < rows; i += 32) net->row[i] = net->order[at + i];
    if (threadIdx.x) return;
    net->at = at + rows;
    net->rows = rows;
    net->epoch = epoch;
}

/* Rows, noise and, once a problem, the mask of the mu head. grid (ceil(batch / TILE), problems) */
static __global__ void __launch_bounds__(THREADS) fill_kernel(const spot_scvis_device *nets,
                                                              const __grid_constant__ spot_scvis_now t)
{
    const spot_scvis_device *net = nets + blockIdx.y;
    int r = blockIdx.x * TILE, n = min((int)TILE, net->rows - r), d = net->d, dim = net->dim;

    if (spot_scvis_idle(net, &t) || n <= 0) return;
    for (int i = threadIdx.x / 32; i < n; i += THREADS / 32)
        for (int k = threadIdx.x % 32; k < d; k += 32)
            net->x[(size_t)(r + i) * d + k] = net->input[(size_t)net->row[r + i] * d + k];
    for (int e = r * dim + threadIdx.x; e < (r + n) * dim; e += THREADS) {
        spot_rng noise = spot_philox_at(net->seed, SPOT_RNG_SCVIS_NOISE, net->ec, (uint32_t)t.step);
        noise.counter[0] = (uint32_t)e / 2;
        if (e % 2) spot_philox_normal(&noise);
        net->noise[e] = (float)spot_philox_normal(&noise);
    }
    for (int e = threadIdx.x; !blockIdx.x && e < 32 * dim; e += THREADS) {
        spot_rng drop = spot_philox_at(net->seed, SPOT_RNG_SCVIS_DROP, net->ec, (uint32_t)t.step);
        drop.counter[0] = (uint32_t)e / 4;
        for (int skip = e % 4; skip; skip--) spot_philox_u32(&drop);
        bool kept = spot_philox_uniform(&drop) < SPOT_SCVIS_KEEP;
        net->keep[e] = !t.cfg.compat.weight_dropout ? 1.0f : kept ? (float)(1 / SPOT_SCVIS_KEEP) : 0.0f;
        net->dropped[e] = net->theta[net->layer[MU].weight + e] * net->keep[e];
    }
}

/* The batch of spot_scvis_gradient: mask and derived values. grid (1) */
static __global__ void __launch_bounds__(THREADS) given_kernel(const spot_scvis_device *net, const float *mask,
                                                               const __grid_constant__ spot_scvis_now t)
{
    for (int e = threadIdx.x; e < 32 * net->dim; e += THREADS) {
        net->keep[e] = t.cfg.compat.weight_dropout ? (float)(mask[e] / SPOT_SCVIS_KEEP) : 1.0f;
        net->dropped[e] = net->theta[net->layer[MU].weight + e] * net->keep[e];
    }
    for (int j = threadIdx.x; j < net->d; j += THREADS) refresh_freedom(net, j);
}

/* Loss of the step and norm of its gradient, and whether both are finite. grid (problems) */
static __global__ void __launch_bounds__(THREADS) judge_kernel(spot_scvis_device *nets,
                                                               const __grid_constant__ spot_scvis_now t)
{
    spot_scvis_device *net = nets + blockIdx.x;
    double sum[5] = { 0 };   /* squares of the gradient, of the weights, log-likelihood, KL, t-SNE */

    if (spot_scvis_idle(net, &t)) return;
    for (int q = threadIdx.x; q < net->items; q += THREADS)
        for (int k = 0; k < 2; k++) sum[k] += net->item_part[2 * q + k];
    for (int q = threadIdx.x; q < spot_scvis_cut(net->rows, TILE); q += THREADS)
        for (int k = 0; k < 2; k++) sum[2 + k] += net->tile_part[2 * q + k];
    for (int q = threadIdx.x; q < spot_scvis_cut(net->rows, SPOT_SCVIS_ROWS); q += THREADS) sum[4] += net->force_part[q];
    for (int k = 0; k < 5; k++) sum[k] = spot_block_sum<SPOT_SCVIS_THREADS>(sum[k]);
    if (threadIdx.x) return;
    net->norm = sqrt(sum[0]);
    net->loss = (spot_scvis_tsne_factor(&t.cfg, t.step, net->d) * sum[4] - sum[2]
                 + spot_scvis_kl_factor(&t.cfg, t.step, net->d) * sum[3]) / net->rows
              + 0.5 * t.cfg.l2 * sum[1];
    if (!isfinite(net->loss) || !isfinite(net->norm)) net->failed = t.step;
}

/* Adam with TensorFlow's epsilon (outside the bias correction). The gradient's norm is cut to 10, then each element (scvis.h).
 * grid (ceil(params / ADAM), problems) */
static __global__ void __launch_bounds__(THREADS) update_kernel(const spot_scvis_device *nets,
                                                                const __grid_constant__ spot_scvis_now t)
{
    const spot_scvis_device *net = nets + blockIdx.y;
    const spot_scvis_layer *sigma = &net->layer[SIGMA];
    size_t begin = (size_t)blockIdx.x * ADAM, end = begin + ADAM < net->params ? begin + ADAM : net->params;

    if (spot_scvis_idle(net, &t)) return;
    float shrink = (float)(SPOT_SCVIS_NORM / fmax(net->norm, SPOT_SCVIS_NORM));
    for (size_t e = begin + threadIdx.x; e < end; e += THREADS) {
        float limit = e >= sigma->weight && e < sigma->bias + sigma->out ? 0.3f : 3.0f, g = net->grad[e] * shrink;
        g = g > limit ? limit : g < -limit ? -limit : g;
        float m = fmaf((float)(1 - SPOT_SCVIS_BETA1), g - net->m[e], net->m[e]);
        float v = fmaf((float)(1 - SPOT_SCVIS_BETA2), g * g - net->v[e], net->v[e]);
        net->m[e] = m;
        net->v[e] = v;
        net->theta[e] -= t.lr * m / (sqrtf(v) + t.eps);
        if (e >= net->freedom) refresh_freedom(net, (int)(e - net->freedom));
    }
}

spot_status spot_scvis_start(spot_ctx *c, const spot_scvis_fleet *f, const spot_scvis_config *cfg)
{
    cudaStream_t stream = spot_cuda_stream(c);

    if (cfg->compat.max_abs) {
        SPOT_LAUNCH(largest_kernel, dim3(BLOCKS, f->problems), THREADS, 0, stream, f->net);
        SPOT_LAUNCH(divide_kernel, dim3(BLOCKS, f->problems), THREADS, 0, stream, f->net);
    } else {
        SPOT_LAUNCH(standardise_kernel, dim3(spot_scvis_cut(f->d, COLUMNS), f->problems), COLUMNS, 0, stream, f->net);
    }
    SPOT_LAUNCH(start_kernel, dim3(SPOT_SCVIS_LAYERS, f->problems), THREADS, 0, stream, f->net);
    return spot_cuda_launched(c, "scvis: start of %d problems of up to (%d,%d)", f->problems, f->n, f->d);
}

spot_status spot_scvis_draw(spot_ctx *c, const spot_scvis_fleet *f, const spot_scvis_now *t)
{
    size_t cards = (f->n < CACHED ? f->n : CACHED) * sizeof(uint32_t);

    SPOT_LAUNCH(choose_kernel, f->problems, 32, cards, spot_cuda_stream(c), f->net, *t);
    SPOT_LAUNCH(fill_kernel, dim3(spot_scvis_cut(f->batch, TILE), f->problems), THREADS, 0, spot_cuda_stream(c), f->net, *t);
    return spot_cuda_launched(c, "scvis: batches of %d problems of up to %d rows", f->problems, f->n);
}

spot_status spot_scvis_given(spot_ctx *c, const spot_scvis_fleet *f, const float *keep, const spot_scvis_now *t)
{
    SPOT_LAUNCH(given_kernel, 1, THREADS, 0, spot_cuda_stream(c), f->net, keep, *t);
    return spot_cuda_launched(c, "scvis: a batch of %d rows", f->batch);
}

spot_status spot_scvis_judge(spot_ctx *c, const spot_scvis_fleet *f, const spot_scvis_now *t)
{
    SPOT_LAUNCH(judge_kernel, f->problems, THREADS, 0, spot_cuda_stream(c), f->net, *t);
    return spot_cuda_launched(c, "scvis: loss of %d problems", f->problems);
}

spot_status spot_scvis_adam(spot_ctx *c, const spot_scvis_fleet *f, const spot_scvis_now *t)
{
    int blocks = spot_scvis_cut((int)f->params, ADAM);

    SPOT_LAUNCH(update_kernel, dim3(blocks, f->problems), THREADS, 0, spot_cuda_stream(c), f->net, *t);
    return spot_cuda_launched(c, "scvis: Adam of %d problems, %zu parameters", f->problems, f->params);
}
