/* config_check.c - checks that involve several settings of a config. */
#include <string.h>

#include "bdm/methods.h"
#include "study/config_read.h"

/* Refuses settings now that the method would refuse only late in a sweep. */
static spot_status check_method(spot_reading *r, int line, const char *path, const spot_config *cfg, const spot_bdm_config *m)
{
    const bool file = m->representation == SPOT_BY_FILE, clip = m->representation == SPOT_BY_CLIP;
    const bool attributes = m->representation == SPOT_BY_ATTRIBUTES;
    const bool mixes = m->method == SPOT_PLANESPOT || m->method == SPOT_GEORGE;
    const int most = SPOT_MAX_MIXTURE_DIM - (m->method == SPOT_PLANESPOT);
    const int d = m->embed.method != SPOT_REDUCE_NONE ? m->embed.dim : file || clip || attributes ? 0
        : spot_model_features(cfg->model.arch, cfg->model.width);

    if (mixes && d > most)
        return spot_refuse(r, line, "{points.dimensions} %s: %s clusters in at most %d dimensions and here are %d; set reduce "
                           "and dim", path, spot_bdm_settings->names[m->method], most, d);
    if (m->method == SPOT_DOMINO && m->domino.start == SPOT_START_CONFUSION && m->domino.components < 4)
        return spot_refuse(r, line, "{bdms.components} %s.components is %d; a start from the confusion matrix has 4 cells and "
                           "needs as many", path, m->domino.components);
    if (m->domino.gamma_hat < 0 && m->domino.gamma_hat != -1)
        return spot_refuse(r, line, "{bdms.gamma_hat} %s.gamma_hat is %g; it takes a number from 0, or -1 for that of gamma",
                           path, m->domino.gamma_hat);
    if (m->embed.method == SPOT_REDUCE_UMAP && m->embed.umap.min_dist > m->embed.umap.spread)
        return spot_refuse(r, line, "{umap.min_dist} %s.umap: min_dist %g is above spread %g", path, m->embed.umap.min_dist,
                           m->embed.umap.spread);
    if (m->embed.hardness && (file || clip || attributes))
        return spot_refuse(r, line, "{hardness.no_head} %s.hardness needs the classifier's own direction, which %s not", path,
                           file ? "files have" : clip ? "CLIP has" : "attributes have");
    if (m->method == SPOT_ITEMSETS && !attributes && !file)
        return spot_refuse(r, line, "%s: itemsets takes columns of 0 and 1; its representation is attributes, or file", path);
    if (m->embed.hardness && m->embed.method == SPOT_REDUCE_NONE)
        return spot_refuse(r, line, "{hardness.no_reducer} %s.hardness needs a reducer for what is left; set reduce, and dim: "
                           "1 for hardness alone", path);
    if (file && !m->embeddings[0])
        return spot_refuse(r, line, "{bdms.no_embeddings} %s.representation: file needs the folder that holds them, "
                           "%s.embeddings", path, path);
    if (clip && !cfg->encoder.weights[0])
        return spot_refuse(r, line, "{bdms.no_encoder} %s.representation: clip needs the file of CLIP, encoder.weights", path);
    return SPOT_OK;
}

/* ECs of all variants share the base model, the buffers of a training, and the pages of a report. */
static spot_status check_variants(spot_reading *r, const spot_config *cfg, const yaml_node_t *root)
{
    const int line = spot_line_at(r, root, "variants");

    for (int i = 0; i < cfg->variants; i++) {
        const spot_scene_config *v = &cfg->variant[i].scene, *s = &cfg->scene;
        if (v->size != s->size)
            return spot_refuse(r, line, "{variants.size} variants[%d].scene.size is %d, and scene.size %d; all ECs have one "
                               "size", i, v->size, s->size);
        if (v->text_alternative != s->text_alternative || v->jpeg_quality != s->jpeg_quality)
            return spot_refuse(r, line, "{variants.common} variants[%d] changes scene.%s, which all ECs have in common", i,
                               v->jpeg_quality != s->jpeg_quality ? "jpeg_quality" : "text_alternative");
    }
    return SPOT_OK;
}

spot_status spot_config_check(spot_reading *r, const void *config, const yaml_node_t *root)
{
    const spot_config *cfg = config;
    const spot_pair model = spot_pair_at(r, root, "model");
    char path[SPOT_CONFIG_PATH], name[80], other[80];

    if (cfg->data.coco[0] && cfg->model.base.images)
        return spot_refuse(r, spot_line_of(model.key), "{model.base_of_scenes} model.base learns scenes, and data brings "
                           "pictures; take model.init for a network that knows pictures");
    if (cfg->model.init[0] && cfg->model.base.images)
        return spot_refuse(r, spot_line_of(model.key),
                           "{model.two_starts} model.init and model.base.images both say what to start from; set one of them");
    SPOT_TRY(check_variants(r, cfg, root));
    for (int i = 0; i < cfg->bdms; i++) {
        const spot_mixture_config *m = &cfg->bdm[i].mixture;
        snprintf(path, sizeof path, "bdms[%d]", r->entry[i]);
        if (m->k_min > m->k_max)
            return spot_refuse(r, r->line[i], "{mixture.components} %s.mixture: k_min %d is above k_max %d", path, m->k_min,
                               m->k_max);
        SPOT_TRY(check_method(r, r->line[i], path, cfg, &cfg->bdm[i]));
        spot_bdm_name(&cfg->bdm[i], name, sizeof name);
        for (int j = 0; j < i; j++) {
            if (strcmp(name, spot_bdm_name(&cfg->bdm[j], other, sizeof other))) continue;
            if (r->entry[i] == r->entry[j])
                return spot_refuse(r, r->line[i], "{bdms.combination_twice} %s has two combinations called \"%s\"; is a value "
                                   "given twice?", path, name);
            return spot_refuse(r, r->line[i], "{bdms.name_twice} %s and bdms[%d] would both be called \"%s\" in the tables; "
                               "give one of them a name", path, r->entry[j], name);
        }
    }
    return SPOT_OK;
}
