/* pixels.c - a picture's pixels, from its own file or from the pixel cache. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "worlds/pictures.h"
#include "worlds/source_draw.h"

/* Centres the picture in a black square of its longer side, as the authors' released transform does. */
static spot_status pad_to_square(spot_ctx *c, spot_picture *square, const spot_picture *p)
{
    int side = p->width > p->height ? p->width : p->height;
    size_t left = (size_t)(side - p->width) / 2, top = (size_t)(side - p->height) / 2, line = 3 * (size_t)p->width;

    SPOT_TRY(spot_picture_start(c, square, (uint64_t)side, (uint64_t)side, "a square around a picture"));
    memset(square->rgb, 0, 3 * (size_t)side * (size_t)side);
    for (size_t y = 0; y < (size_t)p->height; y++)
        memcpy(square->rgb + 3 * ((top + y) * (size_t)side + left), p->rgb + y * line, line);
    return SPOT_OK;
}

spot_status spot_photo_decode(spot_ctx *c, uint8_t *rgb, const spot_photos *p, int row, spot_decode_buffers *d)
{
    int size = p->cfg.size;
    char path[SPOT_PHOTO_PATH];

    spot_photo_path(p, p->use[row], path);
    SPOT_TRY(spot_picture_read(c, &d->picture, path));
    if (p->cfg.fit == SPOT_FIT_CROP || d->picture.width == d->picture.height)
        return spot_picture_fit(c, rgb, &d->picture, size, size);
    SPOT_TRY(pad_to_square(c, &d->square, &d->picture));
    return spot_picture_fit(c, rgb, &d->square, size, size);
}

void spot_decode_buffers_close(spot_decode_buffers *d)
{
    spot_picture_close(&d->picture);
    spot_picture_close(&d->square);
}

void spot_photos_pixel_cache(spot_photos *p, int fd, uint64_t *checksum)
{
    p->fd = fd;
    p->checksum = checksum;
}

static spot_status read_pixel_cache(spot_ctx *c, uint8_t *rgb, const spot_photos *p, int row)
{
    size_t bytes = 3 * (size_t)p->cfg.size * (size_t)p->cfg.size;
    ssize_t got = pread(p->fd, rgb, bytes, (off_t)((size_t)row * bytes));

    if (got < 0) return spot_fail(c, SPOT_IO, "cannot read the pixels of picture %d: %s", row, strerror(errno));
    if ((size_t)got == bytes && XXH3_64bits(rgb, bytes) == p->checksum[row]) return SPOT_OK;
    return spot_fail(c, SPOT_IO, "{pixel_cache.damaged} the pixels of picture %d in the run's cache are damaged; remove the "
                     "file *.album there", row);
}

spot_status spot_photo_row(spot_ctx *c, uint8_t *rgb, const spot_photos *p, int row)
{
    spot_decode_buffers d = { 0 };
    spot_status s;

    if (p->fd >= 0) return read_pixel_cache(c, rgb, p, row);
    s = spot_photo_decode(c, rgb, p, row, &d);
    spot_decode_buffers_close(&d);
    return s;
}

spot_status spot_photo_pixels(spot_ctx *c, uint8_t *rgb, const spot_image *image, const spot_ec *ec)
{
    const spot_photos *p = ec->photos;

    return spot_photo_row(c, rgb, p, p->row[p->task[ec->task].picture[image->split][image->index]]);
}
