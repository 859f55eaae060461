/* test_suspect_labels.c - suspect labels: confident learning against cleanlab, planted wrong labels, groups. */
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "discover/describe/suspect_labels.h"
#include "spotter/rng.h"

typedef struct {
    spot_subject s;
    spot_findings f;
    uint8_t *planted;              /* (n): its label was exchanged */
    uint8_t *weak;                 /* (n): it lies in the classifier's true weakness */
} label_world;

static void close_world(label_world *w)
{
    free(w->s.feature), free(w->s.target), free(w->s.prob), free(w->s.confidence), free(w->s.class_name), free(w->s.group);
    free(w->planted), free(w->weak);
    spot_arena_close(&w->f.suspected);
}

static void open_world(label_world *w, int n, int d, int classes)
{
    *w = (label_world){ .s = { .n = n, .d = d, .classes = classes } };
    w->s.feature = calloc((size_t)n * (size_t)d, sizeof(float));
    w->s.target = calloc((size_t)n, sizeof(int));
    w->s.prob = calloc((size_t)n * (size_t)classes, sizeof(float));
    w->s.confidence = calloc((size_t)n, sizeof(float));
    w->s.class_name = calloc((size_t)classes, sizeof(char *));
    w->planted = calloc((size_t)n, 1);
    w->weak = calloc((size_t)n, 1);
}

static int read_int(FILE *f)
{
    int v;

    assert_int_equal(fscanf(f, "%d", &v), 1);
    return v;
}

/* tools/golden/suspect_labels.py */
static void compare_world(spot_ctx *c, FILE *f, int n, int classes, int *others)
{
    label_world w;
    double *threshold = malloc(2 * (size_t)classes * sizeof *threshold);
    int *label = malloc((size_t)n * sizeof *label), *marked = malloc((size_t)n * sizeof *marked), found = 0;

    open_world(&w, n, 1, classes);
    for (int i = 0; i < n; i++) w.s.target[i] = read_int(f);
    for (int i = 0; i < n * classes; i++) w.s.prob[i] = (float)read_int(f) / 1000;
    for (int i = 0; i < n; i++) {
        marked[i] = read_int(f);
        w.s.confidence[i] = w.s.prob[i * classes + w.s.target[i]];
    }
    assert_true(spot_confident_labels(c, label, threshold, &w.s));
    for (int i = 0; i < n; i++) {
        if (read_int(f)) ++*others;
        else assert_int_equal(label[i] >= 0, marked[i]);
        found += label[i] >= 0;
    }
    assert_true(found > 0);
    free(threshold), free(label), free(marked);
    close_world(&w);
}

TEST(as_cleanlab_does)
{
    spot_ctx c = check_ctx(2);
    FILE *f = fopen("golden/suspect_labels.txt", "r");
    int n, classes, worlds = 0, others = 0;

    assert_non_null(f);
    for (; fscanf(f, "%d %d", &n, &classes) == 2; worlds++) compare_world(&c, f, n, classes, &others);
    fclose(f);
    assert_int_equal(worlds, 6);
    assert_true(others > 0);
}

/* Classes as clouds in d features, and a classifier that answers by the nearest cloud, with noise. Of class 0 the rows of one
 * cloud apart are taken for class 1: a true weakness. A share of all labels was exchanged at random. */
static void plant_labels(label_world *w, int n, int classes, double share, uint64_t seed)
{
    enum { D = 8 };
    spot_rng r = spot_rng_at(seed, SPOT_RNG_PLANT, 1, 2);

    open_world(w, n, D, classes);
    for (int i = 0; i < n; i++) {
        const int truth = i % classes, weak = !truth && spot_rng_below(&r, 6) == 0;
        double sum = 0;
        w->weak[i] = (uint8_t)weak;
        for (int k = 0; k < D; k++)
            w->s.feature[i * D + k] = (float)(spot_rng_normal(&r) + 3.5 * (k == truth) + 6 * (weak && k == D - 1));
        for (int k = 0; k < classes; k++) {
            const double score = 2 * (weak ? k == 1 : k == truth) + spot_rng_normal(&r) * 0.8;
            w->s.prob[i * classes + k] = (float)exp(2 * score);
            sum += exp(2 * score);
        }
        for (int k = 0; k < classes; k++) w->s.prob[i * classes + k] /= (float)sum;
        w->planted[i] = spot_rng_uniform(&r) < share;
        w->s.target[i] = w->planted[i] ? (truth + 1 + (int)spot_rng_below(&r, (uint32_t)classes - 1)) % classes : truth;
        w->s.confidence[i] = w->s.prob[i * classes + w->s.target[i]];
    }
}

