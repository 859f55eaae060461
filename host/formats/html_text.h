/* html_text.h - character references of HTML 5: &amp; &#233; &#xe9; */
#ifndef SPOTTER_HTML_TEXT_H
#define SPOTTER_HTML_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

enum { SPOT_HTML_NAME = 32 };      /* no name of a character is longer */

/* The characters of Windows-1252 that take the place of the control characters U+0080 to U+009F. */
extern const uint16_t spot_html_windows[32];

/* The characters of a name, which counts its ';' (some names have none), as UTF-8. Returns their bytes; 0: there is no such
 * name. */
size_t spot_html_named(char out[8], const char *name, size_t n);

/* Adds s (n bytes of UTF-8) to `out` with every reference replaced as by Python's html.unescape: a number whose ';' is missing
 * counts, and so does the longest name without ';' that begins an unknown one. */
void spot_html_unescape(spot_text *out, const char *s, size_t n);

/* The reference that begins at s with '&'; n bytes are left of the text. Adds its characters to `out` and returns its bytes; 0:
 * it is none. */
size_t spot_html_reference(spot_text *out, const char *s, size_t n);

#endif
