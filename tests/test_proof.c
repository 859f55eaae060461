/* spot_discover with a proof: the exact test against enumeration, votes against a plain search, errors without structure are
 * not confirmed, planted ones are, bytes do not depend on threads, what is refused.
 * ctest: threads, long, both */
#define _POSIX_C_SOURCE 200809L
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "check_folder.h"
#include "discover/search/vote.h"
#include "stats/statistics.h"
#include "formats/safetensors.h"
#include "golden_text.h"
#include "spotter/discover.h"
#include "spotter/rng.h"

/* ---- the exact test ---- */

/* All ways to draw the covered rows of each stratum, by bits: rows 0 .. group - 1 of a stratum are in the group. */
static double by_enumeration(const spot_stratum *s, int strata, int inside)
{
    int rows = 0;
    double hits = 0, all = 0;

    for (int k = 0; k < strata; k++) rows += s[k].rows;
    for (uint32_t set = 0; set < 1u << rows; set++) {
        bool drawn = true;
        int in = 0, at = 0;
        for (int k = 0; k < strata; at += s[k++].rows) {
            const uint32_t own = set >> at & ((1u << s[k].rows) - 1);
            drawn = drawn && __builtin_popcount(own) == s[k].covered;
            in += __builtin_popcount(own & ((1u << s[k].group) - 1));
        }
        all += drawn;
        hits += drawn && in >= inside;
    }
    return hits / all;
}

TEST(the_tail_over_classes_is_exact)
{
    static const spot_stratum cases[][3] = {
        { { 6, 2, 3 }, { 5, 3, 2 }, { 4, 1, 1 } }, { { 7, 7, 2 }, { 6, 0, 3 }, { 5, 2, 5 } },
        { { 8, 3, 0 }, { 5, 4, 4 }, { 3, 3, 1 } }, { { 1, 1, 1 }, { 1, 0, 1 }, { 12, 5, 6 } },
    };
    double scratch[64];

    for (int i = 0; i < LEN(cases); i++)
        for (int strata = 1; strata <= 3; strata++)
            for (int inside = 0; inside <= 12; inside++)
                CHECK_NEAR(spot_stratified_tail(cases[i], strata, inside, scratch),
                           by_enumeration(cases[i], strata, inside), 1e-12);
}

/* tools/golden/strata.py: scipy's probabilities, up to 40 strata. */
TEST(the_tail_over_classes_is_scipys)
{
    static double v[4000], scratch[80000];
    const int n = golden_numbers("golden/strata.txt", v, LEN(v));
    int at = 0, lines = 0;

    while (at < n) {
        spot_stratum s[40];
        const int strata = (int)v[at++];
        double want;
        assert_in_range(strata, 1, 40);
        for (int k = 0; k < strata; k++, at += 3) s[k] = (spot_stratum){ (int)v[at], (int)v[at + 1], (int)v[at + 2] };
        want = v[at + 1];
        CHECK_NEAR(spot_stratified_tail(s, strata, (int)v[at], scratch), want, 1e-9 * want + 1e-15);
        at += 2;
        lines++;
    }
    assert_int_equal(lines, 42);
}

/* Newcombe 1998, table II, method 10: 9 of 10 against 3 of 10, and 56 of 70 against 48 of 80. */
TEST(the_difference_of_shares_is_newcombes)
{
    const spot_interval x = spot_share_difference(9, 10, 3, 10), y = spot_share_difference(56, 70, 48, 80);

    CHECK_NEAR(x.low, 0.1705, 5e-5);
    CHECK_NEAR(x.high, 0.8090, 5e-5);
    CHECK_NEAR(y.value, 0.2, 1e-12);
    CHECK_NEAR(y.low, 0.0524, 5e-5);
    CHECK_NEAR(y.high, 0.3339, 5e-5);
}

/* ---- votes ---- */

