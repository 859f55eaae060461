/* spot_versions_compare: exact tests against sums and simulation; equal versions are not called worse; worsened, mended and
 * small blindspots; what does not fit is refused.
 * ctest: long, both */
#define _POSIX_C_SOURCE 200809L
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "stats/paired.h"
#include "versions/slice_versions_shift.h"
#include "versions/version_place.h"
#include "spotter/rng.h"
#include "spotter/versions.h"

enum { N = 2000, D = 8, CLASSES = 2, BLOBS = 16, PLANTED = 60 };

/* ---- the tests by themselves ---- */

/* Pascal's triangle, exact in doubles. */
static double heads_at_least(int a, int n)
{
    double row[64] = { 1 }, tail = 0;

    for (int i = 1; i <= n; i++)
        for (int k = i; k > 0; k--) row[k] += row[k - 1];
    for (int k = a; k <= n; k++) tail += row[k];
    return ldexp(tail, -n);
}

TEST(mcnemar_is_a_sum_of_binomials)
{
    for (int n = 0; n <= 40; n++)
        for (int a = 0; a <= n; a++) {
            const int most = a > n - a ? a : n - a;
            CHECK_NEAR(spot_mcnemar_tail(a, n - a), heads_at_least(a, n), 1e-12);
            CHECK_NEAR(spot_mcnemar(a, n - a), fmin(1, 2 * heads_at_least(most, n)), 1e-12);
        }
    assert_int_equal(spot_mcnemar_enough(1, 0.05), 5);         /* 1/32 */
    assert_int_equal(spot_mcnemar_enough(12, 0.05), 8);        /* 12/256 */
}

/* Where nothing changed the limit has a closed form, z^2 / (n + z^2); elsewhere the interval holds a known change. */
TEST(an_interval_of_a_paired_change_has_its_coverage)
{
    const spot_interval none = spot_paired_change(0, 0, 60, 1.6448536269514722);
    int missed = 0;

    CHECK_NEAR(none.high, 2.7055434540954 / (60 + 2.7055434540954), 1e-9);
    CHECK_NEAR(none.low, -none.high, 1e-9);
    assert_true(isnan(spot_paired_change(0, 0, 0, 1).value));
    for (int t = 0; t < 4000; t++) {
        spot_rng r = spot_rng_at(1, SPOT_RNG_BOOTSTRAP, 0, (uint32_t)t);
        int up = 0, down = 0;
        for (int i = 0; i < 60; i++) {
            const double u = spot_rng_uniform(&r);
            up += u < 0.2, down += u > 0.9;
        }
        const spot_interval k = spot_paired_change(up, down, 60, 1.959963984540054);
        assert_true(k.low <= k.value && k.value <= k.high);
        missed += k.low > 0.1 || k.high < 0.1;
    }
    if (missed > 0.065 * 4000) fail_msg("%d of 4000 intervals miss", missed);
}

/* ---- a world with a blindspot ---- */

typedef struct {
    float feature[N][D], confidence[SPOT_VERSIONS][N];
    int target[N], blob[N], predicted[SPOT_VERSIONS][N];
    char *name[CLASSES];
    spot_subject s[SPOT_VERSIONS];
    const spot_subject *both[SPOT_VERSIONS];
} world;

/* Two classes of BLOBS blobs each; `planted` rows of class 0 lie in a blob of their own. rate: chance of an error outside;
 * inside0, inside1: within the blindspot in each version. together: chance that version 2 repeats the draw of version 1. */
