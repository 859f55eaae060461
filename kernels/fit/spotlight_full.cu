/* spotlight_full.cu - spotlights of full precision: spotlight_full.c's steps, every launch for all problems. Products of
 * matrices are our own, each number one fma chain, so that the same bits come everywhere and no problem waits for another. */
#include <math.h>
#include <string.h>

#include "core/sums.cuh"
#include "core/tile.cuh"
#include "fit/spotlight_cuda.cuh"

enum { THREADS = SPOTLIGHT_THREADS, WARPS = THREADS / 32, TILE = SPOTLIGHT_TILE, TRIES = 100 };
enum { EDGE = SPOT_TILE, SIDE = SPOT_TILE_SIDE, OWN = SPOT_TILE_OWN, SLAB = SPOT_TILE_SLAB };      /* products */

/* The products of a step. */
typedef enum { Y, M, GRAM, TURN, STRAIGHT } product;

/* rows x depth times depth x cols: number (i, t) of the left, (t, j) of the right. */
static __device__ double left_of(product w, const problem *l, int i, int t)
{
    const size_t d = l->p.d;

    switch (w) {
    case Y:    return l->p.x[i * d + t] - l->p.mean[t];
    case M:    return l->y[t * d + i];
    case GRAM: return l->p.axes[t * d + i];
    default:   return l->p.axes[i * d + t];
    }
}

static __device__ double right_of(product w, const problem *l, int t, int j)
{
    const size_t d = l->p.d;

    switch (w) {
    case M:        return l->z[t * d + j];
    case TURN:     return l->gram[t * d + j];
    case STRAIGHT: return l->factor * (1.5 * (t == j) - 0.5 * l->shrink * l->gram[t * d + j]);
    default:       return l->p.axes[t * d + j];
    }
}

/* grid (ceil(d / 64), ceil(rows / 64), problems), block (16, 16): a thread owns 4 x 4 numbers */
static __global__ void __launch_bounds__(SIDE * SIDE) multiply_kernel(problem *all, product w)
{
    SPOT_SHARED(double, left, SLAB * EDGE);
    SPOT_SHARED(double, right, SLAB * EDGE);
    const problem *l = &all[blockIdx.z];
    const int d = l->p.d, rows = w == Y ? l->p.n : d, depth = w == M ? l->p.n : d;
    const int i0 = blockIdx.y * EDGE, j0 = blockIdx.x * EDGE, own = threadIdx.y * SIDE + threadIdx.x;
    double *out = w == Y ? l->y : w == M ? l->m : w == GRAM ? l->gram : l->turned, sum[OWN][OWN] = { { 0 } };

    if (l->lost || i0 >= rows || j0 >= d || (l->straight && (w == GRAM || w == STRAIGHT))) return;      /* the whole block */
    for (int t0 = 0; t0 < depth; t0 += SLAB) {
        for (int e = own; e < SLAB * EDGE; e += SIDE * SIDE) {
            const int t = t0 + e / EDGE, i = i0 + e % EDGE, j = j0 + e % EDGE;
            left[e] = t < depth && i < rows ? left_of(w, l, i, t) : 0.0;
            right[e] = t < depth && j < d ? right_of(w, l, t, j) : 0.0;
        }
        __syncthreads();
        spot_tile_add<spot_tile_product>(sum, left, right, SLAB);
        __syncthreads();
    }
    for (int a = 0; a < OWN; a++)
        for (int b = 0; b < OWN; b++) {
            const int i = i0 + a * SIDE + threadIdx.y, j = j0 + b * SIDE + threadIdx.x;
            if (i < rows && j < d) out[(size_t)i * d + j] = sum[a][b];
        }
}

static __device__ double scale_of(const problem *l, int j) { return spot_exp64(fmin(l->p.log_precision[j], 700.0)); }

/* grid (tiles, problems): distances and weights of a tile, and its sums of k and k l */
static __global__ void __launch_bounds__(THREADS) weigh_kernel(problem *all, int kernel)
{
    SPOT_SHARED(double, u, TILE);
    const problem *l = &all[blockIdx.y];
    const int i0 = blockIdx.x * TILE, rows = min((int)TILE, l->p.n - i0), lane = threadIdx.x % 32;

    if (l->lost || rows < 1) return;      /* the whole block */
    for (int r = threadIdx.x / 32; r < rows; r += WARPS) {
        const double *y = l->y + (size_t)(i0 + r) * l->p.d;
        double far = 0;
        for (int j = lane; j < l->p.d; j += 32) far = fma(scale_of(l, j), y[j] * y[j], far);
        far = spot_warp_sum(far);
        if (lane) continue;
        l->square[i0 + r] = spot_spotlight_distance(far, 1);
        spot_spotlight_weight(kernel, &l->k[i0 + r], &u[r], l->square[i0 + r]);
        l->c[i0 + r] = u[r];
    }
    __syncthreads();
    spot_spotlight_numbers(l->partial + (size_t)blockIdx.x * SPOTLIGHT_SUMS, l->k + i0, u, u, l->square + i0, l->p.loss + i0,
                           rows);
}

