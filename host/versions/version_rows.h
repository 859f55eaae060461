/* version_rows.h - two versions of a classifier on the same rows, from files of probabilities or folders of findings. */
#ifndef SPOTTER_VERSION_ROWS_H
#define SPOTTER_VERSION_ROWS_H

#include "spotter/versions.h"

enum { SPOT_MOST_RETRAINS = 64 };

typedef struct {
    spot_subject_files files;              /* rows and version 1; without labels and probabilities: those of `found`. embed:
                                            * features of `images`, in place of those of the folder */
    const char *found;                     /* folder of findings of version 1, or NULL */
    const char *second, *second_ids;       /* version 2: probabilities, or a folder of findings; its rows' names, or NULL */
    const char *retrain;                   /* probabilities of further trainings of version 1, with commas between, or NULL */
    const char *images;                    /* folder of the pictures; NULL: where spotter discover saw them */
} spot_version_files;

typedef struct {
    spot_subject of[SPOT_VERSIONS];        /* both versions in the order of the first; the second has features of its own
                                            * where it is a folder that keeps them */
    int          retrains;
    spot_subject retrain[SPOT_MOST_RETRAINS];
    spot_version_features features;        /* of the first: FIRST where nothing says that they are of neither version */
} spot_version_rows;

/* Close r also after a failure. */
spot_status spot_version_rows_read (spot_ctx *c, spot_version_rows *r, const spot_version_files *o);
void        spot_version_rows_close(spot_version_rows *r);

#endif
