/* background_config.c - the config of a background study: read, printed, and checks that involve several of its settings. */
#include <string.h>

#include "background/background_config.h"
#include "image/blend.h"
#include "models/foreign_model.h"
#include "study/config_input.h"
#include "study/settings_key.h"

enum { COARSEST = 14 };            /* pixels a side of the coarsest level, at least */

/* ---- checks ---- */

static spot_status check_models(spot_reading *r, const spot_background_config *cfg, int line)
{
    for (int i = 0; i < cfg->models; i++) {
        const spot_background_model *m = &cfg->model[i];
        if (!m->name[0]) return spot_refuse(r, line, "{models.no_name} models[%d] has no name", i);
        for (int k = 0; k < i; k++)
            if (!strcmp(m->name, cfg->model[k].name)) return spot_refuse(r, line,
                "{models.name_twice} two models are called \"%s\"", m->name);
        if (m->weights[0] && m->command[0])
            return spot_refuse(r, line, "{models.weights_and_command} models[%d], \"%s\", has weights and a command; set one "
                               "of them", i, m->name);
        if (m->identity[0] && !m->command[0] && !spot_is_foreign(m->weights))
            return spot_refuse(r, line, "{models.identity} models[%d], \"%s\", has an identity, which names the program of a "
                               "command, and it has no command", i, m->name);
        if (m->reliance < 0 && m->reliance != -1)
            return spot_refuse(r, line, "{models.reliance} models[%d].reliance is %g; it takes 0 to 1, or -1 where it is not "
                               "known", i, m->reliance);
        SPOT_TRY(spot_refuse_input(r, line, i, m->name, &m->input, spot_program_text(m->weights, m->command)));
    }
    return SPOT_OK;
}

static spot_status check_data(spot_reading *r, const spot_background_config *cfg, int line)
{
    if (cfg->zoo.models) return SPOT_OK;
    if (!cfg->data.images[0]) return spot_refuse(r, line,
                                                 "{data.no_images} data.images, the folder of the pictures, is missing");
    if (!cfg->data.backgrounds[0]) return spot_refuse(r, line, "{data.no_backgrounds} data.backgrounds, the folder of the "
                                                      "backgrounds, is missing");
    if (cfg->data.coco[0] && cfg->data.masks[0])
        return spot_refuse(r, line,
                           "{data.coco_and_masks} data.coco and data.masks both say where objects are; set one of them");
    if (cfg->data.categories[0] && !cfg->data.coco[0])
        return spot_refuse(r, line, "{data.categories_without_coco} data.categories are names of COCO's categories, and there "
                           "is no data.coco");
    if (!(cfg->data.least < cfg->data.most))
        return spot_refuse(r, line, "{data.object_share} data.least is %g and data.most %g; no object fits between them",
                           cfg->data.least, cfg->data.most);
    return SPOT_OK;
}

bool spot_background_has_keywords(const spot_background_config *cfg)
{
    return cfg->ontology.backgrounds[0] || cfg->ontology.words[0];
}

static spot_status check_suite(spot_reading *r, const spot_background_config *cfg, int line)
{
    const spot_background_ontology *o = &cfg->ontology;
    bool weights = false;

    for (int i = 0; i < cfg->encoders; i++) weights |= cfg->encoder[i].weights[0] != 0;
    if (cfg->zoo.models) return SPOT_OK;
    if ((o->images[0] || o->backgrounds[0]) && o->words[0])
        return spot_refuse(r, line, "the ontology has CSV files and words; both say which keywords pictures have; set one of "
                           "them");
    if (o->words[0] && !weights)
        return spot_refuse(r, line, "{ontology.no_encoder} ontology.words are compared with pictures by an encoder with texts "
                           "(CLIP); encoders has none with weights");
    if (cfg->suite.choice == SPOT_SUITE_ONTOLOGY && !(o->images[0] && o->backgrounds[0]) && !o->words[0])
        return spot_refuse(r, line, "{suite.no_keywords} suite.choice ontology needs keywords of pictures and of backgrounds: "
                           "ontology.images and ontology.backgrounds, or ontology.words");
    if (cfg->suite.choice == SPOT_SUITE_CLIP && !spot_background_has_keywords(cfg))
        return spot_refuse(r, line, "{suite.no_keywords} suite.choice clip needs keywords of backgrounds: ontology.backgrounds "
                           "or ontology.words");
    if (cfg->suite.choice == SPOT_SUITE_CLIP && !weights)
        return spot_refuse(r, line, "suite.choice clip needs an encoder with texts (CLIP); encoders has none with weights");
    return SPOT_OK;
}

static bool is_folder_name(const char *name)
{
    return name[0] && name[0] != '.'
        && !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")];
}

