/* safetensors.h - named tensors in one file: the header's length (8 bytes, little-endian), a JSON header, the data.
 *
 * As strict as the format's authors: a header of at most 100,000,000 bytes, no duplicate key, as many bytes per tensor as its
 * shape needs, no gaps, overlaps or trailing bytes. Reads and writes the types of array.h except words. A file may hold tensors
 * of other types (U64, F8_E4M3, less than a byte); reading such a tensor is an error that names it. A bad file is SPOT_INPUT.
 * Assumes a little-endian machine. */
#ifndef SPOTTER_SAFETENSORS_H
#define SPOTTER_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#include "formats/formats.h"
#include "spotter/array.h"
#include "spotter/ctx.h"

#define SPOT_TENSOR_DIMS 8

typedef struct {
    const char *name;
    spot_dtype  type;          /* SPOT_DTYPES: unsupported */
    int         rank;
    int64_t     dim[SPOT_TENSOR_DIMS];
    const void *data;          /* unaligned: copy, do not cast; NULL if only the header was read */
    size_t      at;            /* reading: offset in the data */
    size_t      bytes;
    const char *dtype;         /* reading: the type's name in the file */
} spot_tensor;

typedef struct {
    int          count;
    spot_tensor *tensor;       /* sorted by name */
    void        *owned[3];     /* the file's bytes, the header's tree */
} spot_tensors;

/* Read a file, or bytes that outlive the tensors; `name` is for errors. Close after success. */
spot_status spot_tensors_open (spot_ctx *c, spot_tensors *t, const char *path);
spot_status spot_tensors_parse(spot_ctx *c, spot_tensors *t, const uint8_t *data, size_t size, const char *name);
void        spot_tensors_close(spot_tensors *t);

/* Reads the header alone, for tensors that are too large to hold all at once: t's data are NULL. Tensor i has its bytes at
 * *start + t->tensor[i].at of `in`. Close t. */
spot_status spot_tensors_header(spot_ctx *c, spot_tensors *t, const spot_blob *in, uint64_t *start);

/* SPOT_INPUT for a zip archive or a pickle, as torch.save writes, with the line of Python that converts it: a pickle can run
 * any program. */
spot_status spot_tensors_check_no_pickle(spot_ctx *c, const spot_blob *in);
spot_status spot_refuse_pickle(spot_ctx *c, const char *file, const char *kind);       /* the refusal; kind: "a pickle" */

/* Reads one tensor as an array; name NULL: the only tensor of the file. Reads no other tensor's bytes. */
spot_status spot_tensors_read(spot_ctx *c, spot_array *a, const spot_blob *in, const char *name, size_t limit);

/* NULL if no tensor has that name. */
const spot_tensor *spot_tensors_find(const spot_tensors *t, const char *name);

/* A text of "__metadata__"; NULL if there is none. It lives as long as t. */
const char *spot_tensors_note(const spot_tensors *t, const char *key);

/* A tensor of shape (rows, columns) to save; columns 0: (rows). It points to name and data. */
spot_tensor spot_tensor_of(const char *name, spot_dtype type, size_t rows, int columns, const void *data);

/* Writes the tensors in this order, whole or not at all: a killed writer leaves the old file or the new one. */
spot_status spot_tensors_save(spot_ctx *c, const char *path, const spot_tensor *tensor, int count);

/* The same with texts in "__metadata__". */
typedef struct { const char *key, *value; } spot_tensor_note;
spot_status spot_tensors_save_with(spot_ctx *c, const char *path, const spot_tensor *tensor, int count,
                                   const spot_tensor_note *note, int notes);

#endif
