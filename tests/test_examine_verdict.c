/* test_examine_verdict.c - on which objects a model fails, from made-up results of searches. */
#include <math.h>
#include <stdlib.h>

#include "checks.h"

#include "examine/examine_study.h"
#include "spotter/rng.h"

/* Searches of made-up results: 2 examiners, `seeds` seeds, 8 tests of a weakness, failures below .1. */
typedef struct { spot_examine_config cfg; spot_examine_results r; } made_searches;

static void make_searches(made_searches *m, int seeds, int objects)
{
    static spot_catalogue_class one = { .name = "thing" };

    m->cfg = (spot_examine_config){ .models = 1, .examiners = 2, .classes = 1, .cls = &one, .objects = { .per_class = objects },
                                    .search = { .seeds = seeds, .perturbed = 8, .fails = 0.1 } };
    m->r = (spot_examine_results){ .cfg = &m->cfg, .units = 2 * seeds * objects, .objects = objects };
    m->r.unit = calloc((size_t)m->r.units, sizeof *m->r.unit);
    for (int u = 0; u < m->r.units; u++)
        m->r.unit[u] = (spot_examine_result){ .index = u, .points = 1, .fresh = 0.5, .fresh_valid = 8,
                                              .point = { { .lowest_valid = 0.01, .robust = 0.5 } } };
}

static void drop_searches(made_searches *m) { free(m->r.unit), free(m->r.about), free(m->r.verdict); }

static void put_search(made_searches *m, int unit, double robust, double fresh, int valid)
{
    m->r.unit[unit].point[0].robust = robust;
    m->r.unit[unit].fresh = fresh, m->r.unit[unit].fresh_valid = valid;
}

/* One of four searches of an object finds a failure: it counts if fresh renders show it, too. */
TEST(a_failure_that_one_search_found_is_a_failure)
{
    enum { LASTING, BY_CHANCE, NONE, NOT_VALID, UNSEEN, OBJECTS };
    spot_ctx c = check_ctx(1);
    made_searches m;

    make_searches(&m, 2, OBJECTS);
    put_search(&m, 3 * OBJECTS + LASTING, 0.05, 0.06, 4);      /* the other examiner's second seed */
    put_search(&m, 1 * OBJECTS + BY_CHANCE, 0.05, 0.15, 8);
    put_search(&m, 2 * OBJECTS + NOT_VALID, 0.05, 0.06, 3);
    for (int k = 0; k < 4; k++) {
        m.r.unit[k * OBJECTS + UNSEEN].point[0] = (spot_examine_point){ .lowest_valid = NAN, .robust = 0.01 };
        m.r.unit[k * OBJECTS + UNSEEN].fresh = NAN, m.r.unit[k * OBJECTS + UNSEEN].fresh_valid = 0;
    }
    CHECK_OK(&c, spot_examine_judge(&c, &m.r));
    assert_true(m.r.about[0].failing == 1 && m.r.verdict[LASTING].fails);
    assert_int_equal(m.r.verdict[LASTING].unit, 3 * OBJECTS + LASTING);
    CHECK_NEAR(m.r.verdict[LASTING].p, 0.06, 0);
    assert_int_equal(m.r.verdict[BY_CHANCE].unit, OBJECTS + BY_CHANCE);
    assert_true(m.r.verdict[UNSEEN].unit == -1 && isnan(m.r.verdict[UNSEEN].p));
    drop_searches(&m);
}

/* The mean p around every point is .12, and single renders scatter: the lowest of many tests is always below .1. How often an
 * object is said to fail does not depend on the number of searches; 4 standard deviations of the difference are allowed. */
TEST(more_seeds_add_no_chance)
{
    enum { OBJECTS = 400 };
    spot_ctx c = check_ctx(1);
    int failing[2], low = 0;

    for (int k = 0; k < 2; k++) {
        made_searches m;
        make_searches(&m, k ? 20 : 1, OBJECTS);
        for (int u = 0; u < m.r.units; u++) {
            spot_rng r = spot_rng_at(5, SPOT_RNG_NOISE_TEST, (uint32_t)k, (uint32_t)u);
            double mean[2] = { 0, 0 };
            for (int i = 0; i < 16; i++) mean[i % 2] += 0.24 * spot_rng_uniform(&r) / 8;
            put_search(&m, u, mean[0], mean[1], 8);
        }
        CHECK_OK(&c, spot_examine_judge(&c, &m.r));
        failing[k] = m.r.about[0].failing;
        for (int i = 0; k && i < OBJECTS; i++) low += m.r.unit[m.r.verdict[i].unit].point[0].robust < 0.1;
        drop_searches(&m);
    }
    const double share = (failing[0] + failing[1]) / (2.0 * OBJECTS);
    assert_true(abs(failing[0] - failing[1]) < 4 * sqrt(2 * OBJECTS * share * (1 - share)));
    assert_true(low > 0.99 * OBJECTS && share < 0.4);
}
