/* zip_stream.c - the bytes of a zip's member. libzip gives the packed ones and zlib inflates them here, in pieces: libzip would
 * accept packed bytes behind the end of the deflated data, and more bytes than the directory says. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "formats/zip.h"

enum { PIECE = 1 << 18 };

struct spot_zip_stream {
    spot_stream stream;
    const spot_zip_member *m;
    zip_file_t *packed;
    uint64_t packed_at;                    /* packed bytes read */
    uint32_t crc;
    z_stream z;
    bool     ended;
    uint8_t  piece[PIECE];
};

static spot_status damaged(spot_ctx *c, const spot_zip_stream *s, const char *how)
{
    return spot_fail(c, SPOT_INPUT, "{zip.member_damaged} %s: %.80s is damaged near byte %" PRIu64 " of its packed bytes: %s",
                     s->stream.name, s->m->name, s->packed_at - s->z.avail_in, how);
}

static spot_status read_packed(spot_ctx *c, spot_zip_stream *s, void *out, size_t n)
{
    zip_int64_t got = zip_fread(s->packed, out, n);

    if (got > 0) s->packed_at += (uint64_t)got;
    if (got == (zip_int64_t)n) return SPOT_OK;
    return damaged(c, s, got < 0 ? zip_error_strerror(zip_file_get_error(s->packed)) : "its packed bytes end too early");
}

/* Up to n <= PIECE bytes more; *got fewer only where the member ends. */
static spot_status inflate_some(spot_ctx *c, spot_zip_stream *s, uint8_t *out, size_t n, size_t *got)
{
    *got = 0;
    while (*got < n && !s->ended) {
        uInt want = (uInt)(n - *got);
        int r;
        if (!s->z.avail_in) {
            uint64_t left = s->m->packed - s->packed_at;
            size_t more = left < PIECE ? (size_t)left : PIECE;
            if (!more) return damaged(c, s, "its packed bytes end too early");
            SPOT_TRY(read_packed(c, s, s->piece, more));
            s->z.next_in = s->piece;
            s->z.avail_in = (uInt)more;
        }
        s->z.next_out = out + *got;
        s->z.avail_out = want;
        r = inflate(&s->z, Z_NO_FLUSH);
        *got += want - s->z.avail_out;
        s->ended = r == Z_STREAM_END;
        if (r == Z_MEM_ERROR) return spot_fail(c, SPOT_NOMEM, "no memory to inflate %s", s->stream.name);
        if (r != Z_OK && r != Z_STREAM_END && r != Z_BUF_ERROR) return damaged(c, s, s->z.msg ? s->z.msg : "no deflated data");
    }
    return SPOT_OK;
}

static spot_status take(spot_ctx *c, spot_stream *stream, void *out, size_t n)
{
    spot_zip_stream *s = (spot_zip_stream *)stream;    /* its first member */
    unsigned char *p = out;

    while (n) {                                        /* summed while it is in the cache */
        size_t want = n < PIECE ? n : PIECE, got = want;
        if (s->m->deflated) SPOT_TRY(inflate_some(c, s, p, want, &got));
        else SPOT_TRY(read_packed(c, s, p, want));
        if (got < want) return damaged(c, s, "it inflates to fewer bytes than the directory says");
        s->crc = (uint32_t)crc32_z(s->crc, p, want);
        stream->at += want;
        p += want;
        n -= want;
    }
    return SPOT_OK;
}

spot_status spot_zip_stream_open(spot_ctx *c, spot_zip_stream **out, spot_stream **stream, const spot_zip *z,
                                 const spot_zip_member *m)
{
    spot_zip_stream *s = calloc(1, sizeof *s);

    if (!s || (m->deflated && inflateInit2(&s->z, -MAX_WBITS) != Z_OK)) {
        free(s);
        return spot_fail(c, SPOT_NOMEM, "no memory to inflate %s", z->in->name);
    }
    s->stream = (spot_stream){ .name = z->in->name, .size = m->size, .take = take };
    s->m = m;
    s->packed = zip_fopen_index(z->archive, (zip_uint64_t)(m - z->member), ZIP_FL_COMPRESSED);
    if (!s->packed) {
        spot_fail(c, SPOT_INPUT, "%s: %.80s cannot be read: %s", z->in->name, m->name, zip_strerror(z->archive));
        spot_zip_stream_close(s);
        return SPOT_INPUT;
    }
    *out = s;
    *stream = &s->stream;
    return SPOT_OK;
}

spot_status spot_zip_stream_finish(spot_ctx *c, spot_zip_stream *s)
{
    uint8_t more;
    size_t got = 0;

    if (s->m->deflated) SPOT_TRY(inflate_some(c, s, &more, 1, &got));
    if (got) return damaged(c, s, "it inflates to more bytes than the directory says");
    if (s->m->deflated && (s->z.avail_in || s->packed_at != s->m->packed))
        return damaged(c, s, "packed bytes are left over");
    if (s->crc != s->m->crc) return damaged(c, s, "its checksum (CRC-32) is another");
    return SPOT_OK;
}

void spot_zip_stream_close(spot_zip_stream *s)
{
    if (s->packed) zip_fclose(s->packed);
    if (s->m->deflated) inflateEnd(&s->z);
    free(s);
}
