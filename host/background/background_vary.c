/* background_vary.c - the variants of a config: a run of each setting, beside the config's own. A variant has data, ontology,
 * suite and measure for itself (spot_background_variant), filled from the config's where it says nothing. */
#include <stdio.h>
#include <string.h>

#include "background/background_config.h"

void spot_background_vary(spot_background_config *out, const spot_background_config *cfg, int k)
{
    const spot_background_variant *v = &cfg->variant[k];

    if (out != cfg) *out = *cfg;
    out->data = v->data, out->ontology = v->ontology, out->suite = v->suite, out->measure = v->measure;
    out->variants = 0;
}

void spot_background_variant_path(char *path, size_t size, const char *dir, const spot_background_config *cfg, int k)
{
    snprintf(path, size, "%s/variants/%s", dir, cfg->variant[k].name);
}

/* For a config whose files are known only after it was read: those of a planted world (zoo.c). Their size is the world's. */
void spot_background_share_files(spot_background_config *cfg)
{
    for (int k = 0; k < cfg->variants; k++) {
        spot_background_variant *v = &cfg->variant[k];
        v->data.images = cfg->data.images;
        v->data.masks = cfg->data.masks;
        v->data.backgrounds = cfg->data.backgrounds;
        v->ontology.images = cfg->ontology.images;
        v->ontology.backgrounds = cfg->ontology.backgrounds;
        v->data.size = cfg->data.size;
    }
}
