/* attributes.c - the items of attributes: memory, columns to items, and the categories of rows with several. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/text.h"
#include "discover/subject/attributes.h"

enum { MOST_VALUES = 256 };

/* ---- memory ---- */

void spot_attributes_close(spot_attributes *a)
{
    for (int k = 0; k < a->items; k++) free(a->name[k]);
    free(a->name);
    free(a->column);
    free(a->range);
    free(a->bit);
    memset(a, 0, sizeof *a);
}

void spot_attributes_begin(spot_attributes *a, int rows)
{
    *a = (spot_attributes){ .rows = rows, .words = rows ? ((size_t)rows + 63) / 64 : 1 };
}

/* Room for one item more: the capacity is the next power of two. */
static spot_status grow(spot_ctx *c, spot_attributes *a)
{
    const size_t room = a->items ? 2 * (size_t)a->items : 1;
    char **name;
    int *column;
    double (*range)[2];
    uint64_t *bit;

    if (a->items & (a->items - 1)) return SPOT_OK;
    name = realloc(a->name, room * sizeof *name);
    if (name) a->name = name;
    column = realloc(a->column, room * sizeof *column);
    if (column) a->column = column;
    range = realloc(a->range, room * sizeof *range);
    if (range) a->range = range;
    bit = realloc(a->bit, room * a->words * sizeof *bit);
    if (bit) a->bit = bit;
    if (name && column && range && bit) return SPOT_OK;
    return spot_fail(c, SPOT_NOMEM, "no memory for %zu attributes of %d rows", room, a->rows);
}

spot_status spot_attributes_item(spot_ctx *c, spot_attributes *a, int column, uint64_t **bit, const char *fmt, ...)
{
    char *name;
    va_list list;
    int n;

    SPOT_TRY(grow(c, a));
    va_start(list, fmt);
    n = vsnprintf(NULL, 0, fmt, list);
    va_end(list);
    name = n < 0 ? NULL : malloc((size_t)n + 1);
    if (!name) return spot_fail(c, SPOT_NOMEM, "no memory for the name of an attribute");
    va_start(list, fmt);
    vsnprintf(name, (size_t)n + 1, fmt, list);
    va_end(list);
    a->name[a->items] = name;
    a->column[a->items] = column;
    a->range[a->items][0] = a->range[a->items][1] = NAN;
    *bit = a->bit + (size_t)a->items++ * a->words;
    memset(*bit, 0, a->words * sizeof **bit);
    return SPOT_OK;
}

spot_status spot_attributes_names(spot_ctx *c, spot_attributes *a, int rows, const spot_attributes *like)
{
    spot_attributes_begin(a, rows);
    for (int item = 0; item < like->items; item++) {
        uint64_t *bit;
        SPOT_TRY(spot_attributes_item(c, a, item, &bit, "%s", like->name[item]));
    }
    return SPOT_OK;
}

static void set_row(uint64_t *bit, int row) { bit[row / 64] |= (uint64_t)1 << (row % 64); }

/* ---- columns ---- */

spot_status spot_attributes_flags(spot_ctx *c, spot_attributes *a, int column, const char *name, const uint8_t *value)
{
    for (uint8_t on = 1; on < 2; on--) {
        uint64_t *bit;
        SPOT_TRY(spot_attributes_item(c, a, column, &bit, "%s%s", on ? "" : "not ", name));
        for (int i = 0; i < a->rows; i++)
            if (value[i] == on) set_row(bit, i);
    }
    return SPOT_OK;
}

/* The upper ends of the low and the middle third of v (n, sorted, two different numbers at least). The highest number is in the
 * third part. */
static void cut_thirds(const double *v, int n, double cut[2])
{
    int below = n - 1;

    cut[0] = v[(n + 2) / 3 - 1];
    cut[1] = v[(2 * n + 2) / 3 - 1];
    while (v[below] == v[n - 1]) below--;
    for (int i = 0; i < 2; i++)
        if (cut[i] == v[n - 1]) cut[i] = v[below];
}

static spot_status add_thirds(spot_ctx *c, spot_attributes *a, int column, const char *front, const double *value,
                              const char *const part[3], const double cut[4])
{
    for (int k = 0; k < 3; k++) {
        uint64_t *bit;
        if (k == 1 && cut[1] == cut[2]) continue;
        SPOT_TRY(spot_attributes_item(c, a, column, &bit, "%s%s (%s %.4g)", front, part[k], k < 2 ? "<=" : ">",
                                      k < 2 ? cut[k + 1] : cut[2]));
        memcpy(a->range[a->items - 1], cut + k, sizeof *a->range);
        for (int i = 0; i < a->rows; i++)
            if (value[i] <= cut[k + 1] && value[i] > cut[k] && isfinite(value[i])) set_row(bit, i);
    }
    return SPOT_OK;
}

