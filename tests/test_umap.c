/* test_umap.c - UMAP against umap-learn: curve, strengths, graph, quality of maps; bits; what goes before every reducer; and
 * inputs that break others. Long, since trustworthiness and recall of maps are measured here, in C. ctest: threads, heavy */
#include "check_blas.h"
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "map/affinity.h"
#include "blobs.h"
#include "models/reduce.h"
#include "models/spectral.h"
#include "map/neighbours.h"
#include "map/umap.h"

enum { N = 500, D = 32, K = 15, MOST_PAIRS = N * K };

/* golden/umap.bin, as tools/golden/umap.py describes it. */
typedef struct {
    int neighbours, normalise, pairs;
    double min_dist;
    float rho[N], sigma[N], weight[MOST_PAIRS];
    int16_t pair[MOST_PAIRS][2];
    double figure[2][2];          /* of 2 dimensions and of 1: trustworthiness, recall */
} setting;

static struct {
    float x[N * D];
    int curves, settings;
    double curve[16][4];
    setting s[2];
} golden;

static void take(FILE *f, void *to, size_t bytes) { assert_int_equal(fread(to, 1, bytes, f), bytes); }

static int read_golden(void **state)
{
    FILE *f = fopen("golden/umap.bin", "rb");
    int shape[2];

    (void)state;
    assert_non_null(f);
    take(f, shape, sizeof shape);
    assert_true(shape[0] == N && shape[1] == D);
    take(f, golden.x, sizeof golden.x);
    take(f, &golden.curves, sizeof golden.curves);
    assert_in_range(golden.curves, 1, LEN(golden.curve));
    take(f, golden.curve, (size_t)golden.curves * sizeof *golden.curve);
    take(f, &golden.settings, sizeof golden.settings);
    assert_int_equal(golden.settings, 2);
    for (setting *s = golden.s; s < golden.s + 2; s++) {
        take(f, &s->neighbours, sizeof s->neighbours);
        take(f, &s->normalise, sizeof s->normalise);
        take(f, &s->min_dist, sizeof s->min_dist);
        take(f, s->rho, sizeof s->rho);
        take(f, s->sigma, sizeof s->sigma);
        take(f, &s->pairs, sizeof s->pairs);
        assert_in_range(s->pairs, 1, MOST_PAIRS);
        take(f, s->pair, (size_t)s->pairs * sizeof *s->pair);
        take(f, s->weight, (size_t)s->pairs * sizeof *s->weight);
        take(f, s->figure, sizeof s->figure);
    }
    fclose(f);
    return 0;
}

TEST(curve_is_that_of_umap_learn)
{
    for (int i = 0; i < golden.curves; i++) {
        double a, b;
        spot_umap_curve(&a, &b, golden.curve[i][0], golden.curve[i][1]);
        CHECK_NEAR(a, golden.curve[i][2], 1e-5 * golden.curve[i][2]);
        CHECK_NEAR(b, golden.curve[i][3], 1e-5 * golden.curve[i][3]);
    }
}

/* x's rows as the setting wants them. */
static void prepare(float *x, const setting *s)
{
    for (int i = 0; i < N; i++) {
        double squares = 0;
        for (int k = 0; k < D; k++) squares += (double)golden.x[i * D + k] * golden.x[i * D + k];
        for (int k = 0; k < D; k++)
            x[i * D + k] = (float)(golden.x[i * D + k] / (s->normalise ? fmax(sqrt(squares), 1e-6) : 1));
    }
}

