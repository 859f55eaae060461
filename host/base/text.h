/* text.h - growing byte buffers, UTF-8, numbers as short texts, cells of CSV files. */
#ifndef SPOTTER_TEXT_H
#define SPOTTER_TEXT_H

#include <stddef.h>
#include <stdio.h>

#include "spotter/status.h"

/* A growing byte buffer. After the first failure `status` is set and additions are ignored: check it once, at the end. */
typedef struct { char *bytes; size_t used, size; spot_status status; } spot_text;

void spot_text_add (spot_text *t, const void *bytes, size_t n);
void spot_text_adds(spot_text *t, const char *words);
void spot_text_free(spot_text *t);

/* A stream whose bytes are added to t; NULL: no memory. Check fclose and then t->status. Unlike open_memstream it reports
 * every byte that memory did not suffice for. */
FILE *spot_text_stream(spot_text *t);

/* Adds s as printable UTF-8: control characters and bytes that are not UTF-8 become \x0a, \xff. */
void spot_text_visible(spot_text *t, const char *s);

/* Adds s as UTF-8; a byte that is not UTF-8 becomes U+FFFD. */
void spot_text_utf8(spot_text *t, const char *s);

/* order (n): the indices of the words, sorted by byte order; of equal words the first comes first. */
void spot_words_sort(int *order, char *const *word, int n);

size_t spot_utf8_char(const char *text, size_t n);     /* length of the first character; 0: not well-formed */
size_t spot_utf8     (const char *text, size_t n);     /* index of the first byte that is not UTF-8, or n */

/* Writes s as a column of `width` characters, cut or padded, and two spaces; control characters and bytes that are not UTF-8
 * become '?'. */
void spot_text_column(FILE *f, const char *s, int width);

/* v with the fewest significant digits, `least` or more, that read back as the same double. Returns text. */
const char *spot_digits(char text[32], double v, int least);

/* Write a cell of a CSV file: in quotes where RFC 4180 requires them, or always. A spreadsheet runs a text that begins with
 * = + - @ or a tab as a formula; unless the text is a number, ' precedes it, which a spreadsheet reads as "text". */
void spot_csv_field (FILE *f, const char *text);
void spot_csv_quoted(FILE *f, const char *text);

#endif
