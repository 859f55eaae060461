/* word_lines.h - a text with a word or a name in each line. */
#ifndef SPOTTER_WORD_LINES_H
#define SPOTTER_WORD_LINES_H

#include "spotter/ctx.h"

/* The words of a file, one a line (blank lines and those that begin with '#' are none, nor is a byte order mark): *word (*n),
 * one block, free() it. */
spot_status spot_word_lines(spot_ctx *c, char ***word, int *n, const char *path);

#endif
