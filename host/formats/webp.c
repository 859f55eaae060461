/* webp.c - see webp.h. libwebp decodes into the picture itself. */
#include "formats/webp.h"

#include <string.h>

#include <webp/decode.h>
#include <webp/demux.h>

/* The frame lies inside the canvas: libwebpdemux refuses others. */
static bool decode_frame(spot_picture *p, const WebPIterator *frame)
{
    const size_t row = 3 * (size_t)p->width, skip = row * (size_t)frame->y_offset + 3 * (size_t)frame->x_offset;

    if (frame->width != p->width || frame->height != p->height) memset(p->rgb, 0, row * (size_t)p->height);
    return frame->complete
        && WebPDecodeRGBInto(frame->fragment.bytes, frame->fragment.size, p->rgb + skip, row * (size_t)p->height - skip,
                             (int)row);
}

bool spot_webp_has_alpha(const uint8_t *file, size_t size)
{
    WebPBitstreamFeatures f;

    return WebPGetFeatures(file, size, &f) == VP8_STATUS_OK && f.has_alpha && !f.has_animation;
}

spot_status spot_webp_alpha(spot_ctx *c, spot_picture *p, const uint8_t *file, size_t size, const char *name)
{
    int width, height;
    uint8_t *rgba = WebPDecodeRGBA(file, size, &width, &height);
    spot_status s;

    if (!rgba) return spot_fail(c, SPOT_INPUT, "{webp.damaged} %s is no WebP that can be read: its pixels are damaged", name);
    s = spot_picture_start(c, p, (uint64_t)width, (uint64_t)height, name);
    for (size_t i = 0; s == SPOT_OK && i < (size_t)width * (size_t)height; i++) p->rgb[i] = rgba[4 * i + 3];
    WebPFree(rgba);
    return s;
}

spot_status spot_webp_decode(spot_ctx *c, spot_picture *p, const uint8_t *file, size_t size, const char *name)
{
    const WebPData data = { file, size };
    WebPDemuxer *demuxer = WebPDemux(&data);
    WebPIterator frame;
    spot_status s = SPOT_OK;

    if (!demuxer)
        return spot_fail(c, SPOT_INPUT, "{webp.damaged} %s is no WebP that can be read: it is damaged or cut short", name);
    s = spot_picture_start(c, p, WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_WIDTH),
                           WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_HEIGHT), name);
    if (!s && WebPDemuxGetFrame(demuxer, 1, &frame)) {
        if (!decode_frame(p, &frame))
            s = spot_fail(c, SPOT_INPUT, "{webp.damaged} %s is no WebP that can be read: its pixels are damaged", name);
        WebPDemuxReleaseIterator(&frame);
    } else if (!s) {
        s = spot_fail(c, SPOT_INPUT, "{webp.damaged} %s is no WebP that can be read: it has no picture", name);
    }
    WebPDemuxDelete(demuxer);
    return s;
}
