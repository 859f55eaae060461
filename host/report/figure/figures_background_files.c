/* figures_background_files.c - Figures 8 to 13 and 15 of runs of backgrounds as files and as CSV. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/figure/figures_background.h"
#include "report/figure/figures_files.h"
#include "spotter/report.h"
#include "spotter/store.h"

enum { MODELS = 6 };           /* rows of a figure of several runs, where no models are named */

typedef struct {
    spot_ctx *c;
    const spot_figures_options *o;
    const char *const *dir;
    const spot_background_results *const *r;
    int runs;
} work;

static spot_status draw_levels(work *w)
{
    bool wanted;
    spot_plot p;
    spot_status s;

    SPOT_TRY(spot_figure_wanted(w->c, &wanted, w->o, 9, spot_background_has_levels(w->r[0]->suite),
                                "no keyword of the run comes from an ontology"));
    if (!wanted) return SPOT_OK;
    spot_plot_levels(&p, w->r[0]);
    s = spot_figure_output(w->c, &p, w->o, "9");
    spot_plot_close(&p);
    return s;
}

static spot_status draw_distances(work *w)
{
    bool wanted;
    spot_plot p;
    spot_status s;

    SPOT_TRY(spot_figure_wanted(w->c, &wanted, w->o, 11, true, ""));
    if (!wanted) return SPOT_OK;
    spot_plot_distances(&p, w->r, w->dir, w->runs);
    s = spot_figure_output(w->c, &p, w->o, "11");
    spot_plot_close(&p);
    return s;
}

static spot_status read_all(spot_ctx *c, spot_background_responses *a, const spot_background_results *r, const char *dir)
{
    for (int u = 0; u < r->units; u++) SPOT_TRY(spot_background_responses_read(c, &a[u], dir, &r->unit[u]));
    return SPOT_OK;
}

/* ---- Figure 8 ---- */

static void about_twin(char *text, size_t size, const spot_background_summary *v)
{
    snprintf(text, size, "accuracy %.1f, %.1f, %.1f %%", 100 * v->accuracy[SPOT_SET_ORIGINAL].value,
             100 * v->accuracy[SPOT_SET_SUITE].value, 100 * v->steady.value);
}

static spot_status draw_twins(work *w)
{
    const spot_background_results *r = w->r[0];
    spot_background_responses *a = calloc((size_t)r->units, sizeof *a);
    spot_matrix_panel panel[SPOT_TWINS];
    int unit[SPOT_TWINS], n;
    bool wanted = false;
    spot_plot p;
    spot_status s = a ? read_all(w->c, a, r, w->dir[0]) : spot_fail(w->c, SPOT_NOMEM, "no memory for the matrices of a run");

    n = s == SPOT_OK ? spot_find_twins(unit, r, a) : 0;
    if (s == SPOT_OK)
        s = spot_figure_wanted(w->c, &wanted, w->o, 8, n > 0, "no two models have accuracies within two percentage points of "
                               "each other: on the original, on the suite, and under all backgrounds of an object");
    if (s == SPOT_OK && wanted) {
        for (int i = 0; i < n; i++) {
            panel[i] = (spot_matrix_panel){ .r = r, .a = &a[unit[i]], .unit = unit[i] };
            about_twin(panel[i].about, sizeof panel[i].about, &r->summary[unit[i]]);
        }
        spot_plot_matrices(&p, panel, n, n, 8);
        s = spot_figure_output(w->c, &p, w->o, "8");
        spot_plot_close(&p);
    }
    for (int u = 0; a && u < r->units; u++) spot_background_responses_free(&a[u]);
    free(a);
    return s;
}

/* ---- several runs ---- */

static int find_model(const spot_background_results *r, const char *name)
{
    for (int u = 0; u < r->units; u++)
        if (!strcmp(r->unit[u].name, name)) return u;
    return -1;
}

/* The number of the paper's figure that compares such runs. */
static int number_of(const work *w)
{
    bool window = false, part = false, levels = false;

    for (int k = 1; k < w->runs; k++) {
        const spot_background_config *a = w->r[0]->cfg, *b = w->r[k]->cfg;
        window |= a->measure.kernel != b->measure.kernel || a->measure.sigma != b->measure.sigma;
        part |= a->data.part != b->data.part;
        levels |= a->ontology.levels != b->ontology.levels;
    }
    return levels ? 15 : window ? 10 : part ? 13 : 12;
}

/* "kernel 32, sigma 10" */
static void about_run(char *text, size_t size, const spot_background_config *cfg, int number)
{
    switch (number) {
    case 15: snprintf(text, size, "%d levels, kernel %d, sigma %g", cfg->ontology.levels, cfg->measure.kernel,
                      cfg->measure.sigma);
             break;
    case 10: snprintf(text, size, "kernel %d, sigma %g", cfg->measure.kernel, cfg->measure.sigma); break;
    case 13: snprintf(text, size, "%d %% of the pictures", cfg->data.part); break;
    default: snprintf(text, size, "%s, seed %llu", spot_background_choice_name(cfg->suite.choice),
                      (unsigned long long)cfg->suite.seed);
    }
}

static spot_status check_models(work *w)
{
    if (w->o->methods && w->runs == 1)
        return spot_fail(w->c, SPOT_USAGE, "--method chooses the models of Figures 10, 12, 13 and 15, which show several runs");
    if (w->o->methods > MODELS) return spot_fail(w->c, SPOT_USAGE, "a figure shows at most %d models of several runs", MODELS);
    for (int i = 0; i < w->o->methods; i++)
        for (int k = 0; k < w->runs; k++)
            if (find_model(w->r[k], w->o->method[i]) < 0)
                return spot_fail(w->c, SPOT_USAGE, "%s has no model \"%s\"", w->dir[k], w->o->method[i]);
    return SPOT_OK;
}

