/* attributes_read.c - a CSV file of attributes -> items: see spotter/describe.h.
 *
 * The file is read twice. The first pass finds the kind of each column and the rows of each record, the second keeps values: a
 * column of flags takes a byte a row, one of numbers 8, one of words its text. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/same_id.h"
#include "base/text.h"
#include "discover/subject/attributes.h"
#include "formats/csv_records.h"

enum { MOST_COLUMNS = 1 << 16, TOLD = 3 };

typedef enum { FLAGS, TWO_NUMBERS, NUMBERS, WORDS, CONSTANT } kind;

typedef struct {
    char   *name;
    bool    no_flag, no_number;        /* a cell is not 0 or 1; not a number */
    int     values;                    /* different values so far: 0, 1, 2, 3 for more */
    char   *value[2];                  /* the first two */
    kind    kind;
    uint8_t *flag;                     /* (rows) by kind; NULL: another kind */
    double  *number;
    char   **word;
} column;

typedef struct { int first, end; } span;           /* rows of a record: order[first] .. order[end - 1] */

typedef struct {
    spot_ctx *c;
    spot_attributes *a;
    const char *file;
    char *const *id;                   /* (rows): ids of the rows */
    int     rows, columns, id_column;  /* id_column -1: records are in the order of the rows */
    const spot_attributes *like;       /* the items to look for; NULL: those that the table has */
    int    *of;                        /* (like->items): the column of each; -1: none */
    const int *file_row;               /* (rows): as in spot_subject */
    int     file_rows, next;           /* records in the order of the rows; the next of `rows` among them */
    column *column;
    int    *order;                     /* (rows): rows by id, and (rows) by the plain form of the id once `plain` is open */
    spot_plain_ids plain;
    int     by_form;                   /* records that match a row in another form of the id */
    span   *record;                    /* (room) */
    int    *record_of;                 /* (rows): the record of each row; -1: none yet */
    int     records, room;
    int     first_pass;                /* records of the first pass */
    char   *cell;                      /* (cell_room) the present cell's text */
    size_t  cell_room;
    uint64_t line;                     /* of the present record */
    spot_csv_dialect dialect;
    const spot_column_cut *cut;               /* NULL: all columns become items */
    uint8_t *in;                       /* (rows): of the cut */
} attributes_reader;

/* ---- cells ---- */

/* The cell's text without quotes, in r->cell. */
static spot_status take_text(attributes_reader *r, const spot_csv_cell *cell)
{
    if (cell->n >= r->cell_room) {
        char *more = realloc(r->cell, r->cell_room = 2 * cell->n + 256);
        if (!more) return spot_fail(r->c, SPOT_NOMEM, "no memory for a cell of %s", r->file);
        r->cell = more;
    }
    r->cell[spot_csv_unquote(r->cell, cell)] = 0;
    return SPOT_OK;
}

/* Takes away the blanks around r->cell. */
static void trim_cell(attributes_reader *r)
{
    size_t n = strlen(r->cell), from = 0;

    while (n && strchr(" \t\r\n", r->cell[n - 1])) n--;
    while (from < n && strchr(" \t\r\n", r->cell[from])) from++;
    memmove(r->cell, r->cell + from, n - from);
    r->cell[n - from] = 0;
}

/* A value: the text without blanks around it, "" for nan. */
static spot_status take_cell(attributes_reader *r, const spot_csv_cell *cell)
{
    SPOT_TRY(take_text(r, cell));
    trim_cell(r);
    if (!strcasecmp(r->cell, "nan")) *r->cell = 0;
    return SPOT_OK;
}

static bool read_number(const attributes_reader *r, double *v, const char *text)
{
    return spot_csv_take_number(&r->dialect, v, text, strlen(text)) && isfinite(*v);
}

static uint8_t flag_of(const attributes_reader *r, const char *text)
{
    double v;

    if (!strcasecmp(text, "true")) return 1;
    if (!strcasecmp(text, "false")) return 0;
    return read_number(r, &v, text) && (v == 0 || v == 1) ? (uint8_t)v : SPOT_NO_FLAG;
}

