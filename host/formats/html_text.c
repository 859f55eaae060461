/* html_text.c - references by number are read here; names are looked up in html_names.c. */
#include "formats/html_text.h"

#include <stdbool.h>
#include <string.h>
#include <unistr.h>

#include "formats/html_names.h"

/* -- names --------------------------------------------------------------------------------------------------------- */

/* The order of the bytes, as in the table. */
static int compare_entry(const char *entry, const char *name, size_t n)
{
    size_t length = strcspn(entry, "=");
    int order = memcmp(entry, name, length < n ? length : n);

    return order ? order : (length > n) - (length < n);
}

/* hex: "=c4 " or "=3c+20d2 ". */
static size_t add_hex(char *out, const char *hex)
{
    size_t bytes = 0;

    while (*hex == '=' || *hex == '+') {
        ucs4_t u = 0;
        for (hex++; *hex && !strchr(" +", *hex); hex++) u = u * 16 + (ucs4_t)(*hex <= '9' ? *hex - '0' : *hex - 'a' + 10);
        bytes += (size_t)u8_uctomb((uint8_t *)out + bytes, u, (ptrdiff_t)(8 - bytes));
    }
    return bytes;
}

size_t spot_html_named(char out[8], const char *name, size_t n)
{
    int low = 0, high = spot_html_lines;

    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (compare_entry(spot_html_line[middle], name, n) <= 0) low = middle;
        else high = middle;
    }
    for (const char *entry = spot_html_line[low]; *entry; entry += strcspn(entry, " "), entry += *entry == ' ')
        if (!compare_entry(entry, name, n)) return add_hex(out, entry + n);
    return 0;
}

/* -- numbers ------------------------------------------------------------------------------------------------------- */

const uint16_t spot_html_windows[32] = {
    0x20ac, 0x81, 0x201a, 0x192, 0x201e, 0x2026, 0x2020, 0x2021, 0x2c6, 0x2030, 0x160, 0x2039, 0x152, 0x8d, 0x17d, 0x8f,
    0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc, 0x2122, 0x161, 0x203a, 0x153, 0x9d, 0x17e, 0x178,
};

/* Characters that a number must not name; nothing takes their place. */
static bool is_forbidden(ucs4_t u)
{
    return (u >= 1 && u <= 8) || u == 0xb || (u >= 0xe && u <= 0x1f) || (u >= 0x7f && u <= 0x9f) ||
           (u >= 0xfdd0 && u <= 0xfdef) || (u & 0xfffe) == 0xfffe;
}

static void add_number(spot_text *out, ucs4_t u)
{
    uint8_t bytes[6];

    if (u >= 0x80 && u <= 0x9f) u = spot_html_windows[u - 0x80];
    else if (!u || (u >= 0xd800 && u <= 0xdfff) || u > 0x10ffff) u = 0xfffd;
    else if (is_forbidden(u)) return;
    spot_text_add(out, bytes, (size_t)u8_uctomb(bytes, u, sizeof bytes));
}

/* "&#" and digits. */
static size_t number_at(spot_text *out, const char *s, size_t n)
{
    bool hex = n > 2 && (s[2] | 32) == 'x';
    const char *digits = hex ? "0123456789abcdefABCDEF" : "0123456789";
    size_t first = hex ? 3 : 2, i = first;
    ucs4_t u = 0;

    for (; i < n && s[i] && strchr(digits, s[i]); i++) {
        unsigned digit = s[i] <= '9' ? (unsigned)(s[i] - '0') : (unsigned)((s[i] | 32) - 'a' + 10);
        if (u <= 0x10ffff) u = u * (hex ? 16 : 10) + digit;
    }
    if (i == first) return 0;
    add_number(out, u);
    return i + (i < n && s[i] == ';');
}

/* -- references ---------------------------------------------------------------------------------------------------- */

/* Bytes of what may be a name: up to 32 characters other than these, and a ';'. */
static size_t name_length(const char *s, size_t n)
{
    size_t i = 0;

    for (int chars = 0; i < n && chars < SPOT_HTML_NAME && !memchr("\t\n\f <&#;", s[i], 8); chars++)
        do i++; while (i < n && (s[i] & 0xc0) == 0x80);
    return i && i < n && s[i] == ';' ? i + 1 : i;
}

size_t spot_html_reference(spot_text *out, const char *s, size_t n)
{
    size_t length;

    if (n > 1 && s[1] == '#') return number_at(out, s, n);
    length = name_length(s + 1, n - 1);
    for (size_t k = length; k > 1 || (k && k == length); k--) {
        char chars[8];
        size_t bytes = spot_html_named(chars, s + 1, k);
        if (!bytes) continue;
        spot_text_add(out, chars, bytes);
        return 1 + k;
    }
    return 0;
}

void spot_html_unescape(spot_text *out, const char *s, size_t n)
{
    const char *end = s + n;

    while (s < end) {
        const char *mark = memchr(s, '&', (size_t)(end - s));
        size_t bytes;
        spot_text_add(out, s, (size_t)((mark ? mark : end) - s));
        if (!mark) return;
        bytes = spot_html_reference(out, mark, (size_t)(end - mark));
        if (!bytes) spot_text_add(out, mark, bytes = 1);
        s = mark + bytes;
    }
}
