/* array_read.c - reads a user's array: finds the file in "FILE:NAME" and the format of its bytes; a reader for each format does
 * the rest (formats.h). */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "formats/formats.h"
#include "formats/safetensors.h"

enum { LONG = 100 << 20 };     /* bytes from which reading a file is announced */

spot_status spot_place_split(spot_ctx *c, char **path, const char **member, const char *where)
{
    struct stat st;

    *path = strdup(where);
    *member = NULL;
    if (!*path) return spot_fail(c, SPOT_NOMEM, "no memory for the name %.200s", where);
    if (!stat(where, &st)) return SPOT_OK;
    for (char *colon = strchr(*path, ':'); colon; colon = strchr(colon + 1, ':')) {
        *colon = 0;
        if (!stat(*path, &st) && S_ISREG(st.st_mode)) {
            *member = where + (colon - *path) + 1;
            return SPOT_OK;
        }
        *colon = ':';
    }
    return SPOT_OK;                        /* opening it reports that it is missing */
}

static bool ends_in(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);

    return n >= m && !strcasecmp(name + n - m, end);
}

/* Refuses common formats that are not supported, with advice. */
static spot_status refuse_format(spot_ctx *c, const spot_blob *in, const uint8_t *head, size_t n)
{
    static const struct { const char *bytes, *words; } others[] = {
        { "\x89HDF",  "is HDF5; save the array with numpy.save" },
        { "PAR1",     "is Parquet; save its columns with pandas' to_csv or numpy.save" },
        { "ARROW1",   "is Arrow; save its columns with pandas' to_csv or numpy.save" },
        { "\x1f\x8b", "is compressed with gzip; decompress it first" },
    };

    if (n > 1 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5) {
        if (ends_in(in->name, ".pt") || ends_in(in->name, ".pth"))
            return spot_refuse_pickle(c, in->name, "a pickle, as old versions of torch.save write");
        return spot_fail(c, SPOT_INPUT, "{array.pickle} %s is a pickle, which can run any program and is not read; save the "
                         "array with numpy.save", in->name);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (n >= strlen(others[i].bytes) && !memcmp(head, others[i].bytes, strlen(others[i].bytes)))
            return spot_fail(c, SPOT_INPUT, "{array.packed} %s %s", in->name, others[i].words);
    return spot_fail(c, SPOT_INPUT, "{array.format} %s is none of the formats that are read: .npy, .npz, .safetensors, .csv, "
                     ".tsv", in->name);
}

/* The content decides the format before the name does, but for CSV: text has no first bytes of its own. An empty archive begins
 * with PK\5\6; safetensors with 8 bytes, the length of the JSON that follows. */
static spot_status read_format(spot_ctx *c, spot_array *a, const spot_blob *in, const char *member, const spot_array_how *how)
{
    const size_t limit = how->limit;
    uint8_t head[9] = "";
    size_t n = in->size < 9 ? (size_t)in->size : 9;
    spot_stream whole = spot_blob_stream(in);

    SPOT_TRY(spot_blob_read(c, in, 0, head, n));
    if (ends_in(in->name, ".csv") || ends_in(in->name, ".tsv")) return spot_csv_read(c, a, in, member, how);
    if (!memcmp(head, "PK\3\4", 4) || !memcmp(head, "PK\5\6", 4)) return spot_npz_read(c, a, in, member, limit);
    if (!memcmp(head, "\x93NUMPY", 6) || ends_in(in->name, ".npy")) {
        if (member)
            return spot_fail(c, SPOT_INPUT, "{array.name_needless} %s holds one array, without a name; leave \":%.80s\" away",
                             in->name, member);
        return spot_npy_read(c, a, &whole, limit);
    }
    if (ends_in(in->name, ".safetensors") || head[8] == '{') return spot_tensors_read(c, a, in, member, limit);
    if (ends_in(in->name, ".npz"))         return spot_npz_read(c, a, in, member, limit);
    return refuse_format(c, in, head, n);
}

spot_status spot_array_read(spot_ctx *c, spot_array *a, const char *where, size_t limit)
{
    return spot_array_read_as(c, a, where, &(spot_array_how){ .limit = limit });
}

spot_status spot_array_read_as(spot_ctx *c, spot_array *a, const char *where, const spot_array_how *how)
{
    size_t length = strlen(where), most = sizeof a->name - 1;
    const char *member;
    char *path;
    spot_blob in;
    spot_status s;

    memset(a, 0, sizeof *a);
    if (length <= most) memcpy(a->name, where, length);
    else snprintf(a->name, sizeof a->name, "...%s", where + length - (most - 3));
    SPOT_TRY(spot_place_split(c, &path, &member, where));
    s = spot_blob_open(c, &in, path);
    if (!s) {
        if (in.size >= LONG) spot_log(c, SPOT_LOG_INFO, "reading %s: %.0f MB", where, (double)in.size / 1e6);
        s = read_format(c, a, &in, member, how);
        spot_blob_close(&in);
    }
    free(path);
    if (s) spot_array_close(a);
    return s;
}
