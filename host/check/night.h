/* night.h - the history of nightly checks: one JSON line per night. */
#ifndef SPOTTER_NIGHT_H
#define SPOTTER_NIGHT_H

#include "base/json.h"
#include "spotter/check.h"

#define SPOT_NIGHT_SCHEMA 1
#define SPOT_HISTORY_LIMIT ((size_t)1 << 28)

typedef struct { char at[24], commit[64]; spot_check check; } spot_night;

typedef struct { spot_night *night; int nights, damaged; } spot_history;

/* Writes or reads a check as JSON. After reading, free k->line, also if j->wrong is set. at NULL: without date and commit. */
void spot_night_describe(spot_json *j, spot_check *k, char at[24], char commit[64]);

/* Accepts any bytes; lines that are no nights count as damaged. Free with spot_history_free, also after a failure. */
spot_status spot_history_parse(spot_ctx *c, spot_history *h, const char *bytes, size_t n);
void        spot_history_free(spot_history *h);

#endif
