/* bench_itemsets.c - association rules between keywords of pictures; bench/peers/itemsets_mlxtend.py times mlxtend. */
#include "bench.h"

#include <stdlib.h>

#include "spotter/ontology.h"

/* Keywords of a picture: of a kind of scene, of which there are KINDS, and the scene itself. About as many as in the 1,712
 * pictures of IN9 (mean 5.3, 515 keywords). */
enum { KINDS = 20, OF_KIND = 20, MOST_OF_PICTURE = 16 };

typedef struct {
    spot_baskets b;
    int *first, *item;
    spot_itemsets_rule rule;
    double confidence;
    int sets, rules;
} itemsets_state;

static unsigned draw(uint32_t *x, unsigned below)
{
    *x = *x * 1664525 + 1013904223;
    return (*x >> 16) % below;
}

static int compare(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;

    return (x > y) - (x < y);
}

/* itemsets_mlxtend.py makes the same. */
static int draw_picture(int *item, int keywords, uint32_t *x)
{
    const int kind = (int)draw(x, KINDS), scenes = keywords - KINDS * OF_KIND;
    int n = 0;

    for (int k = 0; k < OF_KIND; k++)
        if (draw(x, 100) < (unsigned)(60 / (1 + k / 2)) && n < MOST_OF_PICTURE - 1)
            item[n++] = (kind * 7 + k) % (KINDS * OF_KIND);
    item[n++] = KINDS * OF_KIND + (kind * 5 + (int)draw(x, 6)) % scenes;
    qsort(item, (size_t)n, sizeof *item, compare);
    return n;
}

static spot_status open_state(spot_ctx *c, void **out, const int *size, spot_bench_work *work)
{
    itemsets_state *s = *out = calloc(1, sizeof *s);
    uint32_t x = 1;

    if (s) s->first = calloc((size_t)size[0] + 1, sizeof *s->first);
    if (s) s->item = malloc((size_t)size[0] * MOST_OF_PICTURE * sizeof *s->item);
    if (!s || !s->first || !s->item) return spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    for (int i = 0; i < size[0]; i++)
        s->first[i + 1] = s->first[i] + draw_picture(s->item + s->first[i], size[1], &x);
    s->b = (spot_baskets){ size[0], size[1], s->first, s->item };
    s->rule.least_count = (size[0] * size[2] + 999) / 1000;
    s->confidence = size[3] / 1000.0;
    work->items = size[0];
    return SPOT_OK;
}

static spot_status run(spot_ctx *c, void *p)
{
    itemsets_state *s = p;
    spot_association *rule;
    spot_itemsets sets;

    SPOT_TRY(spot_itemsets_find(c, &sets, &s->b, &s->rule));
    spot_status status = spot_itemsets_rules(c, &rule, &s->rules, &sets, s->b.transactions, s->confidence);
    s->sets = sets.sets;
    free(rule);
    spot_itemsets_close(&sets);
    return status;
}

static spot_status check(spot_ctx *c, void *p)
{
    itemsets_state *s = p;

    SPOT_TRY(run(c, p));
    spot_log(c, SPOT_LOG_INFO, "%d sets, %d rules", s->sets, s->rules);
    return s->sets > 0 && s->rules > 0 ? SPOT_OK : spot_fail(c, SPOT_CHECK, "%d sets, %d rules", s->sets, s->rules);
}

static void close_state(spot_ctx *c, void *p)
{
    itemsets_state *s = p;

    (void)c;
    if (s) free(s->first), free(s->item);
    free(s);
}

static const spot_bench_kind kind = { open_state, check, run, close_state };

const spot_bench_row spot_bench_itemsets[] = {
    { "itemsets", "1,712 x 515, support .005", "transactions", SPOT_ON_CPU, &kind, { 1712, 515, 5, 100 },
      { 100, 515, 50, 100 } },
    { 0 },
};
