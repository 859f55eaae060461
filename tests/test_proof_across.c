/* A proof of each class and all rows in one family: a weakness that all classes share, rows in two findings, the level, samples
 * of many rows.
 * ctest: threads, long, both */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "spotter/discover.h"
#include "spotter/rng.h"

enum { MOST = 21000, WIDE = 4, CLASSES = 20 };

typedef struct {
    float feature[MOST][WIDE], confidence[MOST];
    int target[MOST], night[MOST];
    char *name[CLASSES];
    spot_subject s;
} world;

/* Classes lie apart; a tenth of the rows of each lies aside in one direction, and of these `inside` are wrong. */
static void make_world(world *w, int n, double inside, double outside, uint32_t number)
{
    static char *const names[CLASSES] = { "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15",
                                          "16", "17", "18", "19" };
    spot_rng r = spot_rng_at(23, SPOT_RNG_BOOTSTRAP, 8, number);

    memcpy(w->name, names, sizeof w->name);
    for (int i = 0; i < n; i++) {
        const int cls = i % CLASSES;
        const bool night = i / CLASSES % 10 == 0, wrong = spot_rng_uniform(&r) < (night ? inside : outside);
        for (int j = 0; j < WIDE; j++) w->feature[i][j] = (float)spot_rng_normal(&r);
        w->feature[i][0] += (float)(cls % 5);
        w->feature[i][1] += (float)(cls / 5);
        w->feature[i][2] += night ? 6 : 0;
        w->target[i] = cls;
        w->night[i] = night;
        w->confidence[i] = wrong ? 0.2f : 0.8f;
    }
    w->s = (spot_subject){ .n = n, .d = WIDE, .classes = CLASSES, .feature = w->feature[0], .target = w->target,
                           .confidence = w->confidence, .class_name = w->name, .source = "a test" };
}

static spot_discover_options options_of(const spot_bdm_config *bdm, const spot_proof_options *p, int cls)
{
    spot_discover_options o = spot_discover_defaults();

    o.bdm = bdm;
    o.bdms = 1;
    o.proof = p;
    o.cls = cls;
    return o;
}

/* Rows of the night in confirmed slices of finding i. */
static int count_found(const world *w, const spot_findings *f, int i)
{
    static uint8_t in[MOST];
    int n = 0;

    memset(in, 0, sizeof in);
    for (int k = 0; k < f->finding[i].slices; k++)
        for (int t = 0; t < f->finding[i].slice[k].size; t++)
            in[f->finding[i].slice[k].row[t]] |= f->finding[i].slice[k].proof->claim == SPOT_CLAIM_CONFIRMED;
    for (int t = 0; t < w->s.n; t++) n += in[t] && w->night[t];
    return n;
}

/* 40 rows of each of 20 classes: a class has four of the weakness, all classes 80. */
TEST(what_all_classes_share_is_found)
{
    const spot_bdm_config bdm = spot_bdm_defaults(SPOT_WARD);
    const spot_proof_options p = spot_proof_defaults();
    const spot_discover_options o = options_of(&bdm, &p, SPOT_EACH_AND_ALL), each = options_of(&bdm, &p, SPOT_EACH_CLASS);
    spot_ctx c = check_ctx(2);
    spot_findings f, g;
    static world w;
    int apart = 0;

    assert_int_equal(spot_discover_defaults().cls, SPOT_EACH_AND_ALL);
    make_world(&w, 800, 0.8, 0.1, 1);
    CHECK_OK(&c, spot_discover(&c, &f, &w.s, &o));
    CHECK_OK(&c, spot_discover(&c, &g, &w.s, &each));
    assert_int_equal(f.count, g.count + 1);
    for (int i = 0; i < g.count; i++) {
        assert_true(f.finding[i].cls == i && f.finding[i].slices == g.finding[i].slices);
        apart += count_found(&w, &f, i);
    }
    const spot_finding *all = &f.finding[g.count];
    assert_true(all->cls == SPOT_ALL_CLASSES && all->n == 800);
    assert_true(apart < 20 && count_found(&w, &f, g.count) >= 56);
    assert_memory_equal(f.map, g.map, 2 * 800 * sizeof *f.map);
    for (int k = 0; k < all->slices; k++) {
        int rows[CLASSES] = { 0 }, found = 0, most = 0;
        for (int t = 0; t < all->slice[k].size; t++) {
            const bool finds = all->slice[k].proof->origin[t] & SPOT_ORIGIN_FOUND;
            found += finds;
            rows[w.target[all->slice[k].row[t]]] += finds;
        }
        for (int i = 0; i < CLASSES; i++) most = rows[i] > most ? rows[i] : most;
        assert_true(found > 1 && most < found);
    }
    spot_findings_close(&f);
    spot_findings_close(&g);
}

