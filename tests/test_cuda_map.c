/* test_cuda_map.c - ops of kernels/map: distances, principal components, neighbours and their probabilities, UMAP.
 * ctest: threads, ctest: long */
#define _GNU_SOURCE   /* setenv */
#include "check_op.h"

#include "map/umap.h"
#include "noise.h"
#include "op_pairs.h"

/* Edges of warps, tiles and panels, one row, nothing at all. */
static const int distance_sizes[][SPOT_OP_SIZES] = {
    { 1, 1, 1 },    { 31, 33, 7 },  { 33, 31, 16 },  { 0, 5, 3 },  { 5, 0, 3 },      { 3, 4, 0 }, { 257, 65, 17 },
    { 64, 255, 33 }, { 8, 32, 256 }, { 9, 33, 257 }, { 31, 70, 7 }, { 100, 45, 600 }, { 0, 4, 3 }, { 20, 20, 9, 1 },
};

/* 64 problems have four of each of these, and empty ones: enough for wide tiles, with their edges. */
static const int wide_sizes[16][SPOT_OP_SIZES] = { { 250, 380, 5 }, { 129, 128, 17 }, { 3, 2, 1 } };

/* Edges of tiles, slabs and blocks, one row, one column, more columns than rows. */
static const int pca_sizes[][SPOT_OP_SIZES] = {
    { 50, 7, 3 }, { 4, 1, 1 }, { 33, 64, 2 }, { 17, 65, 5 }, { 300, 130, 2 }, { 64, 3, 3 }, { 5, 40, 4 },
};

static const int pair_sizes[][SPOT_OP_SIZES] = { { 33, 7, 32 }, { 6, 3, 2 }, { 130, 5, 17 }, { 64, 1, 3 } };

/* -- neighbours of distances that are ties and far --------------------------------------------------------------------- */

/* rows, columns, neighbours, own, how many distances differ: edges of warps, one row, no row, all columns. */
static const int nearest_sizes[][SPOT_OP_SIZES] = {
    { 1, 2, 1, 0, 9 },       { 31, 33, 7, -1, 5 },     { 33, 33, 32, 0, 1000000 }, { 0, 5, 3, -1, 1 },
    { 17, 70, 64, 53, 1 },   { 65, 257, 91, 100, 3 },  { 20, 255, 31, -1, 1000000 },
};

static void make_nearest(spot_op_run *r, void *problem, const int *size)
{
    spot_op_pair *p = problem;
    int rows = size[0], k = size[2];
    size_t n = (size_t)rows * size[1], kept = (size_t)rows * k;
    spot_rng rng = noise_at(4, r->number);
    float *d = malloc(n * sizeof *d + 1);

    for (size_t e = 0; e < n; e++) {
        d[e] = (float)spot_rng_below(&rng, (uint32_t)size[4]) * 3e-3f;
        if (e % 41 == 5 && size[4] > 1) d[e] = SPOT_FAR;
    }
    p->x.rows = size[1];          /* what scratch is for */
    p->near = (spot_mat){ spot_op_out(r, "distances", SPOT_OP_FLOAT, kept, 0), rows, k };
    p->p = (spot_mat){ spot_op_out(r, "conditional P", SPOT_OP_FLOAT, kept, 1e-5), rows, k };
    p->search = (spot_affinity_search){ { spot_op_given(r, d, n * sizeof *d), rows, size[1] }, size[3],
                                        spot_op_out(r, "columns", SPOT_OP_INT, kept, 0), p->near };
    p->rule = (spot_affinity_rule){ log(fmax(k / 3.0, 1)), 1e-5, r->number % 3 == 2 ? 3 : 50 };
}

static spot_status run_nearest(spot_op_run *r, void *problems, int count)
{
    spot_op_pair *p = problems;
    spot_arena *a;

    SPOT_TRY(spot_op_scratch(r, &a, (size_t)r->c->threads * 257 * sizeof(uint64_t)));
    SPOT_OP(r, spot_affinity_nearest(r->c, count, SPOT_OP_ALL(r, p, search, count), (void *)a->base));
    SPOT_OP(r, spot_affinity_rows(r->c, count, SPOT_OP_ALL(r, p, p, count), SPOT_OP_ALL(r, p, near, count),
                                  SPOT_OP_ALL(r, p, rule, count)));
    return SPOT_OK;
}

