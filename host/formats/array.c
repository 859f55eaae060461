/* array.c - arrays of a user's files, whatever the format: which file, how large, and as which numbers they are wanted. */
#define _GNU_SOURCE
#include "spotter/array.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/formats.h"
#include "formats/safetensors.h"

enum { LONG = 100 << 20, HUGE = 2 << 20 };     /* bytes: of a file that is announced before it is read; of a large page */

static const struct { const char *name; size_t size; } types[SPOT_DTYPES] = {
    [SPOT_F32] = { "F32", 4 }, [SPOT_I64] = { "I64", 8 }, [SPOT_F64] = { "F64", 8 }, [SPOT_F16] = { "F16", 2 },
    [SPOT_BFLOAT16] = { "BF16", 2 }, [SPOT_I32] = { "I32", 4 }, [SPOT_I16] = { "I16", 2 }, [SPOT_I8] = { "I8", 1 },
    [SPOT_U8] = { "U8", 1 }, [SPOT_U16] = { "U16", 2 }, [SPOT_U32] = { "U32", 4 }, [SPOT_BOOL] = { "BOOL", 1 },
    [SPOT_WORDS] = { "words", sizeof(char *) },
};

size_t      spot_dtype_size(spot_dtype t) { return types[t].size; }
const char *spot_dtype_name(spot_dtype t) { return types[t].name; }

/* -- memory ---------------------------------------------------------------------------------------------------- */

/* What the machine has, for a caller that sets no limit: a claim beyond it is refused before it is tried. */
static size_t bytes_of_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

    return pages > 0 && size > 0 ? (size_t)pages * (size_t)size : SIZE_MAX;
}

spot_status spot_array_fits(spot_ctx *c, const spot_array *a, size_t bytes, size_t limit)
{
    size_t most = limit ? limit : bytes_of_memory();

    if (bytes <= most && bytes <= SIZE_MAX / 2) return SPOT_OK;
    return spot_fail(c, limit ? SPOT_INPUT : SPOT_NOMEM, "%s would take %zu bytes of memory; %s %zu", a->name, bytes,
                     limit ? "allowed are" : "this machine has", most);
}

static spot_status take_block(spot_ctx *c, spot_array *a, size_t bytes, size_t limit)
{
    SPOT_TRY(spot_array_fits(c, a, bytes, limit));
    a->data = aligned_alloc(64, (bytes / 64 + 1) * 64);
    if (!a->data) return spot_fail(c, SPOT_NOMEM, "no memory for the %zu bytes of %s", bytes, a->name);
    if (bytes >= 2 * HUGE) {                   /* large pages: the first touch of each page is most of what reading takes */
        uintptr_t from = ((uintptr_t)a->data + HUGE - 1) / HUGE * HUGE;
        madvise((void *)from, ((uintptr_t)a->data + bytes - from) / HUGE * HUGE, MADV_HUGEPAGE);
    }
    return SPOT_OK;
}

spot_status spot_array_take(spot_ctx *c, spot_array *a, size_t limit)
{
    size_t bytes = types[a->type].size;

    a->count = 1;
    for (int i = 0; i < a->rank; i++) {
        if (a->dim[i] < 0 || __builtin_mul_overflow(bytes, (size_t)a->dim[i], &bytes))
            return spot_fail(c, SPOT_INPUT, "%s: size %d of its shape is not possible", a->name, i);
        a->count *= (size_t)a->dim[i];
    }
    return take_block(c, a, bytes, limit);
}

spot_status spot_array_check(spot_ctx *c, const spot_array *a)
{
    const uint8_t *v = a->data;
    char where[64];
    size_t i = 0;

    while (a->type == SPOT_BOOL && i < a->count && v[i] <= 1) i++;
    if (a->type != SPOT_BOOL || i == a->count) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "%s: %s is %d where a truth value is 0 or 1", a->name, spot_array_place(where, a, i), v[i]);
}

spot_status spot_array_words(spot_ctx *c, spot_array *a, const char *const *text, const size_t *length, size_t limit)
{
    size_t bytes = a->count * sizeof(char *);
    char **word, *at, where[64];

    for (size_t i = 0; i < a->count; i++) {
        size_t good = spot_utf8(text[i], length[i]);
        if (good < length[i] || memchr(text[i], 0, length[i]))
            return spot_fail(c, SPOT_INPUT, "%s: %s is no text in UTF-8 (its byte %zu)", a->name, spot_array_place(where, a, i),
                             good < length[i] ? good : strlen(text[i]));
        bytes += length[i] + 1;
    }
    a->type = SPOT_WORDS;
    SPOT_TRY(take_block(c, a, bytes, limit));
    word = a->data;
    at = (char *)(word + a->count);
    for (size_t i = 0; i < a->count; i++) {
        memcpy(at, text[i], length[i]);
        at[length[i]] = 0;
        word[i] = at;
        at += length[i] + 1;
    }
    return SPOT_OK;
}

