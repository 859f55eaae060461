/* test_causes.c - slices with one cause are one entry (spotter/discover.h): five classes of which some rows lie in one
 * place and are taken for a sixth class; the same at five places, and taken for two classes; folders. ctest: threads, both */
#define _POSIX_C_SOURCE 200809L
#include "checks.h"

#include <stdlib.h>
#include <string.h>

#include "check_folder.h"
#include "formats/safetensors.h"
#include "spotter/discover.h"
#include "spotter/rng.h"

enum { CLASSES = 6, EACH = 300, N = CLASSES * EACH, WIDE = 24, BAD = 45, TARGET = 5, PLACE = 12 };

typedef struct {
    float feature[N][WIDE], prob[N][CLASSES], confidence[N];
    int target[N];
    spot_subject s;
} world;

typedef enum { ONE_PLACE, OWN_PLACES, TWO_TARGETS } kind;

/* Class k lies around 6 in column k. BAD rows of each of the first five lie around 6 in column PLACE, or PLACE + k, and 80 % of
 * them are taken for class TARGET, or for class 4 if k is even; of all others 8 % for any other class. */
static void make_world(world *w, kind how, uint32_t number)
{
    static char *names[CLASSES] = { "animals", "food", "people", "recreation", "transportation", "signs" };
    spot_rng r = spot_rng_at(29, SPOT_RNG_BOOTSTRAP, 8, number);

    for (int i = 0; i < N; i++) {
        const int k = i % CLASSES;
        const bool bad = k < TARGET && i / CLASSES < BAD, wrong = spot_rng_uniform(&r) < (bad ? 0.8 : 0.08);
        const int other = (k + 1 + (int)spot_rng_below(&r, CLASSES - 1)) % CLASSES;
        const int taken = !bad ? other : how == TWO_TARGETS && k < 4 && k % 2 == 0 ? 4 : TARGET;
        const float p = (float)(0.6 + 0.35 * spot_rng_uniform(&r));
        for (int j = 0; j < WIDE; j++) w->feature[i][j] = (float)spot_rng_normal(&r);
        w->feature[i][!bad ? k : how == OWN_PLACES ? PLACE + k : PLACE] += 6;
        memset(w->prob[i], 0, sizeof w->prob[i]);
        w->prob[i][wrong ? taken : k] = p;
        w->prob[i][wrong ? k : (k + 1) % CLASSES] += 1 - p;
        w->confidence[i] = w->prob[i][k];
        w->target[i] = k;
    }
    w->s = (spot_subject){ .n = N, .d = WIDE, .classes = CLASSES, .feature = w->feature[0], .target = w->target,
                           .prob = w->prob[0], .confidence = w->confidence, .class_name = names, .source = "a test" };
}

static spot_discover_options options(const spot_bdm_config *bdm, const spot_proof_options *p)
{
    spot_discover_options o = spot_discover_defaults();

    o.bdm = bdm;
    o.bdms = 1;
    o.proof = p;
    o.neighbours = 0;
    return o;
}

/* Rows of a slice that lie in the place. */
static int in_place(const spot_slice *s)
{
    int n = 0;

    for (int i = 0; i < s->size; i++) n += s->row[i] % CLASSES < TARGET && s->row[i] / CLASSES < BAD;
    return n;
}

/* Entries of slices of two classes or more. *of: the first. */
static int crossing(const spot_slice_list *e, const spot_entry **of)
{
    int n = 0;

    *of = NULL;
    for (int i = 0; i < e->count; i++) {
        if (e->entry[i].classes < 2 || e->entry[i].members < 2) continue;
        if (!n++) *of = &e->entry[i];
    }
    return n;
}

/* The figures of an entry are sums over its rows, each counted once. */
static void check_sums(const spot_findings *f, const spot_entry *x, const spot_subject *s)
{
    static uint8_t seen[N];
    int size = 0, wrong = 0, judged = 0, judged_wrong = 0, taken = 0;
    double least = 1, low = 1, high = 0;

    memset(seen, 0, sizeof seen);
    for (int i = 0; i < x->members; i++) {
        const spot_slice *p = &f->finding[x->member[i].finding].slice[x->member[i].slice];
        for (int r = 0; r < p->size; r++) seen[p->row[r]] |= (uint8_t)(1 | (p->proof->origin[r] & SPOT_ORIGIN_JUDGED));
        least = p->proof->p < least ? p->proof->p : least;
        low = p->proof->class_rate < low ? p->proof->class_rate : low;
        high = p->proof->class_rate > high ? p->proof->class_rate : high;
    }
    for (int i = 0; i < N; i++) {
        const bool bad = seen[i] && spot_subject_wrong(s, i, s->target[i]);
        size += seen[i] > 0;
        wrong += bad;
        judged += seen[i] > 1;
        judged_wrong += bad && seen[i] > 1;
        taken += bad && spot_subject_predicted(s, i) == x->predicted;
    }
    assert_true(x->size == size && x->wrong == wrong && x->judged == judged && x->judged_wrong == judged_wrong);
    assert_true(x->p == least && x->class_rate >= low - 1e-9 && x->class_rate <= high + 1e-9);
    CHECK_NEAR(x->predicted_share, (double)taken / wrong, 1e-12);
    CHECK_NEAR(x->excess_rows, judged_wrong - x->class_rate * judged, 1e-9);
}

