/* shifts_table.c - the settings of shifts, and checks that involve several of them. */
#include <string.h>

#include "models/foreign_model.h"
#include "models/picture_input.h"
#include "shifts/plant_make.h"
#include "shifts/shifts_config.h"
#include "spotter/encoder.h"
#include "study/config_input.h"
#include "study/settings_key.h"

#define TEXT(type, field, most, text_, ...) SPOT_ROW(#field, TEXT, type, field, __VA_ARGS__, .hi = most, .text = text_)

/* The folder of the real pictures is a name, or a path that may move. */
static const char *count_real(const char *real) { return spot_shift_is_outside(real) ? "." : real; }

static const spot_setting data[] = {
    TEXT(spot_shift_data, root, 512, "", "folder of the pictures: SHIFT/CLASS/picture, with sources SOURCE/SHIFT/CLASS/picture",
         .affects = SPOT_AFFECTS_PATH),
    TEXT(spot_shift_data, real, 512, "real", "folder of real pictures, CLASS/picture: below root, or a path that begins with / "
         "or .", .counts_as = count_real),
    TEXT(spot_shift_data, base, 64, "base", "folder of the base pictures, beside those of the shifts"),
    TEXT(spot_shift_data, names, 512, "", "CSV with the columns folder and name: names of the classes in captions; without it, "
         "the folders with ' ' for '_'", .affects = SPOT_AFFECTS_PATH),
    SPOT_ROW("exif", NAME, spot_shift_data, reading.exif, "rotation that EXIF tells of a picture",
             SPOT_ONE_OF("ignore", "apply"), .newer = SPOT_NEWER),
    SPOT_ROW("pillow", NAME, spot_shift_data, reading.pillow, "Pillow whose order of resizing tall pictures have; 12 stands "
             "for all before 13", SPOT_ONE_OF("13", "12"), .newer = SPOT_NEWER),
    SPOT_END
};

static const spot_setting encoder[] = {
    TEXT(spot_shift_encoder, weights, 512, "", "CLIP that filters, in .safetensors", .affects = SPOT_AFFECTS_PATH),
    TEXT(spot_shift_encoder, vocabulary, 512, "", "file or folder of CLIP's tokenizer; by default beside the weights",
         .affects = SPOT_AFFECTS_PATH),
    TEXT(spot_shift_encoder, config, 512, "", "CLIP's config; by default beside the weights", .affects = SPOT_AFFECTS_PATH),
    TEXT(spot_shift_encoder, label, 96, "", "what the encoder is, by your word; it is compared with filter.chosen_for"),
    TEXT(spot_shift_encoder, embeddings, 512, "", "folder of embeddings in place of weights: files of `spotter embed` for each "
         "folder of pictures and for the captions", .affects = SPOT_AFFECTS_PATH),
    SPOT_ROW("image_heads", INT, spot_shift_encoder, image_heads, "heads of CLIP's image tower; 0: from its config",
             SPOT_IN(0, 1024)),
    SPOT_ROW("text_heads", INT, spot_shift_encoder, text_heads, "heads of CLIP's text tower; 0: from its config",
             SPOT_IN(0, 1024)),
    SPOT_ROW("clean", NAME, spot_shift_encoder, clean, "cleaning of captions: lower case and single spaces, the only way",
             SPOT_ONE_OF("fast")),
    SPOT_ROW("precision", NAME, spot_shift_encoder, precision, "precision of CLIP", SPOT_ONE_OF("fp32", "tf32", "bf16")),
    SPOT_END
};

static const spot_setting filter[] = {
    SPOT_ROW("percentile", REAL, spot_shift_filter, percentile,
             "percentile of the similarities of a class's real pictures: the threshold of its class caption", SPOT_IN(0, 100),
             SPOT_DEF(20)),
    TEXT(spot_shift_filter, chosen_for, 96, "", "name of the encoder for which the thresholds of the shifts were chosen",
         .affects = SPOT_AFFECTS_PRESENTATION),
    SPOT_ROW("base", SWITCH, spot_shift_filter, base, "whether base pictures must pass the threshold of the class", SPOT_SWITCH,
             SPOT_DEF(1)),
    SPOT_ROW("style", NAME, spot_shift_filter, style,
             "class caption of style shifts: \"a <class>\" as in the paper, or \"a photo of a <class>\" as for the released "
             "masks",
             SPOT_ONE_OF("paper", "released")),
    TEXT(spot_shift_filter, masks, 512, "", ".npz with an array of 0 and 1 for each folder, in place of an encoder; with "
         "sources, SOURCE/SHIFT", .affects = SPOT_AFFECTS_PATH),
    TEXT(spot_shift_filter, oracle, 512, "", "CSV with the columns path and keep, or path, shift_there and object_there: which "
         "pictures are right, for comparison", .affects = SPOT_AFFECTS_PATH),
    SPOT_END
};

