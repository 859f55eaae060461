/* A proof of rows that have groups: their division, exchanges of errors against an enumeration of all, signs, the level where
 * errors agree in groups, what few groups can say.
 * ctest: threads, both */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check_folder.h"
#include "checks.h"
#include "discover/proof/proof_groups.h"
#include "spotter/rng.h"
#include "stats/statistics.h"

enum { MOST = 1200, WIDE = 8, CLASSES = 2 };

typedef struct {
    float feature[MOST][WIDE], confidence[MOST];
    int target[MOST], group[MOST];
    char *name[CLASSES];
    spot_subject s;
} world;

/* Adds a group of `rows` rows near one another; mixed: its rows have both classes in turn. */
static void add_group(world *w, int rows, bool mixed, double rate, spot_rng *r)
{
    double centre[WIDE];
    spot_subject *s = &w->s;

    for (int j = 0; j < WIDE; j++) centre[j] = 3 * spot_rng_normal(r);
    for (int k = 0; k < rows; k++, s->n++) {
        const int cls = mixed ? k % 2 : s->groups % 2;
        for (int j = 0; j < WIDE; j++) w->feature[s->n][j] = (float)(centre[j] + spot_rng_normal(r) + (j ? 0 : 8 * cls));
        w->target[s->n] = cls;
        w->group[s->n] = s->groups;
        w->confidence[s->n] = spot_rng_uniform(r) < rate ? 0.2f : 0.8f;
    }
    s->groups++;
}

static spot_rng begin_world(world *w, uint32_t number)
{
    static char *const names[CLASSES] = { "ant", "bee" };

    memcpy(w->name, names, sizeof w->name);
    w->s = (spot_subject){ .d = WIDE, .classes = CLASSES, .feature = w->feature[0], .target = w->target, .group = w->group,
                           .confidence = w->confidence, .class_name = w->name, .source = "a test" };
    return spot_rng_at(17, SPOT_RNG_BOOTSTRAP, 6, number);
}

static spot_discover_options options_of(const spot_bdm_config *bdm, const spot_proof_options *p)
{
    spot_discover_options o = spot_discover_defaults();

    o.bdm = bdm;
    o.bdms = 1;
    o.proof = p;
    o.neighbours = 0;
    return o;
}

/* ---- parts ---- */

static void open_proof(spot_proving *j, spot_ctx *c, const world *w, const spot_discover_options *o)
{
    spot_candidate *list = NULL;
    int count, left_out;

    *j = (spot_proving){ .c = c, .s = &w->s, .o = o, .p = *o->proof };
    CHECK_OK(c, spot_candidates(c, &w->s, o, &list, &count, &left_out));
    CHECK_OK(c, spot_proof_open(j, list, count));
    free(list);
}

/* Six rows are alone, two of them wrong, and three pairs, of which one has its second row wrong: after a draw each two of the
 * six and each second row are wrong equally often, and independently. */
TEST(every_exchange_of_errors_is_drawn_equally_often)
{
    enum { ALONE = 6, PAIRS = 3, ALL = ALONE + 2 * PAIRS, DRAWS = 45000 };
    static int group[ALL] = { 0, 1, 2, 3, 4, 5, 6, 6, 7, 7, 8, 8 };
    static const uint8_t is_wrong[ALL] = { 0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0 };
    const spot_subject s = { .n = ALL, .groups = ALONE + PAIRS, .group = group };
    spot_ctx c = check_ctx(1);
    spot_arena counted = spot_arena_counting(), a;
    int seen[1 << ALL] = { 0 }, kinds = 0, donor[ALL], wrong[ALL];
    double off = 0;
    spot_units u;

    CHECK_OK(&c, spot_units_take(&c, &counted, &u, ALL));
    CHECK_OK(&c, spot_arena_open(&c, &a, counted.peak));
    CHECK_OK(&c, spot_units_take(&c, &a, &u, ALL));
    for (int i = 0; i < ALL; i++) u.order[i] = i;
    spot_units_add(&u, &s, ALL, NULL);
    spot_units_note(&u, is_wrong);
    for (int i = 0; i < DRAWS; i++) {
        spot_rng r = spot_rng_at(3, SPOT_RNG_TESTS, 0, (uint32_t)i);
        unsigned set = 0;
        assert_int_equal(spot_units_draw(&u, &r, donor, wrong), 3);
        for (int k = 0; k < 3; k++) set |= 1u << wrong[k];
        kinds += !seen[set]++;
    }
    assert_int_equal(kinds, 15 * PAIRS);
    for (int set = 0; set < 1 << ALL; set++)
        if (seen[set]) off += pow(seen[set] - DRAWS / 45, 2) / (DRAWS / 45);
    assert_true(off < 85);                         /* chi-square, 44 degrees of freedom: 2 of 10,000 times */
    spot_arena_close(&a);
}

