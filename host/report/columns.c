/* columns.c - see columns.h. */
#include "report/columns.h"

#include <math.h>
#include <stdarg.h>

static bool left(const spot_columns *p, int column) { return !column || (column < 32 && p->left >> column & 1); }

void spot_cell(spot_columns *p, const char *fmt, ...)
{
    char text[256];
    int w, column = p->column++;
    va_list args;

    va_start(args, fmt);
    w = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (p->measuring) p->width[column] = w > p->width[column] ? w : p->width[column];
    else fprintf(p->f, "%s%*s", p->markdown ? "| " : column ? "  " : "",
                 left(p, column) ? -p->width[column] : p->width[column], text);
    if (!p->measuring && p->markdown) fputc(' ', p->f);
}

void spot_end_row(spot_columns *p)
{
    if (!p->measuring) fputs(p->markdown ? "|\n" : "\n", p->f);
    if (!p->measuring && p->markdown && p->head)
        for (int i = 0; i < p->column; i++) fprintf(p->f, left(p, i) ? "|:---%s" : "|---:%s", i + 1 < p->column ? "" : "|\n");
    p->head = false;
    p->column = 0;
}

void spot_cell_average(spot_columns *p, const spot_average *a)
{
    if (!a->n) spot_cell(p, "-");
    else if (isnan(a->se)) spot_cell(p, "%.3f (-)", a->mean);
    else spot_cell(p, "%.3f (%.3f)", a->mean, a->se);
}

void spot_cell_number(spot_columns *p, double v)
{
    if (isnan(v)) spot_cell(p, "-");
    else spot_cell(p, "%.3f", v);
}

void spot_columns_print(FILE *f, bool markdown, const char *title, void (*rows)(spot_columns *, const void *),
                        const void *user)
{
    spot_columns p = { .f = f, .markdown = markdown };

    fprintf(f, markdown ? "\n## %s\n\n" : "\n%s\n\n", title);
    for (int pass = 0; pass < 2; pass++) {
        p.measuring = !pass;
        p.head = true;
        rows(&p, user);
    }
}
