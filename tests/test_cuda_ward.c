/* test_cuda_ward.c - Ward's trees (kernels/fit/ward) and the nearest of many centres (kernels/map/centres): the CPU's bits; and
 * joinspot of more rows than its tree has. `ward`, `mistakes` and `joinspot` of few rows: test_cuda_bdm.c. */
#define _GNU_SOURCE   /* setenv */
#include "check_bdm.h"
#include "check_op.h"

#include "bdm/groups.h"
#include "stats/ward_trees.h"
#include "map/centres.h"
#include "noise.h"

/* Normal numbers, or integers below `values`: many rows are equal, and many distances. Some zeros are -0: rows at no distance
 * whose bytes differ. */
static float *numbers(size_t count, int values, int seed, int number)
{
    spot_rng r = noise_at((uint64_t)seed, number);
    float *x = normals(count, (uint64_t)seed, number);

    for (size_t e = 0; values && e < count; e++) {
        x[e] = (float)spot_rng_below(&r, (uint32_t)values);
        if (x[e] == 0 && e % 7 == 3) x[e] = -0.f;
    }
    return x;
}

/* -- Ward ---------------------------------------------------------------------------------------------------------------- */

enum { LINE = -1, UNIT = -2 };

/* rows, columns, values: edges of tiles, slabs and warps, one row, two rows, all rows equal, distances that grow (a pair each
 * round), distances that are all equal. */
static const int ward_sizes[][SPOT_OP_SIZES] = {
    { 200, 3, 3 }, { 1, 5, 0 }, { 65, 33, 0 }, { 2, 1, 0 }, { 129, 1, 400 }, { 64, 6, 2 }, { 40, 4, 1 }, { 40, 1, LINE },
    { 33, 33, UNIT }, { 2, 3, 1 }, { 130, 17, 0 }, { 63, 16, 0 },
};
enum { ROWS = 200, COLUMNS = 33 };

static void make_ward(spot_op_run *r, void *problem, const int *size)
{
    const int n = size[0], d = size[1];
    float *x = numbers((size_t)n * d, size[2] > 0 ? size[2] : 0, 6, r->number);
    spot_ward_job *j = problem;

    for (int e = 0; e < n * d && size[2] < 0; e++)
        x[e] = size[2] == UNIT ? e / d == e % d : (float)(e * (e + 1) / 2) * (1 + 0.001f * (float)e);
    *j = (spot_ward_job){ .n = n, .d = d };
    j->x = spot_op_given(r, x, (size_t)n * d * sizeof *x);
    j->merge = spot_op_out(r, "merges", SPOT_OP_INT, (size_t)(n - 1) * sizeof *j->merge / sizeof(int), 0);
    spot_op_told(r, "rounds", &j->rounds, SPOT_OP_INT, 1, 0);
}

static spot_status run_ward(spot_op_run *r, void *problems, int count)
{
    spot_arena *a;

    SPOT_TRY(spot_op_scratch(r, &a, spot_ward_scratch(r->problems, ROWS, COLUMNS, r->c->device ? 0 : r->c->threads)));
    SPOT_OP(r, spot_ward_fit(r->c, a, count, problems));
    return SPOT_OK;
}

/* The search by products on tensor cores, which otherwise serves many rows only. */
static spot_status run_sifted(spot_op_run *r, void *problems, int count)
{
    spot_status s;

    setenv("SPOT_WARD_SIFT", "1", 1);
    s = run_ward(r, problems, count);
    unsetenv("SPOT_WARD_SIFT");
    return s;
}

/* A tree: each merge takes two clusters that are there, the cheapest first. */
static spot_status check_ward(spot_op_run *r, void *problem)
{
    const spot_ward_job *j = problem;
    spot_ward_merge m[ROWS];
    int gone[ROWS] = { 0 };

    SPOT_TRY(spot_op_fetch(r, m, j->merge, (size_t)(j->n - 1) * sizeof *m));
    for (int k = 0; k < j->n - 1; k++) {
        assert_true(m[k].a >= 0 && m[k].a < m[k].b && m[k].b < j->n && !gone[m[k].b]++);
        assert_true(m[k].height >= (k ? m[k - 1].height : 0));
    }
    return SPOT_OK;
}

