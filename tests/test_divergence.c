/* test_divergence.c - the method itemsets: against DivExplorer, on data that say nothing, on new rows. ctest: threads, both */
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "check_bdm.h"
#include "golden_file.h"
#include "spotter/bdm.h"

typedef struct { int rows, items, *item; double divergence, t; } divergent;

/* Two columns of each attribute, of value 0 and 1, as the EC's attributes have them. */
typedef struct {
    int n, attributes, longest, sets;
    uint8_t *value, *wrong;
    double support;
    divergent *set;
    float *x, *sure;
} known;

static known read_known(void)
{
    FILE *f = fopen("golden/divergence.bin", "rb");
    known g;
    assert_non_null(f);
    get(f, &g.n, sizeof g.n);
    get(f, &g.attributes, sizeof g.attributes);
    g.value = read_new(f, (size_t)g.n * (size_t)g.attributes);
    g.wrong = read_new(f, (size_t)g.n);
    get(f, &g.support, sizeof g.support);
    get(f, &g.longest, sizeof g.longest);
    get(f, &g.sets, sizeof g.sets);
    g.set = malloc((size_t)g.sets * sizeof *g.set);
    for (divergent *s = g.set; s < g.set + g.sets; s++) {
        get(f, &s->rows, sizeof s->rows);
        get(f, &s->items, sizeof s->items);
        s->item = read_new(f, (size_t)s->items * sizeof(int));
        get(f, &s->divergence, sizeof s->divergence);
        get(f, &s->t, sizeof s->t);
    }
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
    g.x = malloc((size_t)g.n * (size_t)(2 * g.attributes) * sizeof(float));
    g.sure = malloc((size_t)g.n * sizeof(float));
    for (int i = 0; i < g.n; i++) {
        g.sure[i] = g.wrong[i] ? 0.2f : 0.9f;
        for (int k = 0; k < 2 * g.attributes; k++)
            g.x[i * 2 * g.attributes + k] = g.value[i * g.attributes + k / 2] == k % 2;
    }
    return g;
}

static void close_known(known *g)
{
    for (int k = 0; k < g->sets; k++) free(g->set[k].item);
    free(g->set), free(g->value), free(g->wrong), free(g->x), free(g->sure);
}

static bool has(const known *g, const divergent *s, int row)
{
    for (int i = 0; i < s->items; i++)
        if (!g->x[row * 2 * g->attributes + s->item[i]]) return false;
    return true;
}

static bool is_set(const known *g, const divergent *s, const spot_hypothesis *h)
{
    int at = 0;
    if (s->rows != h->len) return false;
    for (int i = 0; i < g->n; i++)
        if (has(g, s, i) && h->row[at++] != i) return false;
    return true;
}

static bdm_bed bed_of_known(const known *g, int threads)
{
    bdm_bed b = bed_of(SPOT_ITEMSETS, threads, g->n, 2 * g->attributes, g->x, g->sure);
    b.cfg.itemsets.support = g->support;
    b.cfg.itemsets.longest = g->longest;
    b.cfg.itemsets.overlap = 1;
    b.cfg.top = SPOT_MAX_HYPOTHESES;
    return b;
}

TEST(conjunctions_are_those_of_divexplorer)
{
    known g = read_known();
    bdm_bed b = bed_of_known(&g, 2);
    double wrong = 0;
    assert_true(g.sets > SPOT_MAX_HYPOTHESES);
    for (int i = 0; i < g.n; i++) wrong += g.wrong[i];
    CHECK_OK(&b.c, find_in(&b, &b.cfg));
    assert_int_equal(b.found.components, g.sets);
    assert_int_equal(b.found.len, SPOT_MAX_HYPOTHESES);
    for (int k = 0; k < b.found.len; k++) {
        const spot_hypothesis *h = &b.found.h[k];
        const divergent *s = g.set;
        double rate = 0;
        CHECK_NEAR(h->score, g.set[k].t, 1e-9);
        while (s < g.set + g.sets && !(fabs(s->t - h->score) < 1e-9 && is_set(&g, s, h))) s++;
        if (s == g.set + g.sets) fail_msg("hypothesis %d, t %g, is no conjunction of DivExplorer's", k, h->score);
        for (int i = 0; i < h->len; i++) rate += g.wrong[h->row[i]];
        CHECK_NEAR(rate / h->len - wrong / g.n, s->divergence, 1e-9);
    }
    spot_arena_close(&b.a);
    close_known(&g);
}

