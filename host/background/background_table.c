/* background_table.c - the settings of a background study, and checks that involve several of them. */
#include <string.h>

#include "background/background_config.h"
#include "background/pixels_encoder.h"
#include "background/zoo_make.h"
#include "config/config_read.h"
#include "image/blend.h"
#include "map/rbf.h"
#include "spotter/ontology.h"

#define TEXT(type, field, text_, help) \
    SPOT_ROW(#field, TEXT, type, field, help, .hi = sizeof(((type *)0)->field), .text = text_)

static const spot_setting data[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_background_data, field, help, __VA_ARGS__)
    TEXT(spot_background_data, images, "", "folder of the pictures, CLASS/picture; with coco: the folder of its pictures"),
    TEXT(spot_background_data, masks, "", "folder of the masks, CLASS/NAME.png: grey or alpha, bright is the object; without "
         "it, the pictures' own alpha"),
    TEXT(spot_background_data, coco, "", "annotations with outlines in COCO's format, in place of folders of classes and "
         "masks"),
    TEXT(spot_background_data, categories, "", "COCO categories that are classes, \"dog, cat\"; by default all"),
    TEXT(spot_background_data, backgrounds, "", "folder of the backgrounds, pictures at any depth"),
    S("size",  INT,  size,  "pixels a side of every blend", SPOT_IN(16, 1024), SPOT_DEF(224)),
    S("fit",   NAME, fit,   "how a picture becomes a square: squashed, or its middle", SPOT_ONE_OF("squash", "middle")),
    S("least", REAL, least, "share of the square that an object must cover to be a target", SPOT_IN(0, 1), SPOT_DEF(0.01)),
    S("most",  REAL, most,  "share of the square that an object may cover", SPOT_IN(0, 1), SPOT_DEF(0.95)),
    S("part",  INT,  part,  "per cent of the targets, drawn class by class", SPOT_IN(1, 100), SPOT_DEF(100)),
#undef S
    SPOT_END
};

static const spot_setting ontology[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_background_ontology, field, help, __VA_ARGS__)
    TEXT(spot_background_ontology, images, "", "CSV with the keywords of the pictures: a column path, then a column of 0 and "
         "1 for each keyword, or a column keywords, \"sky; tree\""),
    TEXT(spot_background_ontology, backgrounds, "", "CSV with the keywords of the backgrounds, in the same form"),
    TEXT(spot_background_ontology, words, "", "text with a keyword a line: where there is no CSV, an encoder with texts says "
         "which of them fit"),
    S("top",        INT,  top,        "keywords of a picture by an encoder", SPOT_IN(1, 100), SPOT_DEF(5)),
    TEXT(spot_background_ontology, excluded, "", "keywords, \"dog; cat\": a background with one of them is left out, as one "
         "with the name of a class always is"),
    S("support",    REAL, support,    "least share of the pictures that show a keyword of the ontology", SPOT_IN(0, 1),
      SPOT_DEF(0.01)),
    S("confidence", REAL, confidence, "least confidence of an edge of the ontology", SPOT_IN(0, 1), SPOT_DEF(0.1)),
    S("by_class",   SWITCH, by_class, "one ontology for each class, as in the authors' code", SPOT_SWITCH),
    S("least",      INT,  least,      "keywords at which the expansion ends (MINKWS)", SPOT_IN(0, 100000), SPOT_DEF(32)),
    S("levels",     INT,  levels,     "levels of the expansion (MAXITS)", SPOT_IN(0, 100), SPOT_DEF(5)),
    S("measure",    NAME, measure,    "measure of a path through the ontology", SPOT_ONE_OF("product", "decay", "hops")),
    S("alpha",      REAL, alpha,      "exponent of the measure decay", SPOT_IN(1, 100), SPOT_DEF(2)),
#undef S
    SPOT_END
};

static const spot_setting suite[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_background_choice, field, help, __VA_ARGS__)
    S("choice",   NAME, choice,   "how the backgrounds of a target are chosen",
      SPOT_ONE_OF("random", "nearest", "interval", "clip", "ontology")),
    S("n",        INT,  n,        "backgrounds of a target", SPOT_IN(1, SPOT_MAX_BACKGROUNDS), SPOT_DEF(32)),
    S("realness", REAL, realness, "least 1 - distance of a blend to its original; where no candidate has it, the best one is "
      "taken; 0: no test", SPOT_IN(0, 1)),
    S("tries",    INT,  tries,    "candidates that are tested for a place", SPOT_IN(1, 1000), SPOT_DEF(8)),
    S("seed",     SEED, seed,     "seed of the choice, the donors and the noise", SPOT_DEF(1)),
#undef S
    SPOT_END
};