static const spot_op ward = { "ward", sizeof(spot_ward_job), make_ward, run_ward, check_ward, false };
static const spot_op sifted = { "sifted", sizeof(spot_ward_job), make_ward, run_sifted, check_ward, false };

/* -- the nearest centre -------------------------------------------------------------------------------------------------- */

/* rows, columns, centres, values: edges of tiles and slabs, one of each, no row, the most centres, equal distances. */
static const int nearest_sizes[][SPOT_OP_SIZES] = {
    { 1, 1, 1, 0 }, { 65, 7, 3, 2 }, { 64, 16, 64, 0 }, { 130, 33, 65, 0 }, { 0, 3, 5, 0 }, { 31, 17, 400, 3 },
    { 257, 5, SPOT_CENTRES_MOST, 0 }, { 20, 1, 129, 7 },
};

static void make_nearest(spot_op_run *r, void *problem, const int *size)
{
    const int n = size[0], d = size[1], k = size[2];
    spot_centres_problem *p = problem;

    *p = (spot_centres_problem){ .n = n, .d = d, .k = k };
    p->x = spot_op_given(r, numbers((size_t)n * d, size[3], 7, r->number), (size_t)n * d * sizeof(float));
    p->centre = spot_op_given(r, numbers((size_t)d * k, size[3], 8, r->number), (size_t)d * k * sizeof(float));
    p->label = spot_op_out(r, "labels", SPOT_OP_INT, (size_t)n, 0);
}

static spot_status run_nearest(spot_op_run *r, void *problems, int count)
{
    SPOT_OP(r, spot_centres_nearest(r->c, count, problems));
    return SPOT_OK;
}

static double square(const spot_centres_problem *p, const float *x, const float *centre, int i, int k)
{
    double sum = 0;

    for (int j = 0; j < p->d; j++) {
        double u = (double)x[i * p->d + j] - centre[j * p->k + k];
        sum += u * u;
    }
    return sum;
}

/* No centre is nearer than rounding; of equal ones the first. */
static spot_status check_nearest(spot_op_run *r, void *problem)
{
    const spot_centres_problem *p = problem;
    float *x = malloc((size_t)p->n * p->d * sizeof *x + 1), *centre = malloc((size_t)p->d * p->k * sizeof *centre);
    int *label = malloc((size_t)p->n * sizeof *label + 1);

    SPOT_TRY(spot_op_fetch(r, x, p->x, (size_t)p->n * p->d * sizeof *x));
    SPOT_TRY(spot_op_fetch(r, centre, p->centre, (size_t)p->d * p->k * sizeof *centre));
    SPOT_TRY(spot_op_fetch(r, label, p->label, (size_t)p->n * sizeof *label));
    for (int i = 0; i < p->n; i++) {
        double own = square(p, x, centre, i, label[i]);
        for (int k = 0; k < p->k; k++) {
            double other = square(p, x, centre, i, k);
            assert_true(own <= other + 1e-5 * (1 + other));
            assert_true(k >= label[i] || own != other);
        }
    }
    free(x), free(centre), free(label);
    return SPOT_OK;
}

static const spot_op nearest = { "nearest", sizeof(spot_centres_problem), make_nearest, run_nearest, check_nearest, false };

/* ------------------------------------------------------------------------------------------------------------------------ */

enum { TREES = 35 };

/* Jobs of rows in host memory; the caller frees x and merge. */
static void make_trees(spot_ward_job *jobs)
{
    for (int q = 0; q < TREES; q++) {
        const int n = q == 20 ? 90 : 1 + q * 7 % 23;
        jobs[q] = (spot_ward_job){ .n = n, .d = 1 + q % 5, .x = normals((size_t)n * (size_t)(1 + q % 5), 10, q),
                                   .merge = calloc((size_t)n, sizeof *jobs->merge) };
    }
}

