/* test_spotlight.c - spotlights against the official code's trace, what they find, and views that leave nothing to find.
 * ctest: threads, heavy */
#include "check_blas.h"
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "heard.h"
#include "golden_file.h"
#include "fit/spotlight_step.h"
#include "spotter/bdm.h"
#include "spotter/rng.h"

/* --- The op against tools/golden/spotlight.py */

enum { MOST = 1000, CASES = 6 };

static struct golden {
    int n, d;
    float *x;
    double *loss, *final[CASES];     /* of each case, the weights at its end */
} gold;

static void *aligned(size_t bytes)
{
    void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
    assert_non_null(p);
    return p;
}

static void near(double got, double want, int name, int step, int what)
{
    static const char *const names[] = { "objective", "total weight", "learning rate", "a weight" };
    if (!(fabs(got - want) <= 1e-5 * fabs(want) + (what == 3 ? 1e-12 : 0)))
        fail_msg("case %d, step %d: %s is %.12g, upstream's %.12g", name, step, names[what], got, want);
}

/* The first steps of cfg->steps: the barrier's end is where its schedule has come to by then. */
static spot_spotlight_config first_steps(const spot_spotlight_config *cfg, int steps)
{
    spot_spotlight_config part = *cfg;
    double widest = (1 - cfg->min_weight) / cfg->min_weight;

    part.steps = steps;
    part.barrier_end = widest * pow(cfg->barrier_end / widest, (steps - 1.0) / (cfg->steps - 1.0));
    return part;
}

static void run(spot_ctx *c, const double *loss, const spot_spotlight_config *cfg, double *weight, double *trace)
{
    int full = cfg->precision == SPOT_PRECISION_FULL, d = gold.d;
    double *state = aligned((size_t)d * (d + 2) * sizeof *state);
    spot_spotlight_problem p = { gold.n, d, gold.x, loss, weight, state, state + d, full ? state + 2 * d : NULL, trace };
    spot_arena a;

    memset(state, 0, (size_t)d * (d + 2) * sizeof *state);
    for (int j = 0; j < (full ? d : 1); j++) state[d + j] = log(full ? 1e-3 : 1e-4);
    for (int j = 0; full && j < d; j++) p.axes[j * (d + 1)] = 1;
    CHECK_OK(c, spot_arena_open(c, &a, spot_spotlight_scratch(1, gold.n, d, cfg, c->threads)));
    CHECK_OK(c, spot_spotlight_fit(c, &a, 1, &p, cfg, 1));
    assert_int_equal(a.used, 0);
    spot_arena_close(&a);
    free(state);
}

TEST(follows_the_official_trace)
{
    spot_ctx c = check_ctx(2);
    FILE *f = fopen("golden/spotlight.bin", "rb");
    int cases;
    assert_non_null(f);
    get(f, &gold.n, sizeof gold.n);
    get(f, &gold.d, sizeof gold.d);
    get(f, &cases, sizeof cases);
    assert_int_equal(cases, CASES);
    size_t n = gold.n;
    gold.x = aligned(n * gold.d * sizeof *gold.x);
    gold.loss = aligned(n * sizeof *gold.loss);
    get(f, gold.x, n * gold.d * sizeof *gold.x);
    get(f, gold.loss, n * sizeof *gold.loss);
    for (int k = 0; k < cases; k++) {
        int head[6];                  /* kernel, full, steps, patience, every, after */
        double fraction[2], *loss = aligned(n * sizeof *loss), greatest = 0;
        static double trace[3 * MOST], want[3 * MOST];
        gold.final[k] = aligned(n * sizeof *gold.final[k]);
        get(f, head, sizeof head);
        get(f, fraction, sizeof fraction);
        get(f, want, 3 * (size_t)head[2] * sizeof *want);
        spot_spotlight_config cfg = { .min_weight = fraction[0], .kernel = head[0], .precision = head[1], .steps = head[2],
                                      .patience = head[3], .lr = fraction[1], .barrier_scale = 1, .barrier_end = 0.05 };
        for (size_t i = 0; head[5] >= 0 && i < n; i++) greatest = fmax(greatest, gold.final[head[5]][i]);
        for (size_t i = 0; i < n; i++)
            loss[i] = gold.loss[i] * (head[5] < 0 ? 1 : 1 - gold.final[head[5]][i] / greatest);
        run(&c, loss, &cfg, gold.final[k], trace);
        for (int e = 0; e < 3 * head[2]; e++) near(trace[e], want[e], k, e / 3, e % 3);
        for (int at = head[4]; at <= head[2]; at += head[4]) {
            spot_spotlight_config part = first_steps(&cfg, at);
            double weight[1024], *mine = aligned(n * sizeof *mine);
            get(f, weight, n * sizeof *weight);
            run(&c, loss, &part, mine, NULL);
            for (size_t i = 0; i < n; i++) near(mine[i], weight[i], k, at, 3);
            free(mine);
        }
        double worst = 0;
        for (int e = 0; e < 3 * head[2]; e++) worst = fmax(worst, fabs(trace[e] - want[e]) / fabs(want[e]));
        print_message("case %d: within %.1e of upstream over %d steps\n", k, worst, head[2]);
        free(loss);
    }
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
}

