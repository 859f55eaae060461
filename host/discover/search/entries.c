/* entries.c - slices as a reader sees them: entries, in one order, with one number for each slice (spotter/discover.h). */
#include <math.h>
#include <stdlib.h>

#include "discover/search/entry_facts.h"
#include "discover/search/search.h"

static bool stands_out(const spot_finding *f, const spot_slice *s)
{
    return f->n > s->size && s->error_rate > (double)(f->wrong - s->wrong) / (f->n - s->size);
}

spot_slice_kind spot_slice_kind_of(const spot_finding *f, const spot_slice *s)
{
    const spot_proof *p = s->proof;

    if (!p) return stands_out(f, s) ? SPOT_SLICE_OPEN : SPOT_SLICE_FINE;
    if (p->claim != SPOT_CLAIM_CHANCE) return p->claim == SPOT_CLAIM_CONFIRMED ? SPOT_SLICE_CONFIRMED : SPOT_SLICE_SUGGESTED;
    return p->excess.value <= 0 ? SPOT_SLICE_FINE : SPOT_SLICE_CHANCE;
}

const char *spot_entry_kind_name(spot_entry_kind kind)
{
    return kind == SPOT_ENTRY_RULE ? "rule" : kind == SPOT_ENTRY_CONFUSION ? "confusion" : "cluster";
}

/* ---- slices in the order in which they become heads ---- */

typedef struct {
    spot_slice_place at;
    const spot_slice *slice;
    spot_slice_kind kind;
    int    cls, size, entry;           /* entry: from 0; -1: none yet */
    int    rule;                       /* 2: it is a rule; 1: a rule describes it; 0 */
    bool   leads;
    double excess;                     /* judged wrong rows beyond the class's rate */
} ranked_slice;

static double excess_of(const spot_finding *f, const spot_slice *s)
{
    const spot_proof *p = s->proof;

    return p ? p->wrong - p->class_rate * p->judged : s->wrong - (f->n ? (double)s->size * f->wrong / f->n : 0);
}

/* Two are never the same. */
static int says_more(const void *a, const void *b)
{
    const ranked_slice *x = a, *y = b;

    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if ((x->rule == 2) != (y->rule == 2)) return x->rule == 2 ? -1 : 1;
    if ((x->cls < 0) != (y->cls < 0)) return x->cls < 0 ? -1 : 1;
    if (x->rule != y->rule) return y->rule - x->rule;
    if (x->excess != y->excess) return x->excess > y->excess ? -1 : 1;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return x->at.finding != y->at.finding ? x->at.finding - y->at.finding : x->at.slice - y->at.slice;
}

static void rank_slices(ranked_slice *all, const spot_findings *f)
{
    int n = 0;

    for (int i = 0; i < f->count; i++)
        for (int k = 0; k < f->finding[i].slices; k++) {
            const spot_finding *g = &f->finding[i];
            const spot_slice *s = &g->slice[k];
            const int rule = s->proof && s->proof->rule_items ? 2 : spot_slice_is_rule(s);
            all[n++] = (ranked_slice){ { i, k }, s, spot_slice_kind_of(g, s), g->cls, s->size, -1, rule, false,
                                       excess_of(g, s) };
        }
    qsort(all, (size_t)n, sizeof *all, says_more);
}

/* ---- slices that are the same cause ---- */

/* Counts the rows of class cls (-1: all) in both x and y, and in either. */
static int count_shared(const spot_subject *s, const spot_slice *x, const spot_slice *y, int cls, int *either)
{
    int i = 0, k = 0, both = 0;

    for (*either = 0; i < x->size || k < y->size;) {
        const int a = i < x->size ? x->row[i] : INT32_MAX, b = k < y->size ? y->row[k] : INT32_MAX, row = a < b ? a : b;
        const bool counts = cls < 0 || !s->target || s->target[row] == cls;
        i += a == row;
        k += b == row;
        *either += counts;
        both += counts && a == b;
    }
    return both;
}

