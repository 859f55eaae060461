/* subject_memory.h - memory that a subject owns until it is closed, and checks, for the files that make subjects. */
#ifndef SPOTTER_SUBJECT_MEMORY_H
#define SPOTTER_SUBJECT_MEMORY_H

#include <stddef.h>

#include "formats/formats.h"
#include "spotter/subject.h"

/* Zeroed bytes that s owns, aligned to 64. out: the address of a pointer of any type. The macro works like SPOT_TAKE. */
spot_status spot_subject_take(spot_ctx *c, spot_subject *s, void *out, size_t bytes);
#define SPOT_SUBJECT_TAKE(c, s, pointer, count) \
    spot_subject_take((c), (s), &(pointer), (size_t)(count) * sizeof *(pointer))

/* Takes over a malloc'd block, which is freed even when this fails. */
spot_status spot_subject_keep(spot_ctx *c, spot_subject *s, void *block);

/* Frees a block that s owns; any other stays as it is. */
void spot_subject_drop(spot_subject *s, const void *block);

/* *out: n names "0", "1", ..., in one block that s owns. */
spot_status spot_subject_numbers(spot_ctx *c, spot_subject *s, char ***out, int n);

/* Copies row `from` to row `to`, in every array of rows that there is. Before the first row is left out: number_rows gives the
 * rows the numbers of the files (file_row), unless they have them; afterwards keep_rows says how many stay, at the front. */
void        spot_subject_move_row   (spot_subject *s, int to, int from);
spot_status spot_subject_number_rows(spot_ctx *c, spot_subject *s);
void        spot_subject_keep_rows  (spot_subject *s, int n);

/* Groups of rows: by equal cells (n) of words, which s owns and which are changed; one for each row. */
spot_status spot_groups_of_cells(spot_ctx *c, spot_subject *s, char **cell);
spot_status spot_groups_of_rows (spot_ctx *c, spot_subject *s);

/* Numbers the groups from 0 when all rows are read, and says how many there are, by the name `where` of their file; NULL: says
 * nothing. spot_groups_check: SPOT_INPUT where all rows are in one; a warning where those of a class are. */
spot_status spot_groups_settle(spot_ctx *c, spot_subject *s, const char *where);
spot_status spot_groups_check (spot_ctx *c, const spot_subject *s, const char *where);

int spot_groups_largest(const spot_subject *s);        /* rows of the largest group; 0: there are no groups, or no memory */

/* Whether row i has class cls; every row has class -1. Each class looks at all rows, so it is inline. */
static inline bool spot_subject_is_of(const spot_subject *s, int i, int cls)
{
    return cls < 0 || (s->target ? s->target[i] == cls : s->has[(size_t)i * (size_t)s->classes + (size_t)cls]);
}

/* The array that `where` names: the caller's of this name (spot_subject_files.array), whose data is copied unless `borrow`, or
 * that of a file. close frees it unless it was borrowed. */
spot_status spot_subject_array(spot_ctx *c, spot_array *a, const spot_subject_files *files, const char *where,
                               const spot_array_how *how, bool borrow);
void        spot_subject_array_close(spot_array *a, const spot_subject_files *files);
bool        spot_subject_lends(const spot_subject_files *files, const void *data);

/* Puts the encoder that the notes of the file `where` name into s; "" for the caller's array. */
spot_status spot_subject_array_maker(spot_ctx *c, spot_subject *s, const spot_array *a, const spot_subject_files *files,
                                     const char *where);

/* The name of each array in sentences: its file, or the caller's argument. */
typedef struct { const char *feature, *target, *prob, *confidence; } spot_subject_words;

/* Whether the probabilities of a row sum to 1, but for rounding to four decimals, to floats or to bfloat16. */
bool spot_probs_sum_to_1(const float *p, int n);

/* Advice about numbers that are no probabilities, (n, columns): the end of a sentence. */
const char *spot_answers_advice(const float *p, size_t n, int columns);

/* Parts of spot_subject_check: what is set; features, called `name`; row i's probabilities. */
spot_status spot_subject_check_sizes   (spot_ctx *c, const spot_subject *s);
spot_status spot_subject_check_features(spot_ctx *c, const spot_subject *s, const char *name);
spot_status spot_subject_check_answer  (spot_ctx *c, const spot_subject *s, size_t i, const spot_subject_words *called);

/* All of them, and the labels. */
spot_status spot_subject_check_as(spot_ctx *c, const spot_subject *s, const spot_subject_words *called);

#endif
