/* csv_rows.c - see csv_rows.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/csv_records.h"
#include "formats/csv_rows.h"

struct spot_rows {
    spot_blob in;
    spot_csv_block block;
    int record, columns, need, at[SPOT_ROW_CELLS], cells;  /* cells: of the header */
    uint64_t line, next;                   /* of the current row; of the row after it */
    const char *const *column;
    char cell[SPOT_ROW_CELLS][SPOT_ROW_CELL];
};

/* The next record; *more false at the end. */
static spot_status next_record(spot_ctx *c, spot_rows *t, spot_csv_cells *out, bool *more)
{
    if (t->record == t->block.records) {
        SPOT_TRY(spot_csv_next(c, &t->block));
        t->record = 0;
    }
    *more = t->block.records > 0;
    if (!*more) return SPOT_OK;
    *out = spot_csv_record(&t->block, t->record);
    t->line = t->next;
    for (size_t i = t->block.start[t->record]; i < t->block.start[t->record + 1]; i++) t->next += t->block.bytes[i] == '\n';
    t->record++;
    return SPOT_OK;
}

static spot_status refuse_quote(spot_ctx *c, const spot_rows *t)
{
    return spot_fail(c, SPOT_INPUT, "%s line %" PRIu64 ": quotes begin or end amid a cell; between quotes they are written "
                     "twice",
                     t->in.name, t->line);
}

static spot_status read_header(spot_ctx *c, spot_rows *t)
{
    spot_csv_cells cells;
    spot_csv_cell one;
    char name[SPOT_ROW_CELL];
    bool more;
    int got;

    SPOT_TRY(next_record(c, t, &cells, &more));
    if (!more) return spot_fail(c, SPOT_INPUT, "{file.empty} %s is empty", t->in.name);
    for (int k = 0; k < t->columns; k++) t->at[k] = -1;
    while ((got = spot_csv_cell_next(&cells, &one)) > 0) {
        if (one.n < sizeof name) name[spot_csv_unquote(name, &one)] = 0;
        for (int k = 0; k < t->columns && one.n < sizeof name; k++) {
            if (strcmp(name, t->column[k])) continue;
            if (t->at[k] >= 0)
                return spot_fail(c, SPOT_INPUT, "{table.column_twice} %s has two columns \"%.80s\"", t->in.name, name);
            t->at[k] = t->cells;
        }
        t->cells++;
    }
    if (got < 0) return refuse_quote(c, t);
    for (int k = 0; k < t->need; k++)
        if (t->at[k] < 0)
            return spot_fail(c, SPOT_INPUT, "{table.no_column} %s line 1: there is no column \"%s\"", t->in.name, t->column[k]);
    return SPOT_OK;
}

spot_status spot_rows_open(spot_ctx *c, spot_rows **out, const char *path, const char *const *column, int columns)
{
    return spot_rows_open_some(c, out, path, column, columns, columns);
}

spot_status spot_rows_open_some(spot_ctx *c, spot_rows **out, const char *path, const char *const *column, int columns,
                                int need)
{
    spot_rows *t = calloc(1, sizeof *t);
    spot_status s;

    *out = NULL;
    if (!t) return spot_fail(c, SPOT_NOMEM, "no memory to read %s", path);
    t->column = column;
    t->columns = columns, t->need = need;
    t->next = 1;
    s = spot_blob_open(c, &t->in, path);
    if (s) return free(t), s;
    s = spot_csv_open(c, &t->block, &t->in);
    if (s) return spot_blob_close(&t->in), free(t), s;
    s = read_header(c, t);
    if (s) return spot_rows_close(t), s;
    *out = t;
    return SPOT_OK;
}

/* Copies the cells of a row that have a column. */
static spot_status copy_cells(spot_ctx *c, spot_rows *t, spot_csv_cells cells)
{
    spot_csv_cell one;
    int at = 0, got;

    for (; (got = spot_csv_cell_next(&cells, &one)) > 0; at++)
        for (int k = 0; k < t->columns; k++) {
            if (t->at[k] != at) continue;
            if (one.n >= SPOT_ROW_CELL || memchr(one.text, 0, one.n))
                return spot_fail(c, SPOT_INPUT, "%s line %" PRIu64 ": cell %d is no text of at most %d bytes", t->in.name,
                                 t->line,
                                 at + 1, SPOT_ROW_CELL - 1);
            t->cell[k][spot_csv_unquote(t->cell[k], &one)] = 0;
        }
    if (got < 0) return refuse_quote(c, t);
    if (at != t->cells)
        return spot_fail(c, SPOT_INPUT, "%s line %" PRIu64 " has %d cells, and the header has %d", t->in.name, t->line, at,
                         t->cells);
    return SPOT_OK;
}

static bool is_header(const spot_rows *t)
{
    for (int k = 0; k < t->columns; k++)
        if (t->at[k] >= 0 && strcmp(t->cell[k], t->column[k])) return false;
    return true;
}

spot_status spot_rows_next(spot_ctx *c, spot_rows *t, bool *more)
{
    spot_csv_cells cells;

    do {
        SPOT_TRY(next_record(c, t, &cells, more));
        if (!*more) return SPOT_OK;
        SPOT_TRY(copy_cells(c, t, cells));
    } while (is_header(t));
    return SPOT_OK;
}

bool spot_rows_has(const spot_rows *t, int column) { return t->at[column] >= 0; }

const char *spot_rows_cell(const spot_rows *t, int column) { return t->cell[column]; }

bool spot_rows_number(const spot_rows *t, int column, double *v)
{
    return spot_csv_take_number(&t->block.dialect, v, t->cell[column], strlen(t->cell[column]));
}

uint64_t    spot_rows_line(const spot_rows *t) { return t->line; }

void spot_rows_close(spot_rows *t)
{
    if (!t) return;
    spot_csv_close(&t->block);
    spot_blob_close(&t->in);
    free(t);
}
