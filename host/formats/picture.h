/* picture.h - a picture that somebody took: a PNG or JPEG file -> 8-bit RGB -> the square that a network looks at.
 *
 * Both steps give the bytes that PIL and torchvision give: Image.open(file).convert("RGB"), then Resize and CenterCrop.
 * So alpha is dropped and not blended, 16-bit colours lose their low byte, 16-bit greys above 255 are white (PIL 9's
 * convert), CMYK is inverted as Adobe has it, and an EXIF orientation is not applied, as torchvision's loader does not.
 *
 * What a file is, its content says. Nothing of it is believed before it is checked; what is broken is one sentence. */
#ifndef SPOTTER_PICTURE_H
#define SPOTTER_PICTURE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/formats.h"

/* More is refused before anything is decoded. Pixels: as PIL, which refuses above 2 * 89,478,485 (and warns from half of that
 * on). Scans: of a progressive JPEG, each of which may touch every pixel. */
enum { SPOT_PICTURE_PIXELS = 178956970, SPOT_PICTURE_BYTES = 1 << 29, SPOT_PICTURE_SCANS = 500,
       SPOT_PICTURE_CROP = 4096 };

/* Bytes for decoding where nobody sets a limit: every picture that PIL opens fits, but for the largest progressive CMYK. */
#define SPOT_PICTURE_MEMORY ((size_t)2 << 30)

/* Memory for decoding that threads share. Before a picture is read, the bytes that it takes are known from its header. Where
 * they exceed `limit`, the picture is refused; else it waits until they are free. So which pictures are refused depends on
 * no thread. crop > 0: pictures are fit to resize and crop, which takes memory, too. */
typedef struct {
    size_t limit, used;
    int resize, crop;
    pthread_mutex_t lock;
    pthread_cond_t  given_back;
} spot_picture_gate;

void spot_picture_gate_open (spot_picture_gate *g, size_t limit, int resize, int crop);
void spot_picture_gate_close(spot_picture_gate *g);

typedef struct { void *at; size_t size; } spot_room;   /* memory that grows and is used again */

/* Zeroed before its first use, and then one after another in the same memory; close it in the end. With a gate, give each
 * picture back before the thread waits for anything else. */
typedef struct {
    int       width, height;
    uint8_t  *rgb;                        /* (height, width, 3), NULL unless the last reading went well */
    spot_room file, pixels, line, taps;
    spot_picture_gate *gate;              /* NULL: nothing is limited */
    size_t    held;                       /* bytes that the gate gave */
    size_t    work;                       /* bytes that the decoder may take beside file and pixels */
} spot_picture;

spot_status spot_picture_read  (spot_ctx *c, spot_picture *p, const char *path);
spot_status spot_picture_decode(spot_ctx *c, spot_picture *p, const uint8_t *file, size_t size, const char *name);
void        spot_picture_give_back(spot_picture *p);       /* frees it for others where there is a gate */
void        spot_picture_close (spot_picture *p);

/* What a header says, and the bytes that follow from it: the file, its pixels, the decoder's. Of a file that is no picture or
 * whose header is broken, which decoding will say: the file alone. */
typedef struct { uint64_t width, height; size_t file, pixels, work; } spot_picture_cost;

spot_status spot_picture_cost_of(spot_ctx *c, spot_picture_cost *cost, const spot_blob *in);

/* out (crop, crop, 3): the shorter side becomes `resize` pixels (0: all stays as it is), of that the middle is taken;
 * black where the picture is smaller. As torchvision's Resize(resize) and CenterCrop(crop) on PIL images, to the byte. */
spot_status spot_picture_fit(spot_ctx *c, uint8_t *out, spot_picture *p, int resize, int crop);

size_t spot_picture_fit_bytes(uint64_t width, uint64_t height, int resize, int crop);      /* that it takes, at most */

/* For those who decode. room has `bytes` afterwards, whose contents are undefined; start: p->rgb for that many pixels. */
spot_status spot_room_need    (spot_ctx *c, spot_room *room, size_t bytes);
spot_status spot_gate_take    (spot_ctx *c, spot_picture *p, const spot_picture_cost *cost, const char *name);
spot_status spot_picture_start(spot_ctx *c, spot_picture *p, uint64_t width, uint64_t height, const char *name);

#endif
