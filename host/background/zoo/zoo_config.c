/* zoo_config.c - a config that asks for a planted zoo: makes it and fills in where its parts are. */
#include <stdio.h>
#include <string.h>

#include "background/background_config.h"
#include "background/suite/suite_encoders.h"
#include "background/zoo/zoo_make.h"
#include "study/config_files.h"

static spot_status keep_text(spot_ctx *c, spot_background_config *cfg, const char **to, const char *text)
{
    *to = spot_memory_text(&cfg->memory, text);
    return *to ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the models of a config");
}

/* A config's text takes 511 bytes. */
static spot_status set_path(spot_ctx *c, spot_background_config *cfg, const char **to, const char *dir, const char *name)
{
    char path[512];

    if (snprintf(path, sizeof path, "%s%s", dir, name) < (int)sizeof path)
        return keep_text(c, cfg, to, path);
    return spot_fail(c, SPOT_USAGE, "the path %.60s... is too long", dir);
}

/* A model that the config has already, as that of a finished run, keeps its place. */
static spot_status fill_model(spot_ctx *c, spot_background_config *cfg, const char *dir, int k)
{
    const spot_zoo_recipe r = spot_zoo_recipe_of(&cfg->zoo, k);
    char path[SPOT_ZOO_PATH];
    int at = 0;

    while (at < cfg->models && strcmp(cfg->model[at].name, r.name)) at++;
    if (at == SPOT_MAX_BACKGROUND_MODELS)
        return spot_fail(c, SPOT_USAGE, "the planted models and those of the config are more than %d",
                         SPOT_MAX_BACKGROUND_MODELS);
    if (at == cfg->models) cfg->models++;
    spot_background_model *m = &cfg->model[at];
    *m = (spot_background_model){ .command = "", .identity = "", .reliance = r.rho };
    SPOT_TRY(keep_text(c, cfg, &m->name, r.name));
    spot_zoo_model_path(path, dir, &r);
    SPOT_TRY(set_path(c, cfg, &m->weights, path, ""));
    return set_path(c, cfg, &m->classes, dir, "/classes.txt");
}

/* The encoders without the models, whose files are not there yet. */
static spot_status check_encoders(spot_ctx *c, spot_background_config *cfg)
{
    const int models = cfg->models;
    spot_suite_encoders e;
    spot_status s;

    if (!cfg->encoders) return SPOT_OK;
    cfg->models = 0;
    s = spot_suite_encoders_open(c, &e, cfg);
    cfg->models = models;
    spot_suite_encoders_close(c, &e);
    return s;
}

/* Fills in where the world's parts will be. */
static spot_status fill_config(spot_ctx *c, spot_background_config *cfg, const char *dir)
{
    spot_background_data *d = &cfg->data;

    SPOT_TRY(set_path(c, cfg, &d->images, dir, "/images"));
    SPOT_TRY(set_path(c, cfg, &d->masks, dir, "/masks"));
    SPOT_TRY(set_path(c, cfg, &d->backgrounds, dir, "/backgrounds"));
    SPOT_TRY(set_path(c, cfg, &cfg->ontology.images, dir, "/images.csv"));
    SPOT_TRY(set_path(c, cfg, &cfg->ontology.backgrounds, dir, "/backgrounds.csv"));
    d->size = cfg->zoo.size;
    cfg->model = spot_memory_longer(&cfg->memory, cfg->model, sizeof *cfg->model, cfg->models, cfg->zoo.models);
    if (!cfg->model) return spot_fail(c, SPOT_NOMEM, "no memory for the models of a config");
    for (int k = 0; k < cfg->zoo.models; k++) SPOT_TRY(fill_model(c, cfg, dir, k));
    spot_background_share_files(cfg);
    return SPOT_OK;
}

spot_status spot_background_planted(spot_ctx *c, spot_background_config *cfg, const char *out)
{
    char dir[400];

    if (!cfg->zoo.models) return SPOT_OK;
    SPOT_TRY(spot_zoo_folder(c, dir, sizeof dir, out));
    SPOT_TRY(fill_config(c, cfg, dir));
    SPOT_TRY(spot_config_files_check(c, spot_background_settings, cfg, dir));
    SPOT_TRY(check_encoders(c, cfg));
    return spot_zoo_make(c, dir, &cfg->zoo);
}
