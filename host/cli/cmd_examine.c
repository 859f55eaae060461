/* cmd_examine.c - spotter examine: the conditions under which classifiers fail on 3-D objects. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "spotter/examine.h"
#include "spotter/failures.h"

enum { MOST_FINDINGS = 5 };            /* of a model that are printed */

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
    { "out",    'o', "DIR", CLI_TEXT, CLI_AT(run.out), .most = 1000, .need = "runs/examine",
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
    cli_pick_shard(state, o->shard, &o->run.shard, &o->run.shards, o->shard_from);
}

/* ---- the table ---- */

/* "0.031 [0.012, 0.060]" */
static const char *p_text(char text[48], spot_interval v)
{
    if (!isfinite(v.value)) snprintf(text, 48, "none");
    else snprintf(text, 48, "%5.3f [%5.3f, %5.3f]", v.value, v.low, v.high);
    return text;
}

static void print_curve(const spot_examine_results *r, const spot_examine_summary *s, bool region)
{
    char name[64], mean[48], lowest[48], robust[48], inside[48];

    snprintf(name, sizeof name, "%s", spot_examine_label(&r->cfg->examiner[s->examiner]));
    for (int k = 0; k < s->points; k++) {
        const spot_examine_line *l = &s->line[k];
        printf("  %-14.14s %8d  %-20s  %-20s  %-20s %5.0f %%", k ? "" : spot_plain(name), l->renders, p_text(mean, l->mean),
               p_text(lowest, l->lowest_valid), p_text(robust, l->robust), 100 * l->valid);
        if (region) printf("  %s", p_text(inside, l->inside));
        printf("\n");
    }
}

/* The planted region: who found it. */
static void print_region(const spot_examine_results *r, int model)
{
    const spot_examine_summary *s = &r->summary[model * r->cfg->examiners];
    char name[64];

    printf("  planted region: %d of %d objects learned it", s->learned, s->objects);
    for (int e = 0; e < r->cfg->examiners && s->learned; e++) {
        snprintf(name, sizeof name, "%s", spot_examine_label(&r->cfg->examiner[e]));
        printf("%s %d by %s", e ? "," : "; found of them:", s[e].found, spot_plain(name));
    }
    printf("\n");
}

static const char *class_name(const spot_examine_config *cfg, int cls)
{
    for (int i = 0; i < cfg->classes; i++)
        if (!cfg->cls[i].leave && !cls--) return cfg->cls[i].name;
    return "all objects";
}

/* Where the model fails, or in strength mode where it is best, in words: what was confirmed on renders that the search for the
 * words has not seen. */
static void print_findings(const spot_examine_results *r, const spot_failures *f, int model)
{
    const bool high = r->cfg->search.mode == SPOT_MODE_STRENGTH;
    int confirmed = 0, others = 0;
    char name[64];

    for (int i = 0; i < f->findings; i++) {
        const spot_failure_finding *x = &f->finding[i];
        if (x->model != model) continue;
        if (!x->confirmed) others++;
        if (!x->confirmed || confirmed++ >= MOST_FINDINGS) continue;
        snprintf(name, sizeof name, "%s", class_name(r->cfg, x->cls < 0 ? r->cfg->classes : x->cls));
        printf("%s    %s: %s\n        %.0f %% [%.0f, %.0f] of %d valid random renders inside %s, %.1f %% outside; p %.1g",
               confirmed == 1 ? high ? "  best where\n" : "  fails where\n" : "", spot_plain(name), x->words,
               100 * x->inside.value, 100 * x->inside.low, 100 * x->inside.high, x->renders, high ? "have a high p" : "fail",
               100 * x->outside.value, x->adjusted);
        if (isfinite(x->overlap)) printf("; %.2f of the volume of rule and planted region is in both", x->overlap);
        printf("\n");
    }
    if (confirmed > MOST_FINDINGS) printf("    and %d more in failures.json\n", confirmed - MOST_FINDINGS);
    if (others) printf("  %d other rule%s not confirmed\n", others, others == 1 ? " was" : "s were");
}

