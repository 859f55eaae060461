/* key.c - names of values: XXH3-128 of everything that determines them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/key.h"

spot_key spot_key_of(const void *bytes, size_t n)
{
    XXH128_hash_t h = XXH3_128bits(bytes, n);

    return (spot_key){ h.high64, h.low64 };
}

void spot_key_text(char text[33], spot_key k)
{
    snprintf(text, 33, "%016" PRIx64 "%016" PRIx64, k.hi, k.lo);
}

/* The hash of three hashes as text: no part can run into the next, and the host's byte order does not matter. */
spot_key spot_key_join(spot_key source, const char *what, const void *settings, size_t n)
{
    char text[3 * 33];

    spot_key_text(text, source);
    spot_key_text(text + 33, spot_key_of(what, strlen(what)));
    spot_key_text(text + 66, spot_key_of(settings, n));
    return spot_key_of(text, sizeof text);
}
