/* columns.c - see columns.h. */
#include "result/columns.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/text.h"

/* ---- text ---- */

static bool is_first_byte(char byte) { return ((unsigned char)byte & 0xc0) != 0x80; }      /* UTF-8 */

int spot_text_width(const char *text)
{
    int n = 0;

    for (; *text; text++) n += is_first_byte(*text);
    return n;
}

static const char *skip_characters(const char *text, int characters)
{
    for (; *text && (characters > 0 || !is_first_byte(*text)); text++) characters -= is_first_byte(*text) && characters > 0;
    return text;
}

const char *spot_shorten(spot_short_name text, const char *name) { return spot_shorten_to(text, name, SPOT_LONG_NAME); }

const char *spot_shorten_to(spot_short_name text, const char *name, int most)
{
    int all = spot_text_width(name), head = (most - 1) / 2, tail = most - 1 - head;
    const char *rest = skip_characters(name, head);

    if (all <= most) snprintf(text, sizeof(spot_short_name), "%s", name);
    else snprintf(text, sizeof(spot_short_name), "%.*s…%s", (int)(rest - name), name, skip_characters(name, all - tail));
    return text;
}

void spot_note(FILE *f, bool markdown, const char *fmt, ...)
{
    char text[4096], *at = text;
    int used = 0;
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    spot_plain(text);
    if (markdown) fprintf(f, "- %s\n", text);
    while (*at && !markdown) {
        size_t word = strcspn(at, " ");
        bool last = !at[word];
        at[word] = 0;
        if (used && used + 1 + spot_text_width(at) > SPOT_PAGE) used = fprintf(f, "\n  ") - 1;
        else if (used) used += fprintf(f, " ");
        used += spot_text_width(at);
        fputs(at, f);
        at += word + !last;
    }
    if (!markdown) fputc('\n', f);
}

void spot_csv_text(FILE *f, const char *text, const char *end)
{
    spot_csv_quoted(f, text);
    fputs(end, f);
}

void spot_csv_number(FILE *f, double v, const char *end)
{
    if (!isnan(v)) fprintf(f, "%.9g", v);
    fputs(end, f);
}

/* ---- cells ---- */

static bool is_left(const spot_columns *p, int column) { return (!column && !p->numbered) || p->left >> column & 1; }

/* Number of columns that every part repeats: the left-aligned ones at the left. */
static int count_keys(const spot_columns *p)
{
    int n = 1;

    while (n < p->columns && is_left(p, n)) n++;
    return n;
}

/* A bar ends a cell. */
void spot_text_markdown(char *to, size_t size, const char *text)
{
    size_t n = 0;

    for (; *text && n + 3 < size; text++) {
        if (*text == '|' || *text == '<' || (*text == ']' && text[1] == '(')) to[n++] = '\\';
        to[n++] = *text;
    }
    to[n] = 0;
}

void spot_cell(spot_columns *p, const char *fmt, ...)
{
    char plain[256], text[512];
    int w, pad, column = p->column++;
    va_list args;

    va_start(args, fmt);
    vsnprintf(plain, sizeof plain, fmt, args);
    va_end(args);
    spot_plain(plain);
    if (p->markdown) spot_text_markdown(text, sizeof text, plain);
    else memcpy(text, plain, sizeof plain);
    w = spot_text_width(text);
    if (p->measuring) {
        if (w > p->width[column]) p->width[column] = w;
        if (column >= p->columns) p->columns = column + 1;
        return;
    }
    if (column >= count_keys(p) && (column < p->from || column >= p->to)) return;
    pad = p->width[column] - w;
    fprintf(p->f, "%s%*s%s%*s%s", p->markdown ? "| " : column ? "  " : "", is_left(p, column) ? 0 : pad, "", text,
            is_left(p, column) ? pad : 0, "", p->markdown ? " " : "");
}

void spot_end_row(spot_columns *p)
{
    if (!p->measuring) fputs(p->markdown ? "|\n" : "\n", p->f);
    if (!p->measuring && p->markdown && p->head)
        for (int i = 0; i < p->column; i++)
            fprintf(p->f, is_left(p, i) ? "|:---%s" : "|---:%s", i + 1 < p->column ? "" : "|\n");
    p->head = false;
    p->column = 0;
}

void spot_cell_join(spot_columns *p) { p->joined |= (uint64_t)1 << p->column; }

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

void spot_cell_name(spot_columns *p, int number, const char *name)
{
    spot_short_name shorter;

    if (!p->markdown) name = spot_shorten(shorter, name);
    if (number) spot_cell(p, "%d %s", number, name);
    else spot_cell(p, "%s", name);
}

/* ---- the table ---- */

/* The end of the part that begins with p->from: as many columns as fit on the page; joined columns stay together. */
static int end_of_part(const spot_columns *p)
{
    int used = -2, end = p->from;

    for (int i = 0; i < count_keys(p); i++) used += p->width[i] + 2;
    while (end < p->columns) {
        int next = end;
        do used += p->width[next++] + 2;
        while (next < p->columns && p->joined >> next & 1);
        if (used > (p->page ? p->page : SPOT_PAGE) && end > p->from && !p->markdown) break;
        end = next;
    }
    return end;
}

void spot_columns_print(FILE *f, bool markdown, const char *title, void (*rows)(spot_columns *, const void *),
                        const void *user)
{
    spot_columns p = { .f = f, .markdown = markdown, .measuring = true };

    if (title) fprintf(f, markdown ? "\n## %s\n" : "\n%s\n", title);
    rows(&p, user);
    p.measuring = false;
    for (p.from = count_keys(&p); p.from < p.columns; p.from = p.to, p.part++) {
        p.to = end_of_part(&p);
        p.head = true;
        if (title || p.part) fputc('\n', f);
        rows(&p, user);
    }
}
