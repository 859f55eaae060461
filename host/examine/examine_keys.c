/* examine_keys.c - which settings make another result, another run, or neither. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examine/examine_config.h"
#include "store/keys.h"

/* Clears paths and what only judges results. */
static void forget_paths(spot_examine_config *cfg)
{
    memset(cfg->objects.catalogue, 0, sizeof cfg->objects.catalogue);
    memset(cfg->render.pictures, 0, sizeof cfg->render.pictures);
    for (int m = 0; m < cfg->models; m++) {
        memset(cfg->model[m].weights, 0, sizeof cfg->model[m].weights);
        memset(cfg->model[m].command, 0, sizeof cfg->model[m].command);
        memset(cfg->model[m].classes, 0, sizeof cfg->model[m].classes);
    }
    cfg->search.fails = 0;
}

spot_status spot_examine_key_text(spot_ctx *c, char key[33], const spot_examine_config *cfg)
{
    spot_examine_config *own = malloc(sizeof *own);

    if (!own) return spot_fail(c, SPOT_NOMEM, "no memory for the key of a config");
    *own = *cfg;
    forget_paths(own);
    own->models = 0;
    spot_key_text(key, spot_key_of_settings(spot_examine_settings, own));
    free(own);
    return SPOT_OK;
}

bool spot_examines_differ(char *words, size_t size, const spot_examine_config *there, const spot_examine_config *here)
{
    const int models = there->models < here->models ? there->models : here->models;
    spot_examine_config *copy = malloc(2 * sizeof *copy);
    bool differ;

    snprintf(words, size, "no memory to compare them");
    if (!copy) return true;
    copy[0] = *there, copy[1] = *here;
    for (int i = 0; i < 2; i++) copy[i].models = models, forget_paths(&copy[i]);
    differ = spot_settings_differ(words, size, spot_examine_settings, &copy[0], &copy[1]);
    free(copy);
    return differ;
}

bool spot_examine_replaces(const spot_examine_config *there, const spot_examine_config *here)
{
    char words[512];

    return spot_settings_differ(words, sizeof words, spot_examine_settings, there, here);
}
