/* html_write.c - see html.h: bytes that grow, JSON, blocks. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "report/page/html.h"

void spot_text_add(spot_text *t, const void *bytes, size_t n)
{
    if (t->status || !n) return;
    if (t->used + n > t->size) {
        size_t size = (t->used + n) * 3 / 2 + 4096;
        char *more = realloc(t->bytes, size);
        if (!more) { t->status = SPOT_NOMEM; return; }
        t->bytes = more;
        t->size = size;
    }
    memcpy(t->bytes + t->used, bytes, n);
    t->used += n;
}

void spot_text_adds(spot_text *t, const char *words) { spot_text_add(t, words, strlen(words)); }

void spot_text_free(spot_text *t)
{
    free(t->bytes);
    *t = (spot_text){ 0 };
}

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

/* Bytes of the UTF-8 character at s; 0: it is none (cut, overlong, a surrogate, beyond U+10FFFF). */
static int utf8(const unsigned char *s)
{
    int n = *s < 0x80 ? 1 : *s < 0xc2 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : *s < 0xf5 ? 4 : 0;

    for (int i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    if (n == 3 && ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f))) return 0;
    if (n == 4 && ((*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))) return 0;
    return n;
}

void spot_text_visible(spot_text *t, const char *s)
{
    char code[8];

    for (const unsigned char *b = (const unsigned char *)s; *b;) {
        int n = utf8(b);
        if (n == 1 && (*b < 0x20 || *b == 0x7f)) n = 0;
        if (n) spot_text_add(t, b, (size_t)n);
        else snprintf(code, sizeof code, "\\x%02x", *b), spot_text_adds(t, code);
        b += n ? n : 1;
    }
}

/* ---- the JSON ---- */

/* The last byte tells whether a comma is due: a value never ends in a bracket that opens, or in a colon. */
static void key_of(spot_page *p, const char *key)
{
    spot_text *t = &p->what;

    if (t->used && !strchr("{[:", t->bytes[t->used - 1])) spot_text_adds(t, ",");
    if (!key) return;
    spot_text_adds(t, "\"");
    spot_text_adds(t, key);
    spot_text_adds(t, "\":");
}

void spot_page_open(spot_page *p, const char *key, char bracket)
{
    key_of(p, key);
    spot_text_add(&p->what, &bracket, 1);
}

void spot_page_close(spot_page *p, char bracket) { spot_text_add(&p->what, &bracket, 1); }

void spot_page_int(spot_page *p, const char *key, long long v)
{
    char text[32];

    key_of(p, key);
    snprintf(text, sizeof text, "%lld", v);
    spot_text_adds(&p->what, text);
}

void spot_page_real(spot_page *p, const char *key, double v)
{
    char text[32];

    key_of(p, key);
    snprintf(text, sizeof text, "%.6g", v);
    spot_text_adds(&p->what, isfinite(v) ? text : "null");
}

/* < as \u003c: no text ends the element that the JSON stands in, or begins a comment there. */
static void quote(spot_text *t, const char *s, size_t n)
{
    char code[8];

    spot_text_adds(t, "\"");
    for (size_t i = 0; i < n; i++) {
        if (!strchr("<>&\"\\", s[i])) { spot_text_add(t, s + i, 1); continue; }
        snprintf(code, sizeof code, "\\u%04x", (unsigned char)s[i]);
        spot_text_adds(t, code);
    }
    spot_text_adds(t, "\"");
}

void spot_page_text(spot_page *p, const char *key, const char *v)
{
    spot_text visible = { 0 };

    key_of(p, key);
    if (!v) { spot_text_adds(&p->what, "null"); return; }
    spot_text_visible(&visible, v);
    if (visible.status) p->what.status = visible.status;
    quote(&p->what, visible.bytes, visible.used);
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

void spot_page_block(spot_page *p, const char *key, const void *bytes, size_t n)
{
    uLongf size = compressBound(n);
    Bytef *z = malloc(size);
    char head[80];

    spot_page_int(p, key, p->count);
    if (!z || compress2(z, &size, bytes, n, Z_BEST_COMPRESSION) != Z_OK) p->blocks.status = SPOT_NOMEM;
    else {
        snprintf(head, sizeof head, "<script type=\"text/plain\" id=\"b%d\">", p->count++);
        spot_text_adds(&p->blocks, head);
        spot_text_base64(&p->blocks, z, size);
        spot_text_adds(&p->blocks, "</script>\n");
    }
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

/* All x, then all y: deflate sees more order in them apart. */
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

uint8_t spot_page_confidence(double v) { return v > 0 ? (uint8_t)lrint(255 * (v < 1 ? v : 1)) : 0; }

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* The key of a row is its confidence before its number, which for rows that ascend is their order. */
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