TEST(strengths_and_graph_are_those_of_umap_learn)
{
    static int column[N * K], start[N + 1], to[2 * N * K + 16 * N], begin[N + 2], edge[N * K];
    static float x[N * D], near[N * K], p[N * K], rho[N], sigma[N], joint[2 * N * K + 16 * N];
    spot_ctx c = check_ctx(2);

    for (const setting *s = golden.s; s < golden.s + 2; s++) {
        int k = s->neighbours - 1, pair = 0;
        spot_neighbours find = { { x, N, D }, k, column, near };
        spot_umap_row row = { { near, N, k }, p, rho, sigma };
        spot_affinity_graph g = { .n = N, .k = k, .fuzzy = 1, .column = column, .p = p, .start = start, .to = to,
                                  .joint = joint, .begin = begin, .edge = edge };
        spot_arena a = spot_arena_counting();

        prepare(x, s);
        CHECK_OK(&c, spot_neighbours_find(&c, &a, 1, &find));
        CHECK_OK(&c, spot_arena_open(&c, &a, a.peak));
        CHECK_OK(&c, spot_neighbours_find(&c, &a, 1, &find));
        CHECK_OK(&c, spot_umap_strengths(&c, 1, &row));
        CHECK_OK(&c, spot_affinity_joint(&c, 1, &g));
        for (int i = 0; i < N; i++) {
            CHECK_NEAR(rho[i], s->rho[i], 1e-5 * s->rho[i]);
            CHECK_NEAR(sigma[i], s->sigma[i], 1e-4 * s->sigma[i]);     /* both stop where the sum is within 1e-5 */
            for (int e = start[i]; e < start[i + 1]; e++) {
                if (to[e] <= i) continue;
                assert_true(pair < s->pairs && s->pair[pair][0] == i && s->pair[pair][1] == to[e]);
                CHECK_NEAR(joint[e], s->weight[pair], 1e-5);
                pair++;
            }
        }
        assert_int_equal(pair, s->pairs);
        spot_arena_close(&a);
    }
}

/* Three of four neighbours are equally near: their strengths are 1 and no sigma makes a sum of log2 5. It ends at the
 * thousandth part of the mean distance of the row and its neighbours, as umap-learn's does. */
TEST(sigma_has_a_least_value)
{
    float near[4] = { 4, 4, 4, 9 }, p[4], rho, sigma;
    spot_umap_row row = { { near, 1, 4 }, p, &rho, &sigma };
    spot_ctx c = check_ctx(1);

    CHECK_OK(&c, spot_umap_strengths(&c, 1, &row));
    assert_true(rho == 2);
    CHECK_NEAR(sigma, 1e-3 * (2 + 2 + 2 + 3) / 5, 1e-9);
    assert_true(p[0] == 1 && p[2] == 1 && p[3] < 1e-30f);
}

/* Ranks of all rows by their distance to row i, that of i itself 0; ties by number. */
static void rank_rows(int *rank, const float *x, int n, int d, int i)
{
    float *far = malloc((size_t)n * sizeof *far);

    for (int j = 0; j < n; j++) {
        far[j] = j == i ? -1 : 0;
        for (int k = 0; k < d; k++) far[j] += (x[j * d + k] - x[i * d + k]) * (x[j * d + k] - x[i * d + k]);
    }
    for (int j = 0; j < n; j++) {
        rank[j] = 0;
        for (int o = 0; o < n; o++) rank[j] += far[o] < far[j] || (far[o] == far[j] && o < j);
    }
    free(far);
}

/* Trustworthiness (Venna & Kaski 2001) and the part of the 15 nearest rows that are so on the map. */
static void judge(double figure[2], const float *x, const spot_points *y)
{
    int n = y->n, *before = malloc(2 * (size_t)n * sizeof *before), *after = before + n;
    double penalty = 0, kept = 0;

    for (int i = 0; i < n; i++) {
        rank_rows(before, x, n, D, i);
        rank_rows(after, y->at, n, y->d, i);
        for (int j = 0; j < n; j++) {
            if (j == i || after[j] > K) continue;
            if (before[j] <= K) kept++;
            else                penalty += before[j] - K;
        }
    }
    figure[0] = 1 - penalty * 2 / (n * K * (2.0 * n - 3 * K - 1));
    figure[1] = kept / (n * K);
    free(before);
}

