/* html_parts.h - the templates of pages and their parts, compiled by html.cmake. */
#ifndef SPOTTER_HTML_PARTS_H
#define SPOTTER_HTML_PARTS_H

#include <stddef.h>

typedef struct {
    const char *name, *bytes;
    size_t      size;
    const char *policy;        /* content security policy of a page with this template: its own scripts and styles, by sum */
} spot_html_part;

/* "page.html", "page.css", ...; each ends with a NUL, which size does not count; a NULL name ends the list. */
extern const spot_html_part spot_html_parts[];

#endif
