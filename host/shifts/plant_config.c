/* plant_config.c - a config that asks for a planted world: makes it and fills in where its parts are; compares results with the
 * truth about it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shifts/plant_make.h"
#include "shifts/shift_encoding.h"
#include "spotter/shifts.h"
#include "study/config_files.h"

enum { MOST_PATH = 400 };                  /* of the world's folder, so that its files fit into a config */

/* -- before the run ------------------------------------------------------------------------------------------------ */

static int model_called(const spot_shifts_config *cfg, const char *name)
{
    for (int m = 0; m < cfg->models; m++)
        if (!strcmp(cfg->model[m].name, name)) return m;
    return -1;
}

static spot_status keep_text(spot_ctx *c, spot_shifts_config *cfg, const char **to, const char *text)
{
    *to = spot_memory_text(&cfg->memory, text);
    return *to ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the models of a config");
}

/* A config's text takes 511 bytes. */
static spot_status set_path(spot_ctx *c, spot_shifts_config *cfg, const char **to, const char *dir, const char *name)
{
    char path[512];

    if (snprintf(path, sizeof path, "%s%s", dir, name) < (int)sizeof path) return keep_text(c, cfg, to, path);
    return spot_fail(c, SPOT_USAGE, "the path %.60s... is too long", dir);
}

/* A model that the config has already, as that of a finished run, keeps its place. */
static spot_status fill_model(spot_ctx *c, spot_shifts_config *cfg, const char *dir, int k)
{
    const spot_plant_recipe r = spot_plant_recipe_of(&cfg->plant, k);
    int at = model_called(cfg, r.name);
    spot_shift_model *m;
    char path[SPOT_PLANT_PATH];

    if (at < 0 && cfg->models == SPOT_MAX_SHIFT_MODELS)
        return spot_fail(c, SPOT_USAGE, "the planted models and those of the config are more than %d", SPOT_MAX_SHIFT_MODELS);
    m = &cfg->model[at < 0 ? cfg->models++ : at];
    *m = (spot_shift_model){ .predictions = "", .crop = cfg->plant.size };
    spot_plant_model_path(path, dir, &r);
    SPOT_TRY(keep_text(c, cfg, &m->name, r.name));
    SPOT_TRY(set_path(c, cfg, &m->weights, path, ""));
    return set_path(c, cfg, &m->classes, dir, "/classes.txt");
}

/* Fills in where the world's parts will be. */
static spot_status fill_config(spot_ctx *c, spot_shifts_config *cfg, const char *dir)
{
    SPOT_TRY(set_path(c, cfg, &cfg->data.root, dir, "/pictures"));
    SPOT_TRY(set_path(c, cfg, &cfg->filter.oracle, dir, "/plant.csv"));
    cfg->data.real = spot_plant_set_name(SPOT_PLANT_REAL);
    cfg->source = spot_memory_take(&cfg->memory, 2 * sizeof *cfg->source);
    cfg->model = spot_memory_longer(&cfg->memory, cfg->model, sizeof *cfg->model, cfg->models, cfg->plant.models);
    if (!cfg->source || !cfg->model) return spot_fail(c, SPOT_NOMEM, "no memory for the models of a config");
    cfg->sources = 2;
    for (int k = 0; k < 2; k++) cfg->source[k].name = spot_plant_set_name((spot_plant_set)k);
    for (int k = 0; k < cfg->plant.models; k++) SPOT_TRY(fill_model(c, cfg, dir, k));
    return SPOT_OK;
}

static spot_status check_encoder(spot_ctx *c, const spot_shifts_config *cfg)
{
    spot_shift_encoding e;
    const spot_status s = spot_shift_encoding_open(c, &e, cfg, NULL, NULL, NULL);

    spot_shift_encoding_close(c, &e);
    return s;
}

spot_status spot_shifts_planted(spot_ctx *c, spot_shifts_config *cfg, const char *out)
{
    char dir[MOST_PATH];

    if (!cfg->plant.pictures) return SPOT_OK;
    if (snprintf(dir, sizeof dir, "%s/plant", out) >= (int)sizeof dir)
        return spot_fail(c, SPOT_USAGE, "the name of the folder %.40s... is too long", out);
    SPOT_TRY(fill_config(c, cfg, dir));
    SPOT_TRY(spot_config_files_check(c, spot_shifts_settings, cfg, dir));
    SPOT_TRY(check_encoder(c, cfg));
    return spot_shifts_plant(c, dir, &cfg->plant);
}

/* -- after the run ------------------------------------------------------------------------------------------------- */

/* The planted shift with the folder of shift s; 0: it is none of them. */
static int planted_shift(const spot_shifts_config *cfg, int s)
{
    char name[64];

    snprintf(name, sizeof name, "%s", cfg->shift[s].folder[0] ? cfg->shift[s].folder : cfg->shift[s].name);
    for (char *p = name; *p; p++)
        if (*p == ' ' && !cfg->shift[s].folder[0]) *p = '_';
    for (int k = cfg->plant.shifts; k > 0; k--)
        if (!strcmp(spot_plant_shift_about((spot_plant_shift)k)->folder, name)) return k;
    return 0;
}

/* The mean of |a - b| over the pairs of which both are numbers. */
typedef struct { double sum; int n; } gap_mean;

static void add_gap(gap_mean *m, double a, double b)
{
    if (!isfinite(a - b)) return;
    m->sum += fabs(a - b);
    m->n++;
}

static spot_plant_error compare_set(const spot_shifts_config *cfg, const spot_shift_estimates *set, const spot_plant_truth *t)
{
    gap_mean impact = { 0, 0 }, slope = { 0, 0 };

    for (int s = 0; s < set->shifts; s++) {
        int k = planted_shift(cfg, s);
        if (!k) continue;
        add_gap(&impact, set->shift[s].impact.value, t->impact[k]);
        add_gap(&slope, set->shift[s].slope.value, t->slope[k]);
    }
    return (spot_plant_error){ impact.n, slope.n, impact.n ? impact.sum / impact.n : NAN, slope.n ? slope.sum / slope.n : NAN };
}

spot_status spot_plant_compare(spot_ctx *c, spot_plant_error (*e)[SPOT_SHIFT_SETS], const spot_shifts_results *r,
                               const char *out)
{
    const spot_shifts_config *cfg = r->cfg;
    spot_plant_truth *t = malloc(sizeof *t);
    char dir[MOST_PATH];
    spot_status s = t ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the truth about planted models");

    snprintf(dir, sizeof dir, "%.380s/plant", out);
    if (!s) s = spot_plant_truth_read(c, t, dir, &cfg->plant);
    for (int v = 0; v < r->sources && !s; v++)
        for (int k = 0; k < SPOT_SHIFT_SETS; k++) e[v][k] = compare_set(cfg, &r->source[v].set[k], t);
    free(t);
    return s;
}
