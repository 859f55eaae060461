/* test_failures.c - maps, mixtures, points along factors, rules and findings, from a p that is a known function of the
 * conditions. ctest: threads, both */
#define _GNU_SOURCE                    /* mkdtemp */
#include <math.h>
#include <stdlib.h>

#include "checks.h"
#include "check_folder.h"

#include "examine/examine_draw.h"
#include "examine/failure_parts.h"
#include "stats/statistics.h"
#include "spotter/rng.h"

/* ---- made-up renders ---- */

static const spot_failure_cut low = { 0.1, false }, high = { 0.9, true };

typedef double (*made_up)(const spot_conditions *at, spot_rng *r);

/* |elevation| above 60 and distance below 2.5: an eighth of the space. One label in twenty is wrong on either side. */
static bool is_planted(const spot_conditions *at)
{
    return fabs(at->value[SPOT_CAMERA_ELEVATION]) > 60 && at->value[SPOT_CAMERA_DISTANCE] < 2.5;
}

static double planted(const spot_conditions *at, spot_rng *r)
{
    return is_planted(at) != (spot_rng_uniform(r) < 0.05) ? 0.02 : 0.95;
}

static double chance(const spot_conditions *at, spot_rng *r) { (void)at; return spot_rng_uniform(r) < 0.1 ? 0.02 : 0.95; }

/* From 330 over 360 to 30 degrees. */
static double turning(const spot_conditions *at, spot_rng *r)
{
    const double roll = at->value[SPOT_CAMERA_ROLL];

    (void)r;
    return roll > 330 || roll < 30 ? 0.01 : 0.9;
}

typedef struct { spot_random_renders r; spot_conditions fixed; spot_factor_space space; } world;

static world make(int n, uint64_t seed, made_up p)
{
    world m = { .space = spot_factor_space_paper() };

    for (int f = 0; f < SPOT_FACTORS; f++) m.fixed.value[f] = NAN;
    spot_conditions_draw(&m.fixed, 1, 1);
    m.r = (spot_random_renders){ n, malloc((size_t)n * sizeof *m.r.at), malloc((size_t)n * sizeof *m.r.p), malloc((size_t)n),
                                     malloc((size_t)n * sizeof *m.r.number) };
    for (int i = 0; i < n; i++) {
        spot_rng r = spot_rng_at(seed, SPOT_RNG_NOISE_TEST, 0, (uint32_t)i);
        m.r.at[i] = spot_examine_chance(&m.space, &m.fixed, seed, 7, i);
        m.r.p[i] = (float)p(&m.r.at[i], &r);
        m.r.valid[i] = 1, m.r.number[i] = i;
    }
    return m;
}

static void drop(world *m) { free(m->r.at), free(m->r.p), free(m->r.valid), free(m->r.number); }

/* ---- spheres ---- */

TEST(cells_of_a_sphere_have_equal_areas)
{
    const double pi = acos(-1);
    double all = 0;

    for (int i = 0; i < SPOT_SPHERE_CELLS; i++) {
        const spot_sphere_cell s = spot_sphere_cell_of(i);
        const double area = (sin(s.north * pi / 180) - sin(s.south * pi / 180)) * (s.to - s.from) * pi / 180;
        CHECK_NEAR(area, 4 * pi / SPOT_SPHERE_CELLS, 1e-9);
        assert_int_equal(spot_sphere_find((s.from + s.to) / 2, (s.south + s.north) / 2), i);
        assert_int_equal(spot_sphere_find((s.from + s.to) / 2 - 720, (s.south + s.north) / 2), i);
        all += area;
    }
    CHECK_NEAR(all, 4 * pi, 1e-9);
    assert_int_equal(spot_sphere_find(0, -90), 0);
    assert_int_equal(spot_sphere_find(360, 90), SPOT_SPHERE_CELLS - 4);
    assert_int_equal(spot_sphere_find(359.999999999999, 90), SPOT_SPHERE_CELLS - 1);
}

