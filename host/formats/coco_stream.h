/* coco_stream.h - JSON of COCO's files in pieces through yajl: little memory for a file of any length, and each byte has its
 * place in sentences. A byte order mark of UTF-8 at the start is passed over. */
#ifndef SPOTTER_COCO_STREAM_H
#define SPOTTER_COCO_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <yajl/yajl_parse.h>

#include "spotter/ctx.h"

typedef struct {
    spot_ctx   *c;
    const char *name;
    yajl_handle yajl;
    size_t      before, event;            /* bytes of earlier pieces; the byte of the last event: callbacks note it */
    spot_status status;                   /* of the first error, by a callback or by the stream */
    spot_status (*refuse)(void *user, size_t byte);     /* puts the place around the sentence of the failure in c */
    void       *user;
} spot_coco_stream;

/* open: name, user and refuse are set; callbacks get user. close: accepts one that was not opened. */
spot_status spot_coco_stream_open (spot_ctx *c, spot_coco_stream *s, const yajl_callbacks *on);
void        spot_coco_stream_close(spot_coco_stream *s);

/* Parse a file, or bytes, to the end. SPOT_INPUT: no JSON; the words NaN and Infinity, which Python writes, and UTF-16 are
 * named. A callback that returns 0 has set s->status. */
spot_status spot_coco_stream_file (spot_coco_stream *s, const char *path);
spot_status spot_coco_stream_bytes(spot_coco_stream *s, const uint8_t *json, size_t size);

size_t spot_coco_stream_at(const spot_coco_stream *s);         /* the byte behind the present event */

#endif
