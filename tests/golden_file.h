/* golden_file.h - reads the binary files of tests/golden. */
#ifndef SPOTTER_TESTS_GOLDEN_FILE_H
#define SPOTTER_TESTS_GOLDEN_FILE_H

#include <stdlib.h>

#include "checks.h"

static inline void get(FILE *f, void *out, size_t bytes) { assert_int_equal(fread(out, 1, bytes, f), bytes); }

/* The caller frees. */
static inline void *read_new(FILE *f, size_t bytes)
{
    void *p = malloc(bytes);

    get(f, p, bytes);
    return p;
}

#endif
