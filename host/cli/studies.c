/* studies.c - the studies whose runs `spotter status` and `spotter merge` know. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "discover/search/discover_run.h"
#include "shifts/shift_result.h"
#include "spotter/background.h"
#include "spotter/examine.h"
#include "study/yaml.h"
#include "sweep/segment.h"

spot_status cli_study_of(spot_ctx *c, const spot_study **y, const char *dir)
{
    static const spot_study *const studies[] = { &spot_sweep_study, &spot_shifts_study, &spot_background_study,
                                                &spot_examine_study, &spot_discover_study };
    char path[1200], name[64];

    *y = studies[0];
    snprintf(path, sizeof path, "%s/config.yaml", dir);
    if (access(path, F_OK)) return SPOT_OK;            /* the caller's work says what is missing */
    SPOT_TRY(spot_yaml_word(c, name, sizeof name, path, "study"));
    if (!*name) return SPOT_OK;
    for (size_t i = 0; i < sizeof studies / sizeof *studies; i++)
        if (!strcmp(name, studies[i]->name)) return *y = studies[i], SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "%s is of the study \"%s\", which this version does not have", path, spot_plain(name));
}
