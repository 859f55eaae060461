/* text.c - see text.h. */
#define _GNU_SOURCE                    /* fopencookie, qsort_r */
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- growing byte buffers ---- */

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

static ssize_t write_text(void *user, const char *bytes, size_t n)
{
    spot_text *t = user;

    spot_text_add(t, bytes, n);
    return t->status ? 0 : (ssize_t)n;
}

FILE *spot_text_stream(spot_text *t) { return fopencookie(t, "w", (cookie_io_functions_t){ .write = write_text }); }

/* ---- words ---- */

static int compare_words(const void *a, const void *b, void *words)
{
    char *const *word = words;
    const int i = *(const int *)a, k = *(const int *)b, order = strcmp(word[i], word[k]);

    return order ? order : (i > k) - (i < k);
}

void spot_words_sort(int *order, char *const *word, int n)
{
    for (int i = 0; i < n; i++) order[i] = i;
    qsort_r(order, (size_t)n, sizeof *order, compare_words, (void *)(uintptr_t)word);
}

/* ---- UTF-8 ---- */

/* Not well-formed: truncated, overlong, a UTF-16 surrogate, beyond U+10FFFF. */
size_t spot_utf8_char(const char *text, size_t n)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t bytes = !n ? 0 : *s < 0x80 ? 1 : *s < 0xc2 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : *s < 0xf5 ? 4 : 0;

    if (bytes > n) return 0;
    for (size_t i = 1; i < bytes; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    if (bytes == 3 && ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f))) return 0;
    if (bytes == 4 && ((*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))) return 0;
    return bytes;
}

size_t spot_utf8(const char *text, size_t n)
{
    size_t i = 0, bytes;

    while (i < n && (bytes = spot_utf8_char(text + i, n - i))) i += bytes;
    return i;
}

void spot_text_visible(spot_text *t, const char *s)
{
    size_t left = strlen(s), n;
    char code[8];

    for (; left; s += n, left -= n) {
        bool control = (unsigned char)*s < 0x20 || *s == 0x7f;
        n = control ? 0 : spot_utf8_char(s, left);
        if (n) spot_text_add(t, s, n);
        else {
            spot_text_add(t, code, (size_t)snprintf(code, sizeof code, "\\x%02x", (unsigned char)*s));
            n = 1;
        }
    }
}

void spot_text_column(FILE *f, const char *s, int width)
{
    size_t left = strlen(s), n;

    for (; left && width; s += n, left -= n, width--) {
        n = (unsigned char)*s < 0x20 || *s == 0x7f ? 0 : spot_utf8_char(s, left);
        if (n) fwrite(s, 1, n, f);
        else fputc('?', f), n = 1;
    }
    fprintf(f, "%*s", width + 2, "");
}

void spot_text_utf8(spot_text *t, const char *s)
{
    size_t left = strlen(s), n;

    while ((n = spot_utf8(s, left)) < left) {
        spot_text_add(t, s, n);
        spot_text_adds(t, "\xef\xbf\xbd");
        s += n + 1;
        left -= n + 1;
    }
    spot_text_add(t, s, left);
}

/* ---- numbers ---- */

const char *spot_digits(char text[32], double v, int least)
{
    for (int digits = least; digits <= 17; digits++) {
        snprintf(text, 32, "%.*g", digits, v);
        if (strtod(text, NULL) == v) break;
    }
    return text;
}

/* ---- CSV ---- */

static bool is_formula(const char *text)
{
    char *end;

    if (!*text || !strchr("=+-@\t", *text)) return false;
    if (*text != '+' && *text != '-') return true;
    strtod(text, &end);
    return end == text || *end;
}

void spot_csv_quoted(FILE *f, const char *text)
{
    fputc('"', f);
    if (is_formula(text)) fputc('\'', f);
    for (; *text; text++) {
        if (*text == '"') fputc('"', f);
        fputc(*text, f);
    }
    fputc('"', f);
}

void spot_csv_field(FILE *f, const char *text)
{
    size_t n = strlen(text);
    bool quotes = n && (*text == ' ' || text[n - 1] == ' ' || text[strcspn(text, ",\"\r\n")]);

    if (quotes) spot_csv_quoted(f, text);
    else fprintf(f, "%s%s", is_formula(text) ? "'" : "", text);
}
