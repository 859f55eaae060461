/* test_tree.c - decision trees against scikit-learn where no two cuts are equally good, and everywhere against a naive tree
 * with our rule for ties; bits for threads and batches. ctest: threads, both */
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "golden_file.h"
#include "spotter/forest.h"
#include "spotter/rng.h"

static spot_status fit(spot_ctx *c, spot_arena *a, int problems, spot_tree *t, const spot_mat *x, const uint8_t *const *y,
                       int depth)
{
    int n[8], d = 1;

    for (int p = 0; p < problems; p++) {
        n[p] = x[p].rows;
        if (x[p].cols > d) d = x[p].cols;
    }
    CHECK_OK(c, spot_arena_open(c, a, spot_tree_needs(c, problems, n, d, depth >= 1 && depth <= 30 ? depth : 1).host));
    return spot_tree_fit(c, a, problems, t, x, y, depth);
}

static double ones(const spot_tree *t, int k) { return t->sum[2 * k + 1]; }

/* A node's entropy in bits, as scikit-learn shows it. */
static double entropy(const spot_tree *t, int k, double weight)
{
    double a = t->sum[2 * k], b = weight * ones(t, k), w = a + b;

    return (a > 0 ? -a / w * log2(a / w) : 0) + (b > 0 ? -b / w * log2(b / w) : 0);
}

static void check_case(spot_ctx *c, FILE *f)
{
    int head[4];
    double weight;
    spot_arena a;
    spot_tree t;

    get(f, head, sizeof head);
    spot_mat x = { malloc((size_t)head[0] * head[1] * sizeof(float)), head[0], head[1] };
    uint8_t *y = malloc((size_t)head[0]);
    get(f, x.v, (size_t)x.rows * x.cols * sizeof(float));
    get(f, y, (size_t)x.rows);
    get(f, &weight, sizeof weight);
    CHECK_OK(c, fit(c, &a, 1, &t, &x, (const uint8_t *const *)&y, head[2]));
    assert_int_equal(t.nodes, head[3]);
    assert_true(t.leaves == (t.nodes + 1) / 2);
    CHECK_NEAR(t.sum[0] / ones(&t, 0), weight, 1e-15 * weight);
    for (int k = 0; k < t.nodes; k++) {
        int want[4];
        double value[4];
        get(f, want, sizeof want);
        get(f, value, sizeof value);
        assert_int_equal(t.node[k].feature, want[0]);
        assert_int_equal(t.node[k].left, want[1]);
        assert_int_equal(t.node[k].right, want[2]);
        assert_int_equal(t.node[k].rows, want[3]);
        assert_true(t.node[k].threshold == value[0]);
        CHECK_NEAR(t.sum[2 * k], value[1], 1e-9);
        assert_true(t.sum[2 * k] + ones(&t, k) == t.node[k].rows);
        CHECK_NEAR(weight * ones(&t, k), value[2], 1e-8);
        CHECK_NEAR(entropy(&t, k, weight), value[3], 1e-9);
    }
    for (int i = 0; i < x.rows; i++) {
        int leaf;
        get(f, &leaf, sizeof leaf);
        assert_int_equal(spot_tree_leaf(&t, x.v + (size_t)i * x.cols), leaf);
    }
    spot_arena_close(&a);
    free(x.v), free(y);
}

TEST(agrees_with_scikit_learn)
{
    spot_ctx c = check_ctx(2);
    FILE *f = fopen("golden/tree.bin", "rb");
    int cases;
    assert_non_null(f);
    get(f, &cases, sizeof cases);
    assert_true(cases >= 6);
    for (int k = 0; k < cases; k++) check_case(&c, f);
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
}

/* Every cut of every column of a node's rows, depth first: by counting, without orders. */
typedef struct { spot_mat x; const uint8_t *y; const spot_tree *t; int next, depth; double weight; } naive;

static double half(double zeros, double ones, double weight)
{
    double b = weight * ones, w = zeros + b;

    return (zeros > 0 ? -zeros * log(zeros / w) : 0) + (b > 0 ? -b * log(b / w) : 0);
}

static int by_value(const void *a, const void *b)
{
    return *(const float *)a < *(const float *)b ? -1 : *(const float *)a > *(const float *)b;
}

