/* slice_words.h - the words and the conjunction of a slice, as lines for people. */
#ifndef SPOTTER_SLICE_WORDS_H
#define SPOTTER_SLICE_WORDS_H

#include "spotter/discover.h"

/* Prints at most two lines of at most 100 columns to stdout; nothing where the slice has no description. */
void cli_slice_words(const spot_slice *s);

#endif
