/* csv_dialect.c - see csv_dialect.h. */
#include "formats/csv_dialect.h"

#include <string.h>

enum { FIRST_ROWS = 50 };

static const char separators[] = ",;\t";

/* The cells of a record; -1: a misplaced quote. */
static int count_cells(const spot_csv_block *b, int record, char separator)
{
    spot_csv_cells cells = spot_csv_record(b, record);
    spot_csv_cell cell;
    int n = 0, more;

    cells.separator = separator;
    while ((more = spot_csv_cell_next(&cells, &cell)) > 0) n++;
    return more < 0 ? -1 : n;
}

static char choose_separator(const spot_csv_block *b)
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

static bool choose_comma(const spot_csv_block *b)
{
    bool commas = false;
    spot_csv_cell cell;

    for (int i = 1; i < b->records; i++) {
        spot_csv_cells cells = spot_csv_record(b, i);
        while (spot_csv_cell_next(&cells, &cell) > 0) {
            if (has_point(&cell)) return false;
            commas = commas || find_comma(&cell);
        }
    }
    return commas;
}

void spot_csv_choose(spot_csv_block *b)
{
    if (!b->separator) b->separator = choose_separator(b);
    b->comma = b->separator != ',' && choose_comma(b);
}

void spot_csv_decimal_points(spot_csv_block *b)
{
    spot_csv_cell cell;

    for (int i = b->row ? 0 : 1; i < b->records; i++) {
        spot_csv_cells cells = spot_csv_record(b, i);
        while (spot_csv_cell_next(&cells, &cell) > 0) {
            const char *comma = find_comma(&cell);
            if (comma) b->bytes[comma - b->bytes] = '.';
        }
    }
}

void spot_csv_report(spot_ctx *c, const spot_csv_block *b)
{
    if (b->separator == ',' || !b->separator) return;
    spot_log(c, SPOT_LOG_INFO, "%s: read with %s between cells%s", b->in->name,
             b->separator == ';' ? "semicolons" : b->separator == '\t' ? "tabs" : "the separator of its first line",
             b->comma ? " and decimal commas" : "");
}

const char *spot_csv_suspicion(const char *only_name)
{
    return strchr(only_name, ';') ? "; are semicolons between its cells? then the first rows have other numbers of cells"
         : strchr(only_name, '\t') ? "; are tabs between its cells? then the first rows have other numbers of cells" : "";
}
