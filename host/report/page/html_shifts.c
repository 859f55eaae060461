/* html_shifts.c - the run of a study of shifts as a page. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/figure/figures_shifts.h"
#include "report/page/html_shifts.h"
#include "result/result.h"

enum { EACH = 6, PASS_CLASS = 1, PASS_SHIFT = 2 };     /* pictures on each side of a threshold */

typedef struct {
    spot_ctx *c;
    const spot_shifts_results *r;
    const char *dir;
    spot_page *p;
    spot_shift_rows rows;
    int figures;
} html_shifts_work;

/* The study's own document. */
static spot_status write_study(html_shifts_work *w)
{
    char *json;
    size_t n;

    SPOT_TRY(spot_shifts_json(w->c, &json, &n, w->r));
    spot_page_block(w->p, "study", json, n);
    free(json);
    spot_page_text(w->p, "source", w->dir);
    spot_quantities_describe(w->p->at, "columns", &spot_shifts_table);
    spot_quantities_describe(w->p->at, "coverage", &spot_shifts_covers);
    return SPOT_OK;
}

/* ---- figures, of one panel or few: they can be read on a small screen ---- */

static spot_status write_selection(html_shifts_work *w)
{
    spot_votes *v = malloc(sizeof *v);
    bool found = false;
    spot_plot plot;
    spot_status s = v ? spot_votes_recall(w->c, v, w->r, w->dir, &found) : spot_fail(w->c, SPOT_NOMEM, "no memory for votes");

    if (s == SPOT_OK && found) {
        spot_plot_selection(&plot, w->r, v);
        s = spot_page_figure(w->p, w->figures++, &plot, "6");
    }
    free(v);
    return s;
}

static spot_status write_figures(html_shifts_work *w)
{
    const spot_shift_result *last = &w->r->unit[w->r->units - 1];
    spot_plot plot;
    spot_status s = SPOT_OK;

    spot_json_array(w->p->at, "figures", 0, 0);
    for (int v = 0; v < w->r->sources && w->r->cfg->models > 1 && s == SPOT_OK; v++) {
        spot_plot_slopes(&plot, w->r, v);
        plot.caption[0] = 0;
        s = spot_page_figure(w->p, w->figures++, &plot, "11");
    }
    if (s == SPOT_OK && last->filtered) {
        spot_plot_passes(&plot, w->r);
        s = spot_page_figure(w->p, w->figures++, &plot, "17 b");
    }
    if (s == SPOT_OK) s = write_selection(w);
    for (int k = 0; k < w->r->cfg->shifts && s == SPOT_OK && last->columns; k++) {
        spot_plot_similarities(&plot, w->r, &k, 1);
        plot.caption[0] = 0;
        s = spot_page_figure(w->p, w->figures++, &plot, "17 a");
    }
    spot_json_end(w->p->at);
    return s;
}

/* ---- pictures at the thresholds ---- */

typedef struct { double margin; int row; } near;

