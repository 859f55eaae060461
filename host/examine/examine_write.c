/* examine_write.c - examine.json, one object with every number, and examine.csv, a line for each search and point of its
 * curve. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "examine/examine_study.h"
#include "examine/failure_parts.h"

/* ---- settings ---- */

static const char *const modes[] = { "weakness", "strength" };

static void put_factors(spot_json *j, const spot_factor_space *s)
{
    spot_json_array(j, "factors", s->dims, s->dims);
    for (int d = 0; d < s->dims; d++) {
        spot_json_object(j, NULL);
        spot_json_put_text(j, "factor", spot_factor_label(s->factor[d]));
        spot_json_put_text(j, "unit", spot_factor_unit(s->factor[d]));
        spot_json_put_real(j, "least", s->least[d]);
        spot_json_put_real(j, "most", s->most[d]);
        spot_json_end(j);
    }
    spot_json_end(j);
}

static void put_settings(spot_json *j, const spot_examine_results *r)
{
    const spot_examine_config *cfg = r->cfg;

    spot_json_object(j, "settings");
    spot_json_put_int(j, "size", cfg->render.size);
    spot_json_put_int(j, "samples", cfg->render.samples);
    spot_json_put_real(j, "sun_scale", cfg->render.sun_scale);
    spot_json_put_real(j, "lamp_scale", cfg->render.lamp_scale);
    spot_json_put_real(j, "exposure", cfg->render.exposure);
    spot_json_put_int(j, "renders_of_an_object", cfg->search.renders);
    spot_json_put_int(j, "of_them_to_test_a_weakness", cfg->search.perturbed);
    spot_json_put_real(j, "perturb", cfg->search.perturb);
    spot_json_put_int(j, "window", cfg->search.window);
    spot_json_put_int(j, "seeds", cfg->search.seeds);
    spot_json_put_int(j, "seed", (long long)cfg->search.seed);
    spot_json_put_text(j, "mode", modes[cfg->search.mode == SPOT_MODE_STRENGTH]);
    put_factors(j, &r->space);
    spot_json_end(j);
}

/* ---- results ---- */

static void put_line(spot_json *j, const spot_examine_line *l)
{
    spot_json_object(j, NULL);
    spot_json_put_int(j, "renders", l->renders);
    spot_json_put_interval(j, "mean", l->mean);
    spot_json_put_interval(j, "lowest", l->lowest);
    spot_json_put_interval(j, "lowest_valid", l->lowest_valid);
    spot_json_put_interval(j, "robust", l->robust);
    spot_json_put_real(j, "valid", l->valid);
    if (isfinite(l->inside.value)) spot_json_put_interval(j, "inside", l->inside);
    spot_json_end(j);
}

static void put_summary(spot_json *j, const spot_examine_results *r, const spot_examine_summary *s)
{
    spot_json_object(j, NULL);
    spot_json_put_text(j, "model", r->cfg->model[s->model].name);
    spot_json_put_text(j, "examiner", spot_examine_label(&r->cfg->examiner[s->examiner]));
    spot_json_put_int(j, "objects", s->objects);
    spot_json_put_int(j, "seeds", s->seeds);
    spot_json_put_real(j, "mean_of_random_renders", s->start);
    if (r->cfg->model[s->model].limits) {
        spot_json_put_int(j, "learned_the_region", s->learned);
        spot_json_put_int(j, "found_the_region", s->found);
    }
    spot_json_array(j, "curve", s->points, s->points);
    for (int k = 0; k < s->points; k++) put_line(j, &s->line[k]);
    spot_json_end(j);
    spot_json_end(j);
}

const char *spot_examine_class(const spot_examine_config *cfg, int cls)
{
    for (int i = 0; i < cfg->classes; i++)
        if (!cfg->cls[i].leave && !cls--) return cfg->cls[i].name;
    return "";
}

static void put_point(spot_json *j, const spot_examine_point *p)
{
    spot_json_object(j, NULL);
    spot_json_put_int(j, "renders", p->renders);
    spot_json_put_int(j, "asked", p->asked);
    spot_json_put_real(j, "mean", p->mean);
    spot_json_put_real(j, "lowest", p->lowest);
    spot_json_put_real(j, "lowest_valid", p->lowest_valid);
    spot_json_put_real(j, "robust", p->robust);
    spot_json_put_real(j, "valid", p->valid);
    if (isfinite(p->inside)) spot_json_put_real(j, "inside", p->inside);
    spot_json_end(j);
}

