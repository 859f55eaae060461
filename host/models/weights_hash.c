/* weights_hash.c - see weights_hash.h. */
#include "models/weights_hash.h"

#include <stdlib.h>

#include "formats/safetensors.h"

enum { CHUNK = 1 << 22 };

/* A chunk is joined to those before it. */
spot_status spot_weights_hash(spot_ctx *c, spot_key *key, const char *path)
{
    unsigned char *chunk = malloc(CHUNK);
    spot_blob in;
    spot_status s = chunk ? spot_blob_open(c, &in, path) : spot_fail(c, SPOT_NOMEM, "no memory to read %s", path);

    *key = spot_key_of("", 0);
    if (s) {
        free(chunk);
        return s;
    }
    for (uint64_t at = 0, n; at < in.size && !s; at += n) {
        n = in.size - at < CHUNK ? in.size - at : CHUNK;
        s = spot_blob_read(c, &in, at, chunk, (size_t)n);
        if (!s) *key = spot_key_join(*key, "weights", chunk, (size_t)n);
    }
    spot_blob_close(&in);
    free(chunk);
    return s;
}
