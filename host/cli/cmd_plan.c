/* cmd_plan.c - spotter plan: what a sweep will draw, and what it will take, before anything starts. */
#define _DEFAULT_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "spotter/work.h"
#include "spotter/source.h"
#include "spotter/sweep.h"

typedef struct {
    cli_machine machine;
    const char *config;
    spot_sweep_options sweep;
    bool json, quick;
} options;

enum { LIMIT = 'n', JSON = 'j', QUICK = 'q', SHARD = 's', WAVE = 0x100, AT_ONCE, KEEP, NO_PICTURES };

static const struct argp_option table[] = {
    { "limit", LIMIT, "N",  0, "at most N ECs of the config", 0 },
    { "shard", SHARD, "I/N", 0, "only the ECs of one shard: the I-th of N equal parts, counted from 0", 0 },
    { "wave",  WAVE,  "N",  0, "as for `spotter sweep`: ECs that go together; more take more memory", 0 },
    { "at-once", AT_ONCE, "N", 0, "as for `spotter sweep`: ECs that train side by side", 0 },
    { "no-pictures", NO_PICTURES, NULL, 0, "as for `spotter sweep`: without the PNG of each EC", 0 },
    { "keep",  KEEP, "all|views|results", 0, "as for `spotter sweep`: what stays on the disk", 0 },
    { "json",  JSON,  NULL, 0, "one object on stdout: every EC's layers, rollable attributes and blindspots, and the cost", 0 },
    { "quick", QUICK, NULL, 0, "leave out the time, which is measured", 0 },
    { 0 }
};

