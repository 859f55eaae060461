/* array.h - numbers and words that a user brings in a file: .npy, .npz, .safetensors, .csv.
 *
 * Where a file holds several, "FILE:NAME" says which: an array of the npz, a tensor, a column of the csv. "FILE.csv:a,b,c"
 * or "FILE.csv:e0..e511" takes columns side by side (by number, whatever their order in the file; by place where the names
 * end in none). What is read is copied: C order, this machine's byte order. Arrays in Fortran order, big-endian ones, those
 * with named fields are refused: the sentence says how to save them. Unsigned 64-bit numbers of a .npy become I64. Nothing of
 * a file is believed before it is checked: a file that is cut, hostile, an archive that would inflate beyond `limit` bytes,
 * pickled objects, a number that is none: SPOT_INPUT with the file and the row or byte at fault. Rows count from 0, lines and
 * cells of a .csv, which text editors show, from 1. */
#ifndef SPOTTER_ARRAY_H
#define SPOTTER_ARRAY_H

#include <stddef.h>
#include <stdint.h>

#include "spotter/ctx.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SPOT_ARRAY_DIMS 8

/* What a file may hold. Reading keeps the type; the two functions below convert. WORDS: char *[count], in one block. */
typedef enum { SPOT_F32, SPOT_I64, SPOT_F64, SPOT_F16, SPOT_BFLOAT16, SPOT_I32, SPOT_I16, SPOT_I8, SPOT_U8, SPOT_U16, SPOT_U32,
               SPOT_BOOL, SPOT_WORDS, SPOT_DTYPES } spot_dtype;

typedef struct {
    spot_dtype type;
    int        rank;                       /* 0: a single value */
    int64_t    dim[SPOT_ARRAY_DIMS];
    size_t     count;                      /* the product of dim */
    void      *data;                       /* aligned to 64, malloc'd: spot_array_close */
    char       name[256];                  /* "FILE:NAME" as sentences call it */
} spot_array;

/* `where` is "FILE" or "FILE:NAME". limit: bytes that the array may take, 0 for what memory has. */
spot_status spot_array_read (spot_ctx *c, spot_array *a, const char *where, size_t limit);
void        spot_array_close(spot_array *a);             /* accepts a zeroed array */

/* Numbers as floats or ints into out (count), refused where one is not finite, or not a whole number in [least, most]: the
 * sentence names the row. spot_array_floats takes over what is float already, without a copy. */
spot_status spot_array_floats(spot_ctx *c, float **out, spot_array *a);
spot_status spot_array_ints  (spot_ctx *c, int *out, const spot_array *a, int least, int most);

/* Writes (rows, columns) floats, columns 0: (rows), as .npy, whole or not at all. */
spot_status spot_npy_write(spot_ctx *c, const char *path, const float *v, int rows, int columns);

#ifdef __cplusplus
}
#endif
#endif
