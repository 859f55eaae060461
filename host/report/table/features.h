/* features.h - the kinds of features that define a blindspot, which results are split by (factors.h). */
#ifndef SPOTTER_FEATURES_H
#define SPOTTER_FEATURES_H

#include "spotter/scene.h"

/* A kind of feature defines a blindspot if one of its triplets has that kind, with any value. The square's presence is not a
 * kind: it defines nearly every blindspot. The first three are the paper's Figure 4. */
typedef enum {
    SPOT_FEATURE_RELATIVE_POSITION, SPOT_FEATURE_TEXTURE,
    SPOT_FEATURE_PRESENCE,                             /* plus the shape's place in SPOT_SHAPES */
    SPOT_FEATURE_COLOR = SPOT_FEATURE_PRESENCE + SPOT_EXTRAS, SPOT_FEATURE_SIZE, SPOT_FEATURE_NUMBER,
    SPOT_FEATURE_BACKGROUND_COLOR, SPOT_FEATURE_BACKGROUND_TEXTURE, SPOT_FEATURE_COUNT
} spot_feature;

const char *spot_feature_name(spot_feature f);

/* The kinds of features of a blindspot in a segment's words, as bits; false for words of another version. */
bool spot_features_read(unsigned *features, const char *words);

#endif
