/* zip.h - the directory of a zip archive, as .npz needs it: what lies in it, where, how packed. Zip64 too.
 *
 * Refused: archives in several parts, encrypted members, ways of packing other than stored and deflated, two members of one
 * name, members that overlap, a directory that contradicts the members' own headers. */
#ifndef SPOTTER_ZIP_H
#define SPOTTER_ZIP_H

#include "formats/formats.h"

typedef struct {
    char    *name;
    uint64_t at, data, packed, size;       /* its header, its bytes, how many, how many once inflated */
    uint32_t crc;
    bool     deflated;
} spot_zip_member;

typedef struct {
    const spot_blob *in;
    int              count;
    spot_zip_member *member;               /* in the directory's order */
    void            *owned[2];
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
