/* html_examine.c - the run of `spotter examine` as a page. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/page/html_examine.h"

/* ---- head ---- */

static void write_factors(spot_examine_page *w)
{
    const spot_factor_space *s = &w->r->space;

    spot_json_array(w->p->at, "factors", 0, 0);
    for (int d = 0; d < s->dims; d++) {
        spot_json_object(w->p->at, NULL);
        spot_json_put_int(w->p->at, "factor", s->factor[d]);
        spot_page_real(w->p, "least", s->least[d]);
        spot_page_real(w->p, "most", s->most[d]);
        spot_json_end(w->p->at);
    }
    spot_json_end(w->p->at);
    spot_json_array(w->p->at, "factor_names", 0, 0);
    for (int f = 0; f < SPOT_FACTORS; f++) spot_page_text(w->p, NULL, spot_factor_label(f));
    spot_json_end(w->p->at);
    spot_json_array(w->p->at, "units_of_factors", 0, 0);
    for (int f = 0; f < SPOT_FACTORS; f++) spot_page_text(w->p, NULL, spot_factor_unit(f));
    spot_json_end(w->p->at);
}

static void write_head(spot_examine_page *w)
{
    const spot_examine_config *cfg = w->r->cfg;
    spot_page *p = w->p;
    const char *name;

    spot_page_text(p, "source", w->dir);
    spot_page_text(p, "mode", cfg->search.mode == SPOT_MODE_STRENGTH ? "strength" : "weakness");
    spot_json_put_int(p->at, "window", cfg->search.window);
    spot_json_put_int(p->at, "seeds", cfg->search.seeds);
    spot_json_put_int(p->at, "size", cfg->render.size);
    spot_json_put_int(p->at, "perturbed", cfg->search.perturbed);
    spot_page_real(p, "perturb", cfg->search.perturb);
    spot_page_real(p, "fails", cfg->search.mode == SPOT_MODE_STRENGTH ? 1 - cfg->search.fails : cfg->search.fails);
    spot_json_put_int(p->at, "objects_of_a_model", w->r->objects);
    write_factors(w);
    spot_json_array(p->at, "classes", 0, 0);
    for (int k = 0; *(name = spot_examine_class(cfg, k)); k++) spot_page_text(p, NULL, name);
    spot_json_end(p->at);
    spot_json_array(p->at, "examiners", 0, 0);
    for (int e = 0; e < cfg->examiners; e++) spot_page_text(p, NULL, spot_examine_label(&cfg->examiner[e]));
    spot_json_end(p->at);
}

/* ---- curves ---- */

/* "|camera elevation| above 60 degrees, camera distance below 2.5 diagonals" */
static void write_region(spot_examine_page *w, const spot_examine_model *m)
{
    spot_failure_rule rule = { .limits = m->limits };
    char words[256];

    if (!m->limits || m->limits > SPOT_MAX_RULE_LIMITS) return;
    for (int i = 0; i < m->limits; i++) rule.limit[i] = m->limit[i];
    spot_failure_rule_words(words, sizeof words, &rule, &w->r->space);
    spot_page_text(w->p, "region", words);
    spot_page_real(w->p, "region_volume", spot_failure_rule_volume(&rule, &w->r->space));
}

static void write_models(spot_examine_page *w)
{
    spot_json_array(w->p->at, "models", 0, 0);
    for (int m = 0; m < w->r->cfg->models; m++) {
        const spot_examine_summary *s = &w->r->summary[m * w->r->cfg->examiners];
        spot_json_object(w->p->at, NULL);
        spot_page_text(w->p, "name", w->r->cfg->model[m].name);
        spot_page_text(w->p, "identity", spot_examine_page_unit(w, m, 0, 0, 0)->identity);
        spot_page_real(w->p, "start", s->start);
        write_region(w, &w->r->cfg->model[m]);
        if (w->r->cfg->model[m].limits) spot_json_put_int(w->p->at, "learned", s->learned);
        spot_json_end(w->p->at);
    }
    spot_json_end(w->p->at);
}

static void write_line(spot_page *p, const spot_examine_line *l)
{
    spot_json_object(p->at, NULL);
    spot_json_put_int(p->at, "renders", l->renders);
    spot_page_interval(p, "mean", l->mean);
    spot_page_interval(p, "lowest", l->lowest_valid);
    spot_page_interval(p, "any", l->lowest);
    spot_page_interval(p, "robust", l->robust);
    spot_page_real(p, "valid", l->valid);
    spot_page_interval(p, "inside", l->inside);
    spot_json_end(p->at);
}

static void write_curves(spot_examine_page *w)
{
    spot_json_array(w->p->at, "curves", 0, 0);
    for (int i = 0; i < w->r->summaries; i++) {
        const spot_examine_summary *s = &w->r->summary[i];
        spot_json_object(w->p->at, NULL);
        spot_json_put_int(w->p->at, "model", s->model);
        spot_json_put_int(w->p->at, "examiner", s->examiner);
        spot_json_put_int(w->p->at, "learned", s->learned);
        spot_json_put_int(w->p->at, "found", s->found);
        spot_json_array(w->p->at, "line", 0, 0);
        for (int k = 0; k < s->points; k++) write_line(w->p, &s->line[k]);
        spot_json_end(w->p->at);
        spot_json_end(w->p->at);
    }
    spot_json_end(w->p->at);
}

/* ---- the page ---- */

static spot_status write_page(spot_examine_page *w)
{
    w->p->frame = "examine.html";
    write_head(w);
    spot_examine_page_words(w);
    write_models(w);
    write_curves(w);
    spot_examine_page_objects(w);
    SPOT_TRY(spot_check_stop(w->c));
    SPOT_TRY(spot_examine_page_maps(w));
    return spot_examine_page_pictures(w);
}

/* A run whose maps are not there yet has a page without them. */
static spot_status read_failures(spot_examine_page *w)
{
    const spot_status s = spot_failures_read(w->c, &w->failures, w->dir);

    w->mapped = s == SPOT_OK;
    if (s != SPOT_IO) return s;
    spot_log(w->c, SPOT_LOG_WARN, "the page has no maps of failure: %s", spot_message(w->c, s));
    spot_forget(w->c);
    return SPOT_OK;
}

spot_status spot_report_examine(spot_ctx *c, const char *path, const char *dir, const spot_report_options *o)
{
    spot_report_options large = *o;
    spot_examine_results r;
    spot_page page;
    spot_examine_page w = { .c = c, .p = &page, .r = &r, .dir = dir };
    spot_status s = spot_examine_read(c, &r, dir);

    large.thumb = o->thumb > 120 ? 240 : 2 * o->thumb;
    if (s == SPOT_OK) s = read_failures(&w);
    if (s == SPOT_OK) {
        s = spot_page_begin(&page, c, o, "examine", "Examination");
        page.o = &large;
        if (s == SPOT_OK) s = spot_page_write(&page, path, write_page(&w));
    }
    spot_failures_close(&w.failures);
    spot_examine_close(&r);
    return s;
}
