/* factors.h - results by factor (paper, section 5.1.1): the number of an EC's blindspots, a blindspot's specificity, the
 * kinds of features that define it. */
#ifndef SPOTTER_FACTORS_H
#define SPOTTER_FACTORS_H

#include "report/table/results.h"

/* A kind of feature defines a blindspot when one of its triplets is of that kind, whatever the value. The square's presence
 * is not one: it defines nearly every blindspot. The first three are the paper's Figure 4. */
typedef enum {
    SPOT_FEATURE_RELATIVE_POSITION, SPOT_FEATURE_TEXTURE,
    SPOT_FEATURE_PRESENCE,                             /* + the shape's place in SPOT_SHAPES */
    SPOT_FEATURE_COLOR = SPOT_FEATURE_PRESENCE + SPOT_EXTRAS, SPOT_FEATURE_SIZE, SPOT_FEATURE_NUMBER,
    SPOT_FEATURE_BACKGROUND_COLOR, SPOT_FEATURE_BACKGROUND_TEXTURE, SPOT_FEATURE_COUNT
} spot_feature;

const char *spot_feature_name(spot_feature f);

/* The kinds of features of a blindspot in a segment's words, as bits; false for words that are not of this version. */
bool spot_features_read(unsigned *features, const char *words);

/* A mean and its 95 % interval: of DR and FDR mean +- 1.96 standard errors over ECs, cut at 0 and 1; of a share of blindspots
 * Wilson's, which takes them as independent. NaN where n is too small for it. left_out: ECs, or blindspots, of the level in
 * the ECs that are done and not among the n: not trained, not learned, the method failed; of FDR also those with DR = 0. */
typedef struct { double mean, se, low, high; int n, left_out; } spot_estimate;

typedef enum { SPOT_RATE_DR, SPOT_RATE_FDR, SPOT_RATE_COVERED } spot_rate;

/* Which ECs or blindspots: all where a member is -1. */
typedef struct {
    int blindspots;            /* in the EC */
    int specificity;           /* of a blindspot; for the share covered only, as the next two */
    int feature, has;          /* defined with it, or without */
} spot_level;

#define SPOT_EVERY ((spot_level){ -1, -1, -1, -1 })

spot_estimate spot_factor(const spot_results *r, int method, spot_rate rate, spot_level level);

/* Every level that the counted ECs have, one after another: DR and FDR by number of blindspots, the share of blindspots
 * covered by specificity and by feature. Begin with *i = 0; false at the end. */
typedef struct { spot_rate rate; spot_level level; char factor[48], value[16]; } spot_factor_row;

bool spot_factor_next(const spot_results *r, int *i, spot_factor_row *row);

/* Has any counted EC such a thing? */
bool spot_level_there(const spot_results *r, spot_level level);

const char *spot_rate_name(spot_rate rate);

#endif