static void put_unit(spot_json *j, const spot_examine_results *r, const spot_examine_result *u)
{
    spot_json_object(j, NULL);
    spot_json_put_int(j, "unit", u->index);
    spot_json_put_text(j, "model", r->cfg->model[u->model].name);
    spot_json_put_text(j, "examiner", spot_examine_label(&r->cfg->examiner[u->examiner]));
    spot_json_put_int(j, "seed", u->seed);
    spot_json_put_text(j, "class", spot_examine_class(r->cfg, u->cls));
    spot_json_put_text(j, "object", u->object);
    spot_json_put_text(j, "title", u->title);
    spot_json_put_text(j, "licence", u->licence);
    spot_json_put_text(j, "author", u->author);
    spot_json_put_text(j, "identity", u->identity);
    spot_json_put_real(j, "mean_of_random_renders", u->start);
    if (u->learned >= 0) {
        spot_json_put_int(j, "learned", u->learned);
        spot_json_put_real(j, "accuracy_outside", u->outside);
        spot_json_put_real(j, "accuracy_inside", u->inside);
    }
    spot_json_array(j, "curve", u->points, u->points);
    for (int k = 0; k < u->points; k++) put_point(j, &u->point[k]);
    spot_json_end(j);
    spot_json_object(j, "lowest_at");
    for (int f = 0; f < SPOT_FACTORS; f++) spot_json_put_real(j, spot_factor_label(f), u->lowest_at[f]);
    spot_json_end(j);
    spot_json_end(j);
}

static spot_status write_json(spot_ctx *c, const spot_examine_results *r, const char *dir, const char *key)
{
    char path[SPOT_EXAMINE_PATH];
    spot_json j = { 0 };
    spot_status s;

    snprintf(path, sizeof path, "%s/examine.json", dir);
    SPOT_TRY(spot_json_begin(c, &j, " "));
    spot_json_object(&j, NULL);
    spot_json_put_int(&j, "schema", 1);
    spot_json_put_text(&j, "config", key);
    spot_json_put_int(&j, "numbers", SPOT_EXAMINE_NUMBERS);
    put_settings(&j, r);
    spot_json_array(&j, "summaries", r->summaries, r->summaries);
    for (int i = 0; i < r->summaries; i++) put_summary(&j, r, &r->summary[i]);
    spot_json_end(&j);
    spot_json_array(&j, "searches", r->units, r->units);
    for (int u = 0; u < r->units; u++) put_unit(&j, r, &r->unit[u]);
    spot_json_end(&j);
    spot_json_end(&j);
    s = spot_json_whole(c, &j, path);
    if (s == SPOT_OK) s = spot_file_write(c, path, j.out.bytes, j.out.used);
    spot_json_free(&j);
    return s;
}

/* ---- the table ---- */

/* An empty cell for NaN. */
static void put_cell(FILE *f, double v)
{
    char text[32];

    fputc(',', f);
    if (isfinite(v)) fputs(spot_digits(text, v, 1), f);
}

static void write_line(FILE *f, const spot_examine_results *r, const spot_examine_result *u, const spot_examine_point *p)
{
    const double cell[] = { p->mean, p->lowest, p->lowest_valid, p->robust, p->valid, p->inside };

    spot_csv_field(f, r->cfg->model[u->model].name);
    fputc(',', f);
    spot_csv_field(f, spot_examine_label(&r->cfg->examiner[u->examiner]));
    fprintf(f, ",%d,", u->seed);
    spot_csv_field(f, spot_examine_class(r->cfg, u->cls));
    fputc(',', f);
    spot_csv_field(f, u->object);
    fprintf(f, ",%d,%d", p->renders, p->asked);
    for (size_t i = 0; i < sizeof cell / sizeof *cell; i++) put_cell(f, cell[i]);
    if (u->learned >= 0) fprintf(f, ",%d\n", u->learned);
    else fputs(",\n", f);
}

static bool write_lines(FILE *f, const void *user)
{
    const spot_examine_results *r = user;

    fputs("model,examiner,seed,class,object,renders,asked,mean,lowest,lowest_valid,robust,valid,inside,learned\n", f);
    for (int u = 0; u < r->units; u++)
        for (int k = 0; k < r->unit[u].points; k++) write_line(f, r, &r->unit[u], &r->unit[u].point[k]);
    return !ferror(f);
}

spot_status spot_examine_write(spot_ctx *c, const spot_study *y, const char *dir, const char *key)
{
    char path[SPOT_EXAMINE_PATH];
    spot_examine_results r;
    spot_status s = spot_examine_collect(c, y, &r, dir);

    snprintf(path, sizeof path, "%s/examine.csv", dir);
    if (s == SPOT_OK) {
        s = spot_file_fill(c, path, write_lines, &r);
        if (s == SPOT_OK) s = write_json(c, &r, dir, key);
        if (s == SPOT_OK) s = spot_failures_write(c, &r, dir, key);
    } else if (r.missing) {
        spot_forget(c);
        s = SPOT_OK;
    }
    spot_examine_close(&r);
    return s;
}
