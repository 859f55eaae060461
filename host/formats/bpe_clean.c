/* bpe_clean.c - the form of a text in which its words are looked up, and texts that nobody meant so. */
#include "formats/bpe_table.h"

#include <stdlib.h>
#include <string.h>
#include <unicase.h>
#include <uninorm.h>
#include <unistr.h>

static void need_bytes(spot_text *t, size_t n)
{
    if (n <= t->size) return;
    spot_text_free(t);
    t->bytes = malloc(n);
    t->size = t->bytes ? n : 0;
    if (!t->bytes) t->status = SPOT_NOMEM;
}

static void add_char(spot_text *out, ucs4_t u)
{
    uint8_t bytes[6];

    spot_text_add(out, bytes, (size_t)u8_uctomb(bytes, u, sizeof bytes));
}

static void lower_ascii(spot_text *out, const char *s, size_t n)
{
    need_bytes(out, n + 1);
    if (out->status) return;
    for (size_t i = 0; i < n; i++) out->bytes[i] = (char)(s[i] >= 'A' && s[i] <= 'Z' ? s[i] | 32 : s[i]);
    out->used = n;
}

/* Character by character; only U+0130 becomes two. */
static void lower_text(spot_text *out, const char *s, size_t n)
{
    out->used = 0;
    for (size_t i = 0; i < n;) {
        ucs4_t u;
        i += (size_t)u8_mbtouc_unsafe(&u, (const uint8_t *)s + i, n - i);
        add_char(out, u == 0x130 ? 'i' : uc_tolower(u));
        if (u == 0x130) add_char(out, 0x307);
    }
}

/* out = s in the normal form C, in which a letter and its accent are one character. No text grows to more than three times its
 * bytes. */
static void compose_text(spot_text *out, const char *s, size_t n)
{
    uint8_t *made;

    need_bytes(out, 3 * n + 16);
    if (out->status) return;
    out->used = out->size;
    made = u8_normalize(UNINORM_NFC, (const uint8_t *)s, n, (uint8_t *)out->bytes, &out->used);
    if (!made) {
        out->status = SPOT_NOMEM;
    } else if ((char *)made != out->bytes) {      /* it did not fit, and libunistring took memory of its own */
        free(out->bytes);
        out->bytes = (char *)made;
        out->size = out->used;
    }
}

void spot_bpe_clean(spot_bpe_room *r, const char *text, size_t n)
{
    bool ascii = true;

    for (size_t i = 0; i < n; i++) ascii &= !(text[i] & 0x80);
    if (ascii) {
        lower_ascii(&r->clean, text, n);
    } else {
        compose_text(&r->composed, text, n);
        if (!r->composed.status) lower_text(&r->clean, r->composed.bytes, r->composed.used);
    }
    if (r->clean.status || r->composed.status) {
        r->status = SPOT_NOMEM;
        r->clean.used = 0;
    }
}

/* -- flaws ----------------------------------------------------------------------------------------------------------- */

/* Bytes of an HTML entity at s: &amp; &#39; &#x27; Its name is not looked up. */
static size_t entity_at(const char *s)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefABCDEF";
    const size_t from = s[1] != '#' ? 1 : (s[2] | 32) == 'x' ? 3 : 2;
    const size_t n = strspn(s + from, from == 1 ? letters : from == 3 ? letters + 52 : "0123456789");

    if (s[from + n] != ';' || n < (from == 1 ? 2 : 1) || n > 32) return 0;      /* R&D; is no entity */
    return from + n + 1;
}

size_t spot_bpe_flaw(const char *text, size_t n)
{
    size_t bad = spot_utf8(text, n);

    for (size_t i = 0; i < bad; i++) {
        const unsigned char *s = (const unsigned char *)text + i;
        if (*s == '&' && entity_at(text + i)) return i;
        if (*s == 0xc2 && s[1] < 0xa0) return i;
        if (*s == 0xef && s[1] == 0xbf && s[2] == 0xbd) return i;
    }
    return bad;
}

const char *spot_bpe_begin(char begin[SPOT_BPE_BEGIN], const char *text)
{
    snprintf(begin, SPOT_BPE_BEGIN, "%.40s%s", text, strlen(text) > 40 ? "..." : "");
    for (char *p = begin; *p; p++)
        if (*p & 0x80) *p = '?';      /* the cut may have split a character */
    return spot_plain(begin);
}

spot_status spot_bpe_check(spot_ctx *c, const char *where, const char *text)
{
    const size_t n = strlen(text), at = spot_bpe_flaw(text, n);
    char begin[SPOT_BPE_BEGIN];

    if (at == n) return SPOT_OK;
    spot_bpe_begin(begin, text);
    if (text[at] == '&')
        return spot_fail(c, SPOT_INPUT, "{text.html_entity} %s (\"%s\") has the HTML entity %.*s at its byte %zu; write the "
                         "character itself", where, begin, (int)entity_at(text + at), text + at, at);
    if (spot_utf8(text, n) == at)
        return spot_fail(c, SPOT_INPUT, "{text.utf8} %s (\"%s\") is not UTF-8 at its byte %zu; convert it first", where, begin,
                         at);
    return spot_fail(c, SPOT_INPUT, "{text.encoding} %s (\"%s\") has a character at its byte %zu that a wrong encoding left "
                     "behind; write the right one", where, begin, at);
}