static const spot_setting encoder[] = {
    TEXT(spot_background_encoder, name, "", "name of the encoder in results"),
    TEXT(spot_background_encoder, weights, "", "CLIP or ResNet-18 that measures distances, in .safetensors; without it, "
         "colours and edges (\"pixels\")"),
    TEXT(spot_background_encoder, config, "", "CLIP's config; by default beside the weights"),
    SPOT_ROW("weight", REAL, spot_background_encoder, weight, "weight of the encoder among all", SPOT_IN(0.000001, 1000000),
             SPOT_DEF(1)),
    SPOT_END
};

static const spot_setting measure[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_background_measure, field, help, __VA_ARGS__)
    S("levels",     INT,  levels,     "levels of the suite's Laplacian pyramids; 1: plain composites",
      SPOT_IN(1, SPOT_BLEND_LEVELS), SPOT_DEF(5)),
    S("top",        INT,  top,        "neurons that the object alone triggers most, for the second matrix", SPOT_IN(1, 1000),
      SPOT_DEF(3)),
    S("confidence", NAME, confidence, "the first matrix's response: greatest softmax, or softmax of the true class",
      SPOT_ONE_OF("greatest", "true")),
    S("sets",       SWITCH, sets,     "whether the derived sets are looked at", SPOT_SWITCH, SPOT_DEF(1)),
    S("grid",       INT,  grid,       "cells a side of a matrix", SPOT_IN(4, SPOT_RBF_GRID), SPOT_DEF(128)),
    S("kernel",     INT,  kernel,     "diameter of the window, in cells", SPOT_IN(1, SPOT_RBF_KERNEL), SPOT_DEF(32)),
    S("sigma",      REAL, sigma,      "sigma of the Gaussian, in cells", SPOT_IN(0.001, 1000000), SPOT_DEF(10)),
    S("neighbours", INT,  neighbours, "nearest points of a cell without others (K)", SPOT_IN(1, SPOT_RBF_NEAREST),
      SPOT_DEF(32)),
    S("exact",      SWITCH, exact,    "whether points lie where they are; else in the middle of their cells", SPOT_SWITCH),
    S("range",      REAL, range,      "greatest distance of the axes; 0: the greatest of the suite", SPOT_IN(0, 1000)),
#undef S
    SPOT_END
};

static const spot_setting model[] = {
    TEXT(spot_background_model, name, "", "name of the model"),
    TEXT(spot_background_model, weights, "", "ResNet-18, in .safetensors"),
    TEXT(spot_background_model, command, "", "program that reads pictures and writes logits (include/spotter/predictor.h)"),
    TEXT(spot_background_model, classes, "", "text with the class of each output, a line each; by default all classes in "
         "order"),
    SPOT_ROW("reliance", REAL, spot_background_model, reliance, "planted reliance on the background, 0 to 1; -1: not known",
             SPOT_IN(-1, 1), SPOT_DEF(-1)),
    SPOT_END
};

static const spot_setting verdict[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_background_verdict, field, help, __VA_ARGS__)
    TEXT(spot_background_verdict, labels, "", "CSV with the columns model, rater, label (invariant, borderline, variant)"),
    TEXT(spot_background_verdict, forest, "", "trained assessor; by default the one that Spotter has"),
    S("invariant", REAL, invariant, "planted reliance below which a model is invariant", SPOT_IN(0, 1), SPOT_DEF(0.2)),
    S("variant",   REAL, variant,   "planted reliance from which a model is variant", SPOT_IN(0, 1), SPOT_DEF(0.5)),
    S("splits",    INT,  splits,    "random splits of the models into 2/3 for training and 1/3", SPOT_IN(1, 1000),
      SPOT_DEF(10)),
    S("seed",      SEED, seed,      "seed of the splits", SPOT_DEF(1)),
#undef S
    SPOT_END
};

const spot_setting spot_background_settings[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_background_config, field, help, __VA_ARGS__)
#define LIST(name, field, number, most, help) \
    SPOT_ROW(name, LIST, spot_background_config, field, help, SPOT_IN(0, most), .rows = field, \
             .size = sizeof(((spot_background_config *)0)->field[0]), .count = offsetof(spot_background_config, number))
    S("study",    NAME,  study,    "kind of experiment", SPOT_ONE_OF("background")),
    S("data",     GROUP, data,     "pictures with masks, and backgrounds", .rows = data),
    S("ontology", GROUP, ontology, "keywords of pictures and backgrounds", .rows = ontology),
    S("suite",    GROUP, suite,    "choice of backgrounds", .rows = suite),
    S("measure",  GROUP, measure,  "blends, responses and matrices", .rows = measure),
    S("verdict",  GROUP, verdict,  "verdict from the matrices", .rows = verdict),
    S("zoo",      GROUP, zoo,      "world with planted reliance that is made in the run directory and gives data, keywords and "
      "models", .rows = spot_zoo_settings),
    LIST("encoders", encoder, encoders, SPOT_MAX_BACKGROUND_ENCODERS,
         "encoders that measure semantic distance; none: \"pixels\""),
    LIST("models",   model,   models,   SPOT_MAX_BACKGROUND_MODELS, "classifiers that are examined"),
