/* rule_read.c - the rows of a rule that a user wrote, or of a sentence: see spotter/claim.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "discover/subject/attributes.h"
#include "formats/formats.h"
#include "spotter/claim.h"

enum { RULE = 1000, TOLD = 6 };

#define CLASS "class="

typedef struct {
    spot_ctx              *c;
    spot_row_claim        *k;
    const spot_subject    *s;
    const spot_attributes *a;
    const char            *table;
} rule_reader;

static spot_status open_rows(rule_reader *r)
{
    *r->k = (spot_row_claim){ .cls = SPOT_ALL_CLASSES, .item = { -1, -1 } };
    if (!r->s->target)
        return spot_fail(r->c, SPOT_USAGE, "{claim.several} rows that may have several classes at once are not looked at; "
                         "claim something of rows with one class");
    r->k->in = malloc((size_t)r->s->n + 1);
    if (!r->k->in) return spot_fail(r->c, SPOT_NOMEM, "no memory for the rows of a claim");
    memset(r->k->in, 1, (size_t)r->s->n);
    return SPOT_OK;
}

void spot_row_claim_close(spot_row_claim *k)
{
    free(k->in);
    k->in = NULL;
}

/* ---- conditions ---- */

static int class_of(const spot_subject *s, const char *name)
{
    int k = s->classes - 1;

    while (k >= 0 && strcmp(s->class_name[k], name)) k--;
    return k;
}

/* The item of this name, or the third of this name in front of its limits. */
static int item_of(const spot_attributes *a, const char *name)
{
    const size_t n = strlen(name);

    for (int i = 0; a && i < a->items; i++)
        if (!strcmp(a->name[i], name)) return i;
    for (int i = 0; a && i < a->items; i++)
        if (!isnan(a->range[i][1]) && !strncmp(a->name[i], name, n) && !strncmp(a->name[i] + n, " (", 2)) return i;
    return -1;
}

static spot_status take_class(rule_reader *r, int cls)
{
    if (r->k->cls >= 0 && r->k->cls != cls)
        return spot_fail(r->c, SPOT_USAGE, "{claim.classes} the rule names two classes, %.80s and %.80s, and a row has one",
                         r->s->class_name[r->k->cls], r->s->class_name[cls]);
    r->k->cls = cls;
    for (int i = 0; i < r->s->n; i++) r->k->in[i] &= r->s->target[i] == cls;
    return SPOT_OK;
}

static void take_item(rule_reader *r, int item)
{
    const uint64_t *bit = r->a->bit + (size_t)item * r->a->words;

    for (int i = 0; i < r->k->items && i < 2; i++)
        if (r->k->item[i] == item) return;
    for (int i = 0; i < r->s->n; i++) r->k->in[i] &= (uint8_t)(bit[i / 64] >> i % 64 & 1);
    r->k->thirds += !isnan(r->a->range[item][1]);
    if (r->k->items < 2) r->k->item[r->k->items] = item;
    r->k->items++;
    r->k->conditions++;
}

/* A comparison, if the text is one: the column's name ends at *end, and the number begins at *number. */
static spot_relation comparison_in(const char *text, size_t *end, const char **number)
{
    const size_t n = strcspn(text, "<>=");
    size_t at = n;
    spot_relation how = SPOT_NO_RELATION;

    if (!text[n]) return how;
    how = text[n] == '<' ? SPOT_BELOW : text[n] == '>' ? SPOT_ABOVE : SPOT_EQUAL;
    at++;
    if (text[n] != '=' && text[at] == '=') at++, how = how == SPOT_BELOW ? SPOT_AT_MOST : SPOT_AT_LEAST;
    *number = text + at;
    for (*end = n; *end && strchr(" \t", text[*end - 1]);) --*end;
    return how;
}

static bool has_ampersand(const rule_reader *r)
{
    bool any = false;

    for (int i = 0; r->a && i < r->a->items && !any; i++) any = strchr(r->a->name[i], '&') != NULL;
    for (int i = 0; i < r->s->classes && !any; i++) any = strchr(r->s->class_name[i], '&') != NULL;
    return any;
}