TEST(a_map_counts_every_render_once)
{
    world m = make(3000, 1, planted);
    spot_failure_map *map = calloc(1, sizeof *map);
    double in[2] = { 0, 0 };
    int n[2] = { 0, 0 };

    for (int i = 0; i < m.r.n; i += 3) m.r.valid[i] = 0;
    spot_failure_count_map(map, &m.r, &m.space, low);
    assert_true(map->has[SPOT_SPHERE_CAMERA] && map->has[SPOT_SPHERE_LAMP]);
    assert_true(map->all.renders == 3000 && map->all.valid == 2000);
    for (int k = 0; k < SPOT_SPHERES; k++) {
        int renders = 0, valid = 0, failing = 0, failing_valid = 0;
        double sum = 0;
        for (int i = 0; i < SPOT_SPHERE_CELLS; i++) {
            const spot_failure_count *c = &map->cell[k][i];
            renders += c->renders, valid += c->valid, failing += c->failing, failing_valid += c->failing_valid;
            if (c->renders) sum += c->renders * c->mean;
            else assert_true(isnan(c->mean));
        }
        assert_true(renders == 3000 && valid == 2000 && failing == map->all.failing && failing_valid == map->all.failing_valid);
        CHECK_NEAR(sum / 3000, map->all.mean, 1e-12);
    }
    for (int i = 0; i < SPOT_SPHERE_CELLS; i++) {                      /* the poles fail in 3 of 8, the rest in 1 of 20 */
        const int pole = fabs(spot_sphere_cell_of(i).south + spot_sphere_cell_of(i).north) > 130;
        n[pole] += map->cell[SPOT_SPHERE_CAMERA][i].renders, in[pole] += map->cell[SPOT_SPHERE_CAMERA][i].failing;
    }
    assert_true(in[1] / n[1] > 0.3 && in[0] / n[0] < 0.15);
    free(map);
    drop(&m);
}

/* ---- rules ---- */

TEST(a_rule_holds_has_a_volume_and_words)
{
    const spot_factor_space s = spot_factor_space_paper();
    const spot_failure_rule top = { 2, { { SPOT_CAMERA_ELEVATION, 1, 60, 90 }, { SPOT_CAMERA_DISTANCE, 0, 1, 2.5 } } };
    const spot_failure_rule turn = { 2, { { SPOT_CAMERA_ROLL, 0, 330, 30 }, { SPOT_SUN_ENERGY, 0, 1, 4 } } }, all = { 0 };
    spot_conditions at = { { 0 } };
    char words[256];

    CHECK_NEAR(spot_failure_rule_volume(&top, &s), 0.125, 1e-12);
    CHECK_NEAR(spot_failure_rule_volume(&turn, &s), 0.1, 1e-12);
    CHECK_NEAR(spot_failure_rule_volume(&all, &s), 1, 0);
    at.value[SPOT_CAMERA_ELEVATION] = -75, at.value[SPOT_CAMERA_DISTANCE] = 2, at.value[SPOT_SUN_ENERGY] = 2;
    assert_true(spot_failure_rule_holds(&top, &at) && spot_failure_rule_holds(&turn, &at));
    assert_true(spot_failure_rule_holds(&all, &at));
    at.value[SPOT_CAMERA_ELEVATION] = 59, at.value[SPOT_CAMERA_ROLL] = 40;
    assert_true(!spot_failure_rule_holds(&top, &at) && !spot_failure_rule_holds(&turn, &at));
    spot_failure_rule_words(words, sizeof words, &top, &s);
    assert_string_equal(words, "|camera elevation| above 60 degrees, camera distance below 2.5 diagonals");
    spot_failure_rule_words(words, sizeof words, &turn, &s);
    assert_string_equal(words, "camera roll from 330 over 360 to 30 degrees, sun energy from 1 to 4");
    spot_failure_rule_words(words, sizeof words, &all, &s);
    assert_string_equal(words, "everywhere");
}

TEST(fishers_test_knows_the_lady_tasting_tea)
{
    CHECK_NEAR(spot_hypergeometric_tail(8, 4, 4, 4), 1.0 / 70, 1e-12);         /* exact sums of binomials */
    CHECK_NEAR(spot_hypergeometric_tail(8, 4, 4, 3), 17.0 / 70, 1e-12);
    CHECK_NEAR(spot_hypergeometric_tail(8, 4, 4, 0), 1, 1e-12);
    CHECK_NEAR(spot_hypergeometric_tail(500, 60, 62, 45), 7.233080211992514e-37, 1e-45);
}