TEST(maps_are_as_good_as_those_of_umap_learn)
{
    enum { SEEDS = SANITIZED ? 1 : 3 };
    static float x[N * D];
    const int n = N;

    for (const setting *s = golden.s; s < golden.s + 2; s++)
        for (int dim = 2; dim >= 1; dim--) {
            double mean[2] = { 0 };
            spot_ctx c = check_ctx(2);
            spot_embed_config cfg = spot_embed_defaults();
            spot_view v = { .n = N, .d = D, .feature = golden.x };
            spot_arena a;

            cfg.method = SPOT_REDUCE_UMAP;
            cfg.normalise = s->normalise;
            cfg.dim = dim;
            cfg.umap.neighbours = s->neighbours;
            cfg.umap.min_dist = s->min_dist;
            prepare(x, s);
            CHECK_OK(&c, spot_arena_open(&c, &a, spot_embed_bytes(1, &n, D, &cfg, c.threads)));
            for (unsigned seed = 0; seed < SEEDS; seed++) {
                spot_seed from = { seed, 3 };
                spot_points out;
                double figure[2];

                a.used = 0;
                CHECK_OK(&c, spot_embed_fit(&c, &a, 1, &out, &v, &from, &cfg));
                if (SANITIZED) continue;
                judge(figure, x, &out);
                for (int f = 0; f < 2; f++) mean[f] += figure[f] / SEEDS;
            }
            spot_arena_close(&a);
            print_message("%d neighbours, dim %d: trustworthiness %.4f (umap-learn %.4f), recall %.4f (%.4f)\n", s->neighbours,
                          dim, mean[0], s->figure[2 - dim][0], mean[1], s->figure[2 - dim][1]);
            for (int f = 0; f < 2; f++) assert_true(SANITIZED || mean[f] >= s->figure[2 - dim][f] - 0.01);
        }
}

TEST(neighbours_are_exact_and_ties_go_to_the_lower_row)
{
    enum { ROWS = 7, NEAR = 3 };
    float x[ROWS] = { 0, 1, 1, 3, 1, -1, 8 }, near[ROWS * NEAR];
    const int want[ROWS][NEAR] = { { 1, 2, 4 }, { 0, 2, 4 }, { 0, 1, 4 }, { 1, 2, 4 }, { 0, 1, 2 }, { 0, 1, 2 }, { 1, 2, 3 } };
    int column[ROWS * NEAR];
    spot_neighbours find = { { x, ROWS, 1 }, NEAR, column, near };
    spot_arena a = spot_arena_counting();
    spot_ctx c = check_ctx(2);

    CHECK_OK(&c, spot_neighbours_find(&c, &a, 1, &find));
    CHECK_OK(&c, spot_arena_open(&c, &a, a.peak));
    CHECK_OK(&c, spot_neighbours_find(&c, &a, 1, &find));
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < NEAR; j++) {
            float apart = x[i] - x[want[i][j]];
            assert_int_equal(column[i * NEAR + j], want[i][j]);
            assert_true(near[i * NEAR + j] == apart * apart);
        }
    find.k = ROWS;
    CHECK_FAILS(&c, spot_neighbours_find(&c, &a, 1, &find), SPOT_INVALID, "neighbours.sizes: 7 | 7");
    spot_arena_close(&a);
}

/* A chain of n points has eigenvectors sqrt(degree) cos(pi k i / (n - 1)). Two chains, one of LONG points and one of SHORT, lie
 * about their places, each within half of the way between these. */
TEST(first_maps_are_eigenvectors)
{
    enum { LONG = 60, SHORT = 30, BOTH = LONG + SHORT };
    int start[BOTH + 1] = { 0 }, to[2 * BOTH], piece[BOTH];
    float weight[2 * BOTH], place[2 * BOTH], y[2 * BOTH];
    spot_ctx c = check_ctx(2);

    for (int i = 0; i < BOTH; i++) {
        start[i + 1] = start[i];
        for (int j = i - 1; j <= i + 1; j += 2)
            if (j >= 0 && j < BOTH && (i < LONG) == (j < LONG)) {
                weight[start[i + 1]] = 0.3f;
                to[start[i + 1]++] = j;
            }
        place[2 * i] = i < LONG ? -3 : 1;
        place[2 * i + 1] = 0;
    }
    for (int pieces = 1; pieces <= 2; pieces++) {
        int n = pieces == 1 ? LONG : BOTH;
        spot_spectral s = { .n = n, .dim = 2, .start = start, .to = to, .weight = weight, .piece = piece, .place = place,
                            .y = y, .seed = { 1, 2 } };
        spot_arena a = spot_arena_counting();

        CHECK_OK(&c, spot_spectral_components(&c, &a, 1, &s));
        CHECK_OK(&c, spot_spectral_map(&c, &a, 1, &s));
        CHECK_OK(&c, spot_arena_open(&c, &a, a.peak));
        CHECK_OK(&c, spot_spectral_components(&c, &a, 1, &s));
        assert_int_equal(s.pieces, pieces);
        CHECK_OK(&c, spot_spectral_map(&c, &a, 1, &s));
        for (int k = 0; k < 2 && pieces == 1; k++) {
            double sign = y[k * n] < 0 ? -1 : 1;
            for (int i = 0; i < LONG; i++) {
                double degree = i == 0 || i == LONG - 1 ? 0.5 : 1;
                CHECK_NEAR(sign * y[k * n + i], 10 * sqrt(degree) * cos(acos(-1) * (k + 1) * i / (LONG - 1)), 0.05);
            }
        }
        for (int i = 0; i < n && pieces == 2; i++) {
            double centre = i < LONG ? -10 : 10 / 3.0, reach = 20 / 3.0 + 1e-3;
            assert_true(fabs(y[i] - centre) <= reach && fabs(y[n + i]) <= reach && piece[i] == (i >= LONG));
        }
        spot_arena_close(&a);
    }
}

