/* bpe_clean.c - cleans a text before it is split into words. Spaces are left as they are: no later step looks at more than that
 * they part words. */
#include "formats/bpe_table.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unicase.h>
#include <unictype.h>
#include <uninorm.h>
#include <unistr.h>

#include "formats/html_text.h"

static bool is_ascii(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s[i] & 0x80) return false;
    return true;
}

static void need_bytes(spot_text *t, size_t n)
{
    if (n <= t->size) return;
    spot_text_free(t);
    t->bytes = malloc(n);
    t->size = t->bytes ? n : 0;
    if (!t->bytes) t->status = SPOT_NOMEM;
}

static void swap_texts(spot_text *a, spot_text *b)
{
    spot_text old = *a;

    *a = *b;
    *b = old;
}

static void add_char(spot_text *out, ucs4_t u)
{
    uint8_t bytes[6];

    spot_text_add(out, bytes, (size_t)u8_uctomb(bytes, u, sizeof bytes));
}

static ucs4_t char_at(const char *s, size_t n, size_t *bytes)
{
    ucs4_t u;

    *bytes = (size_t)u8_mbtouc_unsafe(&u, (const uint8_t *)s, n);
    return u;
}

/* Sets t to the n bytes that a function of libunistring made: in t's memory if that was large enough, else in its own. */
static void take_result(spot_text *t, uint8_t *made, size_t n)
{
    if (!made) {
        t->status = SPOT_NOMEM;
    } else if ((char *)made != t->bytes) {
        free(t->bytes);
        t->bytes = (char *)made;
        t->size = n;
    }
    t->used = made ? n : 0;
}

/* out = s in the normal form C, in which a letter and its accent are one character. No text grows to more than three times its
 * bytes. */
static void compose_text(spot_text *out, const char *s, size_t n)
{
    uint8_t *made;
    size_t room;

    need_bytes(out, 3 * n + 16);
    if (out->status) return;
    room = out->size;
    made = u8_normalize(UNINORM_NFC, (const uint8_t *)s, n, (uint8_t *)out->bytes, &room);
    take_result(out, made, room);
}

/* -- fast ---------------------------------------------------------------------------------------------------------- */

static void lower_ascii(spot_text *out, const char *s, size_t n)
{
    need_bytes(out, n + 1);
    if (out->status) return;
    for (size_t i = 0; i < n; i++) out->bytes[i] = (char)(s[i] >= 'A' && s[i] <= 'Z' ? s[i] | 32 : s[i]);
    out->used = n;
}

/* Whether the capital sigma at byte i ends a word: letters stand before it and not behind it, dots and accents aside. */
static bool ends_word(const char *s, size_t n, size_t i)
{
    size_t k = i, bytes = 0;
    bool before = false;

    while (k && !before) {
        do k--; while (k && (s[k] & 0xc0) == 0x80);
        ucs4_t u = char_at(s + k, n - k, &bytes);
        before = uc_is_property_cased(u) && !uc_is_property_case_ignorable(u);
        if (!before && !uc_is_property_case_ignorable(u)) return false;
    }
    char_at(s + i, n - i, &bytes);
    for (k = i + bytes; before && k < n; k += bytes) {
        ucs4_t u = char_at(s + k, n - k, &bytes);
        if (!uc_is_property_case_ignorable(u)) return !uc_is_property_cased(u);
    }
    return before;
}

/* Character by character; only U+0130 becomes two. sigma: a Greek sigma has its other form at the end of a word. */
static void lower_text(spot_text *out, const char *s, size_t n, bool sigma)
{
    out->used = 0;
    for (size_t i = 0, bytes; i < n; i += bytes) {
        ucs4_t u = char_at(s + i, n - i, &bytes);
        if (u == 0x3a3 && sigma) u = ends_word(s, n, i) ? 0x3c2 : 0x3c3;
        add_char(out, u == 0x130 ? 'i' : uc_tolower(u));
        if (u == 0x130) add_char(out, 0x307);
    }
}

static void clean_fast(spot_bpe_room *r, const char *text, size_t n)
{
    if (is_ascii(text, n)) {
        lower_ascii(&r->clean, text, n);
        return;
    }
    compose_text(&r->other, text, n);
    lower_text(&r->clean, r->other.bytes, r->other.used, false);
}

/* -- openai -------------------------------------------------------------------------------------------------------- */

/* ftfy takes apart ligatures and digraphs of Latin letters. */
static const struct { uint16_t from; const char *to; } ligatures[] = {
    { 0x132, "IJ" }, { 0x133, "ij" }, { 0x149, "'n" }, { 0x1c4, "D\xc5\xbd" }, { 0x1c5, "D\xc5\xbe" }, { 0x1c6, "d\xc5\xbe" },
    { 0x1c7, "LJ" }, { 0x1c8, "Lj" }, { 0x1c9, "lj" }, { 0x1ca, "NJ" }, { 0x1cb, "Nj" }, { 0x1cc, "nj" },
    { 0x1f1, "DZ" }, { 0x1f2, "Dz" }, { 0x1f3, "dz" }, { 0xfb00, "ff" }, { 0xfb01, "fi" }, { 0xfb02, "fl" },
    { 0xfb03, "ffi" }, { 0xfb04, "ffl" }, { 0xfb05, "\xc5\xbft" }, { 0xfb06, "st" },
};