/* J and the factors of its gradient; every block computes them. */
static __device__ spot_spotlight_pull pull_of(const problem *l)
{
    return spot_spotlight_pulled(&l->state, spot_spotlight_total(l->partial + SUM_K, l->tiles, SPOTLIGHT_SUMS),
                                 spot_spotlight_total(l->partial + SUM_KL, l->tiles, SPOTLIGHT_SUMS));
}

/* grid (tiles, problems): z = c y of a tile's rows, c = dJ/dD */
static __global__ void __launch_bounds__(THREADS) pull_kernel(problem *all)
{
    const problem *l = &all[blockIdx.y];
    const int i0 = blockIdx.x * TILE, rows = min((int)TILE, l->p.n - i0), d = l->p.d;

    if (l->lost || rows < 1) return;
    const spot_spotlight_pull g = pull_of(l);
    for (int e = threadIdx.x; e < rows * d && !g.lost; e += THREADS) {
        const int i = i0 + e / d;
        const size_t at = (size_t)i0 * d + e;
        l->z[at] = l->c[i] * -(g.by_loss * (l->p.loss[i] - g.mean_loss) + g.push) * l->y[at];
    }
}

/* grid (problems): Adam's steps of mean and log precision; or the end of a spotlight that has lost every row */
static __global__ void __launch_bounds__(THREADS) settle_kernel(problem *all)
{
    problem *l = &all[blockIdx.x];
    const int d = l->p.d, lane = threadIdx.x % 32;
    const size_t parameters = (size_t)d * d + 2 * (size_t)d;
    double *of_mean = l->moment + (size_t)d * d, *of_precision = of_mean + d;

    if (l->lost) return;      /* the whole block */
    const spot_spotlight_pull g = pull_of(l);
    for (int j = threadIdx.x; j < d; j += THREADS) {
        double sum = 0;
        for (int i = 0; i < l->p.n && !g.lost; i++) sum += l->z[(size_t)i * d + j];
        l->sum[j] = -2 * scale_of(l, j) * sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) l->lost = g.lost;
    for (int i = threadIdx.x / 32; i < d && !g.lost; i += WARPS) {
        double rise = 0;
        for (int j = lane; j < d; j += 32) rise = fma(l->p.axes[(size_t)i * d + j], l->sum[j], rise);
        rise = spot_warp_sum(rise);
        if (lane == 0)
            l->p.mean[i] = spot_spotlight_adam(&l->state, l->p.mean[i], rise, &of_mean[i], &of_mean[parameters + i]);
    }
    for (int j = threadIdx.x; j < d && !g.lost; j += THREADS)
        l->p.log_precision[j] = spot_spotlight_adam(&l->state, l->p.log_precision[j], scale_of(l, j) * l->m[(size_t)j * d + j],
                                                    &of_precision[j], &of_precision[parameters + j]);
}

/* One number of a (d, d) matrix: A = M (e^a_k - e^a_j) into gram; Adam's step of V; V from its straightened copy. */
typedef enum { SKEW, AXES, COPY } element_op;

/* grid (ceil(d d / 256), problems) */
static __global__ void __launch_bounds__(THREADS) each_kernel(problem *all, element_op w)
{
    const problem *l = &all[blockIdx.y];
    const size_t e = (size_t)blockIdx.x * THREADS + threadIdx.x, d = l->p.d;

    if (l->lost || e >= d * d || (l->straight && w == COPY)) return;
    if (w == SKEW) l->gram[e] = l->m[e] * (scale_of(l, (int)(e % d)) - scale_of(l, (int)(e / d)));
    if (w == COPY) l->p.axes[e] = l->turned[e];
    if (w == AXES)
        l->p.axes[e] = spot_spotlight_adam(&l->state, l->p.axes[e], l->turned[e], &l->moment[e], &l->moment[e + d * (d + 2)]);
}

/* The end of a step; one thread a problem. */
static __global__ void __launch_bounds__(THREADS) turn_kernel(problem *all, int problems, int t)
{
    const int q = blockIdx.x * THREADS + threadIdx.x;

    if (q >= problems || all[q].lost) return;
    const spot_spotlight_pull g = pull_of(&all[q]);
    spot_spotlight_end_step(&all[q].state, g.objective);
    spot_spotlight_trace(&all[q], t, g.objective, 1 / g.by_loss);
    all[q].straight = 0;
    all[q].off = 1;
}

/* grid (problems): the distance of V from orthogonal, by its gram; left counts the problems that need another round */
static __global__ void __launch_bounds__(THREADS) measure_kernel(problem *all, unsigned *left)
{
    problem *l = &all[blockIdx.x];
    const size_t d = l->p.d;
    double off = 0, square = 0;

    if (l->lost || l->straight) return;      /* the whole block */
    for (size_t e = threadIdx.x; e < d * d; e += THREADS) {
        const double rest = (e % (d + 1) == 0) - l->gram[e];
        off = fma(rest, rest, off);
        square = fma(l->gram[e], l->gram[e], square);
    }
    off = spot_block_sum<THREADS>(off);
    square = spot_block_sum<THREADS>(square);
    if (threadIdx.x) return;
    l->straight = l->off <= 1e-7;      /* the round before was the last */
    l->off = sqrt(off);
    l->shrink = l->off < 1 ? 1 : 1 / sqrt(square);
    l->factor = sqrt(l->shrink);
    if (!l->straight) atomicAdd(left, 1u);
}

