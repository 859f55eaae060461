/* test_silhouette.c - silhouettes and scores against scikit-learn, labellings that say nothing, and the search.
 * ctest: threads, both */
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "golden_file.h"
#include "fit/silhouette.h"
#include "spotter/cluster.h"
#include "spotter/rng.h"
#include "stats/jobs.h"

typedef struct { spot_mat x; int labellings, search, chosen; spot_labelling *want; } known;

static known read_case(FILE *f)
{
    int head[4];
    known q;
    get(f, head, sizeof head);
    q = (known){ { malloc((size_t)head[0] * head[1] * sizeof(float)), head[0], head[1] }, head[2], head[3], 0,
                 calloc((size_t)head[2], sizeof(spot_labelling)) };
    get(f, q.x.v, (size_t)head[0] * head[1] * sizeof(float));
    for (int i = 0; i < q.labellings; i++) {
        spot_labelling *l = &q.want[i];
        *l = (spot_labelling){ .x = q.x, .label = malloc((size_t)head[0] * sizeof(uint16_t)),
                               .silhouette = malloc((size_t)head[0] * sizeof(double)) };
        get(f, &l->k, sizeof l->k);
        get(f, l->label, (size_t)head[0] * sizeof *l->label);
        get(f, l->silhouette, (size_t)head[0] * sizeof *l->silhouette);
        get(f, &l->score, sizeof l->score);
    }
    if (q.search) get(f, &q.chosen, sizeof q.chosen);
    return q;
}

static void free_case(known *q)
{
    for (int i = 0; i < q->labellings; i++) free(q->want[i].label), free(q->want[i].silhouette);
    free(q->want);
    free(q->x.v);
}

/* Equal labels but for their names. */
static void check_same_groups(const uint16_t *a, const uint16_t *b, int n)
{
    int to[64], from[64];
    for (int i = 0; i < 64; i++) to[i] = from[i] = -1;
    for (int i = 0; i < n; i++) {
        if (to[a[i]] < 0 && from[b[i]] < 0) { to[a[i]] = b[i]; from[b[i]] = a[i]; }
        if (to[a[i]] != b[i] || from[b[i]] != a[i]) fail_msg("row %d: cluster %d and %d", i, a[i], b[i]);
    }
}

static void check_search(spot_ctx *c, const known *q)
{
    spot_search_config cfg = { .most = 10, .search = 1, .starts = 20, .mixture = spot_mixture_defaults() };
    const spot_labelling *want = &q->want[q->chosen - 2];
    spot_seed seed = { 1, 0 };
    spot_clustering found;
    spot_arena a;
    CHECK_OK(c, spot_arena_open(c, &a, spot_cluster_search_needs(c, 1, &q->x.rows, 1, q->x.cols, &cfg).host));
    CHECK_OK(c, spot_cluster_search(c, &a, 1, &found, &q->x, &seed, &cfg));
    assert_int_equal(found.k, q->chosen);
    assert_true(found.least == 2 && found.tried == 9);
    check_same_groups(found.label, want->label, q->x.rows);
    CHECK_NEAR(found.score[found.k - 2], want->score, 1e-8);
    spot_arena_close(&a);
}

TEST(agrees_with_scikit_learn)
{
    spot_ctx c = check_ctx(2);
    FILE *f = fopen("golden/george.bin", "rb");
    int cases;
    assert_non_null(f);
    get(f, &cases, sizeof cases);
    for (int q = 0; q < cases; q++) {
        known k = read_case(f);
        spot_labelling *got = malloc((size_t)k.labellings * sizeof *got);
        spot_arena a;
        CHECK_OK(&c, spot_arena_open(&c, &a, spot_silhouettes_needs(&c, k.labellings, k.x.rows, k.x.cols).host));
        for (int i = 0; i < k.labellings; i++) {
            got[i] = k.want[i];
            got[i].silhouette = malloc((size_t)k.x.rows * sizeof(double));
        }
        CHECK_OK(&c, spot_silhouettes(&c, &a, k.labellings, got));
        for (int i = 0; i < k.labellings; i++) {
            for (int j = 0; j < k.x.rows; j++) CHECK_NEAR(got[i].silhouette[j], k.want[i].silhouette[j], 1e-11);
            CHECK_NEAR(got[i].score, k.want[i].score, 1e-11);
            free(got[i].silhouette);
        }
        if (k.search) check_search(&c, &k);
        spot_arena_close(&a);
        free(got);
        free_case(&k);
    }
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
}

