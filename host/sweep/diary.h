/* diary.h - what happened when, for people: one JSON line an event, in a file of this process alone.
 *
 * Times, hosts and threads belong here and not in segments. A diary that cannot be written stops nothing: the results
 * matter more, and they complain for themselves when the disk is full. */
#ifndef SPOTTER_SWEEP_DIARY_H
#define SPOTTER_SWEEP_DIARY_H

#include "spotter/store.h"

typedef struct { int fd; } spot_diary;

double spot_clock(void);       /* seconds on a clock that only runs forward */

void spot_diary_open(spot_ctx *c, spot_diary *d, const char *dir);
void spot_diary_close(spot_diary *d);

/* ec -1: of the whole run. text may be NULL; seconds NaN: none. */
void spot_diary_write(spot_diary *d, const char *event, int ec, double seconds, const char *text);

#endif
