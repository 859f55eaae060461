/* night.h - nights as a history keeps them: one JSON line each. */
#ifndef SPOTTER_NIGHT_H
#define SPOTTER_NIGHT_H

#include "base/json.h"
#include "spotter/check.h"

#define SPOT_NIGHT_SCHEMA 1
#define SPOT_HISTORY_LIMIT ((size_t)1 << 28)

typedef struct { char at[24], commit[64]; spot_check check; } spot_night;

typedef struct { spot_night *night; int nights, damaged; } spot_history;

/* A check as JSON, both ways; reading needs what spot_night_free takes, also when j->wrong is set. at NULL: without date and
 * commit. */
void spot_night_describe(spot_json *j, spot_check *k, char at[24], char commit[64]);

/* Any bytes: lines that are no nights are counted. Free with spot_history_free, also after a failure. */
spot_status spot_history_parse(spot_ctx *c, spot_history *h, const char *bytes, size_t n);
void        spot_history_free(spot_history *h);

#endif
