/* cmd_background.c - spotter background: whether classifiers depend on what lies behind the object. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "spotter/background.h"
#include "spotter/zoo.h"

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
    { "out",    'o', "DIR", CLI_TEXT, CLI_AT(run.out), .most = 1000, .need = "runs/background",
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
    cli_pick_shard(state, o->shard, &o->run.shard, &o->run.shards, o->shard_from);
}

/* ---- the table ---- */

/* "81.2 % [79.0, 83.1]" */
static const char *share_text(char text[48], spot_interval v)
{
    if (!isfinite(v.value)) snprintf(text, 48, "none");
    else if (!isfinite(v.low)) snprintf(text, 48, "%5.1f %%", 100 * v.value);
    else snprintf(text, 48, "%5.1f %% [%5.1f, %5.1f]", 100 * v.value, 100 * v.low, 100 * v.high);
    return text;
}

static void print_sets(const spot_background_results *r, int unit)
{
    static const char *const meaning[SPOT_BACKGROUND_SETS] = {
        "the pictures as they are", "the object on black", "the background, the object black", "on a background of its own "
            "class",
        "on a background of any class", "on a background of the next class", "on grey", "on noise", "on its own background, "
            "blurred",
        "on the backgrounds of the suite" };
    char text[48];

    for (int k = 0; k < SPOT_BACKGROUND_SETS; k++)
        if (isfinite(r->summary[unit].accuracy[k].value))
            printf("  %-10s  %-34s  %s\n", spot_background_set_name(k), meaning[k],
                   share_text(text, r->summary[unit].accuracy[k]));
}

static void print_model(const spot_background_results *r, int unit)
{
    const spot_background_result *u = &r->unit[unit];
    const spot_background_summary *s = &r->summary[unit];
    char name[64], text[48];

    snprintf(name, sizeof name, "%s", u->name);
    printf("%s\n", spot_plain(name));
    print_sets(r, unit);
    printf("  lost on the suite: original less suite            %s\n", share_text(text, s->lost));
    printf("  objects that it knows and some background turns   %s\n", share_text(text, s->turned));
    printf("  right on the original and on all %d backgrounds%*s   %s\n", u->n, u->n < 10 ? 2 : u->n < 100, "",
           share_text(text, s->steady));
    if (isfinite(s->gap.value)) printf("  BG-gap: mixed-same less mixed-rand                %s\n", share_text(text, s->gap));
    if (!u->dim) printf("  it gives no embeddings: there is one variance matrix instead of four\n");
}

/* Letters of the longest name, or of the word "model". */
static int widest_name(const spot_background_results *r)
{
    size_t most = strlen("model");

    for (int u = 0; u < r->units; u++) most = strlen(r->unit[u].name) > most ? strlen(r->unit[u].name) : most;
    return (int)most;
}

static void print_line(const spot_background_results *r, int unit, int width)
{
    const spot_background_summary *s = &r->summary[unit];
    char name[64], accuracy[48], turned[48], gap[48];

    snprintf(name, sizeof name, "%s", r->unit[unit].name);
    printf("%-*s  %-22s  %-22s  %s\n", width, spot_plain(name), share_text(accuracy, s->accuracy[SPOT_SET_ORIGINAL]),
           share_text(turned, s->turned), share_text(gap, s->gap));
}

/* Names each reason to doubt the numbers. */
static void print_doubts(const spot_background_results *r)
{
    const spot_background_suite *s = r->suite;
    const size_t blends = (size_t)s->targets * (size_t)s->n;
    size_t unreal = 0;
    char name[64];

    for (size_t i = 0; i < blends; i++) unreal += s->unreal[i];
    if (unreal) printf("%zu of %zu blends are below suite.realness: no candidate had it\n", unreal, blends);
    if (s->inverted)
        printf("%d masks cover most of the border of their picture: are they inverted?\n", s->inverted);
    for (int u = 0; u < r->units; u++) {
        const double right = r->summary[u].accuracy[SPOT_SET_ORIGINAL].value, other = r->summary[u].reordered;
        snprintf(name, sizeof name, "%s", r->unit[u].name);
        if (isfinite(other))
            printf("%s: with its outputs in another order %.1f %% of the originals would be right, now %.1f %%; --classes "
                   "(models[].classes) names the outputs\n", spot_plain(name), 100 * other, 100 * right);
    }
}

static void print_notes(const spot_background_results *r)
{
    const spot_background_suite *s = r->suite;

    printf("\n%d targets, %d backgrounds each (%d different ones); brackets: 95 %%\n", s->targets, s->n, s->backgrounds);
    if (r->cfg->measure.precision != SPOT_FP32)
        printf("networks that Spotter runs itself: %s\n", spot_precision_name((spot_precision)r->cfg->measure.precision));
    if (s->empty + s->small + s->large)
        printf("%d pictures are no targets; empty masks: %d, objects too small: %d, too large: %d\n",
               s->empty + s->small + s->large, s->empty, s->small, s->large);
    for (int i = 0, lone = 0; i <= s->classes; i++) {
        if (i < s->classes) {
            lone += r->unit[0].count[SPOT_SET_ORIGINAL][i] == 1;
            continue;
        }
        if (lone && r->cfg->measure.sets)
            printf("classes with one target, and so without a picture of mixed-same: %d\n", lone);
    }
    if (s->with_class) printf("%d backgrounds are left out: they show an object of a class or an excluded keyword\n",
                              s->with_class);
    print_doubts(r);
}

