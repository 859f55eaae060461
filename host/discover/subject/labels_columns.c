/* labels_columns.c - columns of probabilities that bear names, and the classes: matched by name, never by place. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "discover/subject/subject_memory.h"
#include "discover/subject/subject_reading.h"

typedef struct {
    spot_rows_reading *r;
    const char   *file;
    int     columns;
    char  **name;              /* (columns): without a prefix that all have */
    int    *sorted;            /* (columns): by name */
    int64_t *number;           /* (columns): at the end of the name; -1: none */
    bool    headed;            /* all names are one text, the same for all, and a number: p0, p1 */
} column_names;

/* ---- names ---- */

/* The length of a prefix that all names have: p_cat, p_dog. */
static size_t prefix_of(char *const *name, int n)
{
    if (!n) return 0;
    static const char *const all[] = { "p_", "prob_", "proba_", "probability_", "probs_" };

    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        const size_t length = strlen(all[k]);
        int i = 0;
        while (i < n && !strncmp(name[i], all[k], length) && name[i][length]) i++;
        if (i == n) return length;
    }
    return 0;
}

static size_t head_of(const char *name)
{
    size_t n = strlen(name);

    while (n && name[n - 1] >= '0' && name[n - 1] <= '9') n--;
    return n;
}

static void read_numbers(column_names *m)
{
    const size_t head = head_of(m->name[0]);

    m->headed = true;
    for (int k = 0; k < m->columns; k++) {
        const char *tail = m->name[k] + head_of(m->name[k]);
        if (!*tail || !spot_integer(&m->number[k], tail, strlen(tail))) m->number[k] = -1;
        m->headed = m->headed && m->number[k] >= 0 && head_of(m->name[k]) == head && !strncmp(m->name[k], m->name[0], head);
    }
}

/* The column of that name; -1: none. */
static int find_column(const column_names *m, const char *name)
{
    int low = 0, high = m->columns;

    while (low < high) {
        const int mid = (low + high) / 2, differ = strcmp(m->name[m->sorted[mid]], name);
        if (!differ) return m->sorted[mid];
        if (differ < 0) low = mid + 1;
        else high = mid;
    }
    return -1;
}

static spot_status fail_names(const column_names *m, int matched)
{
    const spot_subject *s = m->r->s;
    char **odd = calloc((size_t)(s->classes + m->columns), sizeof *odd), listed[512], others[512];
    int n = 0, more = 0;
    spot_status how;

    if (!odd) return spot_fail(m->r->c, SPOT_NOMEM, "no memory for the names of %d columns", m->columns);
    for (int k = 0; k < s->classes; k++)
        if (find_column(m, s->class_name[k]) < 0) odd[n++] = s->class_name[k];
    for (int k = 0; k < m->columns; k++) {
        int cls = 0;
        while (cls < s->classes && strcmp(s->class_name[cls], m->name[k])) cls++;
        if (cls == s->classes) odd[n + more++] = m->name[k];
    }
    spot_words_listed(listed, odd, n);
    spot_words_listed(others, odd + n, more);
    how = spot_fail(m->r->c, SPOT_INPUT, "{probability.names} %s: %d of its %d columns bear names of the %d classes%s%s; "
                    "columns that name no class: %s; call each column as its class", m->file, matched, m->columns, s->classes,
                    n ? "; classes without a column: " : "", n ? listed : "", more ? others : "none");
    free(odd);
    return how;
}

/* ---- numbers ---- */

static bool has_number(const column_names *m, int64_t v)
{
    for (int k = 0; k < m->columns; k++)
        if (m->number[k] == v) return true;
    return false;
}

/* The number that class k is called by. */
static int64_t number_of_class(const spot_subject *s, int k)
{
    int64_t v = k;

    if (s->class_name) spot_integer(&v, s->class_name[k], strlen(s->class_name[k]));
    return v;
}

static void keep_order(int **order)
{
    free(*order);
    *order = NULL;
}

/* Columns p2, p0, p1 for classes 0, 1, 2: by number, if each class has one. Else they stand in the order of the classes, which
 * is said, here or by the caller. */
static void match_numbers(const column_names *m, int **order)
{
    const spot_subject *s = m->r->s;
    bool whole = m->headed && (!s->class_name || s->classes == m->columns), moved = false;

    for (int k = 0; whole && k < m->columns; k++) {
        const int64_t v = number_of_class(s, k);
        int at = k;
        for (int i = 0; m->number[at] != v && i < m->columns; i++) at = i;     /* most columns stand where they belong */
        (*order)[k] = at;
        whole = m->number[at] == v;
        moved = moved || at != k;
    }
    if (whole && moved)
        spot_log(m->r->c, SPOT_LOG_INFO, "%s: its columns are taken by the numbers in their names, not in the order of the "
                 "file",
                 m->file);
    if (whole) return;
    keep_order(order);
    if (!s->class_name)
        spot_log(m->r->c, SPOT_LOG_INFO, "%s: its columns are taken in their order: \"%.80s\" is class 0, \"%.80s\" class %d",
                 m->file, m->name[0], m->name[m->columns - 1], m->columns - 1);
}

/* Labels 3, 5, 7 and columns called by these numbers alone: the columns name the classes. */
static bool numbers_name_classes(const column_names *m)
{
    const spot_subject *s = m->r->s;

    if (!m->headed || head_of(m->name[0]) || s->classes <= m->columns) return false;
    for (int i = 0; i < s->n; i++)
        if (!spot_row_is_left_out(m->r, i) && !has_number(m, s->target[i])) return false;
    return true;
}

/* ---- words ---- */

