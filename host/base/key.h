/* key.h - the names of values: hashes of what made them. */
#ifndef SPOTTER_KEY_H
#define SPOTTER_KEY_H

#include <stddef.h>
#include <stdint.h>

typedef struct { uint64_t hi, lo; } spot_key;                     /* 128 bits of XXH3 */

spot_key spot_key_of(const void *bytes, size_t n);
spot_key spot_key_join(spot_key source, const char *what, const void *settings, size_t n);
void     spot_key_text(char text[33], spot_key k);

#endif
