/* figures_background.c - Figures 8 to 13 and 15 of paper 003. */
#include "report/figure/figures_background.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 50 };            /* of a distribution */

#define ALIKE 0.02             /* accuracies of the models of Figure 8 differ by this or less */

/* ---- Figure 9 ---- */

bool spot_background_has_levels(const spot_background_suite *s)
{
    const size_t pairs = (size_t)s->targets * (size_t)s->n;

    for (size_t i = 0; i < pairs; i++)
        if (s->keyword[i] >= 0 && s->level[i]) return true;
    return false;
}

/* The number of different keywords up to a level among those that a target's backgrounds were chosen for. */
static int count_words(const spot_background_suite *s, int target, int level)
{
    const int *word = s->keyword + (size_t)target * (size_t)s->n;
    const uint8_t *of = s->level + (size_t)target * (size_t)s->n;
    int n = 0;

    for (int j = 0; j < s->n; j++) {
        bool again = word[j] < 0 || of[j] > level;
        for (int k = 0; k < j && !again; k++) again = word[k] == word[j];
        n += !again;
    }
    return n;
}

void spot_plot_levels(spot_plot *p, const spot_background_results *r)
{
    const spot_background_suite *s = r->suite;
    static const char *const names[] = { "most", "mean", "fewest" };
    const size_t pairs = (size_t)s->targets * (size_t)s->n;
    double value[3][256], top = 1;
    int levels = 0;

    for (size_t i = 0; i < pairs; i++)
        if (s->keyword[i] >= 0 && s->level[i] >= levels) levels = s->level[i] + 1;
    for (int l = 0; l < levels; l++) {
        value[0][l] = 0, value[1][l] = 0, value[2][l] = INFINITY;
        for (int t = 0; t < s->targets; t++) {
            const int n = count_words(s, t, l);
            value[0][l] = fmax(value[0][l], n), value[1][l] += (double)n / s->targets, value[2][l] = fmin(value[2][l], n);
        }
        top = fmax(top, value[0][l]);
    }
    spot_plot_open(p, 1, 420, 240, "Figure 9. Keywords of a picture by level of the ontology");
    snprintf(p->caption, sizeof p->caption, "Keywords for which backgrounds were chosen, of the picture itself (level 0) and "
             "with those that the ontology adds up to each level: the most, the mean and the fewest of %d pictures. %d "
             "backgrounds are chosen for each picture, so there are no more keywords.", s->targets, s->n);
    spot_plot_panel *a = spot_plot_add_panel(p, "", SPOT_AXIS("level"), SPOT_AXIS("keywords"));
    a->xlow = 0, a->xhigh = fmax(levels - 1, 5) + 0.2, a->ylow = 0, a->yhigh = 1.08 * top;
    for (int k = 0; k < 3; k++) {
        spot_plot_add_entry(p, names[k], SPOT_MARK_POINT, k, SPOT_PLOT_PLAIN);
        spot_plot_add_mark(p, SPOT_MARK_CURVE, k, names[k]);
        for (int l = 0; l < levels; l++) spot_plot_add_dot(p, l, value[k][l]);
        for (int l = 0; l < levels; l++) {
            spot_plot_mark *m = spot_plot_add_mark(p, SPOT_MARK_POINT, k, names[k]);
            m->x = l, m->y = value[k][l];
        }
    }
}

/* ---- Figure 11 ---- */

static void count_distances(double share[BINS], const spot_background_suite *s, double most)
{
    const size_t pairs = (size_t)s->targets * (size_t)s->n;

    memset(share, 0, BINS * sizeof *share);
    for (size_t i = 0; i < pairs; i++) {
        const int at = (int)(BINS * s->distance[i] / most);
        share[at < 0 ? 0 : at < BINS ? at : BINS - 1] += 1.0 / (double)pairs;
    }
}

void spot_plot_distances(spot_plot *p, const spot_background_results *const *r, const char *const *dir, int runs)
{
    double most = 0, top = 0, share[BINS];
    char name[SPOT_PLOT_NAME];
    spot_plot_panel *a;

    for (int k = 0; k < runs; k++) {
        const spot_background_suite *s = r[k]->suite;
        for (size_t i = 0; i < (size_t)s->targets * (size_t)s->n; i++) most = fmax(most, s->distance[i]);
    }
    if (!(most > 0)) most = 1;
    spot_plot_open(p, 1, 520, 260, "Figure 11. Distances between originals and blends");
    snprintf(p->caption, sizeof p->caption, "Share of the blends in each of %d bins of semantic distance (%s), by how "
             "backgrounds are chosen. The paper wants short and long distances: a curve that covers the axis.",
             BINS, r[0]->suite->encoder);
    a = spot_plot_add_panel(p, "", SPOT_AXIS("semantic distance of a blend to its original"), SPOT_AXIS("share of blends"));
    for (int k = 0; k < runs; k++) {
        snprintf(name, sizeof name, runs > 1 ? "%s: %.60s" : "%s", spot_background_choice_name(r[k]->cfg->suite.choice),
                 dir[k]);
        spot_plot_add_entry(p, name, SPOT_MARK_CURVE, k % 8, k >= 8 ? SPOT_PLOT_DASHED : SPOT_PLOT_PLAIN);
        spot_plot_add_mark(p, SPOT_MARK_CURVE, k % 8, name)->dashed = k >= 8;
        count_distances(share, r[k]->suite, most);
        for (int i = 0; i < BINS; i++) {
            spot_plot_add_dot(p, most * i / BINS, share[i]), spot_plot_add_dot(p, most * (i + 1) / BINS, share[i]);
            top = fmax(top, share[i]);
        }
    }
    a->xhigh = most, a->yhigh = 1.06 * top;
}