/* The class that a column names: the word of class k, or, where classes have no words, its number. */
static bool names_class(const char *column, char *const *words, int k)
{
    int64_t v;

    return words ? !strcmp(column, words[k]) : spot_integer(&v, column, strlen(column)) && v == k;
}

/* The classes are the names of the columns, sorted; labels keep their words. */
static spot_status take_classes(column_names *m, int *order)
{
    spot_rows_reading *r = m->r;
    spot_subject *s = r->s;
    char **was = s->class_name, **name;
    int *place;

    SPOT_TRY(spot_subject_take(r->c, s, &name, (size_t)m->columns * sizeof *name));
    memcpy(name, m->name, (size_t)m->columns * sizeof *name);
    spot_labels_sort(name, m->columns);
    place = malloc((size_t)s->classes * sizeof *place);
    if (!place) return spot_fail(r->c, SPOT_NOMEM, "no memory for %d classes", s->classes);
    for (int k = 0; k < s->classes; k++) {
        place[k] = -1;
        for (int j = 0; j < m->columns && place[k] < 0; j++)
            if (names_class(name[j], was, k)) place[k] = j;
    }
    for (int i = 0; i < s->n; i++)                     /* a row without a column has been refused, unless it is left out */
        s->target[i] = spot_row_is_left_out(r, i) ? 0 : place[s->target[i]];
    free(place);
    for (int k = 0; k < m->columns; k++) order[k] = find_column(m, name[k]);
    if (was && m->columns > s->classes)
        spot_log(r->c, SPOT_LOG_INFO, "%s: %d of its columns name classes that no row has", m->file, m->columns - s->classes);
    s->class_name = name;
    s->classes = m->columns;
    return SPOT_OK;
}

static spot_status match_words(column_names *m, int **order)
{
    spot_subject *s = m->r->s;
    const bool one = s->target != NULL;
    int matched = 0;

    for (int k = 0; k < s->classes; k++) matched += find_column(m, s->class_name[k]) >= 0;
    if (!matched && m->headed) return keep_order(order), SPOT_OK;      /* p0, p1 for cat, dog; the caller says so */
    if (matched < s->classes || (matched < m->columns && (m->r->known || !one))) return fail_names(m, matched);
    if (matched < m->columns) return take_classes(m, *order);
    for (int k = 0; k < s->classes; k++) (*order)[k] = find_column(m, s->class_name[k]);
    return SPOT_OK;
}

/* ---- one column ---- */

int spot_column_class(const spot_rows_reading *r, const spot_array *a)
{
    const spot_subject *s = r->s;
    const char *name = a->column ? *a->column : "";
    const size_t cut = prefix_of(a->column, a->column ? 1 : 0);
    const size_t bare = cut ? cut : !strncmp(name, "prob", 4) ? 4 : *name == 'p';
    char number[24];

    for (int k = 0; *name && k < s->classes; k++) {
        const char *cls = s->class_name ? s->class_name[k] : number;
        snprintf(number, sizeof number, "%d", k);
        if (!strcmp(name, cls) || !strcmp(name + cut, cls) || ((!s->class_name || r->whole) && !strcmp(name + bare, cls)))
            return k;
    }
    for (int k = 0; *name && s->class_name && !r->whole && s->classes == 2 && k < 2; k++) {     /* p0, and classes are words */
        snprintf(number, sizeof number, "%d", k);
        if (!strcmp(name + bare, number)) return k;
    }
    return -1;
}

/* ---- all ---- */

static spot_status match(column_names *m, int **order)
{
    spot_subject *s = m->r->s;

    read_numbers(m);
    spot_words_sort(m->sorted, m->name, m->columns);
    if (m->r->whole && m->headed && s->classes < m->columns && !m->r->known)
        SPOT_TRY(spot_labels_as_numbers(m->r, m->columns));
    if (!s->class_name && s->target && numbers_name_classes(m)) return take_classes(m, *order);
    if (!s->class_name || (m->r->whole && m->headed)) {
        match_numbers(m, order);
        return SPOT_OK;
    }
    SPOT_TRY(match_words(m, order));
    if (*order && !m->r->known)
        spot_log(m->r->c, SPOT_LOG_INFO, "%s: its columns are matched with the classes by their names", m->file);
    return SPOT_OK;
}

spot_status spot_columns_match(spot_rows_reading *r, int **order, const spot_array *a)
{
    column_names m = { .r = r, .file = a->name, .columns = (int)a->dim[1] };
    const size_t n = (size_t)m.columns;
    spot_status s = SPOT_OK;
    size_t bytes = 0, cut;
    char *text;

    *order = NULL;
    if (!a->column) return SPOT_OK;
    for (size_t k = 0; k < n; k++) bytes += strlen(a->column[k]) + 1;
    SPOT_TRY(spot_subject_take(r->c, r->s, &m.name, n * sizeof *m.name + bytes));      /* they may become names of classes */
    text = (char *)(m.name + n);
    cut = prefix_of(a->column, m.columns);
    for (size_t k = 0; cut && k < n; k++)              /* "p_cat" may be the class */
        for (int j = 0; r->s->class_name && j < r->s->classes; j++)
            if (!strcmp(a->column[k], r->s->class_name[j])) cut = 0;
    for (size_t k = 0; k < n; k++) m.name[k] = text, text = stpcpy(text, a->column[k] + cut) + 1;
    m.sorted = malloc(n * sizeof *m.sorted);
    m.number = malloc(n * sizeof *m.number);
    *order = malloc(n * sizeof **order);
    if (!m.sorted || !m.number || !*order) s = spot_fail(r->c, SPOT_NOMEM, "no memory for the names of %d columns", m.columns);
    if (!s) s = match(&m, order);
    free(m.sorted);
    free(m.number);
    if (s) free(*order), *order = NULL;
    return s;
}
