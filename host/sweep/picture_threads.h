/* picture_threads.h - the pictures of a wave, drawn by threads of the host beside the device's work. */
#ifndef SPOTTER_PICTURE_THREADS_H
#define SPOTTER_PICTURE_THREADS_H

#include "sweep/pipeline.h"

typedef struct spot_picture_threads spot_picture_threads;

/* Starts at most `threads` threads. */
spot_status spot_pictures_open(spot_ctx *c, spot_picture_threads **t, int threads);

/* Draws a picture of method b of an EC at some later time, on the CPU. Copies points and found; what the picture shows of p
 * must stay as it is until the threads are closed. */
spot_status spot_pictures_add(spot_ctx *c, spot_picture_threads *t, const spot_ec_run *p, int b, const char *path,
                              const char *title, const spot_points *points, const spot_hypotheses *found);

/* Waits for all pictures. Calls `judge` for each that failed, in the order of adding, after spot_fail; it may forget the
 * failure. Returns the first failure of judge. Accepts NULL. */
typedef spot_status spot_picture_judge(void *user, const spot_ec_run *p, int b, spot_status s);
spot_status spot_pictures_close(spot_ctx *c, spot_picture_threads *t, spot_picture_judge *judge, void *user);

#endif
