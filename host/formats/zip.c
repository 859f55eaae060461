/* zip.c - reads a zip's directory from its end, as the format wants it (APPNOTE 6.3), and believes none of it unseen. */
#define _GNU_SOURCE
#include "formats/zip.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LOCAL = 30, CENTRAL = 46, END = 22, LOCATOR = 20, END64 = 56, MAX_DIRECTORY = 64 << 20, COMMENT = 65535 };
enum { STORED = 0, DEFLATED = 8, ENCRYPTED = 1, STRONGLY = 64, MASKED = 8192 };

static uint32_t u16(const uint8_t *p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8; }
static uint32_t u32(const uint8_t *p) { return u16(p) | u16(p + 2) << 16; }
static uint64_t u64(const uint8_t *p) { return u32(p) | (uint64_t)u32(p + 4) << 32; }

/* Where the directory lies: found from the end, behind which only a comment of stated length may stand. */
typedef struct { uint64_t at, size, count, end; } directory;

/* Zip64 says in a record before the end what does not fit there. */
static spot_status find_wide(spot_ctx *c, directory *d, const spot_blob *in, uint64_t end)
{
    uint8_t locator[LOCATOR], wide[END64];
    uint64_t at;

    if (end < LOCATOR) return SPOT_OK;
    SPOT_TRY(spot_blob_read(c, in, end - LOCATOR, locator, LOCATOR));
    if (memcmp(locator, "PK\6\7", 4)) return SPOT_OK;
    at = u64(locator + 8);
    if (at > end - LOCATOR || end - LOCATOR - at < END64)
        return spot_fail(c, SPOT_INPUT, "%s: the zip64 record does not lie before byte %" PRIu64, in->name, end - LOCATOR);
    SPOT_TRY(spot_blob_read(c, in, at, wide, END64));
    if (memcmp(wide, "PK\6\6", 4) || u32(locator + 16) > 1 || u32(wide + 16) || u32(wide + 20))
        return spot_fail(c, SPOT_INPUT, "%s: no zip64 record of an archive in one part at byte %" PRIu64, in->name, at);
    *d = (directory){ u64(wide + 48), u64(wide + 40), u64(wide + 32), at };
    return SPOT_OK;
}

static spot_status find_directory(spot_ctx *c, directory *d, const spot_blob *in)
{
    size_t n = in->size < END + COMMENT ? (size_t)in->size : END + COMMENT, i = n < END ? 0 : n - END + 1;
    uint8_t *tail = malloc(n + 1);
    uint64_t from = in->size - n;
    spot_status s;

    if (!tail) return spot_fail(c, SPOT_NOMEM, "no memory for the end of %s", in->name);
    s = spot_blob_read(c, in, from, tail, n);
    while (!s && i && (memcmp(tail + i - 1, "PK\5\6", 4) || i - 1 + END + u16(tail + i - 1 + 20) != n)) i--;
    if (!s && !i)
        s = spot_fail(c, SPOT_INPUT, "%s: no directory of a zip archive at its end (byte %" PRIu64 "); cut short?", in->name,
                      in->size);
    if (!s) {
        const uint8_t *end = tail + i - 1;
        *d = (directory){ u32(end + 16), u32(end + 12), u16(end + 10), from + i - 1 };
        if (u16(end + 4) || u16(end + 6) || u16(end + 8) != u16(end + 10))
            s = spot_fail(c, SPOT_INPUT, "%s is an archive in several parts", in->name);
    }
    free(tail);
    if (!s) s = find_wide(c, d, in, d->end);
    if (!s && (d->at > d->end || d->size != d->end - d->at || d->size > MAX_DIRECTORY || d->count > d->size / CENTRAL))
        s = spot_fail(c, SPOT_INPUT, "%s: a directory of %" PRIu64 " bytes for %" PRIu64 " members at byte %" PRIu64 " does "
                      "not end at byte %" PRIu64 " where it should", in->name, d->size, d->count, d->at, d->end);
    return s;
}

/* Sizes that do not fit into 32 bits stand in an extra field, in this order, each only where it is needed. */
static bool widen(spot_zip_member *m, const uint8_t *extra, size_t n)
{
    uint64_t *value[] = { &m->size, &m->packed, &m->at };

    for (size_t i = 0; n - i >= 4; i += 4 + u16(extra + i + 2)) {
        size_t length = u16(extra + i + 2), at = i + 4;
        if (length > n - at) return false;
        if (u16(extra + i) != 1) continue;
        for (int k = 0; k < 3; k++) {
            if (*value[k] != UINT32_MAX) continue;
            if (length < 8) return false;
            *value[k] = u64(extra + at);
            at += 8;
            length -= 8;
        }
        return true;
    }
    return true;
}

/* An entry of the directory at p, of which n bytes are left; its length, 0 where it is none. */
static size_t read_entry(spot_zip_member *m, unsigned *flags, unsigned *method, const uint8_t *p, size_t n, char *name)
{
    size_t length, extra;

    if (n < CENTRAL || memcmp(p, "PK\1\2", 4)) return 0;
    length = u16(p + 28);
    extra = u16(p + 30);
    if (n - CENTRAL < length + extra + u16(p + 32) || memchr(p + CENTRAL, 0, length)) return 0;
    *flags = u16(p + 8);
    *method = u16(p + 10);
    *m = (spot_zip_member){ .name = name, .crc = u32(p + 16), .packed = u32(p + 20), .size = u32(p + 24), .at = u32(p + 42),
                            .deflated = *method == DEFLATED };
    memcpy(name, p + CENTRAL, length);
    name[length] = 0;
    if (u16(p + 34) || !widen(m, p + CENTRAL + length, extra)) return 0;
    return CENTRAL + length + extra + u16(p + 32);
}

