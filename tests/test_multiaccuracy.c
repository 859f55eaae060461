/* test_multiaccuracy.c - auditors against scikit-learn's Ridge, rounds against the golden script's and, under compat, those of
 * Domino's slicer; and data that say nothing. ctest: threads, both */
#include "check_blas.h"
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "golden_file.h"
#include "check_bdm.h"
#include "bdm/auditors.h"
#include "fit/ridge.h"
#include "spotter/bdm.h"
#include "spotter/rng.h"

static void open_auditors(spot_ctx *c, spot_arena *host, spot_auditors *a)
{
    spot_auditors *all[] = { a };
    spot_arena counted = spot_arena_counting();
    CHECK_OK(c, spot_auditors_take(c, &counted, &counted, a));
    CHECK_OK(c, spot_arena_open(c, host, counted.peak + spot_auditors_scratch(1)));
    CHECK_OK(c, spot_auditors_take(c, host, host, a));
    CHECK_OK(c, spot_auditors_open(c, 1, all));
}

/* The regressions of the golden file; then again after rows went to other parts and back, which adds and takes off rows. */
static void check_regression(FILE *f)
{
    spot_ctx c = check_ctx(2);
    spot_auditors a = { .wanted = { 1, 1, 1 } }, *all[] = { &a };
    spot_arena host;
    double ridge, *want;
    float *x;
    get(f, &a.n, sizeof(int));
    get(f, &a.d, sizeof(int));
    get(f, &ridge, sizeof ridge);
    size_t n = (size_t)a.n;
    a.feature = x = read_new(f, n * (size_t)a.d * sizeof *x);
    open_auditors(&c, &host, &a);
    uint8_t *part = read_new(f, n);
    get(f, a.target, n * sizeof(double));
    want = read_new(f, 3 * n * sizeof *want);
    for (int pass = 0; pass < 3; pass++) {
        for (size_t i = 0; i < n; i++) a.part[i] = pass == 1 ? (part[i] + i / 3) % 2 * (i % 5 ? 1 : SPOT_NO_PART) : part[i];
        CHECK_OK(&c, spot_auditors_fit(&c, &host, 1, all, ridge));
        for (size_t i = 0; i < 3 * n && pass != 1; i++) CHECK_NEAR(a.h[i], want[i], 1e-8);
    }
    spot_arena_close(&host);
    free(want), free(part), free(x);
}

static void check_rounds(FILE *f)
{
    spot_ctx c = check_ctx(2);
    spot_bdm_config cfg = spot_bdm_defaults(SPOT_MULTIACCURACY);
    spot_hypotheses found;
    spot_arena a;
    int head[5];
    double numbers[3];
    get(f, head, sizeof head);
    get(f, numbers, sizeof numbers);
    size_t n = (size_t)head[0];
    spot_points points = { .n = head[0], .d = head[1], .at = read_new(f, n * (size_t)head[1] * sizeof(float)) };
    spot_view view = { .n = head[0], .confidence = read_new(f, n * sizeof(float)) };
    view.label = read_new(f, n);
    cfg.compat = head[2];
    cfg.top = head[3];
    cfg.multiaccuracy.held_out = numbers[0];
    cfg.multiaccuracy.eta = numbers[1];
    cfg.multiaccuracy.ridge = numbers[2];
    CHECK_OK(&c, find(&c, &a, &found, 1, &view, &points, &cfg));
    assert_int_equal(found.len, head[4]);
    for (int k = 0; k < found.len; k++) {
        uint8_t *member = malloc(n);
        double score, error = 0;
        int at = 0;
        get(f, &score, sizeof score);
        get(f, member, n);
        CHECK_NEAR(found.h[k].score, score, 1e-8 * fabs(score));
        for (int i = 0; i < view.n; i++)
            if (member[i]) {
                assert_true(at < found.h[k].len && found.h[k].row[at++] == i);
                error += spot_view_error(&view, i);
            }
        assert_int_equal(at, found.h[k].len);
        CHECK_NEAR(found.h[k].mean_error, error / at, 1e-12);
        free(member);
    }
    spot_arena_close(&a);
    free(points.at), free(view.confidence), free(view.label);
}

TEST(agrees_with_the_golden_rounds)
{
    FILE *f = fopen("golden/multiaccuracy.bin", "rb");
    int count;
    assert_non_null(f);
    get(f, &count, sizeof count);
    while (count--) check_regression(f);
    get(f, &count, sizeof count);
    while (count--) check_rounds(f);
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
}

/* Group 3 of 4, and nobody else, is called negative; the features say which group. */
enum { N = 200, D = 6 };
static void groups(float x[N * D], float confidence[N], uint32_t seed)
{
    spot_rng r = spot_rng_at(seed, SPOT_RNG_BOOTSTRAP, 0, 0);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < D; j++) x[i * D + j] = (float)(0.3 * spot_rng_normal(&r) + 3 * (j == i % 4));
        confidence[i] = (float)((i % 4 == 3 ? 0.1 : 0.9) + 0.05 * spot_rng_uniform(&r));
    }
}