static const spot_op nearest = { "nearest", sizeof(spot_op_pair), make_nearest, run_nearest, NULL, false };

/* -- the nearest of long rows ------------------------------------------------------------------------------------------- */

enum { IN_ANY_ORDER, RISING, FALLING, CLUSTERED, ODD, APART };

/* rows, columns, neighbours, own, how many distances differ, their order, floats before the first row: a block reads 4,096
 * columns at a time, in fours that rows of other lengths shift; it keeps 256 to 1,024 of them, and more than 512 neighbours are
 * found in another way. Falling rows are the worst: each column is nearer than all before it. */
static const int long_sizes[][SPOT_OP_SIZES] = {
    { 3, 9001, 15, -1, 1000000, IN_ANY_ORDER, 1 }, { 2, 9002, 91, 4, 1000000, FALLING, 0 },
    { 2, 5003, 15, 5000, 1000000, RISING, 3 },     { 3, 4096, 256, -1, 7, IN_ANY_ORDER, 0 },
    { 1, 4101, 257, 4100, 1000000, FALLING, 2 },   { 2, 1500, 512, -1, 3, IN_ANY_ORDER, 1 },
    { 2, 1500, 513, 700, 3, IN_ANY_ORDER, 1 },     { 1, 700, 699, 350, 1000000, FALLING, 2 },
    { 1, 513, 512, 2, 40, IN_ANY_ORDER, 0 },       { 2, 6000, 40, 17, 1, IN_ANY_ORDER, 1 },
    { 3, 8195, 30, 5, 1000000, CLUSTERED, 0 },     { 4, 2000, 20, 1, 1000, ODD, 3 },
    { 9, 2, 1, -1, 1000000, FALLING, 0 },          { 7, 9, 8, 2, 2, IN_ANY_ORDER, 1 },
    { 3, 260, 255, 257, 1000000, FALLING, 0 },     { 5, 1, 1, -1, 9, IN_ANY_ORDER, 1 },
    { 2, 3000, 33, 4, 1000, APART, 0 },            { 1, 4400, 91, -1, 1000, APART, 0 },
};

/* Distance number e of a row in the order that `size` names. ODD: some are infinite, and some no number. APART: no two of the
 * nearest, a row's own column among them, are one thread's; without such a column the last is column 1, as no other is. */
static float ordered(const int *size, int e, uint32_t random)
{
    const int m = size[1];

    switch (size[5]) {
    case RISING:    return (float)e;
    case FALLING:   return (float)(m - e);
    case CLUSTERED: return (float)(e * 7 / m == 5 ? random % 1000 : 2000 + random % 100000);
    case APART:     return (float)(e == 1 && size[3] < 0 ? 4 * size[2] - 6 : e % 4 ? 100000 + (int)random : e);
    case ODD:       return random % 3 == 0 ? INFINITY : random % 3 == 1 ? NAN : (float)(random % 700);
    default:        return (float)random * 3e-3f;
    }
}

static void make_long(spot_op_run *r, void *problem, const int *size)
{
    spot_affinity_search *s = problem;
    const int rows = size[0], m = size[1], k = size[2], shift = size[6];
    const size_t n = (size_t)rows * (size_t)m;
    spot_rng rng = noise_at(6, r->number);
    float *d = malloc(((size_t)shift + n) * sizeof *d), *given;

    for (int e = 0; e < shift; e++) d[e] = 0;
    for (size_t e = 0; e < n; e++)
        d[(size_t)shift + e] = ordered(size, (int)(e % (size_t)m), spot_rng_below(&rng, (uint32_t)size[4]));
    given = spot_op_given(r, d, ((size_t)shift + n) * sizeof *d);
    *s = (spot_affinity_search){ { given + shift, rows, m }, size[3],
                                 spot_op_out(r, "columns", SPOT_OP_INT, (size_t)rows * (size_t)k, 0),
                                 { spot_op_out(r, "distances", SPOT_OP_FLOAT, (size_t)rows * (size_t)k, 0), rows, k } };
}

