/* test_domino_mixture.c - Domino's mixture against the upstream package and scikit-learn, k-means against scikit-learn, each
 * from the same start. ctest: threads, both */
#include "check_blas.h"
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "fit/domino_mixture.h"
#include "fit/kmeans.h"

static void *get(FILE *f, size_t count, size_t each)
{
    void *p = malloc(count * each + 1);

    assert_int_equal(fread(p, each, count, f), count);
    return p;
}

/* To 1e-8, relative to the largest. */
static void same(const char *what, const double *got, const double *want, size_t count)
{
    double most = 0;

    for (size_t i = 0; i < count; i++) most = fmax(most, fabs(want[i]));
    for (size_t i = 0; i < count; i++)
        if (!(fabs(got[i] - want[i]) <= 1e-8 * most)) fail_msg("%s %zu is %.15g, upstream's %.15g", what, i, got[i], want[i]);
}

static void em(spot_ctx *c, spot_domino_job *jobs, int count, const spot_mixture_config *cfg)
{
    spot_arena a;
    int n = 0, d = 0, k = 0, classes = 0;

    for (int j = 0; j < count; j++) {
        n = jobs[j].n > n ? jobs[j].n : n;
        d = jobs[j].d > d ? jobs[j].d : d;
        k = jobs[j].k > k ? jobs[j].k : k;
        classes = jobs[j].classes > classes ? jobs[j].classes : classes;
    }
    CHECK_OK(c, spot_arena_open(c, &a, spot_domino_scratch(count, n, d, k, classes, 1, c->threads)));
    CHECK_OK(c, spot_domino_em(c, &a, count, jobs, cfg));
    assert_int_equal(a.used, 0);
    spot_arena_close(&a);
}

static void kept_slices_agree(const spot_domino_job *job, const int *kept, const uint8_t *slice)
{
    int len = job->k < 5 ? job->k : 5;

    for (int s = 0; s + 1 < len; s++) {
        double score[2] = { 0 };
        for (int e = 0; e < 2; e++) {
            double most = -INFINITY;
            for (int a = 0; a < job->classes; a++)
                most = fmax(most, job->of_p[kept[s + e] * job->classes + a] - job->of_y[kept[s + e] * job->classes + a]);
            score[e] = fabs(most);
        }
        assert_true(score[0] >= score[1]);
    }
    for (int i = 0; i < job->n; i++)
        for (int s = 0; s < len; s++)
            assert_true(job->r[(size_t)kept[s] * job->n + i] <= job->r[(size_t)kept[slice[i]] * job->n + i]);
}

static void one_case(FILE *f)
{
    spot_ctx c = check_ctx(2);
    spot_mixture_config cfg = spot_mixture_defaults();
    int *head = get(f, 7, sizeof(int)), n = head[0], d = head[1], k = head[2], classes = head[3], full = head[4], *kept;
    double *gamma = get(f, 2, sizeof(double)), *start, *want[6];
    size_t values = (size_t)k * d, sizes[] = { head[5], k, values, full ? values * d : values, (size_t)k * classes,
                                               (size_t)k * classes };
    float *x = get(f, (size_t)n * d, sizeof *x), *p;
    uint8_t *y = get(f, n, 1), *slice;
    spot_domino_job job = { .n = n, .d = d, .k = k, .classes = classes, .full = full, .gamma = gamma[0], .gamma_hat = gamma[1],
                            .x = x, .y = y, .r = malloc((size_t)n * k * sizeof(double)),
                            .bound = malloc((size_t)cfg.max_iterations * sizeof(double)) };

    job.p = p = get(f, (size_t)n * classes, sizeof *p);
    start = get(f, (size_t)n * k, sizeof *start);
    for (int a = 0; a < 6; a++) want[a] = get(f, sizes[a], sizeof(double));
    kept = get(f, k < 5 ? k : 5, sizeof *kept);
    slice = get(f, n, 1);
    for (int i = 0; i < n; i++)
        for (int s = 0; s < k; s++) job.r[(size_t)s * n + i] = start[(size_t)i * k + s];
    job.weight = malloc(sizes[1] * sizeof(double));
    job.mean = malloc(sizes[2] * sizeof(double));
    job.covariance = malloc(sizes[3] * sizeof(double));
    job.of_y = malloc(sizes[4] * sizeof(double));
    job.of_p = malloc(sizes[5] * sizeof(double));
    em(&c, &job, 1, &cfg);
    assert_int_equal(job.ill, 0);
    assert_int_equal(job.iterations, head[5]);
    assert_int_equal(job.converged, head[6]);
    same("bound", job.bound, want[0], sizes[0]);
    assert_true(job.last_bound == job.bound[job.iterations - 1]);
    same("weight", job.weight, want[1], sizes[1]);
    same("mean", job.mean, want[2], sizes[2]);
    same("covariance", job.covariance, want[3], sizes[3]);
    if (gamma[0]) {
        same("P", job.of_y, want[4], sizes[4]);
        same("Q", job.of_p, want[5], sizes[5]);
        kept_slices_agree(&job, kept, slice);
    }
    void *all[] = { head, gamma, x, y, p, start, kept, slice, job.r, job.bound, job.weight, job.mean, job.covariance, job.of_y,
                    job.of_p, want[0], want[1], want[2], want[3], want[4], want[5] };
    for (int i = 0; i < LEN(all); i++) free(all[i]);
}

