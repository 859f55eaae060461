/* csv.c - reads columns of a CSV file by name: one column as numbers if all cells are numbers, else as words; several columns
 * as a matrix of numbers.
 *
 * The file is read twice, first to count its rows, so that the matrix is allocated once with its size. One thread splits blocks
 * into records and all threads parse them; the error is that of the first bad row, for any order of threads. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "formats/csv_lists.h"
#include "formats/csv_records.h"

enum { MAX_COLUMNS = 1 << 20 };

typedef struct {
    int    columns;                        /* in the file */
    char **name;                           /* (columns), in one block with the text */
    int   *order;                          /* (columns): by name */
    int   *slot;                           /* (columns): index among the wanted ones; -1: not wanted */
    int    wanted;
    bool   holes, text;                    /* spot_array_how */
    spot_csv_dialect dialect;
} header;

typedef enum { GOOD, QUOTES, FEWER, MORE, EMPTY, NO_NUMBER } fault;

/* -- the header ------------------------------------------------------------------------------------------------ */

static spot_status read_header(spot_ctx *c, header *h, const spot_csv_block *b)
{
    spot_csv_cells cells = spot_csv_record(b, 0);
    spot_csv_cell cell;
    size_t length = b->start[1];
    int more;
    char *text;

    while ((more = spot_csv_cell_next(&cells, &cell)) > 0 && h->columns < MAX_COLUMNS) h->columns++;
    if (more < 0)
        return spot_fail(c, SPOT_INPUT,
                         "{table.header_quotes} %s: quotes amid a name of the header (line 1); write them twice", b->in->name);
    if (more) return spot_fail(c, SPOT_INPUT, "%s: a header of more than %d columns", b->in->name, MAX_COLUMNS);
    h->name = malloc((size_t)h->columns * sizeof *h->name + length + (size_t)h->columns);
    h->order = malloc(2 * (size_t)h->columns * sizeof *h->order);
    if (!h->name || !h->order) return spot_fail(c, SPOT_NOMEM, "no memory for the header of %s", b->in->name);
    h->slot = h->order + h->columns;
    text = (char *)(h->name + h->columns);
    cells = spot_csv_record(b, 0);
    for (int i = 0; i < h->columns; i++) {
        spot_csv_cell_next(&cells, &cell);
        h->name[i] = text;
        h->slot[i] = -1;
        text += spot_csv_unquote(text, &cell);
        *text++ = 0;
    }
    spot_words_sort(h->order, h->name, h->columns);
    return SPOT_OK;
}

/* The column of that name; -1: none; -2: several. */
static int find_column(const header *h, const char *name)
{
    int low = 0, high = h->columns;

    while (low < high) {
        int mid = (low + high) / 2;
        if (strcmp(h->name[h->order[mid]], name) < 0) low = mid + 1;
        else high = mid;
    }
    if (low == h->columns || strcmp(h->name[h->order[low]], name)) return -1;
    return low + 1 < h->columns && !strcmp(h->name[h->order[low + 1]], name) ? -2 : h->order[low];
}

static spot_status want_column(spot_ctx *c, header *h, const char *name, const char *file)
{
    int i = find_column(h, name);

    if (i == -1)
        return spot_fail(c, SPOT_INPUT, "{table.no_column} %s has no column \"%.80s\"; its columns are %.80s%s%.80s%s", file,
                         name, h->name[0],
                         h->columns > 1 ? h->columns > 2 ? ", ..., " : ", " : "", h->columns > 1 ? h->name[h->columns - 1] : "",
                         h->columns > 2 ? ", in this order" : h->columns > 1 ? "" : spot_csv_suspicion(h->name[0]));
    if (i == -2) return spot_fail(c, SPOT_INPUT, "{table.column_twice} %s has two columns \"%.80s\"", file, name);
    if (h->slot[i] >= 0) return spot_fail(c, SPOT_INPUT,
                                          "{table.column_asked_twice} column \"%.80s\" of %s is asked for twice", name, file);
    h->slot[i] = h->wanted++;
    return SPOT_OK;
}