/* ---- matrices ---- */

static double greatest(const spot_background_responses *a)
{
    const size_t cells = (size_t)a->grid * (size_t)a->grid;
    double most = 0;

    for (size_t i = 0; i < cells; i++)
        if (isfinite(a->matrix[i]) && a->matrix[i] > most) most = a->matrix[i];
    return most;
}

static void matrix_titles(spot_plot *p, int number, const char *about)
{
    static const char *const titles[] = {
        [8] = "Models of equal accuracy and equal worst-case accuracy", [10] = "Settings of the interpolation",
        [12] = "Several runs", [13] = "Shares of the pictures", [15] = "Levels of the ontology and settings of the "
            "interpolation",
    };

    snprintf(p->title, sizeof p->title, "Figure %d. %s", number, titles[number]);
    snprintf(p->caption, sizeof p->caption, "Variance matrices of confidence. Both axes: semantic distance of a blend to its "
             "original. A cell has the mean difference of confidence between two blends of one object at these distances; "
             "dark is no difference. All matrices have one scale. Striped: no points there, the mean of the nearest ones. %s",
             about);
}

void spot_plot_matrices(spot_plot *p, const spot_matrix_panel *panel, int n, int across, int number)
{
    double most = 0;
    char scale[64];

    spot_plot_open(p, across, 210, 210, "");
    for (int i = 0; i < n; i++) most = fmax(most, greatest(panel[i].a));
    matrix_titles(p, number, number == 8 ? "Below each model: its accuracy on the original, on the suite, and under all "
                                           "backgrounds of an object." : "");
    snprintf(scale, sizeof scale, "difference of confidence, 0 to %.3g", most);
    spot_plot_add_entry(p, scale, SPOT_MARK_CELLS, 0, SPOT_PLOT_PLAIN);
    for (int i = 0; i < n; i++) {
        spot_plot_panel *a = spot_plot_add_panel(p, panel[i].r->unit[panel[i].unit].name, SPOT_AXIS(panel[i].about),
                                                 SPOT_AXIS("distance"));
        a->xhigh = a->yhigh = panel[i].r->suite->range;
        spot_plot_mark *m = spot_plot_add_mark(p, SPOT_MARK_CELLS, 0, panel[i].about);
        m->cell = panel[i].a->matrix, m->weight = panel[i].a->weight, m->grid = panel[i].a->grid, m->most = most;
    }
}

/* ---- Figure 8 ---- */

static bool are_alike(const spot_background_summary *a, const spot_background_summary *b)
{
    return fabs(a->accuracy[SPOT_SET_ORIGINAL].value - b->accuracy[SPOT_SET_ORIGINAL].value) <= ALIKE
        && fabs(a->accuracy[SPOT_SET_SUITE].value - b->accuracy[SPOT_SET_SUITE].value) <= ALIKE
        && fabs(a->steady.value - b->steady.value) <= ALIKE;
}

static double difference(const spot_background_responses *a, const spot_background_responses *b)
{
    const size_t cells = (size_t)a->grid * (size_t)a->grid;
    double sum = 0;

    for (size_t i = 0; i < cells && a->grid == b->grid; i++) sum += fabs((double)a->matrix[i] - b->matrix[i]);
    return sum / (double)cells;
}

/* The least difference of model u to the n chosen ones; -1 where it is not like all of them. */
static double least_difference(const spot_background_results *r, const spot_background_responses *a, const int *unit, int n,
                               int u)
{
    double least = INFINITY;

    for (int i = 0; i < n; i++) {
        const double d = unit[i] == u || !are_alike(&r->summary[unit[i]], &r->summary[u]) ? -1 : difference(&a[unit[i]], &a[u]);
        if (!(d >= least)) least = d;
    }
    return least;
}

/* The pair that differs most, then what differs most from all before it. A NaN in a matrix makes its model unlike all
 * others. */
int spot_find_twins(int *unit, const spot_background_results *r, const spot_background_responses *a)
{
    double best = 0;
    int n = 0;

    for (int u = 0; u < r->units; u++)
        for (int v = 0; v < u; v++) {
            const double d = least_difference(r, a, &v, 1, u);
            if (d > best) best = d, unit[0] = v, unit[1] = u, n = 2;
        }
    while (n && n < SPOT_TWINS) {
        int next = -1;
        best = 0;
        for (int u = 0; u < r->units; u++) {
            const double d = least_difference(r, a, unit, n, u);
            if (d > best) best = d, next = u;
        }
        if (next < 0) break;
        unit[n++] = next;
    }
    return n;
}