/* The price of the cut that the tree has made is the least, and no column before it, nor a lower cut of its own, has it. */
static void check_node(naive *v, const int *row, int rows, int level)
{
    const spot_tree_node *k = &v->t->node[v->next];
    double held = ones(v->t, v->next++);
    int all = 0, *left = malloc(rows * sizeof *left), *right = malloc(rows * sizeof *right), lefts = 0, rights = 0;
    float *value = malloc((size_t)rows * sizeof *value);
    double best = INFINITY, threshold = 0;
    int feature = -1;

    for (int i = 0; i < rows; i++) all += v->y[row[i]];
    assert_true(k->rows == rows && held == all);
    for (int f = 0; f < v->x.cols && all && all < rows && level < v->depth; f++) {
        for (int i = 0; i < rows; i++) value[i] = v->x.v[row[i] * v->x.cols + f];
        qsort(value, (size_t)rows, sizeof *value, by_value);
        for (int at = 1; at < rows; at++) {
            double below[2] = { 0 }, above[2] = { 0 }, price;
            if (!(value[at] > value[at - 1] + 1e-7f)) continue;
            for (int i = 0; i < rows; i++)
                (v->x.v[row[i] * v->x.cols + f] < value[at] ? below : above)[v->y[row[i]]]++;
            price = half(below[0], below[1], v->weight) + half(above[0], above[1], v->weight);
            if (price < best - 1e-9) {
                best = price;
                feature = f;
                threshold = ((double)value[at - 1] + value[at]) / 2;
            }
        }
    }
    assert_int_equal(k->feature, feature);
    if (feature >= 0) {
        assert_true(k->threshold == threshold && k->left == v->next);
        for (int i = 0; i < rows; i++)
            if (v->x.v[row[i] * v->x.cols + feature] <= threshold) left[lefts++] = row[i];
            else right[rights++] = row[i];
        check_node(v, left, lefts, level + 1);
        assert_int_equal(k->right, v->next);
        check_node(v, right, rights, level + 1);
    }
    free(left), free(right), free(value);
}

TEST(is_the_naive_tree)
{
    enum { N = 150, D = 7 };
    spot_ctx c = check_ctx(2);
    for (uint32_t seed = 0; seed < 20; seed++) {
        static float v[N * D];
        uint8_t y[N];
        const uint8_t *ys[] = { y };
        int row[N], n = seed ? N - 7 * (int)seed : 2, depth = 1 + (int)seed % 12;
        spot_rng r = spot_rng_at(seed, SPOT_RNG_BOOTSTRAP, 0, 0);
        spot_mat x = { v, n, 1 + (int)seed % D };
        spot_arena a;
        spot_tree t;
        for (int i = 0; i < n; i++) {
            row[i] = i;
            y[i] = spot_rng_below(&r, 3) == 0;
            for (int j = 0; j < x.cols; j++) {
                float z = (float)spot_rng_normal(&r), steps = roundf(2 * z) + (float)y[i], close = 1 + 1e-7f * roundf(9 * z);
                v[i * x.cols + j] = j % 3 == 0 ? fmaxf(0, z) : j % 3 == 1 ? steps : close;
            }
        }
        CHECK_OK(&c, fit(&c, &a, 1, &t, &x, ys, depth));
        naive all = { x, y, &t, 0, depth, ones(&t, 0) > 0 && t.sum[0] > 0 ? t.sum[0] / ones(&t, 0) : 1 };
        check_node(&all, row, n, 0);
        assert_int_equal(all.next, t.nodes);
        spot_arena_close(&a);
    }
}

/* Column 1 is column 0 and column 2 its mirror image: all cuts of all three tie. */
TEST(ties_go_to_the_lowest)
{
    spot_ctx c = check_ctx(1);
    float v[6 * 3], cut[] = { 1, 2, 3, 4, 5, 6 };
    uint8_t y[] = { 1, 0, 0, 0, 0, 1 };
    const uint8_t *ys[] = { y };
    spot_mat x = { v, 6, 3 };
    spot_arena a;
    spot_tree t;
    for (int i = 0; i < 6; i++) { v[3 * i] = v[3 * i + 1] = cut[i]; v[3 * i + 2] = 7 - cut[i]; }
    CHECK_OK(&c, fit(&c, &a, 1, &t, &x, ys, 2));
    assert_true(t.node[0].feature == 0 && t.node[0].threshold == 1.5 && t.nodes == 5 && t.leaves == 3);
    assert_true(t.node[1].feature == -1 && ones(&t, 1) == 1 && t.node[2].threshold == 5.5);
    spot_arena_close(&a);
}

