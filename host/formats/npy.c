/* npy.c - numpy's .npy: "\x93NUMPY", version, the length of a header, the header (a Python dict in ASCII or, in version 3,
 * UTF-8), the numbers. The reader accepts only the three entries that numpy writes; it evaluates nothing. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "formats/formats.h"
#include "formats/npy_order.h"

enum { MAX_HEADER = 1 << 20, MAX_WORD = 1 << 20,
       LONG = 100 << 20 };     /* bytes from which more memory is announced */

/* numpy's types and ours. u8 has no counterpart: values that fit are read as I64. */
static const struct { char kind; int size; spot_dtype type; } types[] = {
    { 'f', 4, SPOT_F32 }, { 'f', 8, SPOT_F64 }, { 'f', 2, SPOT_F16 }, { 'i', 8, SPOT_I64 }, { 'i', 4, SPOT_I32 },
    { 'i', 2, SPOT_I16 }, { 'i', 1, SPOT_I8 },  { 'u', 1, SPOT_U8 },  { 'u', 2, SPOT_U16 }, { 'u', 4, SPOT_U32 },
    { 'u', 8, SPOT_I64 }, { 'b', 1, SPOT_BOOL },
};

typedef struct {
    char descr[64];
    bool fortran, big;                     /* column after column, and this matters; the greatest byte first */
    int  rank, seen;                       /* seen: a bit per entry */
    int64_t dim[SPOT_ARRAY_DIMS];
    char    kind;
    int64_t size;                          /* bytes of a value */
} npy_header;

/* -- the dict -------------------------------------------------------------------------------------------------- */

typedef struct { const char *at, *end; } text;

static void skip_blanks(text *t)
{
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\n' || *t->at == '\t' || *t->at == '\r')) t->at++;
}

static bool skip_symbol(text *t, char wanted)
{
    skip_blanks(t);
    if (t->at == t->end || *t->at != wanted) return false;
    t->at++;
    return true;
}

static bool skip_word(text *t, const char *wanted)
{
    size_t n = strlen(wanted);

    skip_blanks(t);
    if ((size_t)(t->end - t->at) < n || memcmp(t->at, wanted, n)) return false;
    t->at += n;
    return true;
}

/* 'text' or "text" without escapes. */
static bool read_string(text *t, char *out, size_t size)
{
    char quote;
    size_t n = 0;

    skip_blanks(t);
    if (t->at == t->end || (*t->at != '\'' && *t->at != '"')) return false;
    for (quote = *t->at++; t->at < t->end && *t->at != quote; t->at++) {
        if (n + 1 == size || *t->at == '\\') return false;
        out[n++] = *t->at;
    }
    out[n] = 0;
    return t->at++ < t->end;
}

/* (3, 4) or (3,) or (); Python 2 wrote 3L. */
static bool read_shape(text *t, npy_header *h)
{
    if (!skip_symbol(t, '(')) return false;
    while (!skip_symbol(t, ')')) {
        int64_t v = 0;
        const char *from;
        skip_blanks(t);
        for (from = t->at; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++)
            if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *t->at - '0', &v)) return false;
        if (t->at == from || h->rank == SPOT_ARRAY_DIMS) return false;
        h->dim[h->rank++] = v;
        skip_word(t, "L");
        if (!skip_symbol(t, ',')) return h->rank > 1 && skip_symbol(t, ')');
    }
    return true;
}

/* Reads one entry. *type_is_list: descr is a list, which means an array with named fields. */
static bool read_entry(text *t, npy_header *h, bool *type_is_list)
{
    char key[16];
    int bit;

    if (!read_string(t, key, sizeof key) || !skip_symbol(t, ':')) return false;
    bit = !strcmp(key, "descr") ? 1 : !strcmp(key, "fortran_order") ? 2 : !strcmp(key, "shape") ? 4 : 0;
    if (!bit || h->seen & bit) return false;
    h->seen |= bit;
    if (bit == 4) return read_shape(t, h);
    if (bit == 2) {
        h->fortran = skip_word(t, "True");
        return h->fortran || skip_word(t, "False");
    }
    skip_blanks(t);
    *type_is_list = t->at < t->end && *t->at == '[';
    return !*type_is_list && read_string(t, h->descr, sizeof h->descr);
}