/* In the memory that was counted. */
static void fit_trees(spot_ctx *c, spot_ward_job *jobs)
{
    spot_arena host = spot_arena_counting(), work = host;

    CHECK_OK(c, spot_ward_trees(c, &host, &work, TREES, jobs));
    CHECK_OK(c, spot_arena_open(c, &host, host.peak));
    CHECK_OK(c, spot_arena_open_device(c, &work, work.peak));
    CHECK_OK(c, spot_ward_trees(c, &host, &work, TREES, jobs));
    assert_true(host.used == 0 && work.used == 0);
    spot_arena_close(&work);
    spot_arena_close(&host);
}

TEST_ON_CUDA(trees_of_rows_on_the_host_are_the_cpus)
{
    spot_ward_job got[TREES], want[TREES];
    spot_ctx cpu = check_ctx(2), c;

    open_cuda(&c, 2);
    make_trees(want), fit_trees(&cpu, want);
    make_trees(got), fit_trees(&c, got);
    for (int q = 0; q < TREES; q++) {
        assert_int_equal(got[q].rounds, want[q].rounds);
        assert_memory_equal(got[q].merge, want[q].merge, (size_t)want[q].n * sizeof *want->merge);
        free((float *)got[q].x), free(got[q].merge), free((float *)want[q].x), free(want[q].merge);
    }
    spot_device_close(&c);
}

/* More problems than a GPU takes together, each alone with what it has in a group; the largest are the last and the first. */
TEST_ON_CUDA(problems_go_in_groups)
{
    enum { PROBLEMS = SPOT_BDM_GROUP + 3, D = 3, N = 40 };
    static spot_hypotheses got[PROBLEMS], want[PROBLEMS];
    const spot_bdm_config cfg = spot_bdm_defaults(SPOT_WARD);
    spot_ctx cpu = check_ctx(2), c, *const on[] = { &cpu, &c };
    spot_points points[PROBLEMS];
    spot_view v[PROBLEMS];
    spot_seed seed[PROBLEMS];
    float *x = normals((size_t)PROBLEMS * N * D, 4, 4), confidence[N];
    int rows[PROBLEMS], sorted[SPOT_BDM_GROUP];
    spot_arena a[2];
    size_t most;

    open_cuda(&c, 0);
    for (int i = 0; i < N; i++) confidence[i] = 0.1f * (float)(i % 10);
    for (int q = 0; q < PROBLEMS; q++) {
        rows[q] = q == 0 || q == PROBLEMS - 1 ? N : 5 + q * 7 % 23;
        v[q] = (spot_view){ .n = rows[q], .d = D, .feature = x + (size_t)q * N * D, .confidence = confidence };
        points[q] = (spot_points){ .n = rows[q], .d = D, .at = v[q].feature };
        seed[q] = (spot_seed){ 1, (uint32_t)q };
    }
    for (int k = 0; k < 2; k++) {
        CHECK_OK(on[k], spot_arena_open(on[k], &a[k], spot_bdm_needs(on[k], PROBLEMS, rows, D, &cfg).host));
        if (k) note_takes(&c);
        CHECK_OK(on[k], spot_bdm_find(on[k], &a[k], PROBLEMS, k ? got : want, v, points, seed, &cfg));
    }
    most = spot_bdm_needs(&c, PROBLEMS, rows, D, &cfg).device;
    assert_true(noted > 0 && noted <= most && most < 2 * noted);
    assert_int_equal(spot_bdm_needs(&cpu, PROBLEMS, rows, D, &cfg).device, 0);
    for (int q = 0; q < PROBLEMS; q++) {
        assert_true(want[q].len > 0);
        check_same_hypotheses(&got[q], &want[q], 0);
    }
    /* The first and the last problem may meet. */
    for (int q = 0; q < SPOT_BDM_GROUP; q++) sorted[q] = rows[q ? q + 3 : 0];
    assert_true(spot_bdm_needs(&c, SPOT_BDM_GROUP, sorted, D, &cfg).device <= most);
    for (int k = 0; k < 2; k++) spot_arena_close(&a[k]);
    free(x);
    spot_device_close(&c);
}

