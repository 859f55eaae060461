/* fuzz_number.c - any text as a number: what the C library makes of it, or refused. fuzz: -max_len=64 -len_control=0 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[128], *end;
    double v, want;
    int64_t whole;

    if (size >= sizeof text) return 0;
    memcpy(text, data, size);
    text[size] = 0;
    if (spot_number(&v, (const char *)data, size)) {
        want = strtod(text, &end);
        if (end != text + size || (isnan(want) ? !isnan(v) : memcmp(&v, &want, sizeof v))) abort();
    }
    if (spot_integer(&whole, (const char *)data, size)) {
        errno = 0;
        if (strtoll(text, &end, 10) != whole || errno || end != text + size) abort();
    }
    return 0;
}
