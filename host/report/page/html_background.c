/* html_background.c - the run of a study of backgrounds as a page. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/figure/figures_background.h"
#include "report/page/html_background.h"
#include "result/result.h"

#define MOST_CELLS 1500000         /* bytes of the matrices of a page, before they are packed */

enum { HALF = 254, NONE = 255 };   /* a cell's byte: 0 .. HALF for 0 .. the matrix's greatest value; NONE: it has no value */

/* ---- head ---- */

/* The study's own document as a block, and how its numbers are shown; then what only the page has. */
static spot_status write_head(spot_background_page *w)
{
    char *json;
    size_t n;

    SPOT_TRY(spot_background_json(w->c, &json, &n, w->own, w->dir));
    spot_page_block(w->p, "study", json, n);
    free(json);
    spot_quantities_describe(w->p->at, "columns", &spot_background_models);
    spot_page_text(w->p, "source", w->dir);
    spot_background_page_verdicts(w);
    return SPOT_OK;
}

/* ---- matrices ---- */

/* Cells a side of the page's matrices: those of the run, or means of blocks of them where models are many. */
static int step_of(const spot_background_results *r)
{
    const int g = r->cfg->measure.grid;
    int step = 1;

    while (r->units * (SPOT_BACKGROUND_MATRICES + 1.0) * (g / step) * (g / step) / 2 > MOST_CELLS && g / step > 16) step++;
    return step;
}

/* The mean of a block's cells that have a value. */
static double block_of(const float *m, int g, int step, int a, int b)
{
    double sum = 0;
    int n = 0;

    for (int y = a * step; y < (a + 1) * step && y < g; y++)
        for (int x = b * step; x < (b + 1) * step && x < g; x++) {
            const float v = m[(size_t)y * (size_t)g + (size_t)x];
            if (isfinite(v)) sum += v, n++;
        }
    return n ? sum / n : NAN;
}

static double greatest(const float *m, size_t cells)
{
    double most = 0;

    for (size_t i = 0; i < cells; i++)
        if (m[i] > most && isfinite(m[i])) most = m[i];
    return most;
}

/* The lower triangles, row by row, of the matrices that the model has, then of 1 where a cell has points. A matrix equals its
 * transpose. */
static spot_status write_matrices(spot_background_page *w, const spot_background_result *u, const spot_background_responses *a)
{
    const int g = a->grid, step = step_of(w->r), side = (g + step - 1) / step;
    const size_t cells = (size_t)g * (size_t)g, half = (size_t)side * (size_t)(side + 1) / 2;
    uint8_t *out = malloc((SPOT_BACKGROUND_MATRICES + 1) * half), *at = out;
    double most[SPOT_BACKGROUND_MATRICES];

    if (!out) return spot_fail(w->c, SPOT_NOMEM, "no memory for the matrices of %s", u->name);
    for (int k = 0; k < SPOT_BACKGROUND_MATRICES; k++) {
        const float *m = a->matrix + (size_t)k * cells;
        most[k] = u->has[k] ? greatest(m, cells) : NAN;
        if (most[k] > w->most[k]) w->most[k] = most[k];
        for (int y = 0; y < side && u->has[k]; y++)
            for (int x = 0; x <= y; x++) {
                const double v = block_of(m, g, step, y, x);
                *at++ = isfinite(v) ? most[k] > 0 ? (uint8_t)lrint(HALF * v / most[k]) : 0 : NONE;
            }
    }
    for (int y = 0; y < side; y++)
        for (int x = 0; x <= y; x++) *at++ = block_of(a->weight, g, step, y, x) > 0;
    spot_json_put_int(w->p->at, "side", side);
    spot_json_array(w->p->at, "most", 0, 0);
    for (int k = 0; k < SPOT_BACKGROUND_MATRICES; k++) spot_page_real(w->p, NULL, most[k]);
    spot_json_end(w->p->at);
    spot_page_block(w->p, "matrices", out, (size_t)(at - out));
    free(out);
    return SPOT_OK;
}