/* Many problems and alone, one thread and three: the same bits. The first is of several pieces. */
TEST(bits_do_not_depend_on_threads_or_company)
{
    enum { PROBLEMS = 4, FEATURES = 20 };
    static const int n[PROBLEMS] = { 333, 150, 40, 7 };
    float *keep[PROBLEMS] = { 0 };
    spot_view v[PROBLEMS];
    spot_seed seeds[PROBLEMS];

    for (int p = 0; p < PROBLEMS; p++) {
        v[p] = blobs(n[p], FEATURES, p ? 1 : 5, (uint64_t)p);
        seeds[p] = (spot_seed){ 1, (uint32_t)p };
    }
    for (int threads = 1; threads <= 3; threads += 2) {
        spot_ctx c = check_ctx(threads);
        spot_embed_config cfg = spot_embed_defaults();
        spot_points out[PROBLEMS], alone;
        spot_arena a;

        cfg.method = SPOT_REDUCE_UMAP;
        cfg.umap.epochs = 60;
        CHECK_OK(&c, spot_arena_open(&c, &a, spot_embed_bytes(PROBLEMS, n, FEATURES, &cfg, threads)));
        CHECK_OK(&c, spot_embed_fit(&c, &a, PROBLEMS, out, v, seeds, &cfg));
        for (int p = 0; p < PROBLEMS; p++) {
            size_t bytes = (size_t)n[p] * 2 * sizeof(float);
            if (!keep[p]) memcpy(keep[p] = malloc(bytes), out[p].at, bytes);
            assert_memory_equal(keep[p], out[p].at, bytes);
        }
        a.used = 0;
        CHECK_OK(&c, spot_embed_fit(&c, &a, 1, &alone, &v[1], &seeds[1], &cfg));
        assert_memory_equal(alone.at, keep[1], (size_t)n[1] * 2 * sizeof(float));
        a.used = 0;
        CHECK_OK(&c, spot_embed_fit(&c, &a, 1, &alone, &v[1], &seeds[0], &cfg));
        assert_memory_not_equal(alone.at, keep[1], (size_t)n[1] * 2 * sizeof(float));
        spot_arena_close(&a);
    }
    for (int p = 0; p < PROBLEMS; p++) free(keep[p]), blobs_free(&v[p]);
}

static void hear(void *user, spot_log_level level, const char *text)
{
    if (level == SPOT_LOG_WARN) snprintf(user, 256, "%s", text);
}

