/* byte_scan.h - the bytes of a blob from a place on, one after the other: for headers, which are read before their file is. */
#ifndef SPOTTER_BYTE_SCAN_H
#define SPOTTER_BYTE_SCAN_H

#include "formats/formats.h"

/* Set c, in and at; `at` may be moved at any time. */
typedef struct {
    spot_ctx *c;
    const spot_blob *in;
    uint64_t  at, from;        /* the next byte; where `bytes` begin in the blob */
    size_t    have;
    uint8_t   bytes[512];
    spot_status status;        /* of the last read */
} spot_byte_scan;

int  spot_byte_next(spot_byte_scan *s);                                    /* -1 at the end, and after a failed read */
bool spot_byte_take(spot_byte_scan *s, uint8_t *out, size_t n);            /* false where fewer are left */

static inline uint32_t spot_big_u16(const uint8_t *p) { return (uint32_t)p[0] << 8 | p[1]; }
static inline uint32_t spot_big_u32(const uint8_t *p) { return spot_big_u16(p) << 16 | spot_big_u16(p + 2); }
static inline uint32_t spot_little_u16(const uint8_t *p) { return (uint32_t)p[1] << 8 | p[0]; }
static inline uint32_t spot_little_u32(const uint8_t *p) { return spot_little_u16(p + 2) << 16 | spot_little_u16(p); }

#endif
