/* safetensors.c - reads and writes safetensors; yajl parses the JSON. */
#define _GNU_SOURCE
#include "formats/safetensors.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/json_tree.h"

enum { MAX_HEADER = 100000000 };

static int by_name(const void *a, const void *b)
{
    return strcmp(((const spot_tensor *)a)->name, ((const spot_tensor *)b)->name);
}

static int by_place(const void *a, const void *b)
{
    const spot_tensor *x = a, *y = b;

    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* -- reading -------------------------------------------------------------------------------------------------- */

static yajl_val find_member(yajl_val map, const char *key)
{
    const char *path[] = { key, NULL };

    return yajl_tree_get(map, path, yajl_t_any);
}

/* A whole number from 0. */
static bool read_natural(yajl_val v, int64_t *out)
{
    if (!v || !YAJL_IS_INTEGER(v) || YAJL_GET_INTEGER(v) < 0) return false;
    *out = YAJL_GET_INTEGER(v);
    return true;
}

static spot_status read_shape(spot_ctx *c, spot_tensor *t, yajl_val shape, const char *file)
{
    size_t bytes = t->type == SPOT_DTYPES ? 1 : spot_dtype_size(t->type);

    if (!YAJL_IS_ARRAY(shape) || YAJL_GET_ARRAY(shape)->len > SPOT_TENSOR_DIMS)
        return spot_fail(c, SPOT_INPUT, "{safetensors.shape} %s: the shape of %.80s is no list of at most %d sizes", file,
                         t->name, SPOT_TENSOR_DIMS);
    t->rank = (int)YAJL_GET_ARRAY(shape)->len;
    for (int i = 0; i < t->rank; i++)
        if (!read_natural(YAJL_GET_ARRAY(shape)->values[i], &t->dim[i])
            || __builtin_mul_overflow(bytes, (size_t)t->dim[i], &bytes))
            return spot_fail(c, SPOT_INPUT, "{safetensors.size} %s: size %d of the shape of %.80s is not possible", file, i,
                             t->name);
    if (t->type != SPOT_DTYPES && bytes != t->bytes)
        return spot_fail(c, SPOT_INPUT, "{safetensors.bytes} %s: %.80s has %zu bytes of data, its shape wants %zu", file,
                         t->name, t->bytes, bytes);
    return SPOT_OK;
}

static spot_status read_tensor(spot_ctx *c, spot_tensor *t, yajl_val v, const uint8_t *data, size_t size, const char *file)
{
    yajl_val dtype = YAJL_IS_OBJECT(v) ? find_member(v, "dtype") : NULL, shape, offsets;
    const char *type = dtype ? YAJL_GET_STRING(dtype) : NULL;
    int64_t at[2];
    int k = 0;

    if (!type || YAJL_GET_OBJECT(v)->len != 3)
        return spot_fail(c, SPOT_INPUT, "{safetensors.entry} %s: %.80s is not described by dtype, shape and data_offsets",
                         file, t->name);
    while (k < SPOT_WORDS && strcmp(spot_dtype_name((spot_dtype)k), type)) k++;
    t->type = k == SPOT_WORDS ? SPOT_DTYPES : (spot_dtype)k;
    t->dtype = type;
    shape = find_member(v, "shape");
    offsets = find_member(v, "data_offsets");
    if (!offsets || !YAJL_IS_ARRAY(offsets) || YAJL_GET_ARRAY(offsets)->len != 2
        || !read_natural(YAJL_GET_ARRAY(offsets)->values[0], &at[0])
        || !read_natural(YAJL_GET_ARRAY(offsets)->values[1], &at[1])
        || at[0] > at[1] || (uint64_t)at[1] > size)
        return spot_fail(c, SPOT_INPUT, "{safetensors.offsets} %s: the data_offsets of %.80s do not lie in the file's %zu "
                         "bytes of data", file, t->name, size);
    t->data = data ? data + at[0] : NULL;
    t->at = (size_t)at[0];
    t->bytes = (size_t)(at[1] - at[0]);
    if (!shape) return spot_fail(c, SPOT_INPUT, "{safetensors.no_shape} %s: %.80s has no shape", file, t->name);
    return read_shape(c, t, shape, file);
}

/* Checks that data has no gaps, overlaps or trailing bytes and that names are unique. Sorts the tensors by name. */
static spot_status check_all(spot_ctx *c, spot_tensors *t, size_t size, const char *file)
{
    size_t next = 0;

    qsort(t->tensor, (size_t)t->count, sizeof *t->tensor, by_place);
    for (int i = 0; i < t->count; i++) {
        if (t->tensor[i].at != next)
            return spot_fail(c, SPOT_INPUT, "{safetensors.gap} %s: the data of %.80s %s", file, t->tensor[i].name,
                             t->tensor[i].at > next ? "leaves a gap before it" : "overlaps another's");
        next += t->tensor[i].bytes;
    }
    if (next != size)
        return spot_fail(c, SPOT_INPUT, "{safetensors.rest} %s: %zu bytes behind the last tensor belong to none", file,
                         size - next);
    qsort(t->tensor, (size_t)t->count, sizeof *t->tensor, by_name);
    for (int i = 1; i < t->count; i++)
        if (!strcmp(t->tensor[i - 1].name, t->tensor[i].name))
            return spot_fail(c, SPOT_INPUT, "{safetensors.tensor_twice} %s: %.80s is there twice", file, t->tensor[i].name);
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
    return check_all(c, t, size, file);
}

/* Parses `length` bytes of JSON, which `size` bytes of data follow; data NULL: not read. */
static spot_status parse_header(spot_ctx *c, spot_tensors *t, char *text, uint64_t length, const uint8_t *data, size_t size,
                                const char *file)
{
    char why[128] = "";
    yajl_val map;
    spot_status s;

    if (!length || *text != '{')
        return spot_fail(c, SPOT_INPUT, "{safetensors.header} %s: its header is not the JSON of a safetensors file", file);
    text[length] = 0;
    map = spot_tree_parse(text, length, why, sizeof why);
    if (!map || !YAJL_IS_OBJECT(map)) {
        yajl_tree_free(map);
        return spot_fail(c, SPOT_INPUT, "{safetensors.json} %s: its header is not JSON: %s", file, why);
    }
    s = read_header(c, t, map, data, size, file);
    if (s) spot_tensors_close(t);
    return s;
}

/* Reads the header of a source; *start: the offset of its data. */
static spot_status open_header(spot_ctx *c, spot_tensors *t, const spot_blob *in, uint64_t *start, const uint8_t *data)
{
    uint8_t head[8];
    uint64_t length = 0;
    char *text;
    spot_status s;

    memset(t, 0, sizeof *t);
    if (in->size < 8)
        return spot_fail(c, SPOT_INPUT, "{safetensors.short} %s: %" PRIu64 " bytes are too few for a safetensors file",
                         in->name, in->size);
    SPOT_TRY(spot_blob_read(c, in, 0, head, 8));
    for (int i = 0; i < 8; i++) length |= (uint64_t)head[i] << 8 * i;
    if (length > MAX_HEADER || length > in->size - 8)
        return spot_fail(c, SPOT_INPUT, "{safetensors.header_length} %s: a header of %" PRIu64
                         " bytes in a file of %" PRIu64 ": cut short, or no safetensors file", in->name, length, in->size);
    *start = 8 + length;
    text = malloc(length + 1);
    if (!text) return spot_fail(c, SPOT_NOMEM, "%s: no memory for its header", in->name);
    s = spot_blob_read(c, in, 8, text, length);
    if (!s) s = parse_header(c, t, text, length, data ? data + *start : NULL, (size_t)(in->size - *start), in->name);
    free(text);
    return s;
}

spot_status spot_refuse_pickle(spot_ctx *c, const char *file, const char *kind)
{
    return spot_fail(c, SPOT_INPUT, "{safetensors.pickle} %s is %s, which can run any program and is not read; convert it in "
                     "Python: safetensors.torch.save_file(torch.load(\"%s\", weights_only=True), \"model.safetensors\")", file,
                     kind, file);
}

spot_status spot_tensors_check_no_pickle(spot_ctx *c, const spot_blob *in)
{
    uint8_t head[9] = "";

    if (in->size >= 4) SPOT_TRY(spot_blob_read(c, in, 0, head, in->size < sizeof head ? (size_t)in->size : sizeof head));
    if (!memcmp(head, "PK\3\4", 4))
        return spot_refuse_pickle(c, in->name, "a zip archive, as torch.save writes, with a pickle in it");
    if (head[0] == 0x80 && head[1] >= 2 && head[1] <= 5 && head[8] != '{')     /* else the length of a header */
        return spot_refuse_pickle(c, in->name, "a pickle, as old versions of torch.save write");
    return SPOT_OK;
}

spot_status spot_tensors_header(spot_ctx *c, spot_tensors *t, const spot_blob *in, uint64_t *start)
{
    return open_header(c, t, in, start, NULL);
}

spot_status spot_tensors_parse(spot_ctx *c, spot_tensors *t, const uint8_t *data, size_t size, const char *file)
{
    spot_blob in = spot_blob_memory(data, size, file);
    uint64_t start;

    return open_header(c, t, &in, &start, in.bytes);
}

spot_status spot_tensors_open(spot_ctx *c, spot_tensors *t, const char *path)
{
    spot_blob in;
    uint8_t *data;
    spot_status s;

    memset(t, 0, sizeof *t);
    SPOT_TRY(spot_blob_open(c, &in, path));
    data = malloc(in.size + 1);
    if (!data) s = spot_fail(c, SPOT_NOMEM, "%s: no memory for %" PRIu64 " bytes", path, in.size);
    else s = spot_blob_read(c, &in, 0, data, in.size);
    if (!s) s = spot_tensors_parse(c, t, data, in.size, path);
    if (s) free(data);
    else t->owned[0] = data;
    spot_blob_close(&in);
    return s;
}

/* "a, b, c, ...": the names of the tensors. */
static void list_names(char *out, size_t size, const spot_tensors *t)
{
    size_t n = 0;

    *out = 0;
    for (int i = 0; i < t->count && n + 100 < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%.80s", i ? ", " : "", t->tensor[i].name);
    if (n + 100 >= size) snprintf(out + n, size - n, ", ...");
}

static spot_status choose_tensor(spot_ctx *c, const spot_tensor **e, const spot_tensors *t, const char *name, const char *file)
{
    char names[400];

    *e = name ? spot_tensors_find(t, name) : t->count == 1 ? t->tensor : NULL;
    if (*e) return SPOT_OK;
    list_names(names, sizeof names, t);
    if (!t->count) return spot_fail(c, SPOT_INPUT, "%s holds no tensor", file);
    if (!name)
        return spot_fail(c, SPOT_INPUT, "{safetensors.which_tensor} %s holds %d tensors; say which, as in %s:%.80s; there are "
                         "%s", file, t->count, file, t->tensor->name, names);
    return spot_fail(c, SPOT_INPUT, "{safetensors.no_tensor} %s has no tensor \"%.80s\"; there are %s", file, name, names);
}

static spot_status read_one(spot_ctx *c, spot_array *a, const spot_blob *in, uint64_t start, const spot_tensor *e,
                            size_t limit)
{
    if (e->type == SPOT_DTYPES)
        return spot_fail(c, SPOT_INPUT, "{safetensors.type} %s: %.80s is of type %.20s, which is not read; convert it to F32 "
                         "or I64 first", in->name, e->name, e->dtype);
    a->type = e->type;
    a->rank = e->rank;
    memcpy(a->dim, e->dim, sizeof a->dim);
    SPOT_TRY(spot_array_take(c, a, limit));
    SPOT_TRY(spot_blob_read(c, in, start + e->at, a->data, e->bytes));
    return spot_array_check(c, a);
}

spot_status spot_tensors_read(spot_ctx *c, spot_array *a, const spot_blob *in, const char *name, size_t limit)
{
    const spot_tensor *e;
    spot_tensors t;
    uint64_t start;
    spot_status s;

    SPOT_TRY(open_header(c, &t, in, &start, NULL));
    s = choose_tensor(c, &e, &t, name, in->name);
    if (!s) s = read_one(c, a, in, start, e, limit);
    spot_tensors_close(&t);
    return s;
}

void spot_tensors_close(spot_tensors *t)
{
    free(t->owned[0]);
    yajl_tree_free(t->owned[1]);
    free(t->owned[2]);
    memset(t, 0, sizeof *t);
}

const char *spot_tensors_note(const spot_tensors *t, const char *key)
{
    yajl_val notes = find_member(t->owned[1], "__metadata__");
    yajl_val v = notes && YAJL_IS_OBJECT(notes) ? find_member(notes, key) : NULL;

    return v ? YAJL_GET_STRING(v) : NULL;
}

const spot_tensor *spot_tensors_find(const spot_tensors *t, const char *name)
{
    spot_tensor key = { .name = name };

    if (!t->count) return NULL;
    return bsearch(&key, t->tensor, (size_t)t->count, sizeof *t->tensor, by_name);
}

/* -- writing -------------------------------------------------------------------------------------------------- */

static void describe_tensor(spot_json *j, const spot_tensor *t, size_t at)
{
    spot_json_object(j, t->name);
    spot_json_put_text(j, "dtype", spot_dtype_name(t->type));
    spot_json_array(j, "shape", 0, 0);
    for (int i = 0; i < t->rank; i++) spot_json_put_int(j, NULL, t->dim[i]);
    spot_json_end(j);
    spot_json_array(j, "data_offsets", 0, 0);
    spot_json_put_int(j, NULL, (long long)at);
    spot_json_put_int(j, NULL, (long long)(at + t->bytes));
    spot_json_end(j);
    spot_json_end(j);
}

typedef struct { const spot_text *header; const spot_tensor *tensor; int count; } list;

/* Writes the header, padded with blanks so that the data starts at a multiple of 8, and the data. */
static bool write_all(FILE *f, const void *what)
{
    const list *l = what;
    size_t length = l->header->used;
    unsigned char start[8];
    bool good;

    for (int i = 0; i < 8; i++) start[i] = (unsigned char)((length + 7) / 8 * 8 >> 8 * i);
    good = fwrite(start, 1, 8, f) == 8 && fwrite(l->header->bytes, 1, length, f) == length;
    for (; good && length % 8; length++) good = fputc(' ', f) != EOF;
    for (int i = 0; i < l->count && good; i++)
        good = !l->tensor[i].bytes || fwrite(l->tensor[i].data, 1, l->tensor[i].bytes, f) == l->tensor[i].bytes;
    return good;
}

spot_tensor spot_tensor_of(const char *name, spot_dtype type, size_t rows, int columns, const void *data)
{
    return (spot_tensor){ .name = name, .type = type, .rank = columns ? 2 : 1, .dim = { (int64_t)rows, columns },
                          .data = data, .bytes = rows * (size_t)(columns ? columns : 1) * spot_dtype_size(type) };
}

static void describe_notes(spot_json *j, const spot_tensor_note *note, int notes)
{
    if (!notes) return;
    spot_json_object(j, "__metadata__");
    for (int i = 0; i < notes; i++) spot_json_put_text(j, note[i].key, note[i].value);
    spot_json_end(j);
}

spot_status spot_tensors_save(spot_ctx *c, const char *path, const spot_tensor *tensor, int count)
{
    return spot_tensors_save_with(c, path, tensor, count, NULL, 0);
}

spot_status spot_tensors_save_with(spot_ctx *c, const char *path, const spot_tensor *tensor, int count,
                                   const spot_tensor_note *note, int notes)
{
    spot_json j;
    list l = { &j.out, tensor, count };
    size_t at = 0;
    spot_status s;

    SPOT_TRY(spot_json_begin(c, &j, NULL));
    spot_json_object(&j, NULL);
    describe_notes(&j, note, notes);
    for (int i = 0; i < count; at += tensor[i++].bytes) describe_tensor(&j, &tensor[i], at);
    spot_json_end(&j);
    s = spot_json_whole(c, &j, path);
    if (!s) s = spot_file_fill(c, path, write_all, &l);
    spot_json_free(&j);
    return s;
}
