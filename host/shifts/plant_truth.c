/* plant_truth.c - the true accuracies of the planted models, from pictures that are all right and are never written. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/greatest.h"
#include "base/text.h"
#include "formats/formats.h"
#include "models/network.h"
#include "shifts/plant_make.h"

/* -- measuring ----------------------------------------------------------------------------------------------------- */

typedef struct {
    const spot_plant_config *cfg;
    int         n, sets;           /* pictures of a set: classes * truth, class by class; sets: 1 + shifts */
    uint8_t    *rgb;               /* (sets, n, size, size, 3) */
    float      *logit;             /* (n, classes) */
    spot_plant_picture *picture;   /* (n): of one set */
    int        *right;             /* (models, 1 + shifts, classes) */
} measurer;

static int *right_at(const measurer *m, int model, int shift, int cls)
{
    return &m->right[(model * m->sets + shift) * m->cfg->classes + cls];
}

static spot_status take_arrays(spot_ctx *c, measurer *m)
{
    const spot_plant_config *cfg = m->cfg;
    size_t n = (size_t)cfg->truth * (size_t)cfg->classes;

    m->n = (int)n, m->sets = 1 + cfg->shifts;
    m->rgb = malloc((size_t)m->sets * n * 3 * (size_t)cfg->size * (size_t)cfg->size);
    m->logit = malloc(n * (size_t)cfg->classes * sizeof *m->logit);
    m->picture = malloc(n * sizeof *m->picture);
    m->right = calloc((size_t)(cfg->models * m->sets * cfg->classes), sizeof *m->right);
    if (m->rgb && m->logit && m->picture && m->right) return SPOT_OK;
    return spot_fail(c, SPOT_NOMEM, "no memory for %d planted pictures", m->sets * m->n);
}

static void close_measurer(measurer *m)
{
    free(m->right);
    free(m->picture);
    free(m->logit);
    free(m->rgb);
}

static uint8_t *set_at(const measurer *m, int set)
{
    return m->rgb + (size_t)set * (size_t)m->n * 3 * (size_t)m->cfg->size * (size_t)m->cfg->size;
}

static spot_status draw_sets(spot_ctx *c, const measurer *m)
{
    const spot_plant_config *cfg = m->cfg;

    for (int set = 0; set < m->sets; set++) {
        for (int i = 0; i < m->n; i++)
            spot_plant_draw(&m->picture[i], cfg, SPOT_PLANT_TRUTH, (spot_plant_shift)set, i / cfg->truth,
                            (uint32_t)(i % cfg->truth));
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(spot_plant_render(c, set_at(m, set), m->picture, m->n, cfg));
    }
    return SPOT_OK;
}

static void count_right(const measurer *m, int model, int set)
{
    const int classes = m->cfg->classes;

    for (int i = 0; i < m->n; i++) {
        const int cls = i / m->cfg->truth;
        *right_at(m, model, set, cls) += spot_first_greatest(m->logit + (size_t)i * (size_t)classes, classes) == cls;
    }
}

/* One network, open for all sets. */
static spot_status ask_network(spot_ctx *c, const measurer *m, spot_look_pixels *net, int model)
{
    for (int set = 0; set < m->sets; set++) {
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(spot_look_pixels_run(c, net, m->logit, NULL, NULL, set_at(m, set), m->n));
        count_right(m, model, set);
        spot_tell(c, "plant: truth", -1, model * m->sets + set + 1, m->sets * m->cfg->models, "");
    }
    return SPOT_OK;
}

static spot_status ask_model(spot_ctx *c, const measurer *m, const char *dir, int model)
{
    const spot_plant_config *cfg = m->cfg;
    const spot_plant_recipe r = spot_plant_recipe_of(cfg, model);
    const spot_look_rule rule = { .size = cfg->size, .pictures = m->n };
    spot_look_pixels net = { 0 };
    spot_arena a = spot_arena_counting();
    char path[SPOT_PLANT_PATH];
    spot_model loaded;
    spot_status s;

    spot_plant_model_path(path, dir, &r);
    SPOT_TRY(spot_model_load(c, &a, &loaded, path, cfg->classes, 0));
    SPOT_TRY(spot_arena_open(c, &a, a.peak));
    s = spot_model_load(c, &a, &loaded, path, cfg->classes, 0);
    if (!s) s = spot_look_pixels_open(c, &net, &loaded, &rule);
    spot_arena_close(&a);
    if (!s) s = ask_network(c, m, &net, model);
    spot_look_pixels_close(c, &net);
    return s;
}

