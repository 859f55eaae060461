/* npy_order.c - see npy_order.h. */
#include "formats/npy_order.h"

#include <stdlib.h>
#include <string.h>

enum { TILE = 64, BLOCK = 16 << 20 };          /* rows that a thread copies together; bytes of columns that are read together */

/* Columns of a block: as many as BLOCK bytes hold, one at least. */
static size_t block_columns(const spot_array *a, size_t size)
{
    const size_t rows = a->rank ? (size_t)a->dim[0] : 1, columns = rows ? a->count / rows : 0;
    const size_t most = rows && BLOCK / size / rows ? BLOCK / size / rows : 1;

    return columns < most ? columns : most;
}

size_t spot_npy_column_bytes(const spot_array *a, size_t size)
{
    return a->rank ? block_columns(a, size) * (size_t)a->dim[0] * size : 0;
}

/* The place in C's order of column k, in whose number the first index counts fastest. */
static size_t place_of(const spot_array *a, size_t k)
{
    size_t place = 0;

    for (int i = 1; i < a->rank; i++) {
        place = place * (size_t)a->dim[i] + k % (size_t)a->dim[i];
        k /= (size_t)a->dim[i];
    }
    return place;
}

typedef struct {
    char *out;
    const char *block;
    const size_t *place;       /* (n) in the row of each column */
    size_t rows, columns, n, size;     /* n: columns of this block */
} block_copy;

/* Copies rows [from, to) of a block. */
static void copy_rows(const block_copy *b, size_t from, size_t to)
{
#define COPY(type)                                                                              \
    for (size_t i = from; i < to; i++) {                                                        \
        type *row = (type *)(void *)b->out + i * b->columns;                                    \
        for (size_t j = 0; j < b->n; j++) row[b->place[j]] = ((const type *)(const void *)b->block)[j * b->rows + i]; \
    }                                                                                           \
    return
    switch (b->size) {
    case 1: COPY(uint8_t);
    case 2: COPY(uint16_t);
    case 4: COPY(uint32_t);
    case 8: COPY(uint64_t);
    }
#undef COPY
    for (size_t i = from; i < to; i++)
        for (size_t j = 0; j < b->n; j++)
            memcpy(b->out + (i * b->columns + b->place[j]) * b->size, b->block + (j * b->rows + i) * b->size, b->size);
}

static void copy_block(spot_ctx *c, const block_copy *b)
{
#pragma omp parallel for num_threads(c->threads > 0 ? c->threads : 1) schedule(static)
    for (size_t from = 0; from < b->rows; from += TILE) copy_rows(b, from, from + TILE < b->rows ? from + TILE : b->rows);
}

spot_status spot_npy_take_columns(spot_ctx *c, void *out, const spot_array *a, size_t size, spot_stream *in)
{
    const size_t most = block_columns(a, size);
    char *block = malloc(spot_npy_column_bytes(a, size) + 1);
    size_t *place = malloc((most + 1) * sizeof *place);
    block_copy b = { .out = out, .block = block, .place = place, .rows = (size_t)a->dim[0], .size = size };
    spot_status s = block && place ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for %zu columns of %s", most, a->name);

    b.columns = b.rows ? a->count / b.rows : 0;
    for (size_t k = 0; !s && k < b.columns; k += b.n) {
        b.n = b.columns - k < most ? b.columns - k : most;
        for (size_t j = 0; j < b.n; j++) place[j] = place_of(a, k + j);
        s = in->take(c, in, block, b.n * b.rows * size);
        if (!s) copy_block(c, &b);
        if (!s) s = spot_check_stop(c);
    }
    free(block);
    free(place);
    return s;
}

void spot_npy_swap(void *values, size_t n, size_t size)
{
#define SWAP(type, swapped)                             \
    {                                                   \
        type *v = values;                               \
        for (size_t i = 0; i < n; i++) v[i] = swapped(v[i]); \
    }
    if (size == 2) SWAP(uint16_t, __builtin_bswap16)
    if (size == 4) SWAP(uint32_t, __builtin_bswap32)
    if (size == 8) SWAP(uint64_t, __builtin_bswap64)
#undef SWAP
}
