/* background_pictures.h - the pictures of a run of `spotter background`, as the models saw them. A run stores no blends: they
 * are made again from the files that its config names, with the run's suite. */
#ifndef SPOTTER_BACKGROUND_PICTURES_H
#define SPOTTER_BACKGROUND_PICTURES_H

#include "spotter/background.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct spot_background_pictures spot_background_pictures;

/* r is borrowed until close. The config of a stranger's run may name the reader's own folders, so all their files are read and
 * SPOT_INPUT is returned unless names and bytes are those that the run saw; other: they may differ. SPOT_INPUT or SPOT_IO also
 * where the folders cannot be listed. *p is NULL after a failure; close accepts NULL. */
spot_status spot_background_pictures_open (spot_ctx *c, spot_background_pictures **p, const spot_background_results *r,
                                           bool other);
void        spot_background_pictures_close(spot_background_pictures *p);

/* rgb (size, size, 3), size that of the config's data: a target with image 0, the original; image 1 to n, the blend with that
 * one of its backgrounds; image n + 1 + k, its picture of derived set k. One thread at a time. SPOT_INPUT: a file is no longer
 * there or unreadable, there is no such picture, or (a derived set) the folders hold other files than the run saw, which would
 * give other donors. */
spot_status spot_background_picture(spot_ctx *c, spot_background_pictures *p, uint8_t *rgb, int target, int image);

/* The background of blend `image` alone, as a square. */
spot_status spot_background_behind(spot_ctx *c, spot_background_pictures *p, uint8_t *rgb, int target, int image);

/* ---- realness ---- */

/* How models answer blends that are more and less like their originals (paper 003, 4.2.2: realness is 1 - the
 * semantic distance of a blend to its original). */

enum { SPOT_REALNESS_BINS = 8 };

/* The blends with a realness from `from` to below `to` (the last bin has its end), of all models. accuracy: share of right
 * answers. flipped: share of wrong ones among the blends of objects that the model knows on the original. Intervals: 95 %,
 * percentiles of 2,000 draws of targets, since the blends of a target are alike. NaN in a bin without blends; no
 * interval where the blends are of one target. */
typedef struct {
    double from, to;
    int    blends;
    double looks;                  /* blends times models */
    spot_interval accuracy, flipped;
} spot_realness_bin;

/* Bins of equal width between the least and the greatest realness of the run's suite. Reads the responses of all models in dir.
 * The same numbers for any number of threads. */
spot_status spot_realness_bins(spot_ctx *c, spot_realness_bin bin[SPOT_REALNESS_BINS], const spot_background_results *r,
                               const char *dir);

#ifdef __cplusplus
}
#endif
#endif
