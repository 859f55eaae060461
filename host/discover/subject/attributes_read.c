/* attributes_read.c - a CSV file of attributes -> items: see spotter/describe.h.
 *
 * The file is read twice. The first pass finds the kind of each column and the rows of each record, the second keeps values: a
 * column of flags takes a byte a row, one of numbers 8, one of words its text. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "discover/subject/attributes_reader.h"

enum { TOLD = 3 };                     /* columns that are left out */

/* ---- cells ---- */

static bool read_number(const spot_attributes_reader *r, double *v, const char *text)
{
    return spot_csv_take_number(&r->dialect, v, text, strlen(text)) && isfinite(*v);
}

static uint8_t flag_of(const spot_attributes_reader *r, const char *text)
{
    double v;

    if (!strcasecmp(text, "true")) return 1;
    if (!strcasecmp(text, "false")) return 0;
    return read_number(r, &v, text) && (v == 0 || v == 1) ? (uint8_t)v : SPOT_NO_FLAG;
}

static bool same_value(const spot_attributes_reader *r, const spot_attributes_column *k, const char *value, const char *text)
{
    double x, y;

    if (!strcmp(value, text)) return true;
    if (!k->no_flag) return flag_of(r, value) == flag_of(r, text);
    return read_number(r, &x, value) && read_number(r, &y, text) && x == y;
}

/* First pass: what a cell says about its column. */
static spot_status study_cell(spot_attributes_reader *r, spot_attributes_column *k, const char *text)
{
    double v;

    if (!*text) return SPOT_OK;
    k->no_flag = k->no_flag || flag_of(r, text) == SPOT_NO_FLAG;
    k->no_number = k->no_number || !read_number(r, &v, text);
    for (int i = 0; i < k->values && i < 2; i++)
        if (same_value(r, k, k->value[i], text)) return SPOT_OK;
    if (k->values < 2) {
        k->value[k->values] = strdup(text);
        if (!k->value[k->values]) return spot_fail(r->c, SPOT_NOMEM, "no memory for a value of %s", r->file);
    }
    if (k->values < 3) k->values++;
    return SPOT_OK;
}

/* Second pass: the value of a cell for the rows of its record. */
static spot_status keep_cell(spot_attributes_reader *r, spot_attributes_column *k, const char *text)
{
    const spot_record_rows rows = r->record[r->records];
    char *word = NULL;

    if (k->kind == SPOT_COLUMN_CONSTANT || !*text || rows.first == rows.end) return SPOT_OK;
    if (k->kind == SPOT_COLUMN_TWO_NUMBERS)
        text = k->value[!same_value(r, k, k->value[0], text)];         /* with a point, for the name */
    if (k->word && !(word = strdup(text))) return spot_fail(r->c, SPOT_NOMEM, "no memory for a word of %s", r->file);
    for (int i = rows.first; i < rows.end; i++) {
        const int row = r->order ? r->order[i] : i;
        if (k->flag) k->flag[row] = flag_of(r, text);
        else if (k->number) read_number(r, &k->number[row], text);
        else if (k->word) k->word[row] = i == rows.first ? word : strdup(text);
        if (k->word && !k->word[row]) return spot_fail(r->c, SPOT_NOMEM, "no memory for a word of %s", r->file);
    }
    return SPOT_OK;
}

/* ---- items that are looked for ---- */

/* The term of an item of text, "NAME has TERM", of the column NAME; NULL: it is none. */
static const char *term_of(const char *item, const char *head)
{
    const size_t n = strlen(head);

    return !strncmp(item, head, n) && !strncmp(item + n, SPOT_HAS_TERM, strlen(SPOT_HAS_TERM))
         ? item + n + strlen(SPOT_HAS_TERM) : NULL;
}