/* e0..e511 counts, in any order of the columns in the file; names without numbers use the order of the file. */
static spot_status want_range(spot_ctx *c, header *h, const char *first, const char *last, const char *file)
{
    size_t n = strlen(first), m = strlen(last), head = n, tail = m;
    int64_t from = 0, to = -1;
    int i, k;

    while (head && first[head - 1] >= '0' && first[head - 1] <= '9') head--;
    while (tail && last[tail - 1] >= '0' && last[tail - 1] <= '9') tail--;
    if (head == tail && !strncmp(first, last, head) && spot_integer(&from, first + head, n - head)
        && spot_integer(&to, last + tail, m - tail)) {
        if (to < from) return spot_fail(c, SPOT_INPUT, "{table.columns_order} %s: columns from \"%.80s\" down to \"%.80s\"",
                                        file, first, last);
        for (; from <= to; from++) {
            char name[256];
            snprintf(name, sizeof name, "%.*s%0*" PRId64, (int)head, first, (int)(n - head), from);
            SPOT_TRY(want_column(c, h, name, file));
        }
        return SPOT_OK;
    }
    i = find_column(h, first);
    k = find_column(h, last);
    if (i < 0) return want_column(c, h, first, file);
    if (k < 0) return want_column(c, h, last, file);
    if (k < i) return spot_fail(c, SPOT_INPUT, "{table.columns_order} %s: column \"%.80s\" stands before \"%.80s\"", file,
                                last, first);
    for (; i <= k; i++) SPOT_TRY(want_column(c, h, h->name[i], file));
    return SPOT_OK;
}

static spot_status want_all(spot_ctx *c, header *h, const char *columns, const char *file)
{
    char *list, *rest, *item;
    spot_status s = SPOT_OK;

    if (!columns && h->columns > 1)
        return spot_fail(c, SPOT_INPUT, "{table.which_column} %s has %d columns; say which, as in %s:%.80s", file, h->columns,
                         file, h->name[0]);
    if (!columns) return want_column(c, h, h->name[0], file);
    if (find_column(h, columns) != -1) return want_column(c, h, columns, file);          /* a name may hold commas and dots */
    rest = list = strdup(columns);
    if (!list) return spot_fail(c, SPOT_NOMEM, "no memory for the names of columns");
    while (!s && (item = strsep(&rest, ","))) {
        char *dots = find_column(h, item) == -1 ? strstr(item, "..") : NULL;
        if (dots && strlen(item) < 200) {
            *dots = 0;
            s = want_range(c, h, item, dots + 2, file);
        } else s = want_column(c, h, item, file);
    }
    free(list);
    return s;
}

/* -- the rows -------------------------------------------------------------------------------------------------- */

static void trim_cell(spot_csv_cell *cell)
{
    while (cell->n && (*cell->text == ' ' || *cell->text == '\t')) cell->text++, cell->n--;
    while (cell->n && (cell->text[cell->n - 1] == ' ' || cell->text[cell->n - 1] == '\t')) cell->n--;
}

/* Reads a record: numbers into v (wanted), or, if v is NULL, the one wanted cell into *only. *at: the bad column. */
static fault read_record(const header *h, spot_csv_cells cells, double *v, spot_csv_cell *only, int *at)
{
    spot_csv_cell cell;
    int more;

    for (*at = 0; (more = spot_csv_cell_next(&cells, &cell)) > 0; ++*at) {
        int slot;
        if (*at == h->columns) return MORE;
        slot = h->slot[*at];
        if (slot < 0) continue;
        if (!cell.n && !h->holes) return EMPTY;
        if (!v) *only = cell;
        else if (!spot_csv_take_number(&h->dialect, &v[slot], cell.text, cell.n)) {
            trim_cell(&cell);
            if (h->holes && spot_is_missing(cell.text, cell.n)) v[slot] = NAN;
            else if (!cell.n) return EMPTY;
            else if (!spot_csv_take_number(&h->dialect, &v[slot], cell.text, cell.n)) return NO_NUMBER;
        }
    }
    return more < 0 ? QUOTES : *at < h->columns ? FEWER : GOOD;
}

/* Reads record i of the block again and fails with its error. */
static spot_status fail_record(spot_ctx *c, const header *h, const spot_csv_block *b, int i, double *v, const char *file)
{
    spot_csv_cells cells = spot_csv_record(b, i);
    spot_csv_cell cell = { 0 };
    int column;
    fault f = read_record(h, cells, v, &cell, &column);
    uint64_t line = b->line + 1;
    char where[96];

    for (const char *p = b->bytes; (p = memchr(p, '\n', (size_t)(b->bytes + b->start[i] - p))); p++) line++;
    snprintf(where, sizeof where, "row %" PRIu64 " (line %" PRIu64 ")", b->row + (uint64_t)i - 1, line);
    if (f == QUOTES)
        return spot_fail(c, SPOT_INPUT, "{table.quotes_amid} %s: %s: cell %d has quotes that begin or end amid it; between "
                         "quotes they are written twice", file, where, column + 1);
    if (f == MORE || f == FEWER)
        return spot_fail(c, SPOT_INPUT, "{table.cells} %s: %s has %s cells than the %d of the header", file, where,
                         f == MORE ? "more" : "fewer", h->columns);
    if (f == EMPTY)
        return spot_fail(c, SPOT_INPUT, "{table.cell_empty} %s: %s: the cell of column \"%.80s\" is empty", file, where,
                         h->name[column]);
    for (int k = 0; k <= column; k++) spot_csv_cell_next(&cells, &cell);
    return spot_fail(c, SPOT_INPUT, "{table.number} %s: %s: \"%.*s\" in column \"%.80s\" is no number", file, where,
                     cell.n < 40 ? (int)cell.n : 40, cell.text, h->name[column]);
}

