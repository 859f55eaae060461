/* test_forest.c - trees, forests, AdaBoost and TreeSHAP against scikit-learn and shap (golden/forest.bin, which
 * tools/golden/forest.py describes), files, and what is refused. ctest: threads, both */
#define _GNU_SOURCE   /* mkstemp */
#include "checks.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/safetensors.h"
#include "golden_file.h"
#include "noise.h"
#include "spotter/forest.h"

static FILE *golden;

static int get_int(void)
{
    int v;

    get(golden, &v, sizeof v);
    return v;
}

static double get_double(void)
{
    double v;

    get(golden, &v, sizeof v);
    return v;
}

/* -- 1: trees ------------------------------------------------------------------------------------------------------------- */

static void check_tree_of(spot_ctx *c)
{
    int n = get_int(), d = get_int(), classes = get_int(), gini = get_int(), depth = get_int(), weighted = get_int();
    int nodes = get_int();
    float *x = read_new(golden, (size_t)n * d * sizeof *x);
    uint8_t *y = read_new(golden, (size_t)n);
    double *weight = weighted ? read_new(golden, (size_t)n * sizeof *weight) : NULL;
    spot_tree_config cfg = { gini ? SPOT_TREE_GINI : SPOT_TREE_ENTROPY, depth, 0 };
    spot_tree_table table = { .x = { x, n, d }, .y = y, .classes = classes };
    spot_tree_task task = { .weight = weight };
    spot_trees *trees;
    spot_arena a;
    spot_tree t;

    CHECK_OK(c, spot_arena_open(c, &a, spot_trees_needs(c, 1, &table).host +
                                           spot_trees_grow_needs(c, 1, &n, d, classes, &cfg).host));
    CHECK_OK(c, spot_trees_open(c, &a, &trees, 1, &table, &cfg));
    CHECK_OK(c, spot_trees_grow(c, &a, trees, 1, &t, &task));
    assert_int_equal(t.nodes, nodes);
    for (int k = 0; k < nodes; k++) {
        const spot_tree_node *node = &t.node[k];
        int feature = get_int(), left = get_int(), right = get_int(), rows = get_int();
        double threshold = get_double();
        assert_true(node->feature == feature && node->left == left && node->right == right && node->rows == rows);
        if (feature >= 0) assert_true(node->threshold == threshold);
        for (int j = 0; j < classes; j++) CHECK_NEAR(t.sum[k * classes + j], get_double(), 1e-12 * n);
    }
    spot_trees_close(trees);
    spot_arena_close(&a);
    free(x), free(y), free(weight);
}

/* -- 2: accuracies -------------------------------------------------------------------------------------------------------- */

enum { SPLITS = 10, SEEDS = 10 };

/* The mean accuracy over splits and seeds differs from scikit-learn's by no more than three standard errors; boosting draws
 * nothing, so each split has scikit-learn's accuracy, whose own differs by seed where cuts are equal. */