/* Each class's judging rows are near their share. The rows of a mixed group of five are three and two, always. */
TEST(a_group_lies_in_one_part)
{
    static const struct { int groups, rows, largest; bool mixed; double holdout; } cases[] = {
        { 40, 25, 25, false, 0 }, { 40, 25, 25, true, 0 }, { 200, 5, 5, false, 0 }, { 133, 5, 333, false, 0 },
        { 133, 5, 333, true, 0 }, { 40, 25, 25, false, 0.3 }, { 200, 5, 5, true, 0.2 },
    };
    const spot_bdm_config bdm = spot_bdm_defaults(SPOT_WARD);
    static world w;

    for (int i = 0; i < LEN(cases); i++) {
        const double share = cases[i].holdout > 0 ? cases[i].holdout : 0.5;
        spot_proof_options p = spot_proof_defaults();
        int part_of[400], rows[CLASSES][2] = { { 0 } };
        spot_rng r = begin_world(&w, (uint32_t)i);
        spot_ctx c = check_ctx(1);
        spot_proving j;
        p.parts = cases[i].holdout > 0 ? 1 : 2;
        p.holdout = share;
        if (cases[i].largest > cases[i].rows) add_group(&w, cases[i].largest, cases[i].mixed, 0.2, &r);
        for (int g = 0; g < cases[i].groups; g++) add_group(&w, cases[i].rows, cases[i].mixed, 0.2, &r);
        const spot_discover_options o = options_of(&bdm, &p);
        open_proof(&j, &c, &w, &o);
        memset(part_of, -1, sizeof part_of);
        for (int k = 0; k < w.s.n; k++) {
            int *part = &part_of[w.group[k]];
            if (*part < 0) *part = j.part[k];
            assert_int_equal(*part, j.part[k]);
            rows[w.target[k]][j.part[k]]++;
        }
        for (int k = 0; k < CLASSES; k++) {
            const double off = rows[k][1] - share * (rows[k][0] + rows[k][1]);
            assert_true(fabs(off) <= (cases[i].mixed ? 20 : cases[i].rows));
        }
        spot_proof_close(&j);
    }
}

/* The division is blind to errors: other errors, same parts; another seed, other parts. */
TEST(the_division_is_drawn_and_blind)
{
    const spot_bdm_config bdm = spot_bdm_defaults(SPOT_WARD);
    spot_proof_options p = spot_proof_defaults();
    const spot_discover_options o = options_of(&bdm, &p);
    static uint8_t first[MOST];
    static world w;
    spot_rng r = begin_world(&w, 0);
    spot_ctx c = check_ctx(1);

    for (int g = 0; g < 40; g++) add_group(&w, 25, false, 0.2, &r);
    for (int k = 0; k < 3; k++) {
        spot_proving j;
        p.seed = k == 2;
        for (int i = 0; i < w.s.n && k == 1; i++) w.confidence[i] = i % 3 ? 0.8f : 0.2f;
        open_proof(&j, &c, &w, &o);
        if (!k) memcpy(first, j.part, (size_t)w.s.n);
        else assert_true(!memcmp(first, j.part, (size_t)w.s.n) == (k == 1));
        spot_proof_close(&j);
    }
}

/* ---- the correction ---- */

enum { UNITS = 6, EACH = 2, FEW = UNITS * EACH, SLICES = 4, ROOM = 64 };

