/* check_versions.h - spotter check for two versions of a classifier whose rows and probabilities are files. */
#ifndef SPOTTER_CHECK_VERSIONS_H
#define SPOTTER_CHECK_VERSIONS_H

#include "cli/cli.h"
#include "spotter/versions.h"

typedef struct {
    spot_subject_files files;              /* rows and version 1; without labels and probabilities: those of `found` */
    const char *found;                     /* folder of findings of version 1, or NULL */
    const char *against, *against_ids;     /* version 2: probabilities, or a folder of findings */
    const char *name, *data, *method, *config, *cls, *out;
    const char *html, *title, *date, *images;
    double margin;
    int    least;
    bool   json, full;
} cli_versions;

/* Whether path is a folder of findings. */
bool cli_is_findings(const char *path);

/* check_versions_read.c: both versions in the order of the first. Close both after success. */
spot_status cli_versions_read(spot_ctx *c, spot_subject s[SPOT_VERSIONS], const cli_versions *o);

/* check_versions_print.c */
void        cli_versions_print(const spot_versions *v, const spot_subject *s);

spot_status cli_check_versions(spot_ctx *c, const cli_versions *o);

#endif