static bool add_ligature(spot_text *out, ucs4_t u)
{
    for (size_t k = 0; k < sizeof ligatures / sizeof *ligatures; k++)
        if (ligatures[k].from == u) {
            spot_text_adds(out, ligatures[k].to);
            return true;
        }
    return false;
}

/* A character of full or half width in its usual one. */
static void add_usual_width(spot_text *out, ucs4_t u)
{
    uint8_t from[6], to[32];
    size_t n = (size_t)u8_uctomb(from, u, sizeof from), room = sizeof to;
    uint8_t *made = u8_normalize(UNINORM_NFKC, from, n, to, &room);

    if (!made) out->status = SPOT_NOMEM;
    else spot_text_add(out, made, room);
    if (made != to) free(made);
}

static bool is_removed(ucs4_t u)
{
    return u <= 8 || u == 0xb || (u >= 0xe && u <= 0x1f) || u == 0x7f || (u >= 0x206a && u <= 0x206f) || u == 0xfeff ||
           (u >= 0xfff9 && u <= 0xfffc);
}

static void add_fixed(spot_text *out, ucs4_t u)
{
    if (u >= 0x80 && u <= 0x9f) u = spot_html_windows[u - 0x80];
    if (u == 0x2bc || (u >= 0x2018 && u <= 0x201b)) add_char(out, '\'');
    else if (u >= 0x201c && u <= 0x201f) add_char(out, '"');
    else if (u == 0x3000) add_char(out, ' ');
    else if (u >= 0xff01 && u < 0xfff0) add_usual_width(out, u);
    else if (!add_ligature(out, u)) add_char(out, u);
}

/* Bytes of a terminal's escape sequence at s: ESC [ digits and semicolons, a letter. */
static size_t escape_at(const char *s, size_t n)
{
    size_t i = 2, bytes;

    if (n < 3 || s[0] != 27 || s[1] != '[') return 0;
    for (; i < n; i += bytes)
        if (s[i] == ';') bytes = 1;
        else if (!uc_is_general_category(char_at(s + i, n - i, &bytes), UC_DECIMAL_DIGIT_NUMBER)) break;
    return i < n && isalpha((unsigned char)s[i]) && !(s[i] & 0x80) ? i + 1 : 0;
}

/* ftfy's changes character by character. Line ends are spaces either way. */
static void fix_chars(spot_text *out, const char *s, size_t n)
{
    out->used = 0;
    for (size_t i = 0, bytes; i < n; i += bytes) add_fixed(out, char_at(s + i, n - i, &bytes));
}

static void remove_controls(spot_text *out, const char *s, size_t n)
{
    out->used = 0;
    for (size_t i = 0, bytes; i < n; i += bytes) {
        bytes = escape_at(s + i, n - i);
        if (bytes) continue;
        if (!is_removed(char_at(s + i, n - i, &bytes))) spot_text_add(out, s + i, bytes);
    }
}

/* A name in capitals that HTML lacks stands for its character's capital: &NTILDE; for that of &ntilde; */
static bool add_capital(spot_text *out, const char *s, size_t n)
{
    char name[SPOT_HTML_NAME], chars[8];
    uint8_t upper[64], *made;
    size_t bytes, room = sizeof upper;
    spot_text none = { 0 };

    if (n > sizeof name) return false;
    for (size_t i = 0; i < n; i++) {
        if (s[i] >= 'a' && s[i] <= 'z') return false;
        name[i] = (char)(s[i] >= 'A' && s[i] <= 'Z' ? s[i] | 32 : s[i]);
    }
    bytes = spot_html_reference(&none, s - 1, n + 1);      /* the part of it that is a name by itself */
    spot_text_free(&none);
    if (bytes) return false;
    bytes = spot_html_named(chars, name, n);
    if (!bytes) return false;
    made = u8_toupper((uint8_t *)chars, bytes, NULL, NULL, upper, &room);
    if (made) spot_text_add(out, made, room);
    else out->status = SPOT_NOMEM;
    if (made != upper) free(made);
    return true;
}

/* ftfy's own reading of references: those with a ';' only. s: at '&'. Returns the bytes that it replaced. */
static size_t replace_sure(spot_text *out, const char *s, size_t n)
{
    size_t number = n > 1 && s[1] == '#', i = 1 + number, used = out->used, bytes;
    char chars[8];

    while (i < n && i <= 24 + number && isalnum((unsigned char)s[i]) && !(s[i] & 0x80)) i++;
    if (i == 1 + number || i >= n || s[i] != ';') return 0;
    if (number) {
        bytes = spot_html_reference(out, s, i + 1);
        if (bytes == i + 1 && (out->used == used || out->bytes[used] != ';')) return bytes;
        out->used = used;
        return 0;
    }
    bytes = spot_html_named(chars, s + 1, i);
    if (bytes) spot_text_add(out, chars, bytes);
    return bytes || add_capital(out, s + 1, i) ? i + 1 : 0;
}