static void check_accuracies(spot_ctx *c)
{
    int n = get_int(), d = get_int(), classes = get_int(), splits = get_int(), train = get_int(), left = n - train;
    float *x = read_new(golden, (size_t)n * d * sizeof *x), *mine = malloc((size_t)splits * n * d * sizeof *x);
    uint8_t *y = read_new(golden, (size_t)n), *own = malloc((size_t)splits * n);
    int *order = read_new(golden, (size_t)splits * n * sizeof *order);
    double *share = malloc((size_t)left * classes * sizeof *share);
    uint8_t *cls = malloc((size_t)left);
    spot_forest_rows rows[SPLITS];
    spot_forest f[SPLITS];

    assert_int_equal(splits, SPLITS);
    for (int s = 0; s < splits; s++)
        for (int i = 0; i < n; i++) {
            memcpy(mine + ((size_t)s * n + i) * d, x + (size_t)order[s * n + i] * d, (size_t)d * sizeof *x);
            own[s * n + i] = y[order[s * n + i]];
        }
    for (int profile = 0; profile < SPOT_FOREST_PROFILES; profile++) {
        spot_forest_config cfg = spot_forest_defaults((spot_forest_profile)profile);
        double mean = get_double(), deviation = get_double(), got[SPLITS] = { 0 }, all = 0, between = 0, error;
        int count = get_int(), seeds = profile == SPOT_FOREST_BAGGED ? SANITIZED ? 1 : SEEDS : 1;
        for (int seed = 0; seed < seeds; seed++) {
            for (int s = 0; s < splits; s++)
                rows[s] = (spot_forest_rows){ { mine + (size_t)s * n * d, train, d }, own + s * n, classes,
                                              { (uint64_t)seed, (uint32_t)s }, NULL };
            CHECK_OK(c, spot_forest_fit(c, splits, f, rows, &cfg));
            for (int s = 0; s < splits; s++) {
                spot_mat rest = { mine + ((size_t)s * n + train) * d, left, d };
                CHECK_OK(c, spot_forest_shares(c, &f[s], rest, 0, share));
                spot_forest_classes(cls, share, left, classes);
                for (int i = 0; i < left; i++) got[s] += (cls[i] == own[s * n + train + i]) / (double)left / seeds;
                spot_forest_close(&f[s]);
            }
        }
        for (int s = 0; s < splits; s++) {
            double difference = got[s] - get_double();
            all += difference / splits;
            between += difference * difference;
        }
        /* the splits are the same on both sides, so differences by split are the sample */
        error = sqrt(fmax(between - splits * all * all, 0) / (splits - 1) / splits);
        print_message("profile %d: difference of accuracies %.4f, standard error %.4f, theirs %.4f (%.4f)\n", profile, all,
                      error, mean, deviation);
        assert_int_equal(count, SPLITS * SEEDS);
        CHECK_NEAR(all, 0, 3 * error + 1e-12);
        assert_true(error < 0.02);
    }
    free(x), free(mine), free(y), free(own), free(order), free(share), free(cls);
}

/* -- 3: boosting ---------------------------------------------------------------------------------------------------------- */

static void check_boosting(spot_ctx *c)
{
    int n = get_int(), m = get_int(), d = get_int(), classes = get_int(), samme = get_int(), rounds = get_int();
    float *x = read_new(golden, (size_t)(n + m) * d * sizeof *x);
    uint8_t *y = read_new(golden, (size_t)n);
    double *share = malloc((size_t)m * classes * sizeof *share);
    spot_forest_config cfg = spot_forest_defaults(samme ? SPOT_FOREST_SAMME : SPOT_FOREST_SAMME_R);
    double *weight = read_new(golden, (size_t)n * sizeof *weight);
    spot_forest_rows rows = { { x, n, d }, y, classes, { 0, 0 }, weight };
    spot_forest f;

    cfg.trees = rounds > 1 ? rounds : 50;
    CHECK_OK(c, spot_forest_fit(c, 1, &f, &rows, &cfg));
    assert_int_equal(f.trees, rounds);
    for (int t = 1; t <= rounds; t++) {
        CHECK_OK(c, spot_forest_shares(c, &f, (spot_mat){ x + (size_t)n * d, m, d }, t, share));
        for (int i = 0; i < m * classes; i++) CHECK_NEAR(share[i], get_double(), 1e-12);
    }
    spot_forest_close(&f);
    free(x), free(y), free(share), free(weight);
}

/* -- 4: TreeSHAP ---------------------------------------------------------------------------------------------------------- */

static spot_forest imported(spot_ctx *c, int *rows)
{
    int features = get_int(), classes = get_int(), trees = get_int(), nodes = get_int();
    spot_forest f;

    *rows = get_int();
    CHECK_OK(c, spot_forest_take(c, &f, features, classes, trees, nodes));
    get(golden, f.start, ((size_t)trees + 1) * sizeof(int));
    for (int i = 0; i < nodes; i++) f.node[i].feature = get_int();
    for (int i = 0; i < nodes; i++) f.node[i].left = get_int();
    for (int i = 0; i < nodes; i++) f.node[i].right = get_int();
    for (int i = 0; i < nodes; i++) f.node[i].threshold = get_double();
    for (int i = 0; i < nodes; i++) f.node[i].cover = get_double();
    get(golden, f.share, (size_t)nodes * classes * sizeof(double));
    CHECK_OK(c, spot_forest_check(c, &f, "golden"));
    return f;
}

