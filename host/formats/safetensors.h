/* safetensors.h - named tensors in one file: 8 bytes little-endian length, a JSON header, the data.
 *
 * Read as strictly as the format's authors do: header at most 100,000,000 bytes, no key twice, every tensor's bytes
 * as many as its shape says, no gaps, overlaps or bytes left over. The types of array.h but words are read and written. A
 * tensor of another type (U64, F8_E4M3, those of less than a byte) may be in the file: who asks for it is refused by name.
 * Everything that is wrong with a file is one SPOT_INPUT. The machine is taken to be little-endian. */
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
    spot_dtype  type;          /* SPOT_DTYPES: one that is not read */
    int         rank;
    int64_t     dim[SPOT_TENSOR_DIMS];
    const void *data;          /* aligned to nothing: copy, do not cast; NULL where only the header was read */
    size_t      at;            /* where in the data it begins, as a reader found it */
    size_t      bytes;
    const char *dtype;         /* the type as a reader found it */
} spot_tensor;

typedef struct {
    int          count;
    spot_tensor *tensor;       /* sorted by name */
    void        *owned[3];     /* the file's bytes, the header's tree */
} spot_tensors;

/* Reads a file, or bytes that outlive the tensors; `name` is for the sentence. Close after success. */
spot_status spot_tensors_open (spot_ctx *c, spot_tensors *t, const char *path);
spot_status spot_tensors_parse(spot_ctx *c, spot_tensors *t, const uint8_t *data, size_t size, const char *name);
void        spot_tensors_close(spot_tensors *t);

/* One tensor as an array: NULL for the only one there is. Its bytes alone are read. */
spot_status spot_tensors_read(spot_ctx *c, spot_array *a, const spot_blob *in, const char *name, size_t limit);

/* NULL when there is none of that name. */
const spot_tensor *spot_tensors_find(const spot_tensors *t, const char *name);

/* Writes the tensors in this order, whole or not at all: a killed writer leaves the old file or the new one. */
spot_status spot_tensors_save(spot_ctx *c, const char *path, const spot_tensor *tensor, int count);

#endif
