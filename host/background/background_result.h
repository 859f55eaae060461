/* background_result.h - the result of a model: its segment, a JSON of numbers from which tables and verdicts are made, and its
 * file of responses, the answer to every picture, which pages and maps read. */
#ifndef SPOTTER_BACKGROUND_RESULT_H
#define SPOTTER_BACKGROUND_RESULT_H

#include "background/background_config.h"
#include "base/json.h"

/* Allocates the counts of r->classes, all 0; false: no memory. describe writes or reads (json.h); reading it takes them. */
bool spot_background_result_take (spot_background_result *r);
void spot_background_result_close(void *result);
void spot_background_result_describe(spot_json *j, void *result);

/* Fills the counts of a result from its responses. */
void spot_background_count(spot_background_result *u, const spot_background_responses *r, const spot_background_suite *s);

/* DIR/responses/000/model-000003.safetensors. take: memory for n backgrounds of each target, `own` of its own class, and
 * matrices of grid x grid, not set; free it with spot_background_responses_free, also after a failure. */
void spot_background_responses_path(char *path, size_t size, const char *dir, int unit);
spot_status spot_background_responses_take(spot_ctx *c, spot_background_responses *r, int targets, int n, int own,
                                           int grid);
spot_status spot_background_responses_write(spot_ctx *c, const spot_background_responses *r, const char *dir, int unit);

#endif
