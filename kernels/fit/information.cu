/* information.cu - a block sorts the two classes of a column and finds its rows' neighbours by bisection; a thread scales a
 * column, row by row like the CPU. */
#include <math.h>

#include "core/sort.cuh"
#include "fit/information_step.h"

enum { THREADS = SPOT_INFORMATION_LANES, BATCH = 56 };

typedef spot_batch<spot_information_problem, BATCH> batch;

static __global__ void psi_kernel(double *psi, int n) { spot_information_psi(psi, n); }

/* grid (ceil(d / 256), problems). scale: (problems, 2, most); of a column of one value 0. */
static __global__ void __launch_bounds__(THREADS) scale_kernel(const __grid_constant__ batch all, double *scale, int most)
{
    const spot_information_problem *p = &all.of[blockIdx.y];
    const int j = blockIdx.x * THREADS + threadIdx.x;
    double mean = 0, square = 0, size = 0, s;
    int varies = 0;

    if (j >= p->d) return;
    for (int i = 0; i < p->n; i++) {
        float v = p->x[(size_t)i * p->d + j];
        mean += v;
        varies |= v != p->x[j];
    }
    mean /= p->n;
    for (int i = 0; i < p->n; i++) {
        double off = p->x[(size_t)i * p->d + j] - mean;
        square += off * off;
    }
    s = spot_information_scale(square / p->n);
    for (int i = 0; i < p->n; i++) size += fabs(p->x[(size_t)i * p->d + j] / s);
    scale[(size_t)blockIdx.y * 2 * most + j] = varies ? s : 0;
    scale[((size_t)blockIdx.y * 2 + 1) * most + j] = spot_information_noise(size / p->n);
}

/* The values of column j as keys: class 0 from the front, class 1 from the back. The order within a class is
 * not fixed; sorting fixes it. */
static __device__ void fill_keys(uint64_t *key, int *filled, const spot_information_problem *p, int j, double scale,
                                 double noise)
{
    for (int pair = threadIdx.x; 2 * pair < p->n; pair += THREADS) {
        spot_rng r = spot_philox_at(p->seed.seed, SPOT_RNG_INFORMATION, p->seed.ec, (uint32_t)j);
        r.counter[0] = (uint32_t)pair;      /* a block of the generator is two rows' noise */
        for (int i = 2 * pair; i < 2 * pair + 2 && i < p->n; i++) {
            double z = p->noise ? p->noise[(size_t)i * p->d + j] : spot_philox_normal(&r);
            int y = p->y[i], at = atomicAdd(&filled[y], 1);
            key[y ? p->n - 1 - at : at] = spot_sort_key(p->x[(size_t)i * p->d + j] / scale + noise * z);
        }
    }
}

/* Values of a sorted list that are nearer than `reach` to `at`. */
static __device__ int count_near(const double *of, int count, double at, double reach)
{
    int from = 0, to, end = count;

    while (from < end) {
        int middle = (from + end) / 2;
        if (at - of[middle] >= reach) from = middle + 1;
        else end = middle;
    }
    for (to = from, end = count; to < end;) {
        int middle = (to + end) / 2;
        if (of[middle] - at < reach) to = middle + 1;
        else end = middle;
    }
    return to - from;
}

/* grid (blocks, problems): each takes every blocks-th column. list: n numbers a block. */
static __global__ void __launch_bounds__(THREADS) mutual_kernel(const __grid_constant__ batch all, const double *psi,
                                                                const double *scale, uint64_t *list, int rows, int most)
{
    SPOT_SHARED(int, filled, 2);
    SPOT_SHARED(double, lane, THREADS);
    const spot_information_problem *p = &all.of[blockIdx.y];
    uint64_t *key = list + ((size_t)blockIdx.y * gridDim.x + blockIdx.x) * rows;

    for (int j = blockIdx.x; j < p->d; j += gridDim.x) {
        const double s = scale[(size_t)blockIdx.y * 2 * most + j], noise = scale[((size_t)blockIdx.y * 2 + 1) * most + j];
        double *value = (double *)key, sum = 0;
        int count[2];

        __syncthreads();
        if (threadIdx.x < 2) filled[threadIdx.x] = 0;
        __syncthreads();
        if (s == 0) {                     /* the whole block */
            if (threadIdx.x == 0) p->information[j] = 0;
            continue;
        }
        fill_keys(key, filled, p, j, s, noise);
        __syncthreads();
        count[0] = filled[0];
        count[1] = filled[1];
        spot_block_sort(key, count[0]);
        spot_block_sort(key + count[0], count[1]);
        for (int i = threadIdx.x; i < p->n; i += THREADS) value[i] = spot_of_key(key[i]);
        __syncthreads();
        for (int y = 0; y < 2; y++) {
            const double *own = y ? value + count[0] : value, *other = y ? value : value + count[0];
            if (count[y] < 2) continue;
            for (int i = threadIdx.x; i < count[y]; i += THREADS) {
                double reach = spot_information_reach(own, count[y], i);
                sum += psi[count_near(own, count[y], own[i], reach) +
                           count_near(other, count[!y] > 1 ? count[!y] : 0, own[i], reach)];
            }
        }
        lane[threadIdx.x] = sum;
        __syncthreads();
        if (threadIdx.x == 0) {
            sum = 0;
            for (int l = 0; l < THREADS; l++) sum += lane[l];
            p->information[j] = spot_information_total(psi, count, sum);
        }
    }
}

static spot_status mutual_cuda(spot_ctx *c, spot_arena *scratch, int problems, const spot_information_problem *p)
{
    cudaStream_t stream = spot_cuda_stream(c);
    size_t mark = scratch->used;
    double *psi, *scale;
    uint64_t *list;
    const int rows = SPOT_MOST(problems, p, n), most = SPOT_MOST(problems, p, d), columns = spot_blocks(most, THREADS);

    for (int q = 0; q < problems; q++)
        SPOT_TRY(spot_cuda_needs_all(c, "information.mutual", { { p[q].x, "x" }, { p[q].y, "y" }, { p[q].noise, "noise", true },
                                     { p[q].information, "information" } }));
    if (!problems) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(c, scratch, psi, rows + 1));
    SPOT_TRY(SPOT_TAKE(c, scratch, list, (size_t)SPOT_INFORMATION_LISTS * rows));
    SPOT_TRY(SPOT_TAKE(c, scratch, scale, 2 * (size_t)min((int)BATCH, problems) * most));
    SPOT_LAUNCH(psi_kernel, 1, 1, 0, stream, psi, rows);
    SPOT_TRY(spot_cuda_batches<batch>(problems, p, [=](auto &all, int count) {
        const int blocks = min(most, SPOT_INFORMATION_LISTS / count);
        SPOT_LAUNCH(scale_kernel, dim3(columns, count), THREADS, 0, stream, all, scale, most);
        SPOT_LAUNCH(mutual_kernel, dim3(blocks, count), THREADS, 0, stream, all, psi, scale, list, rows, most);
        return spot_cuda_launched(c, "information.mutual of %d problems, at most (%d,%d)", count, rows, most);
    }));
    scratch->used = mark;
    return SPOT_OK;
}

extern const spot_information_ops spot_information_cuda = { .mutual = mutual_cuda };