static spot_status run_long(spot_op_run *r, void *problems, int count)
{
    spot_arena *a;

    SPOT_TRY(spot_op_scratch(r, &a, (size_t)r->c->threads * 9002 * sizeof(uint64_t)));
    SPOT_OP(r, spot_affinity_nearest(r->c, count, problems, (void *)a->base));
    return SPOT_OK;
}

/* Beside the CPU's own search: columns rise, each has its distance, and none left out is nearer than the last. */
static spot_status check_long(spot_op_run *r, void *problem)
{
    const spot_affinity_search *s = problem;
    const size_t n = (size_t)s->d.rows * (size_t)s->d.cols, kept = (size_t)s->near.rows * (size_t)s->near.cols;
    float *d = malloc(n * sizeof *d), *near = malloc(kept * sizeof *near);
    int *column = malloc(kept * sizeof *column);

    SPOT_TRY(spot_op_fetch(r, d, s->d.v, n * sizeof *d));
    SPOT_TRY(spot_op_fetch(r, near, s->near.v, kept * sizeof *near));
    SPOT_TRY(spot_op_fetch(r, column, s->column, kept * sizeof *column));
    for (int i = 0; i < s->d.rows; i++) {
        const float *row = d + (size_t)i * (size_t)s->d.cols;
        const int k = s->near.cols, *at = column + (size_t)i * (size_t)k, own = s->own < 0 ? -1 : s->own + i;
        uint32_t last = 0;
        int found = 0;

        for (int e = 0; e < k; e++) {
            uint32_t bits;
            assert_true(at[e] > (e ? at[e - 1] : -1) && at[e] < s->d.cols && at[e] != own);
            assert_memory_equal(&near[(size_t)i * (size_t)k + (size_t)e], &row[at[e]], sizeof *row);
            memcpy(&bits, &row[at[e]], sizeof bits);
            last = bits > last ? bits : last;
        }
        for (int j = 0; j < s->d.cols; j++) {
            uint32_t bits;
            memcpy(&bits, &row[j], sizeof bits);
            if (found < k && at[found] == j) found++;
            else if (j != own) assert_true(bits >= last);
        }
        assert_int_equal(found, k);
    }
    free(d), free(near), free(column);
    return SPOT_OK;
}

static const spot_op nearest_long = { "nearest_of_long_rows", sizeof(spot_affinity_search), make_long, run_long, check_long,
                                      false };

/* -- joint P ------------------------------------------------------------------------------------------------------------ */

/* points, neighbours, hub (all name the first columns): two points, everybody names everybody, more rows than a block. */
static const int joint_sizes[][SPOT_OP_SIZES] = { { 2, 1, 0 }, { 33, 32, 0 }, { 70, 3, 1 }, { 257, 17, 0 }, { 31, 5, 1 } };

/* k columns of n but for the row itself, rising, and random p. */
static void make_joint(spot_op_run *r, void *problem, const int *size)
{
    spot_affinity_graph *g = problem;
    int n = size[0], k = size[1], *column = malloc((size_t)n * k * sizeof *column);
    size_t room = spot_affinity_room(n, k), edges = (size_t)n * k;
    float *p = malloc(edges * sizeof *p);
    spot_rng rng = noise_at(5, r->number);

    for (int i = 0; i < n; i++)
        for (int j = 0, found = 0; found < k; j++) {
            int left = n - j - (i >= j), missing = k - found;
            if (j == i || (!size[2] && (int)spot_rng_below(&rng, (uint32_t)left) >= missing)) continue;
            column[i * k + found] = j;
            p[i * k + found++] = (float)spot_rng_uniform(&rng) / k;
        }
    *g = (spot_affinity_graph){ .n = n, .k = k, .fuzzy = r->number % 2,
                                .column = spot_op_given(r, column, edges * sizeof *column),
                                .p = spot_op_given(r, p, edges * sizeof *p),
                                .start = spot_op_out(r, "start", SPOT_OP_INT, (size_t)n + 1, 0),
                                .to = spot_op_out(r, "to", SPOT_OP_INT, room, 0),
                                .joint = spot_op_out(r, "joint P", SPOT_OP_FLOAT, room, 1e-5),
                                .begin = spot_op_room(r, ((size_t)n + 2) * sizeof(int)),
                                .edge = spot_op_room(r, edges * sizeof(int)) };
}

