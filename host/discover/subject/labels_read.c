/* labels_read.c - the true class of each row: numbers, words, or a table with a column for each class. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "discover/subject/labels_alike.h"
#include "discover/subject/subject_memory.h"
#include "discover/subject/subject_reading.h"

enum { MAX_CLASSES = 100000 };

static const double SHARES = 1e-3;         /* how far the sum of a row's shares may be from 1 */

/* -- words ------------------------------------------------------------------------------------------------------ */

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static bool whole_number(int64_t *v, const char *word) { return *word != '+' && spot_integer(v, word, strlen(word)); }

static int by_number(const void *a, const void *b)
{
    int64_t x = 0, y = 0;

    whole_number(&x, *(char *const *)a), whole_number(&y, *(char *const *)b);
    return x < y ? -1 : x > y ? 1 : by_text(a, b);
}

static spot_status check_missing(spot_rows_reading *r, const spot_array *a)
{
    char **word = a->data;

    for (int i = 0; i < r->s->n; i++)
        if (spot_is_missing(word[i], strlen(word[i])))
            SPOT_TRY(spot_bad_row(r, i, spot_fail(r->c, SPOT_INPUT, "{labels.missing} %s: row %d has no label (\"%s\"); every "
                                                  "row needs one, and a class of that name another name%s", a->name, i, word[i],
                                                  spot_bad_row_advice(r))));
    return SPOT_OK;
}

/* The distinct words of rows that stay, sorted by text; returns their number. */
static int list_distinct(const spot_rows_reading *r, char **out, char *const *word)
{
    int n = 0, distinct = 0;

    for (int i = 0; i < r->s->n; i++)
        if (!spot_row_is_left_out(r, i)) out[n++] = word[i];
    qsort(out, (size_t)n, sizeof *out, by_text);
    for (int i = 0; i < n; i++)
        if (!distinct || strcmp(out[i], out[distinct - 1])) out[distinct++] = out[i];
    return distinct;
}

static int (*order_of(char *const *name, int n))(const void *, const void *)
{
    int64_t v;

    for (int k = 0; k < n; k++)
        if (!whole_number(&v, name[k])) return by_text;
    return by_number;
}

bool spot_labels_by_number(char *const *name, int n) { return order_of(name, n) == by_number; }

/* Whether names are whole numbers from 0 on, each greater than the one before. */
static bool are_numbers(char *const *name, int n)
{
    int64_t v, before = -1;

    for (int k = 0; k < n; k++, before = v)
        if (!whole_number(&v, name[k]) || v <= before) return false;
    return true;
}

bool spot_labels_sort(char **name, int n)
{
    qsort(name, (size_t)n, sizeof *name, order_of(name, n));
    return are_numbers(name, n);
}

/* Labels that are words: the classes are the distinct words, sorted; as numbers where all are whole numbers. */
static spot_status number_words(spot_rows_reading *r, spot_array *a)
{
    spot_subject *s = r->s;
    char **word = a->data;
    int (*order)(const void *, const void *);

    SPOT_TRY(SPOT_SUBJECT_TAKE(r->c, s, s->class_name, s->n));
    s->classes = list_distinct(r, s->class_name, word);
    r->whole = spot_labels_sort(s->class_name, s->classes);
    order = order_of(s->class_name, s->classes);
    for (int i = 0; i < s->n; i++) {
        if (spot_row_is_left_out(r, i)) continue;
        char **at = bsearch(&word[i], s->class_name, (size_t)s->classes, sizeof *word, order);
        s->target[i] = (int)(at - s->class_name);
    }
    a->data = NULL;
    SPOT_TRY(spot_subject_keep(r->c, s, word));        /* which class_name points into */
    return spot_labels_warn_alike(r->c, s->class_name, s->classes, a->name);
}

spot_status spot_labels_as_numbers(spot_rows_reading *r, int classes)
{
    spot_subject *s = r->s;
    char **was = s->class_name, **name;
    int64_t *number;
    const int had = s->classes;

    number = malloc((size_t)had * sizeof *number);
    if (!number) return spot_fail(r->c, SPOT_NOMEM, "no memory for %d classes", had);
    for (int k = 0; k < had; k++) whole_number(&number[k], was[k]);
    if (number[had - 1] < classes) {
        spot_status st = spot_subject_numbers(r->c, s, &name, classes);
        for (int i = 0; !st && i < s->n; i++) s->target[i] = (int)number[s->target[i]];
        for (int k = 0; !st && k < had; k++) name[number[k]] = was[k];
        if (st) return free(number), st;
        s->class_name = name;
        s->classes = classes;
    }
    free(number);
    return SPOT_OK;
}