TEST(nearest_rows_are_the_nearest)
{
    enum { N = 333, M = 421, WIDE = 19, K = 5 };
    static float x[N * WIDE], y[M * WIDE];
    static int got[N * K], again[N * K];
    spot_rng r = spot_rng_at(3, SPOT_RNG_BOOTSTRAP, 0, 0);

    for (int e = 0; e < N * WIDE; e++) x[e] = (float)(int)(3 * spot_rng_normal(&r));      /* whole numbers: exact, with ties */
    for (int e = 0; e < M * WIDE; e++) y[e] = (float)(int)(3 * spot_rng_normal(&r));
    for (int threads = 1; threads <= 3; threads += 2) {
        spot_ctx c = check_ctx(threads);
        spot_arena a = spot_arena_counting();
        int *out = threads == 1 ? got : again;
        CHECK_OK(&c, spot_nearest_rows(&c, &a, NULL, (spot_some_rows){ x, NULL, N }, (spot_some_rows){ y, NULL, M }, WIDE, K));
        CHECK_OK(&c, spot_arena_open(&c, &a, a.peak));
        CHECK_OK(&c, spot_nearest_rows(&c, &a, out, (spot_some_rows){ x, NULL, N }, (spot_some_rows){ y, NULL, M }, WIDE, K));
        spot_arena_close(&a);
    }
    assert_memory_equal(got, again, sizeof got);
    for (int i = 0; i < N; i++) {
        bool taken[M] = { false };
        for (int k = 0; k < K; k++) {
            int best = -1;
            double least = INFINITY;
            for (int m = 0; m < M; m++) {
                double far = 0;
                for (int j = 0; j < WIDE; j++) far += pow((double)x[i * WIDE + j] - y[m * WIDE + j], 2);
                if (!taken[m] && far < least) {
                    least = far;
                    best = m;
                }
            }
            taken[best] = true;
            assert_int_equal(got[i * K + k], best);
        }
    }
}

/* The distance of gemm.h. */
static float chain_of(const float *a, const float *b, int d)
{
    float sum = 0;
    for (int j = 0; j < d; j++) sum = fmaf(a[j] - b[j], a[j] - b[j], sum);
    return sum;
}

/* The k nearest by plain loops; of equals the first. */
static void search_plainly(int *nearest, const float *x, const float *y, int m, int d, int k)
{
    float *far = malloc((size_t)m * sizeof *far);
    for (int j = 0; j < m; j++) far[j] = chain_of(x, y + (size_t)j * (size_t)d, d);
    for (int t = 0; t < k; t++) {
        int best = -1;
        for (int j = 0; j < m; j++)
            if (far[j] >= 0 && (best < 0 || far[j] < far[best])) best = j;
        nearest[t] = best;
        far[best] = -1;
    }
    free(far);
}

/* Rows that products in fp32 cannot tell apart, hold or square have the neighbours that the distances alone give. */
TEST(no_neighbour_depends_on_what_rules_out)
{
    static const struct { double scale, apart, from; } cases[] = {
        { 1, 0, 0 }, { 1, 3, 0 }, { 1, 1e4, 0 }, { 1e-3, 0, 1e6 }, { 1e-3, 1e7, 0 }, { 1e17, 1, 0 },
        { 1e-19, 1, 0 }, { 1e-30, 2, 0 },
    };
    enum { N = 130, M = 700 };
    static const int sizes[][2] = { { 3, 5 }, { 70, 1 }, { 33, 9 }, { 1, 3 } };
    for (int t = 0; t < LEN(cases) * LEN(sizes); t++) {
        const int d = sizes[t % LEN(sizes)][0], k = sizes[t % LEN(sizes)][1], v = t / LEN(sizes);
        float *x = malloc((size_t)(N + M) * (size_t)d * sizeof *x);
        int *row = malloc(M * sizeof *row), *got = malloc((size_t)N * (size_t)k * sizeof *got), want[9];
        spot_rng r = spot_rng_at(5, SPOT_RNG_BOOTSTRAP, 0, (uint32_t)t);
        spot_ctx c = check_ctx(1 + t % 3);
        spot_arena a = spot_arena_counting();
        for (int i = 0; i < (N + M) * d; i++)
            x[i] = (float)(cases[v].scale * (cases[v].from + cases[v].apart * (i / d * 7 % 5) + spot_rng_normal(&r)));
        for (int i = 0; i < M; i++) row[i] = N + M - 1 - i;
        const spot_some_rows all = { x + (size_t)N * (size_t)d, NULL, M }, back = { x, row, M }, of = { x, NULL, N };
        for (int turned = 0; turned < 2; turned++) {
            const spot_some_rows y = turned ? back : all;
            a = spot_arena_counting();
            CHECK_OK(&c, spot_nearest_rows(&c, &a, NULL, of, y, d, k));
            assert_true(a.peak <= spot_nearest_bytes(&c, M, d, k));
            CHECK_OK(&c, spot_arena_open(&c, &a, a.peak));
            CHECK_OK(&c, spot_nearest_rows(&c, &a, got, of, y, d, k));
            spot_arena_close(&a);
            float *order = malloc((size_t)M * (size_t)d * sizeof *order);
            for (int i = 0; i < M; i++)
                memcpy(order + (size_t)i * (size_t)d, x + (size_t)(turned ? row[i] : N + i) * (size_t)d,
                       (size_t)d * sizeof *order);
            for (int i = 0; i < N; i++) {
                search_plainly(want, x + (size_t)i * (size_t)d, order, M, d, k);
                for (int e = 0; e < k; e++)
                    if (got[i * k + e] != want[e]) fail_msg("case %d, row %d: %d, plainly %d", t, i, got[i * k + e], want[e]);
            }
            free(order);
        }
        free(x), free(row), free(got);
    }
}

