/* figures_background_files.c - Figures 8 to 13 and 15 of runs of backgrounds as files and as CSV. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/figure/figures_background.h"
#include "report/figure/figures_files.h"
#include "spotter/report.h"

enum { MODELS = 6 };           /* rows of a figure of several runs, where no models are named */

typedef struct {
    spot_ctx *c;
    const spot_figures_options *o;
    const char *const *dir;
    const spot_background_results *const *r;
    int runs, named;               /* the first `named` ones are those that the user named; the others are their variants */
} figures_background_files_work;

static spot_status draw_levels(figures_background_files_work *w)
{
    bool wanted;
    spot_plot p;

    SPOT_TRY(spot_figure_wanted(w->c, &wanted, w->o, 9, spot_background_has_levels(w->r[0]->suite),
                                "no keyword of the run comes from an ontology"));
    if (!wanted) return SPOT_OK;
    spot_plot_levels(&p, w->r[0]);
    return spot_figure_output(w->c, SPOT_OK, &p, w->o, "9");
}

/* The named runs, and the variants that differ from the first run in the choice of backgrounds alone. */
static spot_status take_choices(figures_background_files_work *w, const spot_background_results ***r, const char ***dir, int *n)
{
    *n = 0;
    *r = malloc((size_t)w->runs * sizeof **r), *dir = malloc((size_t)w->runs * sizeof **dir);
    if (!*r || !*dir) return spot_fail(w->c, SPOT_NOMEM, "no memory for %d runs", w->runs);
    for (int k = 0; k < w->runs; k++) {
        if (k >= w->named && !spot_differs_in_choice(w->r[0]->cfg, w->r[k]->cfg)) continue;
        (*r)[*n] = w->r[k], (*dir)[*n] = w->dir[k], ++*n;
    }
    return SPOT_OK;
}

