/* formats.h - shared parts of the readers of array files; the public interface is include/spotter/array.h.
 *
 * Bytes come from a file or from memory (fuzz targets). A spot_blob gives random access; a spot_stream is read once from start
 * to end. A reader compares every size with the size of its source before it trusts it, and allocates memory only for bytes
 * that exist. */
#ifndef SPOTTER_FORMATS_H
#define SPOTTER_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/text.h"
#include "spotter/array.h"
#include "spotter/ctx.h"

/* Size of a value in bytes; name of its type in safetensors. */
size_t      spot_dtype_size(spot_dtype t);
const char *spot_dtype_name(spot_dtype t);

/* -- where bytes come from ------------------------------------------------------------------------------------- */

typedef struct {
    const char    *name;                   /* for errors */
    int            fd;
    const uint8_t *bytes;                  /* not NULL: reads memory, not fd */
    uint64_t       size;
} spot_blob;

/* Opens a regular file; SPOT_IO if it cannot be opened, SPOT_INPUT for a folder, a pipe or a device. */
spot_status spot_blob_open(spot_ctx *c, spot_blob *s, const char *path);
void        spot_blob_close(spot_blob *s);
spot_blob spot_blob_memory(const void *bytes, size_t size, const char *name);

/* Reads n bytes from position `at`; SPOT_INPUT, with the position, if the source is shorter. */
spot_status spot_blob_read(spot_ctx *c, const spot_blob *s, uint64_t at, void *out, size_t n);

typedef struct spot_stream spot_stream;
struct spot_stream {
    const char *name;                      /* for errors */
    uint64_t    size, at;                  /* bytes in total; bytes already taken */
    spot_status (*take)(spot_ctx *c, spot_stream *s, void *out, size_t n);      /* n <= size - at */
    const void *from;
};

spot_stream spot_blob_stream(const spot_blob *s);

/* Splits "FILE:NAME", the place of an array or of a column; *path is to be freed, *name points into where, NULL without a name.
 * Both may hold colons: the shortest prefix that is a file is the path. */
spot_status spot_place_split(spot_ctx *c, char **path, const char **name, const char *where);

/* -- arrays ---------------------------------------------------------------------------------------------------- */

/* SPOT_INPUT if bytes exceed limit; SPOT_NOMEM, with limit 0, if they exceed the machine's memory. */
spot_status spot_array_fits(spot_ctx *c, const spot_array *a, size_t bytes, size_t limit);

/* Counts the values of type, rank and dim, compares their bytes with limit, allocates them. Not for words. */
spot_status spot_array_take(spot_ctx *c, spot_array *a, size_t limit);

/* Checks that truth values are 0 or 1. */
spot_status spot_array_check(spot_ctx *c, const spot_array *a);

/* Copies the words of a from UTF-8 texts that end in NUL; length[i] belongs to text[i]. Set rank, dim and count of a before. */
spot_status spot_array_words(spot_ctx *c, spot_array *a, const char *const *text, const size_t *length, size_t limit);

/* n values from value i on; integers beyond 2^53 lose their last bits. Not for words. */
void spot_array_doubles(double *out, const spot_array *a, size_t i, size_t n);

/* The index of the first value that is not finite or beyond most in size, or count. bad (rows): 1 for each row that has such a
 * value; others stay. Not for words. */
size_t spot_array_first_beyond(spot_ctx *c, const spot_array *a, double most);
void   spot_array_rows_beyond (spot_ctx *c, const spot_array *a, double most, uint8_t *bad);

/* spot_array_floats without its check: beyond a float is infinity. And one value as spot_array_ints gives it. */
spot_status spot_array_to_floats(spot_ctx *c, float **out, spot_array *a);
spot_status spot_array_whole    (spot_ctx *c, int *out, const spot_array *a, size_t i, const int range[2]);

/* Whether a text stands for a value that is missing: nothing, nan, None, null, NA, N/A, <NA>, NaT, as pandas reads and writes
 * them. */
bool spot_is_missing(const char *text, size_t n);

/* spot_array_read with more to say. text: a column of a .csv stays words, also where all are numbers. holes: a missing cell of
 * a .csv is NaN among numbers, and stays a word among words; else an empty cell is SPOT_INPUT. */
typedef struct { size_t limit; bool text, holes; } spot_array_how;
spot_status spot_array_read_as(spot_ctx *c, spot_array *a, const char *where, const spot_array_how *how);

/* The name of the key under which a file of spotter embed tells what it was made of. */
#define SPOT_MADE_BY_EMBED "spotter.embed"

/* Facts that a file of spotter embed tells of itself, in the metadata of .safetensors or in the .json beside .npy: "" where
 * there is none, and all "" for a file of another maker. */
enum { SPOT_NOTE_MADE_BY, SPOT_NOTE_ENCODER, SPOT_NOTE_ROWS_OF, SPOT_NOTE_ROWS, SPOT_NOTE_DIM, SPOT_NOTE_SKIPPED,
       SPOT_NOTES };
typedef struct { char text[SPOT_NOTES][40]; } spot_notes;

spot_status spot_notes_read(spot_ctx *c, spot_notes *notes, const char *path);

/* The same for an array that was read from `where` (spot_array_read): notes of an array of another shape do not count, since a
 * .json may stay where its .npy was replaced. */
spot_status spot_array_notes(spot_ctx *c, spot_notes *notes, const spot_array *a, const char *where);

/* The F16 nearest to x, ties to even; beyond 65,519 infinity. */
uint16_t spot_half_bits(float x);

/* "row 5" or "row 5, column 3": the place of value i of a. */
const char *spot_array_place(char text[64], const spot_array *a, size_t i);

/* The formats. Zero a except its name; close it after success only. */
spot_status spot_npy_read(spot_ctx *c, spot_array *a, spot_stream *in, size_t limit);
spot_status spot_npz_read(spot_ctx *c, spot_array *a, const spot_blob *in, const char *member, size_t limit);
spot_status spot_csv_read(spot_ctx *c, spot_array *a, const spot_blob *in, const char *columns, const spot_array_how *how);

/* The header of an array in a stream, which may have any size: a's type (SPOT_WORDS for texts), rank, dim and count. Its values
 * follow, in the order of C and of this machine: SPOT_INPUT for others. */
spot_status spot_npy_header(spot_ctx *c, spot_array *a, spot_stream *in);

/* The bytes of a .npy before its values. descr: numpy's name of their type, "<f4"; rank 1 to 4. */
enum { SPOT_NPY_START = 128 };
void spot_npy_start(char start[SPOT_NPY_START], const char *descr, const int *dim, int rank);

/* Parses a text that is one number as C and JSON write it, independent of the locale; also nan and inf. */
bool spot_number (double *out, const char *text, size_t n);
bool spot_integer(int64_t *out, const char *text, size_t n);

#endif
