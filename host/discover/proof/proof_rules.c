/* proof_rules.c - slices that are rules: rows that have certain items of the attributes. A rule is chosen on the finding part
 * alone, and needs no neighbours to say which rows of the other part belong. */
#include <stdlib.h>
#include <string.h>

#include "discover/describe/describe_match.h"
#include "discover/proof/judge.h"

enum { MOST_TRIED = 1 << 20 };         /* conjunctions that are tried for the rule of a piece */

bool spot_same_rule(const spot_rule *a, const spot_rule *b)
{
    return a->items == b->items && !memcmp(a->item, b->item, (size_t)a->items * sizeof *a->item);
}

void spot_rule_rows(const spot_proving *j, const spot_proved *k, const spot_rule *rule, int part, uint64_t *bit)
{
    memset(bit, 0, k->words * sizeof *bit);
    for (int i = 0; i < k->members[part]; i++) {
        const int at = k->member[part][i];
        int held = 0;
        while (held < rule->items && spot_item_holds(j->o->attributes, rule->item[held], k->row[at])) held++;
        if (held == rule->items) bit[at / 64] |= (uint64_t)1 << at % 64;
    }
}

/* ---- the rule of a piece's rows ---- */

/* The items that hold for all rows of a piece, and for each the other rows for which it holds, too. */
typedef struct {
    int       items, *item, others, tried;
    size_t    words;               /* of the other rows */
    uint64_t *bit, *behind;        /* (items, words): of an item; of it and all behind it together */
    uint64_t *left;                /* (SPOT_RULE_ITEMS + 1, words): rows that the items so far leave */
    int       longest;
    spot_rule rule;
} rule_search;

static bool is_empty(const uint64_t *bit, size_t words)
{
    for (size_t w = 0; w < words; w++) if (bit[w]) return false;
    return true;
}

static bool shares_bit(const uint64_t *a, const uint64_t *b, size_t words)
{
    for (size_t w = 0; w < words; w++) if (a[w] & b[w]) return true;
    return false;
}

/* Whether items from `first` on complete the rule to `longest` items that leave no other row. */
static bool complete_rule(rule_search *q, int first)
{
    const uint64_t *left = q->left + (size_t)q->rule.items * q->words;
    uint64_t *next = q->left + ((size_t)q->rule.items + 1) * q->words;

    if (is_empty(left, q->words)) return true;
    if (q->rule.items == q->longest) return false;
    for (int i = first; i < q->items && ++q->tried < MOST_TRIED; i++) {
        const uint64_t *bit = q->bit + (size_t)i * q->words;
        if (shares_bit(left, q->behind + (size_t)i * q->words, q->words)) return false;
        for (size_t w = 0; w < q->words; w++) next[w] = left[w] & bit[w];
        q->rule.item[q->rule.items++] = q->item[i];
        if (complete_rule(q, i + 1)) return true;
        q->rule.items--;
    }
    return false;
}

static void fill_search(rule_search *q, const spot_proving *j, const spot_proved *k, const spot_judged *g)
{
    const spot_attributes *a = j->o->attributes;
    const int part = g->said.part;

    for (int item = 0; item < a->items; item++) {
        uint64_t *bit = q->bit + (size_t)q->items * q->words;
        bool holds = true;
        int other = 0, held = 0;
        memset(bit, 0, q->words * sizeof *bit);
        for (int i = 0; i < k->finders[part] && holds; i++) {
            const int at = k->finder[part][i];
            const bool has = spot_item_holds(a, item, k->row[at]);
            if (spot_has_bit(g->found, at)) holds = has;
            else {
                if (has) bit[other / 64] |= (uint64_t)1 << other % 64, held++;
                other++;
            }
        }
        if (holds && held < q->others) q->item[q->items++] = item;
    }
    for (int i = q->items - 1; i >= 0; i--)
        for (size_t w = 0, at = (size_t)i * q->words; w < q->words; w++, at++)
            q->behind[at] = q->bit[at] & (i + 1 < q->items ? q->behind[at + q->words] : ~(uint64_t)0);
}

