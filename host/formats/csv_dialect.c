/* csv_dialect.c - see csv_dialect.h. */
#include "formats/csv_dialect.h"

#include <string.h>

#include "formats/csv_cells.h"
#include "formats/formats.h"

enum { FIRST_ROWS = 50 };

static const char separators[] = ",;\t";

/* The first block. */
typedef struct { const char *bytes; const size_t *start; int records; } first_block;

static spot_csv_cells cells_of(const first_block *b, int record, char separator)
{
    return spot_csv_cells_of(b->bytes + b->start[record], b->bytes + b->start[record + 1], separator);
}

/* The cells of a record; -1: a misplaced quote. */
static int count_cells(const first_block *b, int record, char separator)
{
    spot_csv_cells cells = cells_of(b, record, separator);
    spot_csv_cell cell;
    int n = 0, more;

    while ((more = spot_csv_cell_next(&cells, &cell)) > 0) n++;
    return more < 0 ? -1 : n;
}

static char choose_separator(const first_block *b)
{
    char best = ',';
    int most = 1;

    for (const char *s = separators; *s && b->records; s++) {
        const int n = count_cells(b, 0, *s);
        int i = 1;
        while (i < b->records && i <= FIRST_ROWS && count_cells(b, i, *s) == n) i++;
        if (n > most && (i == b->records || i > FIRST_ROWS)) best = *s, most = n;
    }
    return best;
}

/* The decimal comma of a cell that is a number with one; NULL: it is none. */
static const char *find_comma(const spot_csv_cell *cell)
{
    const char *p = cell->text, *end = p + cell->n, *comma = NULL;
    int digits = 0;

    while (p < end && (*p == ' ' || *p == '\t')) p++;
    while (end > p && (end[-1] == ' ' || end[-1] == '\t')) end--;
    if (p < end && (*p == '-' || *p == '+')) p++;
    for (; p < end && ((*p >= '0' && *p <= '9') || (*p == ',' && !comma)); p++) {
        if (*p == ',') comma = p;
        else digits++;
    }
    if (p < end && digits && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '-' || *p == '+')) p++;
        if (p == end) return NULL;
        while (p < end && *p >= '0' && *p <= '9') p++;
    }
    return p == end && digits ? comma : NULL;
}

static bool has_point(const spot_csv_cell *cell)
{
    double v;

    return cell->n && memchr(cell->text, '.', cell->n) && spot_number(&v, cell->text, cell->n);
}

/* Whether the writer of the file puts all cells in quotes, numbers too. */
static bool quotes_all(const first_block *b, char separator)
{
    spot_csv_cell cell;

    for (int i = 1; i < b->records; i++) {
        spot_csv_cells cells = cells_of(b, i, separator);
        while (spot_csv_cell_next(&cells, &cell) > 0)
            if (cell.n && !cell.quoted) return false;
    }
    return true;
}

static bool choose_comma(const first_block *b, char separator)
{
    const bool quoted = quotes_all(b, separator);
    bool commas = false;
    spot_csv_cell cell;

    for (int i = 1; i < b->records; i++) {
        spot_csv_cells cells = cells_of(b, i, separator);
        while (spot_csv_cell_next(&cells, &cell) > 0) {
            if (cell.quoted && !quoted) continue;
            if (has_point(&cell)) return false;
            commas = commas || find_comma(&cell);
        }
    }
    return commas;
}

void spot_csv_choose(spot_csv_dialect *d, const char *bytes, const size_t *start, int records)
{
    const first_block b = { bytes, start, records };

    if (!d->separator) d->separator = choose_separator(&b);
    d->comma = d->separator != ',' && choose_comma(&b, d->separator);
}

bool spot_csv_take_number(const spot_csv_dialect *d, double *v, const char *text, size_t n)
{
    char copy[1100];           /* beyond it spot_number reads no number */
    const char *comma = d->comma && n < sizeof copy ? memchr(text, ',', n) : NULL;

    if (!comma) return spot_number(v, text, n);
    memcpy(copy, text, n);
    copy[comma - text] = '.';
    return spot_number(v, copy, n);
}

void spot_csv_report(spot_ctx *c, const spot_csv_dialect *d, const char *name)
{
    if (d->separator == ',' || !d->separator) return;
    spot_log(c, SPOT_LOG_INFO, "%s: read with %s between cells%s", name,
             d->separator == ';' ? "semicolons" : d->separator == '\t' ? "tabs" : "the separator of its first line",
             d->comma ? " and decimal commas" : "");
}

const char *spot_csv_suspicion(const char *only_name)
{
    return strchr(only_name, ';') ? "; are semicolons between its cells? then the first rows have other numbers of cells"
         : strchr(only_name, '\t') ? "; are tabs between its cells? then the first rows have other numbers of cells" : "";
}
