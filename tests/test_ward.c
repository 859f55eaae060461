/* test_ward.c - Ward's clustering against scipy and scikit-learn, ties, equal rows, and threads. ctest: threads, both */
#include "checks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden_file.h"
#include "fit/ward.h"
#include "spotter/rng.h"

/* Fits `count` jobs together, with their merges in memory that the caller frees. */
static void fit(spot_ctx *c, int count, spot_ward_job *jobs)
{
    int n = 1, d = 1;
    spot_arena a;
    for (int j = 0; j < count; j++) {
        jobs[j].merge = malloc((size_t)jobs[j].n * sizeof(spot_ward_merge));
        n = jobs[j].n > n ? jobs[j].n : n;
        d = jobs[j].d > d ? jobs[j].d : d;
    }
    CHECK_OK(c, spot_arena_open(c, &a, spot_ward_scratch(count, n, d, c->threads)));
    CHECK_OK(c, spot_ward_fit(c, &a, count, jobs));
    spot_arena_close(&a);
}

/* Equal labels but for their names. */
static void check_same_groups(const int *a, const int *b, int n, int k)
{
    int *to = malloc((size_t)k * sizeof *to);
    for (int i = 0; i < k; i++) to[i] = -1;
    for (int i = 0; i < n; i++) {
        assert_in_range(a[i], 0, k - 1);
        if (to[a[i]] < 0) to[a[i]] = b[i];
        if (to[a[i]] != b[i]) fail_msg("row %d of %d: cluster %d is %d and %d", i, n, a[i], to[a[i]], b[i]);
    }
    for (int i = 0; i < k; i++)
        for (int j = 0; j < i; j++) assert_true(to[i] != to[j]);
    free(to);
}

TEST(trees_and_cuts_are_those_of_scipy_and_scikit_learn)
{
    FILE *f = fopen("golden/ward.bin", "rb");
    int cases, head[3], k;
    assert_non_null(f);
    get(f, &cases, sizeof cases);
    assert_true(cases >= 6);
    for (int q = 0; q < cases; q++) {
        spot_ctx c = check_ctx(2);
        get(f, head, sizeof head);
        int n = head[0], *got = malloc((size_t)n * sizeof *got);
        float *x = read_new(f, (size_t)n * head[1] * sizeof *x);
        double *height = read_new(f, (size_t)(n - 1) * sizeof *height);
        spot_ward_job job = { .n = n, .d = head[1], .x = x };
        fit(&c, 1, &job);
        for (int m = 0; m < n - 1; m++) CHECK_NEAR(job.merge[m].height, height[m], 1e-12 * height[n - 2]);
        for (int cut = 0; cut < head[2]; cut++) {
            get(f, &k, sizeof k);
            int *want = read_new(f, (size_t)n * sizeof *want);
            assert_int_equal(spot_ward_cut(got, job.merge, n, k), k);
            check_same_groups(got, want, n, k);
            free(want);
        }
        free(job.merge), free(x), free(height), free(got);
    }
    fclose(f);
}

/* Rows of a few integers: many equal rows, and many equal costs. */
static float *integers(int n, int d, int values, uint32_t index)
{
    float *x = malloc((size_t)n * (size_t)d * sizeof *x);
    spot_rng r = spot_rng_at(9, SPOT_RNG_BOOTSTRAP, 0, index);
    for (int i = 0; i < n * d; i++) x[i] = (float)spot_rng_below(&r, (uint32_t)values);
    return x;
}

/* Clusters as sets of rows, merged in the order of the list: every height is that of the two sets' means. */
static void check_tree(const spot_ward_job *job)
{
    int n = job->n, d = job->d, *of = malloc((size_t)n * sizeof *of);
    for (int i = 0; i < n; i++) of[i] = i;
    for (int m = 0; m < n - 1; m++) {
        const spot_ward_merge *g = &job->merge[m];
        double far = 0, na = 0, nb = 0;
        assert_true(g->a < g->b && g->a >= 0 && g->b < n && of[g->a] != of[g->b]);
        for (int i = 0; i < n; i++) na += of[i] == of[g->a], nb += of[i] == of[g->b];
        for (int j = 0; j < d; j++) {
            double a = 0, b = 0;
            for (int i = 0; i < n; i++) {
                if (of[i] == of[g->a]) a += job->x[(size_t)i * d + j];
                if (of[i] == of[g->b]) b += job->x[(size_t)i * d + j];
            }
            far += (a / na - b / nb) * (a / na - b / nb);
        }
        CHECK_NEAR(g->height, sqrt(2 * na * nb / (na + nb) * far), 1e-12 * (1 + g->height));
        if (m) assert_true(g->height >= g[-1].height);
        int gone = of[g->b];
        for (int i = 0; i < n; i++) if (of[i] == gone) of[i] = of[g->a];
    }
    free(of);
}