/* Values and base within 1e-10 of shap's, shares as scikit-learn's, and the sum to 1e-9 by far. */
static void check_explained(spot_ctx *c)
{
    int rows;
    spot_forest f = imported(c, &rows);
    size_t values = (size_t)rows * f.features * f.classes;
    float *x = read_new(golden, (size_t)rows * f.features * sizeof *x);
    double *share = malloc((size_t)rows * f.classes * sizeof *share), *value = malloc(values * sizeof *value), base[3];

    CHECK_OK(c, spot_forest_shares(c, &f, (spot_mat){ x, rows, f.features }, 0, share));
    for (int i = 0; i < rows * f.classes; i++) CHECK_NEAR(share[i], get_double(), 1e-14);
    CHECK_OK(c, spot_forest_explain(c, &f, (spot_mat){ x, rows, f.features }, base, value));
    for (int k = 0; k < f.classes; k++) CHECK_NEAR(base[k], get_double(), 1e-12);
    for (size_t i = 0; i < values; i++) CHECK_NEAR(value[i], get_double(), 1e-10);
    spot_forest_close(&f);
    free(x), free(share), free(value);
}

TEST(agrees_with_scikit_learn_and_shap)
{
    spot_ctx c = check_ctx(2);
    int cases;

    golden = fopen("golden/forest.bin", "rb");
    assert_non_null(golden);
    cases = get_int();
    assert_true(cases >= 6);
    for (int i = 0; i < cases; i++) check_tree_of(&c);
    check_accuracies(&c);
    cases = get_int();
    assert_true(cases >= 5);
    for (int i = 0; i < cases; i++) check_boosting(&c);
    check_explained(&c);
    assert_int_equal(fgetc(golden), EOF);
    fclose(golden);
}

/* -- our own forests ------------------------------------------------------------------------------------------------------ */

enum { N = 120, D = 9, K = 3 };

static float x_of[N * D];
static uint8_t y_of[N];

/* Two of the columns decide, one is constant and one has few values. */
static spot_forest_rows some_rows(uint64_t seed)
{
    spot_rng r = noise_at(21, 0);

    for (int i = 0; i < N; i++) {
        float *x = x_of + i * D;
        for (int j = 0; j < D; j++) x[j] = (float)spot_rng_normal(&r);
        x[3] = 7;
        x[4] = roundf(x[4]);
        y_of[i] = (uint8_t)((x[0] + x[4] > -0.5f) + (x[0] - x[1] > 0.4f));
    }
    return (spot_forest_rows){ { x_of, N, D }, y_of, K, { seed, 2 }, NULL };
}

static bool same_forest(const spot_forest *a, const spot_forest *b)
{
    if (a->trees != b->trees || memcmp(a->start, b->start, ((size_t)a->trees + 1) * sizeof *a->start)) return false;
    for (int i = 0; i < a->start[a->trees]; i++) {
        const spot_forest_node *u = &a->node[i], *v = &b->node[i];
        if (u->threshold != v->threshold || u->cover != v->cover || u->feature != v->feature || u->left != v->left ||
            u->right != v->right)
            return false;
    }
    return !memcmp(a->share, b->share, (size_t)a->start[a->trees] * a->classes * sizeof *a->share);
}

TEST(bits_depend_on_neither_threads_nor_batch)
{
    spot_forest_config cfg = spot_forest_defaults(SPOT_FOREST_BAGGED);
    spot_forest_rows rows[3] = { some_rows(1), some_rows(2), some_rows(1) };
    static double value[2][N * D * K];
    double base[K];
    spot_forest alone, f[3];
    spot_ctx one = check_ctx(1);

    cfg.trees = 20;
    CHECK_OK(&one, spot_forest_fit(&one, 1, &alone, rows, &cfg));
    CHECK_OK(&one, spot_forest_explain(&one, &alone, rows->x, base, value[0]));
    for (int threads = 1; threads <= 3; threads++) {
        spot_ctx c = check_ctx(threads);
        CHECK_OK(&c, spot_forest_fit(&c, 3, f, rows, &cfg));
        assert_true(same_forest(&alone, &f[0]) && same_forest(&alone, &f[2]) && !same_forest(&alone, &f[1]));
        CHECK_OK(&c, spot_forest_explain(&c, &f[0], rows->x, base, value[1]));
        assert_memory_equal(value[0], value[1], sizeof value[0]);
        for (int i = 0; i < 3; i++) spot_forest_close(&f[i]);
    }
    spot_forest_close(&alone);
}

