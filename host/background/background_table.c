/* background_table.c - the settings of a background study. */
#include "background/background_config.h"
#include "background/zoo/zoo_make.h"
#include "image/blend.h"
#include "map/rbf.h"
#include "models/picture_input.h"
#include "spotter/ontology.h"

#define TEXT(type, field, most, text_, ...) SPOT_ROW(#field, TEXT, type, field, __VA_ARGS__, .hi = most, .text = text_)

static const spot_setting data[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_background_data, field, help, __VA_ARGS__)
    TEXT(spot_background_data, images, 512, "", "folder of the pictures, CLASS/picture; with coco: the folder of its pictures",
         .affects = SPOT_AFFECTS_PATH),
    TEXT(spot_background_data, masks, 512, "",
         "folder of the masks, CLASS/NAME.png: grey or alpha, bright is the object; without "
         "it, the pictures' own alpha", .affects = SPOT_AFFECTS_PATH),
    TEXT(spot_background_data, coco, 512, "", "annotations with outlines in COCO's format, in place of folders of classes and "
         "masks", .affects = SPOT_AFFECTS_PATH),
    S("follow_links", SWITCH, follow_links, "pictures that coco names may lie outside images, behind symbolic links",
      SPOT_SWITCH, .affects = SPOT_AFFECTS_PATH),
    TEXT(spot_background_data, categories, 512, "", "COCO categories that are classes, \"dog, cat\"; by default all"),
    TEXT(spot_background_data, backgrounds, 512, "", "folder of the backgrounds, pictures at any depth",
         .affects = SPOT_AFFECTS_PATH),
    S("size",  INT,  size,  "pixels a side of every blend", SPOT_IN(16, 1024), SPOT_DEF(224)),
    S("fit",   NAME, fit,   "how a picture becomes a square: squashed, or its middle", SPOT_ONE_OF("squash", "middle")),
    S("exif", NAME, reading.exif, "rotation that EXIF tells of a picture", SPOT_ONE_OF("ignore", "apply"), .newer = SPOT_NEWER),
    S("pillow", NAME, reading.pillow, "Pillow whose order of resizing tall pictures have; 12 stands for all before 13",
      SPOT_ONE_OF("13", "12"), .newer = SPOT_NEWER),
    S("least", REAL, least, "share of the square that an object must cover to be a target", SPOT_IN(0, 1), SPOT_DEF(0.01)),
    S("most",  REAL, most,  "share of the square that an object may cover", SPOT_IN(0, 1), SPOT_DEF(0.95)),
    S("part",  INT,  part,  "per cent of the targets, drawn class by class", SPOT_IN(1, 100), SPOT_DEF(100)),
#undef S
    SPOT_END
};

static const spot_setting ontology[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_background_ontology, field, help, __VA_ARGS__)
    TEXT(spot_background_ontology, images, 512, "",
         "CSV with the keywords of the pictures: a column path, then a column of 0 and "
         "1 for each keyword, or a column keywords, \"sky; tree\"", .affects = SPOT_AFFECTS_PATH),
    TEXT(spot_background_ontology, backgrounds, 512, "", "CSV with the keywords of the backgrounds, in the same form",
         .affects = SPOT_AFFECTS_PATH),
    TEXT(spot_background_ontology, words, 512, "",
         "text with a keyword a line: where there is no CSV, an encoder with texts says "
         "which of them fit", .affects = SPOT_AFFECTS_PATH),
    S("top",        INT,  top,        "keywords of a picture by an encoder", SPOT_IN(1, 100), SPOT_DEF(5)),
    TEXT(spot_background_ontology, excluded, 512, "",
         "keywords, \"dog; cat\": a background with one of them is left out, as one "
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
    TEXT(spot_background_encoder, name, 64, "", "a name for readers of the config; results name an encoder by its weights",
         .affects = SPOT_AFFECTS_PATH),
    TEXT(spot_background_encoder, weights, 512, "",
         "CLIP, ResNet or AlexNet that measures distances, in .safetensors; without it, "
         "colours and edges (\"pixels\")", .affects = SPOT_AFFECTS_PATH),
    TEXT(spot_background_encoder, config, 512, "", "CLIP's config; by default beside the weights",
         .affects = SPOT_AFFECTS_PATH),
    SPOT_ROW("weight", REAL, spot_background_encoder, weight, "weight of the encoder among all", SPOT_IN(0.000001, 1000000),
             SPOT_DEF(1)),
    SPOT_END
};