static spot_failure_finding *find(spot_ctx *c, const world *m, int *n)
{
    spot_failure_finding *f = calloc(SPOT_FAILURE_RULES, sizeof *f);

    CHECK_OK(c, spot_failure_find_rules(c, f, n, &m->r, &m->space, low));
    CHECK_OK(c, spot_failure_confirm(c, f, *n));
    return f;
}

TEST(the_planted_region_is_the_first_finding)
{
    spot_examine_limit limit[] = { { SPOT_CAMERA_ELEVATION, 1, 60, 90 }, { SPOT_CAMERA_DISTANCE, 0, 1, 2.5 } };
    const spot_examine_model model = { .limits = 2, .limit = limit };
    const spot_failure_rule truth = { 2, { { SPOT_CAMERA_ELEVATION, 1, 60, 90 }, { SPOT_CAMERA_DISTANCE, 0, 1, 2.5 } } };

    for (int threads = 1; threads <= 2; threads++) {
        spot_ctx c = check_ctx(threads);
        world m = make(1000, 3, planted);
        int n;
        spot_failure_finding *f = find(&c, &m, &n);
        assert_true(n >= 1 && f[0].confirmed && f[0].rule.limits == 2);
        const double overlap = spot_failure_overlap(&f[0].rule, &model, &m.space, &m.fixed, 1);
        assert_true(overlap > 0.8 && overlap <= 1);
        CHECK_NEAR(spot_failure_overlap(&truth, &model, &m.space, &m.fixed, 1), 1, 0);
        assert_true(f[0].inside.low > f[0].outside.high && f[0].mean_inside < 0.2 && f[0].mean_outside > 0.8);
        assert_int_equal(f[0].renders + f[0].renders_outside, 500);            /* the half that the search has not seen */
        CHECK_NEAR(f[0].volume, 0.125, 0.03);
        for (int i = 1; i < n; i++) assert_false(f[i].confirmed);
        free(f);
        drop(&m);
    }
}

/* Two regions: the planted one, and a dark sun with the lamp behind. */
static double twice(const spot_conditions *at, spot_rng *r)
{
    return at->value[SPOT_SUN_ENERGY] < 1 && at->value[SPOT_LAMP_AZIMUTH] > 180 ? 0 : planted(at, r);
}

TEST(two_regions_are_two_findings)
{
    spot_examine_limit above[] = { { SPOT_CAMERA_ELEVATION, 1, 60, 90 }, { SPOT_CAMERA_DISTANCE, 0, 1, 2.5 } };
    spot_examine_limit dark[] = { { SPOT_SUN_ENERGY, 0, 0, 1 }, { SPOT_LAMP_AZIMUTH, 0, 180, 360 } };
    const spot_examine_model region[] = { { .limits = 2, .limit = above }, { .limits = 2, .limit = dark } };
    spot_ctx c = check_ctx(1);
    world m = make(4000, 8, twice);
    int n, confirmed = 0;
    spot_failure_finding *f = find(&c, &m, &n);

    for (int k = 0; k < 2; k++) {
        double most = 0;
        for (int i = 0; i < 2; i++) most = fmax(most, spot_failure_overlap(&f[i].rule, &region[k], &m.space, &m.fixed, 1));
        assert_true(most > 0.85);
    }
    for (int i = 0; i < n; i++) confirmed += f[i].confirmed;
    assert_int_equal(confirmed, 2);
    assert_true(f[0].rank != f[1].rank);
    free(f);
    drop(&m);
}

TEST(a_rule_may_go_over_the_full_turn)
{
    spot_ctx c = check_ctx(1);
    world m = make(1000, 4, turning);
    int n;
    spot_failure_finding *f = find(&c, &m, &n);

    assert_true(n == 1 && f[0].confirmed && f[0].rule.limits == 1);
    assert_string_equal(f[0].words, "camera roll from 330 over 360 to 30 degrees");
    free(f);
    drop(&m);
}

