/* new_pictures.h - pictures that the search has not seen: gathered by a phrase, measured by a classifier.
 *
 *     folder + phrase -> spot_gather -> new pictures -> spot_measure -> right or wrong -> spot_claim_judge (hypothesis.h)
 *
 * run_to_run, and the same for any number of threads. */
#ifndef SPOTTER_NEW_PICTURES_H
#define SPOTTER_NEW_PICTURES_H

#include <stdbool.h>

#include "spotter/encoder.h"
#include "spotter/hypothesis.h"
#include "spotter/predictor.h"
#include "spotter/subject.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The gathered ones first, then as many controls. Texts are malloc'd; close accepts a zeroed struct. */
typedef struct { int n; spot_new_picture *row; } spot_new_pictures;

void spot_new_pictures_close(spot_new_pictures *p);

typedef struct {
    const char *images;            /* a folder, looked through at any depth */
    const char *cls;               /* with a folder of this name in images, only its pictures count; NULL, "": all do */
    const char *phrase;
    const char *weights;           /* a CLIP, which compares the phrase with the pictures */
    const spot_encoder_options *encoder;   /* NULL: spot_encoder_defaults */
    int      most;                 /* gathered pictures, and as many controls, drawn by the seed */
    uint64_t seed;
    const spot_subject *known;     /* its pictures are not new and are left out, also under another name; NULL: none */
} spot_gather_options;

/* Whether images has a folder with the name of the class, so that the class of its pictures is known. */
bool spot_gather_has_class(const char *images, const char *cls);

/* The pictures nearest to the phrase by the cosine, and random others; similarity is that cosine, wrong -1. Unreadable pictures
 * are left out with a warning. SPOT_INPUT where there are fewer than two. *p is empty after a failure. */
spot_status spot_gather(spot_ctx *c, spot_new_pictures *p, const spot_gather_options *o);

typedef struct {
    const spot_predictor_options *model;   /* its side is the square that is cut from the middle of a picture */
    int resize;                    /* pixels of the shorter side before; 0: as it is */
    const char *name;              /* of the model, for sentences */
    const char *folder;            /* the pictures lie below it */
    char *const *class_name;       /* (classes): the class of each output; a single output stands for two. NULL: numbers */
    int classes, label;            /* 0: not known; the class that all pictures show */
} spot_measure_options;

/* Fills wrong and predicted. Ties with the label's own output are right, as in spot_subject_wrong; a single output is the logit
 * of class 1. An unreadable picture keeps its -1. SPOT_INPUT where outputs and classes do not fit. */
spot_status spot_measure(spot_ctx *c, spot_new_pictures *p, const spot_measure_options *o);

#ifdef __cplusplus
}
#endif
#endif
