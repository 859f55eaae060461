/* suite_encoders.h - the encoders that measure semantic distance: the mean of 1 - cosine over all of them, by weight. */
#ifndef SPOTTER_SUITE_ENCODERS_H
#define SPOTTER_SUITE_ENCODERS_H

#include "background/background_config.h"
#include "spotter/encoder.h"

typedef struct {
    int    n, size;                            /* size: pixels a side of the squares that it gets */
    int    dim;                                /* of a row: all encoders' side by side */
    int    at[SPOT_MAX_BACKGROUND_ENCODERS + 1];       /* columns of encoder i: at[i] .. at[i + 1] - 1 */
    int    side[SPOT_MAX_BACKGROUND_ENCODERS];         /* 0: pixels */
    double weight[SPOT_MAX_BACKGROUND_ENCODERS];       /* sum 1 */
    spot_encoder *net[SPOT_MAX_BACKGROUND_ENCODERS];   /* NULL: pixels */
    int    texts;                              /* the first encoder with texts; -1: none */
    spot_key key;                              /* of names and weights */
    char   name[128];                          /* "pixels", "clip-3f9a0c12d4e5b687, pixels" */
    uint8_t *square;                           /* scratch: a batch in an encoder's size */
    char   *taps;
    float  *feature;
    size_t  each;                              /* bytes of taps for a thread */
} spot_suite_encoders;

/* SPOT_INPUT where an encoder's file is also a model's: a model would be judged by itself. Close also after a failure. */
spot_status spot_suite_encoders_open (spot_ctx *c, spot_suite_encoders *e, const spot_background_config *cfg);
void        spot_suite_encoders_close(spot_ctx *c, spot_suite_encoders *e);

/* Takes the names of programs from the answers that the run keeps, or keeps their answers. */
spot_status spot_suite_encoders_know(spot_ctx *c, spot_suite_encoders *e, const char *dir);

/* row (n, dim): each encoder's columns of length 1. rgb (n, size, size, 3). */
spot_status spot_suite_encode(spot_ctx *c, spot_suite_encoders *e, float *row, const uint8_t *rgb, int n);

/* 0 for equal rows, at most 2. */
float spot_suite_distance(const spot_suite_encoders *e, const float *a, const float *b);

#endif
