/* plan_studies.c - what a study of backgrounds, an examination or a study of shifts works on, its memory, disk and time. */
#include "cli/plan_studies.h"

#include <math.h>
#include <stdio.h>

#include "spotter/background.h"
#include "spotter/examine.h"
#include "spotter/shifts.h"

/* ---- a study of backgrounds ---- */

static void text_background(const spot_ctx *c, const spot_background_config *cfg, const spot_background_cost *cost,
                            const spot_background_time *t)
{
    char memory[32], disk[32], time[32], work[32];
    const int threads = c->threads;

    for (int k = -1; k < cfg->variants; k++) {
        const spot_background_variant *v = k < 0 ? NULL : &cfg->variant[k];
        printf("%-24s %s, N %d, %d %% of the targets, kernel %d, sigma %g, seed %llu\n", v ? v->name : "the config's own",
               spot_background_choice_name(v ? v->suite.choice : cfg->suite.choice), v ? v->suite.n : cfg->suite.n,
               v ? v->data.part : cfg->data.part, v ? v->measure.kernel : cfg->measure.kernel,
               v ? v->measure.sigma : cfg->measure.sigma, (unsigned long long)(v ? v->suite.seed : cfg->suite.seed));
    }
    printf("\nmodels    %d, up to %d targets, %d backgrounds\n", cost->units, cost->targets, cost->backgrounds);
    if (cost->trained > 0)
        printf("training  %.2f million pictures of %d pixels a side, all epochs: %.1f million million multiplications\n"
               "world     %s of memory while it is made on %d thread%s\n", cost->trained / 1e6, cfg->zoo.size,
               cost->multiplied / 1e12, cli_memory(memory, (double)cost->world), threads, threads == 1 ? "" : "s");
    printf("looks     at most %.2f million pictures for all models and settings\n", cost->looks / 1e6);
    printf("memory    %s for the whole process\n", cli_memory(memory, (double)cost->memory));
    printf("disk      about %s of results\n", cli_memory(disk, cost->disk));
    if (isfinite(t->seconds))
        printf("time      %s on %s with %d threads (%s of processor time), without programs that predict, from a calibration "
               "of %.0f s\n", cli_duration(time, t->seconds), spot_ctx_device_name(c), threads,
               cli_duration(work, t->processor), t->calibration);
}

static spot_status json_background(spot_ctx *c, const spot_background_cost *cost, const spot_background_time *t)
{
    spot_json j;

    SPOT_TRY(spot_json_open(c, &j));
    spot_json_put_int(&j, "schema", 1);
    spot_json_put_text(&j, "study", "background");
    spot_json_put_int(&j, "models", cost->units);
    spot_json_put_int(&j, "runs", cost->runs);
    spot_json_put_int(&j, "targets", cost->targets);
    spot_json_put_int(&j, "backgrounds", cost->backgrounds);
    spot_json_put_number(&j, "looks", "%.0f", cost->looks);
    spot_json_put_number(&j, "trained", "%.0f", cost->trained);
    spot_json_put_number(&j, "multiplications", "%.0f", cost->multiplied);
    spot_json_put_number(&j, "disk_bytes", "%.0f", cost->disk);
    spot_json_put_int(&j, "memory_bytes", (long long)cost->memory);
    spot_json_put_int(&j, "world_memory_bytes", (long long)cost->world);
    spot_json_put_number(&j, "seconds", "%.1f", t->seconds);               /* null without a calibration */
    spot_json_put_number(&j, "cpu_seconds", "%.1f", t->processor);
    spot_json_put_number(&j, "calibration_seconds", "%.1f", t->calibration);
    spot_json_print(&j, stdout);
    return SPOT_OK;
}

spot_status cli_plan_background(spot_ctx *c, const cli_plan *o, const char *text, size_t len)
{
    spot_background_config cfg;
    spot_background_cost cost;
    spot_background_time time = { NAN, NAN, NAN };
    spot_status s = spot_background_parse(c, &cfg, text, len, o->config);

    if (s == SPOT_OK) s = spot_background_cost_of(c, &cfg, &cost);
    if (s == SPOT_OK && !o->quick) {
        spot_log(c, SPOT_LOG_INFO, "calibrating; --quick skips this");
        s = spot_background_time_of(c, &cfg, &cost, &time);
    }
    if (s == SPOT_OK && o->json) s = json_background(c, &cost, &time);
    else if (s == SPOT_OK) text_background(c, &cfg, &cost, &time);
    spot_memory_close(&cfg.memory);
    return s;
}

/* ---- an examination ---- */

static void text_examine(const spot_ctx *c, const spot_examine_config *cfg, const spot_examine_cost *cost,
                         const spot_examine_time *t)
{
    char memory[32], disk[32], time[32], work[32];

    printf("models     %d\nexaminers  %d, each with %d seed%s\n", cfg->models, cfg->examiners, cfg->search.seeds,
           cfg->search.seeds == 1 ? "" : "s");
    printf("objects    %d\nsearches   %d\n", cost->objects, cost->units);
    if (cost->trained > 0) printf("training   %.0f renders of %d pixels a side, all passes\n", cost->trained, cfg->render.size);
    printf("renders    %.0f in searches, %.0f for maps of failures\n", cost->renders, cost->maps);
    printf("memory     %s for the whole process, beside meshes\n", cli_memory(memory, (double)cost->memory));
    printf("disk       about %s of results\n", cli_memory(disk, cost->disk));
    if (isfinite(t->seconds))
        printf("time       %s on %s with %d threads (%s of processor time), without programs that predict, from a calibration "
               "of %.0f s\n", cli_duration(time, t->seconds), spot_ctx_device_name(c), c->threads,
               cli_duration(work, t->processor), t->calibration);
}