static spot_status no_condition(rule_reader *r, const char *text)
{
    char items[400] = "", names[400] = "";
    size_t used = 0;

    for (int i = 0; r->a && i < r->a->items && i < TOLD && used < sizeof items; i++)
        used += (size_t)snprintf(items + used, sizeof items - used, "%s\"%.60s\"", i ? ", " : "", r->a->name[i]);
    used = 0;
    for (int i = 0; i < r->s->classes && i < TOLD && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s\"%.60s\"", i ? ", " : "", r->s->class_name[i]);
    return spot_fail(r->c, SPOT_USAGE, "{claim.condition} \"%.200s\" is no class and no item of the table; classes are %s%s; "
                     "items are %s%s%s", text, names, r->s->classes > TOLD ? ", ..." : "",
                     *items ? items : "none: the findings keep no attributes, so give a table with --attributes",
                     r->a && r->a->items > TOLD ? ", ..." : "",
                     has_ampersand(r) ? "; a name with & in it stands between double quotes" : "");
}

/* text: the comparison; the column's name is in front of it, unless it stood between quotes. */
static spot_status take_comparison(rule_reader *r, const char *text, const char *quoted)
{
    const char *number = NULL;
    size_t n = 0;
    const spot_relation how = comparison_in(text, &n, &number);
    char column[RULE];
    double value;

    if (how) number += strspn(number, " \t");
    if (!how || (!n && !quoted) || (n && quoted) || !spot_number(&value, number, strlen(number)) || !isfinite(value))
        return no_condition(r, text);
    if (!r->table)
        return spot_fail(r->c, SPOT_USAGE, "{claim.no_table} \"%.200s\" compares numbers, of which the findings keep thirds "
                         "alone; give their table with --attributes", text);
    snprintf(column, sizeof column, "%.*s", quoted ? RULE : (int)n, quoted ? quoted : text);
    r->k->conditions++;
    return spot_attributes_compare(r->c, r->k->in, r->s, r->table, &(spot_column_cut){ column, how, value });
}

static spot_status take_condition(rule_reader *r, const char *text)
{
    const int item = item_of(r->a, text), cls = class_of(r->s, text);
    const int named = !strncmp(text, CLASS, strlen(CLASS)) ? class_of(r->s, text + strlen(CLASS)) : -1;

    if (!*text) return spot_fail(r->c, SPOT_USAGE, "{claim.empty} a condition of the rule is empty");
    if (item >= 0) return take_item(r, item), SPOT_OK;
    if (named >= 0 || cls >= 0) return take_class(r, named >= 0 ? named : cls);
    return take_comparison(r, text, NULL);
}

/* ---- quotes ---- */

/* Where a condition has quotes in front of its name, or behind CLASS: the byte behind the first of them; else NULL. */
static const char *quoted_name(const char *text)
{
    if (!strncmp(text, CLASS, strlen(CLASS))) text += strlen(CLASS);
    return *text == '"' ? text + 1 : NULL;
}

/* Copies a name up to the quote behind it, of two quotes one. Returns the byte behind that quote; NULL: there is none. */
static const char *copy_name(char name[RULE], const char *from)
{
    size_t n = 0;

    for (; *from; name[n++] = *from++)
        if (*from == '"' && *++from != '"') {
            name[n] = 0;
            return from;
        }
    return NULL;
}

/* text: without blanks around it, up to the end of the condition. */
static spot_status take_quoted(rule_reader *r, const char *text)
{
    char name[RULE];
    const char *rest = copy_name(name, quoted_name(text));
    const int item = *text == '"' ? item_of(r->a, name) : -1, cls = class_of(r->s, name);

    rest += strspn(rest, " \t");
    if (*rest && *text == '"') return take_comparison(r, rest, name);
    if (item >= 0 && !*rest) return take_item(r, item), SPOT_OK;
    if (cls >= 0 && !*rest) return take_class(r, cls);
    return no_condition(r, text);
}