static bool share_rows(const spot_subject *s, const ranked_slice *x, const ranked_slice *y)
{
    const spot_proof *p = x->slice->proof, *q = y->slice->proof;
    const int cls = x->cls >= 0 ? x->cls : y->cls;
    int both, either, less;

    if (x->cls != y->cls && x->cls >= 0 && y->cls >= 0) return false;
    both = count_shared(s, x->slice, y->slice, cls, &either);
    less = x->size < y->size ? x->size : y->size;
    return (p->predicted >= 0 && p->predicted == q->predicted && 2 * both >= less)
        || (x->cls != y->cls && either && 2 * both >= either);
}

/* Whether slice x, or one of the same number of a cause, which is near it, is near a leader. all (n): all slices. */
static bool is_near(const spot_subject *s, const ranked_slice *leader, const ranked_slice *x, const ranked_slice *all, int n)
{
    const int cause = x->slice->proof->cause;

    for (const ranked_slice *y = cause ? all : x; y < (cause ? all + n : x + 1) && y->kind == SPOT_SLICE_CONFIRMED; y++)
        if (y == x || y->slice->proof->cause == cause)
            if (y == leader || spot_slice_same_rule(leader->slice, y->slice) || share_rows(s, leader, y)) return true;
    return false;
}

/* Whether the entry of a leader tells that x fails as often as it does. In the entry of a cluster the rows of x count, too. */
static bool explains(const spot_explainer *e, const ranked_slice *leader, const ranked_slice *x)
{
    const spot_proof *p = leader->slice->proof, *q = x->slice->proof;

    if (leader->rule < 2) return spot_share_of(q->wrong, q->judged).low * p->judged <= p->wrong;
    return (x->rule == 2 && spot_slice_same_rule(leader->slice, x->slice))
        || spot_rule_explains(e, leader->slice, x->slice, &e->f->finding[x->at.finding]);
}

/* Confirmed slices, which come first, join the first entry with a leader that is near and explains them: its head, or a slice
 * with the head's rule. Returns the entries. */
static int group_slices(const spot_explainer *e, ranked_slice *all, int n)
{
    int entries = 0;

    for (int i = 0; i < n; i++) {
        ranked_slice *x = &all[i];
        for (int k = 0; k < i && x->kind == SPOT_SLICE_CONFIRMED && x->entry < 0; k++) {
            if (!all[k].leads || !is_near(e->s, &all[k], x, all, n) || !explains(e, &all[k], x)) continue;
            x->entry = all[k].entry;
            x->leads = spot_slice_same_rule(all[k].slice, x->slice);
        }
        if (x->entry >= 0) continue;
        x->entry = entries++;
        x->leads = true;
    }
    return entries;
}

/* ---- entries in their order ---- */

static int most_errors_first(const void *a, const void *b)
{
    const spot_entry *x = a, *y = b;

    if (x->folded != y->folded) return x->folded ? 1 : -1;
    if (x->claim != y->claim) return x->claim < y->claim ? -1 : 1;
    if (x->excess_rows != y->excess_rows) return x->excess_rows > y->excess_rows ? -1 : 1;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    if (x->member->finding != y->member->finding) return x->member->finding - y->member->finding;
    return x->member->slice - y->member->slice;
}

static void fold_confusions(spot_slice_list *e)
{
    bool others = false;

    for (int i = 0; i < e->count; i++)
        others |= e->entry[i].claim == SPOT_SLICE_CONFIRMED && e->entry[i].kind != SPOT_ENTRY_CONFUSION;
    for (int i = 0; i < e->count; i++) {
        e->entry[i].folded = others && e->entry[i].kind == SPOT_ENTRY_CONFUSION;
        e->folded += e->entry[i].folded;
    }
}