static void make_world(world *w, uint32_t number, double rate, double inside0, double inside1, double together, int planted)
{
    static char *const names[CLASSES] = { "cat", "dog" };
    spot_rng r = spot_rng_at(11, SPOT_RNG_BOOTSTRAP, number, 0);
    float centre[CLASSES * BLOBS + 1][D];

    for (int b = 0; b < LEN(centre); b++)
        for (int k = 0; k < D; k++) centre[b][k] = 2 * (float)spot_rng_normal(&r);
    for (int i = 0; i < N; i++) {
        const bool in = i < 2 * planted && i % 2 == 0;
        const double p[SPOT_VERSIONS] = { in ? inside0 : rate, in ? inside1 : rate };
        double u = spot_rng_uniform(&r);
        w->target[i] = i % 2;
        w->blob[i] = in ? CLASSES * BLOBS : (i % 2) * BLOBS + (int)spot_rng_below(&r, BLOBS);
        for (int k = 0; k < D; k++) w->feature[i][k] = centre[w->blob[i]][k] + (float)spot_rng_normal(&r);
        for (int v = 0; v < SPOT_VERSIONS; v++) {
            if (v && spot_rng_uniform(&r) >= together) u = spot_rng_uniform(&r);
            w->predicted[v][i] = u < p[v] ? 1 - w->target[i] : w->target[i];
            w->confidence[v][i] = (float)(u < p[v] ? 0.05 + 0.4 * u / p[v] : 0.55 + 0.4 * (u - p[v]) / (1 - p[v]));
        }
    }
    memcpy(w->name, names, sizeof w->name);
    for (int v = 0; v < SPOT_VERSIONS; v++) {
        w->s[v] = (spot_subject){ .n = N, .d = D, .classes = CLASSES, .feature = w->feature[0], .target = w->target,
                                  .confidence = w->confidence[v], .predicted = w->predicted[v], .class_name = w->name,
                                  .source = "a test" };
        w->both[v] = &w->s[v];
    }
}

/* Whether most rows of the slice are planted ones, and at least a third of those are in it. */
static bool is_planted(const world *w, const spot_version_slice *p)
{
    int in = 0;

    for (int i = 0; i < p->size; i++) in += w->blob[p->row[i]] == CLASSES * BLOBS;
    return 2 * in > p->size && 3 * in >= PLANTED;
}

static const uint64_t zero = 0;

static spot_discover_options ward(spot_bdm_config *bdm)
{
    spot_discover_options o = spot_discover_defaults();

    *bdm = spot_bdm_defaults(SPOT_WARD);
    o.bdm = bdm;
    o.bdms = 1;
    o.seed = &zero;
    return o;
}

typedef struct { int trials, failed, better, verdict[6], any, none; } tally;

static void run_trials(tally *t, int trials, uint32_t first, double inside0, double inside1, double together, int planted)
{
    spot_bdm_config bdm;
    const spot_discover_options d = ward(&bdm);
    spot_versions_options o = spot_versions_defaults();
    spot_ctx c = check_ctx(2);
    static world w;

    o.search = &d;
    *t = (tally){ .trials = trials };
    for (int i = 0; i < trials; i++) {
        spot_versions v;
        int best = -1, better = 0;
        make_world(&w, first + (uint32_t)i, 0.1, inside0, inside1, together, planted);
        CHECK_OK(&c, spot_versions_compare(&c, &v, w.both, &o));
        for (int k = v.slices - 1; k >= 0; k--) {
            if (is_planted(&w, &v.slice[k])) best = (int)v.slice[k].verdict;
            better += v.slice[k].verdict == SPOT_CHANGE_BETTER || v.slice[k].verdict == SPOT_CHANGE_MENDED;
        }
        for (int k = 0; k < v.classes; k++) better += v.of[k].verdict == SPOT_CHANGE_BETTER;
        t->failed += v.failed;
        t->better += better > 0;
        t->any += v.slices > 0;
        if (best < 0) t->none++;
        else t->verdict[best]++;
        spot_versions_close(&v);
    }
    if (getenv("SPOT_VERSIONS_TRIALS"))
        printf("inside %.2f -> %.2f, together %.2f, planted %d: %d trials, failed %d, better %d, with slices %d; "
               "planted: new %d worse %d mended %d better %d same %d pending %d not found %d\n",
               inside0, inside1, together, planted, trials, t->failed, t->better, t->any, t->verdict[SPOT_CHANGE_NEW],
               t->verdict[SPOT_CHANGE_WORSE], t->verdict[SPOT_CHANGE_MENDED], t->verdict[SPOT_CHANGE_BETTER],
               t->verdict[SPOT_CHANGE_SAME], t->verdict[SPOT_CHANGE_PENDING], t->none);
}

static int trials(int usual)
{
    const char *said = getenv("SPOT_VERSIONS_TRIALS");

    return SANITIZED ? 2 : said ? atoi(said) : usual;
}

TEST(an_equal_version_is_not_called_worse)
{
    tally t;

    run_trials(&t, trials(20), 0, 0.45, 0.45, 0, PLANTED);
    if (t.failed > 4) fail_msg("%d of %d equal versions are called worse", t.failed, t.trials);
}

