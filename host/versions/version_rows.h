/* version_rows.h - two versions of a classifier on the same rows, from files of probabilities or folders of findings. */
#ifndef SPOTTER_VERSION_ROWS_H
#define SPOTTER_VERSION_ROWS_H

#include "spotter/versions.h"

typedef struct {
    spot_subject_files files;              /* rows and version 1; without labels and probabilities: those of `found` */
    const char *found;                     /* folder of findings of version 1, or NULL */
    const char *second, *second_ids;       /* version 2: probabilities, or a folder of findings; its rows' names, or NULL */
    const char *images;                    /* folder of the pictures; NULL: where spotter discover saw them */
} spot_version_files;

/* Both versions in the order of the first. Close both after success. */
spot_status spot_version_rows_read(spot_ctx *c, spot_subject s[SPOT_VERSIONS], const spot_version_files *o);

#endif
