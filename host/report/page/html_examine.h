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

/* html_examine_objects.c: the member "pictures"; call it last. Row 6 i + k of the page is picture k of strip i. */
spot_status spot_examine_page_pictures(spot_examine_page *w);

#endif
