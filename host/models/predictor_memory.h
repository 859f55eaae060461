/* predictor_memory.h - the memory of networks, before a study begins. */
#ifndef SPOTTER_PREDICTOR_MEMORY_H
#define SPOTTER_PREDICTOR_MEMORY_H

#include "spotter/ctx.h"

/* How networks are used: pixels a side, precision, and the most pictures of a call. */
typedef struct { int side, precision, pictures; } spot_predictor_work;

/* The bytes of the network that takes most of n files of weights, with its scratch: one of each size of file is opened. "" and
 * files that cannot be opened count nothing: the run says why. c: a context whose log nobody reads. */
size_t spot_predictor_memory(spot_ctx *c, const char *const *weights, int n, const spot_predictor_work *w);

/* The bytes of the largest of these files, which is read as a whole where it is hashed. */
size_t spot_largest_file(const char *const *path, int n);

#endif