static const spot_setting measure[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_background_measure, field, help, __VA_ARGS__)
    S("levels",     INT,  levels,     "levels of the suite's Laplacian pyramids; 1: plain composites; 0: as many as leave 14 "
      "pixels a side to the coarsest, 5 at 224", SPOT_IN(0, SPOT_BLEND_LEVELS), .affects = SPOT_AFFECTS_PICTURES),
    S("top",        INT,  top,        "neurons that the object alone triggers most, for the second matrix", SPOT_IN(1, 1000),
      SPOT_DEF(3)),
    S("confidence", NAME, confidence, "the first matrix's response: greatest softmax, or softmax of the true class",
      SPOT_ONE_OF("greatest", "true")),
    S("sets",       SWITCH, sets,     "whether the derived sets are looked at", SPOT_SWITCH, SPOT_DEF(1)),
    S("own",        INT,  own,        "blends of each target with backgrounds of its own class, the control of what the suite "
      "turns; at most suite.n, and none without sets", SPOT_IN(0, SPOT_MAX_BACKGROUNDS), SPOT_DEF(SPOT_MAX_BACKGROUNDS),
      .newer = SPOT_NEWER),
    S("precision",  NAME, precision,  "precision of networks that Spotter runs itself; a GPU is several times as fast in tf32, "
      "a CPU with AMX faster in bf16", SPOT_ONE_OF("fp32", "tf32", "bf16"), .newer = SPOT_NEWER),
    S("grid",       INT,  grid,       "cells a side of a matrix", SPOT_IN(4, SPOT_RBF_GRID), SPOT_DEF(128),
      .affects = SPOT_AFFECTS_FINDING),
    S("kernel",     INT,  kernel,     "diameter of the window, in cells", SPOT_IN(1, SPOT_RBF_KERNEL), SPOT_DEF(32),
      .affects = SPOT_AFFECTS_FINDING),
    S("sigma",      REAL, sigma,      "sigma of the Gaussian, in cells", SPOT_IN(0.001, 1000000), SPOT_DEF(10),
      .affects = SPOT_AFFECTS_FINDING),
    S("neighbours", INT,  neighbours, "nearest points of a cell without others (K)", SPOT_IN(1, SPOT_RBF_NEAREST),
      SPOT_DEF(32), .affects = SPOT_AFFECTS_FINDING),
    S("exact",      SWITCH, exact,    "whether points lie where they are; else in the middle of their cells", SPOT_SWITCH,
      .affects = SPOT_AFFECTS_FINDING),
    S("range",      REAL, range,      "greatest distance of the axes; 0: the greatest of the suite", SPOT_IN(0, 1000)),
#undef S
    SPOT_END
};

static const spot_setting model[] = {
    TEXT(spot_background_model, name, 64, "", "name of the model"),
    TEXT(spot_background_model, weights, 512, "", "ResNet of any depth, AlexNet or ViT, in .safetensors; or net.onnx, net.pt2, "
         "net.ts, timm:NAME:WEIGHTS, torchvision:NAME:WEIGHTS",
         .affects = SPOT_AFFECTS_PATH),
    TEXT(spot_background_model, command, 512, "", "program that reads pictures and writes logits (include/spotter/predictor.h)",
         .affects = SPOT_AFFECTS_PATH),
    TEXT(spot_background_model, identity, 128, "", "name of the program of `command`, under which its results are stored; by "
         "default it is known by its answers to pictures that the run keeps", .affects = SPOT_AFFECTS_PATH),
    TEXT(spot_background_model, classes, 512, "", "text with the class of each output, a line each; by default all classes in "
         "order", .affects = SPOT_AFFECTS_PATH),
    SPOT_ROW("reliance", REAL, spot_background_model, reliance, "planted reliance on the background, 0 to 1; -1: not known",
             SPOT_IN(-1, 1), SPOT_DEF(-1), .affects = SPOT_AFFECTS_JUDGING),
    { .kind = SETTING_PART, .offset = offsetof(spot_background_model, input), .rows = spot_picture_input_settings },
    SPOT_END
};