/* Rows that are all in the judging part, group by group. */
typedef struct {
    spot_ctx c;
    spot_subject s;
    spot_proved k;
    spot_proving j;
    spot_judged piece[SLICES];
    spot_stratum tally[2];
    uint64_t judged[SLICES];
    int row[ROOM], target[ROOM], group[ROOM], seen[ROOM];
    uint8_t wrong[ROOM], part[ROOM];
} small_proof;

/* size: of each group, ended by 0. strata 2: the rows of a group have two classes in turn. judged, wrong: a bit a row. */
static void open_proof_of(small_proof *x, const int *size, int strata, const uint64_t *judged, int slices, uint64_t wrong)
{
    int n = 0, groups = 0;

    memset(x, 0, sizeof *x);
    for (; size[groups]; groups++)
        for (int k = 0; k < size[groups]; k++) x->group[n++] = groups;
    assert_true(n <= ROOM);
    x->c = check_ctx(2);
    x->s = (spot_subject){ .n = n, .classes = strata, .target = x->target, .group = x->group, .groups = groups };
    x->k = (spot_proved){ .n = n, .row = x->row, .words = 1, .members = { 0, n }, .member = { NULL, x->row },
                          .tally = { x->tally, x->tally }, .strata = strata, .is_wrong = x->wrong };
    x->j = (spot_proving){ .c = &x->c, .s = &x->s, .classes = 1, .cls = &x->k, .pieces = slices, .piece = x->piece,
                           .seen = x->seen, .p = spot_proof_defaults(), .part = x->part };
    for (int i = 0; i < n; i++) {
        x->row[i] = i;
        x->part[i] = 1;
        x->target[i] = strata > 1 ? i % 2 : 0;
        x->wrong[i] = wrong >> i & 1;
        x->tally[x->target[i]].rows++;
        x->tally[x->target[i]].group += x->wrong[i];
    }
    for (int h = 0; h < slices; h++) {
        x->judged[h] = judged[h];
        x->piece[h].judged = &x->judged[h];
        x->piece[h].said.judged = __builtin_popcountll(judged[h]);
        x->piece[h].said.wrong = __builtin_popcountll(judged[h] & wrong);
        x->piece[h].said.groups = spot_count_groups(&x->j, &x->k, &x->judged[h]).groups;
    }
}

/* Six groups of two rows. */
static void open_small(small_proof *x, int strata, uint64_t wrong)
{
    static const int size[UNITS + 1] = { EACH, EACH, EACH, EACH, EACH, EACH };
    static const uint64_t judged[SLICES] = { 0x00f, 0x033, 0x555, 0xc31 };

    open_proof_of(x, size, strata, judged, SLICES, wrong);
}

/* The share of all exchanges of the units in which slice h has as many wrong rows at least. */
static double by_all_exchanges(const small_proof *x, int h, uint64_t wrong)
{
    int order[UNITS], all = 0, above = 0;

    for (int code = 0; code < 46656; code++) {                 /* 6^6: those that are permutations */
        unsigned used = 0;
        uint64_t drawn = 0;
        for (int u = 0, left = code; u < UNITS; u++, left /= UNITS) used |= 1u << (order[u] = left % UNITS);
        if (used != (1u << UNITS) - 1) continue;
        for (int u = 0; u < UNITS; u++) drawn |= (wrong >> EACH * order[u] & 3) << EACH * u;
        all++;
        above += __builtin_popcountll(drawn & x->judged[h]) >= x->piece[h].said.wrong;
    }
    assert_int_equal(all, 720);
    return (double)above / all;
}

static double by_all_signs(const small_proof *x, int h)
{
    double own = 0, value[UNITS] = { 0 };
    int above = 0;

    for (int i = 0; i < FEW; i++)
        if (x->judged[h] >> i & 1)
            value[x->group[i]] += x->wrong[i] - (double)x->tally[x->target[i]].group / x->tally[x->target[i]].rows;
    for (int u = 0; u < UNITS; u++) own += value[u];
    for (int code = 0; code < 1 << UNITS; code++) {
        double sum = 0;
        for (int u = 0; u < UNITS; u++) sum += code >> u & 1 ? value[u] : -value[u];
        above += sum >= own - 1e-9;
    }
    return (double)above / (1 << UNITS);
}