static int by_margin(const void *a, const void *b)
{
    const near *x = a, *y = b;

    if (fabs(x->margin) != fabs(y->margin)) return fabs(x->margin) < fabs(y->margin) ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static spot_status write_side(html_shifts_work *w, const char *key, near *of, int n, const spot_shift_pictures_result *f,
                              int unit)
{
    const spot_shift_result *u = &w->r->unit[unit];

    qsort(of, (size_t)n, sizeof *of, by_margin);
    spot_json_array(w->p->at, key, 0, 0);
    for (int i = 0; i < n && i < EACH; i++) {
        const int row = spot_shift_row_add(&w->rows, unit, f->path[of[i].row]);
        if (row < 0) break;
        spot_json_array(w->p->at, NULL, 3, 3);
        spot_json_put_int(w->p->at, NULL, row);
        spot_page_real(w->p, NULL, of[i].margin);
        spot_page_text(w->p, NULL, u->class_name[f->cls[of[i].row]]);
        spot_json_end(w->p->at);
    }
    spot_json_end(w->p->at);
    return w->p->blocks.status;
}

/* One threshold of a folder: pictures just above and below it, of those that pass the other one. */
static spot_status write_threshold(html_shifts_work *w, int unit, const spot_shift_pictures_result *f, int column,
                                   near *scratch)
{
    const spot_shift_result *u = &w->r->unit[unit];
    const uint8_t other = column ? PASS_CLASS : PASS_SHIFT;
    spot_page *p = w->p;
    near *above = scratch, *below = scratch + f->n;
    int over = 0, under = 0;

    for (int i = 0; i < f->n; i++) {
        const double least = column ? u->threshold : u->class_threshold[f->cls[i]];
        const double margin = f->similarity[(size_t)i * (size_t)f->columns + (size_t)column] - least;
        if (!(f->pass[i] & other) || !isfinite(margin)) continue;
        if (f->pass[i] & (column ? PASS_SHIFT : PASS_CLASS)) above[over++] = (near){ margin, i };
        else below[under++] = (near){ margin, i };
    }
    spot_json_object(p->at, NULL);
    spot_page_text(p, "by", column ? "shift" : "class");
    spot_page_text(p, "caption", u->column[column]);
    if (column) spot_page_real(p, "threshold", u->threshold);
    spot_json_put_int(p->at, "over", over);
    spot_json_put_int(p->at, "under", under);
    SPOT_TRY(write_side(w, "above", above, over, f, unit));
    SPOT_TRY(write_side(w, "below", below, under, f, unit));
    spot_json_end(p->at);
    return SPOT_OK;
}

static spot_status write_folder(html_shifts_work *w, int source, int shift)
{
    const int unit = spot_shift_unit_result(w->r, source, shift)->index;
    spot_shift_pictures_result f = { 0 };
    near *scratch = NULL;
    spot_status s = spot_shift_pictures_read(w->c, &f, w->dir, &w->r->unit[unit]);

    if (s == SPOT_OK && !(scratch = malloc((2 * (size_t)f.n + 1) * sizeof *scratch)))
        s = spot_fail(w->c, SPOT_NOMEM, "no memory for %d pictures", f.n);
    if (s == SPOT_OK && f.columns > 1) {
        spot_json_object(w->p->at, NULL);
        spot_json_put_int(w->p->at, "source", source);
        spot_page_text(w->p, "shift", w->r->cfg->shift[shift].name);
        spot_json_array(w->p->at, "by", 0, 0);
        if (w->r->cfg->shift[shift].threshold > -1) s = write_threshold(w, unit, &f, 1, scratch);
        if (s == SPOT_OK) s = write_threshold(w, unit, &f, 0, scratch);
        spot_json_end(w->p->at);
        spot_json_end(w->p->at);
    }
    free(scratch);
    spot_shift_pictures_free(&f);
    return s;
}

static spot_status write_pictures(html_shifts_work *w)
{
    spot_status s = SPOT_OK;

    spot_json_array(w->p->at, "at", 0, 0);
    for (int k = 0; k < w->r->cfg->shifts && s == SPOT_OK; k++)
        for (int v = 0; v < w->r->sources && s == SPOT_OK; v++) s = write_folder(w, v, k);
    spot_json_end(w->p->at);
    return s;
}

/* ---- the page ---- */

static spot_status write_page(html_shifts_work *w)
{
    w->p->frame = "shifts.html";
    SPOT_TRY(write_study(w));
    SPOT_TRY(write_figures(w));
    SPOT_TRY(write_pictures(w));
    return spot_shift_rows_write(&w->rows);
}

spot_status spot_report_shifts(spot_ctx *c, const char *path, const char *dir, const char *folder, const spot_report_options *o)
{
    spot_shifts_results r = { 0 };
    spot_page page;
    html_shifts_work w = { .c = c, .r = &r, .dir = dir, .p = &page };
    spot_status s = spot_shifts_read(c, &r, dir);

    if (s == SPOT_OK && folder) r.cfg->data.root = folder;
    w.rows = (spot_shift_rows){ .p = &page, .r = &r, .trusted = folder || o->other_pictures };
    if (s == SPOT_OK) {
        s = spot_page_begin(&page, c, o, "shifts", "Distribution shifts");
        if (s == SPOT_OK) s = spot_page_write(&page, path, write_page(&w));
    }
    spot_shift_rows_close(&w.rows);
    spot_shifts_close(&r);
    return s;
}