static const spot_setting evaluation[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_shift_evaluation, field, help, __VA_ARGS__)
    S("least",      INT,  rule.least,      "pictures of a shift that a class must have to count", SPOT_IN(1, 1000000),
      SPOT_DEF(5)),
    S("least_base", INT,  rule.least_base, "base pictures that a class must have to count", SPOT_IN(1, 1000000), SPOT_DEF(1)),
    S("axes",       NAME, rule.axes,       "axes of the fit over models", SPOT_ONE_OF("linear", "probit", "logit")),
    S("draws",      INT,  rule.draws,      "draws of the bootstrap over classes and models; 0: no intervals",
      SPOT_IN(0, 100000), SPOT_DEF(1000)),
    S("seed",       SEED, rule.seed,       "seed of the bootstrap", SPOT_DEF(1)),
    S("confounded", REAL, confounded,
      "gap between real and base accuracy, beyond the usual gap of the source, from which a class can count as confounded",
      SPOT_IN(0, 1), SPOT_DEF(0.1)),
#undef S
    SPOT_END
};

static const spot_setting source[] = {
    TEXT(spot_shift_source, name, 64, "", "folder of the source below data.root"),
    SPOT_END
};

static const spot_setting shift[] = {
    TEXT(spot_shift, name, 64, "", "name of the shift"),
    TEXT(spot_shift, folder, 64, "", "folder of its pictures; by default the name with '_' for ' '"),
    TEXT(spot_shift, prompt, 160, "", "prompt of the generator, for the record", .affects = SPOT_AFFECTS_PRESENTATION),
    TEXT(spot_shift, class_caption, 160, "", "caption of the class, in which <class> is its name; by default \"a photo of a "
         "<class>\", for styles as filter.style says", .affects = SPOT_AFFECTS_FINDING),
    TEXT(spot_shift, shift_caption, 160, "", "caption of the shift; by default \"a photo NAME\"",
         .affects = SPOT_AFFECTS_FINDING),
    TEXT(spot_shift, category, 32, "other", "kind of shift, such as background or style", .affects = SPOT_AFFECTS_PRESENTATION),
    SPOT_ROW("threshold", REAL, spot_shift, threshold, "least similarity to the caption of the shift; -1: all pictures pass",
             SPOT_IN(-1, 1), SPOT_DEF(-1), .affects = SPOT_AFFECTS_FINDING),
    SPOT_ROW("style", SWITCH, spot_shift, style, "whether the pictures are no photos", SPOT_SWITCH,
             .affects = SPOT_AFFECTS_FINDING),
    SPOT_END
};

static const spot_setting model[] = {
    TEXT(spot_shift_model, name, 64, "", "name of the model"),
    TEXT(spot_shift_model, predictions, 512, "", "CSV with the columns path (below data.root) and predicted (folder of the "
         "class, or its number)", .affects = SPOT_AFFECTS_PATH),
    TEXT(spot_shift_model, weights, 512, "", "ResNet of any depth, AlexNet or ViT that looks at the pictures, in .safetensors; "
         "or another model, by a program: net.onnx, net.pt2, net.ts, timm:NAME:WEIGHTS, torchvision:NAME:WEIGHTS, "
         "program:COMMAND", .affects = SPOT_AFFECTS_PATH),
    TEXT(spot_shift_model, classes, 512, "", "text with the folder of the class of each output, a line each; by default all "
         "classes in order", .affects = SPOT_AFFECTS_PATH),
    SPOT_ROW("resize", INT, spot_shift_model, resize, "pixels of a picture's shorter side, for weights; 0: as it is; "
             "-1: the whole picture is squeezed to crop", SPOT_IN(SPOT_SQUEEZE, 16384), SPOT_DEF(256)),
    SPOT_ROW("crop", INT, spot_shift_model, crop, "pixels of the square in the middle, for weights", SPOT_IN(1, 4096),
             SPOT_DEF(224)),
    { .kind = SETTING_PART, .offset = offsetof(spot_shift_model, input), .rows = spot_picture_input_settings },
    { .kind = SETTING_PART, .offset = offsetof(spot_shift_model, input), .rows = spot_picture_resizing_settings },
    SPOT_END
};

