/* examine_result.h - the result of a unit as memory, as JSON and as a file of all its renders. */
#ifndef SPOTTER_EXAMINE_RESULT_H
#define SPOTTER_EXAMINE_RESULT_H

#include "examine/examine_config.h"

struct spot_json;

void spot_examine_result_describe(struct spot_json *j, void *result);

/* DIR/searches/000/unit-000012.safetensors */
void spot_examine_history_path(char *path, size_t size, const char *dir, int unit);

/* Room for `renders` renders. */
spot_status spot_examine_history_take(spot_ctx *c, spot_examine_history *h, int renders, int dims);

/* A file holds this beside the renders: robust at the points of the curve that are done; the key of everything that made the
 * renders. */
typedef struct { double robust[SPOT_MAX_EXAMINE_POINTS]; int points; char key[33]; } spot_examine_progress;

/* Writes the first `renders` renders. */
spot_status spot_examine_history_write(spot_ctx *c, const spot_examine_history *h, int renders, const spot_examine_progress *p,
                                       const char *dir, int unit);

/* The same to a file of any name, and back: random renders, and renders along the factors, are kept in the same form. load:
 * free h with spot_examine_history_free, unless it fails. */
spot_status spot_examine_history_save(spot_ctx *c, const spot_examine_history *h, int renders, const spot_examine_progress *p,
                                      const char *path);
spot_status spot_examine_history_load(spot_ctx *c, spot_examine_history *h, const char *path);

/* Reads a file of an interrupted search into h, which has room. *renders: 0 where there is none, or it is damaged or of another
 * key. */
spot_status spot_examine_history_resume(spot_ctx *c, spot_examine_history *h, int *renders, spot_examine_progress *p,
                                        const char *dir, int unit);

#endif
