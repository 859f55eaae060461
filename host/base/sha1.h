/* sha1.h - SHA-1 (FIPS 180-4): an order of names that other programs can repeat. Nothing secret rests on it. */
#ifndef SPOTTER_SHA1_H
#define SPOTTER_SHA1_H

#include <stddef.h>
#include <stdint.h>

void spot_sha1(uint8_t out[20], const void *bytes, size_t n);

#endif
