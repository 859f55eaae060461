/* html_parts.h - the frames of pages and what goes into them, as html.cmake compiled them in. */
#ifndef SPOTTER_HTML_PARTS_H
#define SPOTTER_HTML_PARTS_H

#include <stddef.h>

typedef struct { const char *name, *bytes; size_t size; } spot_html_part;

/* "page.html", "page.css", ...; each ends with a NUL, which size does not count; a NULL name ends them. */
extern const spot_html_part spot_html_parts[];

#endif