/* Models of the first run that all runs have, evenly spread over those; or the named ones. */
static spot_status choose_models(work *w, const char **name, int *n)
{
    const spot_background_results *first = w->r[0];
    int *common = malloc((size_t)first->units * sizeof *common), all = 0;

    if (!common) return spot_fail(w->c, SPOT_NOMEM, "no memory to choose models");
    for (int u = 0; u < first->units; u++) {
        bool everywhere = true;
        for (int k = 1; k < w->runs; k++) everywhere &= find_model(w->r[k], first->unit[u].name) >= 0;
        if (everywhere) common[all++] = u;
    }
    *n = w->o->methods ? w->o->methods : all < MODELS ? all : MODELS;
    for (int i = 0; i < *n; i++)
        name[i] = w->o->methods ? w->o->method[i] : first->unit[common[*n > 1 ? i * (all - 1) / (*n - 1) : 0]].name;
    free(common);
    return SPOT_OK;
}

static spot_status draw_rows(work *w, int number, const char *const *name, int n)
{
    const int panels = n * w->runs;
    spot_matrix_panel *panel = calloc((size_t)panels, sizeof *panel);
    spot_background_responses *a = calloc((size_t)panels, sizeof *a);
    char word[8];
    spot_plot p;
    spot_status s = panel && a ? SPOT_OK : spot_fail(w->c, SPOT_NOMEM, "no memory for %d matrices", panels);

    for (int i = 0; i < panels && s == SPOT_OK; i++) {
        const int run = i % w->runs, unit = find_model(w->r[run], name[i / w->runs]);
        s = spot_background_responses_read(w->c, &a[i], w->dir[run], &w->r[run]->unit[unit]);
        panel[i] = (spot_matrix_panel){ .r = w->r[run], .a = &a[i], .unit = unit };
        about_run(panel[i].about, sizeof panel[i].about, w->r[run]->cfg, number);
    }
    if (s == SPOT_OK) {
        snprintf(word, sizeof word, "%d", number);
        spot_plot_matrices(&p, panel, panels, w->runs, number);
        s = spot_figure_output(w->c, &p, w->o, word);
        spot_plot_close(&p);
    }
    for (int i = 0; a && i < panels; i++) spot_background_responses_free(&a[i]);
    free(a), free(panel);
    return s;
}

static spot_status draw_runs(work *w)
{
    static const int numbers[] = { 10, 12, 13, 15 };
    const char *name[MODELS];
    int n = 0, number = number_of(w);
    bool wanted, drawn = false;

    if (w->runs > 1) SPOT_TRY(choose_models(w, name, &n));
    for (int i = 0; i < 4; i++) {
        char why[160];
        if (w->runs == 1) snprintf(why, sizeof why, "it shows several runs; name their directories");
        else if (!n) snprintf(why, sizeof why, "the runs have no model in common");
        else snprintf(why, sizeof why, "these runs differ in other settings; they make Figure %d", number);
        SPOT_TRY(spot_figure_wanted(w->c, &wanted, w->o, numbers[i], n > 0 && number == numbers[i], why));
        drawn |= wanted;
    }
    return drawn ? draw_rows(w, number, name, n) : SPOT_OK;
}

/* ---- all ---- */

static spot_status draw_all(work *w)
{
    SPOT_TRY(check_models(w));
    if (w->o->png || w->o->svg) SPOT_TRY(spot_folder_make(w->c, w->o->out));
    if (w->o->csv) fputs(SPOT_FIGURE_CSV, w->o->csv);
    SPOT_TRY(draw_twins(w));
    SPOT_TRY(draw_levels(w));
    SPOT_TRY(draw_distances(w));
    SPOT_TRY(draw_runs(w));
    if (w->o->csv && (fflush(w->o->csv) || ferror(w->o->csv)))
        return spot_fail(w->c, SPOT_IO, "the numbers could not be written");
    return SPOT_OK;
}

spot_status spot_background_figures(spot_ctx *c, const char *const *dir, int dirs, const spot_figures_options *o)
{
    const unsigned ours = 1u << 8 | 1u << 9 | 1u << 10 | 1u << 11 | 1u << 12 | 1u << 13 | 1u << 15;
    spot_background_results *r = NULL;
    const spot_background_results **list = NULL;
    spot_status s = SPOT_OK;

    if (o->which & ~ours)
        return spot_fail(c, SPOT_USAGE, "%s is a run of `spotter background`: it has Figures 8 to 13 and 15", dir[0]);
    if (o->shifts || o->all) return spot_fail(c, SPOT_USAGE, "--shift and --all are for runs of other studies");
    r = calloc((size_t)dirs, sizeof *r);
    list = malloc((size_t)dirs * sizeof *list);
    if (!r || !list) s = spot_fail(c, SPOT_NOMEM, "no memory for %d runs", dirs);
    for (int k = 0; k < dirs && s == SPOT_OK; k++) s = spot_background_read(c, &r[k], dir[k]), list[k] = &r[k];
    if (s == SPOT_OK) s = draw_all(&(work){ .c = c, .o = o, .dir = dir, .r = list, .runs = dirs });
    for (int k = 0; r && k < dirs; k++) spot_background_close(&r[k]);
    free(list), free(r);
    return s;
}