/* ---- intervals ---- */

/* The share of failures of an object, under its sun, where the elevation is above 30 degrees: from .15 to .85. */
static double share_of_object(uint64_t seed, uint32_t object)
{
    spot_rng r = spot_rng_at(seed, SPOT_RNG_NOISE_TRAIN, object, 0);

    return 0.15 + 0.7 * spot_rng_uniform(&r);
}

/* `each` renders of each object, one object behind the other. */
static world make_objects(int objects, int each, uint64_t seed)
{
    world m = make(objects * each, seed, chance);

    for (int i = 0; i < m.r.n; i++) {
        const bool above = m.r.at[i].value[SPOT_CAMERA_ELEVATION] > 30;
        spot_rng r = spot_rng_at(seed, SPOT_RNG_NOISE_VAL, 0, (uint32_t)i);
        m.r.p[i] = spot_rng_uniform(&r) < (above ? share_of_object(seed, (uint32_t)(i / each)) : 0.05) ? 0.02f : 0.95f;
        m.r.number[i] = i % each;
    }
    return m;
}

/* The share of failures that the rule has on renders of other objects under other suns: .5 above 30 degrees, .05 below. */
static double share_of_others(const spot_failure_rule *rule, const world *m)
{
    int n = 0, above = 0;

    for (int i = 0; i < 1 << 16; i++) {
        const spot_conditions at = spot_examine_chance(&m->space, &m->fixed, 99, 3, i);
        if (!spot_failure_rule_holds(rule, &at)) continue;
        n++, above += at.value[SPOT_CAMERA_ELEVATION] > 30;
    }
    return (0.5 * above + 0.05 * (n - above)) / n;
}

/* 5 % of 40 worlds may miss: 7 or more have a probability of 3e-3. Objects differ by more than chance, so Wilson's interval of
 * the renders alone misses in about half of them; less than a quarter have a probability of 1e-3. */
TEST(an_interval_of_a_rule_covers_other_objects_and_suns)
{
    const int worlds = SANITIZED ? 4 : 40;
    spot_ctx c = check_ctx(2);
    int missed = 0, wilson = 0;

    for (int w = 0; w < worlds; w++) {
        world m = make_objects(12, 300, 500 + (uint64_t)w);
        int n;
        spot_failure_finding *f = find(&c, &m, &n);
        assert_true(n && f[0].confirmed);
        const double truth = share_of_others(&f[0].rule, &m);
        const spot_interval alone = spot_share_of((int)lround(f[0].inside.value * f[0].renders), f[0].renders);
        missed += truth < f[0].inside.low || truth > f[0].inside.high;
        wilson += truth < alone.low || truth > alone.high;
        free(f);
        drop(&m);
    }
    print_message("%d of %d intervals miss; those of the renders alone: %d\n", missed, worlds, wilson);
    assert_true(missed < 7 && (SANITIZED || 4 * wilson > worlds));
}

/* In 40 worlds failure is chance: 5 % of them may have a finding; 8 or more have a probability of 1e-3. */
TEST(chance_is_seldom_confirmed)
{
    spot_ctx c = check_ctx(1);
    int confirmed = 0, rules = 0;

    for (int w = 0; w < (SANITIZED ? 4 : 40); w++) {
        world m = make(400, 100 + (uint64_t)w, chance);
        int n;
        spot_failure_finding *f = find(&c, &m, &n);
        rules += n, confirmed += n && f[0].confirmed;
        free(f);
        drop(&m);
    }
    assert_true(rules > 0 && confirmed < 8);
}

TEST(no_failures_and_invalid_ones_give_no_rule)
{
    spot_ctx c = check_ctx(1);
    world m = make(400, 1, planted);
    spot_failure_mixture mix = { .components = 3 };
    int n;

    for (int i = 0; i < m.r.n; i++) m.r.valid[i] = m.r.p[i] > 0.5f;
    spot_failure_finding *f = find(&c, &m, &n);
    assert_int_equal(n, 0);
    CHECK_OK(&c, spot_failure_fit_mixture(&c, &mix, &m.r, &m.space, low));
    assert_true(mix.components == 0 && mix.failures == 0);
    free(f);
    for (int i = 0; i < m.r.n; i++) m.r.valid[i] = 1, m.r.p[i] = 0;            /* all fail */
    f = find(&c, &m, &n);
    assert_int_equal(n, 0);
    free(f);
    drop(&m);
}