TEST(near_duplicates_are_dropped)
{
    known g = read_known();
    bdm_bed all = bed_of_known(&g, 1), few = bed_of_known(&g, 3);
    int next = 0;
    few.cfg.itemsets.overlap = 0.4;
    CHECK_OK(&all.c, find_in(&all, &all.cfg));
    CHECK_OK(&few.c, find_in(&few, &few.cfg));
    assert_int_equal(few.found.h[0].len, all.found.h[0].len);
    assert_int_equal(few.found.components, all.found.components);
    for (int k = 0; k < all.found.len; k++) {          /* by the definition, from the list without the rule */
        bool apart = true;
        for (int q = 0; q < next; q++) {
            const spot_hypothesis *a = &all.found.h[k], *h = &few.found.h[q];
            int both = 0;
            for (int i = 0; i < a->len; i++)
                for (int j = 0; j < h->len; j++) both += a->row[i] == h->row[j];
            apart &= both <= 0.4 * (a->len + h->len - both);
        }
        if (!apart) continue;
        assert_int_equal(few.found.h[next].len, all.found.h[k].len);
        assert_memory_equal(few.found.h[next].row, all.found.h[k].row, (size_t)all.found.h[k].len * sizeof(int));
        next++;
    }
    assert_true(next > 2 && next <= few.found.len);
    spot_arena_close(&all.a), spot_arena_close(&few.a);
    close_known(&g);
}

TEST(new_rows_belong_where_the_attributes_hold)
{
    known g = read_known();
    bdm_bed b = bed_of_known(&g, 1);
    const spot_seed seed = { 1, 0 };
    uint8_t *member = malloc((size_t)g.n * SPOT_MAX_HYPOTHESES);
    spot_hypotheses found;
    spot_fit fit;
    spot_arena a, work = spot_arena_counting();
    b.cfg.top = 7;
    b.view.d = b.points.d;
    b.view.feature = g.x;
    CHECK_OK(&b.c, spot_arena_open(&b.c, &a, spot_bdm_bytes(1, &g.n, b.points.d, &b.cfg, 1)));
    CHECK_OK(&b.c, spot_bdm_fit(&b.c, &a, 1, &found, &fit, &b.view, &b.points, &seed, &b.cfg));
    CHECK_OK(&b.c, spot_bdm_assign(&b.c, &work, NULL, found.len, &b.view, &fit, &b.cfg));
    CHECK_OK(&b.c, spot_arena_open(&b.c, &work, work.peak));
    CHECK_OK(&b.c, spot_bdm_assign(&b.c, &work, member, found.len, &b.view, &fit, &b.cfg));
    for (int k = 0; k < found.len; k++) {
        int at = 0;
        for (int i = 0; i < g.n; i++)
            if (member[i * found.len + k]) assert_int_equal(found.h[k].row[at++], i);
        assert_int_equal(at, found.h[k].len);
    }
    for (int t = 0; t < fit.count; t++)
        if (!strcmp(fit.tensor[t].name, "itemset.first")) ((int *)fit.tensor[t].data)[1] = 0;
    CHECK_FAILS(&b.c, spot_bdm_assign(&b.c, &work, member, found.len, &b.view, &fit, &b.cfg), SPOT_INPUT, "fit.conjunctions");
    spot_fit_close(&fit);
    spot_arena_close(&work), spot_arena_close(&a);
    free(member);
    close_known(&g);
}

TEST(data_that_say_nothing)
{
    enum { N = 70 };
    float x[3 * N], sure[N];
    for (int kind = 0; kind < 7; kind++) {
        bdm_bed b = bed_of(SPOT_ITEMSETS, 1, N, 3, x, sure);
        for (int i = 0; i < N; i++) {
            sure[i] = kind == 0 ? 1 : kind == 1 ? 0 : (float)(i % 3 == 0);     /* no errors; only errors */
            for (int j = 0; j < 3; j++) x[3 * i + j] = kind == 2 ? 1 : kind == 3 ? 0 : (float)((i >> j) % 2);
        }
        b.view.n = b.points.n = kind == 4 ? 1 : kind == 5 ? 2 : N;
        if (kind == 6) b.cfg.itemsets.support = 1;
        CHECK_OK(&b.c, find_in(&b, &b.cfg));
        assert_int_equal(b.found.len, kind == 5 ? 1 : 0);
        if (kind != 5) assert_non_null(strstr(heard, "has a greater error rate than all"));
        spot_arena_close(&b.a);
    }
}

TEST(bad_input_gets_a_sentence)
{
    float x[4] = { 0, 1, 0.5f, 1 }, sure[2] = { 0, 1 };
    bdm_bed b = bed_of(SPOT_ITEMSETS, 1, 2, 2, x, sure);
    spot_bdm_config bad;
    char name[80];
    CHECK_FAILS(&b.c, find_in(&b, &b.cfg), SPOT_INPUT, "itemsets.attribute_value: EC 0 | attribute 0 | row 1 | 0.5");
    bad = b.cfg, bad.itemsets.longest = 0;
    CHECK_FAILS(&b.c, find_in(&b, &bad), SPOT_INVALID, "setting.value: itemsets.longest | 0");
    assert_string_equal(spot_bdm_name(&b.cfg, name, sizeof name), "itemsets-attributes");
    bad = spot_bdm_defaults(SPOT_WARD), bad.representation = SPOT_BY_ATTRIBUTES;
    assert_string_equal(spot_bdm_name(&bad, name, sizeof name), "ward-attributes");
    spot_arena_close(&b.a);
}
