/* cmd_examine.c - spotter examine: the conditions under which classifiers fail on 3-D objects. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "spotter/examine.h"
#include "spotter/failures.h"

typedef struct {
    cli_machine machine;
    const char *config, *shard;
    char shard_from[64];
    int max_seconds;
    spot_examine_options run;
    bool json;
    const char *objects, *model, *predict, *classes;
    int renders, size;
} options;

static const cli_row table[] = {
    { .word = "CONFIG", .kind = CLI_TEXT, CLI_AT(config) },
    { "out",    'o', "DIR", CLI_TEXT, CLI_AT(run.place.out), .most = 1000, .need = "runs/examine",
      .help = "run directory; the same command continues the run" },
    { .kind = CLI_HEADING, .help = "Without a config:" },
    { "objects", 0, "PATH", CLI_TEXT, CLI_AT(objects), .most = 511,
      .help = "3-D models: a folder CLASS/model.obj, Sweet Home 3D's archives, ShapeNet's folder" },
    { "model",   'm', "FILE", CLI_TEXT, CLI_AT(model), .most = 511, .help = "network in .safetensors" },
    { "predict", 'p', "COMMAND", CLI_TEXT, CLI_AT(predict), .most = 511,
      .help = "program that reads pictures and writes logits: any classifier (include/spotter/predictor.h)" },
    { "classes", 0, "FILE", CLI_TEXT, CLI_AT(classes), .most = 511, .otherwise = "the classes of the 3-D models, in order",
      .help = "text with the class of each output, a line each" },
    { "renders", 'n', "N", CLI_INT, CLI_AT(renders), 33, 10000000, .preset = "1000", .help = "renders of an object" },
    { "size",    0, "PIXELS", CLI_INT, CLI_AT(size), 16, 1024, .preset = "224", .help = "pixels a side" },
    { .kind = CLI_HEADING, .help = "The run:" },
    CLI_RUN_ROWS("the searches"),
    { "json",   'j', NULL, CLI_ON, CLI_AT(json), .help = "one JSON object on stdout at the end" },
    CLI_MACHINE_ROWS("auto"),
    { .kind = CLI_END }
};

static void check_options(const struct argp_state *state, void *input)
{
    options *o = input;
    const bool flags = o->objects || o->model || o->predict || o->classes;

    if (o->config && (flags || cli_is_given(state, "renders") || cli_is_given(state, "size")))
        argp_error(state, "a config says what the objects and models are; give either it or --objects and --model");
    if (!o->config && !(o->objects && (o->model || o->predict)))
        argp_error(state, "CONFIG is missing, such as configs/examine.yaml; or --objects and --model or --predict");
    if (o->model && o->predict) argp_error(state, "--model and --predict both name the model; give one of them");
    cli_pick_shard(state, o->shard, &o->run.place.shard, &o->run.place.shards, o->shard_from);
}

/* ---- the command ---- */

static spot_status run_config(spot_ctx *c, options *o, spot_examine_config *cfg)
{
    spot_run_report report = { 0 };
    spot_examine_cost cost;
    spot_examine_results results = { 0 };
    spot_failures failures = { 0 };
    char memory[32];
    spot_status s;

    SPOT_TRY(spot_examine_cost_of(c, cfg, &cost));
    spot_log(c, SPOT_LOG_INFO, "%d model%s, %d examiner%s, %d objects: %d searches, %.0f renders, beside %.0f in training; %s "
             "of memory, beside models and meshes", cfg->models, cfg->models == 1 ? "" : "s", cfg->examiners,
             cfg->examiners == 1 ? "" : "s", cost.objects, cost.units, cost.renders, cost.trained,
             cli_memory(memory, (double)cost.memory));
    o->run.place.seconds = cli_limit_time(o->max_seconds);
    o->run.results = &results, o->run.failures = &failures;
    s = spot_examine_run(c, cfg, &o->run, &report);
    cli_log_close();
    if (o->json)
        s = cli_json_run(c, s, o->run.place.out, &report, CLI_COUNTS({ "objects", cost.objects }, { "renders", cost.renders },
                                                               { "memory_bytes", (double)cost.memory }));
    else if (s == SPOT_OK && results.cfg) s = spot_examine_show(c, stdout, &results, &failures, o->run.place.out);
    spot_failures_close(&failures);
    spot_examine_close(&results);
    return s;
}

static const char *word_of(const char *word) { return word ? word : ""; }

/* The config that the flags are: an own classifier knows every object, so none is held out from it. */
static spot_status fill_config(spot_ctx *c, spot_examine_config *cfg, spot_examine_model *m, const options *o)
{
    spot_examine_defaults(cfg);
    cfg->objects.catalogue = word_of(o->objects);
    cfg->objects.choice = SPOT_OBJECTS_FIRST;
    cfg->objects.held_out = 1;
    cfg->render.size = o->size;
    cfg->search.renders = o->renders;
    *m = spot_examine_outside_model("model");
    m->weights = word_of(o->model), m->command = word_of(o->predict), m->classes = word_of(o->classes);
    cfg->model = m;
    cfg->models = 1;
    return spot_examine_complete(c, cfg);
}

static spot_status run_examine(spot_ctx *c, void *input)
{
    options *o = input;
    spot_examine_config cfg;
    spot_examine_model model;
    spot_status s;

    cli_log_device(c, &o->machine);
    s = o->config ? spot_examine_load(c, &cfg, o->config) : fill_config(c, &cfg, &model, o);
    if (s == SPOT_OK) s = run_config(c, o, &cfg);
    spot_memory_close(&cfg.memory);
    return s;
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
    .work = run_examine, CLI_OPTIONS(config), .machine = true
};