/* Reads every row of a block, with all threads. v (rows, wanted) or only (rows). first: the first data record (1 after the
 * header). */
static spot_status read_block(spot_ctx *c, const header *h, const spot_csv_block *b, int first, double *v, spot_csv_cell *only,
                              const char *file)
{
    int bad = b->records;

#pragma omp parallel for num_threads(c->threads > 0 ? c->threads : 1) schedule(static) reduction(min : bad)
    for (int i = first; i < b->records; i++) {
        int column;
        fault f = read_record(h, spot_csv_record(b, i), v ? v + (size_t)(i - first) * (size_t)h->wanted : NULL,
                              only ? &only[i] : NULL, &column);
        if (f && i < bad) bad = i;
    }
    return bad == b->records ? SPOT_OK : fail_record(c, h, b, bad, v, file);
}

/* The names of the columns, in one block with their text. */
static spot_status keep_names(spot_ctx *c, spot_array *a, const header *h)
{
    size_t bytes = (size_t)h->wanted * sizeof *a->column;
    char *at;

    for (int i = 0; i < h->columns; i++)
        if (h->slot[i] >= 0) bytes += strlen(h->name[i]) + 1;
    a->column = malloc(bytes);
    if (!a->column) return spot_fail(c, SPOT_NOMEM, "no memory for the names of %d columns", h->wanted);
    at = (char *)(a->column + h->wanted);
    for (int i = 0; i < h->columns; i++)
        if (h->slot[i] >= 0) a->column[h->slot[i]] = at, at = stpcpy(at, h->name[i]) + 1;
    return SPOT_OK;
}

/* -- several columns: a matrix ---------------------------------------------------------------------------------- */

static spot_status count_rows(spot_ctx *c, int64_t *rows, const spot_blob *in)
{
    spot_csv_block b;
    spot_status s;

    SPOT_TRY(spot_csv_open(c, &b, in));
    do s = spot_csv_next(c, &b);
    while (!s && b.records);
    *rows = (int64_t)b.row - 1;
    spot_csv_close(&b);
    return s;
}

static spot_status read_matrix(spot_ctx *c, spot_array *a, const header *h, spot_csv_block *b, size_t limit)
{
    int64_t done = 0;

    a->type = SPOT_F64;
    a->rank = 2;
    a->dim[1] = h->wanted;
    SPOT_TRY(keep_names(c, a, h));
    SPOT_TRY(count_rows(c, &a->dim[0], b->in));
    SPOT_TRY(spot_array_take(c, a, limit));
    for (int first = 1; b->records; first = 0) {
        if (done + b->records - first > a->dim[0]) return spot_fail(c, SPOT_INPUT, "%s changed while it was read", b->in->name);
        SPOT_TRY(read_block(c, h, b, first, (double *)a->data + done * h->wanted, NULL, a->name));
        done += b->records - first;
        SPOT_TRY(spot_csv_next(c, b));
    }
    return done == a->dim[0] ? SPOT_OK : spot_fail(c, SPOT_INPUT, "%s changed while it was read", b->in->name);
}

/* -- one column: words or numbers ------------------------------------------------------------------------------- */

typedef struct {
    char   *text;
    size_t *length, used, room, rows, most;
    /* what the cells so far are; one has zeros in front; one is missing */
    bool    wants_holes, numbers, integers, padded, holes;
    spot_csv_dialect dialect;
} column;