/* ---- mixtures ---- */

/* Two normal bumps of failures: one around a roll of 0, which is the end and the beginning of its range. */
static double bumps(const spot_conditions *at, spot_rng *r)
{
    const double roll = at->value[SPOT_CAMERA_ROLL] > 180 ? at->value[SPOT_CAMERA_ROLL] - 360 : at->value[SPOT_CAMERA_ROLL];
    const double distance = at->value[SPOT_CAMERA_DISTANCE];
    const double u = -2 * log(1 - spot_rng_uniform(r));

    if (pow(roll / 10, 2) + pow((distance - 2) / 0.2, 2) < u) return 0;
    return pow((roll - 120) / 10, 2) + pow((distance - 4) / 0.2, 2) < u ? 0 : 1;
}

TEST(a_mixture_describes_failures_in_the_factors_units)
{
    spot_ctx c = check_ctx(2);
    const spot_factor_range range[] = { { SPOT_CAMERA_ROLL, 0, 360 }, { SPOT_CAMERA_DISTANCE, 1, 5 },
                                        { SPOT_SUN_ENERGY, 2, 2 } };
    world m = make(12000, 5, bumps);
    spot_failure_mixture mix;
    int seen[2] = { 0, 0 };

    CHECK_OK(&c, spot_factor_space_of(&c, &m.space, &m.fixed, range, 3));
    CHECK_OK(&c, spot_failure_fit_mixture(&c, &mix, &m.r, &m.space, low));
    assert_int_equal(mix.components, 2);
    CHECK_NEAR(mix.component[0].weight + mix.component[1].weight, 1, 1e-6);
    assert_true(mix.component[0].weight >= mix.component[1].weight);
    for (int k = 0; k < 2; k++) {
        const spot_failure_component *p = &mix.component[k];
        const double roll = p->centre[SPOT_CAMERA_ROLL], distance = p->centre[SPOT_CAMERA_DISTANCE];
        const int which = fabs(roll - 120) < 10;
        seen[which]++;
        assert_true(which || roll < 5 || roll > 355);
        CHECK_NEAR(distance, which ? 4 : 2, 0.1);
        CHECK_NEAR(p->spread[SPOT_CAMERA_ROLL], 10, 2);
        CHECK_NEAR(p->spread[SPOT_CAMERA_DISTANCE], 0.2, 0.05);
        assert_true(isnan(p->centre[SPOT_SUN_ENERGY]) && isnan(p->spread[SPOT_CAMERA_ELEVATION]));
    }
    assert_true(seen[0] == 1 && seen[1] == 1);
    drop(&m);
}

/* p of the true class is high where else a weakness is planted: in strength mode maps, mixtures and rules are those that 1 - p
 * has in the other mode. */
TEST(strength_finds_where_p_is_high)
{
    spot_ctx c = check_ctx(1);
    world m = make(1000, 3, planted);
    spot_failure_finding *f = calloc(2 * SPOT_FAILURE_RULES, sizeof *f), *of = f + SPOT_FAILURE_RULES;
    spot_failure_map *map = calloc(2, sizeof *map);
    spot_failure_mixture mix[2];
    int n[2];

    for (int mode = 0; mode < 2; mode++) {
        const spot_failure_cut cut = mode ? high : low;
        for (int i = 0; mode && i < m.r.n; i++) m.r.p[i] = 1 - m.r.p[i];
        spot_failure_count_map(&map[mode], &m.r, &m.space, cut);
        CHECK_OK(&c, spot_failure_fit_mixture(&c, &mix[mode], &m.r, &m.space, cut));
        CHECK_OK(&c, spot_failure_find_rules(&c, mode ? of : f, &n[mode], &m.r, &m.space, cut));
    }
    assert_true(n[0] == n[1] && n[0] >= 1);
    for (int i = 0; i < n[0]; i++) {
        assert_string_equal(f[i].words, of[i].words);
        assert_true(f[i].inside.value == of[i].inside.value && f[i].p == of[i].p);
        CHECK_NEAR(f[i].mean_inside, 1 - of[i].mean_inside, 1e-6);
    }
    assert_true(of[0].mean_inside > 0.8 && of[0].mean_outside < 0.2);
    assert_true(map[0].all.failing > 100 && map[0].all.failing == map[1].all.failing);
    CHECK_NEAR(map[0].all.mean, 1 - map[1].all.mean, 1e-6);
    assert_int_equal(mix[0].failures, mix[1].failures);
    free(f), free(map);
    drop(&m);
}

