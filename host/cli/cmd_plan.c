/* cmd_plan.c - spotter plan: what a sweep or another study works on, and its memory, disk and time, before it starts. */
#define _DEFAULT_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/plan_studies.h"
#include "study/yaml.h"
#include "spotter/background.h"
#include "spotter/config.h"
#include "spotter/examine.h"
#include "spotter/shifts.h"
#include "spotter/sweep.h"
#include "spotter/work.h"

typedef struct {
    cli_machine machine;
    const char *config, *gpus;
    spot_sweep_options sweep;
    bool json, quick;
    int processes;             /* of a shared run; 1: none */
} plan_flags, cli_flags;

static void read_shard(const struct argp_state *state, const char *word, void *input)
{
    plan_flags *o = input;

    cli_shard(state, word, &o->sweep.place.shard, &o->sweep.place.shards);
}

static const cli_row table[] = {
    { .word = "CONFIG", .kind = CLI_TEXT, CLI_AT(config), .need = "configs/quickstart.yaml" },
    { "shard", 's', "I/N", CLI_CALL, .preset = "0/1", .read = read_shard, .help = "part I of N of the ECs, counted from 0" },
    CLI_SWEEP_ROWS,
    { "gpus",  0, "LIST", CLI_TEXT, CLI_AT(gpus), .otherwise = "one process",
      .help = "GPUs of a sweep --gpus, as there: how the processes share ECs, and what each needs" },
    { "shared", 0, NULL, CLI_ON, CLI_AT(sweep.place.shared),
      .help = "how the N shards of a sweep --shared share ECs, and what each needs" },
    { "json",  'j', NULL, CLI_ON, CLI_AT(json),
      .help = "one JSON object on stdout: layers, rollable attributes and blindspots of every EC, and the cost" },
    { "quick", 'q', NULL, CLI_ON, CLI_AT(quick), .help = "no calibration, so no estimate of time" },
    CLI_MACHINE_ROWS("auto"),
    { .kind = CLI_END }
};

static void print_ec(const spot_ec *ec)
{
    char layers[80] = "background", text[512], task[512];

    for (int k = SPOT_SQUARE; k < SPOT_LAYERS; k++)
        if (ec->layer[k]) {
            size_t n = strlen(layers);
            snprintf(layers + n, sizeof layers - n, " %s", spot_layer_name((spot_layer)k));
        }
    snprintf(task, sizeof task, "%s", ec->photos ? spot_ec_task(ec) : "");
    if (ec->photos) printf("%4u            ", ec->index);
    else printf("%4u  %8d  ", ec->index, ec->rollable_count);
    printf("%7d  %6d  %6d  %s\n", ec->images[SPOT_TRAIN], ec->images[SPOT_VAL], ec->images[SPOT_TEST],
           ec->photos ? spot_plain(task) : layers);
    if (!ec->photos && ec->scene.induce == SPOT_MIXED)
        printf("      planted by a correlation of %g, as rare as %g, by labels flipped with chance %g\n", ec->scene.correlation,
               ec->scene.rare, ec->scene.flip);
    else if (!ec->photos && (ec->scene.induce != SPOT_FLIP_LABELS || ec->scene.flip != 1))
        printf("      planted by %s, strength %g\n", spot_induce_name(ec->scene.induce), spot_induce_strength(&ec->scene));
    for (int m = 0; m < ec->blindspot_count; m++) {
        spot_ec_describe(text, sizeof text, ec, m);
        printf("      blindspot %d: %s\n", m, spot_plain(text));
    }
}

enum { SHOWN = 100 };          /* largest number of ECs in the text */

static int count_ecs(const plan_flags *o, const spot_config *cfg)
{
    return o->sweep.limit && o->sweep.limit < cfg->ecs ? o->sweep.limit : cfg->ecs;
}