static void print_model(const spot_examine_results *r, const spot_failures *f, int model)
{
    const bool high = r->cfg->search.mode == SPOT_MODE_STRENGTH, region = r->cfg->model[model].limits > 0;
    char name[64];

    snprintf(name, sizeof name, "%s", r->cfg->model[model].name);
    printf("%s: p of the true class %.3f on random renders\n", spot_plain(name), r->summary[model * r->cfg->examiners].start);
    printf("  %-14s %8s  %-20s  %-20s  %-20s %7s%s\n", "examiner", "renders", "mean of the last", high ? "highest" : "lowest",
           high ? "highest, robust" : "lowest, robust", "valid", region ? "  inside the region" : "");
    for (int e = 0; e < r->cfg->examiners; e++) print_curve(r, &r->summary[model * r->cfg->examiners + e], region);
    if (region) print_region(r, model);
    print_findings(r, f, model);
}

static void print_table(const spot_examine_results *r, const spot_failures *f)
{
    const spot_examine_config *cfg = r->cfg;

    for (int m = 0; m < cfg->models; m++) print_model(r, f, m);
    printf("\n%d objects, %d seed%s; brackets: 95 %% over objects; \"mean of the last\" %d renders\n", r->objects,
           cfg->search.seeds, cfg->search.seeds == 1 ? "" : "s", cfg->search.window);
    printf("\"%s\" counts valid renders alone: those on which a person could still name the object\n",
           cfg->search.mode == SPOT_MODE_STRENGTH ? "highest" : "lowest");
    if (cfg->search.perturbed)
        printf("\"robust\": mean of %d renders around it, with changes of %g %% of each range; they count as spent\n",
               cfg->search.perturbed, 100 * cfg->search.perturb);
    printf("light: a sun of energy 1 gives %.3f, a lamp %.3f, ambient %.2f; exposure %g, cut at 1\n", cfg->render.sun_scale,
           cfg->render.lamp_scale, cfg->render.ambient, cfg->render.exposure);
}

static spot_status show_results(spot_ctx *c, const char *dir)
{
    spot_examine_results r;
    spot_failures f = { 0 };
    spot_status s = spot_examine_read(c, &r, dir);

    if (s == SPOT_OK) s = spot_failures_read(c, &f, dir);
    if (s == SPOT_OK) {
        print_table(&r, &f);
        printf("in %s: examine.json, examine.csv, failures.json, searches, maps\n", dir);
    } else if (r.missing) {
        spot_forget(c);                        /* other shards have not ended */
        s = SPOT_OK;
    }
    spot_failures_close(&f);
    spot_examine_close(&r);
    return s;
}

/* ---- the command ---- */

static spot_status print_json(spot_ctx *c, const spot_examine_report *r, const spot_examine_cost *cost, spot_status s,
                              const char *out)
{
    spot_json j;

    SPOT_TRY(cli_json_open(c, &j, s, out));
    spot_json_put_int(&j, "planned", r->planned);
    spot_json_put_int(&j, "already", r->already);
    spot_json_put_int(&j, "done", r->done);
    spot_json_put_int(&j, "objects", cost->objects);
    spot_json_put_number(&j, "renders", "%.0f", cost->renders);
    spot_json_put_int(&j, "memory_bytes", (long long)cost->memory);
    spot_json_put_real(&j, "seconds", r->seconds);
    spot_json_print(&j, stdout);
    return s;
}

static spot_status run_config(spot_ctx *c, options *o, spot_examine_config *cfg)
{
    spot_examine_report report = { 0 };
    spot_examine_cost cost;
    char memory[32];
    spot_status s;

    SPOT_TRY(spot_examine_cost_of(c, cfg, &cost));
    spot_log(c, SPOT_LOG_INFO, "%d model%s, %d examiner%s, %d objects: %d searches, %.0f renders, beside %.0f in training; %s "
             "of memory, beside models and meshes", cfg->models, cfg->models == 1 ? "" : "s", cfg->examiners,
             cfg->examiners == 1 ? "" : "s", cost.objects, cost.units, cost.renders, cost.trained,
             cli_memory(memory, (double)cost.memory));
    o->run.seconds = cli_limit_time(o->max_seconds);
    s = spot_examine_run(c, cfg, &o->run, &report);
    cli_log_close();
    if (o->json) return print_json(c, &report, &cost, s, o->run.out);
    return s == SPOT_OK ? show_results(c, o->run.out) : s;
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