/* ---- whole proofs ---- */

enum { MOST = 2000, WIDE = 16, CLASSES = 3 };

typedef struct {
    float feature[MOST][WIDE], prob[MOST][CLASSES], confidence[MOST];
    int target[MOST];
    char *name[CLASSES];
    spot_subject s;
} world;

/* n rows of four clouds in `classes` classes. planted: of each class that many rows are a fifth cloud, and `inside` of them are
 * wrong. */
static void make_world(world *w, int n, int classes, int planted, double inside, double outside, uint32_t number)
{
    static char *const names[CLASSES] = { "ant", "bee", "cat" };
    spot_rng r = spot_rng_at(11, SPOT_RNG_BOOTSTRAP, 5, number);

    memcpy(w->name, names, sizeof w->name);
    for (int i = 0; i < n; i++) {
        const int cls = i % classes, cloud = (int)spot_rng_below(&r, 4);
        const bool apart = i / classes < planted, wrong = spot_rng_uniform(&r) < (apart ? inside : outside);
        const float p = (float)(wrong ? 0.1 + 0.35 * spot_rng_uniform(&r) : 0.55 + 0.4 * spot_rng_uniform(&r));
        for (int j = 0; j < WIDE; j++) w->feature[i][j] = (float)spot_rng_normal(&r) + (!apart && j == cloud ? 4 : 0);
        if (apart) for (int j = 8; j < 12; j++) w->feature[i][j] += 3;
        w->target[i] = cls;
        w->confidence[i] = p;
        for (int k = 0; k < CLASSES; k++) w->prob[i][k] = k == cls ? p : k == (cls + 1) % CLASSES ? 1 - p : 0;
    }
    w->s = (spot_subject){ .n = n, .d = WIDE, .classes = CLASSES, .feature = w->feature[0], .target = w->target,
                           .prob = w->prob[0], .confidence = w->confidence, .class_name = w->name, .source = "a test" };
}

static int count_claims(const spot_findings *f, spot_claim claim)
{
    int n = 0;

    for (int i = 0; i < f->count; i++)
        for (int k = 0; k < f->finding[i].slices; k++) n += f->finding[i].slice[k].proof->claim == claim;
    return n;
}

static spot_discover_options plain_options(const spot_bdm_config *bdm, int bdms, const spot_proof_options *p)
{
    spot_discover_options o = spot_discover_defaults();

    o.bdm = bdm;
    o.bdms = bdms;
    o.proof = p;
    o.neighbours = 0;
    return o;
}