/* ---- along the factors ---- */

TEST(failure_points_lie_between_two_renders)
{
    spot_ctx c = check_ctx(1);
    const spot_factor_range range[] = { { SPOT_CAMERA_ELEVATION, -90, 90 }, { SPOT_CAMERA_ROLL, 0, 360 } };
    float p[2 * SPOT_SCAN_STEPS];
    uint8_t valid[2 * SPOT_SCAN_STEPS] = { 1 };
    double from[SPOT_FACTORS] = { 0 };
    spot_factor_space s;
    spot_conditions fixed;
    spot_failure_scan scan = { .p = 0 };

    CHECK_OK(&c, spot_factor_space_of(&c, &s, &fixed, range, 2));
    for (int k = 0; k < SPOT_SCAN_STEPS; k++) {
        p[k] = k < 20 ? 0.04f : 0.24f;                                 /* rises between 16.875 and 22.5 degrees */
        p[SPOT_SCAN_STEPS + k] = k > 4 && k < 28 ? 0.9f : 0;           /* fails around 0 */
    }
    from[SPOT_CAMERA_ELEVATION] = 0, from[SPOT_CAMERA_ROLL] = 10, scan.p = 0;
    spot_failure_axes(&scan, &s, from, low, p, valid);
    assert_true(scan.axes == 2 && scan.axis[0].factor == SPOT_CAMERA_ELEVATION && scan.axis[1].factor == SPOT_CAMERA_ROLL);
    assert_true(isnan(scan.axis[0].below));
    CHECK_NEAR(scan.axis[0].above, 16.875 + 5.625 * (0.1 - 0.04) / 0.2, 1e-5);
    CHECK_NEAR(scan.axis[1].above, 45 + 11.25 * 0.1 / 0.9, 1e-5);
    CHECK_NEAR(scan.axis[1].below, 315 - 11.25 * 0.1 / 0.9, 1e-5);
    CHECK_NEAR(scan.axis[0].at[0], -90, 0);
    CHECK_NEAR(scan.axis[0].at[32], 90, 0);
    assert_true(scan.axis[0].valid[0] == 1 && scan.axis[0].valid[1] == 0);
    scan.p = 0.2;                                                      /* the lowest p is no failure */
    spot_failure_axes(&scan, &s, from, low, p, valid);
    assert_true(isnan(scan.axis[0].above) && isnan(scan.axis[1].below));
    for (int k = 0; k < 2 * SPOT_SCAN_STEPS; k++) p[k] = 0;
    scan.p = 0;                                                        /* it fails everywhere: no endless turn */
    spot_failure_axes(&scan, &s, from, low, p, valid);
    assert_true(isnan(scan.axis[1].above) && isnan(scan.axis[1].below) && isnan(scan.axis[0].above));
}

