/* embedding.h - features that another program made of a sweep's test positives: bdms[].embeddings names a folder with a
 * file ec-000012.safetensors per EC, each with a tensor "embedding" of type F32, its rows in the order of the EC's view. */
#ifndef SPOTTER_EMBEDDING_H
#define SPOTTER_EMBEDDING_H

#include <stdbool.h>

#include "spotter/arena.h"
#include "spotter/store.h"
#include "spotter/view.h"

/* The columns of the first embedding in the folder that can be read, which all others must have too. SPOT_INPUT where there is
 * no folder, or nothing in it that can be read. */
spot_status spot_embedding_columns(spot_ctx *c, int *columns, const char *folder);

/* The hash of the EC's embedding as it is now; false where none can be read. */
bool spot_embedding_content(spot_key *content, const char *folder, int ec);

/* The EC's embedding in place of v's features, which then know no direction of the classifier; v->n rows of `columns`
 * numbers are wanted. *content is their hash. SPOT_INPUT names the file, and the row where one is to blame. */
spot_status spot_embedding_read(spot_ctx *c, spot_arena *a, spot_view *v, spot_key *content, const char *folder, int ec,
                                int columns);

#endif