static spot_status read_dict(spot_ctx *c, npy_header *h, const char *bytes, size_t n, size_t before, const char *name)
{
    text t = { bytes, bytes + n };
    bool good = skip_symbol(&t, '{'), fields = false;

    while (good && !skip_symbol(&t, '}')) {
        good = read_entry(&t, h, &fields);
        if (good && !skip_symbol(&t, ',')) {
            good = skip_symbol(&t, '}');
            break;
        }
    }
    if (fields)
        return spot_fail(c, SPOT_INPUT, "{npy.fields} %s has named fields (a structured array); save them one by one: "
                         "numpy.save(file, a[\"field\"])", name);
    if (good) skip_blanks(&t);
    if (!good || t.at != t.end || h->seen != 7)
        return spot_fail(c, SPOT_INPUT, "{npy.header} %s: its header is not the descr, fortran_order and shape of a .npy file "
                         "(byte %zu)", name, before + (size_t)(t.at - bytes));
    return SPOT_OK;
}

/* -- the type -------------------------------------------------------------------------------------------------- */

/* Sets kind and size, or fails with advice for an unsupported type. */
static spot_status check_type(spot_ctx *c, npy_header *h, const char *name)
{
    const char *d = h->descr;
    char order = *d && strchr("<>|=", *d) ? *d++ : '|';
    bool known = *d && strchr("biufcSUVMm", *d), number = known && spot_integer(&h->size, d + 1, strlen(d + 1));

    h->kind = *d;
    if (*d == 'O')
        return spot_fail(c, SPOT_INPUT, "{npy.objects} %s holds pickled Python objects (object), which can run any program and "
                         "are not read; save numbers, or words with a.astype(str)", name);
    if (!known || (number && h->size < 1))
        return spot_fail(c, SPOT_INPUT, "{npy.no_type} %s: \"%s\" is no type of numpy's", name, h->descr);
    h->big = order == '>' && number && (h->size > 1 || *d == 'U') && *d != 'S';
    if (number && (*d == 'U' || *d == 'S') && h->size <= MAX_WORD) {
        h->size *= *d == 'U' ? 4 : 1;
        return SPOT_OK;
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (number && types[i].kind == *d && types[i].size == h->size) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{npy.type} %s is of type %s, which is not read; save a.astype(\"float32\"), or \"int64\" "
                     "for whole numbers", name, h->descr);
}

/* Both orders are equal if at most one dimension is longer than 1. */
static bool order_matters(const npy_header *h)
{
    int longer = 0;

    for (int i = 0; i < h->rank; i++) longer += h->dim[i] > 1;
    return longer > 1;
}

static spot_status read_header(spot_ctx *c, npy_header *h, spot_stream *in, const char *name)
{
    uint8_t start[12] = "";
    uint32_t length;
    size_t before;
    char *bytes;
    spot_status s;

    if (in->size - in->at < 10)
        return spot_fail(c, SPOT_INPUT, "{npy.short} %s: %" PRIu64 " bytes are too few for a .npy file", name,
                         in->size - in->at);
    SPOT_TRY(in->take(c, in, start, 10));
    if (memcmp(start, "\x93NUMPY", 6))
        return spot_fail(c, SPOT_INPUT, "{npy.begin} %s does not begin as a .npy file does (byte 0)", name);
    if (start[6] < 1 || start[6] > 3 || start[7])
        return spot_fail(c, SPOT_INPUT, "{npy.version} %s is of version %d.%d of .npy; 1, 2 and 3 are read", name, start[6],
                         start[7]);
    before = start[6] == 1 ? 10 : 12;
    if (before == 12 && in->size - in->at < 2)
        return spot_fail(c, SPOT_INPUT, "%s is cut short in its header (byte %" PRIu64 ")", name, in->at);
    if (before == 12) SPOT_TRY(in->take(c, in, start + 10, 2));
    length = start[8] | (uint32_t)start[9] << 8 | (uint32_t)start[10] << 16 | (uint32_t)start[11] << 24;
    if (length > in->size - in->at || length > MAX_HEADER)
        return spot_fail(c, SPOT_INPUT, "{npy.header_length} %s: a header of %" PRIu32 " bytes, where %" PRIu64 " follow and "
                         "%d are the most", name, length, in->size - in->at, MAX_HEADER);
    bytes = malloc(length + 1);
    if (!bytes) return spot_fail(c, SPOT_NOMEM, "no memory for the header of %s", name);
    s = in->take(c, in, bytes, length);
    if (!s) s = read_dict(c, h, bytes, length, before, name);
    free(bytes);
    if (!s) s = check_type(c, h, name);
    h->fortran = h->fortran && order_matters(h);
    return s;
}

/* -- the values ------------------------------------------------------------------------------------------------ */

/* Converts a value of 'U' (UCS-4, padded with NUL) to UTF-8; -1 if it is no text. At most 4 bytes a character. */
static long utf8_of(char *out, const uint8_t *v, size_t size)
{
    char *p = out;
    size_t n = size / 4;

    for (; n; n--)
        if (memcmp(v + (n - 1) * 4, "\0\0\0", 4)) break;
    for (size_t i = 0; i < n; i++) {
        uint32_t u = v[4 * i] | (uint32_t)v[4 * i + 1] << 8 | (uint32_t)v[4 * i + 2] << 16 | (uint32_t)v[4 * i + 3] << 24;
        if (u > 0x10ffff || (u >= 0xd800 && u < 0xe000)) return -1;
        if (u < 0x80) *p++ = (char)u;
        else if (u < 0x800) *p++ = (char)(0xc0 | u >> 6);
        else if (u < 0x10000) *p++ = (char)(0xe0 | u >> 12);
        else *p++ = (char)(0xf0 | u >> 18);
        if (u >= 0x10000) *p++ = (char)(0x80 | (u >> 12 & 63));
        if (u >= 0x800) *p++ = (char)(0x80 | (u >> 6 & 63));
        if (u >= 0x80) *p++ = (char)(0x80 | (u & 63));
    }
    return (long)(p - out);
}

static spot_status cut_words(spot_ctx *c, spot_array *a, const npy_header *h, uint8_t *raw, const char **text_of,
                             size_t *length, size_t limit)
{
    char where[64];

    for (size_t i = 0; i < a->count; i++) {
        uint8_t *v = raw + i * (size_t)h->size;
        long n = 0;
        text_of[i] = (char *)v;
        if (h->kind == 'U') n = utf8_of((char *)v, v, (size_t)h->size);    /* never longer than the source */
        else for (n = (long)h->size; n && !v[n - 1]; n--) continue;
        if (n < 0)
            return spot_fail(c, SPOT_INPUT, "{npy.character} %s: %s holds a character that Unicode has not", a->name,
                             spot_array_place(where, a, i));
        length[i] = (size_t)n;
    }
    return spot_array_words(c, a, text_of, length, limit);
}

/* The values in the order of C and of this machine. */
static spot_status take_values(spot_ctx *c, const spot_array *a, const npy_header *h, spot_stream *in, void *out, size_t bytes)
{
    SPOT_TRY(h->fortran ? spot_npy_take_columns(c, out, a, (size_t)h->size, in) : in->take(c, in, out, bytes));
    if (h->big) spot_npy_swap(out, h->kind == 'U' ? bytes / 4 : a->count, h->kind == 'U' ? 4 : (size_t)h->size);
    return SPOT_OK;
}

static spot_status read_words(spot_ctx *c, spot_array *a, const npy_header *h, spot_stream *in, size_t bytes, size_t limit)
{
    uint8_t *raw;
    const char **text_of;
    size_t *length;
    spot_status s;

    SPOT_TRY(s = spot_array_fits(c, a, bytes, limit));
    raw = malloc(bytes + 1);
    text_of = malloc((a->count + 1) * sizeof *text_of);
    length = malloc((a->count + 1) * sizeof *length);
    if (!raw || !text_of || !length) s = spot_fail(c, SPOT_NOMEM, "no memory for the %zu words of %s", a->count, a->name);
    if (!s) s = take_values(c, a, h, in, raw, bytes);
    if (!s) s = cut_words(c, a, h, raw, text_of, length, limit);
    free(raw);
    free(text_of);
    free(length);
    return s;
}

/* Checks that unsigned 64-bit numbers fit into signed ones. */
static spot_status check_values(spot_ctx *c, const spot_array *a, const npy_header *h)
{
    char where[64];
    size_t i = 0;

    if (h->kind == 'u' && h->size == 8) {
        const int64_t *v = a->data;
        while (i < a->count && v[i] >= 0) i++;
        if (i < a->count)
            return spot_fail(c, SPOT_INPUT, "{npy.number} %s: %s is %" PRIu64 ", more than 9223372036854775807", a->name,
                             spot_array_place(where, a, i), (uint64_t)v[i]);
    }
    return spot_array_check(c, a);
}

/* Reads the header into *h and a, whose values take *bytes. */
static spot_status describe(spot_ctx *c, spot_array *a, npy_header *h, uint64_t *bytes, spot_stream *in)
{
    SPOT_TRY(read_header(c, h, in, a->name));
    a->rank = h->rank;
    a->count = 1;
    *bytes = (uint64_t)h->size;
    for (int i = 0; i < h->rank; i++) {
        a->dim[i] = h->dim[i];
        if (__builtin_mul_overflow(*bytes, (uint64_t)h->dim[i], bytes) || *bytes > SIZE_MAX / 2)
            return spot_fail(c, SPOT_INPUT, "{array.shape} %s: size %d of its shape is not possible", a->name, i);
        a->count *= (size_t)h->dim[i];
    }
    a->type = SPOT_WORDS;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].kind == h->kind && types[i].size == h->size) a->type = types[i].type;
    return SPOT_OK;
}