TEST(degenerate_inputs_end_finite)
{
    static const struct { int n, d, dim, distinct, neighbours; } cases[] = {
        { 4, 3, 2, 4, 15 }, { 5, 1, 2, 5, 2 }, { 31, 2, 3, 31, 15 }, { 100, 8, 2, 100, 15 }, { 100, 8, 2, 1, 15 },
        { 90, 8, 1, 2, 15 }, { 40, 4, 5, 3, 10 }, { 60, 6, 8, 60, 10 }, { 60, 4, 32, 60, 59 }, { 64, 3, 2, 64, 2 },
    };
    for (int i = 0; i < LEN(cases); i++) {
        int n = cases[i].n, d = cases[i].d;
        char told[256] = "";
        spot_ctx c = { .ops = &spot_ops_cpu, .threads = 2, .on_log = hear, .user = told };
        spot_embed_config cfg = spot_embed_defaults();
        spot_view v = blobs(n, d, 2, 5);
        spot_seed seed = { 1, 9 };
        spot_points out;
        spot_arena a;

        cfg.method = SPOT_REDUCE_UMAP;
        cfg.dim = cases[i].dim;
        cfg.umap.neighbours = cases[i].neighbours;
        cfg.umap.epochs = 100;
        for (int r = cases[i].distinct; r < n; r++)
            memcpy(v.feature + r * d, v.feature + r % cases[i].distinct * d, d * sizeof(float));
        CHECK_OK(&c, spot_arena_open(&c, &a, spot_embed_bytes(1, &n, d, &cfg, 2)));
        CHECK_OK(&c, spot_embed_fit(&c, &a, 1, &out, &v, &seed, &cfg));
        for (int e = 0; e < n * cfg.dim; e++) assert_true(isfinite(out.at[e]) && fabsf(out.at[e]) < 1e4);
        if (n < cases[i].neighbours) assert_non_null(strstr(told, "EC 9: 4 points have no 15 neighbours"));
        else                         assert_string_equal(told, "");
        spot_arena_close(&a);
        blobs_free(&v);
    }
}

/* hardness: rows of length 1, h = x . w beside the map of x - h w; every reducer, on PCA, whose map a formula gives. */
TEST(hardness_comes_first_and_is_taken_out)
{
    enum { ROWS = 30, FEATURES = 6 };
    spot_view v = blobs(ROWS, FEATURES, 2, 4), left = v;
    float head[FEATURES] = { 3, 0, -4, 0, 0, 0 }, rest[ROWS * FEATURES];
    const int n = ROWS;

    v.head = head;
    left.feature = rest;
    for (int normalise = 0; normalise < 2; normalise++)
        for (int dim = 1; dim <= 3; dim++) {
            spot_ctx c = check_ctx(2);
            spot_embed_config cfg = spot_embed_defaults(), plain = cfg;
            spot_seed seed = { 1, 0 };
            spot_points out, want;
            spot_arena a, b;

            cfg.method = plain.method = SPOT_REDUCE_PCA;
            cfg.normalise = normalise;
            cfg.hardness = 1;
            cfg.dim = dim;
            plain.dim = dim > 1 ? dim - 1 : 1;
            for (int i = 0; i < ROWS; i++) {
                double length = 0, h;
                for (int k = 0; k < FEATURES; k++) length += pow(v.feature[i * FEATURES + k], 2);
                for (int k = 0; k < FEATURES; k++)
                    rest[i * FEATURES + k] = (float)(v.feature[i * FEATURES + k] / (normalise ? sqrt(length) : 1));
                h = 0.6 * rest[i * FEATURES] - 0.8 * rest[i * FEATURES + 2];
                rest[i * FEATURES] -= (float)(0.6 * h);
                rest[i * FEATURES + 2] += (float)(0.8 * h);
            }
            CHECK_OK(&c, spot_arena_open(&c, &a, spot_embed_bytes(1, &n, FEATURES, &cfg, 2)));
            CHECK_OK(&c, spot_arena_open(&c, &b, spot_embed_bytes(1, &n, FEATURES, &plain, 2)));
            CHECK_OK(&c, spot_embed_fit(&c, &a, 1, &out, &v, &seed, &cfg));
            CHECK_OK(&c, spot_embed_fit(&c, &b, 1, &want, &left, &seed, &plain));
            assert_int_equal(out.d, dim);
            for (int i = 0; i < ROWS; i++) {
                const float *x = v.feature + i * FEATURES;
                double length = 0;
                for (int k = 0; k < FEATURES; k++) length += pow(x[k], 2);
                CHECK_NEAR(out.at[i * dim], (0.6 * x[0] - 0.8 * x[2]) / (normalise ? sqrt(length) : 1), 1e-5);
                for (int k = 1; k < dim; k++) CHECK_NEAR(out.at[i * dim + k], want.at[i * plain.dim + k - 1], 1e-4);
            }
            spot_arena_close(&a);
            spot_arena_close(&b);
        }
    blobs_free(&v);
}

