/* subject_memory.h - what the two makers of a subject share: memory that goes when it is closed. */
#ifndef SPOTTER_SUBJECT_MEMORY_H
#define SPOTTER_SUBJECT_MEMORY_H

#include <stddef.h>

#include "spotter/subject.h"

/* bytes of s's own, aligned to 64, cleared; SPOT_TAKE's manners. */
spot_status spot_subject_take(spot_ctx *c, spot_subject *s, void **out, size_t bytes);
#define SPOT_SUBJECT_TAKE(c, s, pointer, count) \
    spot_subject_take((c), (s), (void **)&(pointer), (size_t)(count) * sizeof *(pointer))

/* Takes over a malloc'd block, which is freed even when this fails. */
spot_status spot_subject_keep(spot_ctx *c, spot_subject *s, void *block);

/* Names "0", "1", ... into *out, n of them in one block of s's own. */
spot_status spot_subject_numbers(spot_ctx *c, spot_subject *s, char ***out, int n);

/* Whether row i has class cls; every row has -1. */
bool spot_subject_is_of(const spot_subject *s, int i, int cls);

/* What each array is called in sentences: a file, or the name of the caller's argument. */
typedef struct { const char *feature, *target, *prob, *confidence; } spot_subject_words;

spot_status spot_subject_check_as(spot_ctx *c, const spot_subject *s, const spot_subject_words *called);

#endif