TEST(a_worsened_blindspot_is_found)
{
    tally t;

    run_trials(&t, trials(10), 10000, 0.1, 0.45, 0.5, PLANTED);
    if (!SANITIZED && t.verdict[SPOT_CHANGE_NEW] + t.verdict[SPOT_CHANGE_WORSE] < 5)
        fail_msg("%d of %d", t.verdict[SPOT_CHANGE_NEW] + t.verdict[SPOT_CHANGE_WORSE], t.trials);
}

TEST(a_mended_blindspot_is_found)
{
    tally t;

    run_trials(&t, trials(10), 20000, 0.45, 0.08, 0.5, PLANTED);
    if (!SANITIZED && t.verdict[SPOT_CHANGE_BETTER] + t.verdict[SPOT_CHANGE_MENDED] < 5)
        fail_msg("%d of %d", t.verdict[SPOT_CHANGE_BETTER] + t.verdict[SPOT_CHANGE_MENDED], t.trials);
    assert_true(t.failed <= 1);
}

/* Blindspots of 24 rows in which a few rows turn wrong: they cannot tell, and fail nothing. */
TEST(a_slice_of_few_rows_is_pending)
{
    tally t;

    run_trials(&t, trials(10), 30000, 0.3, 0.45, 0.9, 24);
    assert_true(t.verdict[SPOT_CHANGE_SAME] == 0);
    assert_true(t.failed <= 2);
}

/* ---- one world in detail ---- */

static spot_versions compare(spot_ctx *c, const world *w)
{
    spot_bdm_config bdm;
    const spot_discover_options d = ward(&bdm);
    spot_versions_options o = spot_versions_defaults();
    spot_versions v;

    o.search = &d;
    CHECK_OK(c, spot_versions_compare(c, &v, w->both, &o));
    return v;
}

static void check_counts(const world *w, const spot_version_slice *p)
{
    int lost = 0, gained = 0, wrong[SPOT_VERSIONS] = { 0 };

    assert_int_equal(p->compared, p->counts.rows);
    for (int i = 0, k = 0; i < p->compared; i++) {
        const int r = p->at[i];
        const bool was = w->predicted[0][r] != w->target[r], is = w->predicted[1][r] != w->target[r];
        while (k < p->size && p->row[k] != r) k++;
        assert_true(k < p->size);              /* a compared row is one of the slice */
        if (p->cls >= 0) assert_int_equal(w->target[r], p->cls);
        wrong[0] += was, wrong[1] += is, lost += is && !was, gained += was && !is;
    }
    assert_int_equal(lost, p->counts.lost);
    assert_int_equal(gained, p->counts.gained);
    assert_int_equal(wrong[0], p->counts.wrong[0]);
    assert_int_equal(wrong[1], p->counts.wrong[1]);
    if (p->compared) CHECK_NEAR(p->counts.change.value, (double)(lost - gained) / p->compared, 1e-12);
}

/* The rows that turned, among the n rows of class cls (-1: all). */
static void check_turned(const world *w, const spot_version_counts *k, const int *row, int n, int cls)
{
    int lost = 0, gained = 0;

    for (int i = 0; i < n; i++) {
        const int r = row ? row[i] : i;
        const bool was = w->predicted[0][r] != w->target[r], is = w->predicted[1][r] != w->target[r];
        if ((cls >= 0 && w->target[r] != cls) || was == is) continue;
        assert_int_equal(is ? k->lost_row[lost++] : k->gained_row[gained++], r);
    }
    assert_int_equal(lost, k->lost);
    assert_int_equal(gained, k->gained);
}

TEST(counts_are_those_of_the_rows)
{
    static world w;
    spot_ctx c = check_ctx(2);
    spot_versions v;
    int outside = 0;

    make_world(&w, 77, 0.1, 0.1, 0.8, 0.5, PLANTED);
    v = compare(&c, &w);
    assert_true(v.slices >= 1 && v.failed && !v.equal);
    assert_true(v.slice[0].verdict >= SPOT_CHANGE_WORSE && is_planted(&w, &v.slice[0]));
    for (int k = 0; k < v.slices; k++) {
        check_counts(&w, &v.slice[k]);
        check_turned(&w, &v.slice[k].counts, v.slice[k].at, v.slice[k].compared, -1);
    }
    assert_int_equal(v.classes, 3);
    for (int k = 0; k < v.classes; k++) check_turned(&w, &v.of[k].counts, NULL, N, v.of[k].cls);
    assert_int_equal(v.of[0].counts.rows, N);
    for (int i = 0; i < N; i++) outside += w.predicted[0][i] == w.target[i] && w.predicted[1][i] != w.target[i];
    assert_int_equal(outside, v.of[0].counts.lost);
    for (int k = 0; k < v.outside; k++) {
        const int r = v.lost[k].row;
        assert_true(w.predicted[0][r] == w.target[r] && w.predicted[1][r] != w.target[r] && v.lost[k].cls == w.target[r]);
        for (int s = 0; s < v.slices; s++)
            for (int i = 0; i < v.slice[s].size; i++) assert_int_not_equal(v.slice[s].row[i], r);
    }
    spot_versions_close(&v);
}