/* A column that is constant, and one in few steps: a node draws on until a column can be cut, so that trees end in leaves of
 * one class. The explanation adds up, and the constant column has none of it. */
TEST(leaves_are_pure_and_explanations_add_up)
{
    spot_forest_config cfg = spot_forest_defaults(SPOT_FOREST_BAGGED);
    spot_forest_rows rows = some_rows(5);
    static double value[N * D * K], share[N * K];
    spot_ctx c = check_ctx(2);
    double base[K], worst = 0;
    spot_forest f;

    cfg.trees = 30;
    cfg.tree.columns = 1;
    CHECK_OK(&c, spot_forest_fit(&c, 1, &f, &rows, &cfg));
    for (int i = 0; i < f.start[f.trees]; i++)
        if (f.node[i].feature < 0) assert_true(fmax(f.share[i * K], fmax(f.share[i * K + 1], f.share[i * K + 2])) == 1);
    CHECK_OK(&c, spot_forest_shares(&c, &f, rows.x, 0, share));
    CHECK_OK(&c, spot_forest_explain(&c, &f, rows.x, base, value));
    for (int i = 0; i < N; i++)
        for (int k = 0; k < K; k++) {
            double sum = base[k];
            for (int j = 0; j < D; j++) sum += value[(i * D + j) * K + k];
            worst = fmax(worst, fabs(sum - share[i * K + k]));
            assert_true(value[(i * D + 3) * K + k] == 0);
        }
    assert_true(worst < 1e-9);
    spot_forest_close(&f);
}

/* -- files ---------------------------------------------------------------------------------------------------------------- */

static const char *const features[D] = { "mean", "error", "std", "flat", "steps", "a b", "\xc3\xa9", "7", "8" };
static const char *const classes[K] = { "variant", "borderline", "invariant" };

TEST(a_file_gives_the_forest_back)
{
    spot_forest_rows rows = some_rows(3);
    static double share[2][N * K];
    spot_ctx c = check_ctx(2);

    for (int profile = 0; profile < SPOT_FOREST_PROFILES; profile++) {
        spot_forest_config cfg = spot_forest_defaults((spot_forest_profile)profile);
        char path[] = "/tmp/spot_forest_XXXXXX";
        spot_forest f, back;
        int fd = mkstemp(path);
        assert_true(fd >= 0);
        close(fd);
        cfg.trees = 8;
        CHECK_OK(&c, spot_forest_fit(&c, 1, &f, &rows, &cfg));
        if (profile) CHECK_OK(&c, spot_forest_name(&c, &f, features, classes, "120 rows of a test"));
        CHECK_OK(&c, spot_forest_save(&c, &f, path));
        CHECK_OK(&c, spot_forest_open(&c, &back, path));
        assert_true(same_forest(&f, &back) && back.profile == f.profile);
        assert_memory_equal(f.vote, back.vote, (size_t)f.trees * sizeof *f.vote);
        for (int i = 0; i < 2; i++) CHECK_OK(&c, spot_forest_shares(&c, i ? &back : &f, rows.x, 0, share[i]));
        assert_memory_equal(share[0], share[1], sizeof share[0]);
        assert_true(!profile == !back.feature_name && !profile == !back.class_name && !profile == !back.about);
        for (int j = 0; profile && j < D; j++) assert_string_equal(back.feature_name[j], features[j]);
        for (int k = 0; profile && k < K; k++) assert_string_equal(back.class_name[k], classes[k]);
        assert_int_equal(spot_forest_outside(&back, rows.x.v), -1);
        assert_int_equal(spot_forest_outside(&back, (float[D]){ [3] = 8 }), 3);
        spot_forest_close(&f), spot_forest_close(&back);
        remove(path);
    }
}

