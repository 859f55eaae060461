/* test_cuda_ward_near.c - Ward's trees where products on tensor cores rule out pairs (kernels/fit/ward_near.cu): the CPU's bits
 * on rows that are hard to tell apart, and pairs are ruled out where it is easy. */
#define _GNU_SOURCE   /* setenv */
#include "check_op.h"

#include "heard.h"
#include "noise.h"
#include "stats/ward_trees.h"

/* ---- rows ---- */

/* Normal numbers about one of `clusters` corners, all rows of a corner in turn; far: how far corners are from each other. */
static void lay_clusters(float *x, int n, int d, int clusters, float far, int seed)
{
    float *noise = normals((size_t)n * (size_t)d, (uint64_t)seed, 1);
    float *corner = normals((size_t)clusters * (size_t)d, (uint64_t)seed, 2);

    for (int i = 0; i < n; i++)
        for (int j = 0; j < d; j++) x[i * d + j] = noise[i * d + j] + far * corner[i * clusters / n * d + j];
    free(noise), free(corner);
}

static void lay_normal(float *x, int n, int d) { lay_clusters(x, n, d, 1, 0, 3); }
static void lay_ten(float *x, int n, int d) { lay_clusters(x, n, d, 10, 9, 4); }

/* Few values: equal rows, equal distances. */
static void lay_integers(float *x, int n, int d)
{
    spot_rng r = noise_at(5, 0);

    for (int e = 0; e < n * d; e++) x[e] = (float)spot_rng_below(&r, 3);
}

/* Most rows are zeros, of either sign. */
static void lay_zeros(float *x, int n, int d)
{
    lay_normal(x, n, d);
    for (int i = 0; i < n; i++)
        for (int j = 0; i % 5 && j < d; j++) x[i * d + j] = i % 2 ? 0.f : -0.f;
}

/* On circles about the origin, distances differ in the last bits of fp32, and bf16 cannot tell neighbours from each other. */
static void lay_circles(float *x, int n, int d)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < d; j++)
            x[i * d + j] = j > 1 ? 1.f : (float)((1 + 1e-7 * (i % 7)) * (j ? sin(6.283185 * i / n) : cos(6.283185 * i / n)));
}

/* Triples far from the first row, which is the origin of means: a middle row has a neighbour in the first third and one in the
 * last, equally near. All numbers are exact in bf16, so that nothing but the rounding of sums can rule out the first one, which
 * is met last. A tile of 16 x 16 costs has one of the pairs or none, in most cases. */
static void lay_ties(float *x, int n, int d)
{
    const int triples = (n - 1) / 3;
    spot_rng r = noise_at(6, 0);

    memset(x, 0, (size_t)n * (size_t)d * sizeof *x);
    for (int g = 0; g < triples; g++) {
        const int row[3] = { 1 + 47 * g % triples, 1 + triples + g, 1 + 2 * triples + 29 * g % triples };
        for (int j = 0; j < d; j++) {
            const int digits = 129 + (int)spot_rng_below(&r, 125);
            for (int k = 0; k < 3; k++) x[row[k] * d + j] = ldexpf((float)(digits + (j == g % d ? k - 1 : 0)), -j % 3);
        }
    }
}

static void lay_scaled(float *x, int n, int d, float by)
{
    lay_ten(x, n, d);
    for (int e = 0; e < n * d; e++) x[e] *= by;
}

static void lay_huge(float *x, int n, int d) { lay_scaled(x, n, d, 1e36f); }
static void lay_tiny(float *x, int n, int d) { lay_scaled(x, n, d, 1e-42f); }
static void lay_outlier(float *x, int n, int d)
{
    lay_normal(x, n, d);
    for (int j = 0; j < d; j++) x[d * (n / 2) + j] *= 1e12f;
}

static const struct { void (*lay)(float *x, int n, int d); const char *what; int n, d; } kinds[] = {
    { lay_normal, "normal", 300, 5 },        { lay_normal, "wide", 150, 70 },     { lay_ten, "clusters", 333, 20 },
    { lay_integers, "integers", 300, 6 },    { lay_zeros, "zeros", 200, 4 },      { lay_circles, "circles", 260, 2 },
    { lay_circles, "circles", 130, 9 },      { lay_ties, "ties", 331, 60 },       { lay_ties, "ties", 331, 20 },
    { lay_huge, "huge", 140, 6 },            { lay_tiny, "tiny", 140, 6 },        { lay_outlier, "an outlier", 200, 12 },
    { lay_normal, "one", 1, 3 },             { lay_normal, "two", 2, 90 },
};
enum { KINDS = LEN(kinds) };

#define NEVER "1000000000"

