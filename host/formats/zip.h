/* zip.h - a zip archive through libzip: what lies in it, and its members as streams. Zip64 too.
 *
 * The archive is read through a spot_blob and nothing else is ever opened. Refused: archives in several parts, encrypted
 * members, compression other than stored and deflated, two members of one name, members that overlap, a directory that
 * contradicts the members' own headers, sizes and checksums that are not those of the bytes. Names are bytes for sentences
 * and comparisons: nothing is unpacked, so a name may hold "..". */
#ifndef SPOTTER_ZIP_H
#define SPOTTER_ZIP_H

#include <zip.h>

#include "formats/formats.h"

typedef struct {
    const char *name;
    uint64_t    packed, size;              /* bytes in the file, and inflated */
    uint32_t    crc;
    bool        deflated;
} spot_zip_member;

typedef struct {
    const spot_blob *in;
    int              count;
    spot_zip_member *member;               /* in the directory's order */
    zip_t           *archive;
    void            *source;
} spot_zip;

/* Close after success; in must live as long. */
spot_status spot_zip_open (spot_ctx *c, spot_zip *z, const spot_blob *in);
void        spot_zip_close(spot_zip *z);

/* A member's bytes, inflated as they are taken; finish compares what came with what the directory promised. */
typedef struct spot_zip_stream spot_zip_stream;

spot_status spot_zip_stream_open  (spot_ctx *c, spot_zip_stream **s, spot_stream **stream, const spot_zip *z,
                                   const spot_zip_member *m);
spot_status spot_zip_stream_finish(spot_ctx *c, spot_zip_stream *s);
void        spot_zip_stream_close (spot_zip_stream *s);

#endif