/* One place makes one cause of five classes; no slice outside the place belongs to it. */
TEST(one_place_is_one_cause)
{
    const spot_bdm_config bdm = spot_bdm_defaults(SPOT_WARD);
    const spot_proof_options p = spot_proof_defaults();
    const spot_discover_options o = options(&bdm, &p);
    const int worlds = SANITIZED ? 2 : 12;
    static world w;
    int whole = 0;

    for (int n = 0; n < worlds; n++) {
        spot_ctx c = check_ctx(1 + n % 3);
        spot_findings f;
        spot_slice_list e;
        const spot_entry *x;
        make_world(&w, ONE_PLACE, (uint32_t)n);
        CHECK_OK(&c, spot_discover(&c, &f, &w.s, &o));
        CHECK_OK(&c, spot_findings_entries(&c, &e, &f, &w.s));
        assert_int_equal(crossing(&e, &x), 1);
        whole += x->classes == TARGET;
        assert_true(x->classes >= TARGET - 1 && x->predicted == TARGET && x->cls == SPOT_ALL_CLASSES && !x->folded);
        assert_true(x->number == 1 && e.entry == x);                   /* it has most errors in excess */
        check_sums(&f, x, &w.s);
        for (int i = 0; i < f.count; i++)
            for (int k = 0; k < f.finding[i].slices; k++) {
                const spot_slice *s = &f.finding[i].slice[k];
                if (s->proof->cause) assert_true(2 * in_place(s) > s->size && s->proof->claim == SPOT_CLAIM_CONFIRMED);
            }
        spot_slice_list_close(&e);
        spot_findings_close(&f);
    }
    print_message("one place: all five classes in %d of %d worlds\n", whole, worlds);
    if (!SANITIZED) assert_true(whole >= 10);
}

static void check_no_crossing(spot_ctx *c, const spot_findings *f, const spot_subject *s)
{
    const spot_entry *x;
    spot_slice_list e;

    CHECK_OK(c, spot_findings_entries(c, &e, f, s));
    assert_int_equal(crossing(&e, &x), 0);
    spot_slice_list_close(&e);
}

TEST(places_apart_are_no_cause)
{
    const spot_bdm_config bdm = spot_bdm_defaults(SPOT_WARD);
    const spot_proof_options p = spot_proof_defaults();
    spot_discover_options o = options(&bdm, &p);
    const int worlds = SANITIZED ? 1 : 8;
    static world w;

    for (int n = 0; n < worlds; n++) {
        spot_ctx c = check_ctx(2);
        spot_findings f;
        int sure = 0;
        make_world(&w, OWN_PLACES, 100 + (uint32_t)n);
        CHECK_OK(&c, spot_discover(&c, &f, &w.s, &o));
        for (int i = 0; i < f.count; i++)
            for (int k = 0; k < f.finding[i].slices; k++) sure += f.finding[i].slice[k].proof->claim == SPOT_CLAIM_CONFIRMED;
        assert_true(sure >= 4);
        check_no_crossing(&c, &f, &w.s);
        spot_findings_close(&f);
    }
    spot_ctx c = check_ctx(2);
    spot_findings f;
    make_world(&w, ONE_PLACE, 200);
    o.cls = SPOT_ALL_CLASSES;                                       /* slices of all rows cross classes by themselves */
    CHECK_OK(&c, spot_discover(&c, &f, &w.s, &o));
    for (int k = 0; k < f.finding[0].slices; k++) assert_int_equal(f.finding[0].slice[k].proof->cause, 0);
    spot_findings_close(&f);
}

