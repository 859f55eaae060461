/* test_cuda_overlap.c - rows that sets share, and whole scores: CUDA gives the CPU's integers. */
#define _GNU_SOURCE   /* setenv */
#include "check_cuda.h"

#include "fit/overlap.h"
#include "spotter/metric.h"
#include "spotter/rng.h"

/* Edges of warps; nothing to ask, no words, no sets. */
static const struct { int words, sets, others, queries; } cases[] = {
    { 1, 1, 1, 1 }, { 13, 10, 4, 50 }, { 31, 64, 9, 33 }, { 33, 3, 1, 8 }, { 65, 2, 2, 9 }, { 4, 2, 2, 0 }, { 0, 2, 2, 5 },
    { 3, 0, 1, 2 },
};
enum { MANY = 70 };      /* more than go into one launch */

static void counts_agree(void **state)
{
    spot_overlap_problem want[MANY];
    spot_ctx cpu = check_ctx(2);

    (void)state;
    for (int t = 0; t < MANY; t++) {
        int which = t % LEN(cases), words = cases[which].words;
        spot_overlap_problem p = { .words = words, .sets = cases[which].sets, .others = cases[which].others,
                                   .queries = cases[which].queries };
        uint64_t *set = malloc(p.sets * words * sizeof *set + 1), *other = malloc(p.others * words * sizeof *other + 1);
        spot_overlap_query *query = malloc(p.queries * sizeof *query + 1);
        spot_rng r = spot_rng_at(2, SPOT_RNG_BOOTSTRAP, 0, (uint32_t)t);

        for (int e = 0; e < p.sets * words; e++) set[e] = (uint64_t)spot_rng_u32(&r) << 32 | spot_rng_u32(&r);
        for (int e = 0; e < p.others * words; e++) other[e] = (uint64_t)spot_rng_u32(&r) << 32 | spot_rng_u32(&r);
        for (int q = 0; q < p.queries; q++) {
            query[q].any_of = (uint64_t)spot_rng_u32(&r) << 32 | spot_rng_u32(&r);
            if (p.sets < SPOT_OVERLAP_SETS) query[q].any_of &= ((uint64_t)1 << p.sets) - 1;
            query[q].with = (int)spot_rng_below(&r, (uint32_t)p.others);
        }
        p.set = set, p.other = other, p.query = query;
        p.count = malloc(p.queries * sizeof *p.count + 1);
        want[t] = p;
    }
    CHECK_OK(&cpu, spot_overlap_count(&cpu, MANY, want));
    for (int s = 0; s < LEN(schedules); s++) {
        spot_overlap_problem p[MANY];
        spot_ctx c;

        open_cuda(&c, s);
        for (int t = 0; t < MANY; t++) {
            p[t] = want[t];
            p[t].set = to_device(&c, want[t].set, p[t].sets * p[t].words * sizeof *p[t].set);
            p[t].other = to_device(&c, want[t].other, p[t].others * p[t].words * sizeof *p[t].other);
            p[t].query = to_device(&c, want[t].query, p[t].queries * sizeof *p[t].query);
            p[t].count = to_device(&c, NULL, p[t].queries * sizeof *p[t].count);
        }
        CHECK_OK(&c, spot_overlap_count(&c, MANY, p));
        for (int t = 0; t < MANY; t++) {
            expect_bytes(&c, p[t].count, want[t].count, p[t].queries * sizeof *p[t].count, "counts", t, s);
            spot_device_give(&c, (void *)p[t].set);
            spot_device_give(&c, (void *)p[t].other);
            spot_device_give(&c, (void *)p[t].query);
        }
        spot_device_close(&c);
    }
    for (int t = 0; t < MANY; t++)
        free((void *)want[t].set), free((void *)want[t].other), free((void *)want[t].query), free(want[t].count);
}

/* 150 rows, two blindspots, hypotheses that are noisy copies of them. */
static void scores_are_the_same(void **state)
{
    enum { N = 150, H = 6 };
    spot_ctx cpu = check_ctx(1), c;
    const spot_metric_config cfg = spot_metric_defaults();
    int covered = 0;

    (void)state;
    open_cuda(&c, 2);
    for (uint32_t trial = 0; trial < 10; trial++) {
        spot_rng r = spot_rng_at(4, SPOT_RNG_BOOTSTRAP, 0, trial);
        static int rows[H][N];
        uint32_t mask[N];
        spot_hypotheses found = { .len = (int)(trial ? H : 0) };
        spot_truth truth = { N, 2, mask };
        spot_score want, got;

        for (int i = 0; i < N; i++) mask[i] = i % 5 == 0 ? 1 : i % 7 == 0 ? 2 : 0;
        for (int h = 0; h < found.len; h++) {
            found.h[h].row = rows[h];
            for (int i = 0; i < N; i++)
                if (spot_rng_below(&r, 20) < ((mask[i] >> h % 2 & 1) ? 18u : (uint32_t)h % 3))
                    rows[h][found.h[h].len++] = i;
        }
        CHECK_OK(&cpu, spot_metric_score(&cpu, &want, &found, &truth, &cfg));
        CHECK_OK(&c, spot_metric_score(&c, &got, &found, &truth, &cfg));
        assert_memory_equal(&got, &want, sizeof want);
        covered += want.covered[0] + want.covered[1];
    }
    assert_true(covered > 0);
    spot_device_close(&c);
}

static void too_many_sets_are_refused(void **state)
{
    spot_overlap_problem p = { .words = 1, .sets = 65, .others = 1, .queries = 1 };
    uint64_t word = 1;
    spot_ctx c;

    (void)state;
    open_cuda(&c, 0);
    CHECK_FAILS(&c, spot_overlap_count(&c, 1, &p), SPOT_INVALID, "65 sets");
    p.sets = 1;
    p.set = &word;
    CHECK_FAILS(&c, spot_overlap_count(&c, 1, &p), SPOT_UNSUPPORTED, "host memory");
    spot_device_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_agree), cmocka_unit_test(scores_are_the_same), cmocka_unit_test(too_many_sets_are_refused),
    };

    return RUN_ON_CUDA(tests);
}
