/* fuzz_array.h - what the fuzz targets of array files share. */
#ifndef SPOTTER_TESTS_FUZZ_ARRAY_H
#define SPOTTER_TESTS_FUZZ_ARRAY_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/formats.h"

#define FUZZ_LIMIT (1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline spot_ctx   fuzz_ctx(void)   { return (spot_ctx){ .threads = 1 }; }
static inline spot_array fuzz_array(void) { return (spot_array){ .name = "fuzz" }; }

/* A failure has one sentence and leaves nothing; an array is as large as it says, and its words are text. */
static inline void fuzz_look(spot_ctx *c, spot_array *a, spot_status s)
{
    size_t count = 1;
    float *v;

    if (s) {
        if (!c->message[0]) abort();
        spot_array_close(a);
        return;
    }
    for (int i = 0; i < a->rank; i++) count *= (size_t)a->dim[i];
    if (count != a->count || a->rank > SPOT_ARRAY_DIMS || !a->data) abort();
    for (size_t i = 0; a->type == SPOT_WORDS && i < a->count; i++) {
        const char *word = ((char **)a->data)[i];
        if (spot_utf8(word, strlen(word)) != strlen(word)) abort();
    }
    s = spot_array_floats(c, &v, a);
    for (size_t i = 0; !s && i < a->count; i++)
        if (!isfinite(v[i])) abort();
    free(v);
    spot_array_close(a);
}

#endif
