/* array.h - numbers and words from a user's file: .npy, .npz, .safetensors, .csv, .tsv; and how pictures of files are read.
 *
 * "FILE:NAME" selects one of several: an array of an npz, a tensor, a column of a csv. "FILE.csv:a,b,c" or
 * "FILE.csv:e0..e511" takes columns side by side (a range goes by the numbers at the end of the names, in any order in the
 * file; by position where the names end in no number). Reading copies: C order, byte order of this machine. Unsigned 64-bit
 * numbers of a .npy become I64. An array in Fortran order takes the memory of a few columns more, which is said before where it
 * is large. Arrays with named fields are refused; the sentence says how to save them. Every byte of a file is checked before
 * use. A cut or hostile file, an archive that would inflate beyond `limit` bytes, pickled objects, or text where a number must
 * be: SPOT_INPUT with the file and the row or byte at fault. Rows count from 0. Lines and cells of a .csv count from 1, as in
 * text editors.
 *
 * Cells of a .csv or .tsv may stand between semicolons or tabs, with decimal commas, where its header and first rows say so; an
 * info line tells it. A column of lists, "[0.1, -2]", is (rows, numbers). */
#ifndef SPOTTER_ARRAY_H
#define SPOTTER_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spotter/ctx.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SPOT_ARRAY_DIMS 8

/* Types of values. Reading keeps the type; the two functions below convert. WORDS: char *[count], in one block. */
typedef enum { SPOT_F32, SPOT_I64, SPOT_F64, SPOT_F16, SPOT_BFLOAT16, SPOT_I32, SPOT_I16, SPOT_I8, SPOT_U8, SPOT_U16, SPOT_U32,
               SPOT_BOOL, SPOT_WORDS, SPOT_DTYPES } spot_dtype;

typedef struct {
    spot_dtype type;
    int        rank;                       /* 0: a single value */
    int64_t    dim[SPOT_ARRAY_DIMS];
    size_t     count;                      /* the product of dim */
    void      *data;                       /* aligned to 64, malloc'd: spot_array_close */
    char       name[256];                  /* "FILE:NAME", for sentences */
    char     **column;                     /* names of the columns of a .csv, malloc'd in one block; else NULL */
    bool       comma;                      /* words of a .csv whose numbers have decimal commas */
    bool       padded;                     /* whole numbers of a .csv, and some have zeros in front, which the words may need */
    const char *encoder;                   /* name of the encoder that made an array of the caller; NULL: not known */
} spot_array;

/* `where` is "FILE" or "FILE:NAME". limit: the most bytes of the array; 0: as much as memory has. */
spot_status spot_array_read (spot_ctx *c, spot_array *a, const char *where, size_t limit);
void        spot_array_close(spot_array *a);             /* accepts a zeroed array */

/* The array as (count) floats or ints. SPOT_INPUT names the row of a number that is not finite, or not a whole number in
 * [least, most]. spot_array_floats hands over an F32 array's data without a copy. */
spot_status spot_array_floats(spot_ctx *c, float **out, spot_array *a);
spot_status spot_array_ints  (spot_ctx *c, int *out, const spot_array *a, int least, int most);

/* Writes (rows, columns) floats (columns 0: rank 1) as .npy, whole or not at all. */
spot_status spot_npy_write(spot_ctx *c, const char *path, const float *v, int rows, int columns);

/* ---- pictures ---- */

/* How a picture's file becomes pixels, and pixels a square. All zero: as torchvision's loader and transforms have it with the
 * newest Pillow. The orientation that EXIF tells of a photo is ignored, or applied as by PIL's ImageOps.exif_transpose; only
 * EXIF's own tag counts, an orientation in XMP is not read. Pillow up to 12 filters rows first; 13 filters columns first where
 * the height shrinks by more than twice as many pixels as the width, so some bytes of tall pictures differ by 1. */
typedef enum { SPOT_EXIF_IGNORE, SPOT_EXIF_APPLY } spot_exif;
typedef enum { SPOT_PILLOW_13, SPOT_PILLOW_12 } spot_pillow;

typedef struct { int exif, pillow; } spot_picture_reading;

/* How the bytes of a picture become the input of a network: (byte / scale - mean) / std by channel, in fp32. All zero: as the
 * network has it, by its file or by custom: 255 and ImageNet's numbers; a CLIP has its own. */
typedef enum { SPOT_INTERPOLATION_OWN, SPOT_INTERPOLATION_BILINEAR, SPOT_INTERPOLATION_BICUBIC } spot_interpolation;

typedef struct {
    const char *mean, *std;        /* "0.5", or "0.485,0.456,0.406" of red, green and blue; NULL or "": the network's own */
    double scale;                  /* by which bytes are divided first; 0: 255; 1: they stay as they are */
    int    interpolation;          /* of resizing; OWN: bilinear, bicubic for a CLIP and a ViT */
    bool   resizes, crops;         /* the caller has chosen `resize` or `crop`, which stand beside this struct: then they hold
                                    * for a CLIP and a ViT, too, which otherwise have sizes of their own */
} spot_picture_input;

/* A value of `resize`: the whole picture is squeezed to the square of `crop` pixels, whatever its shape. */
#define SPOT_SQUEEZE (-1)

#ifdef __cplusplus
}
#endif
#endif
