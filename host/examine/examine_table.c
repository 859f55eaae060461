/* examine_table.c - the settings of an examination. */
#include "examine/examine_config.h"
#include "examine/examiners.h"
#include "models/picture_input.h"
#include "spotter/model.h"

#define TEXT(type, field, most, text_, ...) SPOT_ROW(#field, TEXT, type, field, __VA_ARGS__, .hi = most, .text = text_)

#define X(NAME, name, symbol, unit, least, most, turns) #name,
static const char *const factor_names[] = { SPOT_FACTOR_TABLE(X) NULL };
#undef X

static const spot_setting objects[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_examine_objects, field, help, __VA_ARGS__)
    TEXT(spot_examine_objects, catalogue, 512, "",
         "3-D models: a folder CLASS/model.obj, a folder or archive of Sweet Home 3D, or "
         "ShapeNet's folder", .affects = SPOT_AFFECTS_PATH),
    S("choice",    NAME, choice,    "objects that are examined: of each class the held-out ones to which the model gives the "
      "greatest p, the first held-out ones, or the first ones that the networks learned",
      SPOT_ONE_OF("best", "first", "trained")),
    S("per_class", INT,  per_class, "examined objects of a class", SPOT_IN(1, 10000), SPOT_DEF(1)),
    S("held_out",  REAL, held_out,  "share of the objects of a class that no network learns", SPOT_IN(0, 1), SPOT_DEF(0.25)),
    S("views",     INT,  views,     "random renders of an object by which the best one is chosen", SPOT_IN(1, 100000),
      SPOT_DEF(64)),
    S("crease",    REAL, crease,    "angle up to which made normals are smooth, in degrees", SPOT_IN(0, 180), SPOT_DEF(45)),
    S("up",        NAME, up,        "axis of the models' files that points up", SPOT_ONE_OF("y", "z")),
#undef S
    SPOT_END
};

static const spot_setting class[] = {
    TEXT(spot_catalogue_class, name, 64, "",
         "name of the class; without any rule it takes the models whose class in the catalogue "
         "has this name"),
    TEXT(spot_catalogue_class, category, 64, "", "category in the catalogue"),
    TEXT(spot_catalogue_class, words, 256, "", "words, \"chair stool\"; one of them is in the model's name"),
    TEXT(spot_catalogue_class, last, 256, "", "words; one of them is the last one of the name"),
    TEXT(spot_catalogue_class, starts, 64, "", "start of the name"),
    TEXT(spot_catalogue_class, without, 256, "", "words that the name does not have"),
    SPOT_ROW("door",  SWITCH, spot_catalogue_class, door,  "doors and windows alone", SPOT_SWITCH),
    SPOT_ROW("leave", SWITCH, spot_catalogue_class, leave, "whether such models are left out", SPOT_SWITCH),
    SPOT_END
};

static const spot_setting render[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_examine_render, field, help, __VA_ARGS__)
    S("size",       INT,  size,       "pixels a side", SPOT_IN(SPOT_RENDER_LEAST_SIZE, SPOT_RENDER_SIZE), SPOT_DEF(64)),
    S("samples",    INT,  samples,    "samples a side of a pixel: 1, 2 or 4", SPOT_IN(1, SPOT_RENDER_SAMPLES), SPOT_DEF(2)),
    S("view",       REAL, view,       "angle of view, in degrees (Blender's camera: 49.13)", SPOT_IN(1, 170), SPOT_DEF(49.13)),
    S("near",       REAL, near,       "distance of the plane before which nothing is drawn, in diagonals", SPOT_IN(0.0001, 10),
      SPOT_DEF(0.02)),
    S("ambient",    REAL, ambient,    "ambient light", SPOT_IN(0, 100), SPOT_DEF(0.15)),
    S("specular",   REAL, specular,   "weight of specular reflections", SPOT_IN(0, 100), SPOT_DEF(0.5)),
    S("sun_scale",  REAL, sun_scale,  "light of a sun of energy 1 (default: 1 / pi)", SPOT_IN(0, 1000),
      SPOT_DEF(0.3183098861837907)),
    S("lamp_scale", REAL, lamp_scale, "light of a lamp of energy 1", SPOT_IN(0, 1000), SPOT_DEF(1)),
    S("exposure",   REAL, exposure,   "factor of all light", SPOT_IN(0, 1000), SPOT_DEF(1)),
    S("falloff",    NAME, falloff,    "how the lamp's light falls with its distance", SPOT_ONE_OF("linear", "square")),
    S("falloff_distance", REAL, falloff_distance, "distance at which the lamp's light is halved, in diagonals",
      SPOT_IN(0.0001, 1000000), SPOT_DEF(25)),
    S("background", REAL, background, "light of a grey background, 0 to 1", SPOT_IN(0, 1), SPOT_DEF(0.2)),
    TEXT(spot_examine_render, pictures, 512, "", "folder of background pictures, one for each object in turn; \"\": the grey",
         .affects = SPOT_AFFECTS_PATH),
#undef S
    SPOT_END
};

