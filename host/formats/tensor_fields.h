/* tensor_fields.h - arrays and texts of files that this program writes, checked while they are read. */
#ifndef SPOTTER_TENSOR_FIELDS_H
#define SPOTTER_TENSOR_FIELDS_H

#include "base/text.h"
#include "formats/safetensors.h"

/* *out: a malloc'd copy of the tensor, which has this type and `count` numbers. SPOT_INPUT names path and tensor. */
spot_status spot_field_copy(spot_ctx *c, void *out, const spot_tensors *t, const char *name, spot_dtype type, size_t count,
                            const char *path);

/* The same for ints from `least` to `most`. */
spot_status spot_field_ints(spot_ctx *c, int **out, const spot_tensors *t, const char *name, size_t count, int least, int most,
                            const char *path);

/* n texts with a NUL behind each: *out (n), one block. */
spot_status spot_field_texts(spot_ctx *c, char ***out, const spot_tensors *t, const char *name, int n, const char *path);
void        spot_field_add_texts(spot_text *to, char *const *text, int n);

#endif