/* The header before a member's bytes must agree with the directory, and the bytes must end before `before`. */
static spot_status find_data(spot_ctx *c, const spot_zip *z, spot_zip_member *m, uint64_t before)
{
    const char *file = z->in->name;
    uint8_t head[LOCAL];
    size_t length = strlen(m->name);
    char *name;
    bool same;

    SPOT_TRY(spot_blob_read(c, z->in, m->at, head, LOCAL));
    if (memcmp(head, "PK\3\4", 4) || u16(head + 26) != length || u16(head + 8) != (m->deflated ? DEFLATED : STORED))
        return spot_fail(c, SPOT_INPUT, "%s: at byte %" PRIu64 " no header of %.80s as the directory has it", file, m->at,
                         m->name);
    name = malloc(length + 1);
    if (!name) return spot_fail(c, SPOT_NOMEM, "no memory for a name in %s", file);
    same = spot_blob_read(c, z->in, m->at + LOCAL, name, length) == SPOT_OK && !memcmp(name, m->name, length);
    free(name);
    m->data = m->at + LOCAL + length + u16(head + 28);
    if (!same) return spot_fail(c, SPOT_INPUT, "%s: the header at byte %" PRIu64 " is not that of %.80s", file, m->at, m->name);
    if (m->data > before || m->packed > before - m->data)
        return spot_fail(c, SPOT_INPUT, "%s: the %" PRIu64 " bytes of %.80s from byte %" PRIu64 " on overlap what begins at "
                         "byte %" PRIu64, file, m->packed, m->name, m->data, before);
    if (m->deflated ? m->size / 1032 > m->packed : m->size != m->packed)   /* no 1 byte deflates more than 1032 */
        return spot_fail(c, SPOT_INPUT, "%s: %.80s cannot have %" PRIu64 " bytes, of %" PRIu64 " packed ones", file, m->name,
                         m->size, m->packed);
    return SPOT_OK;
}

static int by_place(const void *a, const void *b)
{
    const spot_zip_member *x = *(spot_zip_member *const *)a, *y = *(spot_zip_member *const *)b;

    return (x->at > y->at) - (x->at < y->at);
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(spot_zip_member *const *)a)->name, (*(spot_zip_member *const *)b)->name);
}

static spot_status check_members(spot_ctx *c, const spot_zip *z, spot_zip_member **order, uint64_t end)
{
    for (int i = 0; i < z->count; i++) order[i] = &z->member[i];
    qsort(order, (size_t)z->count, sizeof *order, by_place);
    for (int i = 0; i < z->count; i++) {
        uint64_t before = i + 1 < z->count ? order[i + 1]->at : end;
        SPOT_TRY(find_data(c, z, order[i], before));
    }
    qsort(order, (size_t)z->count, sizeof *order, by_name);
    for (int i = 1; i < z->count; i++)
        if (!by_name(&order[i - 1], &order[i]))
            return spot_fail(c, SPOT_INPUT, "%s: %.80s is there twice", z->in->name, order[i]->name);
    return SPOT_OK;
}

static spot_status read_directory(spot_ctx *c, spot_zip *z, const directory *d, const uint8_t *bytes)
{
    char *name = z->owned[1];
    size_t at = 0;

    for (; (uint64_t)z->count < d->count; z->count++) {
        spot_zip_member *m = &z->member[z->count];
        unsigned flags = 0, method = 0;
        size_t n = read_entry(m, &flags, &method, bytes + at, (size_t)d->size - at, name);
        if (!n)
            return spot_fail(c, SPOT_INPUT, "%s: entry %d of its directory, at byte %" PRIu64 ", is none", z->in->name,
                             z->count, d->at + at);
        if (flags & (ENCRYPTED | STRONGLY | MASKED))
            return spot_fail(c, SPOT_INPUT, "%s: %.80s is encrypted; save it without a password", z->in->name, m->name);
        if (method != STORED && method != DEFLATED)
            return spot_fail(c, SPOT_INPUT, "%s: %.80s is packed in way %u; save it with numpy.savez or savez_compressed",
                             z->in->name, m->name, method);
        name += strlen(name) + 1;
        at += n;
    }
    if (at != d->size)
        return spot_fail(c, SPOT_INPUT, "%s: its directory has %" PRIu64 " bytes more than its %d members need", z->in->name,
                         d->size - at, z->count);
    return SPOT_OK;
}

spot_status spot_zip_open(spot_ctx *c, spot_zip *z, const spot_blob *in)
{
    directory d = { 0 };
    uint8_t *bytes;
    spot_zip_member **order;
    spot_status s;

    *z = (spot_zip){ .in = in };
    SPOT_TRY(find_directory(c, &d, in));
    bytes = malloc((size_t)d.size + 1);
    order = malloc(((size_t)d.count + 1) * sizeof *order);
    z->member = z->owned[0] = calloc((size_t)d.count + 1, sizeof *z->member);
    z->owned[1] = malloc((size_t)d.size + 1);          /* names: each with its NUL shorter than its entry */
    s = bytes && order && z->owned[0] && z->owned[1] ? SPOT_OK
      : spot_fail(c, SPOT_NOMEM, "no memory for the directory of %s", in->name);
    if (!s) s = spot_blob_read(c, in, d.at, bytes, (size_t)d.size);
    if (!s) s = read_directory(c, z, &d, bytes);
    if (!s) s = check_members(c, z, order, d.at);
    free(bytes);
    free(order);
    if (s) spot_zip_close(z);
    return s;
}

void spot_zip_close(spot_zip *z)
{
    free(z->owned[0]);
    free(z->owned[1]);
    *z = (spot_zip){ 0 };
}