static const spot_setting search[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_examine_search, field, help, __VA_ARGS__)
    S("renders",   INT,  renders,   "renders of an object in a search, all", SPOT_IN(1, 10000000), SPOT_DEF(1000)),
    SPOT_ROW("points", TEXT, spot_examine_search, curve, "renders at which numbers are written, \"50, 100, 200\"; \"\": a "
             "tenth, a fifth, a half and all", .hi = 160),
    S("window",    INT,  window,    "last renders of the mean p", SPOT_IN(1, 1000000), SPOT_DEF(32)),
    S("seeds",     INT,  seeds,     "searches by each examiner, with different seeds", SPOT_IN(1, 1000), SPOT_DEF(3)),
    S("seed",      SEED, seed,      "seed of the first; the next ones count up", SPOT_DEF(1)),
    S("mode",      NAME, mode,      "what is looked for: the lowest p of the true class, or the highest",
      SPOT_ONE_OF("weakness", "strength")),
    S("perturb",   REAL, perturb,   "standard deviation of the small changes that test a weakness, in shares of each range",
      SPOT_IN(0, 1), SPOT_DEF(0.02)),
    S("perturbed", INT,  perturbed, "renders that test a weakness, at each point of the curve; they count as spent; 0: no test",
      SPOT_IN(0, 100000), SPOT_DEF(32)),
    S("fails",     REAL, fails,     "p below which a render is a failure", SPOT_IN(0, 1), SPOT_DEF(0.1),
      .affects = SPOT_AFFECTS_JUDGING),
#undef S
    SPOT_END
};

static const spot_setting valid[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_examine_valid, field, help, __VA_ARGS__)
    S("area",     REAL,   area,     "least share of the image that the object covers", SPOT_IN(0, 1), SPOT_DEF(0.01)),
    S("border",   REAL,   border,   "greatest share of the image's border that the object covers", SPOT_IN(0, 1),
      SPOT_DEF(0.5)),
    S("contrast", REAL,   contrast, "least contrast to the background", SPOT_IN(0, 1), SPOT_DEF(0.02)),
    S("inside",   SWITCH, inside,   "whether the camera may be inside the object's box", SPOT_SWITCH),
#undef S
    SPOT_END
};

static const spot_setting maps[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_examine_maps, field, help, __VA_ARGS__)
    S("renders", INT,  renders, "random renders of each object, beside all searches, for maps of failures and findings in "
      "words; 0: none", SPOT_IN(0, 10000000), SPOT_DEF(1000)),
    S("scans",   NAME, scans,   "searches whose lowest p is followed along each factor, 33 renders each: those of the first "
      "examiner with the first seed, all, or none", SPOT_ONE_OF("first", "all", "none")),
#undef S
    SPOT_END
};

static const spot_setting factor[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_examine_factor, field, help, __VA_ARGS__)
    S("factor", NAME, factor, "factor that the search changes", .names = factor_names),
    S("least",  REAL, least,  "least value; -1e9: the paper's", SPOT_IN(SPOT_EXAMINE_OPEN, SPOT_RENDER_MOST),
      SPOT_DEF(SPOT_EXAMINE_OPEN)),
    S("most",   REAL, most,   "greatest value, or the least one again: the factor has it always; -1e9: the paper's",
      SPOT_IN(SPOT_EXAMINE_OPEN, SPOT_RENDER_MOST), SPOT_DEF(SPOT_EXAMINE_OPEN)),
#undef S
    SPOT_END
};

static const spot_setting limit[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_examine_limit, field, help, __VA_ARGS__)
    S("factor",   NAME,   factor,   "factor that the limit is about", .names = factor_names),
    S("absolute", SWITCH, absolute, "whether the limit is about the value without its sign", SPOT_SWITCH),
    S("least",    REAL,   least,    "least value in the region; -1e9: the paper's",
      SPOT_IN(SPOT_EXAMINE_OPEN, SPOT_RENDER_MOST), SPOT_DEF(SPOT_EXAMINE_OPEN)),
    S("most",     REAL,   most,     "greatest value in the region; -1e9: the paper's",
      SPOT_IN(SPOT_EXAMINE_OPEN, SPOT_RENDER_MOST), SPOT_DEF(SPOT_EXAMINE_OPEN)),
#undef S
    SPOT_END
};