/* grid (tiles, problems): the weights at the end */
static __global__ void __launch_bounds__(THREADS) end_kernel(problem *all)
{
    const problem *l = &all[blockIdx.y];
    const int i = blockIdx.x * TILE + threadIdx.x;

    if (threadIdx.x < TILE && i < l->p.n) l->p.weight[i] = l->lost ? 0 : l->k[i];
}

static spot_status launch_product(spot_ctx *c, const spot_spotlight_space *s, int problems, product w)
{
    const int across = spot_blocks(s->columns, EDGE);
    const int down = w == Y ? spot_blocks(s->rows, EDGE) : across;

    SPOT_LAUNCH(multiply_kernel, dim3(across, down, problems), dim3(SIDE, SIDE), 0, spot_cuda_stream(c), s->problem, w);
    return spot_cuda_launched(c, "spotlight of %d problems, at most %zu rows of %zu", problems, s->rows, s->columns);
}

static void launch_each(spot_ctx *c, const spot_spotlight_space *s, int problems, element_op w)
{
    SPOT_LAUNCH(each_kernel, dim3(spot_blocks(s->matrix, THREADS), problems), THREADS, 0,
                spot_cuda_stream(c), s->problem, w);
}

/* V of every problem becomes the nearest orthogonal matrix, in as many rounds as the slowest needs. */
static spot_status orthogonalise(spot_ctx *c, const spot_spotlight_space *s, int problems)
{
    cudaStream_t stream = spot_cuda_stream(c);
    unsigned left = 1;

    for (int tries = 0; tries < TRIES && left; tries++) {
        SPOT_TRY(spot_cuda_check(c, cudaMemsetAsync(s->left, 0, sizeof left, stream), "spotlight: its counter"));
        SPOT_TRY(launch_product(c, s, problems, GRAM));
        SPOT_LAUNCH(measure_kernel, problems, THREADS, 0, stream, s->problem, s->left);
        SPOT_TRY(launch_product(c, s, problems, STRAIGHT));
        launch_each(c, s, problems, COPY);
        SPOT_TRY(spot_cuda_memory(c)->copy(c, &left, s->left, sizeof left));
    }
    return SPOT_OK;
}

static spot_status launch_weights(spot_ctx *c, const spot_spotlight_space *s, int problems, int kernel)
{
    SPOT_TRY(launch_product(c, s, problems, Y));
    SPOT_LAUNCH(weigh_kernel, spot_spotlight_grid(s, problems), THREADS, 0, spot_cuda_stream(c), s->problem, kernel);
    return SPOT_OK;
}

static spot_status run_step(spot_ctx *c, const spot_spotlight_space *s, int problems, int t)
{
    cudaStream_t stream = spot_cuda_stream(c);

    SPOT_LAUNCH(pull_kernel, spot_spotlight_grid(s, problems), THREADS, 0, stream, s->problem);
    SPOT_TRY(launch_product(c, s, problems, M));
    launch_each(c, s, problems, SKEW);
    SPOT_TRY(launch_product(c, s, problems, TURN));
    SPOT_LAUNCH(settle_kernel, problems, THREADS, 0, stream, s->problem);
    launch_each(c, s, problems, AXES);
    SPOT_LAUNCH(turn_kernel, spot_blocks(problems, THREADS), THREADS, 0, stream, s->problem, problems, t);
    return orthogonalise(c, s, problems);
}

static spot_status run_steps(spot_ctx *c, const spot_spotlight_space *s, int problems, const spot_spotlight_config *cfg,
                             int compat)
{
    for (int t = 0; t < spot_spotlight_steps(cfg, compat); t++) {
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(launch_weights(c, s, problems, cfg->kernel));
        SPOT_TRY(run_step(c, s, problems, t));
    }
    SPOT_TRY(launch_weights(c, s, problems, cfg->kernel));
    SPOT_LAUNCH(end_kernel, spot_spotlight_grid(s, problems), THREADS, 0, spot_cuda_stream(c), s->problem);
    return spot_cuda_launched(c, "spotlight of %d problems, at most %zu rows of %zu", problems, s->rows, s->columns);
}

spot_status spot_spotlight_full_cuda(spot_ctx *c, spot_arena *scratch, int problems, const spot_spotlight_problem *p,
                                     const spot_spotlight_config *cfg, int compat)
{
    const size_t mark = scratch->used;
    spot_spotlight_space s;
    spot_status e = spot_spotlight_set_up(c, scratch, &s, problems, p, cfg, compat);

    if (e == SPOT_OK) e = run_steps(c, &s, problems, cfg, compat);
    scratch->used = mark;
    return e;
}