/* In strength mode the points lie where p falls through 1 - fails. */
TEST(a_scan_from_the_highest_p_ends_where_p_falls)
{
    spot_ctx c = check_ctx(1);
    const spot_factor_range range = { SPOT_CAMERA_ELEVATION, -90, 90 };
    const spot_examine_search search = { .mode = SPOT_MODE_STRENGTH, .fails = 0.1 };
    float p[SPOT_SCAN_STEPS];
    uint8_t valid[SPOT_SCAN_STEPS] = { 1 };
    double from[SPOT_FACTORS] = { 0 };
    spot_factor_space s;
    spot_conditions fixed;
    spot_failure_scan scan = { .p = 0.97 };

    CHECK_OK(&c, spot_factor_space_of(&c, &s, &fixed, &range, 1));
    for (int k = 0; k < SPOT_SCAN_STEPS; k++) p[k] = k < 20 ? 0.96f : 0.76f;
    spot_failure_axes(&scan, &s, from, spot_failure_cut_of(&search), p, valid);
    assert_true(isnan(scan.axis[0].below));
    CHECK_NEAR(scan.axis[0].above, 16.875 + 5.625 * (0.96 - 0.9) / 0.2, 1e-5);
    scan.p = 0.05;                                                     /* a failure is not what was looked for */
    spot_failure_axes(&scan, &s, from, spot_failure_cut_of(&search), p, valid);
    assert_true(isnan(scan.axis[0].above) && isnan(scan.axis[0].below));
}

/* ---- pictures ---- */

TEST(worst_renders_are_apart_and_valid)
{
    double at[] = { 0.5, 0.52, 0.02, 0.99, 0.3, 0.7 };
    float p[] = { 0.1f, 0.2f, 0.3f, 0.25f, 0, 0.9f };
    uint8_t valid[] = { 1, 1, 1, 1, 0, 1 };
    const spot_examine_history h = { .renders = 6, .dims = 1, .at = at, .p = p, .valid = valid };
    const spot_factor_range turn = { SPOT_CAMERA_ROLL, 0, 360 };
    spot_ctx c = check_ctx(1);
    spot_factor_space s;
    spot_conditions fixed;
    int row[5];

    CHECK_OK(&c, spot_factor_space_of(&c, &s, &fixed, &turn, 1));
    assert_int_equal(spot_failure_worst(row, 5, &h, &s, SPOT_MODE_WEAKNESS), 3);       /* .52 is near .5, .02 is near .99 */
    assert_true(row[0] == 0 && row[1] == 3 && row[2] == 5);
    assert_int_equal(spot_failure_worst(row, 2, &h, &s, SPOT_MODE_STRENGTH), 2);
    assert_true(row[0] == 5 && row[1] == 2);
    memset(valid, 0, sizeof valid);
    assert_int_equal(spot_failure_worst(row, 5, &h, &s, SPOT_MODE_WEAKNESS), 0);
}

/* ---- the variance of p ---- */

/* p = .1 + .2 x + .3 y^2 + .8 (u - 1/2)(v - 1/2) + .1 z, x, y, u, v of the cube and z of the object (0 or 1, half each):
 * variances .04 / 12, .09 * 4 / 45, .64 / 144 and .01 / 4. u and v explain nothing alone. */
static double known_shares(const spot_conditions *at, spot_rng *r)
{
    const double x = at->value[SPOT_SUN_ENERGY] / 5, y = at->value[SPOT_CAMERA_ELEVATION] / 180 + 0.5;
    const double u = at->value[SPOT_CAMERA_ROLL] / 360, v = at->value[SPOT_LAMP_AZIMUTH] / 360;

    (void)r;
    return 0.1 + 0.2 * x + 0.3 * y * y + 0.8 * (u - 0.5) * (v - 0.5);
}

/* Estimates from 16,000 renders: bins of a sixteenth lose 1/256 of a factor's own share, and 2 sqrt(S / 16,000) (1 - S), at
 * most .006, is a standard deviation; four are allowed. Where nothing is there it is sqrt(2 * 15) / 16,000 = .0003. */