/* ---- trees ---- */

/* x and merge, which the caller frees. */
static spot_ward_job make_job(int kind)
{
    const int n = kinds[kind].n, d = kinds[kind].d;
    float *x = malloc((size_t)n * (size_t)d * sizeof *x);

    kinds[kind].lay(x, n, d);
    return (spot_ward_job){ .n = n, .d = d, .x = x, .merge = calloc((size_t)n, sizeof(spot_ward_merge)) };
}

static void free_job(spot_ward_job *job) { free((float *)job->x), free(job->merge); }

/* sift: what SPOT_WARD_SIFT says. */
static void fit(spot_ctx *c, int count, spot_ward_job *jobs, const char *sift)
{
    spot_arena host = spot_arena_counting(), work = host;

    setenv("SPOT_WARD_SIFT", sift, 1);
    CHECK_OK(c, spot_ward_trees(c, &host, &work, count, jobs));
    CHECK_OK(c, spot_arena_open(c, &host, host.peak));
    CHECK_OK(c, spot_arena_open_device(c, &work, work.peak));
    CHECK_OK(c, spot_ward_trees(c, &host, &work, count, jobs));
    unsetenv("SPOT_WARD_SIFT");
    spot_arena_close(&work);
    spot_arena_close(&host);
}

static void check_same(const spot_ward_job *got, const spot_ward_job *want, const char *what)
{
    for (int k = 0; k < want->n - 1; k++) {
        const spot_ward_merge *g = &got->merge[k], *w = &want->merge[k];
        if (memcmp(g, w, sizeof *g))
            fail_msg("%s: merge %d of %d is %d %d %.17g, wanted %d %d %.17g", what, k, want->n, g->a, g->b, g->height, w->a,
                     w->b, w->height);
    }
    assert_int_equal(got->rounds, want->rounds);
}

static void check_kinds(spot_ctx *c, const spot_ward_job *want, const char *sift)
{
    spot_ward_job got[KINDS];

    for (int q = 0; q < KINDS; q++) got[q] = make_job(q);
    fit(c, KINDS, got, sift);
    for (int q = 0; q < KINDS; q++) check_same(&got[q], &want[q], kinds[q].what), free_job(&got[q]);
}

/* With 16, several parts of the rows are searched in the first round, which leaves so much that fp64 has the others. */
TEST_ON_CUDA(rows_that_are_hard_to_tell_apart_have_the_cpus_trees)
{
    spot_ctx cpu = check_ctx(2), c;
    spot_ward_job want[KINDS];

    for (int q = 0; q < KINDS; q++) want[q] = make_job(q);
    fit(&cpu, KINDS, want, NEVER);
    for (int s = 0; s < LEN(schedules); s = schedule_after(s, 2)) {
        open_cuda(&c, s);
        check_kinds(&c, want, "1");
        if (!s && !is_slow()) check_kinds(&c, want, "16");
        spot_device_close(&c);
    }
    for (int q = 0; q < KINDS; q++) free_job(&want[q]);
}

/* The tiles of costs that fp64 decided, of a hundred. */
static int percent_decided(spot_ctx *c, spot_ward_job *job, const char *sift)
{
    unsigned long long decided = 0, all = 0;

    murmured[0] = 0;
    c->on_log = hear;
    fit(c, 1, job, sift);
    c->on_log = NULL;
    if (sscanf(murmured, "ward: fp64 decided %llu of %llu tiles", &decided, &all) != 2) return -1;
    return (int)(100 * decided / all);
}

/* Rows about 50 corners, in turn and mixed: a block meets near ones at once, or after some tiles. Seen: 16 and 60 %. */
TEST_ON_CUDA(products_rule_out_most_pairs)
{
    enum { N = 1000, D = 12, CORNERS = 50 };
    float x[N * D], mixed[N * D];
    spot_ward_merge merge[2][N];
    spot_ward_job job[2] = { { .n = N, .d = D, .x = x, .merge = merge[0] }, { .n = N, .d = D, .x = mixed, .merge = merge[1] } };
    spot_ctx c;

    if (is_slow()) skip();
    open_cuda(&c, 0);
    lay_clusters(x, N, D, CORNERS, 10, 7);
    for (int i = 0; i < N; i++) memcpy(mixed + i * D, x + i * 387 % N * D, D * sizeof *x);
    assert_in_range(percent_decided(&c, &job[0], "1"), 1, 25);
    assert_in_range(percent_decided(&c, &job[1], "1"), 26, 75);
    assert_int_equal(percent_decided(&c, &job[0], NEVER), -1);
    spot_device_close(&c);
}

int main(void) { return run_ops(NULL, 0); }