TEST(ties_give_a_tree_and_the_same_bits_by_any_threads)
{
    static const int sizes[][3] = { { 200, 3, 3 }, { 129, 1, 400 }, { 64, 6, 2 }, { 100, 4, 1 }, { 1, 5, 2 }, { 2, 1, 1 } };
    spot_ward_job job[2][LEN(sizes)], alone;
    for (int many = 0; many < 2; many++) {
        spot_ctx c = check_ctx(many ? 3 : 1);
        for (int q = 0; q < LEN(sizes); q++)
            job[many][q] = (spot_ward_job){ .n = sizes[q][0], .d = sizes[q][1],
                                            .x = integers(sizes[q][0], sizes[q][1], sizes[q][2], (uint32_t)q) };
        fit(&c, LEN(sizes), job[many]);
    }
    for (int q = 0; q < LEN(sizes); q++) {
        spot_ctx c = check_ctx(4);
        alone = job[0][q];
        fit(&c, 1, &alone);
        check_tree(&alone);
        for (int m = 0; m < alone.n - 1; m++)
            for (int many = 0; many < 2; many++) {
                const spot_ward_merge *g = &job[many][q].merge[m], *w = &alone.merge[m];
                assert_true(g->a == w->a && g->b == w->b && g->height == w->height);
            }
        free(alone.merge);
        for (int many = 0; many < 2; many++) free(job[many][q].merge), free((float *)job[many][q].x);
    }
}

/* Points on a line at growing distances have one pair of nearest each round; unit vectors are all equally far. */
TEST(slow_chains_and_equal_distances)
{
    enum { N = 120 };
    spot_ctx c = check_ctx(2);
    float line[N], unit[N * N] = { 0 };
    for (int i = 0; i < N; i++) line[i] = (float)(i * (i + 1) / 2 * (1 + 0.001 * i)), unit[i * N + i] = 1;
    spot_ward_job jobs[] = { { .n = N, .d = 1, .x = line }, { .n = N, .d = N, .x = unit } };
    fit(&c, 2, jobs);
    for (int q = 0; q < 2; q++) check_tree(&jobs[q]), free(jobs[q].merge);
}

/* ---- the rounds by plain loops ---- */

typedef struct { double *mean, *size, *cost; int *near; bool *stale; } plain;

static void find_plainly(plain *p, int s, int n, int d)
{
    p->near[s] = -1;
    for (int o = 0; o < n; o++) {
        double sum = 0, cost;
        if (o == s || !p->size[o]) continue;
        for (int j = 0; j < d; j++) {
            const double u = p->mean[o * d + j] - p->mean[s * d + j];
            sum = fma(u, u, sum);
        }
        cost = p->size[s] * p->size[o] / (p->size[s] + p->size[o]) * sum;
        if (p->near[s] < 0 || cost < p->cost[s]) p->near[s] = o, p->cost[s] = cost;
    }
    p->stale[s] = false;
}

static void merge_plainly(plain *p, int a, int b, int d)
{
    const double all = p->size[a] + p->size[b];
    for (int j = 0; j < d; j++)
        p->mean[a * d + j] = (p->size[a] * p->mean[a * d + j] + p->size[b] * p->mean[b * d + j]) / all;
    p->size[a] = all, p->size[b] = 0;
}

static int by_height(const void *a, const void *b)
{
    const spot_ward_merge *p = a, *q = b;
    if (p->height != q->height) return p->height < q->height ? -1 : 1;
    return p->a != q->a ? p->a - q->a : p->b - q->b;
}

