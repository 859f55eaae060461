/* figures_examine_files.c - Figures 1 to 4 and 6 of runs of `spotter examine` as files and as CSV. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/figure/figures_examine.h"
#include "report/figure/figures_files.h"

enum { RUNS = 2, PANELS = 12, EXAMINERS = 4, FEW = 50, MANY = 100 };

typedef struct {
    spot_ctx *c;
    const spot_figures_options *o;
    const char *const *dir;
    spot_examine_results r[RUNS];
    const spot_examine_results *run[RUNS];
    int runs;
    spot_figure_models models;
} figures_examine_files_work;

static spot_status choose_models(figures_examine_files_work *w)
{
    const spot_examine_config *cfg = w->r[0].cfg;
    spot_figure_models *m = &w->models;

    for (int i = 0; i < cfg->models && !w->o->methods; i++) m->model[m->models++] = i;
    for (int i = 0; i < w->o->methods; i++) {
        int k = 0;
        while (k < cfg->models && strcmp(cfg->model[k].name, w->o->method[i])) k++;
        if (k == cfg->models) return spot_fail(w->c, SPOT_USAGE, "{run.no_model} %s has no model \"%s\"", w->dir[0],
                                               w->o->method[i]);
        if (m->models < SPOT_MAX_EXAMINED_MODELS) m->model[m->models++] = k;
    }
    return SPOT_OK;
}

/* ---- Figures 1 and 2 ---- */

static spot_status draw_running(figures_examine_files_work *w)
{
    bool wanted;
    spot_plot p = { 0 };
    spot_status s;

    SPOT_TRY(spot_figure_wanted(w->c, &wanted, w->o, 1, w->runs == 1, "it shows one run"));
    if (!wanted) return SPOT_OK;
    s = spot_plot_running(w->c, &p, w->run[0], w->dir[0], &w->models);
    return spot_figure_output(w->c, s, &p, w->o, "1");
}

static spot_status draw_classes(figures_examine_files_work *w)
{
    bool wanted;
    spot_plot p;

    SPOT_TRY(spot_figure_wanted(w->c, &wanted, w->o, 2, w->runs == 1, "it shows one run"));
    if (!wanted) return SPOT_OK;
    spot_plot_class_bars(&p, w->run[0], &w->models);
    return spot_figure_output(w->c, SPOT_OK, &p, w->o, "2");
}

/* ---- Figures 3 and 4 ---- */

/* The object that shows most: the first examiner's robust p is lowest. Those that learned a planted region come first. */
static int weakest(const spot_examine_results *r, int model)
{
    double least = INFINITY;
    int best = 0, learned = 0;

    for (int i = 0; i < r->objects; i++) learned += spot_figure_unit(r, model, 0, 0, i)->learned == 1;
    for (int i = 0; i < r->objects; i++) {
        const spot_examine_result *u = spot_figure_unit(r, model, 0, 0, i);
        if (learned && u->learned != 1) continue;
        const spot_examine_point *p = &u->point[u->points - 1];
        const double v = isfinite(p->robust) ? p->robust : p->lowest;
        if (v < least) least = v, best = i;
    }
    return best;
}

static bool is_limited(const spot_examine_model *m)
{
    return m->limits > 0 || m->least_elevation > -90 || m->most_elevation < 90;
}

/* Panels of the models, or of those with a planted weakness alone; returns how many. */
static int fill_panels(const figures_examine_files_work *w, spot_scatter_panel *panel, int each, bool limited)
{
    const spot_examine_results *r = w->run[0];
    const int examiners = r->cfg->examiners < EXAMINERS ? r->cfg->examiners : EXAMINERS;
    int n = 0;

    for (int i = 0; i < w->models.models; i++)
        for (int e = 0; e < (limited ? 1 : examiners) && n < PANELS; e++) {
            const int model = w->models.model[i];
            const spot_examine_result *u = spot_figure_unit(r, model, e, 0, weakest(r, model));
            if (limited && !is_limited(&r->cfg->model[model])) continue;
            panel[n] = (spot_scatter_panel){ .r = r, .dir = w->dir[0], .unit = u->index, .first = each, .last = each,
                                             .twin = -1, .first_name = "the first renders", .last_name = "the last renders" };
            snprintf(panel[n++].title, sizeof panel->title, "%.30s on %.30s: %.60s", spot_examine_label(&r->cfg->examiner[e]),
                     r->cfg->model[model].name, u->title);
        }
    return n;
}

