/* ranges.h - a list of numbers as ranges. */
#ifndef SPOTTER_RANGES_H
#define SPOTTER_RANGES_H

#include <stddef.h>

/* Writes n ascending numbers as "12-19, 40"; ends in ", ..." if text is too short. Returns text. */
const char *spot_ranges(char *text, size_t size, const int *number, int n);

#endif
