/* slice_words.h - the words and the conjunction of a slice, and sentences, as lines for people. */
#ifndef SPOTTER_SLICE_WORDS_H
#define SPOTTER_SLICE_WORDS_H

#include "spotter/discover.h"

/* Prints at most two lines of at most 100 columns to stdout; nothing where the slice has no description. */
void cli_slice_words(const spot_slice *s);

/* Prints a sentence to stdout in lines of at most 100 columns. A command at its end begins a line of its own, and its lines are
 * one command for a shell. */
void cli_wrap(const char *text);

#endif