/* 100 worlds without structure at 5 %: more than 13 with a confirmed slice have a probability below 0.001. */
TEST(errors_without_structure_are_not_confirmed)
{
    const spot_bdm_config bdm[] = { spot_bdm_defaults(SPOT_WARD), spot_bdm_defaults(SPOT_KMEANS) };
    const spot_proof_options p = spot_proof_defaults();
    const spot_discover_options o = plain_options(bdm, 2, &p);
    const int worlds = SANITIZED ? 3 : 100;
    static world w;
    int alarms = 0;

    for (int i = 0; i < worlds; i++) {
        spot_ctx c = check_ctx(2);
        spot_findings f;
        make_world(&w, 600, 3, 0, 0, 0.25, (uint32_t)i);
        CHECK_OK(&c, spot_discover(&c, &f, &w.s, &o));
        alarms += count_claims(&f, SPOT_CLAIM_CONFIRMED) > 0;
        spot_findings_close(&f);
    }
    print_message("errors without structure: %d of %d worlds have a confirmed slice\n", alarms, worlds);
    assert_true(alarms <= 13);
}

/* 50 of 2,000 rows, 40 % wrong against 8 %: at power 0.8 fewer than 22 of 36 confirmed have a probability below 0.01. */
TEST(planted_blindspots_are_confirmed)
{
    const spot_bdm_config bdm = spot_bdm_defaults(SPOT_WARD);
    const spot_proof_options p = spot_proof_defaults();
    const spot_discover_options o = plain_options(&bdm, 1, &p);
    const int worlds = SANITIZED ? 1 : 36;
    static world w;
    int found = 0;

    for (int i = 0; i < worlds; i++) {
        spot_ctx c = check_ctx(2);
        spot_findings f;
        make_world(&w, 2000, 1, 50, 0.4, 0.08, 1000 + (uint32_t)i);
        CHECK_OK(&c, spot_discover(&c, &f, &w.s, &o));
        found += count_claims(&f, SPOT_CLAIM_CONFIRMED) > 0;
        spot_findings_close(&f);
    }
    print_message("planted: confirmed in %d of %d worlds\n", found, worlds);
    if (!SANITIZED) assert_true(found >= 22);
}

/* Figures agree with the rows; the bytes with one thread are those with three. */
TEST(figures_follow_from_the_rows)
{
    const spot_bdm_config bdm[] = { spot_bdm_defaults(SPOT_WARD), spot_bdm_defaults(SPOT_KMEANS) };
    spot_proof_options p = spot_proof_defaults();
    spot_discover_options o = plain_options(bdm, 2, &p);
    spot_ctx c = check_ctx(1), more = check_ctx(3);
    spot_findings f, g;
    static world w;

    o.neighbours = 3;
    o.fit = true;
    o.cls = SPOT_EACH_CLASS;
    make_world(&w, 1500, 3, 60, 0.8, 0.1, 7);
    for (int holdout = 0; holdout < 2; holdout++) {
        p.parts = 2 - holdout;
        p.holdout = 0.4;
        CHECK_OK(&c, spot_discover(&c, &f, &w.s, &o));
        CHECK_OK(&more, spot_discover(&more, &g, &w.s, &o));
        assert_int_equal(f.count, 3);
        for (int i = 0; i < f.count; i++) {
            const spot_finding *a = &f.finding[i];
            assert_true(a->merged && a->slices > 0 && a->slices == g.finding[i].slices);
            assert_int_equal(a->slice[0].proof->claim, SPOT_CLAIM_CONFIRMED);
            assert_int_equal(a->slice[0].proof->predicted, (i + 1) % 3);
            for (int k = 0; k < a->slices; k++) {
                const spot_slice *s = &a->slice[k], *t = &g.finding[i].slice[k];
                int wrong = 0, judged = 0, judged_wrong = 0;
                assert_int_equal(s->size, t->size);
                assert_memory_equal(s->row, t->row, (size_t)s->size * sizeof *s->row);
                assert_true(s->proof->p == t->proof->p && s->proof->shrunk == t->proof->shrunk);
                for (int r = 0; r < s->size; r++) {
                    const bool bad = spot_subject_wrong(&w.s, s->row[r], i), in = s->proof->origin[r] & SPOT_ORIGIN_JUDGED;
                    wrong += bad;
                    judged += in;
                    judged_wrong += in && bad;
                    assert_int_equal(w.target[s->row[r]], i);
                }
                assert_int_equal(s->wrong, wrong);
                assert_int_equal(s->proof->judged, judged);
                assert_int_equal(s->proof->wrong, judged_wrong);
                CHECK_NEAR(s->proof->excess.value, (double)judged_wrong / judged - s->proof->class_rate, 1e-9);
                assert_true(s->proof->excess.low <= s->proof->excess.value && s->proof->excess.value <= s->proof->excess.high);
                for (int e = 0; e < s->proof->pieces; e++) assert_true(s->proof->piece[e].corrected >= s->proof->p);
            }
        }
        spot_findings_close(&f);
        spot_findings_close(&g);
    }
}

