/* zip.h - reads a zip archive through libzip: its directory, and its members as streams. Zip64 too.
 *
 * Reads the spot_blob only and opens no other file. Refuses archives in several parts, encrypted members, compression other
 * than stored and deflated, duplicate names, overlapping members, a directory that contradicts the members' headers, and bytes
 * that do not match their size and checksum. Names only serve errors and comparisons: no member becomes a file, so a name
 * may hold "..". */
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
    spot_zip_member *member;               /* in directory order */
    zip_t           *archive;
    void            *source;
} spot_zip;

/* Close after success; `in` must outlive the archive. */
spot_status spot_zip_open (spot_ctx *c, spot_zip *z, const spot_blob *in);
void        spot_zip_close(spot_zip *z);

/* A member's bytes, inflated while they are read; finish compares their size and checksum with the directory. */
typedef struct spot_zip_stream spot_zip_stream;

spot_status spot_zip_stream_open  (spot_ctx *c, spot_zip_stream **s, spot_stream **stream, const spot_zip *z,
                                   const spot_zip_member *m);
spot_status spot_zip_stream_finish(spot_ctx *c, spot_zip_stream *s);
void        spot_zip_stream_close (spot_zip_stream *s);

#endif
