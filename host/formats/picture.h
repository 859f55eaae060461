/* picture.h - a picture from a file: PNG, JPEG, WebP, BMP, TIFF or GIF -> 8-bit RGB -> the square input of a network.
 *
 * Both steps give the same bytes as PIL and torchvision: Image.open(file).convert("RGB"), then Resize and CenterCrop. So
 * alpha is dropped, not blended; 16-bit colours lose their low byte; 16-bit greys above 255 become white (PIL 9's convert);
 * CMYK of a JPEG is inverted, as Adobe stores it; an EXIF orientation is ignored, as in torchvision's loader, or applied, as
 * by ImageOps.exif_transpose (EXIF's own tag; one in XMP is not read); that of a TIFF is always applied. Of several frames the
 * first is shown.
 *
 * The content decides the format, not the name. Headers are checked before use; a broken file is one sentence. */
#ifndef SPOTTER_PICTURE_H
#define SPOTTER_PICTURE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/formats.h"
#include "image/resize.h"

/* Limits that are checked before decoding. Pixels: PIL's limit, 2 * 89,478,485 (PIL warns from half of it). Scans: those of a
 * progressive JPEG, each of which may touch every pixel. */
enum { SPOT_PICTURE_PIXELS = 178956970, SPOT_PICTURE_BYTES = 1 << 29, SPOT_PICTURE_SCANS = 500,
       SPOT_PICTURE_CROP = 4096 };

/* Default limit of bytes for decoding: every picture that PIL opens fits, except the largest progressive CMYK. */
#define SPOT_PICTURE_MEMORY ((size_t)2 << 30)

/* Memory for decoding that threads share. The header of a picture gives the bytes that it needs. A picture that needs more than
 * `limit` is refused; any other waits until its bytes are free. So the refused pictures do not depend on the threads.
 * crop > 0: also counts the memory of fitting pictures to resize and crop. Where machine, control group or limit on addresses
 * leave less than the caller's limit, that is the limit, and a picture that needs more is SPOT_NOMEM: nobody leaves it out. */
typedef struct {
    size_t limit, used;
    const char *whose;         /* what the limit is of: "the machine"; NULL: of the caller */
    int resize, crop;
    pthread_mutex_t lock;
    pthread_cond_t  given_back;
} spot_picture_gate;

void spot_picture_gate_open (spot_picture_gate *g, size_t limit, int resize, int crop);
void spot_picture_gate_close(spot_picture_gate *g);

typedef struct { void *at; size_t size; } spot_room;   /* reusable memory that grows */

/* Zero it before the first picture, reuse it for the next ones, close it at the end. With a gate, give each picture back before
 * the thread waits for anything else. */
typedef struct {
    int       width, height;
    uint8_t  *rgb;                        /* (height, width, 3); NULL unless the last read succeeded */
    spot_room file, pixels, line, turned, taps;
    spot_picture_gate *gate;              /* NULL: no limit */
    size_t    held;                       /* bytes from the gate */
    size_t    work;                       /* bytes that the decoder may use besides file and pixels */
    spot_picture_reading reading;         /* set it before a read */
    int       orientation;                /* what EXIF says and the last read did not apply, 2 to 8; 1: nothing */
    int       matte;                      /* under a PNG's alpha: 1 white, 2 black; 0: nothing, alpha is dropped */
} spot_picture;

spot_status spot_picture_read  (spot_ctx *c, spot_picture *p, const char *path);
spot_status spot_picture_decode(spot_ctx *c, spot_picture *p, const uint8_t *file, size_t size, const char *name);
void        spot_picture_give_back(spot_picture *p);       /* with a gate: returns its bytes */
void        spot_picture_close (spot_picture *p);

/* count: begins to count pictures whose read left an orientation; nothing without memory. note: such a picture, which counts
 * once by its path. tell: logs their number, if any, and ends the counting. One thread. */
void spot_picture_count_rotated(spot_ctx *c);
void spot_picture_note_rotated (spot_ctx *c, const char *path);
void spot_picture_tell_rotated (spot_ctx *c);

/* A picture's size from its header, and the bytes of the file, the pixels, the decoder, and a copy of the
 * pixels that is turned. Only the file's bytes if it is no picture or has a broken header, which decoding reports. */
typedef struct { uint64_t width, height; size_t file, pixels, work, turned; } spot_picture_cost;

/* A picture by its header, without decoding: the stored size, and EXIF's orientation, 1 (upright, or not said) to 8. With 5 to
 * 8 it is meant to be shown height x width. SPOT_INPUT for a file that is no picture by its first bytes, or whose header has no
 * size. */
typedef struct {
    int  width, height, orientation;
    bool turns;                /* the orientation is a part of the format, a TIFF's: it is always applied */
} spot_picture_head;

spot_status spot_picture_head_of(spot_ctx *c, spot_picture_head *h, const char *path);

spot_status spot_picture_cost_of(spot_ctx *c, spot_picture_cost *cost, const spot_blob *in);

/* The bytes that a gate gives for such a picture. */
size_t spot_picture_bytes(const spot_picture_cost *cost, const spot_picture_reading *reading, int resize, int crop);

/* The bytes that c's threads take at once, at most, to decode n files of pictures, by their headers, and fit them to resize and
 * crop. A file that is no picture counts with its own bytes. */
size_t spot_pictures_bytes(spot_ctx *c, const char *const *path, int n, const spot_picture_reading *reading, int resize,
                           int crop);

/* Why a picture of width x height may not be the one of said_width x said_height that annotations mean, and what to do: words
 * behind a sentence with both sizes. */
const char *spot_picture_other_size(int width, int height, int said_width, int said_height);

/* out (crop, crop, 3): scales the shorter side to `resize` pixels (0: no scaling) and takes the middle; black where the picture
 * is smaller. The same bytes as torchvision's Resize(resize) and CenterCrop(crop) on PIL images. SPOT_RESIZE_SQUASH: both sides
 * become `crop`, PIL's resize((crop, crop), BILINEAR). */
spot_status spot_picture_fit(spot_ctx *c, uint8_t *out, spot_picture *p, int resize, int crop);

/* The same with another filter: SPOT_BICUBIC is CLIP's, Resize(resize, InterpolationMode.BICUBIC). */
spot_status spot_picture_fit_by(spot_ctx *c, uint8_t *out, spot_picture *p, int resize, int crop, spot_filter filter);

/* out becomes the part of p at box: x, y, width and height in pixels, from the upper left corner, outwards to whole pixels. It
 * ends at the border of p, and has at least one pixel, the nearest where the box lies outside. out holds it beside p, without a
 * gate. SPOT_INVALID: a box that is not finite. */
spot_status spot_picture_cut (spot_ctx *c, spot_picture *out, const spot_picture *p, const float box[4]);
spot_status spot_picture_keep(spot_ctx *c, spot_picture *p, const float box[4]);           /* p itself becomes its part */

size_t spot_picture_fit_bytes(uint64_t width, uint64_t height, int resize, int crop);      /* most memory that they need */

/* Decoders call these. room_need: room has at least `bytes`, contents undefined. gate_take: waits for the bytes of cost.
 * picture_start: allocates p->rgb for these pixels. picture_turn: applies p->orientation. */
spot_status spot_room_need    (spot_ctx *c, spot_room *room, size_t bytes);
spot_status spot_gate_take    (spot_ctx *c, spot_picture *p, const spot_picture_cost *cost, const char *name);
spot_status spot_picture_start(spot_ctx *c, spot_picture *p, uint64_t width, uint64_t height, const char *name);
spot_status spot_picture_turn (spot_ctx *c, spot_picture *p);

#endif
