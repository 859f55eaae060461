/* world.c - see world.h. */
#define _GNU_SOURCE                    /* syncfs */
#include "store/world.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "formats/png.h"
#include "store/store.h"

/* The settings as text, a line each. */
static spot_status describe(spot_ctx *c, spot_text *text, const char *world, const spot_setting *rows, const void *cfg)
{
    FILE *f = spot_text_stream(text);

    if (!f) return spot_fail(c, SPOT_NOMEM, "no memory for the settings of the %s", world);
    for (const spot_setting *s = rows; s->name; s++) {
        if (s->newer && spot_setting_is_default(s, (const char *)cfg + s->offset)) continue;
        fprintf(f, "%s: ", s->name);
        spot_setting_print(f, s, (const char *)cfg + s->offset);
        fputc('\n', f);
    }
    if (fclose(f) || text->status) return spot_fail(c, SPOT_NOMEM, "no memory for the settings of the %s", world);
    return SPOT_OK;
}

/* The first line, from *at on, that is not about a path; *at moves behind it. Returns its length; 0: there is none. */
static size_t next_line(const char **at, const char *end, const char **line, const spot_setting *rows)
{
    while (*at < end) {
        const char *stop = memchr(*at, '\n', (size_t)(end - *at));
        const char *colon = memchr(*at, ':', (size_t)((stop ? stop : end) - *at));
        const spot_setting *s = rows;
        *line = *at;
        *at = stop ? stop + 1 : end;
        while (colon && s->name && (strlen(s->name) != (size_t)(colon - *line) || memcmp(s->name, *line, strlen(s->name)))) s++;
        if (!colon || !s->name || s->affects != SPOT_AFFECTS_PATH) return (size_t)(*at - *line);
    }
    return 0;
}

/* A world goes on where its materials lie elsewhere now: what it made of them is there already. */
static bool are_same(const char *saved, size_t n, const char *here, size_t used, const spot_setting *rows)
{
    const char *a = saved, *b = here, *x = NULL, *y = NULL;
    size_t m, k;

    do {
        m = next_line(&a, saved + n, &x, rows);
        k = next_line(&b, here + used, &y, rows);
    } while (m && m == k && !memcmp(x, y, m));
    return !m && !k;
}

spot_status spot_world_claim(spot_ctx *c, const char *dir, const char *file, const char *world, const spot_setting *rows,
                             const void *cfg)
{
    char path[SPOT_WORLD_PATH];
    unsigned char *saved;
    spot_text text = { 0 };
    size_t n;
    spot_status s = describe(c, &text, world, rows, cfg);

    snprintf(path, sizeof path, "%s/%s", dir, file);
    if (!s && access(path, F_OK)) {
        s = spot_file_write(c, path, text.bytes, text.used);
    } else if (!s && !(s = spot_file_read(c, path, &saved, &n, 1 << 16))) {
        if (!are_same((const char *)saved, n, text.bytes, text.used, rows))
            s = spot_fail(c, SPOT_USAGE, "{world.other_settings} %s describes a %s of other settings; take another folder, or "
                          "remove %s", path, world, dir);
        free(saved);
    }
    spot_text_free(&text);
    if (!s) spot_folder_tidy(dir);
    return s;
}

/* Another shard may read the picture while this one writes the same bytes, so it is renamed into its place. */
spot_status spot_world_picture(spot_ctx *c, const char *path, const uint8_t *rgb, int size)
{
    unsigned char *png;
    size_t n;
    spot_status s;

    SPOT_TRY(spot_png_encode(c, &png, &n, rgb, size, size));
    s = spot_file_write_unsynced(c, path, png, n);
    free(png);
    return s;
}

spot_status spot_world_sync(spot_ctx *c, const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY), bad = fd < 0 || syncfs(fd);

    if (fd >= 0) close(fd);
    return bad ? spot_fail(c, SPOT_IO, "cannot write the pictures in %s to the disk: %s", dir, strerror(errno)) : SPOT_OK;
}
