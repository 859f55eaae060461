/* embedding.h - features of a sweep's test positives from another program: bdms[].embeddings names a folder with one file
 * ec-000012.safetensors per EC, each with a tensor "embedding" of type F32, its rows in the order of the EC's view. */
#ifndef SPOTTER_EMBEDDING_H
#define SPOTTER_EMBEDDING_H

#include <stdbool.h>

#include "base/key.h"
#include "spotter/arena.h"
#include "spotter/view.h"

/* The columns of the first readable embedding in the folder; all others must have as many. SPOT_INPUT if there is no folder or
 * no readable embedding. */
spot_status spot_embedding_columns(spot_ctx *c, int *columns, const char *folder);

/* The hash of the EC's embedding; false if it cannot be read. */
bool spot_embedding_content(spot_key *content, const char *folder, int ec);

/* Replaces v's features by the EC's embedding, which must have v->n rows of `columns` numbers, and sets v->head to NULL.
 * *content is its hash. SPOT_INPUT names the file and, if one is at fault, the row. */
spot_status spot_embedding_read(spot_ctx *c, spot_arena *a, spot_view *v, spot_key *content, const char *folder, int ec,
                                int columns);

#endif
