/* test_newer_methods.c - influence, svm, density and dbscan_group against scipy, scikit-learn and cleanlab
 * (tools/golden/newer_methods.py), and data that say nothing. ctest: threads, both */
#include "check_blas.h"
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "golden_file.h"
#include "check_bdm.h"
#include "fit/hinge.h"
#include "spotter/bdm.h"
#include "spotter/rng.h"

static int whole(FILE *f)
{
    int v;

    get(f, &v, sizeof v);
    return v;
}

static double number(FILE *f)
{
    double v;

    get(f, &v, sizeof v);
    return v;
}

/* Reads a data set: n, d, x, p. close_bed frees it. */
static bdm_bed read_bed(FILE *f, int method)
{
    int n = whole(f), d = whole(f);
    float *x = read_new(f, (size_t)n * (size_t)d * sizeof *x), *p = read_new(f, (size_t)n * sizeof *p);

    return bed_of(method, 2, n, d, x, p);
}

static void close_bed(bdm_bed *b)
{
    spot_arena_close(&b->a);
    free(b->points.at), free(b->view.confidence);
}

/* The list of a fit of the bed; the caller closes *fit. */
static void fit_bed(bdm_bed *b, spot_fit *fit)
{
    const spot_seed seed = { 1, first_ec };

    spot_arena_close(&b->a);
    CHECK_OK(&b->c, spot_arena_open(&b->c, &b->a, spot_bdm_bytes(1, &b->points.n, b->points.d, &b->cfg, b->c.threads)));
    b->view.d = b->points.d;
    b->view.feature = b->points.at;
    CHECK_OK(&b->c, spot_bdm_fit(&b->c, &b->a, 1, &b->found, fit, &b->view, &b->points, &seed, &b->cfg));
}

static const void *array_of(const spot_fit *fit, const char *name)
{
    for (int t = 0; t < fit->count; t++)
        if (!strcmp(fit->tensor[t].name, name)) return fit->tensor[t].data;
    fail_msg("the fit has no %s", name);
    return NULL;
}

/* ---- influence ---- */

static void check_sets(FILE *f, const bdm_bed *b)
{
    int len = whole(f);

    assert_int_equal(b->found.len, len);
    for (int k = 0; k < len; k++) {
        int rows = whole(f), *row = read_new(f, (size_t)rows * sizeof *row);
        double error = 0;
        assert_int_equal(b->found.h[k].len, rows);
        assert_memory_equal(b->found.h[k].row, row, (size_t)rows * sizeof *row);
        for (int i = 0; i < rows; i++) error += spot_view_error(&b->view, row[i]);
        CHECK_NEAR(b->found.h[k].score, error * error / rows, 1e-9);
        CHECK_NEAR(b->found.h[k].mean_error, error / rows, 1e-12);
        free(row);
    }
}

/* Sum over the found sets of their embeddings' squared distances to the mean. */
static double inertia(const bdm_bed *b, const spot_fit *fit, int dims)
{
    const double *axis = array_of(fit, "influence.axis"), *offset = array_of(fit, "influence.offset");
    double all = 0;

    for (int k = 0; k < b->found.len; k++)
        for (int t = 0; t < dims; t++) {
            double sum = 0, squares = 0;
            for (int i = 0; i < b->found.h[k].len; i++) {
                int row = b->found.h[k].row[i], d = b->points.d;
                double mu = offset[t];
                for (int j = 0; j < d; j++) mu += axis[t * d + j] * b->points.at[row * d + j];
                mu *= b->view.confidence[row] - 1.0;
                sum += mu;
                squares += mu * mu;
            }
            all += squares - sum * sum / b->found.h[k].len;
        }
    return all;
}

/* The sets of the best of 20 starts, as scikit-learn has several. */
static void fit_best(bdm_bed *b, spot_fit *fit, int dims)
{
    double least = INFINITY;
    uint32_t best = 0;

    for (first_ec = 1; first_ec <= 20; first_ec++) {
        double own;
        fit_bed(b, fit);
        own = inertia(b, fit, dims);
        if (own < least * (1 - 1e-9)) least = own, best = first_ec;
        spot_fit_close(fit);
    }
    first_ec = best;
    fit_bed(b, fit);
}

