/* mesh_parser_dae.c - texts in UTF-16, which assimp 5.2 reads wrongly; and Collada with blanks before its numbers. */
#include <stdint.h>
#include <stdlib.h>

#include "worlds/mesh_parser_ends.h"

static unsigned unit_at(const unsigned char *p, bool little) { return little ? p[0] | p[1] << 8 : p[0] << 8 | p[1]; }

/* Writes a character of UTF-8; returns its bytes. */
static size_t put_utf8(char *to, uint32_t v)
{
    if (v < 0x80) return *to = (char)v, 1;
    const size_t n = v < 0x800 ? 2 : v < 0x10000 ? 3 : 4;
    for (size_t i = n; --i; v >>= 6) to[i] = (char)(0x80 | (v & 0x3f));
    to[0] = (char)((0xf00u >> n & 0xf0) | v);
    return n;
}

/* UTF-16 behind its byte order mark -> UTF-8, at most 3 bytes for two of it. */
static size_t narrow(char *to, const unsigned char *text, size_t n)
{
    const bool little = text[0] == 0xff;
    size_t used = 0;

    for (size_t i = 2; i + 1 < n; i += 2) {
        const unsigned v = unit_at(text + i, little), next = i + 3 < n ? unit_at(text + i + 2, little) : 0;
        const bool pair = v >= 0xd800 && v < 0xdc00 && next >= 0xdc00 && next < 0xe000;
        used += put_utf8(to + used, pair ? 0x10000 + ((v - 0xd800) << 10) + (next - 0xdc00) : v);
        if (pair) i += 2;
    }
    return used;
}

char *spot_narrow(const char *text, size_t n, size_t *size)
{
    char *to = malloc(2 * n + 1);

    if (!to) return NULL;
    *size = narrow(to, (const unsigned char *)text, n);
    to[*size] = 0;
    return to;
}

static bool is_blank(char v) { return v == ' ' || v == '\t' || v == '\r' || v == '\n'; }

void spot_dae_mend(char *text, size_t *n)
{
    size_t used = 0;

    for (size_t i = 0; i < *n; i++)
        if (!used || text[used - 1] != '>' || !is_blank(text[i])) text[used++] = text[i];
    text[*n = used] = 0;
}