static spot_status text_ecs(spot_ctx *c, const plan_flags *o, const spot_config *cfg, const spot_source *source)
{
    int from, to;
    spot_ec ec;

    if (source->photos) printf("  EC              train     val    test  task\n");
    else printf("  EC  rollable    train     val    test  layers\n");
    spot_shard_range(&from, &to, o->sweep.place.shard, o->sweep.place.shards, count_ecs(o, cfg));
    for (int i = from; i < to; i++) {
        SPOT_TRY(spot_check_stop(c));
        if (i - from == SHOWN) {
            printf(" ...  and %d more; --json has them all\n", to - i);
            break;
        }
        SPOT_TRY(spot_source_ec(c, &ec, source, (uint32_t)i));
        print_ec(&ec);
    }
    return SPOT_OK;
}

static spot_status json_ecs(spot_ctx *c, spot_json *j, const plan_flags *o, const spot_config *cfg, const spot_source *source)
{
    char text[16384];
    int from, to;
    spot_ec ec;

    spot_json_put_int(j, "schema", 1);
    spot_shard_range(&from, &to, o->sweep.place.shard, o->sweep.place.shards, count_ecs(o, cfg));
    spot_json_array(j, "ecs", to - from, to - from);
    for (int i = from; i < to; i++) {
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(spot_source_ec(c, &ec, source, (uint32_t)i));
        SPOT_TRY(spot_ec_json(c, text, sizeof text, &ec));
        spot_json_put_raw(j, NULL, text, strlen(text));
    }
    spot_json_end(j);
    return SPOT_OK;
}

/* "methods  planespot-pca 0.31 s, spotlight 12 s": means over ECs, in lines of at most 100 columns. */
static void print_methods(const spot_config *cfg, const spot_sweep_cost *cost)
{
    int column = printf("\nmethods") - 1;

    for (int i = 0; i < cfg->bdms; i++) {
        char name[80], item[128];
        int n = snprintf(item, sizeof item, "%s", spot_bdm_name(&cfg->bdm[i], name, sizeof name));
        if (isfinite(cost->seconds)) n += snprintf(item + n, sizeof item - (size_t)n, " %.2g s", cost->method[i] / cost->ecs);
        if (i < cfg->bdms - 1) n += snprintf(item + n, sizeof item - (size_t)n, ",");
        if (column + 1 + n > 100) column = printf("\n       ") - 1;
        column += printf(" %s", item);
    }
    printf("\n");
}

/* j: NULL for text. */
static spot_status print_ecs(spot_ctx *c, spot_json *j, const plan_flags *o, const spot_config *cfg)
{
    spot_source source;
    spot_status s = spot_source_open(c, &source, cfg);

    if (!s) s = j ? json_ecs(c, j, o, cfg, &source) : text_ecs(c, o, cfg, &source);
    spot_source_close(&source);
    return s;
}

static void json_cost(spot_json *j, const plan_flags *o, const spot_config *cfg, const spot_sweep_cost *cost, double busy)
{
    spot_json_put_int(j, "memory_bytes", (long long)cost->memory);
    spot_json_put_int(j, "device_memory_bytes", (long long)cost->device_memory);
    spot_json_put_number(j, "disk_bytes", "%.0f", cost->disk);
    spot_json_put_number(j, "album_bytes", "%.0f", cost->album);
    spot_json_put_int(j, "wave", cost->wave);
    spot_json_put_int(j, "processes", o->processes);                       /* that share ECs; each needs the memory above */
    spot_json_put_number(j, "images", "%.0f", cost->images);
    spot_json_put_text(j, "precision", spot_precision_name((spot_precision)cfg->model.precision));
    spot_json_put_number(j, "load", "%.2f", busy);
    spot_json_put_number(j, "seconds", "%.1f", cost->seconds);             /* null without a calibration */
    spot_json_put_number(j, "cpu_seconds", "%.1f", cost->cpu_seconds);
    if (!isfinite(cost->seconds)) return;
    spot_json_put_number(j, "calibration_seconds", "%.1f", cost->calibration);
    spot_json_put_number(j, "start_seconds", "%.2f", cost->start);
    spot_json_put_number(j, "training_seconds", "%.2f", cost->training);
    spot_json_put_number(j, "picture_seconds", "%.2f", cost->pictures);
    spot_json_array(j, "method_seconds", cfg->bdms, cfg->bdms);
    for (int b = 0; b < cfg->bdms; b++) spot_json_put_number(j, NULL, "%.2f", cost->method[b]);
    spot_json_end(j);
}