/* ---- models ---- */

/* Whether fewer than SPOT_SHOWN_MODELS models are turned more often; of equal ones the first have pictures. */
static bool has_pictures(const spot_background_results *r, int unit)
{
    const double own = r->summary[unit].turned.value;
    int before = 0;

    for (int u = 0; u < r->units; u++) {
        const double v = r->summary[u].turned.value;
        before += v > own || (isnan(own) && !isnan(v)) || (u < unit && (v == own || (isnan(v) && isnan(own))));
    }
    return before < SPOT_SHOWN_MODELS;
}

static spot_status write_model(spot_background_page *w, int unit)
{
    const spot_background_result *u = &w->r->unit[unit];
    spot_background_responses a;
    spot_status s;

    SPOT_TRY(spot_background_responses_read(w->c, &a, w->dir, u));
    spot_json_object(w->p->at, NULL);
    spot_background_page_verdict(w, unit);
    s = write_matrices(w, u, &a);
    if (s == SPOT_OK && has_pictures(w->r, unit)) {
        s = spot_background_page_pairs(w, &a);
        if (s == SPOT_OK) s = spot_background_page_backs(w, &a);
    }
    spot_json_end(w->p->at);
    spot_background_responses_free(&a);
    return s;
}

static spot_status write_models(spot_background_page *w)
{
    spot_status s = SPOT_OK;

    spot_json_array(w->p->at, "models", 0, 0);
    for (int u = 0; u < w->r->units && s == SPOT_OK; u++) {
        s = write_model(w, u);
        if (s == SPOT_OK) s = spot_check_stop(w->c);
    }
    spot_json_end(w->p->at);
    spot_json_array(w->p->at, "scale", 0, 0);
    for (int k = 0; k < SPOT_BACKGROUND_MATRICES; k++) spot_page_real(w->p, NULL, w->most[k]);
    spot_json_end(w->p->at);
    return s;
}

/* ---- figures ---- */

static spot_status write_figures(spot_background_page *w)
{
    spot_plot plot;
    spot_status s = SPOT_OK;

    spot_json_array(w->p->at, "figures", 0, 0);
    if (spot_background_has_levels(w->r->suite)) {
        spot_plot_levels(&plot, w->r);
        s = spot_page_figure(w->p, w->figures++, &plot, NULL);
    }
    if (s == SPOT_OK) {
        spot_plot_distances(&plot, &w->r, &w->dir, 1);
        s = spot_page_figure(w->p, w->figures++, &plot, NULL);
    }
    spot_json_end(w->p->at);
    return s;
}

/* ---- the page ---- */

static spot_status write_page(spot_background_page *w)
{
    w->p->frame = "backgrounds.html";
    SPOT_TRY(spot_verdict_report_make(w->c, &w->verdict, w->r, w->dir));
    SPOT_TRY(write_head(w));
    SPOT_TRY(write_models(w));
    SPOT_TRY(write_figures(w));
    SPOT_TRY(spot_background_page_variants(w));
    SPOT_TRY(spot_background_page_example(w));
    return spot_background_page_rows(w);
}

spot_status spot_report_background(spot_ctx *c, const char *path, const char *dir, const spot_report_options *o)
{
    spot_report_options large = *o;
    spot_background_results r = { 0 };
    spot_page page;
    spot_background_page w = { .c = c, .p = &page, .r = &r, .own = &r, .dir = dir };
    spot_status s = spot_background_read(c, &r, dir);

    large.thumb = o->thumb > 120 ? 240 : 2 * o->thumb;
    if (s == SPOT_OK) {
        s = spot_page_begin(&page, c, o, "background", "Backgrounds");
        page.o = &large;
        if (s == SPOT_OK) s = spot_page_write(&page, path, write_page(&w));
    }
    spot_verdict_report_free(&w.verdict);
    free(w.row);
    spot_background_close(&r);
    return s;
}
