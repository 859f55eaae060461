/* quote.h - quotes words for the shell, in commands that users copy. */
#ifndef SPOTTER_QUOTE_H
#define SPOTTER_QUOTE_H

typedef char spot_quoted[4200];            /* holds any path of 1000 bytes */

/* word as a shell reads it back: in quotes if it holds bytes that are special to a shell. Returns text. */
const char *spot_quote(spot_quoted text, const char *word);

#endif
