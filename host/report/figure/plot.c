/* plot.c - see plot.h: panels and marks in memory, and as CSV. plot_draw.c draws them. */
#include "report/figure/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "result/columns.h"

/* The array with room for one more, zeroed, in powers of two; without memory the array as it was. */
static void *add_one(spot_plot *p, void *array, int *count, size_t size)
{
    const int n = *count;
    void *more = p->status ? NULL : n && (n & (n - 1)) ? array : realloc(array, (n ? 2 * (size_t)n : 1) * size);

    if (!more) {
        p->status = SPOT_NOMEM;
        return array;
    }
    memset((char *)more + (size_t)(*count)++ * size, 0, size);
    return more;
}

/* Copies as many whole characters as fit: cairo draws nothing more after a text that is not UTF-8. */
static void copy_text(char *out, size_t size, const char *text)
{
    const size_t length = strlen(text);
    size_t used = 0, n;

    while ((n = spot_utf8_char(text + used, length - used)) && used + n < size) used += n;
    memcpy(out, text, used);
    out[used] = 0;
}

/* Adds one element to an array of the plot and yields its address, or that of a zeroed scratch. */
#define ADD(p, array, count, scratch) ((p)->array = add_one(p, (p)->array, &(p)->count, sizeof *(p)->array), \
                                       memset(&(scratch), 0, sizeof(scratch)), \
                                       (p)->status ? &(scratch) : &(p)->array[(p)->count - 1])

void spot_plot_open(spot_plot *p, int across, double width, double height, const char *title)
{
    memset(p, 0, sizeof *p);
    p->across = across;
    p->width = width;
    p->height = height;
    snprintf(p->title, sizeof p->title, "%s", title);
}

static void set_axis(char *words, size_t size, spot_quantity_unit *unit, const spot_quantity *q)
{
    if (!q) return;
    copy_text(words, size, q->label ? q->label : q->title);
    *unit = q->unit;
}

spot_plot_panel *spot_plot_add_panel(spot_plot *p, const char *title, const spot_quantity *x, const spot_quantity *y)
{
    spot_plot_panel *new = ADD(p, panel, panels, p->no_panel);

    copy_text(new->title, sizeof new->title, title);
    set_axis(new->x, sizeof new->x, &new->xunit, x);
    set_axis(new->y, sizeof new->y, &new->yunit, y);
    new->xhigh = new->yhigh = 1;
    new->first = p->marks;
    new->first_row = p->rows;
    return new;
}

spot_plot_mark *spot_plot_add_mark(spot_plot *p, spot_mark_kind kind, int style, const char *series)
{
    spot_plot_mark *new = ADD(p, mark, marks, p->no_mark);

    new->kind = kind;
    new->style = style;
    new->from = p->dots;
    new->x = new->y = new->xlow = new->xhigh = new->ylow = new->yhigh = NAN;
    copy_text(new->series, sizeof new->series, series);
    if (!p->status) p->panel[p->panels - 1].marks++;
    return new;
}

void spot_plot_at(spot_plot_mark *m, const spot_quantity *x, const spot_quantity *y, const void *row)
{
    const spot_quantity_value v = spot_quantity_of(x, row), w = spot_quantity_of(y, row);

    m->x = v.value, m->xlow = v.low, m->xhigh = v.high;
    m->y = w.value, m->ylow = w.low, m->yhigh = w.high;
}

void spot_plot_add_dot(spot_plot *p, double x, double y)
{
    spot_dot scratch, *new = ADD(p, dot, dots, scratch);

    *new = (spot_dot){ x, y };
    if (!p->status) p->mark[p->marks - 1].n++;
}

void spot_plot_add_row(spot_plot *p, const char *name)
{
    char scratch[SPOT_PLOT_NAME], (*new)[SPOT_PLOT_NAME] = ADD(p, row, rows, scratch);

    copy_text(*new, sizeof *new, name);
    if (!p->status) p->panel[p->panels - 1].rows++;
}

void spot_plot_add_entry(spot_plot *p, const char *name, spot_mark_kind kind, int style, spot_plot_look look)
{
    spot_plot_entry scratch, *new = ADD(p, entry, entries, scratch);

    *new = (spot_plot_entry){ .kind = kind, .style = style, .look = look };
    copy_text(new->name, sizeof new->name, name);
}

void spot_plot_close(spot_plot *p)
{
    free(p->panel), free(p->mark), free(p->dot), free(p->entry), free(p->row);
    memset(p, 0, sizeof *p);
}

/* ---- CSV ---- */

static void csv_mark(FILE *f, const spot_plot *p, const spot_plot_panel *a, const spot_plot_mark *m, double x, double y,
                     const char *begin)
{
    const double ends[2][2] = { { m->xlow, m->xhigh }, { m->ylow, m->yhigh } }, at[2] = { x, y };
    const int row = a->rows ? (int)lrint(y) : -1;

    fputs(begin, f);
    spot_csv_text(f, a->title, ",");
    spot_csv_text(f, m->series, ",");
    spot_csv_text(f, row >= 0 && row < a->rows ? p->row[a->first_row + row] : m->label, ",");
    for (int k = 0; k < 2; k++) {
        spot_csv_number(f, k && row >= 0 ? NAN : at[k], ",");
        spot_csv_number(f, ends[k][0], ",");
        spot_csv_number(f, ends[k][1], k ? "\n" : ",");
    }
}

static void csv_cells(FILE *f, const spot_plot_panel *a, const spot_plot_mark *m, const char *begin)
{
    for (int y = 0; y < m->grid; y++)
        for (int x = 0; x < m->grid; x++) {
            const double at[2] = { a->xlow + (a->xhigh - a->xlow) * (x + 0.5) / m->grid,
                                   a->ylow + (a->yhigh - a->ylow) * (y + 0.5) / m->grid };
            fputs(begin, f);
            spot_csv_text(f, a->title, ",");
            spot_csv_text(f, m->series, ",");
            spot_csv_number(f, m->cell[(size_t)y * (size_t)m->grid + (size_t)x], ",");
            spot_csv_number(f, at[0], ",,,");
            spot_csv_number(f, at[1], ",,\n");
        }
}

void spot_plot_csv(FILE *f, const spot_plot *p, const char *begin)
{
    for (int i = 0; i < p->panels; i++) {
        const spot_plot_panel *a = &p->panel[i];
        for (int k = a->first; k < a->first + a->marks; k++) {
            const spot_plot_mark *m = &p->mark[k];
            if (m->kind == SPOT_MARK_AREA) continue;
            if (m->kind == SPOT_MARK_CELLS) {
                csv_cells(f, a, m, begin);
                continue;
            }
            for (int d = 0; d < m->n; d++) csv_mark(f, p, a, m, p->dot[m->from + d].x, p->dot[m->from + d].y, begin);
            if (!m->n) csv_mark(f, p, a, m, m->x, m->y, begin);
        }
    }
}