/* Labels that are words, or numbers written as words, when the classes are known. */
static spot_status find_words(spot_rows_reading *r, const spot_array *a)
{
    const spot_known *known = r->known;
    char **sorted = malloc((size_t)known->classes * sizeof *sorted), **word = a->data, listed[512];
    spot_status st = sorted ? SPOT_OK : spot_fail(r->c, SPOT_NOMEM, "no memory for %d names", known->classes);

    if (sorted) memcpy(sorted, known->class_name, (size_t)known->classes * sizeof *sorted);
    if (sorted) qsort(sorted, (size_t)known->classes, sizeof *sorted, by_text);
    for (int i = 0; !st && i < r->s->n; i++) {
        char **at = bsearch(&word[i], sorted, (size_t)known->classes, sizeof *sorted, by_text);
        int k = 0;
        if (spot_row_is_left_out(r, i)) continue;
        if (!at) {
            st = spot_fail(r->c, SPOT_INPUT, "{labels.unknown} %s: row %d has class \"%.80s\", which is none of the %d classes"
                           "%s: %s", a->name, i, word[i], known->classes, r->files->class_name ? "" : " of the findings",
                           spot_words_listed(listed, sorted, known->classes));
            break;
        }
        while (known->class_name[k] != *at) k++;
        r->s->target[i] = k;
    }
    free(sorted);
    return st;
}

static spot_status read_words(spot_rows_reading *r, spot_array *a)
{
    SPOT_TRY(check_missing(r, a));
    return r->known ? find_words(r, a) : number_words(r, a);
}

/* -- numbers ---------------------------------------------------------------------------------------------------- */

/* *name (classes): the numbers that the known classes bear, to be freed; NULL where each is its place, or one is no number. */
static spot_status take_names(spot_rows_reading *r, int64_t **name)
{
    const int classes = r->known ? r->known->classes : 0;
    int k = 0;
    bool places = true;

    *name = NULL;
    if (!classes) return SPOT_OK;
    *name = malloc((size_t)classes * sizeof **name);
    if (!*name) return spot_fail(r->c, SPOT_NOMEM, "no memory for %d classes", classes);
    for (; k < classes && whole_number(&(*name)[k], r->known->class_name[k]); k++) places = places && (*name)[k] == k;
    if (k < classes || places) free(*name), *name = NULL;
    return SPOT_OK;
}

/* name: as of take_names: a number is the name of a class, not its place. */
static spot_status number_rows(spot_rows_reading *r, const spot_array *a, const int64_t *name)
{
    spot_subject *s = r->s;
    const int range[2] = { 0, r->known && !name ? s->classes - 1 : MAX_CLASSES - 1 };

    for (int i = 0; i < s->n; i++) {
        int k = 0;
        double v;
        spot_array_doubles(&v, a, (size_t)i, 1);
        if (isnan(v))
            SPOT_TRY(spot_bad_row(r, i, spot_fail(r->c, SPOT_INPUT, "{labels.missing} %s: row %d has no label (NaN); every row "
                                                  "needs one%s", a->name, i, spot_bad_row_advice(r))));
        else if (r->known) SPOT_TRY(spot_array_whole(r->c, &s->target[i], a, (size_t)i, range));
        else SPOT_TRY(spot_bad_row(r, i, spot_array_whole(r->c, &s->target[i], a, (size_t)i, range)));
        if (spot_row_is_left_out(r, i)) continue;
        while (name && k < s->classes && name[k] != s->target[i]) k++;
        if (name && k == s->classes)
            return spot_fail(r->c, SPOT_INPUT, "{labels.unknown} %s: row %d has class %d, which is none of the %d classes%s",
                             a->name, i, s->target[i], s->classes, r->files->class_name ? "" : " of the findings");
        if (name) s->target[i] = k;
        if (s->target[i] >= s->classes) s->classes = s->target[i] + 1;
    }
    return SPOT_OK;
}

static spot_status read_numbers(spot_rows_reading *r, const spot_array *a)
{
    int64_t *name;
    spot_status st;

    SPOT_TRY(take_names(r, &name));
    st = number_rows(r, a, name);
    free(name);
    return st;
}

/* -- a column for each class ------------------------------------------------------------------------------------ */

/* One row of numbers: 0 and 1; or shares that sum to 1, as label smoothing makes them, whose greatest is the class. */
static spot_status read_shares(spot_rows_reading *r, const spot_array *a, int i, double *v)
{
    const size_t classes = (size_t)r->s->classes, first = (size_t)i * classes;
    uint8_t *has = r->s->has + first;
    double sum = 0;
    size_t odd = classes, most = 0;
    int one;

    spot_array_doubles(v, a, first, classes);
    for (size_t k = 0; k < classes; k++) {
        if (isnan(v[k]))
            return spot_fail(r->c, SPOT_INPUT, "{labels.missing} %s: row %d has no label (column %zu is NaN)%s", a->name, i, k,
                             spot_bad_row_advice(r));
        if (v[k] != 0 && v[k] != 1 && odd == classes) odd = k;
        if (v[k] > v[most]) most = k;
        sum += v[k] >= 0 ? v[k] : INFINITY;
        has[k] = v[k] == 1;
    }
    if (odd == classes) return SPOT_OK;
    if (!(fabs(sum - 1) <= SHARES)) return spot_array_whole(r->c, &one, a, first + odd, (int[]){ 0, 1 });
    memset(has, 0, classes);
    has[most] = 1;
    r->soft++;
    return SPOT_OK;
}

