/* spotlight_fit.cu - spotlights of spherical precision: a block a tile of rows, then a block a problem that sums the tiles and
 * makes the step; two launches a step serve all problems. The sums are spotlight_fit.c's, term by term. */
#include "fit/spotlight_cuda.cuh"

enum { WARPS = SPOTLIGHT_THREADS / 32, TILE = SPOTLIGHT_TILE };

static __device__ double precision_of(const problem *l) { return spot_exp64(fmin(*l->p.log_precision, 700.0)); }

static __device__ int lane() { return threadIdx.x % 32; }

/* A tile's rows in shared memory, (128) each: D, k, u and u l of spotlight_step.h. */
typedef struct { double *far, *k, *u, *ul; } tile;

/* Distances and weights of a tile's rows, by all warps of the block. */
static __device__ tile weigh_tile(const problem *l, int i0, int rows, int kernel)
{
    SPOT_SHARED(double, far, TILE);
    SPOT_SHARED(double, k, TILE);
    SPOT_SHARED(double, u, TILE);
    SPOT_SHARED(double, ul, TILE);
    const double precision = precision_of(l);

    for (int r = threadIdx.x / 32; r < rows; r += WARPS) {
        const float *x = l->p.x + (size_t)(i0 + r) * l->p.d;
        double dot = 0;
        for (int j = lane(); j < l->p.d; j += 32) dot = fma((double)x[j], l->p.mean[j], dot);
        dot = spot_warp_sum(dot);
        if (lane()) continue;
        far[r] = spot_spotlight_distance(fma(-2.0, dot, l->square[i0 + r] + l->mean2), precision);
        spot_spotlight_weight(kernel, &k[r], &u[r], far[r]);
        ul[r] = u[r] * l->p.loss[i0 + r];
    }
    __syncthreads();
    return { far, k, u, ul };
}

/* grid (tiles, problems): |x|^2, and once a problem |mean|^2 */
static __global__ void __launch_bounds__(SPOTLIGHT_THREADS) begin_kernel(problem *all)
{
    problem *l = &all[blockIdx.y];
    const int end = min(l->p.n, ((int)blockIdx.x + 1) * TILE);

    for (int i = blockIdx.x * TILE + threadIdx.x / 32; i < end; i += WARPS) {
        double square = 0;
        for (int j = lane(); j < l->p.d; j += 32) {
            double x = l->p.x[(size_t)i * l->p.d + j];
            square = fma(x, x, square);
        }
        square = spot_warp_sum(square);
        if (lane() == 0) l->square[i] = square;
    }
    if (blockIdx.x || threadIdx.x >= 32) return;
    double square = 0;
    for (int j = lane(); j < l->p.d; j += 32) square = fma(l->p.mean[j], l->p.mean[j], square);
    square = spot_warp_sum(square);
    if (lane() == 0) l->mean2 = square;
}

/* grid (tiles, problems): each tile's sums */
static __global__ void __launch_bounds__(SPOTLIGHT_THREADS) sum_kernel(problem *all, int kernel)
{
    const problem *l = &all[blockIdx.y];
    const int i0 = blockIdx.x * TILE, rows = min((int)TILE, l->p.n - i0), d = l->p.d;

    if (l->lost || rows < 1) return;      /* the whole block */
    const tile t = weigh_tile(l, i0, rows, kernel);
    double *sum = l->partial + (size_t)blockIdx.x * (2 * d + SPOTLIGHT_SUMS);
    for (int j = threadIdx.x; j < d; j += SPOTLIGHT_THREADS) {
        double a = 0, b = 0;
        for (int r = 0; r < rows; r++) {
            double x = l->p.x[(size_t)(i0 + r) * d + j];
            a = fma(t.u[r], x, a);
            b = fma(t.ul[r], x, b);
        }
        sum[j] = a;
        sum[d + j] = b;
    }
    spot_spotlight_numbers(sum + 2 * d, t.k, t.u, t.ul, t.far, l->p.loss + i0, rows);
}