static const spot_setting verdict[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_background_verdict, field, help, __VA_ARGS__)
    TEXT(spot_background_verdict, labels, 512, "", "CSV with the columns model, rater, label (invariant, borderline, variant)"),
    TEXT(spot_background_verdict, forest, 512, "", "trained assessor; by default the one that Spotter has"),
    S("truth",     NAME, truth,     "reliance that makes labels where no file has them: what training showed a model "
      "(planted), or the accuracy that it loses where backgrounds say nothing (learned)", SPOT_ONE_OF("planted", "learned"),
      .newer = SPOT_NEWER),
    S("invariant", REAL, invariant, "planted reliance below which a model is invariant", SPOT_IN(0, 1), SPOT_DEF(0.2)),
    S("variant",   REAL, variant,   "planted reliance from which a model is variant", SPOT_IN(0, 1), SPOT_DEF(0.5)),
    S("learned_invariant", REAL, learned_invariant, "learned reliance below which a model is invariant", SPOT_IN(-1, 1),
      SPOT_DEF(SPOT_LEARNED_INVARIANT), .newer = SPOT_NEWER),
    S("learned_variant",   REAL, learned_variant,   "learned reliance from which a model is variant", SPOT_IN(-1, 1),
      SPOT_DEF(SPOT_LEARNED_VARIANT), .newer = SPOT_NEWER),
    S("splits",    INT,  splits,    "random splits of the models into 2/3 for training and 1/3", SPOT_IN(1, 1000),
      SPOT_DEF(10)),
    S("seed",      SEED, seed,      "seed of the splits", SPOT_DEF(1)),
#undef S
    SPOT_END
};

static const spot_setting variant[] = {
#define GROUP(field, help) SPOT_ROW(#field, GROUP, spot_background_variant, field, help, .rows = field, \
    .size = sizeof(((spot_background_variant *)0)->field))
    TEXT(spot_background_variant, name, 64, "", "name of the variant and of its folder: letters, digits, \".\", \"-\", \"_\""),
    GROUP(data, "changed settings of data"), GROUP(ontology, "changed settings of ontology"),
    GROUP(suite, "changed settings of suite"), GROUP(measure, "changed settings of measure"),
#undef GROUP
    SPOT_END
};

const spot_setting spot_background_settings[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_background_config, field, help, __VA_ARGS__)
#define LIST(name, field, number, most, ...) \
    SPOT_ROW(name, LIST, spot_background_config, field, __VA_ARGS__, SPOT_IN(0, most), .rows = field, \
             .size = sizeof(*((spot_background_config *)0)->field), .count = offsetof(spot_background_config, number))
    S("study",    NAME,  study,    "kind of experiment", SPOT_ONE_OF("background"), .affects = SPOT_AFFECTS_PICTURES),
    S("data",     GROUP, data,     "pictures with masks, and backgrounds", .rows = data, .affects = SPOT_AFFECTS_PICTURES),
    S("ontology", GROUP, ontology, "keywords of pictures and backgrounds", .rows = ontology, .affects = SPOT_AFFECTS_PICTURES),
    S("suite",    GROUP, suite,    "choice of backgrounds", .rows = suite, .affects = SPOT_AFFECTS_PICTURES),
    S("measure",  GROUP, measure,  "blends, responses and matrices", .rows = measure, .affects = SPOT_AFFECTS_VIEW),
    S("verdict",  GROUP, verdict,  "verdict from the matrices", .rows = verdict, .affects = SPOT_AFFECTS_JUDGING),
    S("zoo",      GROUP, zoo,      "world with planted reliance that is made in the run directory and gives data, keywords and "
      "models", .rows = spot_zoo_settings, .affects = SPOT_AFFECTS_MODEL),
    LIST("encoders", encoder, encoders, SPOT_MAX_BACKGROUND_ENCODERS,
         "encoders that measure semantic distance; none: \"pixels\"", .affects = SPOT_AFFECTS_PICTURES),
    LIST("models",   model,   models,   SPOT_MAX_BACKGROUND_MODELS, "classifiers that are examined",
      .affects = SPOT_AFFECTS_MODEL, .grows = true),
    SPOT_ROW("vary", LIST, spot_background_config, variant, "further settings that are run on the same models: a name, and "
             "what differs in data, ontology, suite and measure, such as {name: seed2, suite: {seed: 2}}",
             SPOT_IN(0, SPOT_MAX_BACKGROUND_VARIANTS), .rows = variant, .size = sizeof(spot_background_variant),
             .count = offsetof(spot_background_config, variants), .inherits = true, .affects = SPOT_AFFECTS_EXTENT),
#undef LIST
#undef S
    SPOT_END
};