typedef struct { int found, right, planted, weak; } label_score;

static label_score score_labels(const label_world *w)
{
    label_score x = { 0 };

    for (int i = 0; i < w->s.n; i++) {
        const bool found = spot_suspects_place(&w->f.suspects, i) >= 0;
        x.planted += w->planted[i] && !w->weak[i];
        x.found += found;
        x.right += found && w->planted[i];
        x.weak += found && w->weak[i] && !w->planted[i];
    }
    return x;
}

TEST(planted_labels_are_found_and_a_weakness_is_none)
{
    spot_ctx c = check_ctx(2);
    label_score all = { 0 };

    for (uint64_t seed = 0; seed < 5; seed++) {
        label_world w;
        label_score x;
        plant_labels(&w, 2000, 4, 0.05, seed);
        CHECK_OK(&c, spot_suspects_find(&c, &w.f, &w.s));
        x = score_labels(&w);
        all = (label_score){ all.found + x.found, all.right + x.right, all.planted + x.planted, all.weak + x.weak };
        close_world(&w);
    }
    print_message("of %d planted labels %d are among %d suspects; %d of the weakness are\n", all.planted, all.right, all.found,
                  all.weak);
    assert_true(all.right >= 0.8 * all.found);
    assert_true(all.right >= 0.7 * all.planted);
    assert_true(all.weak <= 0.02 * all.found);
}

/* Copies of a row have its wrong label, too, and do not hide it where they are its group. */
TEST(rows_of_a_group_do_not_vote)
{
    enum { COPIES = 12 };
    spot_ctx c = check_ctx(1);
    label_world w;
    int first = 0, found = 0;

    plant_labels(&w, 2000, 4, 0, 3);
    w.s.group = malloc((size_t)w.s.n * sizeof *w.s.group);
    for (int i = 0; i < w.s.n; i++) w.s.group[i] = i;
    while (first % 4 != 1 || spot_subject_wrong(&w.s, first, w.s.target[first])) first++;
    for (int k = 0; k < COPIES; k++) {
        const int row = first + 4 * k;
        memcpy(w.s.feature + row * w.s.d, w.s.feature + first * w.s.d, (size_t)w.s.d * sizeof(float));
        for (int j = 0; j < 4; j++) w.s.prob[4 * row + j] = j == 1 ? 0.97f : 0.01f;
        w.s.target[row] = 2;
        w.s.confidence[row] = 0.01f;
        w.s.group[row] = first;
    }
    w.s.groups = w.s.n;
    CHECK_OK(&c, spot_suspects_find(&c, &w.f, &w.s));
    for (int k = 0; k < COPIES; k++) found += spot_suspects_place(&w.f.suspects, first + 4 * k) >= 0;
    assert_int_equal(found, COPIES);
    free(w.s.group), w.s.group = NULL;
    CHECK_OK(&c, spot_suspects_find(&c, &w.f, &w.s));
    assert_int_equal(spot_suspects_place(&w.f.suspects, first), -1);
    close_world(&w);
}