static spot_status json_examine(spot_ctx *c, const spot_examine_config *cfg, const spot_examine_cost *cost,
                                const spot_examine_time *t)
{
    spot_json j;

    SPOT_TRY(spot_json_open(c, &j));
    spot_json_put_int(&j, "schema", 1);
    spot_json_put_text(&j, "study", "examine");
    spot_json_put_int(&j, "models", cfg->models);
    spot_json_put_int(&j, "objects", cost->objects);
    spot_json_put_int(&j, "searches", cost->units);
    spot_json_put_number(&j, "renders", "%.0f", cost->renders);
    spot_json_put_number(&j, "maps", "%.0f", cost->maps);
    spot_json_put_number(&j, "trained", "%.0f", cost->trained);
    spot_json_put_number(&j, "disk_bytes", "%.0f", cost->disk);
    spot_json_put_int(&j, "memory_bytes", (long long)cost->memory);
    spot_json_put_number(&j, "seconds", "%.1f", t->seconds);               /* null without a calibration */
    spot_json_put_number(&j, "cpu_seconds", "%.1f", t->processor);
    spot_json_put_number(&j, "calibration_seconds", "%.1f", t->calibration);
    spot_json_print(&j, stdout);
    return SPOT_OK;
}

spot_status cli_plan_examine(spot_ctx *c, const cli_plan *o, const char *text, size_t len)
{
    spot_examine_config cfg;
    spot_examine_cost cost;
    spot_examine_time time = { NAN, NAN, NAN };
    spot_status s = spot_examine_parse(c, &cfg, text, len, o->config);

    if (s == SPOT_OK) s = spot_examine_cost_of(c, &cfg, &cost);
    if (s == SPOT_OK && !o->quick) {
        spot_log(c, SPOT_LOG_INFO, "calibrating; --quick skips this");
        s = spot_examine_time_of(c, &cfg, &cost, &time);
    }
    if (s == SPOT_OK && o->json) s = json_examine(c, &cfg, &cost, &time);
    else if (s == SPOT_OK) text_examine(c, &cfg, &cost, &time);
    spot_memory_close(&cfg.memory);
    return s;
}

/* ---- a study of shifts ---- */

static void text_shifts(const spot_ctx *c, const spot_shifts_cost *cost, double seconds, double calibration)
{
    char memory[32], disk[32], time[32];

    printf("folders   %d with %d pictures of %d classes\nmodels    %d\n", cost->units, cost->pictures, cost->classes,
           cost->models);
    printf("memory    %s for the whole process\n", cli_memory(memory, (double)cost->memory));
    printf("disk      about %s for the run directory\n", cli_memory(disk, cost->disk));
    if (isfinite(seconds))
        printf("time      %s on %s with %d threads, from a calibration of %.0f s\n", cli_duration(time, seconds),
               spot_ctx_device_name(c), c->threads, calibration);
}

static spot_status json_shifts(spot_ctx *c, const spot_shifts_cost *cost, double seconds, double calibration)
{
    spot_json j;

    SPOT_TRY(spot_json_open(c, &j));
    spot_json_put_int(&j, "schema", 1);
    spot_json_put_text(&j, "study", "shifts");
    spot_json_put_int(&j, "folders", cost->units);
    spot_json_put_int(&j, "pictures", cost->pictures);
    spot_json_put_int(&j, "classes", cost->classes);
    spot_json_put_int(&j, "models", cost->models);
    spot_json_put_number(&j, "disk_bytes", "%.0f", cost->disk);
    spot_json_put_int(&j, "memory_bytes", (long long)cost->memory);
    spot_json_put_number(&j, "seconds", "%.1f", seconds);                  /* null without a calibration */
    spot_json_put_number(&j, "calibration_seconds", "%.1f", calibration);
    spot_json_print(&j, stdout);
    return SPOT_OK;
}

spot_status cli_plan_shifts(spot_ctx *c, const cli_plan *o, const char *text, size_t len)
{
    spot_shifts_config cfg;
    spot_shifts_cost cost;
    double seconds = NAN, calibration = NAN;
    spot_status s = spot_shifts_parse(c, &cfg, text, len, o->config);

    if (s == SPOT_OK) s = spot_shifts_cost_of(c, &cfg, &cost);
    if (s == SPOT_OK && !o->quick) {
        spot_log(c, SPOT_LOG_INFO, "calibrating; --quick skips this");
        s = spot_shifts_time_of(c, &cfg, &cost, &seconds, &calibration);
    }
    if (s == SPOT_OK && o->json) s = json_shifts(c, &cost, seconds, calibration);
    else if (s == SPOT_OK) text_shifts(c, &cost, seconds, calibration);
    spot_memory_close(&cfg.memory);
    return s;
}
