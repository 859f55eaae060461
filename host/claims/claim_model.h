/* claim_model.h - measures a classifier on new pictures. */
#ifndef SPOTTER_CLAIM_MODEL_H
#define SPOTTER_CLAIM_MODEL_H

#include "claims/slice_claim.h"
#include "spotter/predictor.h"

/* One of the first three is given. */
typedef struct {
    const char *probs, *model, *predict;   /* probabilities (array.h), weights, a program (predictor.h) */
    const char *ids;                       /* pictures of the rows of probs and groups; NULL: all of the folder, sorted */
    const char *groups;                    /* what spot_claim_groups reads; NULL: pictures are alone */
    const char *classes;                   /* a text with the class of each output, a line each; NULL: `known` */
    int  resize, crop;                     /* pixels: shorter side, then central square */
    spot_picture_reading reading;
    spot_picture_input input;              /* of model; and the interpolation of any */
    spot_predictor_options own;            /* of a function (own.function), in place of the first three */
    const char *name;                      /* its name for the claim */
    char *const *known;                    /* (known_n): the classes of the findings; NULL: none */
    int  known_n;
} spot_claim_model;

/* Reads classes, probabilities, ids and groups and opens weights, to fail before pictures are looked for where the two
 * functions below would fail after it. Programs are not started. */
spot_status spot_claim_model_check(spot_ctx *c, const char *cls, const spot_claim_model *how);

/* Fills `wrong` and `predicted` of the pictures below k->root, which all show the class k->cls, and k->model. A picture that
 * cannot be read stays unknown. SPOT_INPUT where outputs and classes do not fit, or the probabilities lack a picture. */
spot_status spot_claim_measure(spot_ctx *c, spot_new_pictures *p, spot_slice_claim *k, const spot_claim_model *how);

/* of->group (p->n): the pictures below root that depend on each other, by how->groups: SPOT_CLAIM_FOLDERS, those of one folder;
 * or those with an equal cell in a column (array.h) that has the rows of how->ids. Close `of`, also after a failure. */
#define SPOT_CLAIM_FOLDERS "folders"
spot_status spot_claim_groups(spot_ctx *c, spot_subject *of, spot_new_pictures *p, const char *root,
                              const spot_claim_model *how);

#endif