/* --- The method on planted rows: 10 groups of 24 on 12 columns, of which the classifier fails on group 0, then on group 1 */

enum { GROUP = 24, GROUPS = 10, N = GROUP * GROUPS, D = 12 };

static float at[N * D], confidence[N];
static void plant(void)
{
    spot_rng r = spot_rng_at(3, SPOT_RNG_BOOTSTRAP, 0, 0);
    for (int i = 0; i < N; i++) {
        int g = i % GROUPS;
        spot_rng centre = spot_rng_at(3, SPOT_RNG_BOOTSTRAP, 1, (uint32_t)g);
        for (int j = 0; j < D; j++) at[i * D + j] = (float)(5 + 3 * spot_rng_normal(&centre) + 0.5 * spot_rng_normal(&r));
        confidence[i] = (float)((g == 0 ? 0.02 : g == 1 ? 0.2 : 0.97) + 0.01 * spot_rng_uniform(&r));
    }
}

/* Problems of the first rows[p] planted rows. */
static spot_status find(spot_ctx *c, spot_arena *a, spot_hypotheses *out, int problems, const int *rows,
                        const spot_bdm_config *cfg)
{
    spot_view view[4];
    spot_points points[4];
    spot_seed seed[4];
    for (int p = 0; p < problems; p++) {
        view[p] = (spot_view){ .n = rows[p], .confidence = confidence };
        points[p] = (spot_points){ .n = rows[p], .d = D, .at = at };
        seed[p] = (spot_seed){ 1, (uint32_t)p };
    }
    heard[0] = 0;
    c->on_log = hear;
    CHECK_OK(c, spot_arena_open(c, a, spot_bdm_bytes(problems, rows, D, cfg, c->threads)));
    return spot_bdm_find(c, a, problems, out, view, points, seed, cfg);
}

/* Shares of h's rows that are of group g, and of the group's rows that are in h. */
static void expect_group(const spot_hypothesis *h, int g)
{
    int in = 0;
    for (int k = 0; k < h->len; k++) {
        in += h->row[k] % GROUPS == g;
        assert_true(k == 0 || h->row[k] > h->row[k - 1]);
    }
    if (in < 0.9 * h->len || in < 0.8 * GROUP) fail_msg("group %d: %d of %d rows", g, in, h->len);
}

/* The greatest weight is 1, and the members are the rows of greatest weight. */
static void expect_weights(const spot_hypothesis *h, const spot_bdm_config *cfg)
{
    float most = 0, member = 1, other = 0;
    for (int i = 0, k = 0; i < N; i++) {
        int in = k < h->len && h->row[k] == i;
        k += in;
        assert_true(h->weight[i] >= 0 && h->weight[i] <= 1);
        if (h->weight[i] > most) most = h->weight[i];
        if (in && h->weight[i] < member) member = h->weight[i];
        if (!in && h->weight[i] > other) other = h->weight[i];
    }
    assert_true(most == 1 && other <= member);
    if (cfg->spotlight.membership == SPOT_MEMBER_WEIGHT) assert_true(member > cfg->threshold - 1e-6 && other < cfg->threshold);
}

static spot_bdm_config settings(void)
{
    spot_bdm_config cfg = spot_bdm_defaults(SPOT_SPOTLIGHT);
    cfg.top = 3;
    cfg.spotlight.min_weight = 0.06;
    return cfg;
}

