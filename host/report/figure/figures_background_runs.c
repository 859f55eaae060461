/* figures_background_runs.c - which runs stand side by side in Figures 10, 12, 13 and 15 of paper 003. */
#include <stdlib.h>
#include <string.h>

#include "report/figure/figures_background.h"

const int spot_run_figure[SPOT_RUN_FIGURES] = { 10, 12, 13, 15 };

/* ---- settings ---- */

/* Gives `to` the settings in which the runs of a figure may differ. */
static void level_settings(spot_background_config *to, const spot_background_config *from, int number)
{
    const bool window = number == 10 || number == 15;

    if (window) to->measure.kernel = from->measure.kernel, to->measure.sigma = from->measure.sigma;
    if (number == 12) to->suite.choice = from->suite.choice, to->suite.seed = from->suite.seed;
    if (number == 11) to->suite.choice = from->suite.choice;
    if (number == 13) to->data.part = from->data.part;
    if (number == 15) to->ontology.levels = from->ontology.levels;
}

/* Whether two runs differ in the settings of a figure at most, whatever their models. */
static bool are_alike_but(const spot_background_config *a, const spot_background_config *b, int number)
{
    spot_background_config other = *b;
    char words[512];

    other.models = 0;
    level_settings(&other, a, number);
    return !spot_study_differs(&spot_background_study, words, sizeof words, a, &other);
}

bool spot_differs_in_choice(const spot_background_config *a, const spot_background_config *b)
{
    return a->suite.choice != b->suite.choice && are_alike_but(a, b, 11);
}

/* The figure that compares runs which the user put together. */
static int number_of(const spot_background_results *const *r, int runs)
{
    bool window = false, part = false, levels = false;

    for (int k = 1; k < runs; k++) {
        const spot_background_config *a = r[0]->cfg, *b = r[k]->cfg;
        window |= a->measure.kernel != b->measure.kernel || a->measure.sigma != b->measure.sigma;
        part |= a->data.part != b->data.part;
        levels |= a->ontology.levels != b->ontology.levels;
    }
    return levels ? 15 : window ? 10 : part ? 13 : 12;
}

/* ---- groups ---- */

/* Figure 12 is about seeds: of the first run's choice, and of random backgrounds. */
static bool is_in(const spot_background_config *first, const spot_background_config *cfg, int number)
{
    if (number == 12 && cfg->suite.choice != first->suite.choice && cfg->suite.choice != SPOT_SUITE_RANDOM) return false;
    return are_alike_but(first, cfg, number);
}

static int compare_runs(const spot_background_config *a, const spot_background_config *b, int number)
{
    if (number == 12 && a->suite.choice != b->suite.choice) return a->suite.choice > b->suite.choice ? -1 : 1;
    if (number == 12) return (a->suite.seed > b->suite.seed) - (a->suite.seed < b->suite.seed);
    if (number == 13) return b->data.part - a->data.part;
    if (a->ontology.levels != b->ontology.levels) return a->ontology.levels - b->ontology.levels;
    if (a->measure.kernel != b->measure.kernel) return a->measure.kernel - b->measure.kernel;
    return (a->measure.sigma > b->measure.sigma) - (a->measure.sigma < b->measure.sigma);
}

static void sort_runs(spot_figure_runs *g, const spot_background_results *const *r, int number)
{
    for (int i = 1; i < g->runs; i++)
        for (int k = i; k > 0 && compare_runs(r[g->run[k]]->cfg, r[g->run[k - 1]]->cfg, number) < 0; k--) {
            const int run = g->run[k];
            g->run[k] = g->run[k - 1], g->run[k - 1] = run;
        }
}

/* Figure 15 has a row for each number of levels, where all rows have the same windows. */
static int count_across(const spot_figure_runs *g, const spot_background_results *const *r)
{
    int across = 1;

    while (across < g->runs && r[g->run[across]]->cfg->ontology.levels == r[g->run[0]]->cfg->ontology.levels) across++;
    for (int i = across; i < g->runs; i++) {
        const spot_background_config *a = r[g->run[i % across]]->cfg, *b = r[g->run[i]]->cfg;
        if (a->measure.kernel != b->measure.kernel || a->measure.sigma != b->measure.sigma) return g->runs;
    }
    return g->runs % across ? g->runs : across;
}

void spot_figure_runs_of(spot_figure_runs *g, const spot_background_results *const *r, int runs, int named, int number)
{
    bool levels = false;

    *g = (spot_figure_runs){ 0 };
    if (runs == named && (runs < 2 || number != number_of(r, runs))) return;
    for (int k = 0; k < runs && g->runs < SPOT_FIGURE_RUNS; k++)
        if (runs == named || is_in(r[0]->cfg, r[k]->cfg, number)) g->run[g->runs++] = k;
    g->across = g->runs;
    if (runs == named) return;
    sort_runs(g, r, number);
    for (int k = 1; k < g->runs; k++) levels |= r[g->run[k]]->cfg->ontology.levels != r[g->run[0]]->cfg->ontology.levels;
    if (number == 15 && !levels) g->runs = 1;              /* they make Figure 10 */
    if (number == 15 && levels) g->across = count_across(g, r);
}