/* All distances of every round in fp64; a cluster keeps its nearest until that one or itself merges. */
static void fit_plainly(spot_ward_merge *merge, const float *x, int n, int d)
{
    plain p = { malloc((size_t)n * d * sizeof(double)), malloc(n * sizeof(double)), malloc(n * sizeof(double)),
                malloc(n * sizeof(int)), malloc(n) };
    bool *merged = malloc((size_t)n);
    int merges = 0, before;
    for (int i = 0; i < n; i++) {
        p.size[i] = 1, p.stale[i] = true;
        for (int j = 0; j < d; j++) p.mean[i * d + j] = (double)x[i * d + j] - x[j];
        for (int o = 0; o < i && p.size[i]; o++)
            if (p.size[o] && !memcmp(x + i * d, x + o * d, (size_t)d * sizeof *x))
                p.size[o]++, p.size[i] = 0, merge[merges++] = (spot_ward_merge){ o, i, 0 };
    }
    while (merges < n - 1) {
        for (int s = 0; s < n; s++)
            if (p.size[s] > 0 && p.stale[s]) find_plainly(&p, s, n, d);
        before = merges;
        memset(merged, 0, (size_t)n);
        for (int s = 0; s < n; s++)
            if (p.size[s] > 0 && p.near[s] > s && p.near[p.near[s]] == s)
                merge[merges++] = (spot_ward_merge){ s, p.near[s], sqrt(2 * p.cost[s]) };
        for (int m = before; m < merges; m++)
            merge_plainly(&p, merge[m].a, merge[m].b, d), merged[merge[m].a] = merged[merge[m].b] = true;
        for (int s = 0; s < n; s++)
            if (p.size[s] > 0) p.stale[s] = merges == before || merged[s] || merged[p.near[s]];
    }
    qsort(merge, (size_t)merges, sizeof *merge, by_height);
    free(p.mean), free(p.size), free(p.cost), free(p.near), free(p.stale), free(merged);
}

/* Clusters of normal points: at `scale`, their centres `apart` standard deviations apart, all of it `from` deviations away. */
static float *clusters(int n, int d, double scale, double apart, double from, uint32_t index)
{
    float *x = malloc((size_t)n * (size_t)d * sizeof *x);
    spot_rng r = spot_rng_at(11, SPOT_RNG_BOOTSTRAP, 0, index);
    for (int i = 0; i < n * d; i++)
        x[i] = (float)(scale * (from + apart * ((i / d * 7 + i % d) % 5) + spot_rng_normal(&r)));
    return x;
}

/* Points that fp32 cannot tell apart, hold or square must not change a bit. */
TEST(every_bit_is_that_of_plain_rounds)
{
    static const struct { double scale, apart, from; } cases[] = {
        { 1, 0, 0 }, { 1, 3, 0 }, { 1, 1e4, 0 }, { 1e-3, 0, 1e6 }, { 1e-3, 1e7, 0 }, { 1e18, 1, 0 }, { 1e25, 1, 0 },
        { 1e-19, 1, 0 }, { 1e-30, 2, 0 }, { 1e-42, 2, 0 },
    };
    static const int sizes[][2] = { { 300, 3 }, { 130, 70 }, { 9, 1 }, { 257, 1 } };
    for (int t = 0; t < LEN(cases) * LEN(sizes); t++)
        for (int grid = 0; grid < 2; grid++) {
            const int n = sizes[t % LEN(sizes)][0], d = sizes[t % LEN(sizes)][1], k = t / LEN(sizes);
            float *x = grid ? integers(n, d, 2 + t % 7, (uint32_t)t)
                            : clusters(n, d, cases[k].scale, cases[k].apart, cases[k].from, (uint32_t)t);
            spot_ward_merge *want = malloc((size_t)n * sizeof *want);
            spot_ward_job job = { .n = n, .d = d, .x = x };
            spot_ctx c = check_ctx(1 + t % 3);
            fit(&c, 1, &job);
            fit_plainly(want, x, n, d);
            for (int m = 0; m < n - 1; m++)
                if (job.merge[m].a != want[m].a || job.merge[m].b != want[m].b || job.merge[m].height != want[m].height)
                    fail_msg("case %d, grid %d: merge %d is %d, %d at %.17g, plainly %d, %d at %.17g", t, grid, m,
                             job.merge[m].a, job.merge[m].b, job.merge[m].height, want[m].a, want[m].b, want[m].height);
            free(x), free(want), free(job.merge);
        }
}

TEST(a_cut_names_clusters_by_their_first_rows)
{
    const float x[] = { 5, 0, 5.5f, 9, 0.25f };
    const int want[5][5] = { { 0, 0, 0, 0, 0 }, { 0, 1, 0, 0, 1 }, { 0, 1, 0, 2, 1 }, { 0, 1, 2, 3, 1 }, { 0, 1, 2, 3, 4 } };
    spot_ctx c = check_ctx(1);
    spot_ward_job job = { .n = 5, .d = 1, .x = x };
    int label[5];
    fit(&c, 1, &job);
    for (int k = 1; k <= 7; k++) {
        assert_int_equal(spot_ward_cut(label, job.merge, 5, k), k < 5 ? k : 5);
        assert_memory_equal(label, want[(k < 5 ? k : 5) - 1], sizeof label);
    }
    free(job.merge);
    job.d = 0;
    CHECK_FAILS(&c, spot_ward_fit(&c, NULL, 1, &job), SPOT_INVALID, "ward.sizes: ward 0 | 5 | 0");
}