TEST(finds_what_was_planted)
{
    int rows = N;
    plant();
    for (int kernel = 0; kernel < 2; kernel++)
        for (int full = 0; full < 2; full++)
            for (int membership = 0; membership < 2; membership++) {
                spot_bdm_config cfg = settings();
                spot_ctx c = check_ctx(1 + full);
                spot_hypotheses found;
                spot_arena a;
                double sum = 0;
                cfg.spotlight.kernel = kernel;
                cfg.spotlight.precision = full;
                cfg.spotlight.membership = membership;
                cfg.spotlight.min_weight = membership ? 0.1 : 0.06;
                if (kernel || full) cfg.spotlight.lr = 3e-3;
                CHECK_OK(&c, find(&c, &a, &found, 1, &rows, &cfg));
                assert_string_equal(heard, "");
                assert_true(found.len >= 2 && found.components >= found.len);
                expect_group(&found.h[0], 0);
                expect_group(&found.h[1], 1);
                expect_weights(&found.h[0], &cfg);
                expect_weights(&found.h[1], &cfg);
                for (int k = 0; k < found.h[0].len; k++) sum += 1 - (double)confidence[found.h[0].row[k]];
                CHECK_NEAR(found.h[0].mean_error, sum / found.h[0].len, 1e-12);
                assert_true(found.h[0].score > found.h[1].score && found.h[0].score < -log(0.02) + 1e-6);
                if (membership) assert_int_equal(found.h[0].len, N / 10);
                spot_arena_close(&a);
            }
}

/* Shift and scale of the features do not matter, but under compat, where they may leave no row any weight. */
TEST(scale_matters_to_compat_alone)
{
    spot_bdm_config cfg = settings();
    spot_ctx c = check_ctx(1);
    spot_hypotheses found, again;
    spot_arena a, b;
    int rows = N;
    plant();
    CHECK_OK(&c, find(&c, &a, &found, 1, &rows, &cfg));
    for (int e = 0; e < N * D; e++) at[e] = 1024 * at[e] - 4096;
    CHECK_OK(&c, find(&c, &b, &again, 1, &rows, &cfg));
    assert_string_equal(heard, "");
    for (int k = 0; k < 2; k++) {
        assert_int_equal(found.h[k].len, again.h[k].len);
        assert_memory_equal(found.h[k].row, again.h[k].row, (size_t)found.h[k].len * sizeof(int));
    }
    spot_arena_close(&a);
    spot_arena_close(&b);
    cfg.compat = 1;
    cfg.spotlight.kernel = SPOT_KERNEL_COMPACT;
    for (int full = 0; full < 2; full++) {
        cfg.spotlight.precision = full;
        CHECK_OK(&c, find(&c, &a, &found, 1, &rows, &cfg));
        assert_int_equal(found.len, 0);
        assert_non_null(strstr(heard, "spotlight 1 lost every row"));
        spot_arena_close(&a);
    }
}

/* The list is empty, or finite and within the rows; the message says why it is empty. */
static void expect_sane(spot_ctx *c, const int *rows, const spot_bdm_config *cfg, const char *words)
{
    spot_hypotheses found;
    spot_arena a;
    CHECK_OK(c, find(c, &a, &found, 1, rows, cfg));
    if (words && (found.len || !strstr(heard, words))) fail_msg("%d hypotheses, \"%s\" wanted in: %s", found.len, words, heard);
    for (int k = 0; k < found.len; k++) {
        assert_true(found.h[k].len >= 1 && found.h[k].len <= *rows);
        assert_true(isfinite(found.h[k].score) && found.h[k].mean_error >= 0 && found.h[k].mean_error <= 1);
    }
    spot_arena_close(&a);
}