static void check_influence(FILE *f)
{
    bdm_bed b = read_bed(f, SPOT_INFLUENCE);
    int dims = whole(f), d = b.points.d;
    double *value = read_new(f, (size_t)dims * sizeof *value), *v = read_new(f, (size_t)dims * (size_t)(d + 1) * sizeof *v);
    const double *axis, *offset;
    spot_fit fit = { 0 };

    b.cfg.influence.dimensions = dims;
    b.cfg.influence.clusters = whole(f);
    fit_best(&b, &fit, dims);
    axis = array_of(&fit, "influence.axis");
    offset = array_of(&fit, "influence.offset");
    for (int k = 0; k < dims; k++) {
        double along = offset[k] * v[k * (d + 1) + d], sign;
        for (int j = 0; j < d; j++) along += axis[k * d + j] * v[k * (d + 1) + j];
        sign = along > 0 ? 1 : -1;
        for (int j = 0; j <= d; j++)
            CHECK_NEAR((j < d ? axis[k * d + j] : offset[k]) * sqrt(value[k]), sign * v[k * (d + 1) + j], 1e-9);
    }
    check_sets(f, &b);
    spot_fit_close(&fit);
    b.cfg.influence.slices = SPOT_INFLUENCE_RULE;
    b.cfg.influence.accuracy = 0.5;
    b.cfg.influence.depth = 4;
    b.cfg.least = 8;
    CHECK_OK(&b.c, find_in(&b, &b.cfg));
    check_sets(f, &b);
    free(value), free(v);
    close_bed(&b);
}

/* ---- svm ---- */

enum { COSTS = 7 };

/* One machine on all rows; returns its objective. */
static double objective(spot_ctx *c, const float *z, const float *p, int n, int d, double cost, double tolerance)
{
    int *row = malloc((size_t)n * sizeof *row), wrong = 0;
    double *room = malloc((3 * (size_t)n + (size_t)d + 1) * sizeof *room), *bound = room, *w = room + 3 * n, f, loss = 0;
    spot_hinge_end end;
    spot_hinge_problem h = { .n = n, .d = d, .rows = n, .x = z, .row = row, .bound = bound, .cost = cost, .most = 1000000,
                             .tolerance = tolerance, .seed = { 1, 2 }, .w = w, .dual = room + n, .square = room + 2 * n,
                             .end = &end };

    for (int i = 0; i < n; i++) row[i] = i, wrong += p[i] < 0.5;
    for (int i = 0; i < n; i++) bound[i] = n / 2.0 / (p[i] < 0.5 ? -wrong : n - wrong);
    CHECK_OK(c, spot_hinge_fit(c, NULL, 1, &h));
    assert_true(end.reached && end.primal - end.dual <= fmax(tolerance, 1e-12) * end.primal);
    for (int i = 0; i < n; i++) {
        f = w[d];
        for (int j = 0; j < d; j++) f += z[i * d + j] * w[j];
        loss += cost * fabs(bound[i]) * fmax(0, 1 - (bound[i] > 0 ? f : -f));
    }
    for (int j = 0; j <= d; j++) loss += w[j] * w[j] / 2;
    CHECK_NEAR(end.primal, loss, 1e-12 + 1e-10 * loss);
    for (int i = 0; i < n; i++) assert_true(h.dual[i] >= 0 && h.dual[i] <= cost * fabs(bound[i]));
    free(row), free(room);
    return loss;
}

static void check_svm(FILE *f)
{
    bdm_bed b = read_bed(f, SPOT_SVM);
    int n = b.points.n, d = b.points.d, row = 0;
    double *z64 = read_new(f, (size_t)n * (size_t)d * sizeof *z64), best = 0, *want;
    float *z = malloc((size_t)n * (size_t)d * sizeof *z);
    char line[80];

    for (int e = 0; e < n * d; e++) z[e] = (float)z64[e];
    for (int k = 0; k < COSTS; k++) {
        double best_known = number(f), theirs = number(f), accuracy = number(f), cost = pow(10, k - 6), ours;
        ours = objective(&b.c, z, b.view.confidence, n, d, cost, 1e-9);
        CHECK_NEAR(ours, best_known, 1e-7 * best_known);
        assert_true(ours <= theirs * (1 + 1e-7));
        if (accuracy > best) best = accuracy, snprintf(line, sizeof line, "balanced accuracy %.3f, C %g", accuracy, cost);
    }
    want = read_new(f, (size_t)n * sizeof *want);
    b.cfg.svm.tolerance = 1e-9;
    b.cfg.svm.most = 1000000;
    CHECK_OK(&b.c, find_in(&b, &b.cfg));
    assert_non_null(strstr(murmured, line));
    assert_string_equal(heard, "");
    for (int k = 0; k < b.found.len; k++) {
        const spot_hypothesis *h = &b.found.h[k];
        double sum = 0;
        for (int i = 0; i < h->len; i++) {
            sum -= want[h->row[i]];
            if (k == 0) CHECK_NEAR(h->weight[h->row[i]], 1 / (1 + exp(want[h->row[i]])), 1e-4);
        }
        CHECK_NEAR(h->score, sum / h->len, 1e-4);
        row += h->len;
    }
    for (int i = 0; i < n; i++) row -= want[i] < 0;
    assert_int_equal(row, 0);           /* all rows of negative values, no others */
    free(z), free(z64), free(want);
    close_bed(&b);
}

