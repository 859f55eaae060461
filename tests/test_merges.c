/* spot_discover_merges: every cluster's height, rows, errors, judges and p against a plain computation on a small world; memory
 * is stated, and refused above the limit. */
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "discover/subject/subject_memory.h"
#include "spotter/discover.h"
#include "spotter/rng.h"

enum { N = 260, D = 5, CLASSES = 3, BLOBS = 6, VOTES = 5, NODES = 4 * N };      /* of all trees of a search */

typedef struct {
    float feature[N][D], confidence[N];
    int target[N], group[N];
    uint8_t member[NODES][N];          /* of each row and merge: its rows */
    spot_subject s;
    spot_tree_merges m;
} world;

/* Classes 0 and 1 fail in a blob each; class 2 is never wrong. Features are random, so that no two distances are equal. */
static void make_world(world *w)
{
    static char *names[] = { "cat", "dog", "bird" };
    spot_rng r = spot_rng_at(11, SPOT_RNG_BOOTSTRAP, 0, 0);

    memset(w, 0, sizeof *w);
    for (int i = 0; i < N; i++) {
        const int blob = i % BLOBS;
        w->target[i] = i / BLOBS % CLASSES;
        w->group[i] = i / 7;
        for (int k = 0; k < D; k++)
            w->feature[i][k] = (k == blob % D ? 3 + (float)(blob / D) : 0) + (float)spot_rng_normal(&r);
        w->confidence[i] = w->target[i] < 2 && (blob == w->target[i] ? i % 5 != 0 : i % 9 == 0) ? 0.2f : 0.9f;
        w->confidence[i] += 0.1f * (float)spot_rng_uniform(&r);
    }
    w->s = (spot_subject){ .n = N, .d = D, .classes = CLASSES, .feature = w->feature[0], .target = w->target,
                           .confidence = w->confidence, .class_name = names, .source = "a test" };
}

static spot_discover_options options_of(const spot_proof_options *proof, int cls)
{
    spot_discover_options o = spot_discover_defaults();

    o.proof = proof;
    o.cls = cls;
    return o;
}

static bool is_wrong(const world *w, int row) { return w->confidence[row] < 0.5f; }

static int count_rows(const uint8_t *member, const world *w, bool wrong)
{
    int n = 0;

    for (int i = 0; i < N; i++) n += member[i] && (!wrong || is_wrong(w, i));
    return n;
}

/* ---- trees ---- */

/* The rows of every cluster from those that it joins; counts agree. */
static void check_members(world *w)
{
    memset(w->member, 0, sizeof w->member);
    for (int i = 0; i < N; i++) w->member[i][i] = 1;
    for (int k = 0; k < w->m.count; k++) {
        const spot_tree_merge *m = &w->m.merge[k];
        assert_true(m->left >= 0 && m->left < N + k && m->right >= 0 && m->right < N + k);
        for (int i = 0; i < N; i++) {
            assert_false(w->member[m->left][i] && w->member[m->right][i]);
            w->member[N + k][i] = w->member[m->left][i] || w->member[m->right][i];
            if (w->member[N + k][i] && m->cls >= 0) assert_int_equal(w->target[i], m->cls);
        }
        assert_int_equal(m->rows, count_rows(w->member[N + k], w, false));
        assert_int_equal(m->wrong, count_rows(w->member[N + k], w, true));
    }
}

/* Rows of length 1 less their mean, scaled to a mean square of 1, with the confidence beside them. */
static void plain_points(double x[N][D + 1], const world *w, const uint8_t *tree, double weight)
{
    double mean[D] = { 0 }, square = 0;
    int n = 0;

    for (int i = 0; i < N; i++) {
        double length = 0;
        if (!tree[i]) continue;
        for (int k = 0; k < D; k++) length += (double)w->feature[i][k] * w->feature[i][k];
        for (int k = 0; k < D; k++) mean[k] += x[i][k] = w->feature[i][k] / sqrt(length);
        n++;
    }
    for (int i = 0; i < N; i++)
        for (int k = 0; k < D && tree[i]; k++) x[i][k] -= mean[k] / n, square += x[i][k] * x[i][k];
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < D; k++) x[i][k] /= sqrt(square / n);
        x[i][D] = weight * w->confidence[i];
    }
}