spot_status spot_rule_of_piece(spot_proving *j, const spot_judged *g, spot_rule *rule)
{
    const spot_proved *k = &j->cls[g->class_place];
    const int part = g->said.part, items = j->o->attributes->items;
    rule_search q = { .others = k->finders[part] };
    uint64_t *room;

    for (size_t w = 0; w < k->words; w++) q.others -= __builtin_popcountll(g->found[w]);
    q.words = (size_t)q.others / 64 + 1;
    room = malloc((2 * (size_t)items + SPOT_RULE_ITEMS + 3) * q.words * sizeof *room);
    q.item = malloc(((size_t)items + 1) * sizeof *q.item);
    if (room && q.item) {
        q.bit = room, q.behind = room + ((size_t)items + 1) * q.words, q.left = q.behind + ((size_t)items + 1) * q.words;
        fill_search(&q, j, k, g);
        for (int i = 0; i < q.others; i++) q.left[i / 64] = i % 64 ? q.left[i / 64] | (uint64_t)1 << i % 64 : 1;
        if (!q.others) q.left[0] = 0;
        for (q.longest = 1; q.longest <= SPOT_RULE_ITEMS && !complete_rule(&q, 0); q.longest++) q.rule.items = 0;
    }
    *rule = q.rule;
    free(q.item);
    free(room);
    return room && q.item ? SPOT_OK : spot_fail(j->c, SPOT_NOMEM, "no memory for the rule of %d attributes", items);
}

/* ---- the best rule of any slice ---- */

/* The members of a part as the rows of a problem, and the slices' rows among them. */
typedef struct { int *row, *member; uint8_t *wrong; spot_group *group; spot_conjunction *best; } offer;

static void fill_offer(offer *x, const spot_finding *f, const spot_proved *k, int part, const int *row)
{
    int *member = x->member;

    for (int i = 0; i < k->finders[part]; i++) {
        x->row[i] = k->row[k->finder[part][i]];
        x->wrong[i] = k->is_wrong[k->finder[part][i]];
    }
    for (int s = 0; s < f->slices; s++) {
        x->group[s] = (spot_group){ member, f->slice[s].size };
        for (int i = 0, at = 0; i < f->slice[s].size; i++, at++) {
            while (x->row[at] != row[f->slice[s].row[i]]) at++;
            *member++ = at;
        }
    }
}

static spot_status find_best(spot_proving *j, spot_rule *rule, offer *x, const spot_finding *f, int rows)
{
    const spot_conjunctions_problem p = { .attributes = j->o->attributes, .n = rows, .row = x->row, .wrong = x->wrong,
                                          .groups = f->slices, .group = x->group, .whole = true };

    SPOT_TRY(spot_conjunctions_find(j->c, x->best, &p));
    for (int s = 0; s < f->slices; s++) {
        rule[s] = (spot_rule){ .items = x->best[s].items };
        memcpy(rule[s].item, x->best[s].item, (size_t)rule[s].items * sizeof *rule[s].item);
    }
    return SPOT_OK;
}

spot_status spot_rules_offer(spot_proving *j, spot_rule *rule, const spot_finding *f, int class_place, int part,
                             const int *row)
{
    const spot_proved *k = &j->cls[class_place];
    const size_t rows = (size_t)k->finders[part], slices = (size_t)f->slices;
    size_t members = 0;
    spot_status how;
    offer x;

    for (int s = 0; s < f->slices; s++) members += (size_t)f->slice[s].size;
    x = (offer){ malloc((rows + 1) * sizeof *x.row), malloc((members + 1) * sizeof *x.member), malloc(rows + 1),
                 malloc((slices + 1) * sizeof *x.group), malloc((slices + 1) * sizeof *x.best) };
    if (!x.row || !x.member || !x.wrong || !x.group || !x.best)
        how = spot_fail(j->c, SPOT_NOMEM, "no memory for the rules of %d slices", f->slices);
    else {
        fill_offer(&x, f, k, part, row);
        how = find_best(j, rule, &x, f, k->finders[part]);
    }
    free(x.row), free(x.member), free(x.wrong), free(x.group), free(x.best);
    return how;
}