/* Whether an item is of this column: "indoor", "not indoor", "weather=snow", "size=low (<= 3.2)", "note has fog". */
static bool is_of_column(const char *item, const char *head)
{
    const size_t n = strlen(head);

    return n && (!strcmp(item, head) || (!strncmp(item, "not ", 4) && !strcmp(item + 4, head))
                 || (!strncmp(item, head, n) && item[n] == '=') || term_of(item, head));
}

static bool has_value(const spot_attributes_reader *r, int item, const char *head, const char *text)
{
    const spot_attributes *like = r->like;
    const char *name = like->name[item], *value = name + strlen(head) + 1, *term = term_of(name, head);
    double x, y;

    if (!isnan(like->range[item][0]))
        return read_number(r, &x, text) && x > like->range[item][0] && x <= like->range[item][1];
    if (!strcmp(name, head)) return flag_of(r, text) == 1;
    if (!strncmp(name, "not ", 4) && !strcmp(name + 4, head)) return flag_of(r, text) == 0;
    if (term) return spot_text_has_term(text, term);
    return !strcmp(value, text) || (read_number(r, &x, value) && read_number(r, &y, text) && x == y);
}

/* Second pass: the items of a column, for the rows of the record. */
static spot_status keep_like(spot_attributes_reader *r, int k, const char *text)
{
    const spot_record_rows rows = r->record[r->records];

    for (int item = 0; item < r->like->items && *text; item++) {
        if (r->of[item] != k || !has_value(r, item, r->column[k].name, text)) continue;
        for (int i = rows.first; i < rows.end; i++) {
            const int row = r->order ? r->order[i] : i;
            r->a->bit[(size_t)item * r->a->words + (size_t)row / 64] |= (uint64_t)1 << row % 64;
        }
    }
    return SPOT_OK;
}

/* Finds the column of each item, the longest name of several; those without one hold for no row. */
static spot_status begin_like(spot_attributes_reader *r)
{
    int missing = 0, first = 0;

    SPOT_TRY(spot_attributes_names(r->c, r->a, r->rows, r->like));
    r->of = malloc(((size_t)r->like->items + 1) * sizeof *r->of);
    if (!r->of) return spot_fail(r->c, SPOT_NOMEM, "no memory for %d attributes", r->like->items);
    for (int item = r->like->items - 1; item >= 0; item--) {
        r->of[item] = -1;
        for (int k = 0; k < r->columns; k++)
            if (k != r->id_column && is_of_column(r->like->name[item], r->column[k].name)
                && (r->of[item] < 0 || strlen(r->column[k].name) > strlen(r->column[r->of[item]].name))) r->of[item] = k;
        if (r->of[item] < 0 && r->like->column[item] != SPOT_OF_PICTURES) missing++, first = item;
    }
    if (missing)
        spot_log(r->c, SPOT_LOG_WARN, "%s has no column of %d of %d attributes, such as \"%.80s\": no row has them", r->file,
                 missing, r->like->items, r->like->name[first]);
    return SPOT_OK;
}

static spot_status take_cell(spot_attributes_reader *r, int k, bool second)
{
    if (second && r->like) return keep_like(r, k, r->cell);
    return (second ? keep_cell : study_cell)(r, &r->column[k], r->cell);
}

/* ---- kinds ---- */

