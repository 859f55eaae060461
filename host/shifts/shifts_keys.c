/* shifts_keys.c - which settings make another result, another run, or neither. */
#include <stdlib.h>
#include <string.h>

#include "shifts/shifts_config.h"
#include "store/keys.h"

static void forget_paths(spot_shifts_config *cfg)
{
    memset(cfg->data.root, 0, sizeof cfg->data.root);
    if (spot_shift_is_outside(cfg->data.real)) strcpy(cfg->data.real, ".");
    memset(cfg->data.names, 0, sizeof cfg->data.names);
    memset(cfg->filter.masks, 0, sizeof cfg->filter.masks);
    memset(cfg->filter.oracle, 0, sizeof cfg->filter.oracle);
    for (int m = 0; m < cfg->models; m++) {
        spot_shift_model *k = &cfg->model[m];
        memset(k->predictions, 0, sizeof k->predictions);
        memset(k->weights, 0, sizeof k->weights);
        memset(k->classes, 0, sizeof k->classes);
    }
    memset(cfg->encoder.weights, 0, sizeof cfg->encoder.weights);
    memset(cfg->encoder.vocabulary, 0, sizeof cfg->encoder.vocabulary);
    memset(cfg->encoder.config, 0, sizeof cfg->encoder.config);
    memset(cfg->encoder.embeddings, 0, sizeof cfg->encoder.embeddings);
}

/* Clears the settings on which a unit's result does not depend. */
static void forget_evaluation(spot_shifts_config *cfg)
{
    memset(&cfg->evaluation, 0, sizeof cfg->evaluation);
    memset(cfg->filter.chosen_for, 0, sizeof cfg->filter.chosen_for);
    for (int s = 0; s < cfg->shifts; s++) {
        memset(cfg->shift[s].prompt, 0, sizeof cfg->shift[s].prompt);
        memset(cfg->shift[s].category, 0, sizeof cfg->shift[s].category);
    }
}

/* All that may change between two calls on one run directory. Similarities are in its cache, so thresholds are free. */
static void forget_choices(spot_shifts_config *cfg)
{
    forget_paths(cfg);
    forget_evaluation(cfg);
    memset(&cfg->filter, 0, sizeof cfg->filter);
    for (int s = 0; s < cfg->shifts; s++) {
        spot_shift *h = &cfg->shift[s];
        memset(h->class_caption, 0, sizeof h->class_caption);
        memset(h->shift_caption, 0, sizeof h->shift_caption);
        h->threshold = 0, h->style = 0;
    }
    cfg->models = 0;
}

spot_key spot_shifts_key(const spot_shifts_config *cfg)
{
    spot_shifts_config *own = malloc(sizeof *own);
    spot_key k = { 0, 0 };

    if (!own) return k;
    *own = *cfg;
    forget_paths(own);
    forget_evaluation(own);
    k = spot_key_of_settings(spot_shifts_settings, own);
    free(own);
    return k;
}

/* The first difference that is left when `forget` has cleared both. */
static bool differ_beyond(char *words, size_t size, const spot_shifts_config *there, const spot_shifts_config *here,
                          void (*forget)(spot_shifts_config *cfg))
{
    spot_shifts_config *copy = malloc(2 * sizeof *copy);
    bool differ = true;

    snprintf(words, size, "no memory to compare them");
    if (!copy) return true;
    copy[0] = *there, copy[1] = *here;
    forget(&copy[0]);
    forget(&copy[1]);
    differ = spot_settings_differ(words, size, spot_shifts_settings, &copy[0], &copy[1]);
    free(copy);
    return differ;
}

bool spot_shifts_differ(char *words, size_t size, const spot_shifts_config *there, const spot_shifts_config *here)
{
    return differ_beyond(words, size, there, here, forget_choices);
}

bool spot_shifts_change(char *words, size_t size, const spot_shifts_config *there, const spot_shifts_config *here)
{
    return differ_beyond(words, size, there, here, forget_paths);
}

bool spot_shifts_replace(const spot_shifts_config *there, const spot_shifts_config *here)
{
    char words[512];

    return spot_settings_differ(words, sizeof words, spot_shifts_settings, there, here);
}