static spot_status keep_cell(spot_ctx *c, column *k, const spot_csv_cell *cell, size_t limit, const char *name)
{
    spot_csv_cell inner = *cell;
    double v;
    int64_t whole;

    if (k->used + cell->n >= k->room) {
        char *more = realloc(k->text, k->room = 2 * k->room + cell->n + 4096);
        if (!more) return spot_fail(c, SPOT_NOMEM, "no memory for the text of %s", name);
        k->text = more;
    }
    if (k->rows == k->most) {
        size_t *more = realloc(k->length, (k->most = 2 * k->most + 1024) * sizeof *more);
        if (!more) return spot_fail(c, SPOT_NOMEM, "no memory for the rows of %s", name);
        k->length = more;
    }
    if (limit && k->used > limit)
        return spot_fail(c, SPOT_INPUT, "%s holds more than the %zu bytes of text that are allowed", name, limit);
    trim_cell(&inner);
    if (k->wants_holes && spot_is_missing(inner.text, inner.n)) k->holes = true;
    else {
        k->integers = k->integers && spot_integer(&whole, inner.text, inner.n);
        k->numbers = k->numbers && (k->integers || spot_csv_take_number(&k->dialect, &v, inner.text, inner.n));
        k->padded = k->padded || (inner.n > 1 && *inner.text == '0' && k->integers);
    }
    k->length[k->rows] = spot_csv_unquote(k->text + k->used, cell);
    k->used += k->length[k->rows++];
    return SPOT_OK;
}

static spot_status make_array(spot_ctx *c, spot_array *a, const column *k, size_t limit)
{
    const char *at = k->text, **text;
    spot_status s;

    a->rank = 1;
    a->dim[0] = (int64_t)k->rows;
    a->count = k->rows;
    a->comma = k->dialect.comma;
    if (k->numbers) {
        a->type = k->integers && !k->holes ? SPOT_I64 : SPOT_F64;
        a->padded = k->padded && k->integers;
        SPOT_TRY(spot_array_take(c, a, limit));
        for (size_t i = 0; i < k->rows; at += k->length[i++]) {
            spot_csv_cell cell = { at, k->length[i], false };
            trim_cell(&cell);
            if (a->type == SPOT_I64) spot_integer((int64_t *)a->data + i, cell.text, cell.n);
            else if (!spot_csv_take_number(&k->dialect, (double *)a->data + i, cell.text, cell.n)) ((double *)a->data)[i] = NAN;
        }
        return SPOT_OK;
    }
    text = malloc(k->rows * sizeof *text);
    if (!text) return spot_fail(c, SPOT_NOMEM, "no memory for the rows of %s", a->name);
    for (size_t i = 0; i < k->rows; at += k->length[i++]) text[i] = at;
    s = spot_array_words(c, a, text, k->length, limit);
    free(text);
    return s;
}

static spot_status read_column(spot_ctx *c, spot_array *a, const header *h, spot_csv_block *b, size_t limit)
{
    spot_csv_cell *only = malloc((size_t)b->most * sizeof *only);
    column k = { .numbers = !h->text, .integers = !h->text, .wants_holes = h->holes, .dialect = h->dialect };
    spot_status s = only ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the rows of %s", a->name);

    for (int first = 1; !s && b->records; first = 0) {
        s = read_block(c, h, b, first, NULL, only, a->name);
        for (int i = first; i < b->records && !s; i++) s = keep_cell(c, &k, &only[i], limit, a->name);
        if (!s) s = spot_csv_next(c, b);
    }
    if (!s) s = make_array(c, a, &k, limit);
    if (!s) s = keep_names(c, a, h);
    free(only);
    free(k.text);
    free(k.length);
    return s;
}

spot_status spot_csv_read(spot_ctx *c, spot_array *a, const spot_blob *in, const char *columns, const spot_array_how *how)
{
    header h = { .holes = how->holes, .text = how->text };
    spot_csv_block b;
    spot_status s;

    SPOT_TRY(spot_csv_open(c, &b, in));
    s = spot_csv_next(c, &b);
    if (!s && !b.records) s = spot_fail(c, SPOT_INPUT,
                                        "{table.empty} %s is empty: a line with the names of its columns is wanted", in->name);
    if (!s) s = read_header(c, &h, &b);
    h.dialect = b.dialect;
    if (!s) spot_csv_report(c, &b.dialect, in->name);
    if (!s) s = want_all(c, &h, columns, in->name);
    if (!s && b.records == 1 && b.at == b.end && b.start[1] == b.have)
        s = spot_fail(c, SPOT_INPUT, "{table.no_rows} %s has a header and no rows", in->name);
    if (!s) s = h.wanted == 1 ? read_column(c, a, &h, &b, how->limit) : read_matrix(c, a, &h, &b, how->limit);
    free(h.name);
    free(h.order);
    spot_csv_close(&b);
    if (!s) s = spot_lists_read(c, a, how);
    return s;
}