spot_status spot_npy_header(spot_ctx *c, spot_array *a, spot_stream *in)
{
    npy_header h = { 0 };
    uint64_t bytes;

    SPOT_TRY(describe(c, a, &h, &bytes, in));
    if (h.big)
        return spot_fail(c, SPOT_INPUT, "{npy.big_endian} %s is big-endian (%s); save a.astype(a.dtype.newbyteorder(\"<\"))",
                         a->name, h.descr);
    return !h.fortran ? SPOT_OK : spot_fail(c, SPOT_INPUT, "{npy.fortran} %s is in Fortran order (column after column); save "
                                            "numpy.ascontiguousarray(a)", a->name);
}

/* Says the memory of an array that is turned, before it is taken. */
static spot_status check_columns(spot_ctx *c, const spot_array *a, const npy_header *h, size_t bytes, size_t limit)
{
    const size_t block = spot_npy_column_bytes(a, (size_t)h->size);

    SPOT_TRY(spot_array_fits(c, a, bytes + block, limit));
    if (bytes >= LONG)
        spot_log(c, SPOT_LOG_INFO, "%s is in Fortran order (column after column): its rows are put together, which takes %.0f "
                 "MB beside its %.0f MB", a->name, (double)block / 1e6, (double)bytes / 1e6);
    return SPOT_OK;
}