/* Versions that change places change nothing but the direction, and a version is the same as itself. */
TEST(versions_may_change_places)
{
    static world w;
    spot_ctx c = check_ctx(1), two = check_ctx(2);
    spot_versions v, u;

    make_world(&w, 78, 0.1, 0.1, 0.8, 0.5, PLANTED);
    v = compare(&c, &w);
    w.both[0] = &w.s[1], w.both[1] = &w.s[0];
    u = compare(&two, &w);
    assert_int_equal(v.slices, u.slices);
    assert_false(u.failed);
    assert_int_equal(u.slice[0].verdict, SPOT_CHANGE_MENDED);
    assert_int_equal(v.slice[0].size, u.slice[0].size);
    assert_memory_equal(v.slice[0].row, u.slice[0].row, (size_t)v.slice[0].size * sizeof(int));
    CHECK_NEAR(v.slice[0].counts.p_worse, u.slice[0].counts.p_better, 0);
    CHECK_NEAR(v.slice[0].counts.change.value, -u.slice[0].counts.change.value, 0);
    spot_versions_close(&v), spot_versions_close(&u);
    w.both[0] = &w.s[1];
    w.both[1] = &w.s[1];
    u = compare(&two, &w);
    assert_true(u.equal && !u.failed && u.outside == 0);
    for (int k = 0; k < u.slices; k++)
        assert_true(u.slice[k].verdict == SPOT_CHANGE_PENDING || u.slice[k].verdict == SPOT_CHANGE_SAME);
    spot_versions_close(&u);
}

/* ---- features of both versions, guards, further trainings ---- */

/* Features of both versions enter alike: versions that change places give the same slices to the bit. */
TEST(features_of_both_versions_take_no_side)
{
    static world w, other;
    spot_ctx c = check_ctx(2);
    spot_versions v, u;

    make_world(&w, 81, 0.1, 0.1, 0.8, 0.5, PLANTED);
    make_world(&other, 82, 0.1, 0.1, 0.8, 0.5, PLANTED);
    v = compare(&c, &w);
    assert_int_equal(v.features, SPOT_FEATURES_FIRST);
    spot_versions_close(&v);
    w.s[1].feature = other.feature[0];
    w.s[1].d = D - 1;
    v = compare(&c, &w);
    assert_int_equal(v.features, SPOT_FEATURES_BOTH);
    assert_true(v.slices > 0);
    w.both[0] = &w.s[1], w.both[1] = &w.s[0];
    u = compare(&c, &w);
    assert_int_equal(v.slices, u.slices);
    for (int i = 0; i < v.slices; i++) {
        int k = 0;
        while (k < u.slices && (u.slice[k].size != v.slice[i].size
                                || memcmp(u.slice[k].row, v.slice[i].row, (size_t)v.slice[i].size * sizeof(int)))) k++;
        assert_true(k < u.slices);
        CHECK_NEAR(v.slice[i].counts.change.value, -u.slice[k].counts.change.value, 0);
        CHECK_NEAR(v.slice[i].counts.p_worse, u.slice[k].counts.p_better, 0);
    }
    spot_versions_close(&v), spot_versions_close(&u);
}