TEST(finds_the_failing_group)
{
    float x[N * D], confidence[N];
    bdm_bed b = bed_of(SPOT_MULTIACCURACY, 1, N, D, x, confidence);
    groups(x, confidence, 1);
    CHECK_OK(&b.c, find_in(&b, &b.cfg));
    assert_int_equal(b.found.len, 10);
    assert_int_equal(b.found.h[0].len, N / 4);
    for (int i = 0; i < N / 4; i++) assert_int_equal(b.found.h[0].row[i], 4 * i + 3);
    for (int k = 1; k < b.found.len; k++) assert_true(b.found.h[k].score <= b.found.h[k - 1].score);
    b.cfg.multiaccuracy.gain = 1;             /* the repaired classifier leaves less than that to the third auditor */
    CHECK_OK(&b.c, find_in(&b, &b.cfg));
    assert_true(b.found.len >= 1 && b.found.len < 10 && b.found.h[b.found.len - 1].score > 1);
    b.cfg = spot_bdm_defaults(SPOT_MULTIACCURACY);
    b.cfg.least = 30;                         /* more than are held out of the group: it is audited among all rows */
    CHECK_OK(&b.c, find_in(&b, &b.cfg));
    assert_true(b.found.len > 0 && b.found.h[0].len == N / 4 && b.found.h[0].row[0] == 3 && b.found.h[0].score < 5);
    b.cfg.least = N / 3;                      /* more than are held out at all */
    CHECK_OK(&b.c, find_in(&b, &b.cfg));
    assert_int_equal(b.found.len, 0);
    spot_arena_close(&b.a);
}

TEST(data_that_say_nothing)
{
    spot_ctx c = check_ctx(1);
    float x[N * D], confidence[N];
    uint8_t label[N];
    spot_bdm_config cfg = spot_bdm_defaults(SPOT_MULTIACCURACY);
    for (int kind = 0; kind < 9; kind++)
        for (int compat = 0; compat < 2; compat++) {
            spot_view view = { .n = kind == 4 ? 3 : kind == 5 ? 12 : N, .confidence = confidence };
            spot_points points = { .n = view.n, .d = D, .at = x };
            spot_hypotheses found;
            spot_arena a;
            groups(x, confidence, 2);
            cfg.compat = compat;
            for (int i = 0; i < N; i++) {
                if (kind == 0) confidence[i] = 1;                           /* no errors */
                if (kind == 1) confidence[i] = 0;                           /* only errors */
                if (kind == 2) memcpy(x + i * D, x, D * sizeof *x);         /* one point */
                if (kind == 3) x[i * D + 1] = -1;                           /* a constant feature */
                if (kind == 6) confidence[i] = (float)(i % 2);              /* nothing between 0 and 1 */
                if (kind == 7) label[i] = 0, view.label = label;            /* negatives alone */
                if (kind == 8) x[i * D] = 5e11f * (float)(i % 3);           /* extreme values */
            }
            CHECK_OK(&c, find(&c, &a, &found, 1, &view, &points, &cfg));
            for (int k = 0; k < found.len; k++) {
                const spot_hypothesis *h = &found.h[k];
                assert_true(h->len > 0 && isfinite(h->score) && h->mean_error >= 0 && h->mean_error <= 1);
            }
            if ((kind == 0 && !compat) || kind == 4 || kind == 5) {
                assert_int_equal(found.len, 0);
                assert_non_null(strstr(heard, "multiaccuracy's list is empty"));
            } else assert_true(found.len > 0);
            if (kind == 1 && !compat) assert_int_equal(found.h[0].len, N);
            spot_arena_close(&a);
        }
}

TEST(bad_input_gets_a_sentence)
{
    float x[N * D], confidence[N];
    spot_ridge_fit fit = { .n = 1, .d = 1, .scores = 5 };
    spot_ridge_rows rows = { .n = 1, .d = 0 };
    bdm_bed b = bed_of(SPOT_MULTIACCURACY, 1, N, D, x, confidence);
    spot_bdm_config bad;
    groups(x, confidence, 3);
    bad = b.cfg, bad.multiaccuracy.ridge = 0;
    CHECK_FAILS(&b.c, find_in(&b, &bad),
                SPOT_INVALID, "setting.value: multiaccuracy.ridge | 0 | 1e-12");
    bad = b.cfg, bad.multiaccuracy.held_out = NAN;
    CHECK_FAILS(&b.c, find_in(&b, &bad), SPOT_INVALID, "setting.value: held_out | nan");
    x[8] = NAN;
    CHECK_FAILS(&b.c, find_in(&b, &b.cfg), SPOT_INPUT, "features.value: feature 2 | row 1");
    CHECK_FAILS(&b.c, spot_ridge_score(&b.c, 1, &fit), SPOT_INVALID, "ridge.scores: 5");
    CHECK_FAILS(&b.c, spot_ridge_gram(&b.c, 1, &rows), SPOT_INVALID, "ridge.sizes: 1 | 0");
    spot_arena_close(&b.a);
}

int main(void)
{
    first_ec = 7;             /* the golden script's */
    return run_all_tests();
}