/* A row of zeros stays one, and reducer none gives rows of length 1. */
TEST(normalise_makes_rows_of_length_one)
{
    enum { ROWS = 5, FEATURES = 3 };
    float x[ROWS * FEATURES] = { 3, 4, 0, 0, 0, 0, 1, 0, 0, 1e-9f, 0, 0, -2, -2, 1 };
    const float want[ROWS * FEATURES] = { 0.6f, 0.8f, 0, 0, 0, 0, 1, 0, 0, 1e-3f, 0, 0, -2 / 3.0f, -2 / 3.0f, 1 / 3.0f };
    spot_view v = { .n = ROWS, .d = FEATURES, .feature = x };
    spot_embed_config cfg = spot_embed_defaults();
    spot_ctx c = check_ctx(1);
    spot_seed seed = { 1, 0 };
    spot_points out;
    spot_arena a;

    cfg.method = SPOT_REDUCE_NONE;
    cfg.normalise = 1;
    CHECK_OK(&c, spot_arena_open(&c, &a, spot_embed_bytes(1, &v.n, FEATURES, &cfg, 1)));
    CHECK_OK(&c, spot_embed_fit(&c, &a, 1, &out, &v, &seed, &cfg));
    for (int e = 0; e < ROWS * FEATURES; e++) CHECK_NEAR(out.at[e], want[e], 1e-7);
    spot_arena_close(&a);
}

TEST(says_what_is_wrong)
{
    spot_ctx c = check_ctx(1);
    spot_embed_config cfg = spot_embed_defaults(), bad;
    spot_view v = blobs(20, 3, 1, 1);
    float head[3] = { 0, 0, 0 };
    spot_seed seed = { 1, 7 };
    spot_arena a;
    spot_points out;

    cfg.method = SPOT_REDUCE_UMAP;
    CHECK_OK(&c, spot_arena_open(&c, &a, spot_embed_bytes(1, &v.n, v.d, &cfg, 1)));
    bad = cfg, bad.umap.neighbours = 1;
    CHECK_FAILS(&c, spot_embed_fit(&c, &a, 1, &out, &v, &seed, &bad),
                SPOT_USAGE, "setting.value: umap.neighbours | 1 | 2");
    bad = cfg, bad.umap.min_dist = 2;
    CHECK_FAILS(&c, spot_embed_fit(&c, &a, 1, &out, &v, &seed, &bad), SPOT_USAGE, "umap.min_dist: 2 | spread 1");
    bad = cfg, bad.umap.lr = NAN;
    CHECK_FAILS(&c, spot_embed_fit(&c, &a, 1, &out, &v, &seed, &bad), SPOT_USAGE, "setting.value: umap.lr | nan");
    bad = cfg, bad.dim = 33;
    CHECK_FAILS(&c, spot_embed_fit(&c, &a, 1, &out, &v, &seed, &bad), SPOT_UNSUPPORTED, "umap.dimensions: 32");
    bad = cfg, bad.hardness = 1;
    CHECK_FAILS(&c, spot_embed_fit(&c, &a, 1, &out, &v, &seed, &bad), SPOT_INPUT, "hardness.no_head");
    v.head = head;
    CHECK_FAILS(&c, spot_embed_fit(&c, &a, 1, &out, &v, &seed, &bad), SPOT_INPUT, "hardness.head_length: EC 7 | length 0");
    head[1] = NAN;
    CHECK_FAILS(&c, spot_embed_fit(&c, &a, 1, &out, &v, &seed, &bad), SPOT_INPUT, "hardness.head_length");
    bad.method = SPOT_REDUCE_NONE;
    CHECK_FAILS(&c, spot_embed_fit(&c, &a, 1, &out, &v, &seed, &bad), SPOT_USAGE, "hardness.no_reducer");
    v.feature[4] = NAN;
    CHECK_FAILS(&c, spot_embed_fit(&c, &a, 1, &out, &v, &seed, &cfg), SPOT_INPUT, "features.value: feature 1 | row 1");
    spot_arena_close(&a);
    blobs_free(&v);
}

int main(void) { return run_all_tests_in(read_golden, NULL); }