static void unescape_sure(spot_text *out, const char *s, size_t n)
{
    out->used = 0;
    for (size_t i = 0, bytes; i < n; i += bytes) {
        bytes = s[i] == '&' ? replace_sure(out, s + i, n - i) : 0;
        if (!bytes) spot_text_add(out, s + i, bytes = 1);
    }
}

/* Characters that a byte above 0x7f becomes in one of the ten encodings that ftfy looks for. */
static bool may_be_byte(ucs4_t u)
{
    return (u >= 0x80 && u < 0x2600) || u == 0xf8ff || u == 0xfb01 || u == 0xfb02 || u == 0xfffd;
}

/* Whether such a character stands for a byte behind which ftfy takes a space, or a '?', for a lost byte. */
static bool may_lead_space(ucs4_t u)
{
    static const uint16_t leads[] = {
        0xc2, 0xc3, 0xc5, 0xce, 0xd0, 0xd9, 0xe2, 0xe3, 0xf0, 0x100, 0x101, 0x102, 0x103, 0x106, 0x107, 0x110, 0x111, 0x11e,
        0x11f, 0x12a, 0x139, 0x141, 0x160, 0x161, 0x16e, 0x392, 0x393, 0x395, 0x39e, 0x3a0, 0x3a9, 0x3b2, 0x3b3, 0x3c0, 0x412,
        0x413, 0x415, 0x41e, 0x420, 0x429, 0x432, 0x433, 0x440, 0x2261, 0x2518, 0x251c, 0x252c, 0x253c, 0x2568, 0x256c,
    };
    for (size_t k = 0; k < sizeof leads / sizeof *leads; k++)
        if (leads[k] == u) return true;
    return false;
}

static bool is_doubtful(const char *s, size_t n)
{
    ucs4_t first = 0, before = 0;

    for (size_t i = 0, bytes; i < n; i += bytes) {
        ucs4_t u = char_at(s + i, n - i, &bytes);
        if (u >= 0x80 && u <= 0x9f) return true;
        if (may_be_byte(before) && (may_be_byte(u) || u == 0x1a)) return true;
        if (may_lead_space(before) && (u == ' ' || u == '?')) return true;
        if (may_be_byte(first) && before == '?' && may_be_byte(u)) return true;
        first = before;
        before = u;
    }
    return false;
}

/* One line: ftfy repeats its steps until nothing changes. The line is in r->clean, and so is the result. */
static void fix_line(spot_bpe_room *r, bool unescape)
{
    spot_text *line = &r->clean, *other = &r->other, before = { 0 };

    do {
        before.used = 0;
        spot_text_add(&before, line->bytes, line->used);
        if (unescape) {
            unescape_sure(other, line->bytes, line->used);
            swap_texts(line, other);
        }
        r->doubtful |= is_doubtful(line->bytes, line->used);
        fix_chars(other, line->bytes, line->used);
        remove_controls(line, other->bytes, other->used);
        compose_text(other, line->bytes, line->used);
        swap_texts(line, other);
    } while (!line->status && !other->status && !before.status &&
             (before.used != line->used || memcmp(before.bytes, line->bytes, line->used)));
    if (before.status) r->status = SPOT_NOMEM;
    spot_text_free(&before);
}

/* A '<' ends the replacing of references for the rest of the text, since the text may then be HTML. */
static void fix_lines(spot_bpe_room *r, spot_text *fixed, const char *text, size_t n)
{
    const char *end = text + n;
    bool unescape = true;

    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        size_t bytes = (size_t)((stop ? stop + 1 : end) - text);
        unescape = unescape && !memchr(text, '<', bytes);
        r->clean.used = 0;
        spot_text_add(&r->clean, text, bytes);
        fix_line(r, unescape);
        spot_text_add(fixed, r->clean.bytes, r->clean.used);
        text += bytes;
    }
}

/* Whether ftfy and HTML leave the text alone. */
static bool is_plain(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s[i] == '&' || (s[i] & 0x80) || is_removed((unsigned char)s[i])) return false;
    return true;
}

static void clean_openai(spot_bpe_room *r, const char *text, size_t n)
{
    spot_text fixed = { 0 };

    if (is_plain(text, n)) {
        lower_ascii(&r->clean, text, n);
        return;
    }
    fix_lines(r, &fixed, text, n);
    r->other.used = r->clean.used = 0;
    if (fixed.used) spot_html_unescape(&r->clean, fixed.bytes, fixed.used);
    if (r->clean.used) spot_html_unescape(&r->other, r->clean.bytes, r->clean.used);
    if (fixed.status || r->other.status) r->status = SPOT_NOMEM;
    spot_text_free(&fixed);
    lower_text(&r->clean, r->other.bytes, r->other.used, true);
}

void spot_bpe_clean(spot_bpe_profile profile, spot_bpe_room *r, const char *text, size_t n)
{
    if (profile == SPOT_BPE_FAST) clean_fast(r, text, n);
    else clean_openai(r, text, n);
    if (r->clean.status || r->other.status) {
        r->status = SPOT_NOMEM;
        r->clean.used = 0;
    }
}