/* A guard on the planted rows is worse before any slice is; one on rows that did not change is the same. */
TEST(a_guard_is_asked_with_a_margin_of_its_own)
{
    static world w;
    static uint8_t planted[N], others[N];
    spot_version_guard guard[] = { { "planted", 0, 0, planted }, { "others", SPOT_ALL_CLASSES, 0.2, others } };
    spot_bdm_config bdm;
    const spot_discover_options d = ward(&bdm);
    spot_versions_options o = spot_versions_defaults();
    spot_ctx c = check_ctx(2);
    spot_versions v;

    o.search = &d;
    o.guard = guard, o.guards = LEN(guard);
    make_world(&w, 83, 0.1, 0.1, 0.5, 0.5, PLANTED);
    for (int i = 0; i < N; i++) planted[i] = w.blob[i] == CLASSES * BLOBS, others[i] = !planted[i];
    CHECK_OK(&c, spot_versions_compare(&c, &v, w.both, &o));
    assert_int_equal(v.guards, 2);
    assert_int_equal(v.tests[SPOT_ASK_GUARD], 2);
    assert_string_equal(v.guard[0].name, "planted");
    assert_int_equal(v.guard[0].counts.rows, PLANTED);
    assert_int_equal(v.guard[0].verdict, SPOT_CHANGE_WORSE);
    assert_true(v.guard[0].counts.corrected.low > 0 && v.guard[0].counts.p_worse <= 0.05);
    for (int g = 0; g < 2; g++) {
        int row[N], n = 0;
        for (int i = 0; i < N; i++)
            if (guard[g].in[i]) row[n++] = i;
        check_turned(&w, &v.guard[g].counts, row, n, -1);
    }
    assert_int_equal(v.guard[1].verdict, SPOT_CHANGE_SAME);
    assert_true(v.guard[1].counts.corrected.high < 0.2 && v.failed && !v.pending);
    spot_versions_close(&v);
    guard[0].margin = 0.5;                     /* the change is about 40 points */
    CHECK_OK(&c, spot_versions_compare(&c, &v, w.both, &o));
    assert_true(v.guard[0].verdict != SPOT_CHANGE_WORSE);
    spot_versions_close(&v);
    memset(others, 0, sizeof others);
    CHECK_FAILS(&c, spot_versions_compare(&c, &v, w.both, &o), SPOT_INPUT, "versions.no_row");
}

/* Trainings whose class 0 moves by some points each: without further trainings an equal one is called worse again and again,
 * with them it is not; a change far beyond the spread still is. */
static void retrain_world(world *w, spot_rng *r, double move, double planted, int version)
{
    const double rate = fmin(0.9, fmax(0.02, 0.3 + move));

    for (int i = 0; i < N; i++) {
        const double p = w->target[i] ? 0.2 : rate + planted, u = spot_rng_uniform(r);
        w->predicted[version][i] = u < p ? 1 - w->target[i] : w->target[i];
        w->confidence[version][i] = (float)(u < p ? 0.05 + 0.4 * u / p : 0.55 + 0.4 * (u - p) / (1 - p));
    }
}

enum { MORE = 4 };

static void run_retrains(int trials, double planted, int *alone, int *with)
{
    static world w, more[MORE];
    const spot_subject *retrain[MORE];
    spot_bdm_config bdm;
    const spot_discover_options d = ward(&bdm);
    spot_versions_options o = spot_versions_defaults();
    spot_ctx c = check_ctx(2);

    o.search = &d;
    o.beyond = 0;
    for (int t = 0; t < trials; t++) {
        spot_rng r = spot_rng_at(12, SPOT_RNG_BOOTSTRAP, planted > 0, (uint32_t)t);
        spot_versions v;
        make_world(&w, 84, 0.1, 0.1, 0.1, 0.5, 0);
        for (int u = 0; u < SPOT_VERSIONS; u++) retrain_world(&w, &r, 0.05 * spot_rng_normal(&r), u ? planted : 0, u);
        for (int k = 0; k < MORE; k++) {
            more[k] = w;
            retrain_world(&more[k], &r, 0.05 * spot_rng_normal(&r), 0, 0);
            more[k].s[0].predicted = more[k].predicted[0], more[k].s[0].confidence = more[k].confidence[0];
            retrain[k] = &more[k].s[0];
        }
        o.retrains = 0;
        CHECK_OK(&c, spot_versions_compare(&c, &v, w.both, &o));
        *alone += v.failed;
        spot_versions_close(&v);
        o.retrain = retrain, o.retrains = MORE;
        CHECK_OK(&c, spot_versions_compare(&c, &v, w.both, &o));
        assert_int_equal(v.spread.files, MORE);
        *with += v.failed;
        spot_versions_close(&v);
    }
}

TEST(further_trainings_say_what_an_equal_one_moves)
{
    int alone = 0, with = 0, found = 0, ignored = 0;

    run_retrains(trials(30), 0, &alone, &with);
    run_retrains(trials(10), 0.4, &ignored, &found);
    if (SANITIZED) return;
    if (with > 4 || 2 * with >= alone) fail_msg("equal trainings fail in %d of 30, with further ones in %d", alone, with);
    if (found < 7) fail_msg("40 points are found in %d of 10", found);
}

