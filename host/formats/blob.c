/* blob.c - bytes of a file or of memory, by position or as a stream. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/formats.h"

spot_status spot_blob_open(spot_ctx *c, spot_blob *s, const char *path)
{
    struct stat st;

    *s = (spot_blob){ .name = path, .fd = -1 };
    if (stat(path, &st)) return spot_fail(c, SPOT_IO, "{file.unopened} cannot open %s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))              /* before opening, because opening a pipe would wait */
        return spot_fail(c, SPOT_INPUT, "{file.no_data} %s is %s, not a file of data", path,
                         S_ISDIR(st.st_mode) ? "a folder" : "a device or a pipe");
    s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (s->fd < 0 || fstat(s->fd, &st)) {
        spot_fail(c, SPOT_IO, "{file.unopened} cannot open %s: %s", path, strerror(errno));
        spot_blob_close(s);
        return SPOT_IO;
    }
    s->size = (uint64_t)st.st_size;
    return SPOT_OK;
}

void spot_blob_close(spot_blob *s)
{
    if (s->name && !s->bytes && s->fd >= 0) close(s->fd);
    *s = (spot_blob){ .fd = -1 };
}

spot_blob spot_blob_memory(const void *bytes, size_t size, const char *name)
{
    return (spot_blob){ .name = name, .fd = -1, .bytes = bytes ? bytes : "", .size = size };
}

spot_status spot_blob_read(spot_ctx *c, const spot_blob *s, uint64_t at, void *out, size_t n)
{
    unsigned char *p = out;

    if (at > s->size || n > s->size - at)
        return spot_fail(c, SPOT_INPUT, "%s is cut short: it ends at byte %" PRIu64 ", and %zu bytes are wanted from byte %"
                         PRIu64, s->name, s->size, n, at);
    if (s->bytes) {
        if (n) memcpy(out, s->bytes + at, n);
        return SPOT_OK;
    }
    while (n) {
        ssize_t r = pread(s->fd, p, n < 1 << 30 ? n : 1 << 30, (off_t)at);
        if (r < 0 && errno == EINTR) continue;
        if (r < 0) return spot_fail(c, SPOT_IO, "cannot read %s at byte %" PRIu64 ": %s", s->name, at, strerror(errno));
        if (!r) return spot_fail(c, SPOT_INPUT, "%s became shorter while it was read: it ends at byte %" PRIu64, s->name, at);
        p += r;
        at += (uint64_t)r;
        n -= (size_t)r;
    }
    return SPOT_OK;
}

static spot_status take(spot_ctx *c, spot_stream *s, void *out, size_t n)
{
    SPOT_TRY(spot_blob_read(c, s->from, s->at, out, n));
    s->at += n;
    return SPOT_OK;
}

spot_stream spot_blob_stream(const spot_blob *s)
{
    return (spot_stream){ .name = s->name, .size = s->size, .take = take, .from = s };
}
