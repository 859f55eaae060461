/* features.c - see features.h. */
#include "report/table/features.h"

static const char *const names[SPOT_FEATURE_COUNT] = {
    [SPOT_FEATURE_RELATIVE_POSITION] = "relative position", [SPOT_FEATURE_TEXTURE] = "texture of an object",
#define X(NAME, word, place) [SPOT_FEATURE_PRESENCE + (place)] = "presence of a " word,
    SPOT_SHAPES(X)
#undef X
    [SPOT_FEATURE_COLOR] = "color of an object", [SPOT_FEATURE_SIZE] = "size of an object",
    [SPOT_FEATURE_NUMBER] = "number of squares", [SPOT_FEATURE_BACKGROUND_COLOR] = "color of the background",
    [SPOT_FEATURE_BACKGROUND_TEXTURE] = "texture of the background",
};

const char *spot_feature_name(spot_feature f) { return names[f]; }

static unsigned feature_bit(const spot_triplet *t)
{
#define X(NAME, word, place) [SPOT_##NAME] = SPOT_FEATURE_PRESENCE + (place),
    static const int presence[SPOT_LAYERS] = { SPOT_SHAPES(X) };
#undef X
    static const int object[SPOT_ATTRIBUTES] = { [SPOT_SIZE] = SPOT_FEATURE_SIZE, [SPOT_COLOR] = SPOT_FEATURE_COLOR,
                                                 [SPOT_TEXTURE] = SPOT_FEATURE_TEXTURE, [SPOT_NUMBER] = SPOT_FEATURE_NUMBER };
    static const int background[SPOT_ATTRIBUTES] = {
        [SPOT_COLOR] = SPOT_FEATURE_BACKGROUND_COLOR, [SPOT_TEXTURE] = SPOT_FEATURE_BACKGROUND_TEXTURE,
        [SPOT_RELATIVE_POSITION] = SPOT_FEATURE_RELATIVE_POSITION,
    };
    if (t->layer == SPOT_BACKGROUND) return 1u << background[t->attribute];
    if (t->attribute != SPOT_PRESENCE) return 1u << object[t->attribute];
    return t->layer == SPOT_SQUARE ? 0 : 1u << presence[t->layer];
}

bool spot_features_read(unsigned *features, const char *words)
{
    spot_blindspot b;

    *features = 0;
    if (!spot_blindspot_read(&b, words)) return false;
    for (int i = 0; i < b.len; i++) *features |= feature_bit(&b.triplet[i]);
    return true;
}
