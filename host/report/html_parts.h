/* html_parts.h - page.html and what goes into it, as html.cmake compiled them in. */
#ifndef SPOTTER_REPORT_HTML_PARTS_H
#define SPOTTER_REPORT_HTML_PARTS_H

#include <stddef.h>

typedef struct { const char *name, *bytes; size_t size; } spot_html_part;

extern const unsigned char spot_html_page[];   /* ends with a NUL, which size does not count */
extern const size_t spot_html_page_size;
extern const spot_html_part spot_html_parts[]; /* "page.css", ...; a NULL name ends them */

#endif