/* own: the config of variant k alone. */
static spot_status check_variant(spot_reading *r, const spot_background_config *cfg, const spot_background_config *own, int k,
                                 int line)
{
    const spot_background_variant *v = &cfg->variant[k];
    char words[512];

    if (!is_folder_name(v->name))
        return spot_refuse(r, line, "vary[%d].name is \"%s\"; it names a folder and takes letters, digits, \".\", \"-\" and "
                           "\"_\"", k, v->name);
    for (int i = 0; i < k; i++)
        if (!strcmp(v->name, cfg->variant[i].name)) return spot_refuse(r, line, "two variants are called \"%s\"", v->name);
    if (!spot_config_is_other(words, sizeof words, &spot_background_kind, cfg, own))
        return spot_refuse(r, line, "vary[%d], \"%s\", has the settings of the config itself; change one of them", k, v->name);
    if (cfg->zoo.models && own->data.size != cfg->data.size)
        return spot_refuse(r, line, "vary[%d], \"%s\", changes data.size; a planted world has pictures of one size", k,
                           v->name);
    SPOT_TRY(check_data(r, own, line));
    return check_suite(r, own, line);
}

static spot_status check_variants(spot_reading *r, const spot_background_config *cfg, int line)
{
    for (int k = 0; k < cfg->variants; k++) {
        spot_background_config own;
        spot_background_vary(&own, cfg, k);
        SPOT_TRY(check_variant(r, cfg, &own, k, line));
    }
    return SPOT_OK;
}

static spot_status check_config(spot_reading *r, const void *config, const yaml_node_t *root)
{
    const spot_background_config *cfg = config;

    SPOT_TRY(check_data(r, cfg, spot_line_at(r, root, "data")));
    SPOT_TRY(check_suite(r, cfg, spot_line_at(r, root, "suite")));
    if (!(cfg->verdict.invariant <= cfg->verdict.variant))
        return spot_refuse(r, spot_line_at(r, root, "verdict"), "verdict.invariant is above verdict.variant");
    if (!(cfg->verdict.learned_invariant <= cfg->verdict.learned_variant))
        return spot_refuse(r, spot_line_at(r, root, "verdict"), "verdict.learned_invariant is above verdict.learned_variant");
    SPOT_TRY(check_models(r, cfg, spot_line_at(r, root, "models")));
    return check_variants(r, cfg, spot_line_at(r, root, "vary"));
}

#define OF_A_RESULT (SPOT_AFFECTS_PICTURES | SPOT_AFFECTS_VIEW | SPOT_AFFECTS_FINDING)
const spot_config_kind spot_background_kind = {
    .rows = spot_background_settings, .size = sizeof(spot_background_config), .key = OF_A_RESULT,
    .run = OF_A_RESULT | SPOT_AFFECTS_MODEL, .example = "configs/background.yaml", .help = "spotter help config background",
    .check = check_config,
};

/* ---- levels of the pyramids ---- */

static int levels_of(int levels, int size)
{
    if (levels) return levels;
    levels = 1;
    for (int side = (size + 1) / 2; side >= COARSEST && levels < SPOT_BLEND_LEVELS; side = (side + 1) / 2) levels++;
    return levels;
}

int spot_background_levels(const spot_background_config *cfg) { return levels_of(cfg->measure.levels, cfg->data.size); }

int spot_background_own(const spot_background_config *cfg)
{
    const int most = cfg->measure.own < cfg->suite.n ? cfg->measure.own : cfg->suite.n;

    return cfg->measure.sets ? most : 0;
}

void spot_background_set_levels(spot_background_config *cfg)
{
    cfg->measure.levels = spot_background_levels(cfg);
    for (int k = 0; k < cfg->variants; k++)
        cfg->variant[k].measure.levels = levels_of(cfg->variant[k].measure.levels, cfg->variant[k].data.size);
}

/* ---- read, print, compare ---- */

void spot_background_defaults(spot_background_config *cfg) { spot_config_reset(&spot_background_kind, cfg); }

spot_status spot_background_parse(spot_ctx *c, spot_background_config *cfg, const char *text, size_t len, const char *name)
{
    return spot_yaml_parse(c, &spot_background_kind, cfg, text, len, name);
}

void spot_background_document(FILE *f)
{
    spot_background_config cfg;

    spot_background_defaults(&cfg);
    spot_yaml_document(f, spot_background_settings, &cfg);
}

spot_key spot_background_key(const spot_background_config *cfg) { return spot_config_key(&spot_background_kind, cfg); }

/* Runs look at the same pictures where they differ at most in what is computed from a model's answers. */
int spot_background_same_look(const spot_background_config *cfg, int k)
{
    spot_background_config one, other = *cfg;
    char words[512];
    int same = -1;

    spot_background_vary(&one, cfg, k);
    for (; same < k; same++) {
        if (same >= 0) spot_background_vary(&other, cfg, same);
        if (!spot_settings_differ(words, sizeof words, spot_background_settings, &other, &one,
                                  spot_background_kind.run & ~SPOT_AFFECTS_FINDING)) break;
    }
    return same;
}
