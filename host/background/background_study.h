/* background_study.h - the results of the study: reading, sentences, descriptions, files. */
#ifndef SPOTTER_BACKGROUND_STUDY_H
#define SPOTTER_BACKGROUND_STUDY_H

#include "background/background_config.h"
#include "result/result.h"
#include "spotter/work.h"

/* Reads all results of a run; `missing` where some are not there. */
spot_status spot_background_collect(spot_ctx *c, const spot_study *y, spot_background_results *r, const char *dir);

/* Results with their sentences: answers, facts about the suite and doubts, settings that are not the paper's. */
typedef struct { const spot_background_results *r; spot_words summary, notes, differs; } spot_background_account;

spot_status spot_background_tell(spot_ctx *c, spot_background_account *a, const spot_background_results *r);
void        spot_background_account_close(spot_background_account *a);

/* background.json of an account, background.csv and the correlations in the terminal of results. */
extern const spot_quantity spot_background_parts[], spot_background_counts, spot_background_ranks;

/* Notes on the suite; settings that are not the paper's. */
void spot_background_tell_suite   (spot_words *w, const spot_background_results *r);
void spot_background_tell_settings(spot_words *w, const spot_background_results *r);

int spot_background_unreal(const spot_background_suite *s);        /* blends below suite.realness */

/* Writes background.json, background.csv and models.csv if all results are there. r has them then; close it in any case. */
spot_status spot_background_write(spot_ctx *c, const spot_study *y, spot_background_results *r, const char *dir,
                                  const char *key);

#endif