static const spot_setting model[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_examine_model, field, help, __VA_ARGS__)
    TEXT(spot_examine_model, name, 64, "",
         "name of the model: letters, digits, \".\", \"-\", \"_\" for one that is trained here"),
    TEXT(spot_examine_model, weights, 512, "",
         "network in .safetensors with torchvision's names, or net.onnx, net.pt2, net.ts, timm:NAME:WEIGHTS, "
         "torchvision:NAME:WEIGHTS; without it and without a command "
         "one is trained here", .affects = SPOT_AFFECTS_PATH),
    TEXT(spot_examine_model, command, 512, "", "program that reads pictures and writes logits (include/spotter/predictor.h)",
         .affects = SPOT_AFFECTS_PATH),
    TEXT(spot_examine_model, identity, 128, "", "name of the program of `command`, under which its results are stored; by "
         "default it is known by its answers to pictures that the run keeps", .affects = SPOT_AFFECTS_PATH),
    TEXT(spot_examine_model, classes, 512, "",
         "text with the class of each output, a line each; by default all classes in order",
         .affects = SPOT_AFFECTS_PATH),
    { .kind = SETTING_PART, .offset = offsetof(spot_examine_model, input), .rows = spot_picture_input_settings },
    S("arch",      NAME, arch,      "network that is trained", SPOT_ONE_OF("resnet18", "resnet34", "alexnet")),
    S("width",     INT,  width,     "channels of the first stage", SPOT_IN(16, 256), .unit = 16, SPOT_DEF(16)),
    S("batch",     INT,  batch,     "renders of a training step", SPOT_IN(2, 4096), SPOT_DEF(64)),
    S("optimizer", NAME, optimizer, "optimizer", SPOT_ONE_OF("adam", "sgd", "rmsprop")),
    S("schedule",  NAME, schedule,  "learning-rate schedule", SPOT_ONE_OF("constant", "one_cycle"), SPOT_DEF(SPOT_ONE_CYCLE)),
    S("lr",        REAL, lr,        "learning rate; the peak of one_cycle", SPOT_IN(1e-9, 100), SPOT_DEF(2e-3)),
    S("weight_decay", REAL, weight_decay, "L2 penalty on every weight", SPOT_IN(0, 1)),
    S("objects",   INT,  objects,   "objects of each class that it learns, of those not held out; 0: all", SPOT_IN(0, 1000000)),
    S("renders",   INT,  renders,   "renders of each object (m in the paper), drawn once", SPOT_IN(1, 1000000), SPOT_DEF(10)),
    S("epochs",    INT,  epochs,    "passes over the renders", SPOT_IN(1, SPOT_MAX_EPOCHS), SPOT_DEF(40)),
    S("steps",     INT,  steps,     "training steps in place of epochs, rounded up to whole passes; 0: epochs",
      SPOT_IN(0, 10000000)),
    S("seed",      SEED, seed,      "seed of its renders and its weights", SPOT_DEF(1)),
    S("least_elevation", REAL, least_elevation, "least camera elevation of its renders, in degrees", SPOT_IN(-90, 90),
      SPOT_DEF(-90)),
    S("most_elevation",  REAL, most_elevation,  "greatest camera elevation of its renders, in degrees", SPOT_IN(-90, 90),
      SPOT_DEF(90)),
    SPOT_ROW("region", LIST, spot_examine_model, limit, "limits of a planted weakness: a training render within all of them "
             "has the label of the next class", SPOT_IN(0, SPOT_MAX_EXAMINE_REGION), .rows = limit,
             .size = sizeof(spot_examine_limit), .count = offsetof(spot_examine_model, limits)),
#undef S
    SPOT_END
};

const spot_setting spot_examine_settings[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_examine_config, field, help, __VA_ARGS__)
#define LIST(name, field, number, most, table, ...) \
    SPOT_ROW(name, LIST, spot_examine_config, field, __VA_ARGS__, SPOT_IN(0, most), .rows = table, \
             .size = sizeof(*((spot_examine_config *)0)->field), .count = offsetof(spot_examine_config, number))
    S("study",   NAME,  study,   "kind of experiment", SPOT_ONE_OF("examine"), .affects = SPOT_AFFECTS_PICTURES),
    S("objects", GROUP, objects, "3-D objects", .rows = objects, .affects = SPOT_AFFECTS_PICTURES),
    LIST("classes", cls, classes, SPOT_MAX_CATALOGUE_CLASSES, class,
         "classes, as rules on the catalogue's models; a model is of the first class that it fits; none: the catalogue's",
         .affects = SPOT_AFFECTS_PICTURES),
    S("render",  GROUP, render,  "renderer", .rows = render, .affects = SPOT_AFFECTS_PICTURES),
    S("search",  GROUP, search,  "searches for conditions under which a model fails", .rows = search,
      .affects = SPOT_AFFECTS_FINDING),
    S("valid",   GROUP, valid,   "renders on which a person could still name the object", .rows = valid,
      .affects = SPOT_AFFECTS_FINDING),
    S("maps",    GROUP, maps,    "renders that show where a model fails, beside the searches", .rows = maps,
      .affects = SPOT_AFFECTS_FINDING),
    LIST("factors", factor, factors, SPOT_FACTORS, factor,
         "factors that a search changes, in the order in which `rl` draws them; others are drawn once for an object; none: the "
         "paper's nine", .affects = SPOT_AFFECTS_FINDING),
    LIST("models",    model,    models,    SPOT_MAX_EXAMINED_MODELS, model, "classifiers that are examined",
      .affects = SPOT_AFFECTS_MODEL, .grows = true),
    LIST("examiners", examiner, examiners, SPOT_MAX_EXAMINERS, spot_examiner_settings,
         "searches that are compared: a method and its settings, such as {method: cem, generation: 20}; none: cem",
         .affects = SPOT_AFFECTS_FINDING),
#undef LIST
#undef S
    SPOT_END
};
