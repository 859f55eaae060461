/* html_examine.h - the page of a run of `spotter examine`: its state, and the parts that other files write. */
#ifndef SPOTTER_HTML_EXAMINE_H
#define SPOTTER_HTML_EXAMINE_H

#include "report/page/html.h"
#include "spotter/failures.h"

typedef struct {
    spot_ctx *c;
    spot_page *p;
    const spot_examine_results *r;
    const char *dir;
    spot_failures failures;
    bool mapped;                   /* the run has failures.json */
} spot_examine_page;

/* html_examine_objects.c. The unit of an examiner's search, and the last point of its curve. */
const spot_examine_result *spot_examine_page_unit(const spot_examine_page *w, int model, int examiner, int seed, int object);
const spot_examine_point  *spot_examine_page_last(const spot_examine_result *u);

/* The first unit with the object of unit u: its number names the object on the page. */
int spot_examine_page_object(const spot_examine_page *w, int u);

/* The seed whose search found the lowest robust p of an object: its pictures are those of the page. */
int spot_examine_page_seed(const spot_examine_page *w, int model, int examiner, int object);

/* html_examine_words.c: the member "summary", an array of sentences; the first one is the answer to the page's title. */
void spot_examine_page_words(spot_examine_page *w);

/* html_examine_objects.c: the members "objects", "units" and, of the pictures, "strips". pictures: the member "pictures"; call
 * it last. */
void        spot_examine_page_objects (spot_examine_page *w);
spot_status spot_examine_page_pictures(spot_examine_page *w);

/* html_examine_maps.c: the member "failures": maps, mixtures, scans and findings. */
spot_status spot_examine_page_maps(spot_examine_page *w);

#endif
