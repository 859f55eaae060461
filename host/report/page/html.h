/* html.h - how a report's page is put together: JSON that says what is what, blocks of numbers and words beside it, pictures.
 *
 * The page is one file: page.html with page.css, D3 and page_*.js in it (compiled into the library by html.cmake), the JSON
 * of "what", and each block as zlib's bytes in base64. Nothing of a user's stands in it unescaped: text of theirs lies in
 * JSON strings, where < is \u003c, and in blocks; the scripts put it into the page as text, never as markup. */
#ifndef SPOTTER_HTML_H
#define SPOTTER_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/text.h"
#include "formats/picture.h"
#include "spotter/report.h"

void spot_text_base64(spot_text *t, const void *bytes, size_t n);

typedef struct {
    spot_ctx *c;
    const spot_report_options *o;
    const char *title;
    const char *frame;             /* the part that is the page's template: page.html */
    spot_json what, *at;           /* the page's JSON, and the document that members are added to: most often `what` */
    spot_text blocks;              /* elements of the page */
    int       count;               /* of blocks */
} spot_page;

/* Members of p->at; key NULL in an array. Texts are escaped so that none ends the element in which the JSON stands. */
void spot_page_open (spot_page *p, const char *key, char bracket);         /* '{' or '[' */
void spot_page_close(spot_page *p, char bracket);                          /* '}' or ']' */
void spot_page_int  (spot_page *p, const char *key, long long v);
void spot_page_real (spot_page *p, const char *key, double v);             /* six digits; null for NaN */
void spot_page_text (spot_page *p, const char *key, const char *v);        /* null for NULL */
__attribute__((format(printf, 3, 4)))
void spot_page_print(spot_page *p, const char *key, const char *fmt, ...);

/* A member that is the number of a block. How many bytes of it are deflated is the block's own matter. */
void spot_page_block(spot_page *p, const char *key, const void *bytes, size_t n);
void spot_page_words(spot_page *p, const char *key, char *const *word, int n);     /* visible, a line each */
void spot_page_ascending(spot_page *p, const char *key, const int *v, int n);      /* int32, each as what it adds to the last */

/* A map: two columns of the points, (n, d), as int16 on one scale for both axes. */
void spot_page_map(spot_page *p, const char *key, const float *at, int n, int d);

/* Confidences as uint8, 0 to 255. */
uint8_t spot_page_confidence(double confidence);

/* ---- pictures (html_pictures.c) ---- */

/* Where pictures come from; read is called from several threads, each with a context and a picture of its own. */
typedef struct {
    int   rows;
    bool (*has) (void *user, int row);
    spot_status (*read)(spot_ctx *c, void *user, int row, spot_picture *out);
    void *user;
} spot_picture_source;

/* Rows in the order in which pictures of them are wanted, each once; the first `strips` are those that the page shows before
 * anybody asks, and have the size that the options say. */
typedef struct { int *row, n, strips; bool *taken; } spot_wanted;

spot_status spot_wanted_open (spot_ctx *c, spot_wanted *w, int rows);
void        spot_wanted_add  (spot_wanted *w, int row);
void        spot_wanted_rest (spot_wanted *w, int rows);                   /* all others, spread evenly */
void        spot_wanted_close(spot_wanted *w);

/* As many as the budget leaves room for, as the page's member "pictures". The last thing to be added. */
spot_status spot_page_pictures(spot_page *p, const spot_picture_source *from, spot_wanted *w);

/* The file, whole or not at all; frees the page's text, also after a failure. */
spot_status spot_page_begin(spot_page *p, spot_ctx *c, const spot_report_options *o, const char *kind, const char *title);
spot_status spot_page_write(spot_page *p, const char *path, spot_status so_far);

/* Bytes of the page's own parts. */
size_t spot_page_bare(void);

/* row (b->n): which row of a has the id of b's row i. SPOT_INPUT names a row that only one of them has; b is model k. */
spot_status spot_match_rows(spot_ctx *c, int *row, const spot_subject *a, const spot_subject *b, int k);

enum { SPOT_STRIP = 8 };       /* pictures of a slice in the list, worst first */

/* n rows by their confidences at[row], the least first, of equal ones the first row: the order of the page's strips. */
spot_status spot_worst_first(spot_ctx *c, int *row, int n, const uint8_t *at);

#endif