TEST(p_is_that_of_all_exchanges_or_signs)
{
    static const uint64_t wrong[] = { 0x00f, 0x03b, 0xc01, 0x151, 0xc31 };
    static const double least_of[SLICES] = { 1 / 15.0, 1 / 15.0, 1, 1 / 60.0 };      /* 6! / (1! 2! 3!) of the last */

    for (int strata = 1; strata <= 2; strata++)
        for (int w = 0; w < LEN(wrong); w++) {
            small_proof x;
            double least = 1;
            open_small(&x, strata, wrong[w]);
            CHECK_OK(&x.c, spot_proof_correct(&x.j));
            for (int h = 0; h < SLICES; h++) {
                const double p = strata > 1 ? by_all_signs(&x, h) : by_all_exchanges(&x, h, wrong[w]);
                const spot_piece *said = &x.piece[h].said;
                const int groups = said->groups;
                CHECK_NEAR(said->p, p, 4.5 * sqrt(p * (1 - p) / 9999) + 2e-4);
                assert_true(said->corrected >= said->p - 1e-12);
                least = fmin(least, said->corrected);
                CHECK_NEAR(x.piece[h].least, strata > 1 ? pow(2, -groups) : least_of[h], 1e-9);
                assert_true(p >= x.piece[h].least - 1e-12 && said->corrected >= x.piece[h].least - 1e-12);
            }
            assert_true(least < 1);
        }
}

/* ---- units of several sizes ---- */

/* One class, corrected. */
static void correct_sized(small_proof *x, const int *size, const uint64_t *judged, int slices, uint64_t wrong)
{
    open_proof_of(x, size, 1, judged, slices, wrong);
    CHECK_OK(&x->c, spot_proof_correct(&x->j));
}

/* A unit of ten rows among units of two keeps its own errors, so a slice of it has no p below 1. */
TEST(a_unit_alone_in_its_size_proves_nothing)
{
    static const int size[] = { 10, 2, 2, 2, 2, 0 };
    static const uint64_t judged[] = { 0x3ff, 0xfff };
    small_proof x;

    correct_sized(&x, size, judged, 2, 0xfff);
    assert_true(x.piece[0].said.p == 1 && x.piece[0].said.corrected == 1 && x.piece[0].least == 1);
    CHECK_NEAR(x.piece[1].said.p, 0.25, 4.5 * sqrt(0.25 * 0.75 / 9999));   /* the unit of two that is judged beside it */
    CHECK_NEAR(x.piece[1].least, 0.25, 1e-12);
}

/* 38 rows are alone, and four pairs. p of a slice of rows that are alone is that of rows without groups; with a pair it is the
 * mixture of what the pair may have; and neither ends at the number of draws, whatever slice stands beside it. */
TEST(p_of_rows_alone_is_exact_beside_pairs)
{
    const uint64_t wrong = 0xfff | UINT64_C(3) << 38, slice[] = { 0xfff, wrong, UINT64_C(0xf) << 38 };
    const double alone = spot_hypergeometric_tail(38, 12, 12, 12);
    small_proof x;
    int size[43] = { 0 };

    for (int i = 0; i < 42; i++) size[i] = i < 38 ? 1 : 2;
    correct_sized(&x, size, slice, 3, wrong);
    CHECK_NEAR(x.piece[0].said.p / alone, 1, 1e-9);
    CHECK_NEAR(x.piece[0].least / alone, 1, 1e-9);             /* all its rows are wrong, and no other: there is no lesser p */
    CHECK_NEAR(x.piece[1].said.p / alone, 0.25, 4.5 * sqrt(0.25 * 0.75 / 9999));
    CHECK_NEAR(x.piece[1].least / alone, 0.25, 1e-9);
    CHECK_NEAR(x.piece[2].said.p, 0.5, 4.5 * sqrt(0.25 / 9999));
    for (int h = 0; h < 2; h++) {
        assert_true(x.piece[h].said.corrected >= x.piece[h].said.p * (1 - 1e-9));
        assert_true(x.piece[h].said.corrected <= 3 * alone);   /* three tests: Holm's p is no greater */
    }
}