static double plain_height(double x[N][D + 1], const uint8_t *a, const uint8_t *b)
{
    double mean[2][D + 1] = { { 0 } }, rows[2] = { 0 }, far = 0;

    for (int i = 0; i < N; i++)
        for (int e = 0; e < 2; e++) {
            if (!(e ? b : a)[i]) continue;
            rows[e]++;
            for (int k = 0; k <= D; k++) mean[e][k] += x[i][k];
        }
    for (int k = 0; k <= D; k++) {
        const double by = mean[0][k] / rows[0] - mean[1][k] / rows[1];
        far += by * by;
    }
    return sqrt(2 * rows[0] * rows[1] / (rows[0] + rows[1]) * far);
}

/* Each merge of the tree is the cheapest of all pairs that are left. */
static void check_tree(const world *w, int first, int end)
{
    static double x[N][D + 1];
    bool left[NODES] = { false };

    plain_points(x, w, w->member[N + end - 1], spot_bdm_defaults(SPOT_WARD).weight);
    for (int i = 0; i < N; i++) left[i] = w->member[N + end - 1][i];
    for (int k = first; k < end; k++) {
        const spot_tree_merge *m = &w->m.merge[k];
        assert_true(left[m->left] && left[m->right]);
        CHECK_NEAR(m->height, plain_height(x, w->member[m->left], w->member[m->right]), 1e-5);
        for (int a = 0; a < N + k; a++)
            for (int b = 0; b < a && left[a]; b++)
                if (left[b]) assert_true(m->height <= plain_height(x, w->member[a], w->member[b]) + 1e-5);
        left[m->left] = left[m->right] = false;
        left[N + k] = true;
    }
}

/* ---- judges ---- */

/* The tree's row that is nearest to a row. */
static void plain_nearest(const world *w, const uint8_t *tree, int row, int nearest[VOTES])
{
    bool taken[N] = { false };

    for (int v = 0; v < VOTES; v++) {
        double least = INFINITY;
        for (int i = 0; i < N; i++) {
            double far = 0;
            for (int k = 0; k < D; k++) far += pow((double)w->feature[i][k] - w->feature[row][k], 2);
            if (tree[i] && !taken[i] && far < least) least = far, nearest[v] = i;
        }
        taken[nearest[v]] = true;
    }
}

static double choose(int n, int k)
{
    double ways = 1;

    if (k < 0 || k > n) return 0;
    for (int i = 1; i <= k; i++) ways *= (double)(n - k + i) / i;
    return ways;
}

static double plain_p(int rows, int wrong, int judged, int judged_wrong)
{
    double p = 0;

    for (int k = judged_wrong; k <= judged; k++)
        p += choose(wrong, k) * choose(rows - wrong, judged - k) / choose(rows, judged);
    return p;
}

/* judges: the rows that may judge the tree. */
static void check_judges(const world *w, int first, int end, const uint8_t *judges, bool has_p)
{
    static int nearest[N][VOTES];
    const int all = count_rows(judges, w, false), bad = count_rows(judges, w, true);

    for (int i = 0; i < N; i++)
        if (judges[i]) plain_nearest(w, w->member[N + end - 1], i, nearest[i]);
    for (int k = first; k < end; k++) {
        const spot_tree_merge *m = &w->m.merge[k];
        int judged = 0, judged_wrong = 0;
        for (int i = 0; i < N; i++) {
            int votes = 0;
            for (int v = 0; v < VOTES && judges[i]; v++) votes += w->member[N + k][nearest[i][v]];
            judged += 2 * votes > VOTES;
            judged_wrong += 2 * votes > VOTES && is_wrong(w, i);
        }
        assert_int_equal(m->judged, judged);
        assert_int_equal(m->judged_wrong, judged_wrong);
        if (has_p && judged) CHECK_NEAR(m->p, plain_p(all, bad, judged, judged_wrong), 1e-10);
        else assert_true(isnan(m->p));
    }
}

