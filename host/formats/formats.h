/* formats.h - what the readers of a user's array files share; include/spotter/array.h is what others see of them.
 *
 * Bytes come from a file or from memory (the fuzz targets) through a spot_blob, which is read at places, and member by
 * member through a spot_stream, which is read once from its start to its end. A reader believes nothing that it has not
 * compared with the size of what it reads, and takes memory only for bytes that are there. */
#ifndef SPOTTER_FORMATS_H
#define SPOTTER_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/text.h"
#include "spotter/array.h"
#include "spotter/ctx.h"

/* Bytes of a value and the name that safetensors has for its type. */
size_t      spot_dtype_size(spot_dtype t);
const char *spot_dtype_name(spot_dtype t);

/* -- where bytes come from ------------------------------------------------------------------------------------- */

typedef struct {
    const char    *name;                   /* for sentences */
    int            fd;
    const uint8_t *bytes;                  /* not NULL: memory, and fd is not used */
    uint64_t       size;
} spot_blob;

/* A regular file; SPOT_IO where it cannot be opened, SPOT_INPUT where it is a folder, a pipe, a device. */
spot_status spot_blob_open(spot_ctx *c, spot_blob *s, const char *path);
void        spot_blob_close(spot_blob *s);
spot_blob spot_blob_memory(const void *bytes, size_t size, const char *name);

/* n bytes from place at; SPOT_INPUT with the place where the source ends before them. */
spot_status spot_blob_read(spot_ctx *c, const spot_blob *s, uint64_t at, void *out, size_t n);

typedef struct spot_stream spot_stream;
struct spot_stream {
    const char *name;                      /* for sentences */
    uint64_t    size, at;                  /* bytes in all, and how many were taken */
    spot_status (*take)(spot_ctx *c, spot_stream *s, void *out, size_t n);      /* n <= size - at */
    const void *from;
};

spot_stream spot_blob_stream(const spot_blob *s);

/* -- what is made of them -------------------------------------------------------------------------------------- */

/* SPOT_INPUT where bytes are more than limit; SPOT_NOMEM, with limit 0, where they are more than the machine has. */
spot_status spot_array_fits(spot_ctx *c, const spot_array *a, size_t bytes, size_t limit);

/* type, rank and dim of a are set: counts, compares with limit, takes the memory. Not for words. */
spot_status spot_array_take(spot_ctx *c, spot_array *a, size_t limit);

/* Truth values are 0 or 1. */
spot_status spot_array_check(spot_ctx *c, const spot_array *a);

/* Words of a, whose rank, dim and count are set, from texts that end in NUL; length[i] is that of text[i]. UTF-8 is wanted. */
spot_status spot_array_words(spot_ctx *c, spot_array *a, const char *const *text, const size_t *length, size_t limit);

/* n values from value i on; integers beyond 2^53 lose their last bits. Not of words. */
void spot_array_doubles(double *out, const spot_array *a, size_t i, size_t n);

/* "row 5" or "row 5, column 3": where value i of a stands. */
const char *spot_array_place(char text[64], const spot_array *a, size_t i);

/* The formats. a is zeroed but for its name; it is to be closed after success only. */
spot_status spot_npy_read(spot_ctx *c, spot_array *a, spot_stream *in, size_t limit);
spot_status spot_npz_read(spot_ctx *c, spot_array *a, const spot_blob *in, const char *member, size_t limit);
spot_status spot_csv_read(spot_ctx *c, spot_array *a, const spot_blob *in, const char *columns, size_t limit);

/* A number, and nothing beside it, as C and JSON write it, for every locale the same; also nan and inf. */
bool spot_number (double *out, const char *text, size_t n);
bool spot_integer(int64_t *out, const char *text, size_t n);

#endif