static spot_status choose_kinds(spot_attributes_reader *r)
{
    const size_t rows = (size_t)r->rows;
    int constant = 0;

    for (int k = 0; k < r->columns; k++) {
        spot_attributes_column *t = &r->column[k];
        const bool numbers = !t->no_number;
        const bool nameless = !*t->name;           /* pandas writes the index of a frame so */
        for (int i = 0; numbers && r->dialect.comma && i < t->values && i < 2; i++) {
            char *comma = strchr(t->value[i], ',');
            if (comma) *comma = '.';
        }
        t->kind = k == r->id_column || nameless || t->values < 2 ? SPOT_COLUMN_CONSTANT : !t->no_flag ? SPOT_COLUMN_FLAGS
                : !numbers ? SPOT_COLUMN_WORDS : t->values == 2 ? SPOT_COLUMN_TWO_NUMBERS : SPOT_COLUMN_NUMBERS;
        if (k != r->id_column && t->kind == SPOT_COLUMN_CONSTANT && constant++ < TOLD)
            spot_log(r->c, SPOT_LOG_INFO, "%s: the column \"%.80s\" is left out: it has %s", r->file, t->name,
                     nameless ? "no name" : t->values ? "one value" : "no value");
        if (t->kind == SPOT_COLUMN_FLAGS) t->flag = malloc(rows + 1);
        if (t->kind == SPOT_COLUMN_NUMBERS) t->number = malloc((rows + 1) * sizeof *t->number);
        if (t->kind == SPOT_COLUMN_TWO_NUMBERS || t->kind == SPOT_COLUMN_WORDS) t->word = calloc(rows + 1, sizeof *t->word);
        if (t->kind != SPOT_COLUMN_CONSTANT && !t->flag && !t->number && !t->word)
            return spot_fail(r->c, SPOT_NOMEM, "no memory for the column \"%.80s\" of %s", t->name, r->file);
        if (t->flag) memset(t->flag, SPOT_NO_FLAG, rows);
        for (size_t i = 0; t->number && i < rows; i++) t->number[i] = NAN;
    }
    if (constant > TOLD) spot_log(r->c, SPOT_LOG_INFO, "and %d more", constant - TOLD);
    return SPOT_OK;
}

static bool is_within(const spot_column_cut *cut, double v)
{
    switch (cut->how) {
    case SPOT_BELOW:    return v < cut->value;
    case SPOT_ABOVE:    return v > cut->value;
    case SPOT_EQUAL:    return v == cut->value;
    case SPOT_AT_MOST:  return v <= cut->value;
    case SPOT_AT_LEAST: return v >= cut->value;
    default:            return false;
    }
}

/* A row's number in a column of any kind; NaN: none. */
static double number_in(const spot_attributes_reader *r, const spot_attributes_column *t, int row)
{
    double v = NAN;

    if (t->number) return t->number[row];
    if (t->flag) return t->flag[row] == SPOT_NO_FLAG ? NAN : t->flag[row];
    return t->word && t->word[row] && read_number(r, &v, t->word[row]) ? v : NAN;
}

static spot_status compare_column(spot_attributes_reader *r)
{
    const spot_attributes_column *t = NULL;

    for (int k = 0; k < r->columns; k++)
        if (k != r->id_column && !strcmp(r->column[k].name, r->cut->column) && r->column[k].kind != SPOT_COLUMN_WORDS
            && r->column[k].kind != SPOT_COLUMN_CONSTANT) t = &r->column[k];
    if (!t)
        return spot_fail(r->c, SPOT_USAGE, "{attributes.no_numbers} %s has no column \"%.80s\" of different numbers", r->file,
                         r->cut->column);
    for (int i = 0; i < r->rows; i++) r->in[i] &= is_within(r->cut, number_in(r, t, i));
    return SPOT_OK;
}

static spot_status make_items(spot_attributes_reader *r)
{
    static char none[] = "";

    spot_attributes_begin(r->a, r->rows);
    for (int k = 0; k < r->columns; k++) {
        const spot_attributes_column *t = &r->column[k];
        if (t->flag) SPOT_TRY(spot_attributes_flags(r->c, r->a, k, t->name, t->flag));
        if (t->number) SPOT_TRY(spot_attributes_numbers(r->c, r->a, k, t->name, t->number));
        if (!t->word) continue;
        for (int i = 0; i < r->rows; i++)
            if (!t->word[i]) t->word[i] = none;
        spot_status how = spot_attributes_text(r->c, r->a, k, t->name, t->word);
        for (int i = 0; i < r->rows; i++)
            if (t->word[i] == none) t->word[i] = NULL;
        SPOT_TRY(how);
    }
    if (r->a->items) return SPOT_OK;
    return spot_fail(r->c, SPOT_INPUT, "{attributes.constant} %s: no column has two different values: there is nothing to "
                     "describe with", r->file);
}

