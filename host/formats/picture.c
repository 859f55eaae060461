/* picture.c - files and memory of pictures; png.c and jpeg.c know the formats. */
#define _POSIX_C_SOURCE 200809L
#include "formats/picture.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/jpeg.h"
#include "formats/png.h"

/* What a file is that is neither. */
static const char *kind(const uint8_t *file, size_t size)
{
    static const struct { const char *name; int at; const char *mark; } kinds[] = {
        { "a GIF", 0, "GIF8" }, { "a BMP", 0, "BM" }, { "a TIFF", 0, "II*" }, { "a TIFF", 0, "MM" },
        { "a WebP", 8, "WEBP" }, { "an AVIF or HEIF", 4, "ftyp" }, { "a PPM or its like", 0, "P" },
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t end = (size_t)kinds[i].at + strlen(kinds[i].mark);
        if (size >= end && !memcmp(file + kinds[i].at, kinds[i].mark, strlen(kinds[i].mark))) return kinds[i].name;
    }
    return size ? "something else" : "empty";
}

spot_status spot_picture_decode(spot_ctx *c, spot_picture *p, const uint8_t *file, size_t size, const char *name)
{
    spot_status s;

    if (size >= 8 && !memcmp(file, "\x89PNG\r\n\x1a\n", 8))
        s = spot_png_decode(c, p, file, size, name);
    else if (size >= 3 && !memcmp(file, "\xff\xd8\xff", 3))
        s = spot_jpeg_decode(c, p, file, size, name);
    else
        s = spot_fail(c, SPOT_INPUT, "%s is neither PNG nor JPEG: it is %s", name, kind(file, size));
    if (s) p->rgb = NULL;
    return s;
}

static spot_status read_whole(spot_ctx *c, spot_picture *p, int fd, const char *path, size_t *size)
{
    struct stat st;

    *size = 0;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) return spot_fail(c, SPOT_INPUT, "%s is no file", path);
    if (st.st_size > SPOT_PICTURE_BYTES)
        return spot_fail(c, SPOT_INPUT, "%s has %lld bytes; of a picture %d are read", path, (long long)st.st_size,
                         SPOT_PICTURE_BYTES);
    SPOT_TRY(spot_room_need(c, &p->file, (size_t)st.st_size + 1));
    while (*size < (size_t)st.st_size) {
        ssize_t got = read(fd, (char *)p->file.at + *size, (size_t)st.st_size - *size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return spot_fail(c, SPOT_IO, "cannot read %s: %s", path, strerror(errno));
        if (!got) break;
        *size += (size_t)got;
    }
    return SPOT_OK;
}

spot_status spot_picture_read(spot_ctx *c, spot_picture *p, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);    /* a pipe of that name must not hold us */
    size_t size;
    spot_status s;

    p->rgb = NULL;
    if (fd < 0) return spot_fail(c, SPOT_IO, "cannot read %s: %s", path, strerror(errno));
    s = read_whole(c, p, fd, path, &size);
    close(fd);
    return s ? s : spot_picture_decode(c, p, p->file.at, size, path);
}

void spot_picture_close(spot_picture *p)
{
    free(p->file.at);
    free(p->pixels.at);
    free(p->line.at);
    free(p->taps.at);
    memset(p, 0, sizeof *p);
}
