/* quote.h - words in commands that people copy. */
#ifndef SPOTTER_QUOTE_H
#define SPOTTER_QUOTE_H

typedef char spot_quoted[4200];            /* holds a path of 1000 bytes, whatever they are */

/* word as a shell reads it back: itself where no byte of it means anything to a shell, else in quotes. Returns text. */
const char *spot_quote(spot_quoted text, const char *word);

#endif