static spot_status read_table(spot_attributes_reader *r, const spot_blob *in, const char *id_column)
{
    if (id_column) {
        r->order = malloc((2 * (size_t)r->rows + 1) * sizeof *r->order);
        r->record_of = malloc(((size_t)r->rows + 1) * sizeof *r->record_of);
        if (!r->order || !r->record_of) return spot_fail(r->c, SPOT_NOMEM, "no memory for %d ids", r->rows);
        spot_words_sort(r->order, r->id, r->rows);
        for (int i = 0; i < r->rows; i++) r->record_of[i] = -1;
    }
    SPOT_TRY(spot_attributes_pass(r, in, false, id_column));
    SPOT_TRY(spot_attributes_check_rows(r));
    SPOT_TRY(r->like ? begin_like(r) : choose_kinds(r));
    r->first_pass = r->records;
    SPOT_TRY(spot_attributes_pass(r, in, true, id_column));
    return r->like ? SPOT_OK : r->cut ? compare_column(r) : make_items(r);
}

static void close_reader(spot_attributes_reader *r)
{
    for (int k = 0; k < r->columns && r->column; k++) {
        spot_attributes_column *t = &r->column[k];
        for (int i = 0; t->word && i < r->rows; i++) free(t->word[i]);
        for (int i = 0; i < 2; i++) free(t->value[i]);
        free(t->name);
        free(t->flag);
        free(t->number);
        free(t->word);
    }
    free(r->column);
    free(r->order);
    spot_plain_ids_close(&r->plain);
    free(r->record);
    free(r->record_of);
    free(r->cell);
    free(r->of);
}

static spot_status read_file(spot_attributes_reader r, const char *where)
{
    spot_ctx *c = r.c;
    const char *id_column;
    char *path = NULL;
    spot_blob in;
    spot_status how = spot_place_split(c, &path, &id_column, where);

    *r.a = (spot_attributes){ 0 };
    r.file = path, r.take = take_cell;
    if (how == SPOT_OK && id_column && !r.id)
        how = spot_fail(c, SPOT_INPUT, "{attributes.rows_without_ids} %s: the rows have no ids to be found by", where);
    if (how == SPOT_OK) how = spot_blob_open(c, &in, path);
    if (how == SPOT_OK) {
        how = read_table(&r, &in, id_column);
        spot_blob_close(&in);
    }
    if (how) spot_attributes_close(r.a);
    close_reader(&r);
    free(path);
    return how;
}

spot_status spot_attributes_read(spot_ctx *c, spot_attributes *a, const char *where, char *const *id, int rows)
{
    return read_file((spot_attributes_reader){ .c = c, .a = a, .id = id, .rows = rows, .file_rows = rows }, where);
}

spot_status spot_attributes_of_subject(spot_ctx *c, spot_attributes *a, const char *where, const spot_subject *s)
{
    return read_file((spot_attributes_reader){ .c = c, .a = a, .id = s->id, .rows = s->n, .file_row = s->file_row,
                                          .file_rows = s->n + s->left_out }, where);
}

spot_status spot_attributes_compare(spot_ctx *c, uint8_t *in, const spot_subject *s, const char *where,
                                    const spot_column_cut *cut)
{
    spot_attributes none = { 0 };

    return read_file((spot_attributes_reader){ .c = c, .a = &none, .id = s->id, .rows = s->n, .file_row = s->file_row,
                                          .file_rows = s->n + s->left_out, .cut = cut, .in = in }, where);
}

spot_status spot_attributes_like(spot_ctx *c, spot_attributes *a, const char *where, const spot_subject *s,
                                 const spot_attributes *like)
{
    return read_file((spot_attributes_reader){ .c = c, .a = a, .id = s->id, .rows = s->n, .file_row = s->file_row,
                                          .file_rows = s->n + s->left_out, .like = like }, where);
}