/* 19 searches in errors without structure: what is planted is above them; and their number is checked. */
TEST(chance_is_searched)
{
    const spot_bdm_config bdm = spot_bdm_defaults(SPOT_WARD);
    spot_proof_options p = spot_proof_defaults();
    spot_discover_options o = plain_options(&bdm, 1, &p);
    spot_ctx c = check_ctx(2);
    spot_findings f;
    static world w;

    make_world(&w, 900, 3, 40, 0.8, 0.1, 9);
    p.chance = 19;
    p.level = 1e-200;                                               /* nothing is confirmed */
    CHECK_OK(&c, spot_discover(&c, &f, &w.s, &o));
    assert_int_equal(count_claims(&f, SPOT_CLAIM_CONFIRMED), 0);
    assert_true(count_claims(&f, SPOT_CLAIM_SUGGESTED) >= 1);
    spot_findings_close(&f);
    p.chance = 5;
    CHECK_FAILS(&c, spot_discover(&c, &f, &w.s, &o), SPOT_USAGE, "proof.searches");
    p = spot_proof_defaults();
    p.parts = 1;
    p.holdout = 1;
    CHECK_FAILS(&c, spot_discover(&c, &f, &w.s, &o), SPOT_USAGE, "proof.share");
    p.parts = 3;
    CHECK_FAILS(&c, spot_discover(&c, &f, &w.s, &o), SPOT_INVALID, "proof.parts");
}

/* ---- folders ---- */

static void assert_same_proof(const spot_slice *a, const spot_slice *b)
{
    const spot_proof *x = a->proof, *y = b->proof;

    assert_non_null(y);
    assert_int_equal(x->claim, y->claim);
    assert_true(x->p == y->p && x->shrunk == y->shrunk && x->class_rate == y->class_rate && x->cell == y->cell);
    assert_memory_equal(&x->excess, &y->excess, sizeof x->excess);
    assert_true(x->judged == y->judged && x->wrong == y->wrong && x->predicted == y->predicted && x->tests == y->tests);
    assert_int_equal(x->pieces, y->pieces);
    assert_memory_equal(x->origin, y->origin, (size_t)a->size);
    for (int i = 0; i < x->pieces; i++)
        assert_true(x->piece[i].seed == y->piece[i].seed && x->piece[i].p == y->piece[i].p && x->piece[i].bdm == y->piece[i].bdm
                    && x->piece[i].judged == y->piece[i].judged && x->piece[i].base == y->piece[i].base);
}

/* Changes number `at` of a tensor of 8-byte numbers in a file. */
static void damage(spot_ctx *c, const char *path, const char *name, size_t at, double value, bool whole)
{
    spot_tensors all;
    const int64_t integer = (int64_t)value;
    void *data = NULL;
    char copy[600];

    snprintf(copy, sizeof copy, "%s.copy", path);
    CHECK_OK(c, spot_tensors_open(c, &all, path));
    for (int i = 0; i < all.count; i++) {
        if (data || strcmp(all.tensor[i].name, name)) continue;
        data = malloc(all.tensor[i].bytes);
        memcpy(data, all.tensor[i].data, all.tensor[i].bytes);
        memcpy((char *)data + 8 * at, whole ? (const void *)&integer : (const void *)&value, 8);
        all.tensor[i].data = data;
    }
    CHECK_OK(c, spot_tensors_save(c, copy, all.tensor, all.count));
    spot_tensors_close(&all);
    free(data);
    assert_int_equal(rename(copy, path), 0);
}