/* Ten pairs of copies, each in one class, among 800 rows: p of what all classes share is no rank among the draws. */
TEST(a_few_copies_leave_p_exact)
{
    const spot_bdm_config bdm = spot_bdm_defaults(SPOT_WARD);
    const spot_proof_options p = spot_proof_defaults();
    const spot_discover_options o = options_of(&bdm, &p, SPOT_EACH_AND_ALL);
    spot_ctx c = check_ctx(2);
    static int group[MOST];
    static world w;
    spot_findings f;
    double least = 1;

    make_world(&w, 800, 0.8, 0.1, 1);
    for (int i = 0; i < 800; i++) {
        const bool copies = i >= 400 && i < 600 && i / CLASSES % 2 && i % CLASSES < 2;        /* of the row 20 places before */
        group[i] = copies ? group[i - CLASSES] : w.s.groups++;
    }
    w.s.group = group;
    assert_int_equal(w.s.groups, 800 - 10);
    CHECK_OK(&c, spot_discover(&c, &f, &w.s, &o));
    const spot_finding *all = &f.finding[f.count - 1];
    for (int h = 0; h < all->slices; h++) least = fmin(least, all->slice[h].proof->p);
    assert_true(all->cls == SPOT_ALL_CLASSES && least < 1e-6);
    spot_findings_close(&f);
}

/* 60 worlds without structure at 5 %: more than 9 with a confirmed slice have a probability below 0.002. */
TEST(one_family_keeps_the_level)
{
    const spot_bdm_config bdm = spot_bdm_defaults(SPOT_WARD);
    const spot_proof_options p = spot_proof_defaults();
    const spot_discover_options o = options_of(&bdm, &p, SPOT_EACH_AND_ALL);
    const int worlds = SANITIZED ? 2 : 60;
    static world w;
    int alarms = 0;

    for (int i = 0; i < worlds; i++) {
        spot_ctx c = check_ctx(2);
        spot_findings f;
        bool any = false;
        make_world(&w, 600, 0.2, 0.2, 100 + (uint32_t)i);
        CHECK_OK(&c, spot_discover(&c, &f, &w.s, &o));
        for (int k = 0; k < f.count; k++)
            for (int h = 0; h < f.finding[k].slices; h++) any |= f.finding[k].slice[h].proof->claim == SPOT_CLAIM_CONFIRMED;
        alarms += any;
        spot_findings_close(&f);
    }
    print_message("errors without structure: %d of %d worlds have a confirmed slice\n", alarms, worlds);
    assert_true(alarms <= 9);
}

static char said[4000];

static void keep_log(void *user, spot_log_level level, const char *text)
{
    (void)user, (void)level;
    strncat(said, text, sizeof said - strlen(said) - 1);
}

/* 10,000 of a part's 10,500 rows find, whole groups of them, and all judge; the bits do not depend on threads. */
TEST(many_rows_are_sampled)
{
    const spot_bdm_config bdm = spot_bdm_defaults(SPOT_KMEANS);
    const spot_proof_options p = spot_proof_defaults();
    const spot_discover_options o = options_of(&bdm, &p, SPOT_EACH_AND_ALL);
    spot_ctx c = check_ctx(2), more = check_ctx(3);
    static int group[MOST];
    static world w;

    if (SANITIZED) return;
    c.on_log = keep_log;
    make_world(&w, MOST, 0.5, 0.1, 3);
    for (int i = 0; i < MOST; i++) group[i] = i / 3;
    for (int k = 0; k < 2; k++) {
        spot_findings f, g;
        int found = 0, judged = 0;
        w.s.group = k ? group : NULL;
        w.s.groups = k ? MOST / 3 : 0;
        CHECK_OK(&c, spot_discover(&c, &f, &w.s, &o));
        CHECK_OK(&more, spot_discover(&more, &g, &w.s, &o));
        const spot_finding *all = &f.finding[f.count - 1], *same = &g.finding[g.count - 1];
        assert_true(all->cls == SPOT_ALL_CLASSES && all->slices > 0 && all->slices == same->slices);
        for (int h = 0; h < all->slices; h++) {
            const spot_proof *v = all->slice[h].proof;
            assert_true(v->p == same->slice[h].proof->p && v->shrunk == same->slice[h].proof->shrunk);
            for (int e = 0; e < v->pieces; e++) found += v->piece[e].found, judged += v->piece[e].judged;
        }
        assert_true(found > 100 && judged > 100);
        assert_non_null(strstr(said, k ? "sought in 9999 random rows" : "sought in 10000 random rows"));
        assert_non_null(strstr(said, " random rows of the 10500 of a part, and judged on all rows of the other part"));
        assert_null(strstr(strstr(said, "sought in") + 1, "sought in"));
        *said = 0;
        assert_int_equal(all->slice[0].proof->claim, SPOT_CLAIM_CONFIRMED);
        spot_findings_close(&f);
        spot_findings_close(&g);
    }
}

