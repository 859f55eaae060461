/* result_table.c - see result.h: rows as a table in text, Markdown or CSV. */
#include <math.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "result/columns.h"
#include "result/result_parts.h"

void spot_quantities_visit(const spot_quantity *q, const void *row, spot_quantity_visitor *visit, void *user)
{
    for (; q->type != SPOT_AS_NOTHING; q++)
        if (q->type == SPOT_AS_OBJECT) spot_quantities_visit(q->rows, row ? spot_quantity_part(q, row) : NULL, visit, user);
        else if (!q->rows && q->type != SPOT_AS_WORDS && q->type != SPOT_AS_WRITTEN) visit(user, q, row);
}

typedef struct {
    const spot_quantity *list;
    const void *root;
    alignas(max_align_t) char item[SPOT_QUANTITY_ITEM];
} table_rows;

static const void *next_row(table_rows *t, long *i)
{
    const long n = t->list->items(t->root);

    while (*i < n)
        if (t->list->item(t->item, t->root, (*i)++)) return t->item;
    return NULL;
}

/* ---- text and Markdown ---- */

typedef struct {
    spot_columns *p;
    const spot_quantity *list;
    const void *root;
    bool *used;                        /* columns that have a value in some row */
    int column;
    bool wide;
} table_view;

static bool is_shown(const table_view *v, const spot_quantity *q)
{
    return q->title && v->column < SPOT_COLUMNS && (v->wide || q->place == SPOT_SHOWN);
}

static void note_used(void *user, const spot_quantity *q, const void *row)
{
    table_view *v = user;
    spot_quantity_value value;

    if (!is_shown(v, q)) return;
    value = row ? spot_quantity_of(q, row) : SPOT_NO_VALUE;
    if (v->used) v->used[v->column] |= (v->list->keep && !q->optional) || spot_quantity_has(q, &value);
    v->column++;
}

static void put_heading(void *user, const spot_quantity *q, const void *row)
{
    table_view *v = user;

    (void)row;
    if (!is_shown(v, q) || !v->used[v->column++]) return;
    if (spot_quantity_is_text(q) && !q->right) v->p->left |= (uint64_t)1 << v->p->column;
    if (q->beside) spot_cell_join(v->p);
    v->p->numbered |= !v->p->column && q->right;
    spot_cell(v->p, "%s", q->title);
}

static void put_cell(void *user, const spot_quantity *q, const void *row)
{
    table_view *v = user;
    spot_quantity_value value = SPOT_NO_VALUE;
    char text[96];

    if (!is_shown(v, q) || !v->used[v->column++]) return;
    if (row) value = spot_quantity_of(q, row);
    if (spot_quantity_is_text(q) && !q->whole)
        spot_cell_name(v->p, isfinite(value.value) ? (int)value.value : 0, value.text ? value.text : "-");
    else spot_cell(v->p, "%s", spot_quantity_text(text, q, &value));
}

static void print_table(spot_columns *p, const void *user)
{
    table_view v = *(const table_view *)user;
    table_rows t = { .list = v.list, .root = v.root };
    const void *row;

    v.p = p, v.column = 0;
    p->page = v.list->page;
    spot_quantities_visit(v.list->rows, NULL, put_heading, &v);
    spot_end_row(p);
    for (long i = 0; (row = next_row(&t, &i)); v.column = 0) {
        v.column = 0;
        spot_quantities_visit(v.list->rows, row, put_cell, &v);
        spot_end_row(p);
        if (v.list->below && !p->measuring && !p->part && !p->markdown) v.list->below(p->f, row);
    }
}

/* ---- CSV ---- */

typedef struct { FILE *f; int column; } csv_row;

static void put_csv_heading(void *user, const spot_quantity *q, const void *row)
{
    csv_row *r = user;

    (void)row;
    if (!q->name) return;
    fprintf(r->f, "%s%s", r->column++ ? "," : "", q->name);
    if (q->type == SPOT_AS_INTERVAL) fprintf(r->f, ",%s_low,%s_high", q->name, q->name);
}

static void put_csv_number(FILE *f, const spot_quantity *q, double v)
{
    char text[32];

    if (!isfinite(v)) return;
    if (q->type == SPOT_AS_INT) fprintf(f, "%.0f", v);
    else if (q->decimals) fprintf(f, "%.*f", q->decimals, v);
    else fputs(spot_digits(text, v, 1), f);
}

static void put_csv_cell(void *user, const spot_quantity *q, const void *row)
{
    csv_row *r = user;
    spot_quantity_value v = SPOT_NO_VALUE;

    if (!q->name) return;
    if (row) v = spot_quantity_of(q, row);
    if (r->column++) fputc(',', r->f);
    if (spot_quantity_is_text(q)) spot_csv_field(r->f, v.text ? v.text : "");
    else if (q->type == SPOT_AS_SEED && row) fprintf(r->f, "%llu", (unsigned long long)spot_quantity_seed(q, row));
    else put_csv_number(r->f, q, v.value);
    if (q->type != SPOT_AS_INTERVAL) return;
    fputc(',', r->f), put_csv_number(r->f, q, v.low);
    fputc(',', r->f), put_csv_number(r->f, q, v.high);
}