/* Three trainings of 40 rows: one has all right, two have ten others wrong. Changes are 10, 10 and 0 of 10, 10 and 20 changed
 * rows: the mean of their squares over these is 20/3. */
TEST(the_spread_of_trainings_is_that_of_their_pairs)
{
    enum { ROWS = 40, TRAININGS = 3 };
    static world w;
    static int predicted[TRAININGS][N], row[ROWS];
    spot_subject s[TRAININGS];
    const spot_subject *before[TRAININGS], *retrain[] = { &s[1], &s[2] }, *both[] = { &s[0], &s[0] };
    spot_versions_options o = spot_versions_defaults();
    spot_question x = { .row = row, .n = ROWS, .cls = 0 };
    spot_questions q = { .of = &x, .n = { [SPOT_ASK_CLASS] = 1 }, .s = both, .o = &o, .before = before };
    spot_version_spread spread;
    spot_ctx c = check_ctx(1);
    int freedom = 7;

    make_world(&w, 85, 0.1, 0.1, 0.1, 0.5, 0);
    for (int t = 0; t < TRAININGS; t++) {
        s[t] = w.s[0];
        s[t].predicted = memcpy(predicted[t], w.target, sizeof predicted[t]);
        before[t] = &s[t];
    }
    for (int i = 0; i < ROWS; i++) row[i] = 2 * i;
    for (int i = 0; i < 10; i++) predicted[1][row[i]] = predicted[2][row[10 + i]] = 1;
    o.retrain = retrain, o.retrains = LEN(retrain);
    CHECK_OK(&c, spot_spread_measure(&c, &q, &spread));
    CHECK_NEAR(x.ratio, 20.0 / 3, 1e-12);
    CHECK_NEAR(x.square, 40.0 / 3, 1e-12);
    CHECK_NEAR(spread.share[0], (20.0 / 3 - 1) / (ROWS - 1), 1e-12);
    CHECK_NEAR(spread.share[1], spread.share[0], 0);           /* no slice tells another one */
    assert_int_equal(spread.freedom, 2);
    CHECK_NEAR(spread.move, 4.302652729911275 * sqrt(40.0 / 3 / ROWS / ROWS * 20 / 3), 1e-6);
    CHECK_NEAR(spot_question_share(&q, &x, spread.share[0], &freedom), spread.share[0], 0);
    assert_int_equal(freedom, 7);
    CHECK_NEAR(spot_question_share(&q, &x, 0.001, &freedom), (20.0 / 3 - 1) / (ROWS - 1), 1e-12);     /* rows that look alike */
    assert_int_equal(freedom, 2);
}

/* ---- log odds ---- */

/* Nine slices of 16 rows, whose log odds all change by the slice's own number: the median is -0.1, the median absolute
 * deviation 0.2. */
TEST(log_odds_say_how_far_slices_move)
{
    enum { SLICES = 9, ROWS = 16, ALL = SLICES * ROWS };
    static const double by[SLICES] = { -0.4, -0.3, 0.3, -0.1, -2, 0.1, 0.2, 0, -0.2 };
    static float confidence[SPOT_VERSIONS][ALL];
    int row[ALL];
    spot_version_counts counts[SLICES] = { 0 };
    spot_question of[SLICES];
    spot_subject s[SPOT_VERSIONS];
    const spot_subject *both[SPOT_VERSIONS] = { &s[0], &s[1] };
    spot_versions_options o = spot_versions_defaults();
    spot_questions q = { .of = of, .n = { [SPOT_ASK_SLICE] = SLICES }, .s = both, .o = &o, .before = both };
    spot_version_shift shift;
    bool changed[SLICES] = { false };
    double fall[SLICES], rise[SLICES];
    spot_ctx c = check_ctx(1);

    for (int i = 0; i < ALL; i++) {
        const double odds = 0.1 * (i % ROWS) - 0.5;
        row[i] = i;
        confidence[0][i] = (float)(1 / (1 + exp(-odds)));
        confidence[1][i] = (float)(1 / (1 + exp(-odds - by[i / ROWS])));
    }
    for (int v = 0; v < SPOT_VERSIONS; v++) s[v] = (spot_subject){ .n = ALL, .classes = 1, .confidence = confidence[v] };
    for (int i = 0; i < SLICES; i++) of[i] = (spot_question){ .counts = &counts[i], .row = row + i * ROWS, .n = ROWS };
    CHECK_OK(&c, spot_shift_measure(&c, &q, changed, &shift, fall, rise));
    for (int i = 0; i < SLICES; i++) {
        const double t = (by[i] + 0.1) / (1.4826 * 0.2);
        CHECK_NEAR(counts[i].shift, by[i], 1e-5);
        CHECK_NEAR(rise[i], 0.5 * (1 - t / sqrt(t * t + 2)), 1e-5);        /* Student's t of two degrees of freedom */
        CHECK_NEAR(fall[i], 1 - rise[i], 1e-12);
    }
    CHECK_NEAR(shift.middle, -0.1, 1e-5);
    CHECK_NEAR(shift.spread, 1.4826 * 0.2, 1e-5);
    assert_int_equal(shift.freedom, 2);
    changed[4] = true;         /* leaves eight slices, of which -0.05 is the median */
    CHECK_OK(&c, spot_shift_measure(&c, &q, changed, &shift, fall, rise));
    CHECK_NEAR(shift.middle, -0.05, 1e-5);
    assert_int_equal(shift.slices, SLICES - 1);
    assert_true(fall[4] < 0.02);
    q.n[SPOT_ASK_SLICE] = SPOT_ENOUGH_SLICES - 1;
    CHECK_OK(&c, spot_shift_measure(&c, &q, changed, &shift, fall, rise));
    assert_int_equal(shift.freedom, 0);
    CHECK_NEAR(fall[0], 0, 0);
}

