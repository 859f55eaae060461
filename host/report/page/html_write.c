/* html_write.c - see html.h: base64, JSON, blocks. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "report/page/html.h"

void spot_text_base64(spot_text *t, const void *bytes, size_t n)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *b = bytes;
    char line[1024];
    size_t used = 0;

    for (size_t i = 0; i < n; i += 3) {
        unsigned v = (unsigned)b[i] << 16 | (i + 1 < n ? (unsigned)b[i + 1] << 8 : 0) | (i + 2 < n ? b[i + 2] : 0);
        line[used++] = digit[v >> 18];
        line[used++] = digit[v >> 12 & 63];
        line[used++] = i + 1 < n ? digit[v >> 6 & 63] : '=';
        line[used++] = i + 2 < n ? digit[v & 63] : '=';
        if (used == sizeof line) spot_text_add(t, line, used), used = 0;
    }
    spot_text_add(t, line, used);
}

/* ---- the JSON ---- */

void spot_page_real(spot_page *p, const char *key, double v) { spot_json_put_number(p->at, key, "%.6g", v); }

void spot_page_text(spot_page *p, const char *key, const char *v)
{
    spot_text visible = { 0 };

    if (v) spot_text_visible(&visible, v);
    spot_text_add(&visible, "", 1);
    if (visible.status) p->at->out.status = SPOT_NOMEM;
    else spot_json_put_text(p->at, key, v ? visible.bytes : NULL);
    spot_text_free(&visible);
}

void spot_page_print(spot_page *p, const char *key, const char *fmt, ...)
{
    char text[2048];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    spot_page_text(p, key, text);
}

/* ---- blocks ---- */

void spot_page_element(spot_page *p, char letter, int number, const void *bytes, size_t n)
{
    char head[80];

    snprintf(head, sizeof head, "<script type=\"text/plain\" id=\"%c%d\">", letter, number);
    spot_text_adds(&p->blocks, head);
    spot_text_base64(&p->blocks, bytes, n);
    spot_text_adds(&p->blocks, "</script>\n");
}

void spot_page_block(spot_page *p, const char *key, const void *bytes, size_t n)
{
    uLongf size = compressBound(n);
    Bytef *z = malloc(size);

    spot_json_put_int(p->at, key, p->count);
    if (!z || compress2(z, &size, bytes, n, Z_BEST_COMPRESSION) != Z_OK) p->blocks.status = SPOT_NOMEM;
    else spot_page_element(p, 'b', p->count++, z, size);
    free(z);
}

void spot_page_words(spot_page *p, const char *key, char *const *word, int n)
{
    spot_text all = { 0 };

    for (int i = 0; i < n; i++) {
        spot_text_visible(&all, word[i]);
        spot_text_adds(&all, "\n");
    }
    if (all.status) p->blocks.status = all.status;
    spot_page_block(p, key, n ? all.bytes : "", all.used);
    spot_text_free(&all);
}

void spot_page_ascending(spot_page *p, const char *key, const int *v, int n)
{
    int32_t *step = malloc(((size_t)n + 1) * sizeof *step);

    if (!step) { p->blocks.status = SPOT_NOMEM; return; }
    for (int i = 0; i < n; i++) step[i] = v[i] - (i ? v[i - 1] : 0);
    spot_page_block(p, key, step, (size_t)n * sizeof *step);
    free(step);
}

/* All x, then all y: this order deflates better. */
void spot_page_map(spot_page *p, const char *key, const float *at, int n, int d)
{
    int16_t *xy = calloc((size_t)n * 2 + 1, sizeof *xy);
    double low[2] = { INFINITY, INFINITY }, high[2] = { -INFINITY, -INFINITY }, reach = 0;

    if (!xy) { p->blocks.status = SPOT_NOMEM; return; }
    for (int k = 0; k < 2 && k < d; k++) {
        for (int i = 0; i < n; i++) {
            double v = at[(size_t)i * (size_t)d + (size_t)k];
            if (v < low[k]) low[k] = v;
            if (v > high[k]) high[k] = v;
        }
        if (high[k] - low[k] > reach) reach = high[k] - low[k];
    }
    for (int k = 0; k < 2 && k < d && reach > 0; k++)
        for (int i = 0; i < n; i++) {
            double v = (at[(size_t)i * (size_t)d + (size_t)k] - (low[k] + high[k]) / 2) / reach;
            xy[(size_t)k * (size_t)n + (size_t)i] = (int16_t)lrint(65534 * v);
        }
    spot_page_block(p, key, xy, (size_t)n * 2 * sizeof *xy);
    free(xy);
}

spot_status spot_page_figure(spot_page *p, int number, spot_plot *plot, const char *group)
{
    char *svg = NULL, title[sizeof plot->title];
    size_t n;
    spot_status s;

    memcpy(title, plot->title, sizeof title);
    plot->title[0] = 0;
    s = spot_plot_svg(p->c, &svg, &n, plot);
    if (s == SPOT_OK) {
        spot_page_element(p, 'f', number, svg, n);
        spot_json_object(p->at, NULL);
        spot_json_put_int(p->at, "element", number);
        if (group) spot_page_text(p, "group", group);
        spot_page_text(p, "title", title);
        if (group) spot_page_text(p, "alt", plot->panels ? plot->panel[0].title : "");
        spot_json_end(p->at);
    }
    free(svg);
    spot_plot_close(plot);
    return s;
}

uint8_t spot_page_confidence(double v) { return v > 0 ? (uint8_t)lrint(255 * (v < 1 ? v : 1)) : 0; }

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* The key of a row is its confidence, then its number. */
spot_status spot_worst_first(spot_ctx *c, int *row, int n, const uint8_t *at)
{
    int64_t *key = malloc(((size_t)n + 1) * sizeof *key);

    if (!key) return spot_fail(c, SPOT_NOMEM, "no memory to sort %d rows", n);
    for (int i = 0; i < n; i++) key[i] = (int64_t)at[row[i]] << 32 | row[i];
    qsort(key, (size_t)n, sizeof *key, by_number);
    for (int i = 0; i < n; i++) row[i] = (int)(key[i] & 0xffffffff);
    free(key);
    return SPOT_OK;
}
