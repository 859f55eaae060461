/* derived_sets.h - the sets that are derived of the targets beside the suite: those of the Backgrounds Challenge (Xiao et al.
 * 2021: only-fg, no-fg, only-bg-b, only-bg-t, mixed-same, -rand and -next), those of Moayeri et al. 2022 (noise-fg, noise-bg),
 * and plain, noise and blurred; and the backgrounds of its own class that a target gets. */
#ifndef SPOTTER_DERIVED_SETS_H
#define SPOTTER_DERIVED_SETS_H

#include "background/background_inputs.h"

/* The target whose background set `set` gives to target t; -1: there is none (a class with one picture), or the set takes
 * none. */
int spot_set_donor(const spot_background_suite *s, uint64_t seed, int t, int set);

/* The other targets of t's class whose backgrounds it gets beside the derived sets: all of them, or `most` drawn without
 * repetition, in order. donor (most). Returns how many. */
int spot_own_donors(const spot_background_suite *s, uint64_t seed, int t, int most, int *donor);

/* Whether the set is the target's picture, changed in place: no-fg, both only-bg, noise-fg and noise-bg. Whether it is a blend
 * of the target with a background of the set's making: all but these, original and the suite. */
bool spot_set_is_in_place(int set);
bool spot_set_is_blend(int set);

/* A picture of a set that is to be made: the background of a blend, or of a set in place the picture itself. All lie
 * in the memory of c's device. */
typedef struct {
    int set, number;               /* number: of the target's picture, for the noise */
    const uint8_t *rgb, *mask;     /* (size, size, 3), (size, size): the donor's, or the target's */
    uint8_t *out;                  /* (size, size, 3) */
} spot_set_picture;

/* Makes n pictures. Bytes do not depend on what is made together. scratch: in that memory, too. */
spot_status spot_sets_make(spot_ctx *c, spot_arena *scratch, const spot_set_picture *p, int n, int size, uint64_t seed);

/* Its bytes for n pictures. threads 0: a device's. */
size_t spot_sets_scratch(int n, int size, int threads);

#endif