spot_status spot_npy_read(spot_ctx *c, spot_array *a, spot_stream *in, size_t limit)
{
    npy_header h = { 0 };
    uint64_t bytes;

    SPOT_TRY(describe(c, a, &h, &bytes, in));
    if (bytes != in->size - in->at)
        return spot_fail(c, SPOT_INPUT, "{npy.cut} %s %s: it ends at byte %" PRIu64 ", its header promises %" PRIu64 " bytes",
                         a->name,
                         bytes > in->size - in->at ? "is cut short" : "is longer than it says", in->size, in->at + bytes);
    if (h.fortran) SPOT_TRY(check_columns(c, a, &h, (size_t)bytes, limit));
    if (a->type == SPOT_WORDS) return read_words(c, a, &h, in, (size_t)bytes, limit);
    SPOT_TRY(spot_array_take(c, a, limit));
    SPOT_TRY(take_values(c, a, &h, in, a->data, (size_t)bytes));
    return check_values(c, a, &h);
}

/* -- writing --------------------------------------------------------------------------------------------------- */

void spot_npy_start(char start[SPOT_NPY_START], const char *descr, const int *dim, int rank)
{
    char dict[SPOT_NPY_START], shape[4 * 13] = "";
    int n = 0;

    for (int i = 0; i < rank; i++) n += snprintf(shape + n, sizeof shape - (size_t)n, i ? ", %d" : "%d", dim[i]);
    snprintf(dict, sizeof dict, "{'descr': '%s', 'fortran_order': False, 'shape': (%s%s), }", descr, shape,
             rank == 1 ? "," : "");
    memcpy(start, "\x93NUMPY\1\0\x76\0", 10);                              /* 0x76 = 118: data begins at byte 128 */
    memset(start + 10, ' ', SPOT_NPY_START - 11);
    memcpy(start + 10, dict, strlen(dict));
    start[SPOT_NPY_START - 1] = '\n';
}

typedef struct { const float *v; int rows, columns; } plain;

static bool write_npy(FILE *f, const void *what)
{
    const plain *p = what;
    const int dim[2] = { p->rows, p->columns };
    size_t count = (size_t)p->rows * (size_t)(p->columns ? p->columns : 1);
    char start[SPOT_NPY_START];

    spot_npy_start(start, "<f4", dim, p->columns ? 2 : 1);
    return fwrite(start, 1, sizeof start, f) == sizeof start && fwrite(p->v, sizeof(float), count, f) == count;
}

spot_status spot_npy_write(spot_ctx *c, const char *path, const float *v, int rows, int columns)
{
    plain p = { v, rows, columns };

    return spot_file_fill(c, path, write_npy, &p);
}
