/* picture_most.c - the memory of decoding many pictures, by their headers alone. */
#define _POSIX_C_SOURCE 200809L
#include "formats/picture.h"

#include <stdlib.h>

static size_t bytes_of_file(const char *path, const spot_picture_reading *reading, int resize, int crop)
{
    spot_ctx own = { 0 };                  /* its sentence comes again when the picture is read */
    spot_picture_cost cost = { 0 };
    spot_blob in;

    if (spot_blob_open(&own, &in, path)) return 0;
    const bool good = spot_picture_cost_of(&own, &cost, &in) == SPOT_OK;
    spot_blob_close(&in);
    return good ? spot_picture_bytes(&cost, reading, resize, crop) : cost.file;
}

static int falling(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x < y) - (x > y);
}

size_t spot_pictures_bytes(spot_ctx *c, const char *const *path, int n, const spot_picture_reading *reading, int resize,
                           int crop)
{
    size_t *bytes = malloc(((size_t)n + 1) * sizeof *bytes), all = 0;

    if (!bytes) return 0;
#pragma omp parallel for num_threads(c->threads) schedule(dynamic, 16)
    for (int i = 0; i < n; i++) bytes[i] = c->stop && *c->stop ? 0 : bytes_of_file(path[i], reading, resize, crop);
    qsort(bytes, (size_t)n, sizeof *bytes, falling);
    for (int i = 0; i < n && i < c->threads && (!i || all + bytes[i] <= SPOT_PICTURE_MEMORY); i++) all += bytes[i];
    free(bytes);
    return all;
}
