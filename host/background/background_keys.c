/* background_keys.c - which settings make another result, another run, or neither. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "background/background_config.h"
#include "store/keys.h"

/* Clears paths, models and what only judges results. */
static void forget_paths(spot_background_config *cfg)
{
    spot_background_config none = { 0 };

    memset(cfg->data.images, 0, sizeof cfg->data.images);
    memset(cfg->data.masks, 0, sizeof cfg->data.masks);
    memset(cfg->data.coco, 0, sizeof cfg->data.coco);
    memset(cfg->data.backgrounds, 0, sizeof cfg->data.backgrounds);
    memset(cfg->ontology.images, 0, sizeof cfg->ontology.images);
    memset(cfg->ontology.backgrounds, 0, sizeof cfg->ontology.backgrounds);
    memset(cfg->ontology.words, 0, sizeof cfg->ontology.words);
    for (int i = 0; i < cfg->encoders; i++) {
        memset(cfg->encoder[i].name, 0, sizeof cfg->encoder[i].name);
        memset(cfg->encoder[i].weights, 0, sizeof cfg->encoder[i].weights);
        memset(cfg->encoder[i].config, 0, sizeof cfg->encoder[i].config);
    }
    cfg->verdict = none.verdict;
    cfg->verdict.learned_invariant = SPOT_LEARNED_INVARIANT, cfg->verdict.learned_variant = SPOT_LEARNED_VARIANT;
    cfg->models = cfg->variants = 0;
}

spot_key spot_background_key(const spot_background_config *cfg)
{
    spot_background_config *own = malloc(sizeof *own);
    spot_key k = { 0, 0 };

    if (!own) return k;
    *own = *cfg;
    forget_paths(own);
    own->zoo = (spot_background_zoo){ 0 };
    k = spot_key_of_settings(spot_background_settings, own);
    free(own);
    return k;
}

spot_status spot_background_key_text(spot_ctx *c, char key[33], const spot_background_config *cfg)
{
    const spot_key k = spot_background_key(cfg);

    spot_key_text(key, k);
    return k.hi || k.lo ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the key of a config");
}

/* A unit is the number of a model, so the models that both have are the same. */
static bool models_differ(char *words, size_t size, const spot_background_config *there, const spot_background_config *here)
{
    for (int m = 0; m < there->models && m < here->models; m++)
        if (strcmp(there->model[m].name, here->model[m].name)) {
            snprintf(words, size, "models[%d].name is %s there and %s here", m, there->model[m].name, here->model[m].name);
            return true;
        }
    return false;
}

bool spot_backgrounds_differ(char *words, size_t size, const spot_background_config *there, const spot_background_config *here)
{
    spot_background_config *copy = malloc(2 * sizeof *copy);
    bool differ = true;

    snprintf(words, size, "no memory to compare them");
    if (!copy) return true;
    copy[0] = *there, copy[1] = *here;
    for (int i = 0; i < 2; i++) forget_paths(&copy[i]);
    differ = spot_settings_differ(words, size, spot_background_settings, &copy[0], &copy[1])
          || models_differ(words, size, there, here);
    free(copy);
    return differ;
}

bool spot_background_replaces(const spot_background_config *there, const spot_background_config *here)
{
    char words[512];

    return spot_settings_differ(words, sizeof words, spot_background_settings, there, here);
}

/* ---- equal looks ---- */

/* Settings after which a model's answers are the same stand at those of `as`. */
static void forget_matrices(spot_background_measure *m, const spot_background_measure *as)
{
    m->grid = as->grid, m->kernel = as->kernel, m->sigma = as->sigma;
    m->neighbours = as->neighbours, m->exact = as->exact;
}

spot_status spot_background_same_look(spot_ctx *c, int *same, const spot_background_config *cfg, int k)
{
    spot_background_config *one = malloc(2 * sizeof *one), *other = one + 1;
    char words[512];

    if (!one) return spot_fail(c, SPOT_NOMEM, "no memory to compare the variants of a config");
    spot_background_vary(one, cfg, k);
    *other = *cfg;
    forget_matrices(&one->measure, &cfg->measure);
    for (*same = -1; *same < k; ++*same) {
        if (*same >= 0) spot_background_vary(other, cfg, *same);
        forget_matrices(&other->measure, &cfg->measure);
        if (!spot_backgrounds_differ(words, sizeof words, other, one)) break;
    }
    free(one);
    return SPOT_OK;
}