TEST_IN_FOLDER(proofs_are_read_as_they_were_written)
{
    static const uint64_t seed[] = { 0, UINT64_MAX };
    static const struct { const char *name; size_t at; double value; bool whole; } bad[] = {
        { "proofs", 0, 3, false }, { "proofs", 2, 1e9, false }, { "proofs", 4, NAN, false }, { "proofs", 10, 3, false },
        { "proofs", 12, 1e9, false }, { "proofs", 12, 0, false }, { "pieces", 0, 2, false }, { "pieces", 6, -1, false },
        { "pieces", 8, 1.5, false }, { "proof", 0, 7, true }, { "proof_shares", 1, NAN, false },
    };
    const spot_bdm_config bdm[] = { spot_bdm_defaults(SPOT_WARD), spot_bdm_defaults(SPOT_KMEANS) };
    const spot_proof_options p = spot_proof_defaults();
    spot_discover_options o = plain_options(bdm, 2, &p), read;
    spot_ctx c = check_ctx(2);
    spot_findings f, g;
    spot_subject s;
    static world w;

    o.seed = seed;
    o.seeds = 2;
    make_world(&w, 1200, 3, 40, 0.9, 0.1, 5);
    CHECK_OK(&c, spot_discover(&c, &f, &w.s, &o));
    CHECK_OK(&c, spot_findings_write(&c, root, &f, &w.s, &o));
    CHECK_OK(&c, spot_findings_read(&c, root, &s, &g, &read));
    assert_int_equal(f.count, g.count);
    assert_true(read.proof && read.proof->parts == 2 && read.proof->level == p.level);
    for (int i = 0; i < f.count; i++) {
        assert_true(g.finding[i].merged && f.finding[i].slices == g.finding[i].slices);
        for (int k = 0; k < f.finding[i].slices; k++) assert_same_proof(&f.finding[i].slice[k], &g.finding[i].slice[k]);
    }
    spot_findings_close(&g);
    spot_subject_close(&s);
    const char *path = in_root("subject.safetensors");
    for (int i = 0; i < LEN(bad); i++) {
        CHECK_OK(&c, spot_findings_write(&c, root, &f, &w.s, &o));
        damage(&c, path, bad[i].name, bad[i].at, bad[i].value, bad[i].whole);
        CHECK_FAILS(&c, spot_findings_read(&c, root, &s, &g, &read), SPOT_INPUT, "subject.damaged");
    }
    spot_findings_close(&f);
}

/* A run keeps what the classes found in files and reads them back; the call has it in memory. Nothing may be lost between. */
TEST_IN_FOLDER(a_run_finds_what_a_call_finds)
{
    static const uint64_t seed[] = { 3, UINT64_MAX };
    static const char *const files[] = { "slices.json", "slices.csv", "subject.safetensors", "map.npy" };
    const spot_bdm_config bdm[] = { spot_bdm_defaults(SPOT_WARD), spot_bdm_defaults(SPOT_SPOTLIGHT),
                                    spot_bdm_defaults(SPOT_KMEANS) };
    spot_proof_options p = spot_proof_defaults();
    spot_discover_options o = plain_options(bdm, 3, &p);
    spot_ctx c = check_ctx(2);
    static world w;

    o.seed = seed;
    o.seeds = 2;
    make_world(&w, 900, 3, 40, 0.9, 0.1, 5);
    for (int chance = 0; chance <= 19; chance += 19) {
        const char *call = in_root("call%d", chance), *run = in_root("run%d", chance);
        const spot_discover_place at = { .place = { .out = run, .shards = 1 } };
        spot_run_report report;
        spot_findings f;
        p.chance = chance;
        o.bdms = chance ? 1 : 3;
        CHECK_OK(&c, spot_discover(&c, &f, &w.s, &o));
        CHECK_OK(&c, spot_findings_write(&c, call, &f, &w.s, &o));
        spot_findings_close(&f);
        CHECK_OK(&c, spot_discover_run(&c, &f, &w.s, &o, &at, &report));
        CHECK_OK(&c, spot_findings_write(&c, run, &f, &w.s, &o));
        spot_findings_close(&f);
        assert_int_equal(report.done, 4);                              /* three classes and all rows */
        for (int i = 0; i < LEN(files); i++) {
            char command[400];
            snprintf(command, sizeof command, "cmp %s/%s %s/%s", call, files[i], run, files[i]);
            assert_int_equal(system(command), 0);
        }
    }
}
