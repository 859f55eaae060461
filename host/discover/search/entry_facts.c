/* entry_facts.c - the figures, the kind and the title of an entry (spotter/discover.h). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "discover/search/entry_facts.h"
#include "result/columns.h"

#define DOUBT 0.05                     /* p from which a description may be chance */
#define MOSTLY 0.5

char *const *spot_slice_items(const spot_slice *s, int *items)
{
    const spot_match *m = s->conjunction ? &s->conjunction->held_out : NULL;

    if (s->proof && s->proof->rule_items) {
        *items = s->proof->rule_items;
        return s->proof->rule;
    }
    *items = m && m->p <= DOUBT && m->precision >= MOSTLY ? s->conjunction->items : 0;
    return *items ? s->conjunction->name : NULL;
}

bool spot_slice_is_rule(const spot_slice *s)
{
    int items;

    return (s->proof && s->proof->rule_items) || (spot_slice_items(s, &items) && s->conjunction->held_out.recall >= MOSTLY);
}

bool spot_slice_same_rule(const spot_slice *x, const spot_slice *y)
{
    int n, m, same = 0;
    char *const *a = spot_slice_items(x, &n), *const *b = spot_slice_items(y, &m);

    for (int i = 0; a && b && i < n; i++)
        for (int k = 0; k < m; k++) same += !strcmp(a[i], b[k]);
    return n && n == m && same == n;
}

/* ---- figures ---- */

/* taken: wrong rows by predicted class; judged_as: the class of all judged rows so far, -1: none, -2: right ones or several. */
typedef struct {
    spot_entry_builder *b;
    spot_entry *x;
    int        *taken;
    uint8_t    *has;                   /* classes of the rows */
    double      expected, shrunk, cell;        /* sums over judged rows: wrong ones by class; excess to expect; wrong ones by
                                                * predicted class and confidence */
    int         judged_as;
} counter;

static int class_of(const counter *k, int row, int cls) { return k->b->s->target ? k->b->s->target[row] : cls; }

static void count_judged(counter *k, int row, bool wrong, const spot_proof *p)
{
    const int to = spot_subject_predicted(k->b->s, row);

    k->x->judged++;
    k->x->judged_wrong += wrong;
    if (p) k->expected += p->class_rate, k->shrunk += p->shrunk, k->cell += p->cell;
    k->judged_as = !wrong || to < 0 || (k->judged_as != -1 && k->judged_as != to) ? -2 : to;
}

/* Rows that were seen before count again only if they were not judged yet. */
static void count_member(counter *k, spot_slice_place at)
{
    const spot_finding *f = &k->b->f->finding[at.finding];
    const spot_slice *s = &f->slice[at.slice];

    for (int i = 0; i < s->size; i++) {
        const int row = s->row[i], cls = class_of(k, row, f->cls), was = k->b->mark[row];
        const bool seen = was / 2 == k->b->stamp, wrong = spot_subject_wrong(k->b->s, row, cls);
        const bool judges = !s->proof || s->proof->origin[i] & SPOT_ORIGIN_JUDGED;
        const int to = wrong && !seen ? spot_subject_predicted(k->b->s, row) : -1;
        if (!seen) k->x->size++, k->x->wrong += wrong;
        if (to >= 0) k->taken[to]++;
        if (cls >= 0) k->has[cls] = 1;
        if (judges && !(seen && was % 2)) count_judged(k, row, wrong, s->proof);
        k->b->mark[row] = 2 * k->b->stamp + (judges || (seen && was % 2));
    }
}

/* Whether member i counts: of a rule its own rows alone do. */
static bool counts(const counter *k, int i)
{
    const spot_slice *s = spot_slice_at(k->b->f, k->x->member[i]);

    return !k->x->exact || (s->proof->rule_items && spot_slice_same_rule(s, spot_slice_at(k->b->f, *k->x->member)));
}

/* Rows of one class are counted together, since a row that has several classes is one of each. */
static void count_members(counter *k)
{
    const spot_entry *x = k->x;

    for (int i = 0; i < x->members; i++) {
        const int cls = k->b->f->finding[x->member[i].finding].cls;
        bool again = k->b->s->target && i;
        for (int j = 0; j < i && !again; j++) again = k->b->f->finding[x->member[j].finding].cls == cls;
        if (again) continue;
        k->b->stamp++;
        for (int j = i; j < x->members; j++)
            if (counts(k, j) && (k->b->s->target || k->b->f->finding[x->member[j].finding].cls == cls))
                count_member(k, x->member[j]);
    }
}

static void name_classes(counter *k)
{
    spot_entry *x = k->x;
    int best = 0;

    x->cls = SPOT_ALL_CLASSES, x->predicted = -1, x->predicted_share = NAN;
    for (int i = 0; i < k->b->s->classes; i++) {
        if (k->has[i]) x->cls = i, x->classes++;
        if (k->taken[i] > best) best = k->taken[i], x->predicted = i;
    }
    if (x->classes != 1) x->cls = SPOT_ALL_CLASSES;
    if (best) x->predicted_share = (double)best / x->wrong;
}

