/* html_pick.c - contact sheets of shifts: pictures around fixed percentiles of the similarity to the caption of the shift. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/figure/figures_shifts.h"
#include "report/page/html_shifts.h"

enum { BESIDE = 8 };           /* pictures of a percentile */

static const int percentiles[] = { 2, 5, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90 };

typedef struct { float similarity; int unit, row; } ranked;

typedef struct {
    spot_ctx *c;
    const spot_shifts_results *r;
    const char *dir;
    spot_page *p;
    spot_shift_rows rows;
} html_pick_work;

static int by_similarity(const void *a, const void *b)
{
    const ranked *x = a, *y = b;

    if (x->similarity != y->similarity) return x->similarity < y->similarity ? -1 : 1;
    if (x->unit != y->unit) return x->unit < y->unit ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* ---- a shift ---- */

/* A setting with its exact value: the page writes it for YAML. */
static void write_setting(spot_page *p, const char *key, const char *value)
{
    if (!*value) return;
    spot_json_array(p->at, NULL, 2, 2);
    spot_json_put_text(p->at, NULL, key);
    spot_json_put_text(p->at, NULL, value);
    spot_json_end(p->at);
}

static void write_settings(spot_page *p, const spot_shift *s)
{
    spot_json_put_int(p->at, "style", s->style);
    spot_json_array(p->at, "settings", 0, 0);
    write_setting(p, "name", s->name);
    write_setting(p, "folder", s->folder);
    write_setting(p, "prompt", s->prompt);
    write_setting(p, "class_caption", s->class_caption);
    write_setting(p, "shift_caption", s->shift_caption);
    write_setting(p, "category", s->category);
    spot_json_end(p->at);
}

/* The pictures whose ranks are nearest to the percentile's, in order. */
static void write_level(html_pick_work *w, const ranked *of, int n, const spot_shift_pictures_result *file,
                        const double *sorted, int percentile)
{
    const int middle = (int)((long long)(n - 1) * percentile / 100);
    int from = middle - BESIDE / 2 + 1, to;

    if (from > n - BESIDE) from = n - BESIDE;
    if (from < 0) from = 0;
    to = from + BESIDE < n ? from + BESIDE : n;
    spot_json_object(w->p->at, NULL);
    spot_json_put_int(w->p->at, "percentile", percentile);
    spot_page_real(w->p, "at", spot_quantile(sorted, n, percentile / 100.0));
    spot_json_array(w->p->at, "pictures", 0, 0);
    for (int i = from; i < to; i++) {
        const int row = spot_shift_row_add(&w->rows, of[i].unit, file[w->r->unit[of[i].unit].source].path[of[i].row]);
        if (row < 0) break;
        spot_json_array(w->p->at, NULL, 2, 2);
        spot_json_put_int(w->p->at, NULL, row);
        spot_page_real(w->p, NULL, of[i].similarity);
        spot_json_end(w->p->at);
    }
    spot_json_end(w->p->at);
    spot_json_end(w->p->at);
}

static void write_levels(html_pick_work *w, ranked *of, int n, const spot_shift_pictures_result *file, double *sorted)
{
    qsort(of, (size_t)n, sizeof *of, by_similarity);
    for (int i = 0; i < n; i++) sorted[i] = of[i].similarity;
    spot_json_array(w->p->at, "levels", 0, 0);
    for (size_t k = 0; k < sizeof percentiles / sizeof *percentiles && n; k++)
        write_level(w, of, n, file, sorted, percentiles[k]);
    spot_json_end(w->p->at);
}

/* All sources together: a shift has one threshold. */
static spot_status write_shift(html_pick_work *w, int shift)
{
    spot_shift_pictures_result file[SPOT_MAX_SOURCES] = { 0 };
    const spot_shift_result *unit[SPOT_MAX_SOURCES];
    const spot_shift *s = &w->r->cfg->shift[shift];
    int n = 0, at = 0;
    ranked *of = NULL;
    double *sorted = NULL;
    spot_status how = SPOT_OK;

    for (int v = 0; v < w->r->sources && how == SPOT_OK; v++) {
        unit[v] = spot_shift_unit_result(w->r, v, shift);
        how = spot_shift_pictures_read(w->c, &file[v], w->dir, unit[v]);
        n += file[v].n;
        if (how == SPOT_OK && file[v].columns < 2)
            how = spot_fail(w->c, SPOT_INPUT, "%s has no similarities to choose a threshold from; an encoder or embeddings "
                            "give them",
                            w->dir);
    }
    if (how == SPOT_OK) of = malloc(((size_t)n + 1) * sizeof *of), sorted = malloc(((size_t)n + 1) * sizeof *sorted);
    if (how == SPOT_OK && (!of || !sorted)) how = spot_fail(w->c, SPOT_NOMEM, "no memory to sort %d pictures", n);
    for (int v = 0; v < w->r->sources && how == SPOT_OK; v++)
        for (int i = 0; i < file[v].n; i++)
            of[at++] = (ranked){ file[v].similarity[(size_t)i * (size_t)file[v].columns + 1], unit[v]->index, i };
    if (how == SPOT_OK) {
        spot_json_object(w->p->at, NULL);
        spot_page_text(w->p, "name", s->name);
        spot_page_text(w->p, "caption", unit[0]->column[1]);
        spot_page_real(w->p, "now", s->threshold);
        spot_json_put_int(w->p->at, "pictures", n);
        write_settings(w->p, s);
        write_levels(w, of, n, file, sorted);
        spot_json_end(w->p->at);
    }
    for (int v = 0; v < w->r->sources; v++) spot_shift_pictures_free(&file[v]);
    free(of), free(sorted);
    return how;
}

/* ---- the page ---- */

static spot_status write_page(html_pick_work *w)
{
    spot_status s = SPOT_OK;

    w->p->frame = "pick.html";
    spot_page_print(w->p, "source", "%s, encoder %s", w->dir, spot_shift_encoder_name(w->r));
    spot_page_text(w->p, "encoder", spot_shift_encoder_name(w->r));
    spot_json_array(w->p->at, "shifts", 0, 0);
    for (int i = 0; i < w->r->cfg->shifts && s == SPOT_OK; i++) s = write_shift(w, i);
    spot_json_end(w->p->at);
    return s == SPOT_OK ? spot_shift_rows_write(&w->rows) : s;
}

spot_status spot_report_pick(spot_ctx *c, const char *path, const char *dir, const spot_report_options *o)
{
    spot_shifts_results r = { 0 };
    spot_page page;
    html_pick_work w = { .c = c, .r = &r, .dir = dir, .p = &page };
    spot_status s = spot_shifts_read(c, &r, dir);

    w.rows = (spot_shift_rows){ .p = &page, .r = &r };
    if (s == SPOT_OK) {
        s = spot_page_begin(&page, c, o, "pick", "Thresholds of shifts");
        if (s == SPOT_OK) s = spot_page_write(&page, path, write_page(&w));
    }
    spot_shift_rows_close(&w.rows);
    spot_shifts_close(&r);
    return s;
}