/* grid (problems): the step */
static __global__ void __launch_bounds__(SPOTLIGHT_THREADS) step_kernel(problem *all, int t)
{
    SPOT_SHARED(double, s, SPOTLIGHT_SUMS);
    problem *l = &all[blockIdx.x];
    const spot_spotlight_state state = l->state;
    const int d = l->p.d, stride = 2 * d + SPOTLIGHT_SUMS;
    const double precision = precision_of(l), a = *l->p.log_precision;
    double *first = l->moment, *second = first + d + 1;

    if (l->lost) return;      /* the whole block */
    if (threadIdx.x < SPOTLIGHT_SUMS) s[threadIdx.x] = spot_spotlight_total(l->partial + 2 * d + threadIdx.x, l->tiles, stride);
    __syncthreads();
    const spot_spotlight_pull g = spot_spotlight_pulled(&state, s[SUM_K], s[SUM_KL]);
    for (int j = threadIdx.x; j < d && !g.lost; j += SPOTLIGHT_THREADS) {
        double mean = l->p.mean[j], one = spot_spotlight_total(l->partial + j, l->tiles, stride) - mean * s[SUM_U];
        double two = spot_spotlight_total(l->partial + d + j, l->tiles, stride) - mean * s[SUM_UL];
        double rise = 2 * precision * (g.by_loss * (two - g.mean_loss * one) + g.push * one);
        l->p.mean[j] = spot_spotlight_adam(&state, mean, rise, &first[j], &second[j]);
    }
    __syncthreads();
    if (threadIdx.x >= 32) return;
    double square = 0;
    for (int j = lane(); j < d; j += 32) square = fma(l->p.mean[j], l->p.mean[j], square);
    square = spot_warp_sum(square);
    if (lane()) return;
    l->mean2 = square;
    l->lost = g.lost;
    if (g.lost) return;
    *l->p.log_precision = spot_spotlight_adam(
        &state, a, -(g.by_loss * (s[SUM_ULD] - g.mean_loss * s[SUM_UD]) + g.push * s[SUM_UD]), &first[d], &second[d]);
    spot_spotlight_end_step(&l->state, g.objective);
    spot_spotlight_trace(l, t, g.objective, s[SUM_K]);
}

/* grid (tiles, problems): the weights at the end */
static __global__ void __launch_bounds__(SPOTLIGHT_THREADS) end_kernel(problem *all, int kernel)
{
    const problem *l = &all[blockIdx.y];
    const int i0 = blockIdx.x * TILE, rows = min((int)TILE, l->p.n - i0);

    if (rows < 1) return;
    const tile t = weigh_tile(l, i0, rows, kernel);
    for (int r = threadIdx.x; r < rows; r += SPOTLIGHT_THREADS) l->p.weight[i0 + r] = l->lost ? 0 : t.k[r];
}

static spot_status run_steps(spot_ctx *c, const spot_spotlight_space *s, int problems, dim3 grid,
                             const spot_spotlight_config *cfg, int compat)
{
    const int steps = spot_spotlight_steps(cfg, compat);
    cudaStream_t stream = spot_cuda_stream(c);

    SPOT_LAUNCH(begin_kernel, grid, SPOTLIGHT_THREADS, 0, stream, s->problem);
    for (int t = 0; t < steps; t++) {
        if (t % SPOTLIGHT_POLL == 0) SPOT_TRY(spot_check_stop(c));
        SPOT_LAUNCH(sum_kernel, grid, SPOTLIGHT_THREADS, 0, stream, s->problem, cfg->kernel);
        SPOT_LAUNCH(step_kernel, problems, SPOTLIGHT_THREADS, 0, stream, s->problem, t);
    }
    SPOT_LAUNCH(end_kernel, grid, SPOTLIGHT_THREADS, 0, stream, s->problem, cfg->kernel);
    return spot_cuda_launched(c, "spotlight of %d problems, at most %zu rows of %zu", problems, s->rows, s->columns);
}

static spot_status spherical_cuda(spot_ctx *c, spot_arena *scratch, int problems, const spot_spotlight_problem *p,
                                  const spot_spotlight_config *cfg, int compat)
{
    const size_t mark = scratch->used;
    spot_spotlight_space s;
    spot_status e = spot_spotlight_set_up(c, scratch, &s, problems, p, cfg, compat);

    if (e == SPOT_OK) e = run_steps(c, &s, problems, spot_spotlight_grid(&s, problems), cfg, compat);
    scratch->used = mark;
    return e;
}

extern const spot_spotlight_ops spot_spotlight_cuda = { .spherical = spherical_cuda, .full = spot_spotlight_full_cuda };
