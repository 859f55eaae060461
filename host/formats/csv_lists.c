/* csv_lists.c - see csv_lists.h. */
#include "formats/csv_lists.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char blank[] = " \t\r\n";

/* The text between brackets; false: there are none. */
static bool inside(const char *word, const char **from, const char **end)
{
    const char *p = word + strspn(word, blank), *q = p + strlen(p);

    while (q > p && strchr(blank, q[-1])) q--;
    *from = p + 1;
    *end = q - 1;
    return q - p >= 2 && *p == '[' && q[-1] == ']';
}

/* Takes the next number; *n: its length. False: the list ends. */
static bool next_item(const char **at, const char *end, size_t *n)
{
    while (*at < end && (**at == ',' || strchr(blank, **at))) ++*at;
    for (*n = 0; *at + *n < end && (*at)[*n] != ',' && !strchr(blank, (*at)[*n]);) ++*n;
    return *at < end;
}

static size_t count_items(const char *word)
{
    const char *at, *end;
    size_t n, items = 0;

    for (inside(word, &at, &end); next_item(&at, end, &n); at += n) items++;
    return items;
}

/* 0.5, or np.float64(0.5), as numpy 2 prints the numbers of a list. */
static bool read_number(double *v, const char *at, size_t n)
{
    const char *open;

    if (spot_number(v, at, n)) return true;
    open = n > 4 && !memcmp(at, "np.", 3) && at[n - 1] == ')' ? memchr(at, '(', n) : NULL;
    return open && spot_number(v, open + 1, (size_t)(at + n - 2 - open));
}

/* Reads the numbers of a row; false: it has not `columns` numbers. */
static bool read_row(double *v, const char *word, size_t columns, bool holes)
{
    const char *at, *end;
    size_t n, k = 0;

    if (!inside(word, &at, &end)) return false;
    for (; next_item(&at, end, &n); at += n, k++) {
        if (k == columns) return false;
        if (read_number(&v[k], at, n)) continue;
        if (!holes || !spot_is_missing(at, n)) return false;
        v[k] = NAN;
    }
    return k == columns;
}

static spot_status fail_row(spot_ctx *c, const spot_array *a, size_t row, size_t columns)
{
    const char *word = ((char *const *)a->data)[row], *at, *end;
    size_t n, k = 0;
    double v;

    if (!inside(word, &at, &end) || !count_items(word))
        return spot_fail(c, SPOT_INPUT, "{lists.missing} %s: row %zu has no list of numbers (\"%.40s\")", a->name, row, word);
    for (; next_item(&at, end, &n); at += n, k++) {
        if (read_number(&v, at, n)) continue;
        if (n >= 3 && !memcmp(at, "...", 3))
            return spot_fail(c, SPOT_INPUT, "{lists.cut} %s: row %zu, place %zu: numpy has left numbers away (\"...\"); write "
                             "lists: df[\"x\"].map(lambda v: v.tolist())", a->name, row, k);
        if (*at == '[')
            return spot_fail(c, SPOT_INPUT, "{lists.nested} %s: row %zu holds a list of lists; one list of numbers a row is "
                             "read",
                             a->name, row);
        return spot_fail(c, SPOT_INPUT, "{lists.number} %s: row %zu, place %zu: \"%.*s\" is no number", a->name, row, k,
                         n < 40 ? (int)n : 40, at);
    }
    return spot_fail(c, SPOT_INPUT, "{lists.length} %s: row %zu has %zu numbers, and row 0 has %zu", a->name, row, k, columns);
}

/* The first row whose list begins with a number, also with one in further brackets; -1: none, or a word begins otherwise and is
 * not missing: "[cat]" is a word. An empty list, and one that begins with a missing number, is passed over. */
static int64_t first_list(char *const *word, int64_t rows)
{
    const char *at, *end;
    int64_t first = -1;
    size_t n;
    double v;

    for (int64_t i = 0; i < rows; i++) {
        const bool list = inside(word[i], &at, &end);
        if (list) {
            if (!next_item(&at, end, &n)) continue;
            for (; n && *at == '['; at++) n--;
            while (n && at[n - 1] == ']') n--;
            if (first < 0 && read_number(&v, at, n)) first = i;
        } else at = word[i], n = strlen(at);
        if (!(list && read_number(&v, at, n)) && !spot_is_missing(at, n)) return -1;
    }
    return first;
}

spot_status spot_lists_read(spot_ctx *c, spot_array *a, const spot_array_how *how)
{
    char *const *word = a->data;
    const bool words = a->type == SPOT_WORDS && !how->text;
    const int64_t rows = a->rank == 1 ? a->dim[0] : 0, first = words ? first_list(word, rows) : -1;
    spot_array lists = *a;
    int64_t bad = rows;

    if (first < 0) return SPOT_OK;
    const size_t columns = count_items(word[first]);
    lists.type = SPOT_F64;
    lists.rank = 2;
    lists.dim[1] = (int64_t)columns;
    lists.data = NULL;
    spot_status s = spot_array_take(c, &lists, how->limit);
#pragma omp parallel for num_threads(c->threads > 0 ? c->threads : 1) schedule(static) reduction(min : bad)
    for (int64_t i = 0; i < (s ? 0 : rows); i++) {
        double *v = (double *)lists.data + (size_t)i * columns;
        if (read_row(v, word[i], columns, how->holes)) continue;
        if (!how->holes && i < bad) bad = i;
        for (size_t k = 0; how->holes && k < columns; k++) v[k] = NAN;
    }
    if (!s && bad < rows) {
        s = fail_row(c, a, (size_t)bad, columns);
        free(lists.data);
    }
    free(a->data);
    free(a->column);                       /* the name of one column, not of the numbers in it */
    lists.column = NULL;
    *a = lists;
    if (s) a->data = NULL, a->column = NULL;
    return s;
}
