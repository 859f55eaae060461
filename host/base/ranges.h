/* ranges.h - many numbers in few words. */
#ifndef SPOTTER_RANGES_H
#define SPOTTER_RANGES_H

#include <stddef.h>

/* "12-19, 40" of n ascending numbers, into text; ends in ", ..." where that is too short. Returns text. */
const char *spot_ranges(char *text, size_t size, const int *number, int n);

#endif
