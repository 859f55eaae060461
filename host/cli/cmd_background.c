/* cmd_background.c - spotter background: whether classifiers depend on what lies behind the object. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "spotter/background.h"

typedef struct {
    cli_machine machine;
    const char *config, *shard;
    char shard_from[64];
    int max_seconds;
    spot_background_options run;
    bool json;
    const char *images, *masks, *coco, *backgrounds, *model, *predict, *classes;
    int n, size;
} options;

static const cli_row table[] = {
    { .word = "CONFIG", .kind = CLI_TEXT, CLI_AT(config) },
    { "out",    'o', "DIR", CLI_TEXT, CLI_AT(run.place.out), .most = 1000, .need = "runs/background",
      .help = "run directory; the same command continues the run" },
    { .kind = CLI_HEADING, .help = "Without a config:" },
    { "images", 0, "FOLDER", CLI_TEXT, CLI_AT(images), .most = 511, .help = "pictures, CLASS/picture; with --coco: its "
      "pictures" },
    { "masks",  0, "FOLDER", CLI_TEXT, CLI_AT(masks), .most = 511, .otherwise = "the pictures' own alpha",
      .help = "masks, CLASS/NAME.png: bright is the object" },
    { "coco",   0, "FILE",   CLI_TEXT, CLI_AT(coco), .most = 511, .help = "annotations with outlines in COCO's format" },
    { "backgrounds", 0, "FOLDER", CLI_TEXT, CLI_AT(backgrounds), .most = 511, .help = "backgrounds, pictures at any depth" },
    { "model",   'm', "FILE", CLI_TEXT, CLI_AT(model), .most = 511, .help = "ResNet-18, ResNet-34 or AlexNet in .safetensors" },
    { "predict", 'p', "COMMAND", CLI_TEXT, CLI_AT(predict), .most = 511,
      .help = "program that reads pictures and writes logits: any classifier (include/spotter/predictor.h)" },
    { "classes", 0, "FILE", CLI_TEXT, CLI_AT(classes), .most = 511, .otherwise = "the folders of the pictures, in order",
      .help = "text with the class of each output, a line each" },
    { "n",       'n', "N", CLI_INT, CLI_AT(n), 1, SPOT_MAX_BACKGROUNDS, .preset = "32", .help = "backgrounds of a target" },
    { "size",    0, "PIXELS", CLI_INT, CLI_AT(size), 16, 1024, .preset = "224", .help = "pixels a side" },
    { .kind = CLI_HEADING, .help = "The run:" },
    CLI_RUN_ROWS("the models"),
    { "json",   'j', NULL, CLI_ON, CLI_AT(json), .help = "one JSON object on stdout at the end" },
    CLI_MACHINE_ROWS("auto"),
    { .kind = CLI_END }
};

static void check_options(const struct argp_state *state, void *input)
{
    options *o = input;
    const bool flags = o->images || o->masks || o->coco || o->backgrounds || o->model || o->predict || o->classes;

    if (o->config && (flags || cli_is_given(state, "n") || cli_is_given(state, "size")))
        argp_error(state, "a config says what the pictures and models are; give either it or --images, --backgrounds and "
                   "--model");
    if (!o->config && !(o->images && o->backgrounds && (o->model || o->predict)))
        argp_error(state, "CONFIG is missing, such as configs/background.yaml; or --images, --backgrounds and --model or "
                   "--predict");
    if (o->model && o->predict) argp_error(state, "--model and --predict both name the model; give one of them");
    if (o->masks && o->coco) argp_error(state, "--masks and --coco both say where objects are; give one of them");
    cli_pick_shard(state, o->shard, &o->run.place.shard, &o->run.place.shards, o->shard_from);
}

/* ---- the command ---- */