/* Checks all trees of a search; returns their number. */
static int check_trees(world *w, const spot_discover_options *o)
{
    int trees = 0;

    check_members(w);
    for (int first = 0, end; first < w->m.count; first = end, trees++) {
        const spot_tree_merge *m = &w->m.merge[first];
        uint8_t judges[N];
        for (end = first; end < w->m.count && w->m.merge[end].cls == m->cls && w->m.merge[end].part == m->part;) end++;
        if (end - first < 100) check_tree(w, first, end);      /* all pairs of a larger one take long */
        for (int i = 0; i < N; i++) judges[i] = spot_subject_is_of(&w->s, i, m->cls) && !w->member[N + end - 1][i];
        if (o->proof) check_judges(w, first, end, judges, m->cls >= 0 && !w->s.group);
        else assert_true(m->part == -1 && m->judged == -1 && m->judged_wrong == -1 && isnan(m->p));
    }
    return trees;
}

TEST(merges_agree_with_a_plain_computation)
{
    const spot_proof_options both = spot_proof_defaults();
    spot_proof_options one = both;
    spot_ctx c = check_ctx(2);
    static world w;
    struct { const spot_proof_options *proof; int cls, trees; } cases[] = {
        { NULL, SPOT_EACH_CLASS, 2 }, { &both, SPOT_EACH_CLASS, 4 }, { &one, SPOT_EACH_CLASS, 2 }, { &both, 1, 2 },
        { &both, SPOT_EACH_AND_ALL, 6 }, { &both, SPOT_ALL_CLASSES, 2 },
    };

    one.parts = 1;
    one.holdout = 0.3;
    make_world(&w);
    assert_int_equal(both.neighbours, VOTES);
    for (int grouped = 0; grouped < 2; grouped++)
        for (int i = 0; i < LEN(cases); i++) {
            const spot_discover_options o = options_of(cases[i].proof, cases[i].cls);
            w.s.group = grouped ? w.group : NULL;
            w.s.groups = grouped ? w.group[N - 1] + 1 : 0;
            CHECK_OK(&c, spot_discover_merges(&c, &w.m, &w.s, &o));
            assert_int_equal(check_trees(&w, &o), cases[i].trees);
            spot_tree_merges_close(&w.m);
        }
}

TEST(threads_do_not_change_merges)
{
    const spot_proof_options proof = spot_proof_defaults();
    const spot_discover_options o = options_of(&proof, SPOT_EACH_AND_ALL);
    spot_ctx one = check_ctx(1), three = check_ctx(3);
    spot_tree_merges a, b;
    static world w;

    make_world(&w);
    CHECK_OK(&one, spot_discover_merges(&one, &a, &w.s, &o));
    CHECK_OK(&three, spot_discover_merges(&three, &b, &w.s, &o));
    assert_int_equal(a.count, b.count);
    for (int k = 0; k < a.count; k++) {
        const spot_tree_merge x = a.merge[k], y = b.merge[k];
        assert_true(x.left == y.left && x.right == y.right && x.judged == y.judged && x.height == y.height);
        assert_memory_equal(&x.p, &y.p, sizeof x.p);
    }
    spot_tree_merges_close(&a);
    spot_tree_merges_close(&b);
}

/* The stated memory suffices; a byte less is refused before the first tree. */
TEST(merges_state_their_memory)
{
    const spot_proof_options proof = spot_proof_defaults();
    spot_ctx c = check_ctx(2);
    static world w;

    make_world(&w);
    for (int way = 0; way < 6; way++) {
        static const int cls[] = { SPOT_EACH_CLASS, SPOT_EACH_AND_ALL, SPOT_ALL_CLASSES };
        spot_discover_options o = options_of(way % 2 ? &proof : NULL, cls[way / 2]);
        size_t bytes, again;
        CHECK_OK(&c, spot_discover_merges_cost(&c, &w.s, &o, &bytes));
        o.memory = bytes;
        CHECK_OK(&c, spot_discover_merges(&c, &w.m, &w.s, &o));
        assert_true(w.m.count > 0 && bytes > (size_t)w.m.count * sizeof *w.m.merge + sizeof w.feature);
        spot_tree_merges_close(&w.m);
        o.memory = bytes - 1;
        CHECK_FAILS(&c, spot_discover_merges_cost(&c, &w.s, &o, &again), SPOT_NOMEM, "merges.memory");
        assert_int_equal(again, bytes);
        CHECK_FAILS(&c, spot_discover_merges(&c, &w.m, &w.s, &o), SPOT_NOMEM, "merges.memory");
        assert_true(!w.m.count && !w.m.merge);
    }
}
