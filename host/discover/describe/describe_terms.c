/* describe_terms.c - see describe_terms.h. */
#include "discover/describe/describe_terms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "discover/describe/describe_match.h"
#include "stats/statistics.h"

#define PRIOR_ROWS 10.0
#define DOUBT 0.05                     /* p from which a term may be chance */

/* Terms as indices of items, and how many rows of the class, and of a group, have each. */
typedef struct { int terms, *item, *all, *in; } text_terms;

/* The term of an item "NAME has TERM", which has no blank; NULL: it is no such item. */
static char *term_of(char *name)
{
    char *blank = strrchr(name, ' ');

    return blank && blank - name > 4 && !memcmp(blank - 4, " has", 4) ? blank + 1 : NULL;
}

static bool is_term(const spot_attributes *a, const char *word)
{
    for (int i = 0; i < a->items; i++) {
        const char *term = term_of(a->name[i]);
        if (term && !strcmp(term, word)) return true;
    }
    return false;
}

bool spot_words_are_terms(const spot_attributes *a, const spot_word *word, int words)
{
    bool all = a && words > 0;

    for (int i = 0; i < words && all; i++) all = is_term(a, word[i].phrase);
    return all;
}

/* Whether these items of one column have one name before their terms. */
static bool are_terms(const spot_attributes *a, int first, int end)
{
    char *of = term_of(a->name[first]);

    for (int i = first; i < end && of; i++) {
        const char *term = term_of(a->name[i]);
        const long front = of - a->name[first];
        if (!term || term - a->name[i] != front || memcmp(a->name[i], a->name[first], (size_t)front)) of = NULL;
    }
    return of && end - first > 1;
}

static void list_terms(text_terms *t, const spot_attributes *a)
{
    t->terms = 0;
    for (int first = 0, end; first < a->items; first = end) {
        for (end = first + 1; end < a->items && a->column[end] == a->column[first]; end++) { }
        for (int i = first; i < end && are_terms(a, first, end); i++) t->item[t->terms++] = i;
    }
}

/* ---- a group ---- */

static void count_rows(const text_terms *t, int *out, const spot_conjunctions_problem *p, const spot_group *g)
{
    memset(out, 0, (size_t)t->terms * sizeof *out);
    for (int i = 0; i < (g ? g->n : p->n); i++)
        for (int k = 0; k < t->terms; k++) out[k] += spot_item_holds(p->attributes, t->item[k], p->row[g ? g->row[i] : i]);
}

static double log_odds(double y, double n, double a, double a0) { return log((y + a) / (n + a0 - y - a)); }

/* The z of a term; 0 where it is the only one. */
static double score_of(const text_terms *t, int k, double in, double all, int rows)
{
    const double scale = PRIOR_ROWS / rows, a = scale * t->all[k], a0 = scale * all, y = t->in[k], z = t->all[k] - y;
    const double odds = log_odds(y, in, a, a0) - log_odds(z, all - in, a, a0);

    return isfinite(odds) ? odds / sqrt(1 / (y + a) + 1 / (z + a)) : 0;
}

static spot_word word_of(const text_terms *t, int k, double score, const spot_conjunctions_problem *p, const spot_group *g)
{
    const double in = t->in[k], out = t->all[k] - in;
    int tried = 0;

    for (int i = 0; i < t->terms; i++) tried += t->all[i] > 0;
    return (spot_word){ .phrase = term_of(p->attributes->name[t->item[k]]), .score = score,
                        .auc = g->n < p->n ? 0.5 + 0.5 * (in / g->n - out / (p->n - g->n)) : NAN,
                        .p = fmin(1, tried * spot_hypergeometric_tail(p->n, g->n, t->all[k], t->in[k])) };
}

/* The terms of the greatest scores, of those that chance does not give; their number. */
static int choose_terms(text_terms *t, spot_word *word, int most, const spot_conjunctions_problem *p, const spot_group *g)
{
    double in = 0, all = 0;
    int kept = 0;

    count_rows(t, t->in, p, g);
    for (int k = 0; k < t->terms; k++) in += t->in[k], all += t->all[k];
    for (int k = 0; k < t->terms && g->n; k++) {
        const double score = t->all[k] ? score_of(t, k, in, all, p->n) : 0;
        const spot_word x = word_of(t, k, score, p, g);
        int at = kept;
        if (!(score > 0 && x.p <= DOUBT) || (kept == most && !(kept && score > word[kept - 1].score))) continue;
        if (kept < most) kept++;
        else at--;
        for (; at && score > word[at - 1].score; at--) word[at] = word[at - 1];
        word[at] = x;
    }
    return kept;
}

spot_status spot_terms_find(spot_ctx *c, spot_word *word, int *kept, int most, const spot_conjunctions_problem *p)
{
    const size_t items = (size_t)p->attributes->items + 1;
    int *memory = malloc(3 * items * sizeof *memory);
    text_terms t = { 0, memory, memory + items, memory + 2 * items };

    if (!memory) return spot_fail(c, SPOT_NOMEM, "no memory for the terms of %d attributes", p->attributes->items);
    memset(kept, 0, (size_t)p->groups * sizeof *kept);
    list_terms(&t, p->attributes);
    if (t.terms) count_rows(&t, t.all, p, NULL);
    for (int g = 0; g < p->groups && t.terms; g++)
        kept[g] = choose_terms(&t, word + (size_t)g * (size_t)most, most, p, &p->group[g]);
    free(memory);
    return SPOT_OK;
}
