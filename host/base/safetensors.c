/* safetensors.c - reads and writes safetensors; yajl knows JSON. */
#define _GNU_SOURCE
#include "base/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yajl/yajl_gen.h>
#include <yajl/yajl_tree.h>

enum { MAX_HEADER = 100000000, MAX_NESTING = 16 };

static const struct { const char *name; size_t size; } types[] = { [SPOT_F32] = { "F32", 4 }, [SPOT_I64] = { "I64", 8 } };

const char *spot_dtype_name(spot_dtype type) { return types[type].name; }

static int by_name(const void *a, const void *b)
{
    return strcmp(((const spot_tensor *)a)->name, ((const spot_tensor *)b)->name);
}

static int by_place(const void *a, const void *b)
{
    const spot_tensor *x = a, *y = b;

    if (x->data != y->data) return x->data < y->data ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* -- reading -------------------------------------------------------------------------------------------------- */

/* yajl_tree recurses as deep as the text nests; the header needs three levels. Strings may hold brackets. */
static bool nests_too_deep(const uint8_t *text, size_t size)
{
    bool string = false;
    int depth = 0;

    for (size_t i = 0; i < size; i++) {
        if (string && text[i] == '\\') { i++; continue; }
        if (text[i] == '"') string = !string;
        if (string) continue;
        if (text[i] == '{' || text[i] == '[') depth++;
        if (text[i] == '}' || text[i] == ']') depth--;
        if (depth > MAX_NESTING) return true;
    }
    return false;
}

static yajl_val member(yajl_val map, const char *key)
{
    const char *path[] = { key, NULL };

    return yajl_tree_get(map, path, yajl_t_any);
}

/* A whole number from 0. */
static bool natural(yajl_val v, int64_t *out)
{
    if (!v || !YAJL_IS_INTEGER(v) || YAJL_GET_INTEGER(v) < 0) return false;
    *out = YAJL_GET_INTEGER(v);
    return true;
}

static spot_status read_shape(spot_ctx *c, spot_tensor *t, yajl_val shape, const char *file)
{
    size_t bytes = types[t->type].size;

    if (!YAJL_IS_ARRAY(shape) || YAJL_GET_ARRAY(shape)->len > SPOT_TENSOR_DIMS)
        return spot_fail(c, SPOT_INPUT, "%s: the shape of %.80s is no list of at most %d sizes", file, t->name,
                         SPOT_TENSOR_DIMS);
    t->rank = (int)YAJL_GET_ARRAY(shape)->len;
    for (int i = 0; i < t->rank; i++)
        if (!natural(YAJL_GET_ARRAY(shape)->values[i], &t->dim[i])
            || __builtin_mul_overflow(bytes, (size_t)t->dim[i], &bytes))
            return spot_fail(c, SPOT_INPUT, "%s: size %d of the shape of %.80s is not possible", file, i, t->name);
    if (bytes != t->bytes)
        return spot_fail(c, SPOT_INPUT, "%s: %.80s has %zu bytes of data, its shape wants %zu", file, t->name, t->bytes,
                         bytes);
    return SPOT_OK;
}

static spot_status read_tensor(spot_ctx *c, spot_tensor *t, yajl_val v, const uint8_t *data, size_t size, const char *file)
{
    yajl_val dtype = YAJL_IS_OBJECT(v) ? member(v, "dtype") : NULL, shape, offsets;
    const char *type = dtype ? YAJL_GET_STRING(dtype) : NULL;
    int64_t at[2];
    int k = 0;

    if (!type || YAJL_GET_OBJECT(v)->len != 3)
        return spot_fail(c, SPOT_INPUT, "%s: %.80s is not described by dtype, shape and data_offsets", file, t->name);
    while (k < 2 && strcmp(types[k].name, type)) k++;
    if (k == 2)
        return spot_fail(c, SPOT_INPUT, "%s: %.80s is of type %.20s; only F32 and I64 are read, convert it first", file,
                         t->name, type);
    t->type = (spot_dtype)k;
    shape = member(v, "shape");
    offsets = member(v, "data_offsets");
    if (!offsets || !YAJL_IS_ARRAY(offsets) || YAJL_GET_ARRAY(offsets)->len != 2
        || !natural(YAJL_GET_ARRAY(offsets)->values[0], &at[0]) || !natural(YAJL_GET_ARRAY(offsets)->values[1], &at[1])
        || at[0] > at[1] || (uint64_t)at[1] > size)
        return spot_fail(c, SPOT_INPUT, "%s: the data_offsets of %.80s do not lie in the file's %zu bytes of data", file,
                         t->name, size);
    t->data = data + at[0];
    t->bytes = (size_t)(at[1] - at[0]);
    if (!shape) return spot_fail(c, SPOT_INPUT, "%s: %.80s has no shape", file, t->name);
    return read_shape(c, t, shape, file);
}

/* Data without gaps, overlaps or rest; names without doubles. Leaves the tensors sorted by name. */
static spot_status check_all(spot_ctx *c, spot_tensors *t, const uint8_t *data, size_t size, const char *file)
{
    const uint8_t *next = data;

    qsort(t->tensor, (size_t)t->count, sizeof *t->tensor, by_place);
    for (int i = 0; i < t->count; i++) {
        if ((const uint8_t *)t->tensor[i].data != next)
            return spot_fail(c, SPOT_INPUT, "%s: the data of %.80s %s", file, t->tensor[i].name,
                             (const uint8_t *)t->tensor[i].data > next ? "leaves a gap before it" : "overlaps another's");
        next += t->tensor[i].bytes;
    }
    if (next != data + size)
        return spot_fail(c, SPOT_INPUT, "%s: %zu bytes behind the last tensor belong to none", file,
                         (size_t)(data + size - next));
    qsort(t->tensor, (size_t)t->count, sizeof *t->tensor, by_name);
    for (int i = 1; i < t->count; i++)
        if (!strcmp(t->tensor[i - 1].name, t->tensor[i].name))
            return spot_fail(c, SPOT_INPUT, "%s: %.80s is there twice", file, t->tensor[i].name);
    return SPOT_OK;
}

static spot_status read_header(spot_ctx *c, spot_tensors *t, yajl_val map, const uint8_t *data, size_t size,
                               const char *file)
{
    size_t n = YAJL_GET_OBJECT(map)->len;

    t->owned[1] = map;
    t->tensor = t->owned[2] = calloc(n ? n : 1, sizeof *t->tensor);
    if (!t->tensor) return spot_fail(c, SPOT_NOMEM, "%s: no memory for %zu tensors", file, n);
    for (size_t i = 0; i < n; i++) {
        const char *key = YAJL_GET_OBJECT(map)->keys[i];
        if (!strcmp(key, "__metadata__")) continue;
        t->tensor[t->count].name = key;
        SPOT_TRY(read_tensor(c, &t->tensor[t->count++], YAJL_GET_OBJECT(map)->values[i], data, size, file));
    }
    return check_all(c, t, data, size, file);
}

spot_status spot_tensors_parse(spot_ctx *c, spot_tensors *t, const uint8_t *data, size_t size, const char *file)
{
    uint64_t length = 0;
    char *text, why[128] = "";
    yajl_val map;
    spot_status s;

    memset(t, 0, sizeof *t);
    if (size < 8) return spot_fail(c, SPOT_INPUT, "%s: %zu bytes are too few for a safetensors file", file, size);
    for (int i = 0; i < 8; i++) length |= (uint64_t)data[i] << 8 * i;
    if (length > MAX_HEADER || length > size - 8)
        return spot_fail(c, SPOT_INPUT, "%s: a header of %" PRIu64 " bytes in a file of %zu: cut short, or no safetensors "
                         "file", file, length, size);
    if (!length || data[8] != '{' || memchr(data + 8, 0, length) || nests_too_deep(data + 8, length))
        return spot_fail(c, SPOT_INPUT, "%s: its header is not the JSON of a safetensors file", file);
    text = strndup((const char *)data + 8, length);
    if (!text) return spot_fail(c, SPOT_NOMEM, "%s: no memory for its header", file);
    map = yajl_tree_parse(text, why, sizeof why);
    free(text);
    why[strcspn(why, "\n")] = 0;
    if (!map || !YAJL_IS_OBJECT(map)) {
        yajl_tree_free(map);
        return spot_fail(c, SPOT_INPUT, "%s: its header is not JSON: %s", file, why);
    }
    s = read_header(c, t, map, data + 8 + length, size - 8 - length, file);
    if (s) spot_tensors_close(t);
    return s;
}

spot_status spot_tensors_open(spot_ctx *c, spot_tensors *t, const char *path)
{
    FILE *f = fopen(path, "rb");
    struct stat st;
    uint8_t *data = NULL;
    spot_status s = SPOT_OK;

    memset(t, 0, sizeof *t);
    if (!f || fstat(fileno(f), &st)) s = spot_fail(c, SPOT_IO, "cannot open %s: %s", path, strerror(errno));
    else if (!S_ISREG(st.st_mode))   s = spot_fail(c, SPOT_INPUT, "%s is not a regular file", path);
    else if (!(data = malloc((size_t)st.st_size + 1)))
        s = spot_fail(c, SPOT_NOMEM, "%s: no memory for %lld bytes", path, (long long)st.st_size);
    else if (fread(data, 1, (size_t)st.st_size, f) != (size_t)st.st_size)
        s = spot_fail(c, SPOT_IO, "%s could not be read whole", path);
    if (f) fclose(f);
    if (!s) s = spot_tensors_parse(c, t, data, (size_t)st.st_size, path);
    if (s) free(data);
    else t->owned[0] = data;
    return s;
}

void spot_tensors_close(spot_tensors *t)
{
    free(t->owned[0]);
    yajl_tree_free(t->owned[1]);
    free(t->owned[2]);
    memset(t, 0, sizeof *t);
}

const spot_tensor *spot_tensors_find(const spot_tensors *t, const char *name)
{
    spot_tensor key = { .name = name };

    if (!t->count) return NULL;
    return bsearch(&key, t->tensor, (size_t)t->count, sizeof *t->tensor, by_name);
}

/* -- writing -------------------------------------------------------------------------------------------------- */

static void text(yajl_gen g, const char *s) { yajl_gen_string(g, (const unsigned char *)s, strlen(s)); }

static void describe(yajl_gen g, const spot_tensor *t, size_t at)
{
    text(g, t->name);
    yajl_gen_map_open(g);
    text(g, "dtype");
    text(g, types[t->type].name);
    text(g, "shape");
    yajl_gen_array_open(g);
    for (int i = 0; i < t->rank; i++) yajl_gen_integer(g, t->dim[i]);
    yajl_gen_array_close(g);
    text(g, "data_offsets");
    yajl_gen_array_open(g);
    yajl_gen_integer(g, (long long)at);
    yajl_gen_integer(g, (long long)(at + t->bytes));
    yajl_gen_array_close(g);
    yajl_gen_map_close(g);
}

/* Header, padded with blanks so that the data starts on a multiple of 8, and data. */
static bool write_all(FILE *f, yajl_gen g, const spot_tensor *tensor, int count)
{
    const unsigned char *header;
    size_t length, at = 0;
    unsigned char start[8];
    bool good = true;

    yajl_gen_map_open(g);
    for (int i = 0; i < count; at += tensor[i++].bytes) describe(g, &tensor[i], at);
    yajl_gen_map_close(g);
    if (yajl_gen_get_buf(g, &header, &length) != yajl_gen_status_ok) return errno = EINVAL, false;
    for (int i = 0; i < 8; i++) start[i] = (unsigned char)((length + 7) / 8 * 8 >> 8 * i);
    good = fwrite(start, 1, 8, f) == 8 && fwrite(header, 1, length, f) == length;
    for (; good && length % 8; length++) good = fputc(' ', f) != EOF;
    for (int i = 0; i < count && good; i++)
        good = !tensor[i].bytes || fwrite(tensor[i].data, 1, tensor[i].bytes, f) == tensor[i].bytes;
    return good && !fflush(f) && !fsync(fileno(f));
}

/* The rename itself must reach the disk. */
static void sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    int d = folder ? open(folder, O_RDONLY | O_DIRECTORY) : -1;

    if (d >= 0) { fsync(d); close(d); }
    free(folder);
}

spot_status spot_tensors_save(spot_ctx *c, const char *path, const spot_tensor *tensor, int count)
{
    yajl_gen g = yajl_gen_alloc(NULL);
    char *temp = NULL;
    FILE *f = NULL;
    int error = 0;

    if (!g || asprintf(&temp, "%s.%ld.tmp", path, (long)getpid()) < 0) error = ENOMEM, temp = NULL;
    if (!error && !(f = fopen(temp, "wb"))) error = errno;
    if (f && !write_all(f, g, tensor, count)) error = errno ? errno : EIO;
    if (f && fclose(f) && !error) error = errno;
    if (!error && rename(temp, path)) error = errno;
    if (error && f) remove(temp);
    if (!error) sync_folder(path);
    if (g) yajl_gen_free(g);
    free(temp);
    if (error) return spot_fail(c, SPOT_IO, "cannot write %s: %s", path, strerror(error));
    return SPOT_OK;
}
