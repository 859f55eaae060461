/* figures_shifts_files.c - Figures 6, 10, 11 and 17 of a run as files and as CSV. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/figure/figures_files.h"
#include "report/figure/figures_shifts.h"
#include "spotter/report.h"

/* The indices of the chosen shifts; all where none is named. */
static spot_status choose_shifts(spot_ctx *c, int *shift, int *n, const spot_shifts_results *r, const spot_figures_options *o)
{
    *n = 0;
    for (int s = 0; s < r->cfg->shifts && !o->shifts; s++) shift[(*n)++] = s;
    for (int i = 0; i < o->shifts; i++) {
        int s = 0;
        while (s < r->cfg->shifts && strcmp(r->cfg->shift[s].name, o->shift[i])) s++;
        if (s == r->cfg->shifts) return spot_fail(c, SPOT_USAGE, "the run has no shift \"%s\"", o->shift[i]);
        shift[(*n)++] = s;
    }
    return SPOT_OK;
}

static bool has_similarities(const spot_shifts_results *r) { return r->unit[r->units - 1].columns > 0; }

static bool has_filter(const spot_shifts_results *r) { return r->unit[r->units - 1].filtered; }

typedef struct {
    spot_ctx *c;
    const spot_shifts_results *r;
    const spot_figures_options *o;
    int shift[SPOT_MAX_SHIFTS], n;
} figures_shifts_files_work;

static spot_status draw_models(figures_shifts_files_work *w)
{
    bool wanted;
    spot_plot p;

    SPOT_TRY(spot_figure_wanted(w->c, &wanted, w->o, 10, w->r->cfg->models > 0, "the run has no models"));
    if (wanted) {
        spot_plot_fits(&p, w->r, w->shift, w->n);
        SPOT_TRY(spot_figure_output(w->c, SPOT_OK, &p, w->o, "10"));
    }
    SPOT_TRY(spot_figure_wanted(w->c, &wanted, w->o, 11, w->r->cfg->models > 1, "a slope needs two models"));
    if (!wanted) return SPOT_OK;
    spot_plot_slopes(&p, w->r, -1);
    return spot_figure_output(w->c, SPOT_OK, &p, w->o, "11");
}

static spot_status draw_filter(figures_shifts_files_work *w)
{
    bool wanted;
    spot_plot p;

    SPOT_TRY(spot_figure_wanted(w->c, &wanted, w->o, 17, has_similarities(w->r) || has_filter(w->r), "the run has no filter"));
    if (wanted && has_similarities(w->r)) {
        spot_plot_similarities(&p, w->r, w->shift, w->n);
        SPOT_TRY(spot_figure_output(w->c, SPOT_OK, &p, w->o, "17a"));
    }
    if (!wanted || !has_filter(w->r)) return SPOT_OK;
    spot_plot_passes(&p, w->r);
    return spot_figure_output(w->c, SPOT_OK, &p, w->o, "17b");
}

static spot_status draw_votes(figures_shifts_files_work *w, const char *dir)
{
    spot_votes *v = malloc(sizeof *v);
    bool found = false, wanted = false;
    spot_plot p;
    spot_status s = !v ? spot_fail(w->c, SPOT_NOMEM, "no memory for votes")
                  : w->o->which >> 6 & 1 ? spot_votes_read(w->c, v, w->r, dir, NULL, &found)
                                         : spot_votes_recall(w->c, v, w->r, dir, &found);

    if (s == SPOT_OK)
        s = spot_figure_wanted(w->c, &wanted, w->o, 6, found, "nobody has voted; `spotter shifts --grids N` makes grids, "
                               "--votes FILE reads votes");
    if (s == SPOT_OK && wanted) {
        spot_plot_selection(&p, w->r, v);
        s = spot_figure_output(w->c, SPOT_OK, &p, w->o, "6");
    }
    free(v);
    return s;
}

