/* entry_explained.c - whether a slice that is a rule lets expect the wrong rows of another one (spotter/discover.h). */
#include <stdlib.h>
#include <string.h>

#include "discover/search/entry_facts.h"

/* A class: all rows, and those of the rule; wrong ones among both. Rows that may have several classes are of one class here,
 * that of the slice. */
struct spot_explained_class { int rows, wrong, held, held_wrong; };

static int place_of(const spot_subject *s, int row) { return s->target ? s->target[row] : 0; }

static bool is_wrong(const spot_explainer *e, int row, int cls)
{
    return spot_subject_wrong(e->s, row, e->s->target ? e->s->target[row] : cls);
}

spot_status spot_explainer_open(spot_ctx *c, spot_explainer *e, const spot_findings *f, const spot_subject *s)
{
    const size_t classes = s->target ? (size_t)s->classes : 1;

    *e = (spot_explainer){ f, s, calloc(classes + 1, sizeof *e->of) };
    if (!e->of) return spot_fail(c, SPOT_NOMEM, "no memory for the rates of %d classes", s->classes);
    for (int i = 0; i < s->n && s->target; i++) {
        e->of[s->target[i]].rows++;
        e->of[s->target[i]].wrong += is_wrong(e, i, 0);
    }
    return SPOT_OK;
}

void spot_explainer_close(spot_explainer *e)
{
    free(e->of);
    e->of = NULL;
}

static void count_held(const spot_explainer *e, const spot_slice *rule, const spot_finding *g)
{
    for (int k = 0; k < (e->s->target ? e->s->classes : 1); k++) e->of[k].held = e->of[k].held_wrong = 0;
    if (!e->s->target) e->of->rows = g->n, e->of->wrong = g->wrong;
    for (int i = 0; i < rule->size; i++) {
        struct spot_explained_class *k = &e->of[place_of(e->s, rule->row[i])];
        k->held++;
        k->held_wrong += is_wrong(e, rule->row[i], g->cls);
    }
}

/* The error rate of a class's rows with the rule, or of those without it. */
static double rate_of(const struct spot_explained_class *k, bool held)
{
    const int rows = held ? k->held : k->rows - k->held, wrong = held ? k->held_wrong : k->wrong - k->held_wrong;

    return rows > 0 ? (double)wrong / rows : 0;
}

bool spot_rule_explains(const spot_explainer *e, const spot_slice *rule, const spot_slice *x, const spot_finding *g)
{
    double expected = 0;

    count_held(e, rule, g);
    for (int i = 0, k = 0; i < x->size; i++) {
        while (k < rule->size && rule->row[k] < x->row[i]) k++;
        if (x->proof->origin[i] & SPOT_ORIGIN_JUDGED)
            expected += rate_of(&e->of[place_of(e->s, x->row[i])], k < rule->size && rule->row[k] == x->row[i]);
    }
    return spot_share_of(x->proof->wrong, x->proof->judged).low * x->proof->judged <= expected;
}
