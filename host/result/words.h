/* words.h - sentences about a result, for a page, a file and the terminal alike. Control characters and bytes that are not
 * UTF-8 become \x0a, \xff. After the first failure `status` is set and additions are ignored. */
#ifndef SPOTTER_WORDS_H
#define SPOTTER_WORDS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/text.h"

typedef struct { char **sentence; int n, room; spot_text open; spot_status status; } spot_words;

/* add: to the open sentence. end: ends it with `mark`, "." or "", and keeps it. say: a whole sentence; it ends with a point. */
__attribute__((format(printf, 2, 3)))
void spot_words_add (spot_words *w, const char *fmt, ...);
void spot_words_end (spot_words *w, const char *mark);
__attribute__((format(printf, 2, 3)))
void spot_words_say (spot_words *w, const char *fmt, ...);
void spot_words_free(spot_words *w);

/* An enumeration, "a, b and c", "a, b and 3 more" of n things of which `most` are named:
 *     for (int i = 0; spot_words_next(w, i, n, most); i++) spot_words_add(w, "%s", name[i]); */
bool spot_words_next(spot_words *w, int i, int n, int most);

/* That the outputs of a model may stand in another order than the classes: in that order the share `reordered` of the pictures
 * would be right, and now it is `accuracy`. */
void spot_words_say_order(spot_words *w, const char *model, const char *pictures, double reordered, double accuracy);

/* Prints each sentence, broken into lines. */
void spot_words_print(FILE *f, const spot_words *w);

#endif