/* ---- whole proofs ---- */

/* Beta's two numbers by sums of exponential ones: rates of groups of mean 1/4 and correlation 0.2 (beta 1, 3). */
static double rate_of_group(spot_rng *r)
{
    double x = -log(spot_rng_uniform(r)), y = 0;

    for (int k = 0; k < 3; k++) y -= log(spot_rng_uniform(r));
    return x / (x + y);
}

/* Runs of `worlds` in which something is confirmed. */
static int count_alarms(int worlds, int groups, int rows, bool mixed, int cls, bool told)
{
    const spot_bdm_config bdm = spot_bdm_defaults(SPOT_WARD);
    const spot_proof_options p = spot_proof_defaults();
    spot_discover_options o = options_of(&bdm, &p);
    static world w;
    int alarms = 0;

    o.cls = cls;
    for (int i = 0; i < worlds; i++) {
        spot_rng r = begin_world(&w, 100 + (uint32_t)i);
        spot_ctx c = check_ctx(2);
        spot_findings f;
        bool any = false;
        for (int g = 0; g < groups; g++) add_group(&w, rows, mixed, rate_of_group(&r), &r);
        if (!told) w.s.group = NULL, w.s.groups = 0;
        CHECK_OK(&c, spot_discover(&c, &f, &w.s, &o));
        for (int k = 0; k < f.count; k++)
            for (int h = 0; h < f.finding[k].slices; h++) {
                const spot_proof *v = f.finding[k].slice[h].proof;
                any |= v->claim == SPOT_CLAIM_CONFIRMED;
                assert_true(!told ? !v->groups && v->least_p == 0
                            : v->groups > 0 && v->groups <= v->judged && v->p >= v->least_p - 1e-12);
                if (v->groups == 1) CHECK_NEAR(v->excess.high - v->excess.low, 1, 1e-9);       /* everything is left open */
            }
        alarms += any;
        spot_findings_close(&f);
    }
    return alarms;
}

/* At 5 % more than 7 of 40 have a probability below 0.001. */
TEST(errors_that_agree_in_groups_are_not_confirmed)
{
    const int worlds = SANITIZED ? 2 : 40;
    const int one = count_alarms(worlds, 40, 25, false, SPOT_EACH_CLASS, true),
              two = count_alarms(worlds, 100, 10, true, SPOT_ALL_CLASSES, true),
              alone = count_alarms(worlds, 40, 25, false, SPOT_EACH_CLASS, false);

    print_message("errors that agree in groups: %d and %d of %d worlds have a confirmed slice, %d where they are not told\n",
                  one, two, worlds, alone);
    assert_true(one <= 7 && two <= 7);
    if (!SANITIZED) assert_true(alone >= 20);
}

/* Searches in errors without structure exchange groups; and one part. */
TEST(groups_hold_with_other_options)
{
    const spot_bdm_config bdm = spot_bdm_defaults(SPOT_WARD);
    spot_proof_options p = spot_proof_defaults();
    const spot_discover_options o = options_of(&bdm, &p);
    static world w;
    spot_rng r = begin_world(&w, 5);
    spot_ctx c = check_ctx(2), more = check_ctx(3);
    spot_findings f, g;

    for (int i = 0; i < 60; i++) add_group(&w, 1 + i % 17, i % 3 == 0, rate_of_group(&r), &r);
    p.chance = 19;
    for (p.parts = 1; p.parts <= 2; p.parts++) {
        CHECK_OK(&c, spot_discover(&c, &f, &w.s, &o));
        CHECK_OK(&more, spot_discover(&more, &g, &w.s, &o));
        assert_int_equal(f.count, g.count);
        for (int k = 0; k < f.count; k++)
            for (int h = 0; h < f.finding[k].slices; h++)
                assert_true(f.finding[k].slice[h].proof->p == g.finding[k].slice[h].proof->p
                            && f.finding[k].slice[h].proof->shrunk == g.finding[k].slice[h].proof->shrunk);
        spot_findings_close(&f);
        spot_findings_close(&g);
    }
    w.group[3] = 60;
    CHECK_FAILS(&c, spot_discover(&c, &f, &w.s, &o), SPOT_INVALID, "proof.group: 3 | 60 | 59");
}

