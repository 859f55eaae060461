/* scene_files.c - see scene_files.h. */
#include "worlds/scene_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "formats/png.h"
#include "spotter/config.h"

enum { PATH = 1200 };

spot_status spot_scene_picture(spot_ctx *c, const char *dir, const spot_ec *ec, spot_split split, uint32_t index,
                              spot_image *image, uint8_t *rgb, char file[32])
{
    const int size = ec->scene.size;
    char path[PATH];
    unsigned char *png;
    spot_status how;
    size_t n;

    snprintf(file, 32, "%s-%06u.png", spot_split_name(split), index);
    snprintf(path, sizeof path, "%s/%s", dir, file);
    SPOT_TRY(spot_image_picture(c, image, rgb, ec, split, index));
    SPOT_TRY(spot_png_encode(c, &png, &n, rgb, size, size));
    how = spot_file_write_unsynced(c, path, png, n);       /* it can be drawn again, and 600 waits for a disk take seconds */
    free(png);
    return how;
}

static spot_status write_rows(spot_ctx *c, const char *dir, const spot_ec *ec, spot_split split, const int *index, int n,
                              FILE *table)
{
    const size_t bytes = (size_t)ec->scene.size * (size_t)ec->scene.size * 3;
    uint8_t *rgb = malloc(bytes);
    spot_status how = rgb ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for an image of %zu bytes", bytes);
    spot_image image;
    char file[32];

    spot_ec_columns(table, ec);
    for (int i = 0; i < n && how == SPOT_OK; i++) {
        how = spot_check_stop(c);
        if (how == SPOT_OK) how = spot_scene_picture(c, dir, ec, split, (uint32_t)index[i], &image, rgb, file);
        if (how == SPOT_OK) spot_ec_record(table, ec, &image, file);
        if (how == SPOT_OK) spot_tell(c, "render", (int)ec->index, i + 1, n, "");
    }
    free(rgb);
    return how;
}

spot_status spot_scene_rows(spot_ctx *c, const char *dir, const spot_ec *ec, spot_split split, const int *index, int n)
{
    spot_text text = { 0 };
    char path[PATH];
    spot_status how;
    FILE *table;

    table = spot_text_stream(&text);
    if (!table) return spot_fail(c, SPOT_NOMEM, "no memory to describe images");
    how = write_rows(c, dir, ec, split, index, n, table);
    if ((fclose(table) || text.status) && how == SPOT_OK) how = spot_fail(c, SPOT_NOMEM, "no memory to describe images");
    snprintf(path, sizeof path, "%s/rows.csv", dir);
    if (how == SPOT_OK) how = spot_file_write(c, path, text.bytes, text.used);
    spot_text_free(&text);
    return how;
}