static void print_table(const spot_background_results *r)
{
    if (r->units <= 3)
        for (int u = 0; u < r->units; u++) print_model(r, u);
    else {
        const int width = widest_name(r);
        printf("%-*s  %-22s  %-22s  %s\n", width, "model", "accuracy", "turned by a background", "BG-gap");
        for (int u = 0; u < r->units; u++) print_line(r, u, width);
    }
    print_notes(r);
}

/* Prints how well each measure orders models of planted reliance. The JSON has the features of the matrices, too. */
static spot_status print_ranks(spot_ctx *c, const spot_background_results *r, const char *dir)
{
    spot_zoo_rank rank[SPOT_ZOO_RANKS];
    char planted[48], learned[48];
    int n;

    SPOT_TRY(spot_zoo_ranks(c, rank, &n, r, dir));
    printf("\n%-28s  %-22s  %s\n", "rank correlation of", "with planted reliance", "with learned reliance");
    for (int i = 0; i < n && !strchr(rank[i].name, ','); i++) {
        const spot_interval a = rank[i].planted, b = rank[i].learned;
        snprintf(planted, sizeof planted, "%5.2f [%5.2f, %5.2f]", a.value, a.low, a.high);
        snprintf(learned, sizeof learned, "%5.2f [%5.2f, %5.2f]", b.value, b.low, b.high);
        printf("%-28s  %-22s  %s\n", rank[i].name, planted, learned);
    }
    return SPOT_OK;
}

static spot_status show_results(spot_ctx *c, const char *dir)
{
    spot_background_results r;
    spot_status s = spot_background_read(c, &r, dir);

    if (s == SPOT_OK) {
        print_table(&r);
        if (r.cfg->zoo.models) s = print_ranks(c, &r, dir);
        printf("in %s: background.json, background.csv\n", dir);
    } else if (r.missing) {
        spot_forget(c);                        /* other shards have not ended */
        s = SPOT_OK;
    }
    spot_background_close(&r);
    return s;
}

/* ---- the command ---- */

static spot_status print_json(spot_ctx *c, const spot_background_report *r, const spot_background_cost *cost, spot_status s,
                              const char *out)
{
    spot_json j;

    SPOT_TRY(cli_json_open(c, &j, s, out));
    spot_json_put_int(&j, "planned", r->planned);
    spot_json_put_int(&j, "already", r->already);
    spot_json_put_int(&j, "done", r->done);
    spot_json_put_int(&j, "targets", cost->targets);
    spot_json_put_int(&j, "backgrounds", cost->backgrounds);
    spot_json_put_int(&j, "memory_bytes", (long long)cost->memory);
    spot_json_put_real(&j, "seconds", r->seconds);
    spot_json_print(&j, stdout);
    return s;
}

static spot_status run_config(spot_ctx *c, options *o, spot_background_config *cfg)
{
    spot_background_report report = { 0 };
    spot_background_cost cost;
    char memory[32], runs[32] = "";
    spot_status s;

    if (cfg->zoo.models) {
        SPOT_TRY(spot_background_cost_of(c, cfg, &cost));
        spot_log(c, SPOT_LOG_INFO, "a planted world of %d models, %.2f million pictures of training and %s of memory, "
                 "unless it is there", cfg->zoo.models, cost.trained / 1e6, cli_memory(memory, (double)cost.world));
    }
    SPOT_TRY(spot_background_planted(c, cfg, o->run.out));
    SPOT_TRY(spot_background_cost_of(c, cfg, &cost));
    if (cost.runs > 1) snprintf(runs, sizeof runs, "%d settings, ", cost.runs);
    spot_log(c, SPOT_LOG_INFO, "%s%d model%s, up to %d targets, %d backgrounds; at most %.0f pictures to look at and %s of "
             "memory, beside the models", runs, cost.units, cost.units == 1 ? "" : "s", cost.targets, cost.backgrounds,
             cost.looks, cli_memory(memory, (double)cost.memory));
    o->run.seconds = cli_limit_time(o->max_seconds);
    s = spot_background_run(c, cfg, &o->run, &report);
    cli_log_close();
    if (o->json) return print_json(c, &report, &cost, s, o->run.out);
    return s == SPOT_OK ? show_results(c, o->run.out) : s;
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
    "Chen 2023). Writes background.json and background.csv. Further settings of the config's list vary are run on the same "
    "models, each in DIR/variants. The same command continues a run that was stopped. `spotter help config background` lists "
    "the settings.", table, check_options,
    .work = run_background, CLI_OPTIONS(config), .machine = true
};
