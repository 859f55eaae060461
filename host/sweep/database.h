/* database.h - results.sqlite: the segments once more, as tables to be asked. Never the truth, always remakable. */
#ifndef SPOTTER_DATABASE_H
#define SPOTTER_DATABASE_H

#include "spotter/ctx.h"

void spot_database_path(char *path, size_t size, const char *dir);

/* From all whole segments of the run that are of this config (its key as text; "": of any); damaged ones are left out. Written
 * beside and renamed. */
spot_status spot_database_write(spot_ctx *c, const char *dir, const char *config);

#endif