spot_status spot_attributes_thirds(spot_ctx *c, spot_attributes *a, int column, const char *front, const double *value,
                                   const char *const part[3])
{
    double *sorted = malloc(((size_t)a->rows + 1) * sizeof *sorted), cut[4] = { -INFINITY, 0, 0, INFINITY };
    int n = 0;

    if (!sorted) return spot_fail(c, SPOT_NOMEM, "no memory to sort the attribute %.80s", front);
    for (int i = 0; i < a->rows; i++)
        if (isfinite(value[i])) sorted[n++] = value[i];
    spot_sort_doubles(sorted, (size_t)n);
    const bool constant = n < 2 || sorted[0] == sorted[n - 1];
    if (!constant) cut_thirds(sorted, n, cut + 1);
    free(sorted);
    return constant ? SPOT_OK : add_thirds(c, a, column, front, value, part, cut);
}

spot_status spot_attributes_numbers(spot_ctx *c, spot_attributes *a, int column, const char *name, const double *value)
{
    static const char *const part[] = { "low", "middle", "high" };
    char *front = malloc(strlen(name) + 2);
    spot_status how;

    if (!front) return spot_fail(c, SPOT_NOMEM, "no memory for the name of an attribute");
    sprintf(front, "%s=", name);
    how = spot_attributes_thirds(c, a, column, front, value, part);
    free(front);
    return how;
}

typedef struct { int first, rows; } value_rows;      /* its place in the sorted rows, and their number */

static int more_rows_first(const void *x, const void *y)
{
    const value_rows *a = x, *b = y;

    return a->rows != b->rows ? b->rows - a->rows : a->first - b->first;
}

/* The values of at least two rows, the most frequent ones, then in the order of their words. */
static spot_status add_values(spot_ctx *c, spot_attributes *a, int column, const char *name, char *const *word,
                              const int *order, value_rows *value)
{
    int values = 0;

    for (int i = 0, end; i < a->rows; i = end) {
        for (end = i + 1; end < a->rows && !strcmp(word[order[end]], word[order[i]]); end++) {}
        if (*word[order[i]] && end - i > 1) value[values++] = (value_rows){ i, end - i };
    }
    qsort(value, (size_t)values, sizeof *value, more_rows_first);
    if (values > MOST_VALUES)
        spot_log(c, SPOT_LOG_INFO, "attribute %.80s: of %d values the %d most frequent ones are used", name, values,
                 MOST_VALUES);
    for (int k = 0; k < values && k < MOST_VALUES; k++) {
        uint64_t *bit;
        SPOT_TRY(spot_attributes_item(c, a, column, &bit, "%s=%s", name, word[order[value[k].first]]));
        for (int i = 0; i < value[k].rows; i++) set_row(bit, order[value[k].first + i]);
    }
    return SPOT_OK;
}

spot_status spot_attributes_words(spot_ctx *c, spot_attributes *a, int column, const char *name, char *const *word)
{
    int *order = malloc(((size_t)a->rows + 1) * sizeof *order);
    value_rows *value = malloc(((size_t)a->rows + 1) * sizeof *value);
    spot_status how = order && value ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory to sort the attribute %.80s", name);

    if (how == SPOT_OK) {
        spot_words_sort(order, word, a->rows);
        how = add_values(c, a, column, name, word, order, value);
    }
    free(order);
    free(value);
    return how;
}

/* ---- categories; two together ---- */

spot_status spot_attributes_of_classes(spot_ctx *c, spot_attributes *a, const uint8_t *has, char *const *class_name, int rows,
                                       int classes)
{
    uint8_t *value = malloc((size_t)rows + 1);
    spot_status how = value ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for a category of %d rows", rows);

    spot_attributes_begin(a, rows);
    for (int k = 0; k < classes && how == SPOT_OK; k++) {
        int rows_of = 0;
        for (int i = 0; i < rows; i++) rows_of += value[i] = has[(size_t)i * (size_t)classes + (size_t)k];
        if (rows_of && rows_of < rows) how = spot_attributes_flags(c, a, k, class_name[k], value);
    }
    free(value);
    if (how) spot_attributes_close(a);
    return how;
}

spot_status spot_attributes_join(spot_ctx *c, spot_attributes *a, spot_attributes *more)
{
    const int columns = a->items ? a->column[a->items - 1] + 1 : 0;
    spot_status how = SPOT_OK;

    if (!a->words) spot_attributes_begin(a, more->rows);
    if (a->rows != more->rows)
        how = spot_fail(c, SPOT_INVALID, "attributes of %d rows and of %d do not belong together", a->rows, more->rows);
    for (int k = 0; k < more->items && how == SPOT_OK; k++) {
        uint64_t *bit;
        how = spot_attributes_item(c, a, columns + more->column[k], &bit, "%s", more->name[k]);
        if (how == SPOT_OK) memcpy(a->range[a->items - 1], more->range[k], sizeof *a->range);
        if (how == SPOT_OK) memcpy(bit, more->bit + (size_t)k * more->words, more->words * sizeof *bit);
    }
    spot_attributes_close(more);
    return how;
}