static bool has_one(const uint8_t *has, int classes)
{
    int count = 0;

    for (int k = 0; k < classes; k++) count += has[k];
    return count == 1;
}

/* Columns of a .csv that bear words name the classes. */
static spot_status name_classes(spot_rows_reading *r, spot_array *a)
{
    if (!a->column || r->known) return SPOT_OK;
    for (int k = 0; k < r->s->classes; k++) {
        const char *name = a->column[k];
        if (!*name || (name[strlen(name) - 1] >= '0' && name[strlen(name) - 1] <= '9')) return SPOT_OK;
    }
    r->s->class_name = a->column;
    a->column = NULL;
    return spot_subject_keep(r->c, r->s, r->s->class_name);
}

static spot_status read_several(spot_rows_reading *r, spot_array *a)
{
    spot_subject *s = r->s;
    spot_status st = SPOT_OK;
    double *v;
    int one;

    s->classes = (int)a->dim[1];
    if (r->known && s->classes != r->known->classes)
        return spot_fail(r->c, SPOT_INPUT, "%s has %d columns, the %s %d classes", a->name, s->classes, spot_rows_namer(r),
                         r->known->classes);
    if (a->type == SPOT_WORDS) return spot_array_whole(r->c, &one, a, 0, (int[]){ 0, 1 });
    SPOT_TRY(name_classes(r, a));
    SPOT_TRY(SPOT_SUBJECT_TAKE(r->c, s, s->has, a->count));
    v = malloc((size_t)s->classes * sizeof *v);
    if (!v) return spot_fail(r->c, SPOT_NOMEM, "no memory for the labels of %s", a->name);
    r->one_hot = s->classes > 1;
    for (int i = 0; !st && i < s->n; i++) {
        st = spot_bad_row(r, i, read_shares(r, a, i, v));
        r->one_hot = r->one_hot && (spot_row_is_left_out(r, i) || has_one(s->has + (size_t)i * (size_t)s->classes, s->classes));
    }
    free(v);
    if (!st && r->soft && !r->one_hot)
        st = spot_fail(r->c, SPOT_INPUT, "{labels.shares} %s: %d rows are shares of classes, which sum to 1, and others have "
                       "no class or several; give 0 and 1", a->name, r->soft);
    return st;
}

spot_status spot_labels_of_one_class(spot_rows_reading *r, const char *why)
{
    spot_subject *s = r->s;

    SPOT_TRY(SPOT_SUBJECT_TAKE(r->c, s, s->target, s->n));
    for (int i = 0; i < s->n; i++)
        for (int k = 0; k < s->classes; k++)
            if (s->has[(size_t)i * (size_t)s->classes + (size_t)k]) s->target[i] = k;
    s->has = NULL;
    if (r->soft)
        spot_log(r->c, SPOT_LOG_WARN, "%s: %d of %d rows are shares of classes (label smoothing): each row is read as one of "
                 "the class with the greatest share, the first of equals", r->files->labels, r->soft, s->n);
    else
        spot_log(r->c, SPOT_LOG_INFO, "%s: one 1 in each row, %s: each row is read as one of that class", r->files->labels,
                 why);
    return SPOT_OK;
}

spot_status spot_labels_read(spot_rows_reading *r, spot_array *a)
{
    spot_subject *s = r->s;
    const spot_array_how words = { .limit = r->files->memory, .text = true, .holes = r->files->skip_bad };

    if (r->known) {
        s->class_name = r->known->class_name;
        s->classes = r->known->classes;
        r->whole = are_numbers(s->class_name, s->classes);
    }
    if (r->files->labels) SPOT_TRY(spot_rows_array(r, a, r->files->labels, 2));
    if (a->rank == 2) return read_several(r, a);
    SPOT_TRY(SPOT_SUBJECT_TAKE(r->c, s, s->target, s->n));
    for (int i = 0; !r->files->labels && i < s->n; i++) s->target[i] = r->known->only;
    if (!r->files->labels) return SPOT_OK;
    if (a->padded) {                       /* "01" and "1" are words that differ */
        spot_subject_array_close(a, r->files);
        SPOT_TRY(spot_array_read_as(r->c, a, r->files->labels, &words));
    }
    return a->type == SPOT_WORDS ? read_words(r, a) : read_numbers(r, a);
}