/* ---- density ---- */

static void check_density(FILE *f)
{
    int n = whole(f), k = whole(f), m = whole(f);
    double lambda = number(f), *loss = read_new(f, (size_t)n * sizeof *loss), ours = 0, best, sum = 0;
    int *near = read_new(f, (size_t)n * (size_t)k * sizeof *near);
    float *x = read_new(f, 2 * (size_t)n * sizeof *x), *p = read_new(f, (size_t)n * sizeof *p), *w;
    bdm_bed b = bed_of(SPOT_DENSITY, 1, n, 2, x, p);

    best = number(f);
    b.cfg.top = 1;
    b.cfg.density.neighbours = k;
    b.cfg.density.lambda = lambda;
    b.cfg.density.share = m / (double)n;
    b.cfg.density.steps = 100000;
    CHECK_OK(&b.c, find_in(&b, &b.cfg));
    assert_int_equal(b.found.len, 1);
    w = b.found.h[0].weight;
    for (int i = 0; i < n; i++) {
        ours += loss[i] * w[i];
        sum += w[i];
        for (int e = 0; e < k; e++) ours += lambda / k * w[i] * w[near[i * k + e]];
        assert_true(w[i] >= 0 && w[i] <= 1);
    }
    assert_true(sum <= m + 1e-6);
    print_message("f %.4f of %.4f\n", ours, best);
    assert_true(ours <= best * (1 + 1e-6) && ours >= 0.96 * best);
    free(loss), free(near);
    close_bed(&b);
}

/* ---- dbscan_group ---- */

static void check_dbscan(FILE *f)
{
    bdm_bed b = read_bed(f, SPOT_DBSCAN_GROUP);
    int n = b.points.n, *label = read_new(f, (size_t)n * sizeof *label), worst = whole(f), kept = whole(f);
    double *score = read_new(f, (size_t)kept * sizeof *score);
    int names[SPOT_MAX_HYPOTHESES], clusters = 0;

    for (int k = 0; k <= n; k++)
        for (int i = 0; i < n; i++)
            if (label[i] == k) { names[clusters++] = k; break; }
    assert_int_equal(clusters, kept);
    CHECK_OK(&b.c, find_in(&b, &b.cfg));
    assert_int_equal(b.found.len, kept);
    for (int k = 0; k < kept; k++) {
        const spot_hypothesis *h = &b.found.h[k];
        int of = label[h->row[0]], place = 0, rows = 0;
        for (int i = 0; i < h->len; i++) assert_int_equal(label[h->row[i]], of);
        for (int i = 0; i < n; i++) rows += label[i] == of;
        assert_int_equal(h->len, rows);
        while (names[place] != of) place++;
        CHECK_NEAR(fmin(1 - h->score, 1), score[place], 1e-6);
    }
    b.cfg.dbscan.flag = 1;
    CHECK_OK(&b.c, find_in(&b, &b.cfg));
    assert_int_equal(b.found.len, worst >= 0);
    if (worst >= 0) assert_int_equal(label[b.found.h[0].row[0]], worst);
    free(label), free(score);
    close_bed(&b);
}

TEST(agrees_with_the_golden_answers)
{
    FILE *f = fopen("golden/newer_methods.bin", "rb");

    assert_non_null(f);
    check_influence(f);
    check_svm(f);
    for (int cases = whole(f); cases; cases--) check_density(f);
    for (int cases = whole(f); cases; cases--) check_dbscan(f);
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
}

/* ---- all methods ---- */

static const int methods[] = { SPOT_INFLUENCE, SPOT_SVM, SPOT_DENSITY, SPOT_DBSCAN_GROUP };
enum { N = 240, D = 6 };

/* Group 3 of 4 is called negative; the features say which group. */
static void groups(float x[N * D], float confidence[N])
{
    spot_rng r = spot_rng_at(4, SPOT_RNG_BOOTSTRAP, 0, 0);

    for (int i = 0; i < N; i++) {
        for (int j = 0; j < D; j++) x[i * D + j] = (float)(0.3 * spot_rng_normal(&r) + 3 * (j == i % 4));
        confidence[i] = (float)((i % 4 == 3 ? 0.1 : 0.85) + 0.05 * spot_rng_uniform(&r));
    }
}