const spot_setting spot_shifts_settings[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_shifts_config, field, help, __VA_ARGS__)
#define LIST(name, field, number, most, ...) \
    SPOT_ROW(name, LIST, spot_shifts_config, field, __VA_ARGS__, SPOT_IN(0, most), .rows = field, \
             .size = sizeof(*((spot_shifts_config *)0)->field), .count = offsetof(spot_shifts_config, number))
    S("study",      NAME,  study,      "kind of experiment", SPOT_ONE_OF("shifts"), .affects = SPOT_AFFECTS_PICTURES),
    S("data",       GROUP, data,       "folders of pictures", .rows = data, .affects = SPOT_AFFECTS_PICTURES),
    S("encoder",    GROUP, encoder,    "network that compares pictures with captions", .rows = encoder,
      .affects = SPOT_AFFECTS_VIEW),
    S("filter",     GROUP, filter,     "rule by which a picture is kept", .rows = filter, .affects = SPOT_AFFECTS_FINDING),
    S("evaluation", GROUP, evaluation, "accuracies, impact and slope", .rows = evaluation, .affects = SPOT_AFFECTS_JUDGING),
    S("plant",      GROUP, plant,      "world of planted shifts that is made in the run directory and gives root, sources, "
      "models and filter.oracle", .rows = spot_plant_settings, .affects = SPOT_AFFECTS_PICTURES),
    LIST("sources", source, sources, SPOT_MAX_SOURCES, "sources that are compared; none: SHIFT/CLASS lies below data.root",
      .affects = SPOT_AFFECTS_PICTURES),
    LIST("shifts",  shift,  shifts,  SPOT_MAX_SHIFTS, "distribution shifts", .affects = SPOT_AFFECTS_PICTURES),
    LIST("models",  model,  models,  SPOT_MAX_SHIFT_MODELS, "classifiers that are compared", .affects = SPOT_AFFECTS_MODEL),
#undef LIST
#undef S
    SPOT_END
};

/* ---- checks ---- */

/* A name that is one folder and can be printed. */
static bool is_folder(const char *name) { return name[0] && !strchr(name, '/') && strcmp(name, ".") && strcmp(name, ".."); }

static spot_status check_shifts(spot_reading *r, const spot_shifts_config *cfg, int line)
{
    char text[SPOT_SHIFT_PATH], other[SPOT_SHIFT_PATH];

    for (int i = 0; i < cfg->shifts; i++) {
        const spot_shift *s = &cfg->shift[i];
        const spot_shift_unit u = { 0, i };
        if (!s->name[0]) return spot_refuse(r, line, "shifts[%d] has no name", i);
        if (s->folder[0] ? !is_folder(s->folder) : !is_folder(s->name))
            return spot_refuse(r, line, "{shifts.folder} shifts[%d]: \"%s\" is no name of a folder; give it one (folder: ...)",
                               i,
                               s->folder[0] ? s->folder : s->name);
        spot_shift_unit_id(text, cfg, u);
        for (int k = SPOT_BASE_PICTURES; k < i; k++)
            if (!strcmp(text, spot_shift_unit_id(other, cfg, (spot_shift_unit){ 0, k })))
                return spot_refuse(r, line, "{shifts.folder_twice} shifts[%d] has the folder of %s, %s", i,
                                   k < 0 ? "base" : cfg->shift[k].name,
                                   text);
        for (int k = 0; k < i; k++)
            if (!strcmp(s->name, cfg->shift[k].name)) return spot_refuse(r, line, "two shifts are called \"%s\"", s->name);
        if (!s->category[0]) return spot_refuse(r, line, "shifts[%d].category is empty; \"other\" will do", i);
    }
    return SPOT_OK;
}

static spot_status check_models(spot_reading *r, const spot_shifts_config *cfg, int line)
{
    for (int i = 0; i < cfg->models; i++) {
        const spot_shift_model *m = &cfg->model[i];
        if (!m->name[0]) return spot_refuse(r, line, "{models.no_name} models[%d] has no name", i);
        for (int k = 0; k < i; k++)
            if (!strcmp(m->name, cfg->model[k].name)) return spot_refuse(r, line,
                "{models.name_twice} two models are called \"%s\"", m->name);
        if (!m->predictions[0] == !m->weights[0])
            return spot_refuse(r, line, "{models.answers} models[%d], \"%s\", takes either predictions, a table, or weights, "
                               "which look at the pictures", i, m->name);
        SPOT_TRY(spot_refuse_input(r, line, i, m->name, &m->input, spot_is_foreign(m->weights) ? m->weights : ""));
    }
    return SPOT_OK;
}