/* A change of a good forest is refused with its sentence, and taken back. */
#define REFUSED(f, place, bad, words)                                         \
    do {                                                                      \
        __typeof__(place) good_ = place;                                      \
        place = bad;                                                          \
        CHECK_FAILS(&c, spot_forest_check(&c, &(f), "f"), SPOT_INPUT, words); \
        place = good_;                                                        \
    } while (0)

static float beside[N];
static int group_of[N];

static void keep_rows(spot_ctx *c, spot_forest *f, const spot_forest_rows *rows, const spot_forest_config *cfg)
{
    for (int i = 0; i < N; i++) group_of[i] = i % 4, beside[i] = (float)i / N;
    CHECK_OK(c, spot_forest_fit(c, 1, f, rows, cfg));
    CHECK_OK(c, spot_forest_keep(c, f, rows, beside, group_of, 4, cfg));
}

/* Labels by chance: a forest knows those of its own rows, and forests that did not see a row do not know its label. */
TEST(kept_rows_are_judged_by_forests_that_did_not_see_them)
{
    const spot_forest_config cfg = spot_forest_defaults(SPOT_FOREST_BAGGED);
    spot_forest_rows rows = some_rows(7);
    static double share[N * K], own[N * K], weight[N];
    static uint8_t y[N];
    spot_ctx c = check_ctx(2);
    spot_rng r = spot_rng_at(9, SPOT_RNG_PLANT, 0, 0);
    double seen = 0, unseen = 0;
    spot_forest f, without;

    for (int i = 0; i < N; i++) y[i] = (uint8_t)spot_rng_below(&r, K);
    rows.y = y;
    keep_rows(&c, &f, &rows, &cfg);
    CHECK_OK(&c, spot_forest_shares(&c, &f, rows.x, 0, share));
    for (int i = 0; i < N; i++) seen += share[i * K + y[i]] / N, unseen += f.kept.share[i * K + y[i]] / N;
    assert_true(seen > 0.65 && unseen > 0.2 && unseen < 0.45);
    for (int i = 0; i < N; i++) weight[i] = group_of[i] != 2;
    rows.weight = weight, rows.seed.ec += 3;
    CHECK_OK(&c, spot_forest_fit(&c, 1, &without, &rows, &cfg));
    CHECK_OK(&c, spot_forest_shares(&c, &without, rows.x, 0, own));
    for (int i = 2; i < N; i += 4) assert_memory_equal(own + i * K, f.kept.share + i * K, K * sizeof *own);
    CHECK_FAILS(&c, spot_forest_keep(&c, &f, &rows, beside, group_of, 1, &cfg), SPOT_INVALID, "forest.groups: 1");
    assert_int_equal(f.kept.rows, 0);
    spot_forest_close(&f), spot_forest_close(&without);
}

TEST(kept_rows_are_in_the_file_and_damaged_ones_refused)
{
    spot_forest_config cfg = spot_forest_defaults(SPOT_FOREST_BAGGED);
    spot_forest_rows rows = some_rows(3);
    char path[] = "/tmp/spot_forest_XXXXXX";
    spot_ctx c = check_ctx(1);
    spot_forest f, back;
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    close(fd);
    cfg.trees = 8;
    keep_rows(&c, &f, &rows, &cfg);
    CHECK_OK(&c, spot_forest_save(&c, &f, path));
    CHECK_OK(&c, spot_forest_open(&c, &back, path));
    assert_int_equal(back.kept.rows, N);
    assert_memory_equal(back.kept.x, rows.x.v, (size_t)N * D * sizeof *rows.x.v);
    assert_memory_equal(back.kept.group, group_of, sizeof group_of);
    assert_memory_equal(back.kept.aside, beside, sizeof beside);
    assert_memory_equal(back.kept.share, f.kept.share, N * K * sizeof *f.kept.share);
    for (int i = 0; i < N; i++) assert_int_equal(back.kept.cls[i], rows.y[i]);
    REFUSED(back, back.kept.cls[3], K, "forest.kept_class: row 3 | class 3 | 3");
    REFUSED(back, back.kept.group[3], -1, "forest.kept_class: group -1");
    REFUSED(back, back.kept.x[3 * D], back.most[0] + 1, "forest.kept_feature: feature 0 | row 3");
    REFUSED(back, back.kept.x[3 * D], NAN, "forest.kept_feature: feature 0 | row 3");
    REFUSED(back, back.kept.share[3 * K], 2, "forest.kept_shares: row 3");
    REFUSED(back, back.kept.aside[3], NAN, "forest.kept_number: row 3 | nan");
    memset(back.kept.group, 0, N * sizeof *back.kept.group);
    CHECK_FAILS(&c, spot_forest_check(&c, &back, "f"), SPOT_INPUT, "forest.kept_groups");
    spot_forest_close(&f), spot_forest_close(&back);
    remove(path);
}