/* A group with all but 60 rows of a part: the search of that part sees as many rows as a sample has, not none. */
TEST(rows_of_a_group_larger_than_a_sample_are_sampled)
{
    const spot_bdm_config bdm = spot_bdm_defaults(SPOT_KMEANS);
    const spot_proof_options p = spot_proof_defaults();
    const spot_discover_options o = options_of(&bdm, &p, SPOT_EACH_AND_ALL);
    static int group[MOST];
    spot_ctx c = check_ctx(2);
    static world w;
    spot_findings f;
    int pieces[2] = { 0, 0 };

    if (SANITIZED) return;
    make_world(&w, MOST, 0.5, 0.1, 4);
    for (int i = 0; i < MOST; i++) group[i] = i < MOST / 2 - 60 ? 0 : i - (MOST / 2 - 60) + 1;
    w.s.group = group;
    w.s.groups = group[MOST - 1] + 1;
    c.on_log = keep_log;
    *said = 0;
    CHECK_OK(&c, spot_discover(&c, &f, &w.s, &o));
    for (int h = 0; h < f.finding[f.count - 1].slices; h++) {
        const spot_proof *v = f.finding[f.count - 1].slice[h].proof;
        for (int e = 0; e < v->pieces; e++) pieces[v->piece[e].part] += v->piece[e].found > 0;
    }
    assert_true(pieces[0] > 0 && pieces[1] > 0);
    assert_non_null(strstr(said, "sought in 10000 random rows"));
    spot_findings_close(&f);
}

/* Day is 88 % of the rows, in which all errors lie: its rule is a test also where a part is sampled. */
TEST(a_rule_of_most_rows_is_a_test_in_a_sampled_part)
{
    const spot_bdm_config bdm = spot_bdm_defaults(SPOT_ITEMSETS);
    const spot_proof_options p = spot_proof_defaults();
    spot_discover_options o = options_of(&bdm, &p, SPOT_EACH_AND_ALL);
    static uint64_t bit[2 * ((MOST + 63) / 64)];
    char *names[2] = { "day=yes", "day=no" };
    int columns[2] = { 0, 0 };
    double ranges[2][2] = { { NAN, NAN }, { NAN, NAN } };
    spot_attributes a = { .rows = MOST, .items = 2, .words = (MOST + 63) / 64, .name = names, .column = columns,
                          .range = ranges, .bit = bit };
    spot_ctx c = check_ctx(2);
    static world w;
    spot_findings f;
    int rules = 0;

    if (SANITIZED) return;
    make_world(&w, MOST, 0.1, 0.1, 5);
    memset(bit, 0, sizeof bit);
    for (int i = 0; i < MOST; i++) {
        const bool day = i / CLASSES % 25 >= 3;
        bit[(day ? 0 : a.words) + (size_t)i / 64] |= (uint64_t)1 << i % 64;
        if (!day) w.confidence[i] = 0.8f;
    }
    o.attributes = &a;
    CHECK_OK(&c, spot_discover(&c, &f, &w.s, &o));
    for (int h = 0; h < f.finding[f.count - 1].slices; h++) {
        const spot_proof *v = f.finding[f.count - 1].slice[h].proof;
        for (int e = 0; e < v->pieces; e++) {
            assert_true(v->piece[e].found > 9000);
            rules += v->piece[e].rule.items;
        }
    }
    assert_int_equal(rules, 2);
    assert_int_equal(f.finding[f.count - 1].slice[0].proof->claim, SPOT_CLAIM_CONFIRMED);
    spot_findings_close(&f);
}

/* The memory of the correction is needed when no search is under way. */
TEST(errors_do_not_raise_the_stated_memory)
{
    const spot_bdm_config bdm = spot_bdm_defaults(SPOT_WARD);
    const spot_proof_options p = spot_proof_defaults();
    const spot_discover_options o = options_of(&bdm, &p, SPOT_EACH_AND_ALL);
    spot_ctx c = check_ctx(2);
    spot_bytes few, many;
    static world w;

    make_world(&w, MOST, 0.05, 0.05, 6);
    CHECK_OK(&c, spot_discover_cost(&c, &w.s, &o, &few, NULL));
    make_world(&w, MOST, 0.9, 0.9, 6);
    CHECK_OK(&c, spot_discover_cost(&c, &w.s, &o, &many, NULL));
    print_message("stated bytes: %zu with few errors, %zu with many\n", few.host, many.host);
    assert_true(many.host <= few.host);
}
