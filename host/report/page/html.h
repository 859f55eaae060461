/* html.h - writes a report's page: JSON that describes the data, blocks of numbers and words, pictures.
 *
 * The page is one file: page.html with page.css, D3 and page_*.js (html.cmake compiles them into the library), the JSON of
 * "what", and each block as zlib's bytes in base64. All text of users is escaped: it is in JSON strings, where < is \u003c,
 * or in blocks; the scripts add it to the page as text, never as markup. */
#ifndef SPOTTER_HTML_H
#define SPOTTER_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/text.h"
#include "formats/picture.h"
#include "report/figure/plot.h"
#include "result/result.h"
#include "spotter/interval.h"
#include "spotter/report.h"

void spot_text_base64(spot_text *t, const void *bytes, size_t n);

typedef struct {
    spot_ctx *c;
    const spot_report_options *o;
    const char *title;
    const char *frame;             /* name of the page's template: page.html */
    spot_json what, *at;           /* the page's JSON; the document that gets new members, usually `what` */
    spot_text blocks;              /* elements of the page */
    int       count;               /* number of blocks */
} spot_page;

/* Add members to p->at; spot_json_put_int, spot_quantities_put and the like add the rest. No text ends the HTML element of the
 * JSON: it is written with \u003c for <. Control characters of a text become visible. */
void spot_page_real (spot_page *p, const char *key, double v);             /* six digits; null for NaN */
void spot_page_text (spot_page *p, const char *key, const char *v);        /* null for NULL */
__attribute__((format(printf, 3, 4)))
void spot_page_print(spot_page *p, const char *key, const char *fmt, ...);

/* Adds a block (n bytes before deflate) and a member with its number. */
void spot_page_block(spot_page *p, const char *key, const void *bytes, size_t n);
void spot_page_words(spot_page *p, const char *key, char *const *word, int n);     /* as visible text, one a line */
void spot_page_ascending(spot_page *p, const char *key, const int *v, int n);      /* int32, differences of neighbours */

/* A map: two columns of the points, (n, d), as int16 on one scale for both axes. */
void spot_page_map(spot_page *p, const char *key, const float *at, int n, int d);

/* Adds an element with the id of the letter and the number: bytes in base64. */
void spot_page_element(spot_page *p, char letter, int number, const void *bytes, size_t n);

/* Adds an object with the number of an element, which is the plot without its title, and the title: the page writes it. With a
 * group the object has that, too, and the first panel's title as alternative text. The plot is closed. */
spot_status spot_page_figure(spot_page *p, int number, spot_plot *plot, const char *group);

/* A confidence as uint8, 0 to 255. */
uint8_t spot_page_confidence(double confidence);

/* ---- pictures (html_pictures.c) ---- */

/* The source of pictures. Several threads call read, each with its own context and picture. */
typedef struct {
    int   rows;
    bool (*has) (void *user, int row);         /* NULL: every row has a picture */
    spot_status (*read)(spot_ctx *c, void *user, int row, spot_picture *out);
    void *user;
} spot_picture_source;

/* Rows in the order of their pictures' priority, each once. The page shows the first `strips` without a click, and they have
 * the size of the options. */
typedef struct { int *row, n, strips; bool *taken; } spot_wanted;

spot_status spot_wanted_open (spot_ctx *c, spot_wanted *w, int rows);
void        spot_wanted_add  (spot_wanted *w, int row);
void        spot_wanted_rest (spot_wanted *w, int rows);                   /* all other rows, evenly spread */
void        spot_wanted_close(spot_wanted *w);

/* Adds the member "pictures", as many as fit into the rest of the budget. Call it last. */
spot_status spot_page_pictures(spot_page *p, const spot_picture_source *from, spot_wanted *w);

/* write: writes the whole file or none; frees the page's text, also after a failure. */
spot_status spot_page_begin(spot_page *p, spot_ctx *c, const spot_report_options *o, const char *kind, const char *title);
spot_status spot_page_write(spot_page *p, const char *path, spot_status so_far);

/* Bytes of a page without data. */
size_t spot_page_bare(void);

/* row (b->n): the row of a with the id of b's row i. SPOT_INPUT names a row that only one of them has; b is model k. */
spot_status spot_match_rows(spot_ctx *c, int *row, const spot_subject *a, const spot_subject *b, int k);

enum { SPOT_STRIP = 16 };      /* pictures of a slice in the list, worst first */

/* Sorts n rows by confidence at[row], lowest first, then by row: the order of the page's strips. */
spot_status spot_worst_first(spot_ctx *c, int *row, int n, const uint8_t *at);

#endif