static spot_status run_joint(spot_op_run *r, void *problems, int count)
{
    SPOT_OP(r, spot_affinity_joint(r->c, count, problems));
    return SPOT_OK;
}

static const spot_op joint = { "joint", sizeof(spot_affinity_graph), make_joint, run_joint, NULL, false };

/* -- UMAP --------------------------------------------------------------------------------------------------------------- */

/* Rows of distances: few and many neighbours, one row of equals alone, one with some equals, spread over six decades. */
static const int strength_sizes[][SPOT_OP_SIZES] = { { 1, 1 }, { 129, 14 }, { 40, 9 }, { 5, 999 }, { 128, 2 } };

static void make_strengths(spot_op_run *r, void *problem, const int *size)
{
    size_t rows = (size_t)size[0], k = (size_t)size[1];
    spot_rng rng = noise_at(4, r->number);
    float *near = malloc(rows * k * sizeof *near);

    for (size_t e = 0; e < rows * k; e++) {
        size_t row = e / k;
        near[e] = row % 7 == 3 || (row % 7 == 4 && e % 3 == 0) ? 0 : (float)exp(7 * spot_rng_normal(&rng) + (double)(row % 5));
    }
    *(spot_umap_row *)problem = (spot_umap_row){ { spot_op_given(r, near, rows * k * sizeof *near), size[0], size[1] },
                                                 spot_op_out(r, "strengths", SPOT_OP_FLOAT, rows * k, 0),
                                                 spot_op_out(r, "rho", SPOT_OP_FLOAT, rows, 0),
                                                 spot_op_out(r, "sigma", SPOT_OP_FLOAT, rows, 0) };
}

static spot_status run_strengths(spot_op_run *r, void *problems, int count)
{
    SPOT_OP(r, spot_umap_strengths(r->c, count, problems));
    return SPOT_OK;
}

static spot_status check_strengths(spot_op_run *r, void *problem)
{
    const spot_umap_row *p = problem;
    size_t edges = (size_t)p->near.rows * p->near.cols;
    float *strength = malloc(edges * sizeof *strength);

    SPOT_TRY(spot_op_fetch(r, strength, p->p, edges * sizeof *strength));
    for (size_t e = 0; e < edges; e++) assert_true(strength[e] >= 0 && strength[e] <= 1);
    free(strength);
    return SPOT_OK;
}

static const spot_op strengths = { "umap_strengths", sizeof(spot_umap_row), make_strengths, run_strengths, check_strengths,
                                   false };

/* points, dimensions, length of a row, negatives, steps: one point; hubs; dimensions with and without a kernel of their own;
 * negatives that fill their blocks of random words or do not; layouts that end before others. */
static const int descent_sizes[][SPOT_OP_SIZES] = {
    { 1, 2, 16, 5, 9 }, { 33, 2, 16, 5, 9 }, { 129, 2, 48, 4, 9 }, { 40, 1, 32, 1, 9 }, { 64, 3, 16, 0, 4 },
    { 50, 5, 16, 7, 9 }, { 17, 8, 160, 5, 9 },
};

/* Rows of the graph are whole multiples of 16 long. */
static void make_descent(spot_op_run *r, void *problem, const int *size)
{
    spot_umap_layout *u = problem;
    int n = size[0], dim = size[1], length = size[2], *start = malloc((size_t)(n + 1) * sizeof *start);
    int *to = malloc((size_t)n * length * sizeof *to), *order = malloc((size_t)n * sizeof *order);
    float *weight = malloc((size_t)n * length * sizeof *weight), *y = malloc((size_t)n * dim * sizeof *y);
    spot_rng rng = noise_at(5, r->number);

    *u = (spot_umap_layout){ .n = n, .dim = dim, .steps = size[4], .seed = 5, .ec = (uint32_t)r->number, .a = 1.58f, .b = 0.9f,
                             .lr = 1, .scale = 0.5f, .negatives = size[3] };
    start[0] = 0;
    for (int i = 0; i < n; i++) {
        int here = i % 3 ? length : length / 32 * 16;
        order[i] = (int)((i * 7919u + 3) % (unsigned)n);
        for (int e = start[i]; e < start[i] + here; e++) {
            to[e] = (int)spot_rng_below(&rng, (uint32_t)n);
            weight[e] = e % 5 == 0 ? 0 : (float)spot_rng_uniform(&rng);
        }
        start[i + 1] = start[i] + here;
    }
    for (int e = 0; e < n * dim; e++) y[e] = e % 11 == 0 ? 1 : (float)(3 * spot_rng_normal(&rng));
    u->to = spot_op_given(r, to, (size_t)start[n] * sizeof *to);
    u->weight = spot_op_given(r, weight, (size_t)start[n] * sizeof *weight);
    u->order = spot_op_given(r, order, (size_t)n * sizeof *order);
    u->start = spot_op_given(r, start, (size_t)(n + 1) * sizeof *start);
    for (int k = 0; k < 2; k++)
        u->y[k] = spot_op_both(r, k ? "map of odd steps" : "map of even steps", k ? NULL : y, SPOT_OP_FLOAT,
                               (size_t)n * dim, 0);
    free(y);
}