static spot_status draw_maps(figures_examine_files_work *w, int number, int each, bool limited, const char *why)
{
    spot_scatter_panel panel[PANELS];
    const int n = w->runs == 1 ? fill_panels(w, panel, each, limited) : 0;
    spot_scatter_words words = { .across = limited || w->run[0]->cfg->examiners < 2 ? 1 : 2 };
    char name[8];
    bool wanted;

    SPOT_TRY(spot_figure_wanted(w->c, &wanted, w->o, number, n > 0, w->runs == 1 ? why : "it shows one run"));
    if (!wanted) return SPOT_OK;
    snprintf(words.title, sizeof words.title, limited ? "Figure 4. A planted weakness" : "Figure 3. Where models fail");
    snprintf(words.caption, sizeof words.caption, "t-SNE of the conditions (whole turns as circles) of the first %d and the "
             "last %d renders of one search, or of halves where it has fewer, of the object with the lowest robust p. "
             "Transparent: the model "
             "is right; opaque: it is wrong. Many searches begin with random renders.", each, each);
    snprintf(name, sizeof name, "%d", number);
    return spot_scatter_output(w->c, panel, n, &words, w->o, name);
}

/* ---- Figure 6 ---- */

static spot_status draw_orders(figures_examine_files_work *w)
{
    const spot_examine_results *r = w->run[0];
    const char *const why = "it needs two runs whose factors have another order: spotter figures RUN_A RUN_B --which 6";
    spot_scatter_words words = { .title = "Figure 6. The last renders of two orders of the factors", .across = 2 };
    spot_scatter_panel panel[PANELS];
    spot_plot p = { 0 };
    bool wanted;
    int n = 0;
    spot_status s;

    SPOT_TRY(spot_figure_wanted(w->c, &wanted, w->o, 6, w->runs == 2, why));
    if (!wanted) return SPOT_OK;
    s = spot_plot_order(w->c, &p, w->run, w->dir);
    SPOT_TRY(spot_figure_output(w->c, s, &p, w->o, "6"));
    for (int e = 0; e < r->cfg->examiners && e < EXAMINERS; e++) {
        const spot_examine_result *u = spot_figure_unit(r, 0, e, 0, weakest(r, 0));
        const int twin = u->index;             /* equal configs have equal units where their objects agree */
        if (strcmp(w->run[1]->unit[twin].object, u->object)) continue;
        panel[n] = (spot_scatter_panel){ .r = r, .dir = w->dir[0], .unit = u->index, .first = FEW, .last = FEW, .twin = twin,
                                         .other = w->run[1], .other_dir = w->dir[1], .first_name = "the other order",
                                         .last_name = "the first run's order" };
        snprintf(panel[n++].title, sizeof panel->title, "%.30s on %.30s: %.60s", spot_examine_label(&r->cfg->examiner[e]),
                 r->cfg->model[0].name, u->title);
    }
    snprintf(words.caption, sizeof words.caption, "t-SNE of the conditions (whole turns as circles) of the last %d renders of "
             "a search in each order, of the object with the lowest robust p. Transparent: the model is right; opaque: it is "
             "wrong.", FEW);
    return spot_scatter_output(w->c, panel, n, &words, w->o, "6_map");
}

/* ---- all ---- */

static spot_status draw_all(figures_examine_files_work *w)
{
    SPOT_TRY(choose_models(w));
    SPOT_TRY(spot_figures_begin(w->c, w->o));
    SPOT_TRY(draw_running(w));
    SPOT_TRY(draw_classes(w));
    SPOT_TRY(draw_maps(w, 3, FEW, false, "the run has no models"));
    SPOT_TRY(draw_maps(w, 4, MANY, true, "no model has a planted weakness (region, least_elevation, most_elevation)"));
    return draw_orders(w);
}

spot_status spot_examine_figures(spot_ctx *c, const char *const *dir, int dirs, const spot_figures_options *o)
{
    const unsigned known = 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4 | 1u << 6;
    figures_examine_files_work *w = calloc(1, sizeof *w);
    spot_status s = SPOT_OK;

    if (!w) return spot_fail(c, SPOT_NOMEM, "no memory for figures");
    *w = (figures_examine_files_work){ .c = c, .o = o, .dir = dir, .runs = dirs };
    if (o->which & ~known) s = spot_fail(c, SPOT_USAGE, "%s is a run of `spotter examine`: it has Figures 1 to 4 and 6",
                                         dir[0]);
    else if (dirs > RUNS) s = spot_fail(c, SPOT_USAGE, "\"%s\" is one run too many: Figure 6 shows two", dir[RUNS]);
    for (int i = 0; i < dirs && s == SPOT_OK; i++) w->run[i] = &w->r[i], s = spot_examine_read(c, &w->r[i], dir[i]);
    if (s == SPOT_OK) s = spot_figures_end(c, draw_all(w), o);
    for (int i = 0; i < RUNS; i++) spot_examine_close(&w->r[i]);
    free(w);
    return s;
}