static void one_kmeans(FILE *f)
{
    spot_ctx c = check_ctx(2);
    int *head = get(f, 4, sizeof(int)), n = head[0], d = head[1], k = head[2], *label;
    double *inertia = get(f, 1, sizeof(double)), *start, *centre;
    float *x = get(f, (size_t)n * d, sizeof *x);
    spot_kmeans_job job = { .n = n, .d = d, .k = k, .x = x, .given = 1, .label = malloc((size_t)n * sizeof(int)) };
    spot_arena a;

    job.centre = start = get(f, (size_t)k * d, sizeof *start);
    centre = get(f, (size_t)k * d, sizeof *centre);
    label = get(f, n, sizeof *label);
    CHECK_OK(&c, spot_arena_open(&c, &a, spot_kmeans_scratch(1, n, d, k, c.threads)));
    CHECK_OK(&c, spot_kmeans_fit(&c, &a, 1, &job));
    assert_memory_equal(job.label, label, (size_t)n * sizeof *label);
    same("centre", start, centre, (size_t)k * d);
    CHECK_NEAR(job.inertia, *inertia, 1e-8 * *inertia);
    assert_int_equal(job.iterations, head[3]);
    spot_arena_close(&a);
    free(head), free(inertia), free(x), free(start), free(centre), free(label), free(job.label);
}

TEST(upstream_agrees)
{
    FILE *f = fopen("golden/domino.bin", "rb");
    int *count;

    assert_non_null(f);
    count = get(f, 1, sizeof *count);
    assert_int_equal(*count, 6);
    for (int i = 0; i < *count; i++) one_case(f);
    free(count);
    count = get(f, 1, sizeof *count);
    assert_int_equal(*count, 3);
    for (int i = 0; i < *count; i++) one_kmeans(f);
    free(count);
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
}

TEST(k_means_fills_its_clusters)
{
    spot_ctx c = check_ctx(2);
    float x[40 * 2];
    int label[40], count[40];
    double centre[40 * 2], given[] = { 0, 0, 900, 900, -900, 900 };
    spot_kmeans_job job = { .n = 40, .d = 2, .x = x, .seed = { 4, 1 }, .label = label, .centre = centre };
    spot_arena a;

    for (int i = 0; i < 40; i++) x[2 * i] = (float)(i % 8), x[2 * i + 1] = (float)(i / 8);
    CHECK_OK(&c, spot_arena_open(&c, &a, spot_kmeans_scratch(1, 40, 2, 40, c.threads)));
    for (job.k = 1; job.k <= 40; job.k += 13) {
        memset(count, 0, sizeof count);
        CHECK_OK(&c, spot_kmeans_fit(&c, &a, 1, &job));
        for (int i = 0; i < 40; i++) count[label[i]]++;
        for (int k = 0; k < job.k; k++) assert_true(count[k] > 0);
    }
    assert_true(job.k == 53 && job.inertia == 0);      /* the last: every point its own */
    job.k = 3;                  /* two centres that no point is nearest to */
    job.given = 1;
    job.centre = given;
    memset(count, 0, sizeof count);
    CHECK_OK(&c, spot_kmeans_fit(&c, &a, 1, &job));
    for (int i = 0; i < 40; i++) count[label[i]]++;
    assert_true(count[0] && count[1] && count[2]);
    memset(x, 0, sizeof x);     /* one point, many times */
    job.given = 0;
    CHECK_OK(&c, spot_kmeans_fit(&c, &a, 1, &job));
    assert_true(job.inertia == 0);
    job.k = 41;
    CHECK_FAILS(&c, spot_kmeans_fit(&c, &a, 1, &job), SPOT_INVALID, "kmeans.sizes: 41 | 40 | 2");
    spot_arena_close(&a);
}
