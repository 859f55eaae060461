/* paper.h - the numbers that the paper prints (Plumb et al., TMLR 2023), and which method of a run each belongs to. */
#ifndef SPOTTER_PAPER_H
#define SPOTTER_PAPER_H

#include "spotter/config.h"
#include "spotter/ctx.h"

enum { SPOT_PAPER_QUANTITIES = SPOT_FAILURES,         /* of a table, at most */
       SPOT_DIFFERS = 2000 };                         /* bytes of a list of settings, enough for most */

/* A method of a run is the row's when it has the settings `needs`, written "method=planespot reduce=scvis dim=2". What the
 * paper had besides is `as`; a method that differs there is still the row's, and the tables say so. NaN: not in the paper. */
typedef struct {
    const char *name, *needs, *as;
    double value[SPOT_PAPER_QUANTITIES], se[SPOT_PAPER_QUANTITIES];
    bool extra;                                       /* no row of the paper's; left out where a run has none */
} spot_paper_row;

typedef struct {
    int number;
    const char *title, *over;                         /* over which ECs the paper averaged */
    bool failures;                                    /* quantities: the failure categories; else DR and FDR */
    const spot_paper_row *row;
    int rows;
} spot_paper_table;

/* NULL when there is no such table here; which there are, for sentences. */
const spot_paper_table *spot_paper_find(int number);
#define SPOT_PAPER_TABLES "2, 7, 9, 10, 11, 12, 13 or 16"

/* Has the method all of these settings? A word that is no setting of it: false. */
bool spot_bdm_has(const spot_bdm_config *cfg, const char *settings);

/* The settings in which a method is not the row's, "representation=model (robust), features=64 (128)": in brackets those of
 * `needs` and `as`, and for all else the method's defaults; "" when there are none. And those in which a run's ECs, models
 * and metric are not the paper's. What the text has no room for is counted in it. */
const char *spot_paper_method_differs(char *text, size_t size, const spot_bdm_config *cfg, const spot_paper_row *row);
spot_status spot_paper_run_differs(spot_ctx *c, char *text, size_t size, const spot_config *cfg);

/* What stands before such lists. */
#define SPOT_PAPER_DIFFERS " that are not the paper's; in brackets its own, or the default where it names none"

#endif
