/* csv_cells.c - see csv_cells.h. */
#include "formats/csv_cells.h"

spot_csv_cells spot_csv_cells_of(const char *from, const char *end, char separator)
{
    end--;
    if (end > from && end[-1] == '\r') end--;
    return (spot_csv_cells){ from, end, separator };
}

/* at is NULL after the last cell: a record that ends in a separator has one more, empty cell. */
int spot_csv_cell_next(spot_csv_cells *cells, spot_csv_cell *out)
{
    const char *p = cells->at, separator = cells->separator;

    if (!p) return 0;
    out->quoted = p < cells->end && *p == '"';
    if (!out->quoted) {
        for (out->text = p; p < cells->end && *p != separator; p++)
            if (*p == '"') return cells->at = p, -1;
        out->n = (size_t)(p - out->text);
    } else {
        for (out->text = ++p; p < cells->end; p++) {
            if (*p != '"') continue;
            if (p + 1 == cells->end || p[1] != '"') break;
            p++;
        }
        out->n = (size_t)(p - out->text);
        if (p == cells->end || (++p < cells->end && *p != separator)) return cells->at = p, -1;
    }
    cells->at = p < cells->end ? p + 1 : NULL;
    return 1;
}

size_t spot_csv_unquote(char *out, const spot_csv_cell *cell)
{
    size_t n = 0;

    for (size_t i = 0; i < cell->n; i++) {
        out[n++] = cell->text[i];
        i += cell->quoted && cell->text[i] == '"';
    }
    return n;
}