TEST(views_that_say_nothing)
{
    for (int variant = 0; variant < 8; variant++) {      /* kernel, precision, compat */
        spot_bdm_config cfg = settings();
        spot_ctx c = check_ctx(1);
        int rows = N, few = 2, one = 1;
        cfg.spotlight.kernel = variant & 1;
        cfg.spotlight.precision = variant >> 1 & 1;
        cfg.compat = variant >> 2;
        cfg.spotlight.steps = cfg.spotlight.precision ? 100 : 400;
        plant();
        expect_sane(&c, &few, &cfg, NULL);
        expect_sane(&c, &one, &cfg, "same features");
        for (int i = 0; i < N; i++) confidence[i] = 1;                     /* no error at all */
        expect_sane(&c, &rows, &cfg, "equally wrong about every row");
        for (int i = 0; i < N; i++) confidence[i] = 0;                     /* only errors */
        expect_sane(&c, &rows, &cfg, "equally wrong about every row");
        for (int i = 0; i < N; i++) confidence[i] = i % 3 == 0;            /* probabilities of exactly 0 and 1 */
        expect_sane(&c, &rows, &cfg, NULL);
        for (int i = 0; i < N; i++) at[i * D + 3] = 7;                     /* a constant feature */
        expect_sane(&c, &rows, &cfg, NULL);
        for (int i = 0; i < N; i++) memcpy(at + i * D, at + i % 5 * D, D * sizeof *at);    /* duplicate rows */
        expect_sane(&c, &rows, &cfg, NULL);
        for (int i = 0; i < N; i++) memcpy(at + i * D, at, D * sizeof *at);
        expect_sane(&c, &rows, &cfg, "same features");
        plant();
        cfg.spotlight.lr = 100;                                            /* parameters anywhere */
        expect_sane(&c, &rows, &cfg, NULL);
    }
}

/* Labels turn a confidence round: negatives of confidence 0 are no errors. */
TEST(labels_count)
{
    spot_ctx c = check_ctx(1);
    spot_bdm_config cfg = settings();
    uint8_t label[N];
    spot_view view = { .n = N, .confidence = confidence, .label = label };
    spot_points points = { .n = N, .d = D, .at = at };
    spot_seed seed = { 1, 0 };
    spot_hypotheses found;
    spot_arena a;
    int rows = N;
    plant();
    for (int i = 0; i < N; i++) label[i] = i % GROUPS != 0;
    CHECK_OK(&c, spot_arena_open(&c, &a, spot_bdm_bytes(1, &rows, D, &cfg, 1)));
    CHECK_OK(&c, spot_bdm_find(&c, &a, 1, &found, &view, &points, &seed, &cfg));
    expect_group(&found.h[0], 1);
    spot_arena_close(&a);
}

TEST(bad_input_gets_a_sentence)
{
    spot_ctx c = check_ctx(1);
    spot_bdm_config cfg = settings(), bad;
    spot_hypotheses found;
    spot_arena a;
    int rows = N;
    plant();
#define REFUSED(what, status, words)                                         \
    bad = cfg;                                                               \
    what;                                                                    \
    CHECK_FAILS(&c, find(&c, &a, &found, 1, &rows, &bad), status, words);    \
    spot_arena_close(&a);
    REFUSED(bad.spotlight.min_weight = 0, SPOT_INVALID, "setting.value: spotlight.min_weight | 0 | 1e-06 | 0.5")
    REFUSED(bad.spotlight.lr = NAN, SPOT_INVALID, "setting.value: lr | nan")
    REFUSED(bad.spotlight.steps = 1, SPOT_INVALID, "setting.value: steps | 1")
    REFUSED(bad.spotlight.barrier_end = 0, SPOT_INVALID, "setting.value: barrier_end | 0")
    REFUSED(bad.threshold = 2, SPOT_INVALID, "setting.value: threshold | 2")
    REFUSED(at[D + 1] = NAN, SPOT_INPUT, "features.value: feature 1 | row 1")
    at[D + 1] = 0;
    REFUSED(confidence[5] = NAN, SPOT_INPUT, "confidence.value: row 5")
#undef REFUSED
    spot_spotlight_problem p = { .n = 4, .d = 12 };
    CHECK_FAILS(&c, spot_spotlight_fit(&c, NULL, 1, &p, &cfg.spotlight, 0), SPOT_INVALID, "spotlight_fit.sizes: 32");
}

/* Upstream's plateau rule takes a negative value that is 1e-4 worse for progress; ours does not. */
TEST(plateau_rules_differ)
{
    static const double values[] = { 5, 4.99995, 4.9999, 4.9998, 4.9997, 4.9996 };   /* J: -J rises a little each step */
    for (int compat = 0; compat < 2; compat++) {
        spot_spotlight_config cfg = { .min_weight = 0.1, .steps = 10, .patience = 3, .lr = 1, .barrier_end = 0.05 };
        spot_spotlight_state s = spot_spotlight_begin(100, &cfg, compat);
        for (int t = 0; t < LEN(values); t++) spot_spotlight_end_step(&s, values[t]);
        CHECK_NEAR(s.lr, compat ? 1 : 0.5, 0);
    }
}
