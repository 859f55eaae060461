/* affinity.c - nearest columns by selection, and the perplexity search, on the CPU. */
#include "affinity.h"

#include "vmath.h"

enum { LANES = 16 };

/* p_j = exp(-beta (d_j - least)), with its sum and its product with the distances. */
static inline void weigh(float *p, const float *d, int k, float beta, float least, float *sum, float *dot)
{
    float s[LANES] = { 0 }, t[LANES] = { 0 };
    int j = 0;

    for (; j + LANES <= k; j += LANES)
        for (int l = 0; l < LANES; l++) {
            float x = d[j + l] - least, e = spot_expf(-beta * x);
            p[j + l] = e;
            s[l] += e;
            t[l] = fmaf(x, e, t[l]);
        }
    for (int l = 0; j + l < k; l++) {
        float x = d[j + l] - least, e = spot_expf(-beta * x);
        p[j + l] = e;
        s[l] += e;
        t[l] = fmaf(x, e, t[l]);
    }
    *sum = spot_fold(s);
    *dot = spot_fold(t);
}

void spot_affinity_row(float *p, const float *d, int k, const spot_affinity_rule *rule)
{
    double beta = 1, low = 0, high = INFINITY;
    float least = SPOT_FAR, sum, dot;

    for (int j = 0; j < k; j++) least = d[j] < least ? d[j] : least;
    for (int try = 1;; try++) {
        weigh(p, d, k, (float)beta, least, &sum, &dot);
        double over = log(sum) + beta * dot / sum - rule->entropy;      /* H = log S + beta <d> */
        if (fabs(over) <= rule->tolerance || try >= rule->tries) break;
        if (over > 0) {
            low = beta;
            beta = isinf(high) ? beta * 2 : (beta + high) / 2;
        } else {
            high = beta;
            beta = (beta + low) / 2;
        }
    }
    for (int j = 0; j < k; j++) p[j] = d[j] < SPOT_FAR ? p[j] / sum : 0.0f;
}

static spot_status rows_cpu(spot_ctx *c, spot_mat p, spot_mat d, const spot_affinity_rule *rule)
{
#pragma omp parallel for num_threads(c->threads) schedule(dynamic, 16)
    for (int i = 0; i < d.rows; i++)
        spot_affinity_row(p.v + (size_t)i * p.cols, d.v + (size_t)i * d.cols, d.cols, rule);
    return SPOT_OK;
}

/* Moves the k smallest keys to the front (Hoare's selection, median of three). Keys differ, so the set is unique. */
static void select_smallest(uint64_t *key, int n, int k)
{
    int lo = 0, hi = n - 1;

    while (lo < hi) {
        uint64_t a = key[lo], b = key[lo + (hi - lo) / 2], e = key[hi];
        uint64_t pivot = a < b ? (b < e ? b : a < e ? e : a) : (a < e ? a : b < e ? e : b);
        int i = lo, j = hi;

        while (i <= j) {
            while (key[i] < pivot) i++;
            while (key[j] > pivot) j--;
            if (i <= j) {
                uint64_t swap = key[i];
                key[i++] = key[j];
                key[j--] = swap;
            }
        }
        if (k - 1 <= j) hi = j;
        else if (k - 1 >= i) lo = i;
        else return;
    }
}

/* A distance's bits rise with it since it is not negative: above the column they make a key that breaks ties too. */
static void nearest_of_row(const float *d, int m, int k, int *column, float *near, uint64_t *key)
{
    uint64_t last;
    int found = 0;

    for (int j = 0; j < m; j++) key[j] = (uint64_t)(uint32_t)spot_float_bits(d[j]) << 32 | (uint32_t)j;
    select_smallest(key, m, k);
    last = key[0];
    for (int j = 1; j < k; j++) last = key[j] > last ? key[j] : last;
    for (int j = 0; j < m; j++)
        if (((uint64_t)(uint32_t)spot_float_bits(d[j]) << 32 | (uint32_t)j) <= last) {
            column[found] = j;
            near[found++] = d[j];
        }
}

static spot_status nearest_cpu(spot_ctx *c, spot_mat d, int *column, spot_mat near, uint64_t *scratch)
{
#pragma omp parallel for num_threads(c->threads) schedule(dynamic, 16)
    for (int i = 0; i < d.rows; i++) {
        size_t at = (size_t)i * near.cols;
        nearest_of_row(d.v + (size_t)i * d.cols, d.cols, near.cols, column + at, near.v + at,
                       scratch + (size_t)i * d.cols);
    }
    return SPOT_OK;
}

const spot_affinity_ops spot_affinity_cpu = { .nearest = nearest_cpu, .rows = rows_cpu };

spot_status spot_affinity_nearest(spot_ctx *c, spot_mat d, int *column, spot_mat near, uint64_t *scratch)
{
    if (near.rows != d.rows || near.cols < 1 || near.cols > d.cols)
        return spot_fail(c, SPOT_INVALID, "affinity.nearest: %d of (%d,%d) into %d rows", near.cols, d.rows, d.cols, near.rows);
    SPOT_DISPATCH(c, affinity, nearest, d, column, near, scratch);
}

spot_status spot_affinity_rows(spot_ctx *c, spot_mat p, spot_mat d, const spot_affinity_rule *rule)
{
    if (p.rows != d.rows || p.cols != d.cols || d.cols < 1 || rule->tries < 1)
        return spot_fail(c, SPOT_INVALID, "affinity.rows: (%d,%d) into (%d,%d), %d tries", d.rows, d.cols, p.rows, p.cols,
                         rule->tries);
    SPOT_DISPATCH(c, affinity, rows, p, d, rule);
}