TEST(another_predicted_class_is_another_cause)
{
    const spot_bdm_config bdm = spot_bdm_defaults(SPOT_WARD);
    const spot_proof_options p = spot_proof_defaults();
    const spot_discover_options o = options(&bdm, &p);
    spot_ctx c = check_ctx(2);
    spot_findings f;
    int to[2] = { -1, -1 };
    unsigned has[2] = { 0, 0 };                                     /* a bit for each class */
    static world w;

    make_world(&w, TWO_TARGETS, 300);                               /* classes 0 and 2 for 4; 1, 3 and 4 for 5 */
    CHECK_OK(&c, spot_discover(&c, &f, &w.s, &o));
    for (int i = 0; i < f.count; i++)
        for (int k = 0; k < f.finding[i].slices; k++) {
            const spot_proof *q = f.finding[i].slice[k].proof;
            if (!q->cause) continue;
            assert_true(q->cause <= 2 && (to[q->cause - 1] < 0 || to[q->cause - 1] == q->predicted));
            to[q->cause - 1] = q->predicted;
            has[q->cause - 1] |= 1u << f.finding[i].cls;
        }
    for (int k = 0; k < 2; k++) assert_int_equal(has[k], to[k] == 4 ? 5 : 26);
    assert_true(to[0] + to[1] == 9);                                /* 4 and 5 */
    spot_findings_close(&f);
}

/* Sets the numbers of all causes in the file of a folder. */
static void set_causes(spot_ctx *c, const char *path, const int32_t *from, int add)
{
    spot_tensors all;
    int32_t *cause = NULL;
    char copy[600];

    snprintf(copy, sizeof copy, "%s.copy", path);
    CHECK_OK(c, spot_tensors_open(c, &all, path));
    for (int i = 0; i < all.count; i++) {
        if (cause || strcmp(all.tensor[i].name, "causes")) continue;
        cause = malloc(all.tensor[i].bytes);
        memcpy(cause, all.tensor[i].data, all.tensor[i].bytes);        /* the file does not align it */
        for (size_t k = 0; k < all.tensor[i].bytes / sizeof *cause; k++) cause[k] = from ? from[k % 2] : cause[k] + add;
        all.tensor[i].data = cause;
    }
    assert_non_null(cause);
    CHECK_OK(c, spot_tensors_save(c, copy, all.tensor, all.count));
    spot_tensors_close(&all);
    free(cause);
    assert_int_equal(rename(copy, path), 0);
}

static void check_same_list(spot_ctx *c, const spot_findings *f, const spot_subject *s, const spot_findings *g,
                            const spot_subject *t)
{
    spot_slice_list x, y;

    CHECK_OK(c, spot_findings_entries(c, &x, f, s));
    CHECK_OK(c, spot_findings_entries(c, &y, g, t));
    assert_true(x.count == y.count && x.slices == y.slices && x.classes == y.classes && x.folded == y.folded);
    for (int i = 0; i < x.count; i++) {
        const spot_entry *a = &x.entry[i], *b = &y.entry[i];
        assert_true(a->members == b->members && a->size == b->size && a->excess_rows == b->excess_rows && a->kind == b->kind);
        assert_string_equal(a->title, b->title);
    }
    assert_memory_equal(x.number, y.number, (size_t)f->count * SPOT_MAX_HYPOTHESES * sizeof *x.number);
    assert_memory_equal(x.entry_of, y.entry_of, (size_t)f->count * SPOT_MAX_HYPOTHESES * sizeof *x.number);
    spot_slice_list_close(&x);
    spot_slice_list_close(&y);
}

TEST_IN_FOLDER(causes_are_read_as_they_were_written)
{
    static const int32_t bad[][2] = { { -1, 1 }, { 1 << 30, 1 }, { 2, 2 }, { 1, 0 } };
    const spot_bdm_config bdm = spot_bdm_defaults(SPOT_WARD);
    const spot_proof_options p = spot_proof_defaults();
    spot_discover_options o = options(&bdm, &p), read;
    spot_ctx c = check_ctx(2);
    spot_findings f, g;
    spot_subject s;
    static world w;

    make_world(&w, TWO_TARGETS, 300);
    CHECK_OK(&c, spot_discover(&c, &f, &w.s, &o));
    CHECK_OK(&c, spot_findings_write(&c, root, &f, &w.s, &o));
    CHECK_OK(&c, spot_findings_read(&c, root, &s, &g, &read));
    check_same_list(&c, &f, &w.s, &g, &s);
    for (int i = 0; i < f.count; i++)
        for (int k = 0; k < f.finding[i].slices; k++)
            assert_int_equal(f.finding[i].slice[k].proof->cause, g.finding[i].slice[k].proof->cause);
    spot_findings_close(&g);
    spot_subject_close(&s);
    const char *path = in_root("subject.safetensors");
    for (int i = 0; i <= LEN(bad); i++) {
        CHECK_OK(&c, spot_findings_write(&c, root, &f, &w.s, &o));
        set_causes(&c, path, i < LEN(bad) ? bad[i] : NULL, 1);
        CHECK_FAILS(&c, spot_findings_read(&c, root, &s, &g, &read), SPOT_INPUT, "subject.damaged");
    }
    spot_findings_close(&f);
}
