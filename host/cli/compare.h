/* compare.h - two versions of a model, for spotter check. */
#ifndef SPOTTER_COMPARE_H
#define SPOTTER_COMPARE_H

#include "cli/cli.h"
#include "versions/version_rows.h"

typedef struct {
    spot_version_files from;               /* rows, and both versions, where they are findings or probabilities */
    const char *name, *data, *method, *config, *cls, *out;
    const char *html, *title, *date;
    double margin;
    int    least;
    bool   json, full;
} cli_comparison;

/* Findings and probabilities; runs of a study. */
spot_status cli_compare_rows  (spot_ctx *c, const cli_comparison *o);
spot_status cli_compare_models(spot_ctx *c, const char *before, const char *now, bool json);

/* compare_print.c */
void        cli_versions_print(const spot_versions *v, const spot_subject *s);

#endif
