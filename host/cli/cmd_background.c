/* cmd_background.c - spotter background: whether classifiers depend on what lies behind the object. */
#include <stdio.h>
#include <unistd.h>

#include "cli/model_rows.h"
#include "cli/study_command.h"
#include "spotter/background.h"

typedef struct {
    cli_study_flags study;
    const char *images, *masks, *coco, *backgrounds, *classes;
    cli_model model;
    int n, size;
    bool links;
    spot_background_model own;                 /* the model of the flags */
} background_flags, cli_flags;

static const cli_row table[] = {
    { .word = "CONFIG", .kind = CLI_TEXT, CLI_AT(study.config) },
    CLI_OUT_ROW("runs/background"),
    { .kind = CLI_HEADING, .help = "Without a config:" },
    { "images", 0, "FOLDER", CLI_TEXT, CLI_AT(images), .most = 511, .help = "pictures, CLASS/picture; with --coco: its "
      "pictures" },
    { "masks",  0, "FOLDER", CLI_TEXT, CLI_AT(masks), .most = 511, .otherwise = "the pictures' own alpha",
      .help = "masks, CLASS/NAME.png: bright is the object" },
    { "coco",   0, "FILE",   CLI_TEXT, CLI_AT(coco), .most = 511, .help = "annotations with outlines in COCO's format" },
    { "follow-links", 0, NULL, CLI_ON, CLI_AT(links),
      .help = "pictures that --coco names may lie outside --images, behind symbolic links" },
    { "backgrounds", 0, "FOLDER", CLI_TEXT, CLI_AT(backgrounds), .most = 511, .help = "backgrounds, pictures at any depth" },
    CLI_MODEL_ROWS(model, 0, "ResNet of any depth, AlexNet or ViT in .safetensors (torchvision's names)"),
    { "classes", 0, "FILE", CLI_TEXT, CLI_AT(classes), .most = 511, .otherwise = "the folders of the pictures, in order",
      .help = "text with the class of each output, a line each" },
    { "n",       'n', "N", CLI_INT, CLI_AT(n), 1, SPOT_MAX_BACKGROUNDS, .preset = "32",
      .help = "backgrounds of a target, at most 255" },
    { "size",    0, "PIXELS", CLI_INT, CLI_AT(size), 16, 1024, .preset = "224", .help = "pixels a side" },
    { .kind = CLI_HEADING, .help = "The run:" },
    CLI_STUDY_ROWS("the models"),
    { .kind = CLI_END }
};

static void check_options(const struct argp_state *state, void *input)
{
    background_flags *o = input;
    const bool flags = o->images || o->masks || o->coco || o->links || o->backgrounds || cli_model_given(&o->model)
                    || o->classes;

    if (o->study.config && (flags || cli_is_given(state, "n") || cli_is_given(state, "size")))
        argp_error(state, "a config says what the pictures and models are; give either it or --images, --backgrounds and "
                   "--model");
    if (!o->study.config && !flags)
        argp_error(state, "CONFIG is missing, such as configs/background.yaml; or --images, --backgrounds and --model or "
                   "--predict");
    if (!o->study.config && !(o->images && o->backgrounds && (o->model.file || o->model.predict)))
        argp_error(state, "%s is missing; without a config, --images, --backgrounds and --model or --predict are needed",
                   !o->images ? "--images" : !o->backgrounds ? "--backgrounds" : "--model or --predict");
    cli_model_check(state, &o->model);
    if (o->masks && o->coco) argp_error(state, "--masks and --coco both say where objects are; give one of them");
    cli_study_check(state, o);
}

/* ---- the command ---- */

/* The config that the flags are. */
static spot_status fill_config(spot_ctx *c, void *config, void *flags)
{
    spot_background_config *cfg = config;
    background_flags *o = flags;

    (void)c;
    cfg->data.images = cli_word(o->images);
    cfg->data.masks = cli_word(o->masks);
    cfg->data.coco = cli_word(o->coco);
    cfg->data.follow_links = o->links;
    cfg->data.backgrounds = cli_word(o->backgrounds);
    cfg->data.size = o->size;
    cfg->suite.n = o->n;
    o->own = (spot_background_model){ .name = "model", .weights = cli_word(o->model.file),
                                      .command = cli_word(o->model.predict), .identity = cli_word(o->model.identity),
                                      .classes = cli_word(o->classes), .reliance = -1, .input = o->model.input };
    cfg->model = &o->own;
    cfg->models = 1;
    return SPOT_OK;
}

/* Whether a run was here before, which may have left its suite. */
static bool has_suite(const char *out)
{
    char path[1200];

    snprintf(path, sizeof path, "%s/suites", out);
    return !access(path, F_OK);
}

static spot_status run_config(spot_ctx *c, void *config, void *flags)
{
    spot_background_config *cfg = config;
    background_flags *o = flags;
    const char *out = o->study.place.out;
    spot_background_results results = { 0 };
    spot_background_cost cost;
    spot_run_report report = { 0 };
    char memory[32], runs[32] = "";
    spot_status s;

    if (cfg->zoo.models) {
        SPOT_TRY(spot_background_cost_of(c, cfg, &cost));
        spot_log(c, SPOT_LOG_INFO, "a planted world of %d models, %.2f million pictures of training and %s of memory, "
                 "unless it is there", cfg->zoo.models, cost.trained / 1e6, cli_memory(memory, (double)cost.world));
        SPOT_TRY(cli_study_world(c, cost.world, out, "zoo/truth.csv"));
    }
    SPOT_TRY(spot_background_planted(c, cfg, out));
    SPOT_TRY(spot_background_cost_of(c, cfg, &cost));
    const size_t takes = has_suite(out) ? cost.again : cost.memory;
    const double states = (double)cli_study_states(takes);
    if (cost.runs > 1) snprintf(runs, sizeof runs, "%d settings, ", cost.runs);
    spot_log(c, SPOT_LOG_INFO, "%s%d model%s, up to %d targets, %d backgrounds; at most %.0f pictures to look at and %s of "
             "memory", runs, cost.units, cost.units == 1 ? "" : "s", cost.targets, cost.backgrounds,
             cost.looks, cli_memory(memory, states));
    SPOT_TRY(cli_study_room(c, takes));
    s = spot_background_run(c, cfg, &(spot_background_options){ cli_study_place(&o->study), .results = &results }, &report);
    s = cli_study_end(c, s, &o->study, &report, CLI_COUNTS({ "targets", cost.targets }, { "backgrounds", cost.backgrounds },
                                                           { "memory_bytes", states }));
    if (s == SPOT_OK && results.cfg && !o->study.json) s = spot_background_show(c, stdout, &results, out);
    spot_background_close(&results);
    return s;
}

static spot_status run_background(spot_ctx *c, void *flags)
{
    return cli_study_run(c, &spot_background_study, fill_config, run_config, flags);
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
    "the share of objects that some background turns and that as many backgrounds of their own class turn, the BG-gap of the "
    "Backgrounds Challenge, accuracy under noise on the object or on the background, and variance matrices (Liao and Chen "
    "2023). Writes background.json, background.csv and models.csv. Further settings of the config's list vary are run on the "
    "same models, each in DIR/variants. The same command continues a run that was stopped. `spotter help config "
    "background` lists the settings.", table, check_options,
    .work = run_background, CLI_OPTIONS(n), .machine = true
};