/* The CPU goes in two parts. */
static spot_status run_descent(spot_op_run *r, void *problems, int count)
{
    int first = r->c->device ? 9 : 5;

    SPOT_OP(r, spot_umap_advance(r->c, count, problems, 0, first));
    if (first < 9) SPOT_OP(r, spot_umap_advance(r->c, count, problems, first, 9 - first));
    return SPOT_OK;
}

static const spot_op descent = { "umap_descent", sizeof(spot_umap_layout), make_descent, run_descent, NULL, false };

/* -- what is refused ---------------------------------------------------------------------------------------------------- */

TEST(shapes_that_do_not_fit_are_refused)
{
    spot_ctx c = check_ctx(1);
    float v[12] = { 0 }, p[4], rho[2], sigma[2];
    double mean[2], cov[4];
    spot_mat a = { v, 3, 2 }, b = { v, 2, 3 }, d = { v, 3, 2 };
    spot_pca_problem pca = { .n = 2, .d = 2, .kept = 3, .x = v, .mean = mean, .cov = cov };
    spot_umap_row row = { { v, 2, 0 }, p, rho, sigma };
    spot_umap_layout u = { .n = 3, .dim = 33, .steps = 1 };

    CHECK_FAILS(&c, spot_distance_squared(&c, 1, &d, &a, &b), SPOT_INVALID, "distance.sizes: 3 | 2 | 2 | 3");
    CHECK_FAILS(&c, spot_pca_project(&c, 1, &pca), SPOT_INVALID, "pca.project_sizes: 3");
    pca.n = 0;
    CHECK_FAILS(&c, spot_pca_covariance(&c, 1, &pca), SPOT_INVALID, "pca.covariance_sizes: 0 | 2");
    CHECK_FAILS(&c, spot_umap_strengths(&c, 1, &row), SPOT_INVALID, "umap.strengths_sizes: 2 | 0");
    CHECK_FAILS(&c, spot_umap_advance(&c, 1, &u, 0, 1), SPOT_INVALID, "umap.advance_sizes: 33");
}

TEST_ON_CUDA(auto_takes_cuda_when_it_has_every_family)
{
    spot_ctx c;

    open_cuda(&c, 0);
#define X(family) assert_non_null(c.ops->family);
    SPOT_OP_FAMILIES(X)
#undef X
    spot_device_close(&c);
    CHECK_OK(&c, spot_device_open(&c, "auto"));
    assert_string_not_equal(spot_device_name(&c), "cpu");
    spot_device_close(&c);
}

int main(void)
{
    static op_row rows[] = {      /* problems: more than go into one launch */
        OP_ROW(spot_op_distance, distance_sizes, .step = 1),
        OP_ROW(spot_op_distance, wide_sizes, .problems = 64, .alone_step = 5),
        OP_ROW(spot_op_pca, pca_sizes, .problems = 45),
        OP_ROW(spot_op_pairs, pair_sizes, .problems = 85, .again = 2),
        OP_ROW(nearest, nearest_sizes, .alone_step = 1),
        OP_ROW(nearest_long, long_sizes, .step = 2),
        OP_ROW(joint, joint_sizes, .alone_step = 1),
        OP_ROW(strengths, strength_sizes, .problems = 33),
        OP_ROW(descent, descent_sizes, .problems = 33),
    };

    return run_ops(rows, LEN(rows));
}
