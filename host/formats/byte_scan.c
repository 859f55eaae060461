/* byte_scan.c - see byte_scan.h. */
#include "formats/byte_scan.h"

int spot_byte_next(spot_byte_scan *s)
{
    if (s->at >= s->in->size) return -1;
    if (s->at < s->from || s->at >= s->from + s->have) {
        uint64_t left = s->in->size - s->at;
        s->from = s->at;
        s->have = left < sizeof s->bytes ? (size_t)left : sizeof s->bytes;
        s->status = spot_blob_read(s->c, s->in, s->at, s->bytes, s->have);
        if (s->status) s->have = 0;
        if (s->status) return -1;
    }
    return s->bytes[s->at++ - s->from];
}

bool spot_byte_take(spot_byte_scan *s, uint8_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int b = spot_byte_next(s);
        if (b < 0) return false;
        out[i] = (uint8_t)b;
    }
    return true;
}