/* Three points on a line: by hand. */
TEST(by_hand)
{
    spot_ctx c = check_ctx(1);
    float x[] = { 0, 1, 4 };
    uint16_t two[] = { 0, 0, 1 }, one[] = { 2, 2, 2 };
    double s[3];
    spot_labelling l = { { x, 3, 1 }, NULL, 2, two, s, 0 };
    spot_arena a;
    CHECK_OK(&c, spot_arena_open(&c, &a, 4096));
    CHECK_OK(&c, spot_silhouettes(&c, &a, 1, &l));
    assert_true(s[0] == 0.75 && s[2] == 0);
    CHECK_NEAR(s[1], 2.0 / 3, 1e-15);
    CHECK_NEAR(l.score, (0.75 + 2.0 / 3) / 4, 1e-15);
    l = (spot_labelling){ { x, 3, 1 }, NULL, 3, one, s, 0 };
    CHECK_OK(&c, spot_silhouettes(&c, &a, 1, &l));
    assert_true(s[0] == 0 && s[1] == 0 && s[2] == 0 && l.score == -1);
    spot_arena_close(&a);
}

enum { N = 90, D = 3 };
static void noise(float *x, int count, uint32_t seed)
{
    spot_rng r = spot_rng_at(seed, SPOT_RNG_BOOTSTRAP, 0, 0);
    for (int i = 0; i < count; i++) x[i] = (float)spot_rng_normal(&r);
}

/* A search of a batch, on several threads, is that of its problems. */
TEST(a_batch_equals_its_problems)
{
    spot_ctx one = check_ctx(1), two = check_ctx(2);
    spot_search_config cfg = { .most = 6, .search = 1, .starts = 2, .mixture = spot_mixture_defaults() };
    float x[3][N * D];
    spot_mat m[] = { { x[0], N, D }, { x[1], 5, D }, { x[2], 1, D } };
    int n[] = { N, 5, 1 };
    spot_seed seeds[] = { { 1, 0 }, { 1, 1 }, { 1, 2 } };
    spot_clustering batch[3], alone;
    spot_arena a, b;
    for (int kmeans = 0; kmeans < 2; kmeans++) {
        cfg.kmeans = kmeans;
        for (int p = 0; p < 3; p++) noise(x[p], N * D, (uint32_t)p);
        CHECK_OK(&two, spot_arena_open(&two, &a, spot_cluster_search_needs(&two, 3, n, 1, D, &cfg).host));
        CHECK_OK(&two, spot_cluster_search(&two, &a, 3, batch, m, seeds, &cfg));
        assert_true(batch[1].tried == 4 && batch[2].tried == 1 && batch[2].k == 1 && isnan(batch[2].score[0]));
        for (int p = 0; p < 3; p++) {
            CHECK_OK(&one, spot_arena_open(&one, &b, spot_cluster_search_needs(&one, 1, n + p, 1, D, &cfg).host));
            CHECK_OK(&one, spot_cluster_search(&one, &b, 1, &alone, m + p, seeds + p, &cfg));
            assert_int_equal(alone.k, batch[p].k);
            assert_memory_equal(alone.label, batch[p].label, (size_t)n[p] * sizeof *alone.label);
            if (alone.tried > 1)
                assert_memory_equal(alone.score, batch[p].score, (size_t)alone.tried * sizeof *alone.score);
            spot_arena_close(&b);
        }
        spot_arena_close(&a);
    }
}

/* Two pairs of points: two clusters are better than three or four. Equal scores: the larger number. */
TEST(ties_and_starts)
{
    spot_ctx c = check_ctx(1);
    spot_search_config cfg = { .kmeans = 1, .most = 4, .search = 1, .starts = 1, .mixture = spot_mixture_defaults() };
    float pairs[] = { 0, 1, 10, 11 }, same[8] = { 0 };
    spot_mat x = { pairs, 4, 1 }, equal = { same, 8, 1 };
    spot_seed seed = { 1, 0 };
    spot_clustering found;
    spot_arena a;
    int n = 8;
    CHECK_OK(&c, spot_arena_open(&c, &a, spot_cluster_search_needs(&c, 1, &n, 1, 1, &cfg).host));
    CHECK_OK(&c, spot_cluster_search(&c, &a, 1, &found, &x, &seed, &cfg));
    assert_true(found.k == 2 && found.label[0] == found.label[1] && found.label[2] == found.label[3] &&
                found.label[0] != found.label[2]);
    CHECK_NEAR(found.score[0], (1 - 1 / 10.5 + 1 - 1 / 9.5) / 2, 1e-15);
    assert_true(found.score[2] == 0);      /* every point by itself */
    a.used = 0;
    CHECK_OK(&c, spot_cluster_search(&c, &a, 1, &found, &equal, &seed, &cfg));
    assert_int_equal(found.k, 4);
    assert_true(found.score[0] == found.score[2]);
    a.used = 0;
    cfg.search = 0;
    cfg.most = 3;
    CHECK_OK(&c, spot_cluster_search(&c, &a, 1, &found, &x, &seed, &cfg));
    assert_true(found.k == 3 && found.tried == 1);
    spot_arena_close(&a);
}