#undef LIST
#undef S
    SPOT_END
};

/* ---- checks ---- */

static int line_of(spot_reading *r, const yaml_node_t *root, const char *name)
{
    const spot_pair pair = spot_pair_at(r, root, name);

    return pair.key ? spot_line_of(pair.key) : 0;
}

static spot_status check_models(spot_reading *r, const spot_background_config *cfg, int line)
{
    for (int i = 0; i < cfg->models; i++) {
        const spot_background_model *m = &cfg->model[i];
        if (!m->name[0]) return spot_refuse(r, line, "models[%d] has no name", i);
        for (int k = 0; k < i; k++)
            if (!strcmp(m->name, cfg->model[k].name)) return spot_refuse(r, line, "two models are called \"%s\"", m->name);
        if (m->weights[0] && m->command[0])
            return spot_refuse(r, line, "models[%d], \"%s\", has weights and a command; set one of them", i, m->name);
        if (m->reliance < 0 && m->reliance != -1)
            return spot_refuse(r, line, "models[%d].reliance is %g; it takes 0 to 1, or -1 where it is not known", i,
                               m->reliance);
    }
    return SPOT_OK;
}

static spot_status check_data(spot_reading *r, const spot_background_config *cfg, int line)
{
    if (cfg->zoo.models) return SPOT_OK;
    if (!cfg->data.images[0]) return spot_refuse(r, line, "data.images, the folder of the pictures, is missing");
    if (!cfg->data.backgrounds[0]) return spot_refuse(r, line, "data.backgrounds, the folder of the backgrounds, is missing");
    if (cfg->data.coco[0] && cfg->data.masks[0])
        return spot_refuse(r, line, "data.coco and data.masks both say where objects are; set one of them");
    if (cfg->data.categories[0] && !cfg->data.coco[0])
        return spot_refuse(r, line, "data.categories are names of COCO's categories, and there is no data.coco");
    if (!(cfg->data.least < cfg->data.most))
        return spot_refuse(r, line, "data.least is %g and data.most %g; no object fits between them", cfg->data.least,
                           cfg->data.most);
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
        return spot_refuse(r, line, "ontology.words are compared with pictures by an encoder with texts (CLIP); encoders has "
                           "none with weights");
    if (cfg->suite.choice == SPOT_SUITE_ONTOLOGY && !(o->images[0] && o->backgrounds[0]) && !o->words[0])
        return spot_refuse(r, line, "suite.choice ontology needs keywords of pictures and of backgrounds: ontology.images and "
                           "ontology.backgrounds, or ontology.words");
    if (cfg->suite.choice == SPOT_SUITE_CLIP && !spot_background_has_keywords(cfg))
        return spot_refuse(r, line, "suite.choice clip needs keywords of backgrounds: ontology.backgrounds or ontology.words");
    if (cfg->suite.choice == SPOT_SUITE_CLIP && !weights)
        return spot_refuse(r, line, "suite.choice clip needs an encoder with texts (CLIP); encoders has none with weights");
    return SPOT_OK;
}

static spot_status check_config(spot_reading *r, const void *config, const yaml_node_t *root)
{
    const spot_background_config *cfg = config;

    SPOT_TRY(check_data(r, cfg, line_of(r, root, "data")));
    SPOT_TRY(check_suite(r, cfg, line_of(r, root, "suite")));
    if (!(cfg->verdict.invariant <= cfg->verdict.variant))
        return spot_refuse(r, line_of(r, root, "verdict"), "verdict.invariant is above verdict.variant");
    return check_models(r, cfg, line_of(r, root, "models"));
}

static const spot_config_kind kind = {
    .rows = spot_background_settings, .example = "configs/background.yaml", .help = "spotter help config background",
    .check = check_config,
};

/* ---- read, print ---- */

void spot_background_defaults(spot_background_config *cfg)
{
    memset(cfg, 0, sizeof *cfg);
    spot_settings_defaults(spot_background_settings, cfg);
}

spot_status spot_background_load(spot_ctx *c, spot_background_config *cfg, const char *path)
{
    spot_background_defaults(cfg);
    return spot_yaml_load(c, &kind, cfg, path);
}

spot_status spot_background_parse(spot_ctx *c, spot_background_config *cfg, const char *text, size_t len, const char *name)
{
    spot_background_defaults(cfg);
    return spot_yaml_parse(c, &kind, cfg, text, len, name);
}

spot_status spot_background_print(spot_ctx *c, const spot_background_config *cfg, char **text)
{
    return spot_yaml_print(c, spot_background_settings, cfg, text);
}

void spot_background_document(FILE *f)
{
    static spot_background_config cfg;

    spot_background_defaults(&cfg);
    spot_yaml_document(f, spot_background_settings, &cfg);
}
