/* fits.h - reads a folder of findings to assign new rows: each finding's class, method, seed and fit. */
#ifndef SPOTTER_FITS_H
#define SPOTTER_FITS_H

#include "spotter/config.h"
#include "spotter/discover.h"

/* The rows of the findings. */
typedef struct {
    int    features, classes;
    char **class_name;         /* (classes) */
    const char *encoder;       /* name of the encoder of their features; NULL: not known */
    const char *folder;        /* the findings', which may keep answers of the encoder (study/kept_encoder.h); NULL: none */
    spot_feature_block block[SPOT_MOST_BLOCKS];
    int    blocks;             /* sources of the features; 0: one */
    int    only;               /* the class of rows that come without labels */
    float *feature;            /* (rows, features), borrowed, for files without embeddings; NULL: they have them */
    int    rows;
} spot_known;

typedef struct {
    int      cls, slices;      /* cls SPOT_ALL_CLASSES: all rows */
    int      number[SPOT_MAX_HYPOTHESES];      /* of its slices (spot_slice_list) */
    char     method[SPOT_MAX_HYPOTHESES][80];  /* what found each: "ward+domino" */
    uint64_t seed;
    const spot_bdm_config *bdm;        /* NULL: slices of all methods with proofs (discover.h), whose fit votes */
    bool     merged;
    int      rules;            /* slices that are rules of attributes */
    spot_fit fit;              /* without tensors if nothing was found */
} spot_fitted;

typedef struct {
    spot_known   known;
    int          count;
    spot_fitted *of;           /* (count): by class, then method, then seed */
    spot_config *config;
    void        *tree;         /* slices.json, which owns the names */
} spot_fits;

/* SPOT_INPUT when files are damaged or do not belong together, or there is no fit. Close after success. */
spot_status spot_fits_open (spot_ctx *c, spot_fits *f, const char *dir);
void        spot_fits_close(spot_fits *f);

/* feature (s->n, s->d): the features of s's rows, which fit.safetensors of the folder keeps for the slices of a proof. s: read
 * from this folder. SPOT_USAGE where it does not hold those of all rows, with a sentence that says which are missing. */
spot_status spot_fits_features(spot_ctx *c, float *feature, const spot_subject *s, const char *dir);

/* Like spot_subject_read, for rows with embeddings and these classes, also if some classes do not occur. Without labels all
 * rows have the class known->only; without probabilities and losses all confidences are 0. s borrows the names. */
spot_status spot_rows_read(spot_ctx *c, spot_subject *s, const spot_subject_files *files, const spot_known *known);

#endif
