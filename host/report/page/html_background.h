/* html_background.h - the page of a background run: its state, and the parts that other files write. */
#ifndef SPOTTER_HTML_BACKGROUND_H
#define SPOTTER_HTML_BACKGROUND_H

#include "report/page/html.h"
#include "spotter/background_pictures.h"
#include "spotter/verdict.h"

enum { SPOT_SHOWN_MODELS = 20, SPOT_SHOWN_PAIRS = 10, SPOT_SHOWN_BACKS = 8 };      /* with pictures; of a model */

/* A picture of the page: image as in background_pictures.h; alone: the background of the blend. Rows of a low rank come first
 * where the budget is short. */
typedef struct { int target, image, rank; bool alone; } spot_background_row;

typedef struct {
    spot_ctx *c;
    spot_page *p;
    const spot_background_results *r;
    spot_background_results *own;              /* the same, for spot_background_json */
    const char *dir;
    spot_background_row *row;
    int rows, room, figures;
    spot_verdict_report verdict;
    double most[SPOT_BACKGROUND_MATRICES];     /* the greatest value of each matrix, over all models */
} spot_background_page;

/* html_background_pairs.c. pairs, backs: members of a model's object. example: one target in every set. rows: the members
 * "names" and "pictures"; call it last. */
spot_status spot_background_page_pairs  (spot_background_page *w, const spot_background_responses *a);
spot_status spot_background_page_backs  (spot_background_page *w, const spot_background_responses *a);
spot_status spot_background_page_example(spot_background_page *w);
spot_status spot_background_page_rows   (spot_background_page *w);

/* html_background_verdict.c: the verdicts of the run; the member "verdict" of a model's object. */
void spot_background_page_verdicts(spot_background_page *w);
void spot_background_page_verdict (spot_background_page *w, int unit);

/* html_background_vary.c: the member "variants", an array: the run and its variants, where it has some. */
spot_status spot_background_page_variants(spot_background_page *w);

#endif
