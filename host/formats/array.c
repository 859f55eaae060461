/* array.c - memory and types of arrays, for all formats. */
#define _GNU_SOURCE
#include "spotter/array.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/formats.h"

enum { HUGE = 2 << 20 };       /* bytes of a large page */

static const struct { const char *name; size_t size; } types[SPOT_DTYPES] = {
    [SPOT_F32] = { "F32", 4 }, [SPOT_I64] = { "I64", 8 }, [SPOT_F64] = { "F64", 8 }, [SPOT_F16] = { "F16", 2 },
    [SPOT_BFLOAT16] = { "BF16", 2 }, [SPOT_I32] = { "I32", 4 }, [SPOT_I16] = { "I16", 2 }, [SPOT_I8] = { "I8", 1 },
    [SPOT_U8] = { "U8", 1 }, [SPOT_U16] = { "U16", 2 }, [SPOT_U32] = { "U32", 4 }, [SPOT_BOOL] = { "BOOL", 1 },
    [SPOT_WORDS] = { "words", sizeof(char *) },
};

size_t      spot_dtype_size(spot_dtype t) { return t < SPOT_DTYPES ? types[t].size : 0; }
const char *spot_dtype_name(spot_dtype t) { return t < SPOT_DTYPES ? types[t].name : "of a type that is not read"; }

/* The machine's memory: the limit if the caller sets none. Larger claims are refused before any allocation. */
static size_t bytes_of_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

    return pages > 0 && size > 0 ? (size_t)pages * (size_t)size : SIZE_MAX;
}

spot_status spot_array_fits(spot_ctx *c, const spot_array *a, size_t bytes, size_t limit)
{
    size_t most = limit ? limit : bytes_of_memory();

    if (bytes <= most && bytes <= SIZE_MAX / 2) return SPOT_OK;
    return spot_fail(c, limit ? SPOT_INPUT : SPOT_NOMEM, "{array.memory} %s would take %zu bytes of memory; %s %zu", a->name,
                     bytes,
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
            return spot_fail(c, SPOT_INPUT, "{array.shape} %s: size %d of its shape is not possible", a->name, i);
        a->count *= (size_t)a->dim[i];
    }
    return take_block(c, a, bytes, limit);
}

const char *spot_array_place(char text[64], const spot_array *a, size_t i)
{
    size_t per_row = a->rank && a->dim[0] ? a->count / (size_t)a->dim[0] : 1;

    if (a->rank < 2) snprintf(text, 64, "row %zu", i);
    else snprintf(text, 64, "row %zu, column %zu", i / per_row, i % per_row);
    return text;
}

spot_status spot_array_check(spot_ctx *c, const spot_array *a)
{
    const uint8_t *v = a->data;
    char where[64];
    size_t i = 0;

    while (a->type == SPOT_BOOL && i < a->count && v[i] <= 1) i++;
    if (a->type != SPOT_BOOL || i == a->count) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{array.truth_value} %s: %s is %d where a truth value is 0 or 1", a->name,
                     spot_array_place(where, a, i), v[i]);
}

spot_status spot_array_words(spot_ctx *c, spot_array *a, const char *const *text, const size_t *length, size_t limit)
{
    size_t bytes = a->count * sizeof(char *);
    char **word, *at, where[64];

    for (size_t i = 0; i < a->count; i++) {
        size_t good = spot_utf8(text[i], length[i]);
        if (good < length[i] || memchr(text[i], 0, length[i]))
            return spot_fail(c, SPOT_INPUT, "{array.utf8} %s: %s is no text in UTF-8 (its byte %zu)", a->name,
                             spot_array_place(where, a, i),
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
    free(a->column);
    memset(a, 0, sizeof *a);
}