#define TASK 2400.0                /* seconds of a task; 20 to 60 minutes suit schedulers */

static void print_time(spot_ctx *c, const plan_flags *o, const spot_sweep_cost *cost, double busy)
{
    double ecs = cost->seconds - cost->start;
    int shards = (int)fmin(round(ecs / TASK), cost->ecs);
    char time[32], cpu[32], task[32];

    printf("time    %s on %s with %d threads (%s of processor time), from a calibration of %.0f s\n",
           cli_duration(time, cost->seconds), spot_ctx_device_name(c), c->threads, cli_duration(cpu, cost->cpu_seconds),
           cost->calibration);
    if (o->sweep.place.shards == 1 && shards > 1)
        printf("shards  about %s a task in an array of %d\n", cli_duration(task, cost->start + ecs / cost->ecs
               * ceil((double)cost->ecs / shards)), shards);
    if (busy > (double)sysconf(_SC_NPROCESSORS_ONLN))
        spot_log(c, SPOT_LOG_WARN, "the load average is %.1f: other programs compute here, and the time is the time beside "
                 "them; run the command again on a quiet machine", busy);
}

/* How the processes of a run share its ECs, and what they need together. */
static void print_shares(spot_ctx *c, const plan_flags *o, const spot_config *cfg, const spot_sweep_cost *cost)
{
    const int n = o->processes;
    char memory[32], time[32];

    printf("shared  each of %d processes takes ECs that no other one has begun, by claims in the run directory\n", n);
    printf("        each needs the memory above, all %s; ", cli_memory(memory, n * (double)cost->memory));
    if (o->gpus) printf("each has a GPU and --threads %d\n", cli_gpus_threads(c, &o->machine, n));
    else         printf("on one machine give each --threads %d\n", c->threads > n ? c->threads / n : 1);
    if (o->gpus && !c->device) printf("        plan on a machine with such GPUs says what each needs of a GPU's memory\n");
    if (cfg->model.base.images) printf("        one trains the base model, and the others wait for its file\n");
    if (c->device) printf("        one times cuDNN's ways to convolve, and the others take what it keeps in DIR/plans\n");
    if (isfinite(cost->seconds))
        printf("        about %s, where each is as fast as this one\n",
               cli_duration(time, cost->start + (cost->seconds - cost->start) / (o->gpus ? n : 1)));
}

static void print_cost(spot_ctx *c, const plan_flags *o, const spot_config *cfg, const spot_sweep_cost *cost, double busy)
{
    const char *made = cost->album > 0 ? "read" : "rendered";
    char memory[32], device[32], disk[32];

    print_methods(cfg, cost);
    printf("memory  %s", cli_memory(memory, (double)cost->memory));
    if (cost->device_memory)
        printf(", device %s for waves of %d ECs", cli_memory(device, (double)cost->device_memory), cost->wave);
    printf("\ndisk    about %s for the run directory", cli_memory(disk, cost->disk));
    if (o->sweep.keep == SPOT_KEEP_ALL && cost->disk > 1e10) printf(" (less with --keep views or --keep results)");
    if (cost->album > 0) printf(", %s of it the pixels of all pictures", cli_memory(disk, cost->album));
    printf("\n");
    if (cost->images < 1e6) printf("images  %.0f", cost->images);
    else printf("images  %.1f million", cost->images / 1e6);
    printf(" %s and trained on in %s, all epochs\n", made, spot_precision_name((spot_precision)cfg->model.precision));
    if (isfinite(cost->seconds)) print_time(c, o, cost, busy);
    if (o->processes > 1) print_shares(c, o, cfg, cost);
}

