/* suite.h - the suite of a study: which pictures are targets, and the N backgrounds of each. It is made once for a run
 * directory and does not depend on models, threads or shards. */
#ifndef SPOTTER_SUITE_H
#define SPOTTER_SUITE_H

#include "background/background_inputs.h"
#include "background/suite/suite_encoders.h"

/* DIR/suites/<key>.safetensors. */
void spot_suite_path(char *path, size_t size, const char *dir, const char *key);

/* dir: the run directory; known: one that may have the suite, too, or ""; store: the cache. */
typedef struct { const char *dir, *known; const spot_store *store; } spot_suite_place;

/* Reads the suite from the run directory, or copies it there, or makes it there. SPOT_INPUT: fewer backgrounds than N, no
 * target at all, keywords that do not fit. Close s also after a failure. */
spot_status spot_suite_open (spot_ctx *c, spot_background_suite *s, spot_background_inputs *in, spot_suite_encoders *e,
                             const spot_suite_place *place);
void        spot_suite_close(spot_background_suite *s);

/* Bytes that making it takes beside inputs, encoders and decoding. dim: numbers of an encoded picture. */
size_t      spot_suite_memory(const spot_ctx *c, const spot_background_config *cfg, int dim, int targets, int backgrounds);

spot_status spot_suite_write(spot_ctx *c, const spot_background_suite *s, const char *path);
spot_status spot_suite_read (spot_ctx *c, spot_background_suite *s, const char *path);

#endif