TEST(shares_of_a_known_function)
{
    const double part[] = { 0.04 / 12, 0.09 * 4 / 45, 0.01 / 4, 0.64 / 144 }, all = part[0] + part[1] + part[2] + part[3];
    enum { OBJECTS = 16, EACH = 1000 };
    spot_failure_share share[2][SPOT_FACTORS + 1];
    int n[2];

    for (int threads = 1; threads <= 2; threads++) {
        spot_ctx c = check_ctx(threads);
        world m = make(OBJECTS * EACH, 12, known_shares);
        for (int i = 0; i < m.r.n; i++) m.r.number[i] = i % EACH, m.r.p[i] += i / EACH % 2 ? 0.1f : 0;
        CHECK_OK(&c, spot_failure_shares(&c, share[threads - 1], &n[threads - 1], &m.r, &m.space));
        drop(&m);
    }
    assert_int_equal(n[0], 10);
    assert_true(n[1] == n[0] && !memcmp(share[0], share[1], sizeof *share[0] * (size_t)n[0]));
    assert_true(share[0][0].factor == SPOT_CAMERA_ELEVATION && share[0][1].factor == SPOT_SUN_ENERGY);
    assert_int_equal(share[0][2].factor, SPOT_SHARE_OF_OBJECT);
    CHECK_NEAR(share[0][0].share.value, part[1] / all, 0.025);
    CHECK_NEAR(share[0][1].share.value, part[0] / all, 0.025);
    CHECK_NEAR(share[0][2].share.value, part[2] / all, 0.025);
    for (int i = 0; i < n[0]; i++) {
        const spot_interval *v = &share[0][i].share;
        if (i > 2) CHECK_NEAR(v->value, 0, 0.002);
        assert_true(v->low <= v->value && v->value <= v->high && v->high - v->low < 0.1 && (i > 1 || v->low > 0.1));
    }
}

TEST(a_variance_that_is_not_there_has_no_shares)
{
    spot_ctx c = check_ctx(1);
    spot_failure_share share[SPOT_FACTORS + 1];
    world m = make(400, 3, planted);
    int n;

    CHECK_OK(&c, spot_failure_shares(&c, share, &n, &m.r, &m.space));
    assert_true(n == 9 && isnan(share[0].share.low));                          /* one object: no interval, and not its share */
    for (int i = 0; i < m.r.n; i++) m.r.p[i] = 0.25f;
    CHECK_OK(&c, spot_failure_shares(&c, share, &n, &m.r, &m.space));
    assert_int_equal(n, 0);
    for (int i = 0; i < m.r.n; i++) m.r.valid[i] = 0;
    CHECK_OK(&c, spot_failure_shares(&c, share, &n, &m.r, &m.space));
    assert_int_equal(n, 0);
    drop(&m);
}

/* ---- failures.json ---- */

TEST_IN_FOLDER(a_hostile_file_gets_a_sentence)
{
    static const char rest[] = ",\"findings\":[],\"shares\":[],\"mixtures\":[],\"scans\":[],\"strips\":[],"
                               "\"renders_spent_on_maps\":1,\"renders_spent_on_scans\":2,\"fails\":0.1}";
    static const char *const ids[] = { "unread", "unread", "schema", "schema", "schema", "damaged", "damaged", "damaged" };
    static const char *const wrong[] = { "", "[", "[]", "{}", "{\"schema\":1}", "{\"schema\":2}",
        "{\"schema\":2,\"maps\":[{\"model\":0,\"class\":0,\"object\":0,\"camera\":{}}]",
        "{\"schema\":2,\"maps\":[{\"model\":-1,\"class\":0,\"object\":0,\"renders\":0,\"valid\":0,\"failing\":0,"
        "\"failing_valid\":0,\"mean\":null,\"mean_valid\":null}]" };
    spot_ctx c = check_ctx(1);
    spot_failures f;
    char text[2048];

    CHECK_FAILS(&c, spot_failures_read(&c, &f, root), SPOT_IO, "failures.missing: failures.json");
    spot_failures_close(&f);
    for (int i = 0; i < LEN(wrong); i++) {
        snprintf(text, sizeof text, "%s%s", wrong[i], i < 6 ? "" : rest);
        put_text("failures.json", text);
        CHECK_FAILS(&c, spot_failures_read(&c, &f, root), SPOT_INPUT, check_text("failures.%s: failures.json", ids[i]));
        spot_failures_close(&f);
    }
    snprintf(text, sizeof text, "{\"schema\":2,\"maps\":[]%s", rest);
    put_text("failures.json", text);
    CHECK_OK(&c, spot_failures_read(&c, &f, root));
    assert_true(f.spent_maps == 1 && f.spent_scans == 2 && f.fails == 0.1 && !f.maps && !f.findings);
    spot_failures_close(&f);
}
