/* safetensors.h - named tensors in one file: 8 bytes little-endian length, a JSON header, the data.
 *
 * Read as strictly as the format's authors do: header at most 100,000,000 bytes, no key twice, every tensor's bytes
 * as many as its shape says, no gaps, overlaps or bytes left over. F32 and I64 are read; other types are refused by
 * name. Everything that is wrong with a file is one SPOT_INPUT. The machine is taken to be little-endian. */
#ifndef SPOTTER_BASE_SAFETENSORS_H
#define SPOTTER_BASE_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#include "spotter/ctx.h"

#define SPOT_TENSOR_DIMS 8

typedef enum { SPOT_F32, SPOT_I64 } spot_dtype;

const char *spot_dtype_name(spot_dtype type);

typedef struct {
    const char *name;
    spot_dtype  type;
    int         rank;
    int64_t     dim[SPOT_TENSOR_DIMS];
    const void *data;          /* aligned to nothing: copy, do not cast */
    size_t      bytes;
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

/* NULL when there is none of that name. */
const spot_tensor *spot_tensors_find(const spot_tensors *t, const char *name);

/* Writes the tensors in this order, whole or not at all: a killed writer leaves the old file or the new one. */
spot_status spot_tensors_save(spot_ctx *c, const char *path, const spot_tensor *tensor, int count);

#endif