/* Each change of a good forest is refused with its sentence. */
TEST(damaged_forests_are_refused)
{
    spot_forest_config cfg = spot_forest_defaults(SPOT_FOREST_BAGGED);
    spot_forest_rows rows = some_rows(4);
    spot_ctx c = check_ctx(1);
    spot_forest f;
    int leaf = 0;

    cfg.trees = 2;
    CHECK_OK(&c, spot_forest_fit(&c, 1, &f, &rows, &cfg));
    CHECK_OK(&c, spot_forest_check(&c, &f, "f"));
    while (f.node[leaf].feature >= 0) leaf++;
    REFUSED(f, f.node[0].left, 0, "forest.node_children: node 0 | tree 0 | nodes 0");
    REFUSED(f, f.node[0].right, f.start[1], "forest.node_children: node 0 | tree 0");
    REFUSED(f, f.node[0].right, f.node[0].left, "forest.node_children: node 0 | tree 0");
    REFUSED(f, f.node[0].feature, D, "forest.node_question: feature 9 | 9");
    REFUSED(f, f.node[0].threshold, NAN, "forest.node_question");
    REFUSED(f, f.node[0].cover, 0, "forest.node: no rows");
    REFUSED(f, f.node[0].cover, 1e6, "forest.node_rows");
    REFUSED(f, f.node[0].feature, -1, "forest.node: node 1 | tree 0 | parent");
    REFUSED(f, f.share[leaf * K], 3, "forest.node_shares");
    REFUSED(f, f.vote[1], 0, "forest.tree: vote 0");
    REFUSED(f, f.start[1], 0, "forest.tree: tree 0 | 0");
    REFUSED(f, f.least[2], INFINITY, "forest.range: feature 2");
    REFUSED(f, f.classes, 1, "forest.sizes: 1");
    CHECK_OK(&c, spot_forest_check(&c, &f, "f"));
    spot_forest_close(&f);
}

