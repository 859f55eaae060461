/* paper.h - the numbers in the paper (Plumb et al., TMLR 2023), with the settings of their methods. */
#ifndef SPOTTER_PAPER_H
#define SPOTTER_PAPER_H

#include "spotter/config.h"
#include "spotter/ctx.h"

enum { SPOT_PAPER_QUANTITIES = SPOT_FAILURES,         /* most quantities of a table */
       SPOT_DIFFERS = 2000 };                         /* bytes of a list of settings, enough for most */

/* A method of a run belongs to the row if it has the settings `needs`, written "method=planespot reduce=scvis dim=2". `as`:
 * further settings of the paper; the tables list a method's differences from them. NaN: not in the paper. */
typedef struct {
    const char *name, *needs, *as;
    double value[SPOT_PAPER_QUANTITIES], se[SPOT_PAPER_QUANTITIES];
    bool extra;                                       /* not a row of the paper; left out if no run has the method */
} spot_paper_row;

typedef struct {
    int number;
    const char *title, *over;                         /* over: the ECs that the paper averaged */
    bool failures;                                    /* quantities: the failure categories; else DR and FDR */
    const spot_paper_row *row;
    int rows;
} spot_paper_table;

/* NULL for any other table than SPOT_PAPER_TABLES. */
const spot_paper_table *spot_paper_find(int number);
#define SPOT_PAPER_TABLES "2, 7, 9, 10, 11, 12, 13 or 16"

/* Whether method b has all of these settings; false for a word that is not one of its settings. A word "encoder.shape=other" is
 * about the config's encoder, and holds for a method that does not look with it. */
bool spot_method_has(const spot_config *cfg, int b, const char *settings);

/* The settings of a method that differ from the row's, "representation=model (robust), features=64 (128)": in brackets the
 * values of `needs` and `as`, for all others the method's defaults; "" for none. size: at least 100. For CLIP in a row of CLIP
 * it ends with the length of its rows, which no setting describes. And the settings of a run's ECs, models and
 * metric that differ from the paper's. If the text is full, it ends with the number of further settings. */
const char *spot_paper_method_differs(char *text, size_t size, const spot_bdm_config *cfg, const spot_paper_row *row);
spot_status spot_paper_run_differs(spot_ctx *c, char *text, size_t size, const spot_config *cfg);

/* Words before such a list. */
#define SPOT_PAPER_DIFFERS " that are not the paper's; in brackets its own, or the default where it names none"

#endif
