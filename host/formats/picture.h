/* picture.h - a picture that somebody took: a PNG or JPEG file -> 8-bit RGB -> the square that a network looks at.
 *
 * Both steps give the bytes that PIL and torchvision give: Image.open(file).convert("RGB"), then Resize and CenterCrop.
 * So alpha is dropped and not blended, 16-bit colours lose their low byte, 16-bit greys above 255 are white (PIL 9's
 * convert), CMYK is inverted as Adobe has it, and an EXIF orientation is not applied, as torchvision's loader does not.
 *
 * What a file is, its content says. Nothing of it is believed before it is checked; what is broken is one sentence. */
#ifndef SPOTTER_PICTURE_H
#define SPOTTER_PICTURE_H

#include <stddef.h>
#include <stdint.h>

#include "spotter/ctx.h"

/* More is refused before anything is decoded. Pixels: where PIL begins to warn of decompression bombs, 256 MiB of RGB.
 * Scans: of a progressive JPEG, each of which may touch every pixel. */
enum { SPOT_PICTURE_PIXELS = 89478485, SPOT_PICTURE_BYTES = 1 << 29, SPOT_PICTURE_SCANS = 500,
       SPOT_PICTURE_CROP = 4096 };

typedef struct { void *at; size_t size; } spot_room;   /* memory that grows and is used again */

/* Zeroed before its first use, and then one after another in the same memory; close it in the end. */
typedef struct {
    int       width, height;
    uint8_t  *rgb;                        /* (height, width, 3), NULL unless the last reading went well */
    spot_room file, pixels, line, taps;
} spot_picture;

spot_status spot_picture_read  (spot_ctx *c, spot_picture *p, const char *path);
spot_status spot_picture_decode(spot_ctx *c, spot_picture *p, const uint8_t *file, size_t size, const char *name);
void        spot_picture_close (spot_picture *p);

/* out (crop, crop, 3): the shorter side becomes `resize` pixels (0: all stays as it is), of that the middle is taken;
 * black where the picture is smaller. As torchvision's Resize(resize) and CenterCrop(crop) on PIL images, to the byte. */
spot_status spot_picture_fit(spot_ctx *c, uint8_t *out, spot_picture *p, int resize, int crop);

/* For those who decode. room has `bytes` afterwards, whose contents are undefined; start: p->rgb for that many pixels. */
spot_status spot_room_need    (spot_ctx *c, spot_room *room, size_t bytes);
spot_status spot_picture_start(spot_ctx *c, spot_picture *p, uint64_t width, uint64_t height, const char *name);

#endif