static bool same_value(const attributes_reader *r, const column *k, const char *value, const char *text)
{
    double x, y;

    if (!strcmp(value, text)) return true;
    if (!k->no_flag) return flag_of(r, value) == flag_of(r, text);
    return read_number(r, &x, value) && read_number(r, &y, text) && x == y;
}

/* First pass: what a cell says about its column. */
static spot_status study_cell(attributes_reader *r, column *k, const char *text)
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
static spot_status keep_cell(attributes_reader *r, column *k, const char *text)
{
    const span rows = r->record[r->records];
    char *word = NULL;

    if (k->kind == CONSTANT || !*text || rows.first == rows.end) return SPOT_OK;
    if (k->kind == TWO_NUMBERS) text = k->value[!same_value(r, k, k->value[0], text)];      /* with a point, for the name */
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

static bool has_value(const attributes_reader *r, int item, const char *head, const char *text)
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
static spot_status keep_like(attributes_reader *r, int k, const char *text)
{
    const span rows = r->record[r->records];

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
static spot_status begin_like(attributes_reader *r)
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

/* ---- records ---- */

static spot_status keep_span(attributes_reader *r, span rows)
{
    if (r->records == r->room) {
        span *more = realloc(r->record, (size_t)(r->room = 2 * r->room + 1024) * sizeof *more);
        if (!more) return spot_fail(r->c, SPOT_NOMEM, "no memory for the records of %s", r->file);
        r->record = more;
    }
    r->record[r->records] = rows;
    return SPOT_OK;
}

static span rows_with(const attributes_reader *r, const char *id)
{
    int low = 0, high = r->rows;
    span rows;

    while (low < high) {
        int mid = (low + high) / 2;
        if (strcmp(r->id[r->order[mid]], id) < 0) low = mid + 1;
        else high = mid;
    }
    for (rows.first = rows.end = low; rows.end < r->rows && !strcmp(r->id[r->order[rows.end]], id);) rows.end++;
    return rows;
}

/* The rows whose id means the same; none where several ids do. */
static spot_status find_plain(attributes_reader *r, span *rows)
{
    if (!r->plain.order) {
        SPOT_TRY(spot_plain_ids_open(r->c, &r->plain, r->id, r->rows));
        memcpy(r->order + r->rows, r->plain.order, (size_t)r->rows * sizeof *r->order);
    }
    SPOT_TRY(spot_plain_ids_find(r->c, &r->plain, r->cell, &rows->first, &rows->end));
    rows->first += r->rows, rows->end += r->rows;
    for (int i = rows->first + 1; i < rows->end; i++)
        if (strcmp(r->id[r->order[i]], r->id[r->order[rows->first]])) rows->end = rows->first;
    r->by_form += rows->end > rows->first;
    return SPOT_OK;
}

/* First pass: the rows of a record by its id in r->cell: as it is, or else one that means the same. */
static spot_status find_rows(attributes_reader *r)
{
    span rows = rows_with(r, r->cell);

    if (rows.first == rows.end) SPOT_TRY(find_plain(r, &rows));
    for (int i = rows.first; i < rows.end; i++) {
        int *record = &r->record_of[r->order[i]];
        if (*record >= 0)
            return spot_fail(r->c, SPOT_INPUT, "{attributes.id_twice} %s: row %d (line %" PRIu64 ") has the id \"%.200s\" of "
                             "an earlier one, row %d", r->file, r->records, r->line, r->cell, *record);
        *record = r->records;
    }
    return keep_span(r, rows);
}

/* The row of the next record, by its number; none where the row was left out. */
static span span_of_record(attributes_reader *r)
{
    const int at = r->file_row ? r->next : r->records;

    if (at >= r->rows || (r->file_row && r->file_row[at] != r->records)) return (span){ 0, 0 };
    r->next = at + 1;
    return (span){ at, at + 1 };
}

static spot_status take_record(attributes_reader *r, spot_csv_cells cells, bool second)
{
    spot_csv_cell cell;
    int more, k = 0;

    if (second && r->records == r->first_pass)
        return spot_fail(r->c, SPOT_INPUT, "%s has changed while it was read; run again", r->file);
    if (!second && r->id_column < 0)       /* by its number; one too many is counted, and refused at the end */
        SPOT_TRY(keep_span(r, span_of_record(r)));
    for (; (more = spot_csv_cell_next(&cells, &cell)) > 0 && k < r->columns; k++) {
        SPOT_TRY((k == r->id_column ? take_text : take_cell)(r, &cell));
        if (k == r->id_column && !second) SPOT_TRY(find_rows(r));
        else if (k != r->id_column && second && r->like) SPOT_TRY(keep_like(r, k, r->cell));
        else if (k != r->id_column) SPOT_TRY((second ? keep_cell : study_cell)(r, &r->column[k], r->cell));
    }
    if (more < 0)
        return spot_fail(r->c, SPOT_INPUT, "{table.quotes_amid} %s: line %" PRIu64 ": cell %d has quotes that begin or end "
                         "amid it; between quotes they are written twice", r->file, r->line, k + 1);
    if (more || k < r->columns)
        return spot_fail(r->c, SPOT_INPUT, "{table.cells} %s: line %" PRIu64 " has %s cells than the %d of the header",
                         r->file, r->line,
                         more ? "more" : "fewer", r->columns);
    r->records++;
    return SPOT_OK;
}

/* A column that is there twice, as after a join, is an error; columns without a name are left out anyway. */
static spot_status check_names(attributes_reader *r)
{
    const size_t columns = (size_t)r->columns + 1;
    char **name = malloc(columns * sizeof *name);
    int *order = malloc(columns * sizeof *order);
    spot_status s = name && order ? SPOT_OK : spot_fail(r->c, SPOT_NOMEM, "no memory for the header of %s", r->file);

    for (int k = 0; !s && k < r->columns; k++) name[k] = r->column[k].name;
    if (!s) spot_words_sort(order, name, r->columns);
    for (int k = 1; !s && k < r->columns; k++)
        if (*name[order[k]] && !strcmp(name[order[k]], name[order[k - 1]]))
            s = spot_fail(r->c, SPOT_INPUT, "{table.column_twice} %s has two columns \"%.80s\"", r->file, name[order[k]]);
    free(name);
    free(order);
    return s;
}

static spot_status take_header(attributes_reader *r, const spot_csv_block *b)
{
    spot_csv_cells cells = spot_csv_record(b, 0);
    spot_csv_cell cell;
    int more;

    while ((more = spot_csv_cell_next(&cells, &cell)) > 0) r->columns++;
    if (more < 0) return spot_fail(r->c, SPOT_INPUT, "%s: quotes amid a name of the header; write them twice", r->file);
    if (r->columns > MOST_COLUMNS)
        return spot_fail(r->c, SPOT_INPUT, "%s has %d columns; %d are possible", r->file, r->columns, MOST_COLUMNS);
    r->column = calloc((size_t)r->columns, sizeof *r->column);
    if (!r->column) return spot_fail(r->c, SPOT_NOMEM, "no memory for the header of %s", r->file);
    cells = spot_csv_record(b, 0);
    for (int k = 0; k < r->columns; k++) {
        spot_csv_cell_next(&cells, &cell);
        SPOT_TRY(take_cell(r, &cell));
        r->column[k].name = strdup(r->cell);
        if (!r->column[k].name) return spot_fail(r->c, SPOT_NOMEM, "no memory for the header of %s", r->file);
    }
    return check_names(r);
}

static uint64_t lines_in(const char *from, const char *to)
{
    uint64_t lines = 0;

    while ((from = memchr(from, '\n', (size_t)(to - from)))) lines++, from++;
    return lines;
}

/* One pass over the records behind the header, which the first pass reads. */
static spot_status take_records(attributes_reader *r, spot_csv_block *b, bool second, const char *id_column)
{
    bool header = true;

    r->records = 0;
    SPOT_TRY(spot_csv_next(r->c, b));
    if (!b->records)
        return spot_fail(r->c, SPOT_INPUT, "{table.empty} %s is empty: a line with the names of its columns is wanted",
                         r->file);
    r->dialect = b->dialect;
    if (!second) {
        spot_csv_report(r->c, &b->dialect, r->file);
        SPOT_TRY(take_header(r, b));
    }
    for (r->id_column = id_column ? 0 : -1; id_column && strcmp(r->column[r->id_column].name, id_column);)
        if (++r->id_column == r->columns)
            return spot_fail(r->c, SPOT_INPUT, "{attributes.no_id_column} %s has no column \"%.80s\" of ids; its columns are "
                             "%.80s, ..., %.80s", r->file, id_column, r->column[0].name, r->column[r->columns - 1].name);
    for (; b->records; header = false) {
        r->line = b->line + 1 + (header ? lines_in(b->bytes, b->bytes + b->start[1]) : 0);
        for (int i = header; i < b->records; i++) {
            SPOT_TRY(take_record(r, spot_csv_record(b, i), second));
            r->line += lines_in(b->bytes + b->start[i], b->bytes + b->start[i + 1]);
        }
        SPOT_TRY(spot_check_stop(r->c));
        SPOT_TRY(spot_csv_next(r->c, b));
    }
    return SPOT_OK;
}

static spot_status pass(attributes_reader *r, const spot_blob *in, bool second, const char *id_column)
{
    spot_csv_block b;
    spot_status how;

    SPOT_TRY(spot_csv_open(r->c, &b, in));
    how = take_records(r, &b, second, id_column);
    spot_csv_close(&b);
    return how;
}

/* ---- rows and kinds ---- */

static spot_status check_rows(attributes_reader *r)
{
    int missing = 0, first = 0, others = 0;

    if (r->id_column < 0 && r->records != r->file_rows)
        return spot_fail(r->c, SPOT_INPUT, "{attributes.records} %s has %d records, and there are %d rows; give one for each "
                         "row in their order, or name the column of ids: %s:COLUMN", r->file, r->records, r->file_rows, r->file);
    for (int i = r->rows - 1; r->id_column >= 0 && i >= 0; i--)
        if (r->record_of[i] < 0) missing++, first = i;
    if (missing)
        return spot_fail(r->c, SPOT_INPUT, "{attributes.no_record} %s: %d of %d rows have no record, the first is row %d, "
                         "\"%.200s\"", r->file, missing, r->rows, r->file_row ? r->file_row[first] : first, r->id[first]);
    if (r->by_form)
        spot_log(r->c, SPOT_LOG_INFO, "%s: %d ids match those of rows though they differ by \"./\" in front, blanks at the "
                 "ends or Unicode's normal form", r->file, r->by_form);
    for (int i = 0; i < r->records; i++) others += r->record[i].first == r->record[i].end;
    if (others) spot_log(r->c, SPOT_LOG_INFO, "%s: %d records are of no row and are left out", r->file, others);
    return SPOT_OK;
}

static spot_status choose_kinds(attributes_reader *r)
{
    const size_t rows = (size_t)r->rows;
    int constant = 0;

    for (int k = 0; k < r->columns; k++) {
        column *t = &r->column[k];
        const bool numbers = !t->no_number;
        const bool nameless = !*t->name;           /* pandas writes the index of a frame so */
        for (int i = 0; numbers && r->dialect.comma && i < t->values && i < 2; i++) {
            char *comma = strchr(t->value[i], ',');
            if (comma) *comma = '.';
        }
        t->kind = k == r->id_column || nameless || t->values < 2 ? CONSTANT : !t->no_flag ? FLAGS : !numbers ? WORDS
                : t->values == 2 ? TWO_NUMBERS : NUMBERS;
        if (k != r->id_column && t->kind == CONSTANT && constant++ < TOLD)
            spot_log(r->c, SPOT_LOG_INFO, "%s: the column \"%.80s\" is left out: it has %s", r->file, t->name,
                     nameless ? "no name" : t->values ? "one value" : "no value");
        if (t->kind == FLAGS) t->flag = malloc(rows + 1);
        if (t->kind == NUMBERS) t->number = malloc((rows + 1) * sizeof *t->number);
        if (t->kind == TWO_NUMBERS || t->kind == WORDS) t->word = calloc(rows + 1, sizeof *t->word);
        if (t->kind != CONSTANT && !t->flag && !t->number && !t->word)
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
static double number_in(const attributes_reader *r, const column *t, int row)
{
    double v = NAN;

    if (t->number) return t->number[row];
    if (t->flag) return t->flag[row] == SPOT_NO_FLAG ? NAN : t->flag[row];
    return t->word && t->word[row] && read_number(r, &v, t->word[row]) ? v : NAN;
}

static spot_status compare_column(attributes_reader *r)
{
    const column *t = NULL;

    for (int k = 0; k < r->columns; k++)
        if (k != r->id_column && !strcmp(r->column[k].name, r->cut->column) && r->column[k].kind != WORDS
            && r->column[k].kind != CONSTANT) t = &r->column[k];
    if (!t)
        return spot_fail(r->c, SPOT_USAGE, "{attributes.no_numbers} %s has no column \"%.80s\" of different numbers", r->file,
                         r->cut->column);
    for (int i = 0; i < r->rows; i++) r->in[i] &= is_within(r->cut, number_in(r, t, i));
    return SPOT_OK;
}

static spot_status make_items(attributes_reader *r)
{
    static char none[] = "";

    spot_attributes_begin(r->a, r->rows);
    for (int k = 0; k < r->columns; k++) {
        const column *t = &r->column[k];
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

static spot_status read_table(attributes_reader *r, const spot_blob *in, const char *id_column)
{
    if (id_column) {
        r->order = malloc((2 * (size_t)r->rows + 1) * sizeof *r->order);
        r->record_of = malloc(((size_t)r->rows + 1) * sizeof *r->record_of);
        if (!r->order || !r->record_of) return spot_fail(r->c, SPOT_NOMEM, "no memory for %d ids", r->rows);
        spot_words_sort(r->order, r->id, r->rows);
        for (int i = 0; i < r->rows; i++) r->record_of[i] = -1;
    }
    SPOT_TRY(pass(r, in, false, id_column));
    SPOT_TRY(check_rows(r));
    SPOT_TRY(r->like ? begin_like(r) : choose_kinds(r));
    r->first_pass = r->records;
    SPOT_TRY(pass(r, in, true, id_column));
    return r->like ? SPOT_OK : r->cut ? compare_column(r) : make_items(r);
}

static void close_reader(attributes_reader *r)
{
    for (int k = 0; k < r->columns && r->column; k++) {
        column *t = &r->column[k];
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

static spot_status read_file(attributes_reader r, const char *where)
{
    spot_ctx *c = r.c;
    const char *id_column;
    char *path = NULL;
    spot_blob in;
    spot_status how = spot_place_split(c, &path, &id_column, where);

    *r.a = (spot_attributes){ 0 };
    r.file = path;
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
    return read_file((attributes_reader){ .c = c, .a = a, .id = id, .rows = rows, .file_rows = rows }, where);
}

spot_status spot_attributes_of_subject(spot_ctx *c, spot_attributes *a, const char *where, const spot_subject *s)
{
    return read_file((attributes_reader){ .c = c, .a = a, .id = s->id, .rows = s->n, .file_row = s->file_row,
                                          .file_rows = s->n + s->left_out }, where);
}

spot_status spot_attributes_compare(spot_ctx *c, uint8_t *in, const spot_subject *s, const char *where, const spot_column_cut *cut)
{
    spot_attributes none = { 0 };

    return read_file((attributes_reader){ .c = c, .a = &none, .id = s->id, .rows = s->n, .file_row = s->file_row,
                                          .file_rows = s->n + s->left_out, .cut = cut, .in = in }, where);
}

spot_status spot_attributes_like(spot_ctx *c, spot_attributes *a, const char *where, const spot_subject *s,
                                 const spot_attributes *like)
{
    return read_file((attributes_reader){ .c = c, .a = a, .id = s->id, .rows = s->n, .file_row = s->file_row,
                                          .file_rows = s->n + s->left_out, .like = like }, where);
}