spot_status spot_shifts_figures(spot_ctx *c, const char *dir, const spot_figures_options *o)
{
    const unsigned ours = 1u << 6 | 1u << 10 | 1u << 11 | 1u << 17;
    spot_shifts_results r = { 0 };
    figures_shifts_files_work w = { .c = c, .r = &r, .o = o };
    spot_status s;

    if (o->which & ~ours)
        return spot_fail(c, SPOT_USAGE, "%s is a run of `spotter shifts`: it has Figures 6, 10, 11 and 17", dir);
    if (o->methods || o->all) return spot_fail(c, SPOT_USAGE, "--method and --all are for runs of `spotter sweep`");
    s = spot_shifts_read(c, &r, dir);
    if (s == SPOT_OK) s = choose_shifts(c, w.shift, &w.n, &r, o);
    if (s == SPOT_OK) s = spot_figures_begin(c, o);
    if (s == SPOT_OK) s = draw_models(&w);
    if (s == SPOT_OK) s = draw_filter(&w);
    if (s == SPOT_OK) s = spot_figures_end(c, draw_votes(&w, dir), o);
    spot_shifts_close(&r);
    return s;
}

/* ---- votes ---- */

static void print_selection(FILE *f, const spot_selection *e)
{
    if (!e->images) fprintf(f, "  %-22s", "");
    else if (!(e->low >= 0)) fprintf(f, "  %.2f%18s", e->value, "");
    else fprintf(f, "  %.2f [%.2f, %.2f]%4s", e->value, e->low, e->high, "");
}

static void print_votes(FILE *f, const spot_shifts_results *r, const spot_votes *v)
{
    fprintf(f, "%-32s  %-22s  %-22s  %-22s  %s\n", "selection frequency [95 %]", "shift, unfiltered", "shift, filtered",
            "object, unfiltered", "object, filtered");
    for (int s = 0; s < r->sources; s++)
        for (int k = 0; k < r->cfg->shifts; k++) {
            char name[160];
            snprintf(name, sizeof name, "%s%s%s", r->cfg->sources ? r->cfg->source[s].name : "", r->cfg->sources ? ", " : "",
                     r->cfg->shift[k].name);
            spot_text_column(f, name, 30);
            for (int t = 0; t < SPOT_TASKS; t++)
                for (int kept = 0; kept < 2; kept++) print_selection(f, &v->selected[t][s][k][kept]);
            fputc('\n', f);
        }
    fprintf(f, "%-32s", "real pictures");
    for (int t = 0; t < SPOT_TASKS; t++) {
        print_selection(f, &v->real[t]);
        if (!t) fprintf(f, "  %-22s", "");
    }
    fprintf(f, "\n\n%d raters, %d votes for %d pictures", v->raters, v->votes, v->images);
    if (v->unanswered) fprintf(f, "; %d pictures of the grids have none", v->unanswered);
    fputc('\n', f);
    for (int t = 0; t < SPOT_TASKS; t++)
        if (v->kappa[t] == v->kappa[t])
            fprintf(f, "agreement on the %s: Fleiss's kappa %.2f\n", t == SPOT_TASK_SHIFT ? "shift" : "object", v->kappa[t]);
}

spot_status spot_shifts_votes(spot_ctx *c, FILE *f, const spot_shifts_results *r, const char *dir, const char *votes)
{
    spot_votes *v = malloc(sizeof *v);
    spot_plot p;
    char folder[1200];
    bool found;
    spot_status s = v ? spot_votes_read(c, v, r, dir, votes, &found) : spot_fail(c, SPOT_NOMEM, "no memory for votes");

    if (s == SPOT_OK) {
        const spot_figures_options o = { .out = folder, .png = true, .svg = true };
        snprintf(folder, sizeof folder, "%s/grids", dir);
        print_votes(f, r, v);
        spot_plot_selection(&p, r, v);
        s = spot_figure_output(c, SPOT_OK, &p, &o, "6");
    }
    free(v);
    return s;
}
