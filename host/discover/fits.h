/* fits.h - a folder of findings as new rows see it: what each finding is about, how it was made, and its fit. */
#ifndef SPOTTER_FITS_H
#define SPOTTER_FITS_H

#include "spotter/config.h"
#include "spotter/discover.h"

/* What the rows of a finding were. */
typedef struct {
    int    features, classes;
    char **class_name;         /* (classes) */
    int    only;               /* the class of rows that come without labels */
} spot_known;

typedef struct {
    int      cls, slices;      /* SPOT_ALL_CLASSES: of all rows */
    uint64_t seed;
    const spot_bdm_config *bdm;
    spot_fit fit;              /* of no tensors where it found nothing */
} spot_fitted;

typedef struct {
    spot_known   known;
    int          count;
    spot_fitted *of;           /* (count): by class, then method, then seed */
    spot_config *config;
    void        *tree;         /* slices.json, where names lie */
} spot_fits;

/* SPOT_INPUT where files are damaged or do not belong together, or there is no fit. Close after success. */
spot_status spot_fits_open (spot_ctx *c, spot_fits *f, const char *dir);
void        spot_fits_close(spot_fits *f);

/* As spot_subject_read, of rows with embeddings and these classes, however few of them occur. No labels: all are of
 * known->only; neither probabilities nor losses: confidence is 0 everywhere. s borrows the names. */
spot_status spot_rows_read(spot_ctx *c, spot_subject *s, const spot_subject_files *files, const spot_known *known);

#endif