/* text[from, to) without blanks around it. */
static spot_status take_part(rule_reader *r, const char *from, const char *to)
{
    char part[RULE];

    while (to > from && strchr(" \t", to[-1])) to--;
    snprintf(part, sizeof part, "%.*s", (int)(to - from), from);
    return quoted_name(part) ? take_quoted(r, part) : take_condition(r, part);
}

/* *end: the end of the condition at `from`, which is no blank. */
static spot_status find_end(rule_reader *r, const char **end, const char *from)
{
    char name[RULE];
    const char *quoted = quoted_name(from), *behind = quoted ? copy_name(name, quoted) : from;

    if (!behind)
        return spot_fail(r->c, SPOT_USAGE, "{claim.quotes} the quotes before \"%.200s\" are not closed; a quote in a name "
                         "between quotes is written twice", quoted);
    *end = behind + strcspn(behind, "&");
    return SPOT_OK;
}

static spot_status check_rule(rule_reader *r, const char *rule)
{
    const int *item = r->k->item;
    int rows = 0;

    for (int i = 0; i < r->s->n; i++) rows += r->k->in[i];
    if (!r->k->conditions)
        return spot_fail(r->c, SPOT_USAGE, "{claim.class_alone} the rule is a class alone, and a claim compares rows with "
                         "their class; add a condition");
    if (!rows) return spot_fail(r->c, SPOT_INPUT, "{claim.no_row} no row has all of \"%.300s\"", rule);
    r->k->listed = r->k->items == r->k->conditions && r->k->items <= 2
                && (r->k->items < 2 || r->a->column[item[0]] != r->a->column[item[1]]);
    return SPOT_OK;
}

spot_status spot_row_claim_read(spot_ctx *c, spot_row_claim *k, const spot_subject *s, const spot_attributes *a,
                                const char *table, const char *rule)
{
    rule_reader r = { c, k, s, a, table };
    const char *end;

    SPOT_TRY(open_rows(&r));
    if (strlen(rule) >= RULE) return spot_fail(c, SPOT_USAGE, "{claim.long} the rule is longer than %d bytes", RULE - 1);
    if (item_of(a, rule) >= 0 || class_of(s, rule) >= 0) {     /* one name, whatever is in it */
        SPOT_TRY(take_condition(&r, rule));
        return check_rule(&r, rule);
    }
    for (const char *from = rule; from; from = *end ? end + 1 : NULL) {
        from += strspn(from, " \t");
        SPOT_TRY(find_end(&r, &end, from));
        SPOT_TRY(take_part(&r, from, end));
    }
    return check_rule(&r, rule);
}

/* ---- a sentence ---- */

static double cosine(const float *x, const float *y, int d)
{
    double xy = 0, xx = 0, yy = 0;

    for (int k = 0; k < d; k++) xy += (double)x[k] * y[k], xx += (double)x[k] * x[k], yy += (double)y[k] * y[k];
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : -1;
}

spot_status spot_row_claim_near(spot_ctx *c, spot_row_claim *k, const spot_subject *s, const float *feature, const float *text,
                                int d, int most, int cls)
{
    rule_reader r = { c, k, s, NULL, NULL };
    spot_gathered *all;

    SPOT_TRY(open_rows(&r));
    all = malloc(((size_t)s->n + 1) * sizeof *all);
    if (!all) return spot_fail(c, SPOT_NOMEM, "no memory for the rows of a claim");
    int n = 0;
    for (int i = 0; i < s->n; i++)
        if (cls < 0 || s->target[i] == cls)
            all[n++] = (spot_gathered){ i, SPOT_GATHERED, cosine(feature + (size_t)i * (size_t)d, text, d) };
    spot_gathered_sort(all, n);
    memset(k->in, 0, (size_t)s->n);
    k->cls = cls;
    k->conditions = 1;
    for (int i = 0; i < n && i < most; i++) k->in[all[i].picture] = 1;
    free(all);
    return SPOT_OK;
}