/* shifts: the line of their list. */
static spot_status check_filter(spot_reading *r, const spot_shifts_config *cfg, int line, int shifts)
{
    const bool encodes = spot_shifts_encode(cfg);

    if (cfg->encoder.weights[0] && cfg->encoder.embeddings[0])
        return spot_refuse(r, line, "encoder.weights and encoder.embeddings both say where embeddings come from; set one of "
                           "them");
    if (encodes && cfg->filter.masks[0])
        return spot_refuse(r, line, "{filter.encoder_and_masks} an encoder and filter.masks both say which pictures are kept; "
                           "set one of them");
    if (encodes && !cfg->data.real[0])
        return spot_refuse(r, line,
                           "{filter.no_real} the threshold of a class comes from its real pictures; data.real is their folder");
    if (cfg->encoder.embeddings[0] && !cfg->encoder.label[0])
        return spot_refuse(r, line, "{encoder.no_label} encoder.embeddings do not say what made them; encoder.label does");
    for (int i = 0; i < cfg->shifts; i++) {
        if (!(cfg->shift[i].threshold > -1)) continue;
        if (!encodes && !cfg->filter.masks[0])
            return spot_refuse(r, shifts, "{filter.no_encoder} shifts[%d].threshold is %g, and nothing measures the similarity "
                               "that it limits: set encoder.weights or encoder.embeddings, or leave out the threshold", i,
                               cfg->shift[i].threshold);
        if (encodes && !cfg->filter.chosen_for[0])
            return spot_refuse(r, line, "{filter.no_chosen_for} shifts[%d].threshold is %g, and filter.chosen_for does not say "
                               "for which encoder it was chosen", i, cfg->shift[i].threshold);
    }
    return SPOT_OK;
}

static spot_status check_config(spot_reading *r, const void *config, const yaml_node_t *root)
{
    const spot_shifts_config *cfg = config;
    const int sources = spot_line_at(r, root, "sources");

    if (!cfg->data.root[0] && !cfg->plant.pictures)
        return spot_refuse(r, spot_line_at(r, root, "data"),
                           "{data.no_root} data.root, the folder of the pictures, is missing");
    if (!is_folder(cfg->data.base)) return spot_refuse(r, spot_line_at(r, root, "data"), "data.base is no name of a folder");
    for (int i = 0; i < cfg->sources; i++) {
        if (!is_folder(cfg->source[i].name)) return spot_refuse(r, sources,
                                                                "{sources.name} sources[%d].name is no name of a folder", i);
        for (int k = 0; k < i; k++)
            if (!strcmp(cfg->source[i].name, cfg->source[k].name))
                return spot_refuse(r, sources, "two sources are called \"%s\"", cfg->source[i].name);
        if (!strcmp(cfg->source[i].name, cfg->data.real))
            return spot_refuse(r, sources, "{sources.real} the source \"%s\" has the folder of the real pictures",
                               cfg->source[i].name);
    }
    if (!cfg->shifts) return spot_refuse(r, spot_line_at(r, root, "shifts"), "{shifts.none} there are no shifts");
    SPOT_TRY(check_shifts(r, cfg, spot_line_at(r, root, "shifts")));
    SPOT_TRY(check_models(r, cfg, spot_line_at(r, root, "models")));
    return check_filter(r, cfg, spot_line_at(r, root, "encoder"), spot_line_at(r, root, "shifts"));
}

#define OF_THE_PICTURES (SPOT_AFFECTS_PICTURES | SPOT_AFFECTS_VIEW)      /* similarities are kept, so thresholds are free */
const spot_config_kind spot_shifts_kind = {
    .rows = spot_shifts_settings, .size = sizeof(spot_shifts_config), .run = OF_THE_PICTURES,
    .key = OF_THE_PICTURES | SPOT_AFFECTS_MODEL | SPOT_AFFECTS_FINDING,
    .example = "configs/dataset_interfaces.yaml", .help = "spotter help config shifts", .check = check_config,
};

/* ---- read, print, compare ---- */

spot_status spot_shifts_parse(spot_ctx *c, spot_shifts_config *cfg, const char *text, size_t len, const char *name)
{
    return spot_yaml_parse(c, &spot_shifts_kind, cfg, text, len, name);
}

void spot_shifts_document(FILE *f)
{
    spot_shifts_config cfg;

    spot_config_reset(&spot_shifts_kind, &cfg);
    spot_yaml_document(f, spot_shifts_settings, &cfg);
}

spot_key spot_shifts_key(const spot_shifts_config *cfg) { return spot_config_key(&spot_shifts_kind, cfg); }

bool spot_shifts_change(char *words, size_t size, const spot_shifts_config *saved, const spot_shifts_config *here)
{
    return spot_settings_differ(words, size, spot_shifts_settings, saved, here, SPOT_AFFECTS_ALL & ~SPOT_AFFECTS_PATH);
}
