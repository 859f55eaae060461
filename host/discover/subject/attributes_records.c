/* attributes_records.c - the records of a table of attributes: its header, the rows that each record is of, and a pass over all
 * of them (attributes_reader.h). */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "discover/subject/attributes_reader.h"

enum { MOST_COLUMNS = 1 << 16 };

/* ---- cells ---- */

/* The cell's text without quotes, in r->cell. */
static spot_status take_text(spot_attributes_reader *r, const spot_csv_cell *cell)
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
static void trim_cell(spot_attributes_reader *r)
{
    size_t n = strlen(r->cell), from = 0;

    while (n && strchr(" \t\r\n", r->cell[n - 1])) n--;
    while (from < n && strchr(" \t\r\n", r->cell[from])) from++;
    memmove(r->cell, r->cell + from, n - from);
    r->cell[n - from] = 0;
}

/* A value: the text without blanks around it, "" for nan. */
static spot_status take_cell(spot_attributes_reader *r, const spot_csv_cell *cell)
{
    SPOT_TRY(take_text(r, cell));
    trim_cell(r);
    if (!strcasecmp(r->cell, "nan")) *r->cell = 0;
    return SPOT_OK;
}

/* ---- records ---- */

static spot_status keep_span(spot_attributes_reader *r, spot_record_rows rows)
{
    if (r->records == r->room) {
        spot_record_rows *more = realloc(r->record, (size_t)(r->room = 2 * r->room + 1024) * sizeof *more);
        if (!more) return spot_fail(r->c, SPOT_NOMEM, "no memory for the records of %s", r->file);
        r->record = more;
    }
    r->record[r->records] = rows;
    return SPOT_OK;
}

static spot_record_rows rows_with(const spot_attributes_reader *r, const char *id)
{
    int low = 0, high = r->rows;
    spot_record_rows rows;

    while (low < high) {
        int mid = (low + high) / 2;
        if (strcmp(r->id[r->order[mid]], id) < 0) low = mid + 1;
        else high = mid;
    }
    for (rows.first = rows.end = low; rows.end < r->rows && !strcmp(r->id[r->order[rows.end]], id);) rows.end++;
    return rows;
}

/* The rows whose id means the same; none where several ids do. */
static spot_status find_plain(spot_attributes_reader *r, spot_record_rows *rows)
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
static spot_status find_rows(spot_attributes_reader *r)
{
    spot_record_rows rows = rows_with(r, r->cell);

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
static spot_record_rows span_of_record(spot_attributes_reader *r)
{
    const int at = r->file_row ? r->next : r->records;

    if (at >= r->rows || (r->file_row && r->file_row[at] != r->records)) return (spot_record_rows){ 0, 0 };
    r->next = at + 1;
    return (spot_record_rows){ at, at + 1 };
}

static spot_status take_record(spot_attributes_reader *r, spot_csv_cells cells, bool second)
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
        else if (k != r->id_column) SPOT_TRY(r->take(r, k, second));
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
static spot_status check_names(spot_attributes_reader *r)
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

static spot_status take_header(spot_attributes_reader *r, const spot_csv_block *b)
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
static spot_status take_records(spot_attributes_reader *r, spot_csv_block *b, bool second, const char *id_column)
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

spot_status spot_attributes_pass(spot_attributes_reader *r, const spot_blob *in, bool second, const char *id_column)
{
    spot_csv_block b;
    spot_status how;

    SPOT_TRY(spot_csv_open(r->c, &b, in));
    how = take_records(r, &b, second, id_column);
    spot_csv_close(&b);
    return how;
}

/* ---- rows ---- */

spot_status spot_attributes_check_rows(spot_attributes_reader *r)
{
    int missing = 0, first = 0, others = 0;

    if (r->id_column < 0 && r->records != r->file_rows)
        return spot_fail(r->c, SPOT_INPUT, "{attributes.records} %s has %d records, and there are %d rows; give one for each "
                         "row in their order, or name the column of ids: %s:COLUMN", r->file, r->records, r->file_rows,
                         r->file);
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