static error_t option(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->machine; return 0;
    case LIMIT:         o->sweep.limit = cli_number(state, "--limit", arg, 1, 1000000); return 0;
    case SHARD:         cli_shard(state, arg, &o->sweep.shard, &o->sweep.shards); return 0;
    case WAVE:          o->sweep.wave = cli_number(state, "--wave", arg, 1, SPOT_WIDEST_WAVE); return 0;
    case AT_ONCE:       o->sweep.at_once = cli_number(state, "--at-once", arg, 1, SPOT_MOST_AT_ONCE); return 0;
    case NO_PICTURES:   o->sweep.pictures = false; return 0;
    case KEEP:          o->sweep.keep = (spot_kept)cli_keep(state, arg); return 0;
    case JSON:          o->json = true; return 0;
    case QUICK:         o->quick = true; return 0;
    case ARGP_KEY_ARG:
        if (o->config) argp_error(state, "one config at a time; \"%s\" is one too many", arg);
        o->config = arg;
        return 0;
    case ARGP_KEY_END:
        if (!o->config) argp_error(state, "which config? for example configs/quickstart.yaml");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static void print_ec(const spot_ec *ec)
{
    char layers[80] = "background", text[512];

    for (int k = SPOT_SQUARE; k < SPOT_LAYERS; k++)
        if (ec->layer[k]) {
            size_t n = strlen(layers);
            snprintf(layers + n, sizeof layers - n, " %s", spot_layer_name((spot_layer)k));
        }
    if (ec->photos) printf("%4u            ", ec->index);
    else printf("%4u  %8d  ", ec->index, ec->rollable_count);
    printf("%7d  %6d  %6d  %s\n", ec->images[SPOT_TRAIN], ec->images[SPOT_VAL], ec->images[SPOT_TEST],
           ec->photos ? spot_ec_task(ec) : layers);
    for (int m = 0; m < ec->blindspot_count; m++) {
        spot_ec_describe(text, sizeof text, ec, m);
        printf("      blindspot %d: %s\n", m, text);
    }
}

enum { SHOWN = 100 };          /* ECs that are worth a look */

static spot_status print_source(spot_ctx *c, const options *o, const spot_config *cfg, const spot_source *source)
{
    int n = o->sweep.limit && o->sweep.limit < cfg->ecs ? o->sweep.limit : cfg->ecs, from, to;
    const char *comma = "";
    char json[16384];
    spot_ec ec;

    if (o->json) printf("{\"schema\":1,\"ecs\":[");
    else if (source->photos) printf("  EC              train     val    test  task\n");
    else printf("  EC  rollable    train     val    test  layers\n");
    spot_shard_range(&from, &to, o->sweep.shard, o->sweep.shards, n);
    for (int i = from; i < to; i++) {
        SPOT_TRY(spot_check_stop(c));
        if (!o->json && i - from == SHOWN) {
            printf(" ...  and %d more; --json has them all\n", to - i);
            break;
        }
        SPOT_TRY(spot_source_ec(c, &ec, source, (uint32_t)i));
        if (!o->json) { print_ec(&ec); continue; }
        SPOT_TRY(spot_ec_json(c, json, sizeof json, &ec));
        printf("%s\n%s", comma, json);
        comma = ",";
    }
    if (o->json) printf("],\n");
    return SPOT_OK;
}

/* "methods  planespot-pca 0.31 s, spotlight 12 s", the mean of the ECs, in lines of at most 100 columns. */
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

static spot_status print_ecs(spot_ctx *c, const options *o, const spot_config *cfg)
{
    spot_source source;
    spot_status s = spot_source_open(c, &source, cfg);

    if (!s) s = print_source(c, o, cfg, &source);
    spot_source_close(&source);
    return s;
}

static double cores(void) { return (double)sysconf(_SC_NPROCESSORS_ONLN); }

/* Of the last minute: programs that compute, or would if they could. */
static double load(void)
{
    double of[1];

    return getloadavg(of, 1) == 1 ? of[0] : 0;
}

static void print_json_cost(const spot_config *cfg, const spot_sweep_cost *cost, double busy)
{
    printf("\"memory_bytes\":%zu,\"device_memory_bytes\":%zu,\"disk_bytes\":%.0f,\"album_bytes\":%.0f,\"wave\":%d,"
           "\"images\":%.0f,\"load\":%.2f,", cost->memory, cost->device_memory, cost->disk, cost->album, cost->wave,
           cost->images, busy);
    if (!isfinite(cost->seconds)) {
        printf("\"seconds\":null,\"cpu_seconds\":null}\n");
        return;
    }
    printf("\"seconds\":%.1f,\"cpu_seconds\":%.1f,\"calibration_seconds\":%.1f,\"start_seconds\":%.2f,"
           "\"training_seconds\":%.2f,\"picture_seconds\":%.2f,\"method_seconds\":[", cost->seconds, cost->cpu_seconds,
           cost->calibration, cost->start, cost->training, cost->pictures);
    for (int b = 0; b < cfg->bdms; b++) printf("%s%.2f", b ? "," : "", cost->method[b]);
    printf("]}\n");
}

#define TASK 2400.0                /* seconds: tasks of 20 to 60 minutes are what schedulers like */

static void print_time(spot_ctx *c, const options *o, const spot_sweep_cost *cost, double busy)
{
    double ecs = cost->seconds - cost->start;
    int shards = (int)fmin(round(ecs / TASK), cost->ecs);
    char time[32], cpu[32], task[32];

    printf("time    %s on %s with %d threads (%s of processor time), from a calibration of %.0f s\n",
           cli_duration(time, cost->seconds), spot_ctx_device_name(c), c->threads, cli_duration(cpu, cost->cpu_seconds),
           cost->calibration);
    if (o->sweep.shards == 1 && shards > 1)
        printf("shards  about %s a task in an array of %d\n", cli_duration(task, cost->start + ecs / cost->ecs
               * ceil((double)cost->ecs / shards)), shards);
    if (busy > cores())
        spot_log(c, SPOT_LOG_WARN, "the load average is %.1f: others compute here, too, and the time is what it takes beside "
                 "them; ask again when it is quiet", busy);
}

static void print_cost(spot_ctx *c, const options *o, const spot_config *cfg, const spot_sweep_cost *cost, double busy)
{
    const char *made = cost->album > 0 ? "read" : "rendered";
    char memory[32], device[32], disk[32];

    if (o->json) {
        print_json_cost(cfg, cost, busy);
        return;
    }
    print_methods(cfg, cost);
    printf("memory  %s", cli_memory(memory, (double)cost->memory));
    if (cost->device_memory)
        printf(", device %s for waves of %d ECs", cli_memory(device, (double)cost->device_memory), cost->wave);
    printf("\ndisk    about %s for the run directory", cli_memory(disk, cost->disk));
    if (o->sweep.keep == SPOT_KEEP_ALL && cost->disk > 1e10) printf(" (less with --keep views or --keep results)");
    if (cost->album > 0) printf(", %s of it the pixels of all pictures", cli_memory(disk, cost->album));
    printf("\n");
    if (cost->images < 1e6) printf("images  %.0f %s and trained on, all epochs\n", cost->images, made);
    else printf("images  %.1f million %s and trained on, all epochs\n", cost->images / 1e6, made);
    if (isfinite(cost->seconds)) print_time(c, o, cost, busy);
}

int cli_plan(int argc, char **argv)
{
    static const struct argp_child children[] = { { &cli_machine_argp, 0, NULL, 0 }, { 0 } };
    static const struct argp argp = { table, option, "CONFIG",
        "Shows every experimental configuration (EC) that a sweep would draw, and the memory and time that it would take."
        "\n\nExamples:\n"
        "  spotter plan configs/paper_synthetic.yaml --limit 5\n"
        "  spotter plan configs/quickstart.yaml --json --quick", children, NULL, NULL };
    options o = { .sweep = { .shards = 1, .pictures = true } };
    double busy = load();
    spot_sweep_cost cost;
    static spot_config cfg;
    spot_ctx c;
    spot_status s;

    cli_parse(&argp, argc, argv, &o);
    s = cli_open(&c, &o.machine);
    if (s == SPOT_OK) s = cli_config(&c, &cfg, o.config);
    if (s == SPOT_OK) s = print_ecs(&c, &o, &cfg);
    fflush(stdout);
    if (s == SPOT_OK && !o.quick) cli_say_device(&c, &o.machine);
    if (s == SPOT_OK && !o.quick) spot_log(&c, SPOT_LOG_INFO, "calibrating; --quick leaves this out");
    c.on_progress = NULL;      /* the batches that are timed are no step of a sweep */
    if (s == SPOT_OK) s = spot_sweep_cost_of(&c, &cfg, &o.sweep, &cost, !o.quick);
    if (s == SPOT_OK) print_cost(&c, &o, &cfg, &cost, busy);
    return cli_close(&c, s);
}
