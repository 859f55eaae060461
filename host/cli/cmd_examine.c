/* cmd_examine.c - spotter examine: the conditions under which classifiers fail on 3-D objects. */
#include <stdio.h>

#include "cli/model_rows.h"
#include "cli/study_command.h"
#include "spotter/examine.h"
#include "spotter/failures.h"

typedef struct {
    cli_study_flags study;
    const char *objects, *classes;
    cli_model model;
    int renders, size;
    spot_examine_model own;                    /* the model of the flags */
} examine_flags, cli_flags;

static const cli_row table[] = {
    { .word = "CONFIG", .kind = CLI_TEXT, CLI_AT(study.config) },
    CLI_OUT_ROW("runs/examine"),
    { .kind = CLI_HEADING, .help = "Without a config:" },
    { "objects", 0, "PATH", CLI_TEXT, CLI_AT(objects), .most = 511,
      .help = "3-D models: a folder CLASS/model.obj, Sweet Home 3D's archives, ShapeNet's folder" },
    CLI_MODEL_ROWS(model, 0, "network in .safetensors"),
    { "classes", 0, "FILE", CLI_TEXT, CLI_AT(classes), .most = 511, .otherwise = "the classes of the 3-D models, in order",
      .help = "text with the class of each output, a line each" },
    { "renders", 'n', "N", CLI_INT, CLI_AT(renders), 33, 10000000, .preset = "1000", .help = "renders of an object" },
    { "size",    0, "PIXELS", CLI_INT, CLI_AT(size), 16, 1024, .preset = "224", .help = "pixels a side" },
    { .kind = CLI_HEADING, .help = "The run:" },
    CLI_STUDY_ROWS("the searches"),
    { .kind = CLI_END }
};

static void check_options(const struct argp_state *state, void *input)
{
    examine_flags *o = input;
    const bool flags = o->objects || cli_model_given(&o->model) || o->classes;

    if (o->study.config && (flags || cli_is_given(state, "renders") || cli_is_given(state, "size")))
        argp_error(state, "a config says what the objects and models are; give either it or --objects and --model");
    if (!o->study.config && !(o->objects && (o->model.file || o->model.predict)))
        argp_error(state, "CONFIG is missing, such as configs/examine.yaml; or --objects and --model or --predict");
    cli_model_check(state, &o->model);
    cli_study_check(state, o);
}

/* ---- the command ---- */

/* The config that the flags are: an own classifier knows every object, so none is held out from it. */
static spot_status fill_config(spot_ctx *c, void *config, void *flags)
{
    spot_examine_config *cfg = config;
    examine_flags *o = flags;

    cfg->objects.catalogue = cli_word(o->objects);
    cfg->objects.choice = SPOT_OBJECTS_FIRST;
    cfg->objects.held_out = 1;
    cfg->render.size = o->size;
    cfg->search.renders = o->renders;
    o->own = spot_examine_outside_model("model");
    o->own.weights = cli_word(o->model.file), o->own.command = cli_word(o->model.predict);
    o->own.identity = cli_word(o->model.identity), o->own.classes = cli_word(o->classes);
    o->own.input = o->model.input;
    cfg->model = &o->own;
    cfg->models = 1;
    return spot_examine_complete(c, cfg);
}

static spot_status run_config(spot_ctx *c, void *config, void *flags)
{
    const spot_examine_config *cfg = config;
    examine_flags *o = flags;
    const char *out = o->study.place.out;
    spot_examine_results results = { 0 };
    spot_failures failures = { 0 };
    spot_examine_options run = { .results = &results, .failures = &failures };
    spot_examine_cost cost;
    spot_run_report report = { 0 };
    char memory[32];
    spot_status s;

    SPOT_TRY(spot_examine_cost_of(c, cfg, &cost));
    const double states = (double)cli_study_states(cost.memory);
    spot_log(c, SPOT_LOG_INFO, "%d model%s, %d examiner%s, %d objects: %d searches, %.0f renders, beside %.0f in training; %s "
             "of memory, beside meshes", cfg->models, cfg->models == 1 ? "" : "s", cfg->examiners,
             cfg->examiners == 1 ? "" : "s", cost.objects, cost.units, cost.renders, cost.trained,
             cli_memory(memory, states));
    SPOT_TRY(cli_study_room(c, cost.memory));
    run.place = cli_study_place(&o->study);
    s = spot_examine_run(c, cfg, &run, &report);
    s = cli_study_end(c, s, &o->study, &report, CLI_COUNTS({ "objects", cost.objects }, { "renders", cost.renders },
                                                           { "memory_bytes", states }));
    if (s == SPOT_OK && results.cfg && !o->study.json) s = spot_examine_show(c, stdout, &results, &failures, out);
    spot_failures_close(&failures);
    spot_examine_close(&results);
    return s;
}

static spot_status run_examine(spot_ctx *c, void *flags)
{
    return cli_study_run(c, &spot_examine_study, fill_config, run_config, flags);
}

const cli_command cli_examine_command = {
    "examine", "conditions of camera and light under which classifiers fail on 3-D objects", "[CONFIG] --out DIR",
    "  spotter examine configs/examine.yaml --out runs/examine\n"
    "  spotter examine --objects models --model resnet.safetensors \\\n"
    "      --classes classes.txt --out runs/mine\n"
    "  spotter examine --objects models --predict 'python3 mine.py' --out runs/mine\n"
    "  spotter merge runs/mine && spotter status runs/mine",
    "Renders 3-D objects and searches, for each of them, the camera and the light under which the model's p of the true class "
    "is lowest (the adversarial examiner, Shu et al. 2020). Several examiners can be compared against the renders that they "
    "spend. Writes examine.json and examine.csv. The same command continues a run that was stopped. `spotter help config "
    "examine` lists the settings.", table, check_options,
    .work = run_examine, CLI_OPTIONS(size), .machine = true
};