/* 40 blobs of 50 rows, in every second of which half of the rows are wrong. Each blob's log odds move by a number of its own.
 * All rows of one blob turn wrong: they look alike. odds: their log odds in each version. */
static void make_turning(world *w, uint32_t number, double odds0, double odds1)
{
    enum { KINDS = 40, TURNS = 5 };
    spot_rng r = spot_rng_at(13, SPOT_RNG_BOOTSTRAP, number, 0);
    float centre[KINDS][D];
    double move[KINDS];

    make_world(w, number, 0.1, 0.1, 0.1, 1, 0);
    for (int b = 0; b < KINDS; b++) {
        move[b] = 0.15 * spot_rng_normal(&r);
        for (int k = 0; k < D; k++) centre[b][k] = 4 * (float)spot_rng_normal(&r);
    }
    for (int i = 0; i < N; i++) {
        const int b = w->blob[i] = 2 * (int)spot_rng_below(&r, KINDS / 2) + i % 2;
        const bool turns = b == TURNS, wrong = !turns && spot_rng_uniform(&r) < (b % 4 < 2 ? 0.5 : 0.02);
        const double odds = turns ? odds0 : (wrong ? -1 : 1) * (0.5 + 2 * spot_rng_uniform(&r));
        const double now = turns ? odds1 : odds + fmax(-0.4, fmin(0.4, move[b]));
        for (int k = 0; k < D; k++) w->feature[i][k] = centre[b][k] + (float)spot_rng_normal(&r);
        w->confidence[0][i] = (float)(1 / (1 + exp(-odds)));
        w->confidence[1][i] = (float)(1 / (1 + exp(-now)));
        for (int v = 0; v < SPOT_VERSIONS; v++)
            w->predicted[v][i] = w->confidence[v][i] < 0.5 ? 1 - w->target[i] : w->target[i];
        w->blob[i] = turns ? CLASSES * BLOBS : 0;
    }
}

/* Rows that look alike and lie near a border turn as one, as between equal trainings; a planted error moves their log odds
 * far. */
TEST(a_slice_is_worse_where_its_log_odds_fall_further_than_others)
{
    static world w;
    spot_ctx c = check_ctx(2);

    for (uint32_t far = 0; far < 2; far++) {
        spot_versions v;
        int turned = -1;
        make_turning(&w, 90, 0.15, far ? -2 : -0.15);
        v = compare(&c, &w);
        assert_true(v.shift.slices >= SPOT_ENOUGH_SLICES && v.shift.freedom > 0);
        for (int k = 0; k < v.slices; k++)
            if (is_planted(&w, &v.slice[k])) turned = k;
        assert_true(turned >= 0);
        const spot_version_slice *p = &v.slice[turned];
        assert_true(p->counts.lost == p->compared && !p->counts.gained);
        CHECK_NEAR(p->counts.shift, far ? -2.15 : -0.3, 1e-5);
        assert_int_equal(p->verdict, far ? SPOT_CHANGE_NEW : SPOT_CHANGE_PENDING);
        assert_int_equal(p->counts.as_others, !far);
        assert_true(far || v.shift.as_others > 0);
        assert_int_equal(v.failed, far);
        assert_true(far || isinf(p->counts.needed));
        spot_versions_close(&v);
    }
}