TEST(nothing_to_cut)
{
    spot_ctx c = check_ctx(1);
    float same[] = { 3, 3, 3, 3 }, apart[] = { 1, 2, 3, 4 }, near[] = { 1, 1.0000001f, 1, 1.0000001f };
    uint8_t mixed[] = { 0, 1, 0, 1 }, none[4] = { 0 }, all[] = { 1, 1, 1, 1 };
    const struct { float *v; uint8_t *y; int n; } cases[] = { { same, mixed, 4 }, { apart, none, 4 }, { apart, all, 4 },
                                                              { apart, mixed, 1 }, { near, mixed, 4 } };
    for (int k = 0; k < LEN(cases); k++) {
        spot_mat x = { cases[k].v, cases[k].n, 1 };
        const uint8_t *y = cases[k].y;
        spot_arena a;
        spot_tree t;
        CHECK_OK(&c, fit(&c, &a, 1, &t, &x, &y, 11));
        assert_true(t.nodes == 1 && t.leaves == 1 && t.node[0].feature == -1 && t.node[0].rows == x.rows);
        assert_int_equal(spot_tree_leaf(&t, x.v), 0);
        spot_arena_close(&a);
    }
}

TEST(bits_depend_on_neither_threads_nor_batch)
{
    enum { N = 400, D = 9, PROBLEMS = 4 };
    static float v[N * D];
    static uint8_t y[N];
    const uint8_t *ys[PROBLEMS] = { y, y, y, y };
    spot_mat x[PROBLEMS] = { { v, N, D }, { v, 11, 5 }, { v, 1, D }, { v, 200, 3 } };
    spot_rng r = spot_rng_at(3, SPOT_RNG_BOOTSTRAP, 0, 0);
    spot_arena first[PROBLEMS];
    spot_tree alone[PROBLEMS];
    spot_ctx one = check_ctx(1);
    for (int i = 0; i < N * D; i++) v[i] = fmaxf(0, (float)spot_rng_normal(&r));
    for (int i = 0; i < N; i++) y[i] = spot_rng_below(&r, 3) == 0;
    for (int p = 0; p < PROBLEMS; p++) CHECK_OK(&one, fit(&one, &first[p], 1, &alone[p], &x[p], ys, 30));
    for (int threads = 1; threads <= 3; threads++) {
        spot_ctx c = check_ctx(threads);
        spot_tree t[PROBLEMS];
        spot_arena a;
        CHECK_OK(&c, fit(&c, &a, PROBLEMS, t, x, ys, 30));
        for (int p = 0; p < PROBLEMS; p++) {
            assert_int_equal(t[p].nodes, alone[p].nodes);
            for (int k = 0; k < t[p].nodes; k++) {
                const spot_tree_node *got = &t[p].node[k], *want = &alone[p].node[k];
                assert_true(got->feature == want->feature && got->left == want->left && got->right == want->right &&
                            got->rows == want->rows && ones(&t[p], k) == ones(&alone[p], k) &&
                            got->threshold == want->threshold);
            }
        }
        spot_arena_close(&a);
    }
    for (int p = 0; p < PROBLEMS; p++) spot_arena_close(&first[p]);
}

TEST(bad_input_gets_a_sentence)
{
    spot_ctx c = check_ctx(1);
    float v[] = { 1, 2, 3, NAN };
    uint8_t y[] = { 0, 1 }, wrong[] = { 0, 2 };
    const uint8_t *ys = y, *wrongs = wrong;
    spot_mat x = { v, 2, 2 }, good = { v, 2, 1 };
    volatile sig_atomic_t stop = 1;
    spot_arena a;
    spot_tree t;
    CHECK_FAILS(&c, fit(&c, &a, 1, &t, &x, &ys, 3), SPOT_INPUT, "tree.value: row 1 | column 1 | nan");
    spot_arena_close(&a);
    CHECK_FAILS(&c, fit(&c, &a, 1, &t, &good, &wrongs, 3), SPOT_INVALID, "tree.outcome: outcome 2 | row 1");
    spot_arena_close(&a);
    CHECK_FAILS(&c, fit(&c, &a, 1, &t, &good, &ys, 31), SPOT_INVALID, "tree.depth: depth 31");
    spot_arena_close(&a);
    CHECK_FAILS(&c, fit(&c, &a, 1, &t, &good, &ys, 0), SPOT_INVALID, "tree.depth: depth 0");
    spot_arena_close(&a);
    c.stop = &stop;
    CHECK_FAILS(&c, fit(&c, &a, 1, &t, &good, &ys, 3), SPOT_STOPPED, "run.stopped");
    spot_arena_close(&a);
}
