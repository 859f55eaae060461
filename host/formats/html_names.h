/* html_names.h - the names of characters in HTML 5; tools/golden/html_names.py writes html_names.c. */
#ifndef SPOTTER_HTML_NAMES_H
#define SPOTTER_HTML_NAMES_H

/* Lines of entries "name=hex " or "name=hex+hex ", sorted by the bytes of the name. */
extern const char *const spot_html_line[];
extern const int         spot_html_lines;

#endif