enum { MANY = 4200, WIDE = 3 };      /* joinspot's tree has 4,096 rows */

/* Rows about three corners, in the first of which most fail. */
static spot_view corners(void)
{
    spot_view v = { .n = MANY, .d = WIDE, .feature = normals(MANY * WIDE, 9, 1), .confidence = malloc(MANY * sizeof(float)) };

    for (int i = 0; i < MANY; i++) {
        for (int j = 0; j < WIDE; j++) v.feature[i * WIDE + j] = 0.15f * v.feature[i * WIDE + j] + (j == i % 3 ? 2.f : 0.f);
        v.confidence[i] = i % 3 == 0 && i % 5 ? 0.1f : 0.97f;
    }
    return v;
}

static void find_slices(spot_ctx *c, spot_arena *a, spot_hypotheses *found, spot_fit *fit, const spot_view *v)
{
    const spot_points points = { .n = v->n, .d = v->d, .at = v->feature };
    const spot_bdm_config cfg = spot_bdm_defaults(SPOT_JOINSPOT);
    const spot_seed seed = { 1, 2 };

    CHECK_OK(c, spot_arena_open(c, a, spot_bdm_needs(c, 1, &v->n, v->d, &cfg).host));
    CHECK_OK(c, spot_bdm_fit(c, a, 1, found, fit, v, &points, &seed, &cfg));
}

/* The same slices, pieces and means. */
TEST_ON_CUDA(joinspot_of_a_sample_is_the_cpus)
{
    spot_ctx cpu = check_ctx(2), c;
    spot_hypotheses got, want;
    spot_fit fit[2] = { { 0 }, { 0 } };
    spot_arena a[2];
    spot_view v;

    if (is_slow()) skip();
    open_cuda(&c, 2);
    v = corners();
    find_slices(&cpu, &a[0], &want, &fit[0], &v);
    find_slices(&c, &a[1], &got, &fit[1], &v);
    assert_true(want.len == 1 && want.h[0].len > MANY / 3 - 20);
    check_same_hypotheses(&got, &want, 0);
    assert_int_equal(fit[0].count, fit[1].count);
    for (int k = 0; k < fit[0].count; k++) {
        const spot_fit_tensor *w = &fit[0].tensor[k], *g = &fit[1].tensor[k];
        size_t numbers = (size_t)w->rows * (size_t)(w->columns ? w->columns : 1);
        assert_true(g->rows == w->rows && g->columns == w->columns && g->type == w->type);
        assert_memory_equal(g->data, w->data, numbers * (w->type == SPOT_F64 ? sizeof(double) : sizeof(float)));
    }
    for (int q = 0; q < 2; q++) spot_fit_close(&fit[q]), spot_arena_close(&a[q]);
    free(v.feature), free(v.confidence);
    spot_device_close(&c);
}

TEST(what_breaks_a_contract_is_refused)
{
    spot_centres_problem p = { .n = 3, .d = 2, .k = SPOT_CENTRES_MOST + 1 };
    spot_ward_job job = { .n = 0, .d = 2 };
    spot_ctx c = check_ctx(1);
    spot_arena a = { 0 };

    CHECK_FAILS(&c, spot_centres_nearest(&c, 1, &p), SPOT_INVALID, "centres.sizes: 513 | 3 | 2");
    CHECK_FAILS(&c, spot_ward_fit(&c, &a, 1, &job), SPOT_INVALID, "ward.sizes: ward 0 | 0 | 2");
}

int main(void)
{
    static op_row rows[] = {      /* problems of `nearest`: more than go into one launch */
        OP_ROW(ward, ward_sizes, .step = 1),
        OP_ROW(sifted, ward_sizes, .step = 1),
        OP_ROW(nearest, nearest_sizes, .problems = 70, .again = 4, .step = 2),
    };

    return run_ops(rows, LEN(rows));
}