static spot_status print_plan(spot_ctx *c, spot_json *j, const plan_flags *o, const spot_config *cfg, double busy)
{
    spot_sweep_cost cost;

    SPOT_TRY(print_ecs(c, j, o, cfg));
    fflush(stdout);
    if (!o->quick) {
        cli_log_device(c, &o->machine);
        spot_log(c, SPOT_LOG_INFO, "calibrating; --quick skips this");
    }
    c->on_progress = NULL;     /* the timed batches are no step of a sweep */
    SPOT_TRY(spot_sweep_cost_of(c, cfg, &o->sweep, &cost, !o->quick));
    if (j) json_cost(j, o, cfg, &cost, busy);
    else print_cost(c, o, cfg, &cost, busy);
    return SPOT_OK;
}

static spot_status plan_sweep(spot_ctx *c, const plan_flags *o, const char *text, size_t len)
{
    spot_config cfg;
    double busy = 0;           /* programs that computed or waited for a core, as a mean over the last minute */
    spot_json j = { .gen = NULL };
    spot_status s;

    s = cli_config_of(c, &cfg, text, len, o->config);
    getloadavg(&busy, 1);      /* before the calibration, which loads the machine itself */
    if (s == SPOT_OK && o->json) s = spot_json_open(c, &j);
    if (s == SPOT_OK) s = print_plan(c, o->json ? &j : NULL, o, &cfg, busy);
    if (s == SPOT_OK && o->json) spot_json_print(&j, stdout);
    else spot_json_free(&j);
    spot_memory_close(&cfg.memory);
    return s;
}

/* ---- the command ---- */

/* --gpus: a process each; --shared: one a shard. */
static spot_status count_processes(spot_ctx *c, plan_flags *o)
{
    o->processes = 1;
    if (o->gpus) SPOT_TRY(cli_gpus_count(c, o->gpus, &o->processes));
    else if (o->sweep.place.shared) o->processes = o->sweep.place.shards;
    if (o->gpus) o->sweep.place.shared = true;
    return SPOT_OK;
}

static spot_status plan_any(spot_ctx *c, void *input)
{
    plan_flags *o = input;
    const cli_plan any = { o->config, o->json, o->quick };
    char study[64], *text;
    size_t n;
    spot_status s = count_processes(c, o);

    SPOT_TRY(s);
    s = spot_yaml_text(c, &text, &n, o->config);
    if (s == SPOT_OK) s = spot_yaml_word_of(c, study, sizeof study, text, n, o->config, "study");
    if (s == SPOT_OK && !strcmp(study, spot_background_study.name)) s = cli_plan_background(c, &any, text, n);
    else if (s == SPOT_OK && !strcmp(study, spot_examine_study.name)) s = cli_plan_examine(c, &any, text, n);
    else if (s == SPOT_OK && !strcmp(study, spot_shifts_study.name)) s = cli_plan_shifts(c, &any, text, n);
    else if (s == SPOT_OK) s = plan_sweep(c, o, text, n);
    free(text);
    return s;
}

const cli_command cli_plan_command = {
    "plan", "ECs of a config, with the memory and time that they take", "CONFIG",
    "  spotter plan configs/paper_synthetic.yaml --limit 5\n"
    "  spotter plan configs/quickstart.yaml --json --quick\n"
    "  spotter plan configs/background_paper.yaml",
    "Shows every experimental configuration (EC) that a sweep would draw, and the memory, disk and time that it would take; of "
    "a study of shifts its pictures, memory, disk and time; of a study of backgrounds and an examination what they look at, "
    "memory and disk.",
    table,
    .work = plan_any, CLI_OPTIONS(config), .machine = true
};