/* ---- names ---- */

TEST(names_tell_versions_apart)
{
    static const struct { const char *version[SPOT_VERSIONS], *name[SPOT_VERSIONS]; } of[] = {
        { { "a/v1.npy", "b/v2.npy" }, { "v1", "v2" } },
        { { "v1/p.npy", "v2/p.npy" }, { "v1/p.npy", "v2/p.npy" } },
        { { "/x/v1/p.npy", "y/v1/p.npy" }, { "x/v1/p.npy", "y/v1/p.npy" } },
        { { "p.npy", "v2/p.npy" }, { "p.npy", "v2/p.npy" } },
        { { "a/p.npy", "b/p.npz" }, { "p.npy", "p.npz" } },
        { { "found/", "runs/found//" }, { "found", "runs/found" } },
        { { "found_1.2", "found_1.3" }, { "found_1.2", "found_1.3" } },
        { { ".one", ".two" }, { ".one", ".two" } },
        { { "/", "/" }, { "version 1", "version 2" } },
        { { "a/p.npy", "a/p.npy" }, { "version 1", "version 2" } },
    };
    spot_ctx c = check_ctx(1);

    for (int i = 0; i < LEN(of); i++) {
        char name[SPOT_VERSIONS][SPOT_VERSION_NAME];
        CHECK_OK(&c, spot_version_names(&c, name, of[i].version));
        for (int u = 0; u < SPOT_VERSIONS; u++) assert_string_equal(name[u], of[i].name[u]);
    }
}

/* ---- what does not fit ---- */

TEST(what_does_not_fit_is_refused)
{
    static world w;
    static int other[N];
    spot_bdm_config bdm;
    const spot_discover_options d = ward(&bdm);
    spot_versions_options o = spot_versions_defaults();
    spot_ctx c = check_ctx(1);
    spot_versions v;

    o.search = &d;
    make_world(&w, 79, 0.1, 0.1, 0.1, 0.5, PLANTED);
    w.s[1].n--;
    CHECK_FAILS(&c, spot_versions_compare(&c, &v, w.both, &o), SPOT_INPUT, "versions.rows: 2000 | 1999");
    w.s[1].n++;
    memcpy(other, w.target, sizeof other);
    other[17] = 1 - other[17];
    w.s[1].target = other;
    CHECK_FAILS(&c, spot_versions_compare(&c, &v, w.both, &o), SPOT_INPUT, "versions.labels: row 17");
    w.s[1].target = w.target;
    w.s[1].predicted = NULL;
    CHECK_FAILS(&c, spot_versions_compare(&c, &v, w.both, &o), SPOT_INPUT, "versions.answers");
    w.s[1].predicted = w.predicted[1];
    w.confidence[1][5] = NAN;
    CHECK_FAILS(&c, spot_versions_compare(&c, &v, w.both, &o), SPOT_INPUT, "probability.value: row 5");
    w.confidence[1][5] = 0.9f;
    o.margin = -0.01;
    CHECK_FAILS(&c, spot_versions_compare(&c, &v, w.both, &o), SPOT_USAGE, "versions.level");
    o.margin = 0.05;
    o.share[0] = 0.5;
    CHECK_FAILS(&c, spot_versions_compare(&c, &v, w.both, &o), SPOT_USAGE, "versions.share");
}

/* A classifier without errors has no slices; the comparison says that it is better or the same. */
TEST(versions_without_errors)
{
    static world w;
    spot_ctx c = check_ctx(2);
    spot_versions v;

    make_world(&w, 80, 0.1, 0.3, 0.3, 0.5, PLANTED);
    for (int i = 0; i < N; i++) w.predicted[1][i] = w.target[i];
    v = compare(&c, &w);
    assert_true(!v.failed && v.of[0].verdict == SPOT_CHANGE_BETTER && v.outside == 0);
    spot_versions_close(&v);
    for (int i = 0; i < N; i++) w.predicted[0][i] = w.target[i];
    v = compare(&c, &w);
    assert_true(v.equal && v.slices == 0 && v.of[0].verdict == SPOT_CHANGE_SAME);
    spot_versions_close(&v);
}