static void print_csv(FILE *f, const spot_quantity *list, const void *root)
{
    table_rows t = { .list = list, .root = root };
    csv_row r = { f, 0 };
    const void *row;

    spot_quantities_visit(list->rows, NULL, put_csv_heading, &r);
    fputc('\n', f);
    for (long i = 0; (row = next_row(&t, &i));) {
        r.column = 0;
        spot_quantities_visit(list->rows, row, put_csv_cell, &r);
        fputc('\n', f);
    }
}

spot_status spot_result_csv(spot_ctx *c, const char *path, const spot_quantity *list, const void *root)
{
    spot_text text = { 0 };
    FILE *f = spot_text_stream(&text);
    spot_status s = SPOT_OK;

    if (f) print_csv(f, list, root);
    if (!f || fclose(f) || text.status) s = spot_fail(c, SPOT_NOMEM, "no memory for %s", path);
    else s = spot_result_write(c, path, &text);
    spot_text_free(&text);
    return s;
}

/* ---- all ---- */

void spot_result_print(FILE *f, spot_table_format format, const spot_quantity *list, const void *root)
{
    bool used[SPOT_COLUMNS] = { false };
    table_view v = { .list = list, .root = root, .wide = format != SPOT_TABLE_TEXT };
    table_rows t = { .list = list, .root = root };
    const void *row;

    if (format == SPOT_TABLE_CSV) {
        print_csv(f, list, root);
        return;
    }
    for (long i = 0; (row = next_row(&t, &i)); v.column = 0) {
        v.used = used;
        spot_quantities_visit(list->rows, row, note_used, &v);
    }
    v.used = used;
    spot_columns_print(f, format == SPOT_TABLE_MD, list->title, print_table, &v);
}

spot_status spot_result_data(spot_ctx *c, FILE *f, spot_table_format format, const spot_quantity *list, const void *root)
{
    const spot_quantity whole[] = { *list, SPOT_QUANTITIES_END };
    spot_json j;

    if (format == SPOT_TABLE_CSV) {
        print_csv(f, list, root);
        return SPOT_OK;
    }
    SPOT_TRY(spot_json_open(c, &j));
    spot_quantities_put(&j, whole, root);
    spot_json_print(&j, f);
    return SPOT_OK;
}

/* ---- columns that come with the data ---- */

void spot_wide_begin(spot_wide_list *w, const spot_quantity *list, const char *title)
{
    *w = (spot_wide_list){ .list = *list };
    w->list.rows = w->column;
    w->list.title = title;
    w->list.keep = true;
    w->column[w->columns++] = (spot_quantity){ .type = SPOT_AS_OBJECT, .rows = list->rows };
}

spot_quantity *spot_wide_add(spot_wide_list *w, void (*get_at)(spot_quantity_value *, const void *, int), int index,
                             const char *fmt, ...)
{
    const int k = w->columns < SPOT_COLUMNS ? w->columns++ : SPOT_COLUMNS - 1;
    va_list args;

    va_start(args, fmt);
    vsnprintf(w->title[k], sizeof w->title[k], fmt, args);
    va_end(args);
    w->column[k] = (spot_quantity){ .type = SPOT_AS_REAL, .get_at = get_at, .index = index, .title = w->title[k] };
    return &w->column[k];
}

/* ---- few rows ---- */

typedef struct { FILE *f; int column, width, about; } list_view;

static void measure_line(void *user, const spot_quantity *q, const void *row)
{
    list_view *v = user;
    spot_quantity_value value;
    char text[96];
    int n;

    if (!q->title || !row) return;
    value = spot_quantity_of(q, row);
    if (!v->column++ || !spot_quantity_has(q, &value)) return;
    n = spot_text_width(q->title), v->width = n > v->width ? n : v->width;
    n = spot_text_width(spot_quantity_text(text, q, &value)), v->about = n > v->about ? n : v->about;
}

static void print_line(void *user, const spot_quantity *q, const void *row)
{
    list_view *v = user;
    spot_quantity_value value;
    char plain[256], text[96];

    if (!q->title || !row) return;
    value = spot_quantity_of(q, row);
    if (!spot_quantity_has(q, &value)) {
        v->column++;
        return;
    }
    snprintf(plain, sizeof plain, "%s", spot_quantity_text(text, q, &value));
    spot_plain(plain);
    if (!v->column++) fprintf(v->f, "%s\n", plain);
    else fprintf(v->f, "  %s%*s  %s%*s%s%s\n", q->title, v->width - spot_text_width(q->title), "", plain,
                 q->about ? v->about - spot_text_width(plain) : 0, "", q->about ? "  " : "", q->about ? q->about : "");
}

void spot_result_print_rows(FILE *f, const spot_quantity *list, const void *root)
{
    table_rows t = { .list = list, .root = root };
    list_view v = { .f = f };
    const void *row;

    for (long i = 0; (row = next_row(&t, &i)); v.column = 0) spot_quantities_visit(list->rows, row, measure_line, &v);
    for (long i = 0; (row = next_row(&t, &i)); v.column = 0) spot_quantities_visit(list->rows, row, print_line, &v);
}