/* The rates of one slice are its own; those of several are means over judged rows, each with the first slice that has it. */
static void set_rates(counter *k)
{
    spot_entry *x = k->x;
    const spot_finding *f = &k->b->f->finding[x->member->finding];
    const spot_proof *head = spot_slice_at(k->b->f, *x->member)->proof;
    int members = 0;

    for (int i = 0; i < x->members; i++) members += counts(k, i);
    x->class_rate = !head ? (f->n ? (double)f->wrong / f->n : 0) : members == 1 ? head->class_rate : k->expected / x->judged;
    x->excess_rows = x->judged_wrong - x->class_rate * x->judged;
    x->share = k->b->all_wrong ? (double)x->wrong / (double)k->b->all_wrong : 0;
    x->shrunk = x->p = NAN;
    for (int i = 0; i < x->members && head; i++) {
        const spot_proof *p = spot_slice_at(k->b->f, x->member[i])->proof;
        x->p = fmin(x->p, p->p);
    }
    if (head) x->shrunk = members == 1 ? head->shrunk : k->shrunk / x->judged;
}

/* ---- kind and title ---- */

/* The first rule; and its rows in the classes of all members that have it, which are all rows where one is a slice of these. */
static void find_rule(const counter *k)
{
    spot_entry *x = k->x;
    const spot_slice *first = NULL;

    for (int i = 0; i < x->members && !first; i++)
        if (spot_slice_is_rule(spot_slice_at(k->b->f, x->member[i]))) first = spot_slice_at(k->b->f, x->member[i]);
    if (first) x->rule = spot_slice_items(first, &x->rule_items);
    for (int i = 0; i < x->members && first; i++) {
        const spot_slice *s = spot_slice_at(k->b->f, x->member[i]);
        const int finding = x->member[i].finding, cls = k->b->f->finding[finding].cls;
        const bool own = s->proof && s->proof->rule_items;
        bool again = !spot_slice_same_rule(first, s);
        for (int j = 0; j < i && !again; j++)
            again = x->member[j].finding == finding && spot_slice_same_rule(first, spot_slice_at(k->b->f, x->member[j]));
        if (again) continue;
        x->rule_rows = (cls < 0 ? 0 : x->rule_rows) + (own ? s->size : s->conjunction->all.covered);
        x->rule_wrong = (cls < 0 ? 0 : x->rule_wrong) + (own ? s->wrong : s->conjunction->all.wrong);
        if (cls < 0) return;
    }
}

/* Where there are two classes, every wrong row is taken for the other one, which says nothing. Rows of several are no cell. */
static bool is_confusion(const counter *k)
{
    const spot_entry *x = k->x;

    if (x->claim != SPOT_SLICE_CONFIRMED || !x->judged || x->classes != 1) return false;
    if (k->judged_as >= 0 && k->b->s->classes > 2) return true;
    return spot_share_of(x->judged_wrong, x->judged).low <= k->cell / x->judged;        /* NaN: not known */
}

const char *spot_class_called(spot_class_title text, const spot_subject *s, int cls)
{
    const char *name = s->class_name[cls];
    spot_short_name brief;

    snprintf(text, sizeof(spot_class_title), "%s%s", name[strspn(name, "0123456789")] ? "" : "class ",
             spot_shorten(brief, name));
    return text;
}

static void name_entry(counter *k)
{
    spot_entry *x = k->x;
    const spot_subject *s = k->b->s;
    spot_short_name item;
    spot_class_title who, to;
    size_t used;

    if (x->cls >= 0) spot_class_called(who, s, x->cls);
    else if (x->classes > 1 && x->classes < s->classes) snprintf(who, sizeof who, "%d classes", x->classes);
    else snprintf(who, sizeof who, "all classes");
    used = (size_t)snprintf(x->title, sizeof x->title, "%s", who);
    for (int i = 0; i < x->rule_items && used < sizeof x->title; i++)
        used += (size_t)snprintf(x->title + used, sizeof x->title - used, "%s%s",
                                 i ? " and " : x->exact ? " where " : ", mostly ", spot_shorten(item, x->rule[i]));
    if (!x->rule_items && x->predicted >= 0)
        snprintf(x->title, sizeof x->title, "%s taken for %s", who, spot_class_called(to, s, x->predicted));
}

spot_status spot_entry_count(spot_ctx *c, spot_entry_builder *b, spot_entry *x)
{
    const size_t classes = (size_t)b->s->classes + 1;
    counter k = { .b = b, .x = x, .taken = calloc(classes, sizeof *k.taken), .has = calloc(classes, 1), .judged_as = -1 };
    const bool room = k.taken && k.has;

    if (room) {
        const spot_proof *head = spot_slice_at(b->f, *x->member)->proof;
        x->exact = head && head->rule_items;
        count_members(&k);
        name_classes(&k);
        set_rates(&k);
        find_rule(&k);
        x->kind = x->rule_items ? SPOT_ENTRY_RULE : is_confusion(&k) ? SPOT_ENTRY_CONFUSION : SPOT_ENTRY_CLUSTER;
        name_entry(&k);
    }
    free(k.taken);
    free(k.has);
    return room ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory to count %d slices of one cause", x->members);
}