static spot_status draw_distances(figures_background_files_work *w)
{
    const spot_background_results **r;
    const char **dir;
    int n;
    bool wanted;
    spot_plot p;
    spot_status s;

    SPOT_TRY(spot_figure_wanted(w->c, &wanted, w->o, 11, true, ""));
    if (!wanted) return SPOT_OK;
    s = take_choices(w, &r, &dir, &n);
    if (s == SPOT_OK) {
        spot_plot_distances(&p, r, dir, n);
        s = spot_figure_output(w->c, SPOT_OK, &p, w->o, "11");
    }
    free(r), free(dir);
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

static spot_status draw_twins(figures_background_files_work *w)
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
        s = spot_figure_output(w->c, SPOT_OK, &p, w->o, "8");
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

/* "kernel 32, sigma 10" */
static void about_run(char *text, size_t size, const spot_background_config *cfg, int number)
{
    switch (number) {
    case 15: snprintf(text, size, "%d level%s, kernel %d, sigma %g", cfg->ontology.levels, cfg->ontology.levels == 1 ? "" : "s",
                      cfg->measure.kernel, cfg->measure.sigma);
             break;
    case 10: snprintf(text, size, "kernel %d, sigma %g", cfg->measure.kernel, cfg->measure.sigma); break;
    case 13: snprintf(text, size, "%d %% of the pictures", cfg->data.part); break;
    default: snprintf(text, size, "%s, seed %llu", spot_background_choice_name(cfg->suite.choice),
                      (unsigned long long)cfg->suite.seed);
    }
}

static spot_status check_models(figures_background_files_work *w)
{
    if (w->o->methods && w->runs == 1)
        return spot_fail(w->c, SPOT_USAGE, "--method chooses the models of Figures 10, 12, 13 and 15, which show several runs");
    if (w->o->methods > MODELS) return spot_fail(w->c, SPOT_USAGE, "a figure shows at most %d models of several runs", MODELS);
    for (int i = 0; i < w->o->methods; i++)
        for (int k = 0; k < w->runs; k++)
            if (find_model(w->r[k], w->o->method[i]) < 0)
                return spot_fail(w->c, SPOT_USAGE, "{run.no_model} %s has no model \"%s\"", w->dir[k], w->o->method[i]);
    return SPOT_OK;
}

/* Models of the first run that all these runs have, at most `most`, evenly spread over those; or the named ones. */
static spot_status choose_models(figures_background_files_work *w, const spot_figure_runs *g, const char **name, int *n,
                                 int most)
{
    const spot_background_results *first = w->r[0];
    int *common = malloc((size_t)first->units * sizeof *common), all = 0;

    if (!common) return spot_fail(w->c, SPOT_NOMEM, "no memory to choose models");
    for (int u = 0; u < first->units; u++) {
        bool everywhere = true;
        for (int k = 0; k < g->runs; k++) everywhere &= find_model(w->r[g->run[k]], first->unit[u].name) >= 0;
        if (everywhere) common[all++] = u;
    }
    *n = w->o->methods ? w->o->methods : all < most ? all : most;
    for (int i = 0; i < *n; i++)
        name[i] = w->o->methods ? w->o->method[i] : first->unit[common[*n > 1 ? i * (all - 1) / (*n - 1) : all / 2]].name;
    free(common);
    return SPOT_OK;
}

static spot_status draw_rows(figures_background_files_work *w, const spot_figure_runs *g, int number, const char *const *name,
                             int n)
{
    const int panels = n * g->runs;
    spot_matrix_panel *panel = calloc((size_t)panels, sizeof *panel);
    spot_background_responses *a = calloc((size_t)panels, sizeof *a);
    char word[8];
    spot_plot p;
    spot_status s = panel && a ? SPOT_OK : spot_fail(w->c, SPOT_NOMEM, "no memory for %d matrices", panels);

    for (int i = 0; i < panels && s == SPOT_OK; i++) {
        const int run = g->run[i % g->runs], unit = find_model(w->r[run], name[i / g->runs]);
        s = spot_background_responses_read(w->c, &a[i], w->dir[run], &w->r[run]->unit[unit]);
        panel[i] = (spot_matrix_panel){ .r = w->r[run], .a = &a[i], .unit = unit };
        about_run(panel[i].about, sizeof panel[i].about, w->r[run]->cfg, number);
    }
    if (s == SPOT_OK) {
        snprintf(word, sizeof word, "%d", number);
        spot_plot_matrices(&p, panel, panels, g->across, number);
        s = spot_figure_output(w->c, SPOT_OK, &p, w->o, word);
    }
    for (int i = 0; a && i < panels; i++) spot_background_responses_free(&a[i]);
    free(a), free(panel);
    return s;
}

/* Why Figure `number` cannot be drawn; "" where it can. */
static void say_why(char *why, size_t size, const figures_background_files_work *w, const spot_figure_runs *g, int number,
                    int models)
{
    int other = 0;

    *why = 0;
    if (w->runs == 1) snprintf(why, size, "it shows several runs; name their directories");
    else if (g->runs > 1 && !models) snprintf(why, size, "the runs have no model in common");
    if (*why || g->runs > 1) return;
    for (int i = 0; i < SPOT_RUN_FIGURES && !other; i++) {
        spot_figure_runs one;
        spot_figure_runs_of(&one, w->r, w->runs, w->named, spot_run_figure[i]);
        if (one.runs > 1) other = spot_run_figure[i];
    }
    if (other && other != number) snprintf(why, size, "these runs differ in other settings; they make Figure %d", other);
    else snprintf(why, size, "no run differs from the first one in its settings alone");
}

static spot_status draw_runs(figures_background_files_work *w)
{
    for (int i = 0; i < SPOT_RUN_FIGURES; i++) {
        const int number = spot_run_figure[i];
        const char *name[MODELS];
        spot_figure_runs g;
        int n = 0;
        bool wanted;
        char why[160];
        spot_figure_runs_of(&g, w->r, w->runs, w->named, number);
        if (g.runs > 1) SPOT_TRY(choose_models(w, &g, name, &n, g.across < g.runs ? 1 : MODELS));
        say_why(why, sizeof why, w, &g, number, n);
        SPOT_TRY(spot_figure_wanted(w->c, &wanted, w->o, number, !*why, why));
        if (wanted) SPOT_TRY(draw_rows(w, &g, number, name, n));
    }
    return SPOT_OK;
}

/* ---- all ---- */

static spot_status draw_all(figures_background_files_work *w)
{
    SPOT_TRY(check_models(w));
    SPOT_TRY(spot_figures_begin(w->c, w->o));
    SPOT_TRY(draw_twins(w));
    SPOT_TRY(draw_levels(w));
    SPOT_TRY(draw_distances(w));
    return spot_figures_end(w->c, draw_runs(w), w->o);
}

/* The named runs first, then the variants that are done. */
typedef struct {
    char **all;
    const char **dir;
    spot_background_results *r;
    const spot_background_results **list;
    int runs;
} opened;

static spot_status open_one(spot_ctx *c, opened *k, const char *dir, bool named)
{
    spot_background_results *r = &k->r[k->runs];
    spot_status s = spot_background_read(c, r, dir);

    if (s != SPOT_OK && !named && (s == SPOT_IO || r->missing)) {
        spot_log(c, SPOT_LOG_WARN, "left out: %s", spot_message(c, s));
        spot_forget(c);
        spot_background_close(r);
        return SPOT_OK;
    }
    k->dir[k->runs] = dir, k->list[k->runs++] = r;
    return s;
}

static spot_status open_runs(spot_ctx *c, opened *k, const char *const *dir, int dirs, int *count)
{
    spot_status s = spot_background_runs(c, &k->all, count, dir, dirs);

    if (s != SPOT_OK) return s;
    k->r = calloc((size_t)(*count + dirs), sizeof *k->r);
    k->list = malloc((size_t)(*count + dirs) * sizeof *k->list);
    k->dir = malloc((size_t)(*count + dirs) * sizeof *k->dir);
    if (!k->r || !k->list || !k->dir) return spot_fail(c, SPOT_NOMEM, "no memory for %d runs", *count);
    for (int i = 0; i < dirs && s == SPOT_OK; i++) s = open_one(c, k, dir[i], true);
    for (int i = 0; i < *count && s == SPOT_OK; i++) {
        bool named = false;
        for (int d = 0; d < dirs; d++) named |= !strcmp(k->all[i], dir[d]);
        if (!named) s = open_one(c, k, k->all[i], false);
    }
    return s;
}

spot_status spot_background_figures(spot_ctx *c, const char *const *dir, int dirs, const spot_figures_options *o)
{
    const unsigned ours = 1u << 8 | 1u << 9 | 1u << 10 | 1u << 11 | 1u << 12 | 1u << 13 | 1u << 15;
    opened k = { 0 };
    int count = 0;
    spot_status s;

    if (o->which & ~ours)
        return spot_fail(c, SPOT_USAGE, "%s is a run of `spotter background`: it has Figures 8 to 13 and 15", dir[0]);
    if (o->shifts || o->all) return spot_fail(c, SPOT_USAGE, "--shift and --all are for runs of other studies");
    s = open_runs(c, &k, dir, dirs, &count);
    if (s == SPOT_OK) s = draw_all(&(figures_background_files_work){ .c = c, .o = o, .dir = k.dir, .r = k.list, .runs = k.runs,
                                                                     .named = dirs });
    for (int i = 0; i < k.runs; i++) spot_background_close(&k.r[i]);
    spot_background_runs_free(k.all, count);
    free(k.list), free(k.r), free(k.dir);
    return s;
}