/* A tenth of all other rows look like those of the groups at night: a cluster has rows of more groups than the rule that says
 * the slice, whose least p is that of its own groups, one in the ways to choose them. */
TEST(the_least_p_is_that_of_the_rule)
{
    spot_bdm_config bdm = spot_bdm_defaults(SPOT_KMEANS);
    spot_proof_options p = spot_proof_defaults();
    spot_discover_options o = options_of(&bdm, &p);
    static uint64_t bit[2 * (MOST / 64 + 1)];
    char *names[2] = { "night=yes", "night=no" };
    int columns[2] = { 0, 0 }, rules = 0;
    double ranges[2][2] = { { NAN, NAN }, { NAN, NAN } };
    spot_attributes a = { .items = 2, .name = names, .column = columns, .range = ranges, .bit = bit };
    static world w;
    spot_rng r = begin_world(&w, 8);
    spot_ctx c = check_ctx(2);
    spot_findings f;

    for (int g = 0; g < 80; g++) add_group(&w, 10, false, g % 10 == 0 ? 0.8 : 0.05, &r);
    a.rows = w.s.n;
    a.words = ((size_t)w.s.n + 63) / 64;
    for (int i = 0; i < w.s.n; i++) {
        const bool night = w.group[i] % 10 < 2;
        bit[(night ? 0 : a.words) + (size_t)i / 64] |= (uint64_t)1 << i % 64;
        for (int j = 1; j < WIDE; j++) w.feature[i][j] = (float)spot_rng_normal(&r);
        w.feature[i][1] += night || spot_rng_uniform(&r) < 0.1 ? 6 : 0;
    }
    p.parts = 1;
    bdm.plain.clusters = 3;
    o.attributes = &a;
    CHECK_OK(&c, spot_discover(&c, &f, &w.s, &o));
    for (int h = 0; h < f.finding[0].slices; h++) {
        const spot_proof *v = f.finding[0].slice[h].proof;
        if (v->claim != SPOT_CLAIM_CONFIRMED || !v->rule_items) continue;
        rules++;
        assert_true(v->pieces > 1);
        CHECK_NEAR(v->least_p * exp(lgamma(21) - lgamma(v->groups + 1) - lgamma(21 - v->groups)), 1, 1e-9);
    }
    assert_int_equal(rules, 1);
    spot_findings_close(&f);
}

/* Groups of one row are no groups: the same folder to the byte. */
TEST_IN_FOLDER(groups_of_one_row_change_nothing)
{
    static const char *const files[] = { "slices.json", "slices.csv", "map.npy", "config.yaml" };
    const spot_bdm_config bdm = spot_bdm_defaults(SPOT_WARD);
    spot_proof_options p = spot_proof_defaults();
    const spot_discover_options o = options_of(&bdm, &p);
    spot_ctx c = check_ctx(2);
    static world w;
    spot_rng r = begin_world(&w, 7);

    for (int i = 0; i < 40; i++) add_group(&w, 25, false, 0.25, &r);
    for (int i = 0; i < w.s.n; i++) w.group[i] = i;
    for (int k = 0; k < 2; k++) {
        const char *out = in_root("groups%d", k);
        const spot_discover_place at = { .place = { .out = out, .shards = 1 } };
        spot_run_report report;
        spot_findings f;
        w.s.group = k ? w.group : NULL;
        w.s.groups = k ? w.s.n : 0;
        CHECK_OK(&c, spot_discover_run(&c, &f, &w.s, &o, &at, &report));
        CHECK_OK(&c, spot_findings_write(&c, out, &f, &w.s, &o));
        spot_findings_close(&f);
    }
    for (int i = 0; i < LEN(files); i++) {
        char command[400];
        snprintf(command, sizeof command, "cmp %s/groups0/%s %s/groups1/%s", root, files[i], root, files[i]);
        assert_int_equal(system(command), 0);
    }
}
