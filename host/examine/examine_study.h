/* examine_study.h - the results of the study: reading, sentences, descriptions, files. */
#ifndef SPOTTER_EXAMINE_STUDY_H
#define SPOTTER_EXAMINE_STUDY_H

#include "examine/examine_config.h"
#include "result/result.h"
#include "spotter/failures.h"
#include "spotter/work.h"

/* Ranges of which fewer random renders are valid are doubted, before the searches and in the results. */
#define SPOT_EXAMINE_FEW_VALID 0.25

/* Reads all results of a run; `missing` where some are not there. */
spot_status spot_examine_collect(spot_ctx *c, const spot_study *y, spot_examine_results *r, const char *dir);

/* Fills r->summary. */
spot_status spot_examine_summarise(spot_ctx *c, spot_examine_results *r);

/* Fills r->about and r->verdict. */
spot_status spot_examine_judge(spot_ctx *c, spot_examine_results *r);

/* The numbers of a point of the curve. over_seeds: of an object at point k, as the mean over its seeds; NaN: no search has
 * it. */
typedef enum { SPOT_EXAMINE_MEAN, SPOT_EXAMINE_LOWEST, SPOT_EXAMINE_LOWEST_VALID, SPOT_EXAMINE_ROBUST, SPOT_EXAMINE_VALID,
               SPOT_EXAMINE_INSIDE, SPOT_EXAMINE_QUANTITIES } spot_examine_quantity;
double spot_examine_over_seeds(const spot_examine_results *r, const spot_examine_result *first, int object, int k,
                               spot_examine_quantity q);

/* Results with their sentences: answers, and how to read the numbers. failures NULL: not known. */
typedef struct {
    const spot_examine_results *r;
    const spot_failures *failures;
    spot_words summary, notes;
} spot_examine_account;

spot_status spot_examine_tell(spot_ctx *c, spot_examine_account *a, const spot_examine_results *r, const spot_failures *f);
void        spot_examine_account_close(spot_examine_account *a);

/* Adds the confirmed findings of a model, `most` of them. */
void spot_examine_tell_findings(spot_words *w, const spot_examine_results *r, const spot_failures *f, int model, int most);

/* examine.json of an account; examine.csv and the terminal's table of results. */
extern const spot_quantity spot_examine_parts[], spot_examine_searches;

/* Writes examine.json, examine.csv and failures.json if all results are there. r and f have them then; close both in any
 * case. */
spot_status spot_examine_write(spot_ctx *c, const spot_study *y, spot_examine_results *r, spot_failures *f, const char *dir,
                               const char *key);

#endif
