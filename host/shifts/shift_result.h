/* shift_result.h - the result of a unit: memory, segment, file of pictures. */
#ifndef SPOTTER_SHIFT_RESULT_H
#define SPOTTER_SHIFT_RESULT_H

#include "base/json.h"
#include "spotter/shifts.h"
#include "spotter/work.h"

enum { SPOT_SHIFT_NUMBERS = 3 };       /* version of the study's numbers */

/* Allocates the arrays for r->classes, models, columns and sets (filtered, truth), all zero. False: no memory. */
bool spot_shift_result_take(spot_shift_result *r);
void spot_shift_result_close(void *result);

/* spot_study.describe. */
void spot_shift_result_describe(spot_json *j, void *result);

/* DIR/similarities/000/shift-000003.safetensors */
void spot_shift_pictures_path(char *path, size_t size, const char *dir, int unit);
spot_status spot_shift_pictures_write(spot_ctx *c, const char *dir, int unit, const spot_shift_pictures_result *p);

#endif