TEST(finds_the_failing_group)
{
    float x[N * D], confidence[N];

    for (int q = 0; q < LEN(methods); q++) {
        bdm_bed b = bed_of(methods[q], 2, N, D, x, confidence);
        groups(x, confidence);
        b.cfg.svm.share = b.cfg.density.share = 0.25;
        b.cfg.influence.clusters = 2;
        CHECK_OK(&b.c, find_in(&b, &b.cfg));
        assert_string_equal(heard, "");
        assert_true(b.found.len > 0 && b.found.len <= b.cfg.top);
        if (methods[q] != SPOT_DBSCAN_GROUP) assert_int_equal(b.found.h[0].len, N / 4);
        else assert_true(b.found.h[0].len > N / 4 - 5);      /* a row that is nobody's neighbour is a cluster of its own */
        for (int i = 0; i < b.found.h[0].len; i++) assert_int_equal(b.found.h[0].row[i] % 4, 3);
        for (int k = 1; k < b.found.len; k++) assert_true(b.found.h[k].score <= b.found.h[k - 1].score);
        spot_arena_close(&b.a);
    }
}

/* The classifier is as sure of a negative row's label as of a positive one's: the same lists. */
TEST(labels_are_those_of_the_rows)
{
    float x[N * D], confidence[N];
    uint8_t label[N];

    for (int q = 1; q < LEN(methods); q++) {
        bdm_bed b = bed_of(methods[q], 1, N, D, x, confidence), other = bed_of(methods[q], 1, N, D, x, confidence);
        groups(x, confidence);
        for (int i = 0; i < N; i++) confidence[i] = i % 4 == 3 ? 0.125f : 0.875f;
        CHECK_OK(&b.c, find_in(&b, &b.cfg));
        for (int i = 0; i < N; i++)
            if (!(label[i] = i % 5 != 0)) confidence[i] = 1 - confidence[i];
        other.view.label = label;
        CHECK_OK(&other.c, find_in(&other, &other.cfg));
        check_same_hypotheses(&other.found, &b.found, 0);
        spot_arena_close(&b.a);
        spot_arena_close(&other.a);
    }
}

/* Among few rows that fail alike the optimum shares the weight evenly; they are a slice all the same. */
TEST(density_of_few_rows_has_slices)
{
    static const int sizes[] = { 20, 25, 29, 40, 60 };
    float x[N * D], confidence[N];

    for (int s = 0; s < LEN(sizes); s++) {
        bdm_bed b = bed_of(SPOT_DENSITY, 1, sizes[s], D, x, confidence);
        groups(x, confidence);
        for (int i = 0; i < sizes[s]; i++) confidence[i] = i % 4 == 3 ? 0.05f : 0.95f;
        CHECK_OK(&b.c, find_in(&b, &b.cfg));
        assert_true(b.found.len > 0);
        for (int i = 0; i < b.found.h[0].len; i++) assert_int_equal(b.found.h[0].row[i] % 4, 3);
        spot_arena_close(&b.a);
    }
}

/* A constant feature says nothing: no deviation that comes of rounding scales it, so a new row may differ a little in it. */
TEST(svm_does_not_look_at_a_constant)
{
    float x[N * D], confidence[N];
    bdm_bed b = bed_of(SPOT_SVM, 1, 50, D, x, confidence);
    const double *column;
    spot_fit fit;

    groups(x, confidence);
    for (int i = 0; i < N; i++) x[i * D + 1] = 1;
    fit_bed(&b, &fit);
    column = array_of(&fit, "svm.column");
    assert_true(column[2] == 1 && column[3] == 0 && column[5] > 0);
    spot_fit_close(&fit);
    spot_arena_close(&b.a);
}