static spot_status run_config(spot_ctx *c, options *o, spot_background_config *cfg)
{
    spot_run_report report = { 0 };
    spot_background_cost cost;
    spot_background_results results = { 0 };
    char memory[32], runs[32] = "";
    spot_status s;

    if (cfg->zoo.models) {
        SPOT_TRY(spot_background_cost_of(c, cfg, &cost));
        spot_log(c, SPOT_LOG_INFO, "a planted world of %d models, %.2f million pictures of training and %s of memory, "
                 "unless it is there", cfg->zoo.models, cost.trained / 1e6, cli_memory(memory, (double)cost.world));
    }
    SPOT_TRY(spot_background_planted(c, cfg, o->run.place.out));
    SPOT_TRY(spot_background_cost_of(c, cfg, &cost));
    if (cost.runs > 1) snprintf(runs, sizeof runs, "%d settings, ", cost.runs);
    spot_log(c, SPOT_LOG_INFO, "%s%d model%s, up to %d targets, %d backgrounds; at most %.0f pictures to look at and %s of "
             "memory, beside the models", runs, cost.units, cost.units == 1 ? "" : "s", cost.targets, cost.backgrounds,
             cost.looks, cli_memory(memory, (double)cost.memory));
    o->run.place.seconds = cli_limit_time(o->max_seconds);
    o->run.results = &results;
    s = spot_background_run(c, cfg, &o->run, &report);
    cli_log_close();
    if (o->json)
        s = cli_json_run(c, s, o->run.place.out, &report, CLI_COUNTS({ "targets", cost.targets },
                         { "backgrounds", cost.backgrounds }, { "memory_bytes", (double)cost.memory }));
    else if (s == SPOT_OK && results.cfg) s = spot_background_show(c, stdout, &results, o->run.place.out);
    spot_background_close(&results);
    return s;
}

static const char *word_of(const char *word) { return word ? word : ""; }

/* The config that the flags are. */
static void fill_config(spot_background_config *cfg, spot_background_model *m, const options *o)
{
    spot_background_defaults(cfg);
    cfg->data.images = word_of(o->images);
    cfg->data.masks = word_of(o->masks);
    cfg->data.coco = word_of(o->coco);
    cfg->data.backgrounds = word_of(o->backgrounds);
    cfg->data.size = o->size;
    cfg->suite.n = o->n;
    *m = (spot_background_model){ .name = "model", .weights = word_of(o->model), .command = word_of(o->predict),
                                  .classes = word_of(o->classes), .reliance = -1 };
    cfg->model = m;
    cfg->models = 1;
}

static spot_status run_background(spot_ctx *c, void *input)
{
    options *o = input;
    spot_background_config cfg;
    spot_background_model model;
    spot_status s = SPOT_OK;

    cli_log_device(c, &o->machine);
    if (o->config) s = spot_background_load(c, &cfg, o->config);
    else fill_config(&cfg, &model, o);
    if (s == SPOT_OK) s = run_config(c, o, &cfg);
    spot_memory_close(&cfg.memory);
    return s;
}

const cli_command cli_background_command = {
    "background", "whether classifiers depend on the background", "[CONFIG] --out DIR",
    "  spotter background configs/background.yaml --out runs/background\n"
    "  spotter background --images photos --masks masks --backgrounds scenes \\\n"
    "      --model resnet.safetensors --out runs/mine\n"
    "  spotter background --images photos --masks masks --backgrounds scenes \\\n"
    "      --predict 'python3 mine.py' --out runs/mine\n"
    "  spotter merge runs/mine && spotter status runs/mine",
    "Puts each object on other backgrounds and looks at what the model answers: accuracy on the original and on derived sets, "
    "the share of objects that some background turns, the BG-gap of the Backgrounds Challenge, and variance matrices (Liao and "
    "Chen 2023). Writes background.json, background.csv and models.csv. Further settings of the config's list vary are run "
    "on the same models, each in DIR/variants. The same command continues a run that was stopped. `spotter help config "
    "background` lists the settings.", table, check_options,
    .work = run_background, CLI_OPTIONS(config), .machine = true
};