/* The pictures of all sets are drawn first, so that each network is opened once. */
static spot_status measure(spot_ctx *c, const measurer *m, const char *dir)
{
    spot_status s = draw_sets(c, m);

    for (int k = 0; k < m->cfg->models && !s; k++) s = ask_model(c, m, dir, k);
    return s;
}

static spot_status write_truth(spot_ctx *c, const measurer *m, const char *path)
{
    const spot_plant_config *cfg = m->cfg;
    spot_text text = { 0 };
    FILE *f = spot_text_stream(&text);
    spot_status s = f ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for %s", path);

    if (f) fputs("model,shift,class,pictures,right\n", f);
    for (int i = 0; f && i < cfg->models * (1 + cfg->shifts) * cfg->classes; i++) {
        const spot_plant_recipe r = spot_plant_recipe_of(cfg, i / cfg->classes / (1 + cfg->shifts));
        fprintf(f, "%s,%s,%s,%d,%d\n", r.name,
                spot_plant_shift_about((spot_plant_shift)(i / cfg->classes % (1 + cfg->shifts)))->folder,
                spot_plant_class_name(i % cfg->classes), cfg->truth, m->right[i]);
    }
    if (f && (fclose(f) || text.status)) s = spot_fail(c, SPOT_NOMEM, "no memory for %s", path);
    if (!s) s = spot_file_write(c, path, text.bytes, text.used);
    spot_text_free(&text);
    return s;
}

spot_status spot_plant_measure(spot_ctx *c, const char *dir, const spot_plant_config *cfg)
{
    measurer *m;
    char path[SPOT_PLANT_PATH];
    spot_status s;

    snprintf(path, sizeof path, "%s/truth.csv", dir);
    if (!access(path, F_OK)) return SPOT_OK;
    m = calloc(1, sizeof *m);
    if (!m) return spot_fail(c, SPOT_NOMEM, "no memory for the truth about planted models");
    m->cfg = cfg;
    s = take_arrays(c, m);
    if (!s) s = measure(c, m, dir);
    if (!s) s = write_truth(c, m, path);
    close_measurer(m);
    free(m);
    return s;
}

/* -- reading ------------------------------------------------------------------------------------------------------- */

static void fit(spot_plant_truth *t, int shift)
{
    const double *x = t->accuracy[SPOT_PLANT_BASE], *y = t->accuracy[shift];
    double mean_x = 0, mean_y = 0, xx = 0, xy = 0;

    for (int k = 0; k < t->models; k++) mean_x += x[k] / t->models, mean_y += y[k] / t->models;
    for (int k = 0; k < t->models; k++) {
        xx += (x[k] - mean_x) * (x[k] - mean_x);
        xy += (x[k] - mean_x) * (y[k] - mean_y);
    }
    t->impact[shift] = mean_x - mean_y;
    t->slope[shift] = xx > 0 ? xy / xx : NAN;
}

spot_status spot_plant_truth_read(spot_ctx *c, spot_plant_truth *t, const char *dir, const spot_plant_config *cfg)
{
    int rows = cfg->models * (1 + cfg->shifts) * cfg->classes;
    char path[SPOT_PLANT_PATH];
    spot_array a = { 0 };
    spot_status s = SPOT_OK;
    double v[2];

    snprintf(path, sizeof path, "%s/truth.csv:pictures,right", dir);
    SPOT_TRY(spot_array_read(c, &a, path, 0));
    memset(t, 0, sizeof *t);
    t->models = cfg->models;
    t->shifts = cfg->shifts;
    if (a.rank != 2 || a.dim[0] != rows || a.dim[1] != 2)
        s = spot_fail(c, SPOT_INPUT, "%s/truth.csv does not have the %d rows of this planted world; remove it and run again",
                      dir, rows);
    for (int i = 0; i < rows && !s; i++) {
        spot_array_doubles(v, &a, 2 * (size_t)i, 2);
        if (!(v[0] >= 1 && v[1] >= 0 && v[1] <= v[0]))
            s = spot_fail(c, SPOT_INPUT, "%s/truth.csv, row %d: %g of %g pictures are right; remove the file and run again",
                          dir, i, v[1], v[0]);
        t->accuracy[i / cfg->classes % (1 + cfg->shifts)][i / cfg->classes / (1 + cfg->shifts)] += v[1] / v[0] / cfg->classes;
    }
    for (int k = 0; k < cfg->models; k++) snprintf(t->name[k], sizeof t->name[k], "%s", spot_plant_recipe_of(cfg, k).name);
    for (int k = 0; k <= cfg->shifts && !s; k++) fit(t, k);
    spot_array_close(&a);
    return s;
}