/* Files that are no forest, one tensor or note at a time. */
TEST(other_files_are_refused)
{
    spot_ctx c = check_ctx(1);
    static const double number[3] = { 1, 1, 0 };
    static const float zero[2] = { 0 };
    static const int start[2] = { 0, 1 }, leaf[1] = { -1 };
    const spot_tensor all[] = {
        spot_tensor_of("cover", SPOT_F64, 1, 0, number), spot_tensor_of("feature", SPOT_I32, 1, 0, leaf),
        spot_tensor_of("least", SPOT_F32, 1, 0, zero), spot_tensor_of("left", SPOT_I32, 1, 0, leaf),
        spot_tensor_of("most", SPOT_F32, 1, 0, zero), spot_tensor_of("right", SPOT_I32, 1, 0, leaf),
        spot_tensor_of("share", SPOT_F64, 1, 2, number + 1), spot_tensor_of("start", SPOT_I32, 2, 0, start),
        spot_tensor_of("threshold", SPOT_F64, 1, 0, number), spot_tensor_of("vote", SPOT_F64, 1, 0, number),
    };
    const spot_tensor_note notes[] = { { "format", "spotter forest 1" }, { "profile", "bagged" }, { "class.0", "a" } };
    char path[] = "/tmp/spot_forest_XXXXXX";
    int fd = mkstemp(path);
    spot_forest f;

    assert_true(fd >= 0);
    close(fd);
    CHECK_OK(&c, spot_tensors_save_with(&c, path, all, LEN(all), notes, 2));
    CHECK_OK(&c, spot_forest_open(&c, &f, path));
    spot_forest_close(&f);
    CHECK_OK(&c, spot_tensors_save_with(&c, path, all, LEN(all), notes, 3));
    CHECK_FAILS(&c, spot_forest_open(&c, &f, path), SPOT_INPUT, "forest.names: class.1");
    CHECK_OK(&c, spot_tensors_save_with(&c, path, all, LEN(all), notes, 1));
    CHECK_FAILS(&c, spot_forest_open(&c, &f, path), SPOT_INPUT, "forest.profile");
    CHECK_OK(&c, spot_tensors_save_with(&c, path, all, LEN(all), notes, 0));
    CHECK_FAILS(&c, spot_forest_open(&c, &f, path), SPOT_INPUT, "forest.format");
    for (int k = 0; k < LEN(all); k++) {
        spot_tensor some[LEN(all)];
        int count = 0;
        for (int i = 0; i < LEN(all); i++)
            if (i != k) some[count++] = all[i];
        CHECK_OK(&c, spot_tensors_save_with(&c, path, some, count, notes, 2));
        CHECK_FAILS(&c, spot_forest_open(&c, &f, path), SPOT_INPUT, check_text("forest.no_tensor: %s", all[k].name));
        memcpy(some, all, sizeof some);
        some[k].type = some[k].type == SPOT_I32 ? SPOT_F32 : SPOT_I32;      /* the same bytes, or half of them */
        some[k].bytes = some[k].type == SPOT_I32 && all[k].type == SPOT_F64 ? all[k].bytes / 2 : all[k].bytes;
        CHECK_OK(&c, spot_tensors_save_with(&c, path, some, LEN(all), notes, 2));
        CHECK_FAILS(&c, spot_forest_open(&c, &f, path), SPOT_INPUT, check_text("forest.tensor: %s", all[k].name));
    }
    remove(path);
}

TEST(bad_input_gets_a_sentence)
{
    spot_forest_config cfg = spot_forest_defaults(SPOT_FOREST_BAGGED), boost = spot_forest_defaults(SPOT_FOREST_SAMME);
    spot_forest_rows rows = some_rows(1), narrow = rows, chance = rows;
    double base[K], value[D * K];
    uint8_t y[4] = { 0, 1, 0, 1 };
    float x[4] = { 1, 1, 1, 1 };
    spot_ctx c = check_ctx(1);
    spot_forest f;

    cfg.trees = 0;
    CHECK_FAILS(&c, spot_forest_fit(&c, 1, &f, &rows, &cfg), SPOT_INVALID, "forest.training: 0");
    cfg.trees = 2;
    x_of[5] = NAN;
    CHECK_FAILS(&c, spot_forest_fit(&c, 1, &f, &rows, &cfg), SPOT_INPUT, "tree.value: row 0 | column 5 | nan");
    x_of[5] = 0;
    chance.x = (spot_mat){ x, 4, 1 };
    chance.y = y;
    chance.classes = 2;
    CHECK_FAILS(&c, spot_forest_fit(&c, 1, &f, &chance, &boost), SPOT_CHECK, "forest.boost_weak");
    CHECK_OK(&c, spot_forest_fit(&c, 1, &f, &rows, &cfg));
    narrow.x.cols = D - 1;
    CHECK_FAILS(&c, spot_forest_shares(&c, &f, narrow.x, 0, value), SPOT_INPUT, "forest.features: 8 | 9");
    CHECK_FAILS(&c, spot_forest_shares(&c, &f, rows.x, 3, value), SPOT_INVALID, "forest.votes: 3 | 2");
    CHECK_FAILS(&c, spot_forest_name(&c, &f, NULL, NULL, "two\nlines"), SPOT_INVALID, "forest.name");
    f.profile = SPOT_FOREST_SAMME_R;
    CHECK_FAILS(&c, spot_forest_explain(&c, &f, rows.x, base, value), SPOT_INVALID, "forest.shap_of_boosted");
    spot_forest_close(&f);
}
