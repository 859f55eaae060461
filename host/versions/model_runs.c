/* model_runs.c - from two directories of runs to the comparison of their models. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "study/yaml.h"
#include "versions/version_values.h"

static const spot_version_reader *const readers[] = { &spot_background_versions, &spot_examine_versions,
                                                     &spot_shifts_versions };

/* The study of a run, "sweep" where its config does not say; "" where the directory has no config. */
static spot_status read_study(spot_ctx *c, char *study, size_t size, const spot_version_place *p)
{
    char path[1200];

    snprintf(path, sizeof path, "%.1023s/config.yaml", p->dir);
    *study = 0;
    if (access(path, F_OK)) return SPOT_OK;
    SPOT_TRY(spot_yaml_word(c, study, size, path, "study"));
    if (!*study) snprintf(study, size, "sweep");
    spot_plain(study);
    return SPOT_OK;
}

static const spot_version_reader *find_reader(const char *study)
{
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (!strcmp(study, readers[i]->study)) return readers[i];
    return NULL;
}

bool spot_is_model_run(const char *version)
{
    spot_version_place p;
    spot_ctx quiet = { 0 };
    char study[64];

    return spot_version_place_of(&quiet, &p, version) == SPOT_OK && read_study(&quiet, study, sizeof study, &p) == SPOT_OK
        && find_reader(study);
}

static spot_status choose_reader(spot_ctx *c, const spot_version_reader **r, const spot_version_place p[SPOT_VERSIONS])
{
    char study[SPOT_VERSIONS][64];

    for (int i = 0; i < SPOT_VERSIONS; i++) {
        SPOT_TRY(read_study(c, study[i], sizeof study[i], &p[i]));
        if (!*study[i]) return spot_fail(c, SPOT_IO, "{run.missing} %s is no run directory: it has no config.yaml", p[i].dir);
    }
    if (strcmp(study[0], study[1]))
        return spot_fail(c, SPOT_USAGE, "%s is a run of `spotter %s` and %s one of `spotter %s`; two versions are compared "
                         "under one study", p[0].dir, study[0], p[1].dir, study[1]);
    *r = find_reader(study[0]);
    if (*r) return SPOT_OK;
    if (!strcmp(study[0], "sweep"))
        return spot_fail(c, SPOT_USAGE, "a sweep trains a network of its own for each EC, which has no versions; `spotter "
                         "check` compares a sweep with a baseline");
    return spot_fail(c, SPOT_INPUT, "%s is of the study \"%s\", which this version does not have", p[0].dir, study[0]);
}

/* Models of one name, as two runs of one config have, are told apart by their runs. */
static spot_status name_models(spot_ctx *c, spot_model_comparison *k, const spot_version_values v[SPOT_VERSIONS],
                               const char *const version[SPOT_VERSIONS])
{
    char name[SPOT_VERSIONS][SPOT_VERSION_NAME];

    for (int u = 0; u < SPOT_VERSIONS; u++) snprintf(name[u], sizeof name[u], "%s", v[u].name);
    if (!strcmp(name[0], name[1]) && strcmp(version[0], version[1])) SPOT_TRY(spot_version_names(c, name, version));
    memcpy(k->before, name[0], sizeof k->before);
    memcpy(k->now, name[1], sizeof k->now);
    return SPOT_OK;
}

spot_status spot_models_compare(spot_ctx *c, spot_model_comparison *k, const char *before, const char *now, double margin)
{
    spot_version_place place[SPOT_VERSIONS];
    spot_version_values v[SPOT_VERSIONS] = { 0 };
    const spot_version_reader *r;
    spot_status s;

    *k = (spot_model_comparison){ 0 };
    SPOT_TRY(spot_version_place_of(c, &place[0], before));
    SPOT_TRY(spot_version_place_of(c, &place[1], now));
    SPOT_TRY(choose_reader(c, &r, place));
    s = r->read(c, v, place);
    if (s == SPOT_OK) s = name_models(c, k, v, (const char *[]){ before, now });
    if (s == SPOT_OK) s = spot_model_values_compare(c, k, &r->words, v, margin);
    spot_memory_close(&v[0].memory), spot_memory_close(&v[1].memory);
    return s;
}
