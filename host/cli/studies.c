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

/* Whether the folder has findings: a config beside them that names no study is damaged, not that of a sweep. */
static bool has_findings(const char *dir)
{
    char path[1200];

    snprintf(path, sizeof path, "%s/slices.json", dir);
    return !access(path, F_OK);
}

spot_status cli_study_for(spot_ctx *c, const spot_study **y, const char *dir, const char *command, const char *reads)
{
    static const char *const commands[][2] = {
        { "sweep",      "`spotter tables`, `figures`, `view` and `report`" },
        { "discover",   "`spotter report`, `assign` and `claim`" },
        { "examine",    "`spotter tables`, `figures` and `report`" },
        { "background", "`spotter tables`, `verdict`, `figures` and `report`" },
        { "shifts",     "`spotter figures` and `report`; `spotter shifts` with its config prints its table" },
    };
    const spot_study *own;
    const char *others = "`spotter report`";
    char path[1200];

    if (!y) y = &own;
    SPOT_TRY(cli_study_of(c, y, dir));
    snprintf(path, sizeof path, "%s/config.yaml", dir);
    if (access(path, F_OK) || strstr(reads, (*y)->name)) return SPOT_OK;
    if (*y == &spot_sweep_study && has_findings(dir)) return SPOT_OK;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (!strcmp((*y)->name, commands[i][0])) others = commands[i][1];
    return spot_fail(c, SPOT_USAGE, "{run.other_study} %s is a run of `spotter %s`, which `spotter %s` does not read; for such "
                     "a run there are %s", dir, (*y)->name, command, others);
}
