/* coco_id.h - ids of COCO's files: whole numbers, or words, such as the names of pictures.
 *
 * 12, 12.0, "12" and "12.0" are one id. "012" and "a" are words; so are numbers beyond 2^62. A word is kept once in the file's
 * texts, and its id is a number below -2^62 that tells its offset: equal words of a file have equal ids. */
#ifndef SPOTTER_COCO_ID_H
#define SPOTTER_COCO_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

#define SPOT_COCO_NO_ID INT64_MIN                      /* absent */
#define SPOT_COCO_FAR   ((int64_t)1 << 62)             /* numbers of ids lie in [-FAR, FAR] */

static inline bool spot_coco_is_word(int64_t id) { return id < -SPOT_COCO_FAR && id != SPOT_COCO_NO_ID; }

/* The whole number that a number of JSON, n bytes, writes; false: none. */
bool spot_coco_number(int64_t *id, const char *text, size_t n);

/* Words by their hash. Zero it; free slot. */
typedef struct { uint64_t *slot; size_t slots, words; } spot_coco_words;

/* The id of n bytes, a number or a word; a new word goes into texts. False: no memory. */
bool spot_coco_id(int64_t *id, spot_coco_words *w, spot_text *texts, const char *text, size_t n);

/* The word of an id, or the number as text in number. */
const char *spot_coco_id_text(char number[24], int64_t id, const char *texts);

#endif