TEST(data_that_say_nothing)
{
    float x[N * D], confidence[N];

    for (int q = 0; q < LEN(methods); q++)
        for (int rule = 0; rule < 2; rule++)
            for (int kind = 0; kind < 10; kind++) {
                int n = kind == 4 ? 1 : kind == 5 ? 2 : kind == 9 ? 7 : N;
                bdm_bed b = bed_of(methods[q], 2, n, D, x, confidence);
                b.cfg.influence.slices = b.cfg.dbscan.flag = rule;
                groups(x, confidence);
                for (int i = 0; i < N; i++) {
                    if (kind == 0) confidence[i] = 1;                           /* no errors */
                    if (kind == 1) confidence[i] = 0;                           /* only errors */
                    if (kind == 2) memcpy(x + i * D, x, D * sizeof *x);         /* one point */
                    if (kind == 3) x[i * D + 1] = 0, confidence[i] = 0.3f;      /* a constant feature, all equally wrong */
                    if (kind == 6) memset(x + i * D, 0, D * sizeof *x);         /* the origin */
                    if (kind == 7) confidence[i] = i != 17;                     /* one error */
                    if (kind == 8) x[i * D] = 5e11f * (float)(i % 3);           /* extreme values */
                }
                CHECK_OK(&b.c, find_in(&b, &b.cfg));
                for (int k = 0; k < b.found.len; k++) {
                    const spot_hypothesis *h = &b.found.h[k];
                    assert_true(h->len > 0 && isfinite(h->score) && h->mean_error >= 0 && h->mean_error <= 1);
                    for (int i = 1; i < h->len; i++) assert_true(h->row[i - 1] < h->row[i] && h->row[i] < n);
                    for (int i = 0; h->weight && i < n; i++) assert_true(h->weight[i] >= 0 && isfinite(h->weight[i]));
                }
                if (kind == 0 && methods[q] != SPOT_DBSCAN_GROUP) {
                    assert_int_equal(b.found.len, 0);
                    assert_non_null(strstr(heard, "list is empty"));
                }
                if (kind == 1 && methods[q] == SPOT_DENSITY) assert_int_equal(b.found.len, 10);
                spot_arena_close(&b.a);
            }
}

TEST(bad_input_gets_a_sentence)
{
    float x[N * D], confidence[N];
    spot_hinge_problem none = { .n = 1, .d = 1, .rows = 1, .most = 1, .cost = 0 };
    bdm_bed b = bed_of(SPOT_SVM, 1, N, D, x, confidence);
    spot_bdm_config bad = b.cfg;

    groups(x, confidence);
    bad.svm.share = 0;
    CHECK_FAILS(&b.c, find_in(&b, &bad), SPOT_INVALID, "setting.value: svm.share | 0 | 0.0001");
    bad = spot_bdm_defaults(SPOT_DENSITY);
    bad.density.neighbours = 65;
    CHECK_FAILS(&b.c, find_in(&b, &bad), SPOT_INVALID, "setting.value: density.neighbours | 65");
    bad = spot_bdm_defaults(SPOT_DBSCAN_GROUP);
    x[8] = NAN;
    CHECK_FAILS(&b.c, find_in(&b, &bad), SPOT_INPUT, "features.value: feature 2 | row 1");
    CHECK_FAILS(&b.c, spot_hinge_fit(&b.c, NULL, 1, &none), SPOT_INVALID, "hinge.sizes: cost 0");
    spot_arena_close(&b.a);
}

/* The same bits alone and in a batch of more than a group, for one thread and three. */
TEST(batches_and_threads_change_nothing)
{
    enum { MANY = 18 };
    float x[N * D], confidence[N];
    int n[MANY];
    spot_view view[MANY];
    spot_points points[MANY];
    spot_seed seed[MANY];

    groups(x, confidence);
    for (int p = 0; p < MANY; p++) {
        n[p] = p % 3 ? N : N - 40 - p;
        view[p] = (spot_view){ .n = n[p], .confidence = confidence };
        points[p] = (spot_points){ .n = n[p], .d = D, .at = x };
        seed[p] = (spot_seed){ 1, (uint32_t)p };
    }
    for (int q = 0; q < LEN(methods); q++) {
        const spot_bdm_config cfg = spot_bdm_defaults(methods[q]);
        static spot_hypotheses all[MANY], one;
        spot_ctx three = check_ctx(3), single = check_ctx(1);
        spot_arena a, own;
        CHECK_OK(&three, spot_arena_open(&three, &a, spot_bdm_bytes(MANY, n, D, &cfg, 3)));
        CHECK_OK(&three, spot_bdm_find(&three, &a, MANY, all, view, points, seed, &cfg));
        for (int p = 0; p < MANY; p += 17) {
            CHECK_OK(&single, spot_arena_open(&single, &own, spot_bdm_bytes(1, &n[p], D, &cfg, 1)));
            CHECK_OK(&single, spot_bdm_find(&single, &own, 1, &one, &view[p], &points[p], &seed[p], &cfg));
            check_same_hypotheses(&all[p], &one, 0);
            spot_arena_close(&own);
        }
        spot_arena_close(&a);
    }
}

int main(void) { return run_all_tests(); }
