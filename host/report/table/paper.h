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

/* The paper's experiments: rendered images (section 5.1), COCO (5.2, appendix G), OpenImages (appendix H). A run that reads
 * pictures is compared with the last two only: with OpenImages if its negatives show a super-category (data.against). */
typedef enum { SPOT_EXPERIMENT_SYNTHETIC, SPOT_EXPERIMENT_COCO, SPOT_EXPERIMENT_OPENIMAGES } spot_experiment;

spot_experiment spot_paper_experiment(const spot_config *cfg);

typedef enum { SPOT_RATES_BOTH, SPOT_RATES_DR, SPOT_RATES_FAILURES } spot_paper_quantities;

typedef struct {
    int number, quantities;                           /* spot_paper_quantities: DR and FDR, DR alone, the failure categories */
    spot_experiment experiment;
    int ecs;                                          /* number of ECs that the paper averaged ... */
    const char *title, *over;                         /* ... and in words */
    const spot_paper_row *row;
    int rows;
} spot_paper_table;

/* NULL for any other table of averages: SPOT_PAPER_TABLES without those of counts.h. */
const spot_paper_table *spot_paper_find(int number);
#define SPOT_PAPER_TABLES "2, 7, 9 to 13 and 16 (rendered images), 3, 4, 8 and 14 (COCO), 15 (OpenImages) and B (appendix B)"

/* The table of the averages over all ECs of the run's experiment: 2, 4 or 15, or Table 1 of the workshop's paper (Plumb et
 * al., 2022), which has other numbers for PlaneSpot, where metric.profile is workshop. NULL for a pool of pictures that the
 * paper does not average. */
const spot_paper_table *spot_paper_overall(const spot_config *cfg);

/* Whether a run may stand in a table of an experiment. SPOT_USAGE names the tables and figures that it may stand in; `table` is
 * "Table 4". */
spot_status spot_paper_fits(spot_ctx *c, const char *dir, const spot_config *cfg, spot_experiment experiment,
                            const char *table);

/* Whether method b has all of these settings; false for a word that is not one of its settings. A word "encoder.shape=other" is
 * about the config's encoder, and holds for a method that does not look with it. */
bool spot_method_has(const spot_config *cfg, int b, const char *settings);

/* The settings of a method that differ from the row's, "representation=model (robust), features=64 (128)": in brackets the
 * values of `needs` and `as`, for all others the method's defaults; "" for none. size: at least 200. At the end stand what no
 * setting describes: for CLIP in a row of CLIP the length of its rows, for Barlow the paper's network, which is not Spotter's.
 * And the settings of a run's ECs, models and metric that differ from the paper's experiment; where it names none, from the
 * authors' released demonstration. If the text is full, it ends with the number of further settings. */
const char *spot_paper_method_differs(char *text, size_t size, const spot_bdm_config *cfg, const spot_paper_row *row);
void spot_paper_run_differs(char *text, size_t size, const spot_config *cfg);

/* Words before such a list. */
#define SPOT_PAPER_DIFFERS " that are not the paper's; in brackets its own, or the default where it names none"

#endif