/* The members of each entry stand together in *member, in the order of `all`. */
static void share_out(spot_slice_list *e, const ranked_slice *all, spot_slice_place *member)
{
    for (int i = 0; i < e->slices; i++) e->entry[all[i].entry].members++;
    for (int k = 0; k < e->count; member += e->entry[k++].members) e->entry[k].member = member;
    for (int k = 0; k < e->count; k++) e->entry[k].members = 0;
    for (int i = 0; i < e->slices; i++) {
        spot_entry *x = &e->entry[all[i].entry];
        x->claim = all[i].kind;
        member = (spot_slice_place *)(uintptr_t)x->member;
        member[x->members++] = all[i].at;
    }
}

/* Heads first. */
static void number_slices(spot_slice_list *e)
{
    int n = 0;

    for (int k = 0; k < e->count; k++) {
        e->entry[k].number = k + 1;
        e->place[n++] = *e->entry[k].member;
    }
    for (int k = 0; k < e->count; k++)
        for (int i = 1; i < e->entry[k].members; i++) e->place[n++] = e->entry[k].member[i];
    for (int i = 0; i < n; i++) e->number[e->place[i].finding * SPOT_MAX_HYPOTHESES + e->place[i].slice] = i + 1;
    for (int k = 0; k < e->count; k++)
        for (int i = 0; i < e->entry[k].members; i++) {
            const spot_slice_place at = e->entry[k].member[i];
            e->entry_of[at.finding * SPOT_MAX_HYPOTHESES + at.slice] = k + 1;
        }
}

static spot_status make_entries(spot_ctx *c, spot_slice_list *e, const spot_findings *f, const spot_subject *s)
{
    const size_t n = (size_t)e->slices + 1, all_places = (size_t)f->count * SPOT_MAX_HYPOTHESES + 1;
    spot_entry_builder b = { f, s, calloc((size_t)s->n + 1, sizeof *b.mark), 0, e->answers.wrong };
    ranked_slice *all = malloc(n * sizeof *all);
    spot_explainer explainer;
    spot_status how = spot_explainer_open(c, &explainer, f, s);

    e->entry = calloc(n, sizeof *e->entry);
    e->place = calloc(2 * n, sizeof *e->place);
    e->number = calloc(all_places, sizeof *e->number);
    e->entry_of = calloc(all_places, sizeof *e->entry_of);
    if (how == SPOT_OK && (!b.mark || !all || !e->entry || !e->place || !e->number || !e->entry_of))
        how = spot_fail(c, SPOT_NOMEM, "no memory for the list of %d slices", e->slices);
    if (how == SPOT_OK) {
        rank_slices(all, f);
        e->count = group_slices(&explainer, all, e->slices);
        share_out(e, all, e->place + n);               /* behind the places by number */
    }
    for (int k = 0; k < e->count && how == SPOT_OK; k++) how = spot_entry_count(c, &b, &e->entry[k]);
    if (how == SPOT_OK) {
        fold_confusions(e);
        qsort(e->entry, (size_t)e->count, sizeof *e->entry, most_errors_first);
        number_slices(e);
    }
    spot_explainer_close(&explainer);
    free(b.mark);
    free(all);
    return how;
}

spot_status spot_findings_entries(spot_ctx *c, spot_slice_list *e, const spot_findings *f, const spot_subject *s)
{
    *e = (spot_slice_list){ .answers = spot_answers_of(s, SPOT_ALL_CLASSES) };
    for (int i = 0; i < f->count; i++) e->slices += f->finding[i].slices;
    SPOT_TRY(make_entries(c, e, f, s));
    return spot_count_classes(c, &e->cls, &e->classes, s);
}

void spot_slice_list_close(spot_slice_list *e)
{
    free(e->entry);
    free(e->place);
    free(e->number);
    free(e->entry_of);
    free(e->cls);
    *e = (spot_slice_list){ 0 };
}

spot_status spot_slice_numbers(spot_ctx *c, int **number, const spot_findings *f, const spot_subject *s)
{
    spot_slice_list e;
    spot_status how = spot_findings_entries(c, &e, f, s);

    *number = how == SPOT_OK ? e.number : NULL;
    if (how == SPOT_OK) e.number = NULL;
    spot_slice_list_close(&e);
    return how;
}