/* A group of 60 frames hides nothing: each frame's nearest 30 rows are frames, and the next ones vote. */
TEST(rows_of_large_groups_are_asked_about)
{
    enum { FRAMES = 60, N = 3000 };
    spot_ctx c = check_ctx(2);
    label_world w;
    int first = 0, found = 0;

    plant_labels(&w, N, 4, 0, 5);
    w.s.group = malloc((size_t)w.s.n * sizeof *w.s.group);
    for (int i = 0; i < w.s.n; i++) w.s.group[i] = i;
    while (first % 4 != 1 || spot_subject_wrong(&w.s, first, w.s.target[first])) first++;
    for (int k = 0; k < FRAMES; k++) {
        const int row = first + 4 * k;
        for (int j = 0; j < w.s.d; j++)
            w.s.feature[row * w.s.d + j] = w.s.feature[first * w.s.d + j] + 1e-4f * (float)(k * j % 7);
        for (int j = 0; j < 4; j++) w.s.prob[4 * row + j] = j == 1 ? 0.97f : 0.01f;
        w.s.target[row] = 2;
        w.s.confidence[row] = 0.01f;
        w.s.group[row] = first;
    }
    w.s.groups = w.s.n;
    CHECK_OK(&c, spot_suspects_find(&c, &w.f, &w.s));
    for (int k = 0; k < FRAMES; k++) found += spot_suspects_place(&w.f.suspects, first + 4 * k) >= 0;
    assert_int_equal(found, FRAMES);
    for (int i = 1; i < w.f.suspects.count; i++) assert_true(w.f.suspects.row[i] > w.f.suspects.row[i - 1]);
    memset(w.s.group, 0, (size_t)N * sizeof *w.s.group);               /* one group: nobody may vote */
    CHECK_OK(&c, spot_suspects_find(&c, &w.f, &w.s));
    assert_int_equal(w.f.suspects.count, 0);
    close_world(&w);
}

TEST(two_classes_need_one_number)
{
    spot_ctx c = check_ctx(1);
    label_world w;
    int count;
    float *prob;

    plant_labels(&w, 1000, 2, 0.05, 1);
    CHECK_OK(&c, spot_suspects_find(&c, &w.f, &w.s));
    count = w.f.suspects.count;
    assert_true(count > 10);
    prob = w.s.prob, w.s.prob = NULL;
    CHECK_OK(&c, spot_suspects_find(&c, &w.f, &w.s));
    assert_int_equal(w.f.suspects.count, count);
    w.s.classes = 3;
    w.f.suspects = (spot_suspects){ 0 };
    CHECK_OK(&c, spot_suspects_find(&c, &w.f, &w.s));
    assert_false(w.f.suspects.known);
    w.s.classes = 2, w.s.prob = prob;
    close_world(&w);
}

/* Beyond 2^24 numbers of features some rows vote for all. */
TEST(many_features_have_fewer_voters)
{
    enum { N = 5000, D = 4096 };
    spot_ctx c = check_ctx(2);
    label_world w;
    label_score x;
    float *wide = calloc((size_t)N * D, sizeof *wide);

    plant_labels(&w, N, 4, 0.05, 9);
    for (int i = 0; i < N; i++) memcpy(wide + (size_t)i * D, w.s.feature + i * w.s.d, (size_t)w.s.d * sizeof *wide);
    free(w.s.feature);
    w.s.feature = wide, w.s.d = D;
    CHECK_OK(&c, spot_suspects_find(&c, &w.f, &w.s));
    x = score_labels(&w);
    assert_true(x.right >= 0.8 * x.found && x.right >= 0.7 * x.planted);
    close_world(&w);
}

TEST(slices_count_their_suspects)
{
    spot_ctx c = check_ctx(2);
    spot_finding g = { .slices = 1 };
    label_world w;
    int *row, wrong = 0, inside = 0;

    plant_labels(&w, 2000, 4, 0.05, 4);
    row = malloc((size_t)w.s.n * sizeof *row);
    for (int i = 0; i < w.s.n / 2; i++) row[i] = i, wrong += spot_subject_wrong(&w.s, i, w.s.target[i]);
    g.slice[0] = (spot_slice){ .size = w.s.n / 2, .wrong = wrong, .row = row };
    w.f.count = 1, w.f.finding = &g;
    CHECK_OK(&c, spot_suspects_find(&c, &w.f, &w.s));
    for (int k = 0; k < w.f.suspects.count; k++) {
        inside += w.f.suspects.row[k] < w.s.n / 2;
        assert_true(spot_subject_wrong(&w.s, w.f.suspects.row[k], w.s.target[w.f.suspects.row[k]]));
        assert_true(w.f.suspects.cls[k] != w.s.target[w.f.suspects.row[k]]);
    }
    assert_true(g.slice[0].labels_known && inside > 5);
    assert_int_equal(g.slice[0].suspects, inside);
    CHECK_NEAR(g.slice[0].rate_without, (double)(wrong - inside) / (w.s.n / 2 - inside), 1e-15);
    free(row);
    close_world(&w);
}

int main(void) { return run_all_tests(); }