/* More starts never end at a lower likelihood, and here end higher. */
TEST(more_starts_help)
{
    spot_ctx c = check_ctx(1);
    spot_search_config cfg = { .kmeans = 1, .most = 9, .starts = 1, .mixture = spot_mixture_defaults() };
    float x[N * 2];
    spot_mat m = { x, N, 2 };
    spot_clustering found;
    double sum[2] = { 0 };
    int n = N, lower = 0;
    for (int i = 0; i < 20; i++) {
        spot_seed seed = { 5, (uint32_t)i };
        noise(x, 2 * N, (uint32_t)i);
        for (int many = 0; many < 2; many++) {
            double mean[9][2] = { { 0 } }, count[9] = { 0 };
            spot_arena a;
            cfg.starts = many ? 5 : 1;
            CHECK_OK(&c, spot_arena_open(&c, &a, spot_cluster_search_needs(&c, 1, &n, 1, 2, &cfg).host));
            CHECK_OK(&c, spot_cluster_search(&c, &a, 1, &found, &m, &seed, &cfg));
            for (int j = 0; j < 2 * N; j++) mean[found.label[j / 2]][j % 2] += x[j];
            for (int j = 0; j < N; j++) count[found.label[j]]++;
            sum[many] = 0;
            for (int j = 0; j < 2 * N; j++) {
                int k = found.label[j / 2];
                sum[many] += pow(x[j] - mean[k][j % 2] / count[k], 2);
            }
            spot_arena_close(&a);
        }
        assert_true(sum[1] <= sum[0] * (1 + 1e-12));
        lower += sum[1] < sum[0];
    }
    assert_true(lower > 5);
}

TEST(bad_input_gets_a_sentence)
{
    spot_ctx c = check_ctx(1);
    spot_search_config cfg = { .most = 4, .search = 1, .starts = 3, .mixture = spot_mixture_defaults() }, bad;
    float x[N * D];
    spot_mat m = { x, N, D }, wide = { x, 2, 33 };
    spot_seed seed = { 1, 7 };
    spot_clustering found;
    spot_silhouette_job job = { .n = 3, .d = 1, .k = 1025 };
    spot_arena a;
    int n = N;
    noise(x, N * D, 1);
    CHECK_OK(&c, spot_arena_open(&c, &a, 4 * spot_cluster_search_needs(&c, 1, &n, 1, D, &cfg).host));
    CHECK_FAILS(&c, spot_cluster_search(&c, &a, 1, &found, &wide, &seed, &cfg), SPOT_INPUT, "points.dimensions");
    bad = cfg, bad.most = 65;
    CHECK_FAILS(&c, spot_cluster_search(&c, &a, 1, &found, &m, &seed, &bad), SPOT_INVALID, "setting.value: mixture.k_max | 65");
    bad = cfg, bad.starts = 0;
    CHECK_FAILS(&c, spot_cluster_search(&c, &a, 1, &found, &m, &seed, &bad), SPOT_INVALID, "clusters.starts: 0");
    bad = cfg, bad.mixture.ridge = 0;
    for (int i = 0; i < N; i++) x[i * D] = 1;
    CHECK_FAILS(&c, spot_cluster_search(&c, &a, 1, &found, &m, &seed, &bad), SPOT_NUMERIC, "mixture.none_fitted");
    x[4] = NAN;
    CHECK_FAILS(&c, spot_cluster_search(&c, &a, 1, &found, &m, &seed, &cfg), SPOT_INPUT, "points.value: row 1 | column 1");
    CHECK_FAILS(&c, spot_silhouette_samples(&c, &job, 1), SPOT_INVALID, "silhouette.sizes: 1025");
    spot_arena_close(&a);
}

/* However n rows divide, the rooms of the sets' arrays are no more than those of equal sets with the rows that are counted. */
TEST(sets_are_counted_with_enough_rows)
{
    spot_rng r = spot_rng_at(3, SPOT_RNG_INIT, 0, 0);
    for (int i = 0; i < 20000; i++) {
        int n = 1 + (int)spot_rng_below(&r, 3000), sets = 1 + (int)spot_rng_below(&r, 6), left = n;
        size_t bytes = 1 + spot_rng_below(&r, 9), rooms = 0;
        for (int k = 0; k < sets; k++) {
            int own = k < sets - 1 ? (int)spot_rng_below(&r, (uint32_t)left + 1) : left;
            rooms += spot_arena_room((size_t)own * bytes);
            left -= own;
        }
        assert_in_range(rooms, 0, (size_t)sets * spot_arena_room((size_t)spot_rows_of_set(n, sets) * bytes));
    }
}