void spot_array_close(spot_array *a)
{
    free(a->data);
    memset(a, 0, sizeof *a);
}

/* -- which file ------------------------------------------------------------------------------------------------ */

/* A name may hold colons, and so may a path: the shortest beginning that is a file is the file. */
static spot_status split(spot_ctx *c, char **path, const char **member, const char *where)
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
    return SPOT_OK;                        /* opening it will say that it is not there */
}

/* Formats that people have at hand and that are not read: what to do instead. */
static spot_status not_read(spot_ctx *c, const spot_blob *in, const uint8_t *head, size_t n)
{
    static const struct { const char *bytes, *words; } others[] = {
        { "\x80\x02", "is a pickle, which can run any program and is not read; save the array with numpy.save" },
        { "\x80\x03", "is a pickle, which can run any program and is not read; save the array with numpy.save" },
        { "\x80\x04", "is a pickle, which can run any program and is not read; save the array with numpy.save" },
        { "\x80\x05", "is a pickle, which can run any program and is not read; save the array with numpy.save" },
        { "\x89HDF",  "is HDF5; save the array with numpy.save" },
        { "PAR1",     "is Parquet; save its columns with pandas' to_csv or numpy.save" },
        { "ARROW1",   "is Arrow; save its columns with pandas' to_csv or numpy.save" },
        { "\x1f\x8b", "is compressed with gzip; decompress it first" },
    };

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (n >= strlen(others[i].bytes) && !memcmp(head, others[i].bytes, strlen(others[i].bytes)))
            return spot_fail(c, SPOT_INPUT, "%s %s", in->name, others[i].words);
    return spot_fail(c, SPOT_INPUT, "%s is none of the formats that are read: .npy, .npz, .safetensors, .csv", in->name);
}

static bool ends_in(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);

    return n >= m && !strcasecmp(name + n - m, end);
}

/* What the bytes say counts for more than what the name says. */
static spot_status read_format(spot_ctx *c, spot_array *a, const spot_blob *in, const char *member, size_t limit)
{
    uint8_t head[9] = "";
    size_t n = in->size < 9 ? (size_t)in->size : 9;
    spot_stream whole = spot_blob_stream(in);

    SPOT_TRY(spot_blob_read(c, in, 0, head, n));
    if (ends_in(in->name, ".csv"))         return spot_csv_read(c, a, in, member, limit);
    if (!memcmp(head, "PK\3\4", 4) || !memcmp(head, "PK\5\6", 4)) return spot_npz_read(c, a, in, member, limit);
    if (!memcmp(head, "\x93NUMPY", 6) || ends_in(in->name, ".npy")) {
        if (member)
            return spot_fail(c, SPOT_INPUT, "%s holds one array, without a name; leave \":%.80s\" away", in->name, member);
        return spot_npy_read(c, a, &whole, limit);
    }
    if (ends_in(in->name, ".safetensors") || head[8] == '{') return spot_tensors_read(c, a, in, member, limit);
    if (ends_in(in->name, ".npz"))         return spot_npz_read(c, a, in, member, limit);
    return not_read(c, in, head, n);
}

spot_status spot_array_read(spot_ctx *c, spot_array *a, const char *where, size_t limit)
{
    size_t length = strlen(where), most = sizeof a->name - 1;
    const char *member;
    char *path;
    spot_blob in;
    spot_status s;

    memset(a, 0, sizeof *a);
    if (length <= most) memcpy(a->name, where, length);
    else snprintf(a->name, sizeof a->name, "...%s", where + length - (most - 3));
    SPOT_TRY(split(c, &path, &member, where));
    s = spot_blob_open(c, &in, path);
    if (!s) {
        if (in.size >= LONG) spot_log(c, SPOT_LOG_INFO, "reading %s: %.0f MB", where, (double)in.size / 1e6);
        s = read_format(c, a, &in, member, limit);
        spot_blob_close(&in);
    }
    free(path);
    if (s) spot_array_close(a);
    return s;
}
