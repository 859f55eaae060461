/* html_examine.c - the run of `spotter examine` as a page. */
#include <stdlib.h>

#include "report/page/html_examine.h"
#include "result/result.h"

/* ---- the study's own documents ---- */

static spot_status write_study(spot_examine_page *w)
{
    char *json;
    size_t n;

    SPOT_TRY(spot_examine_json(w->c, &json, &n, w->r, w->mapped ? &w->failures : NULL));
    spot_page_block(w->p, "study", json, n);
    free(json);
    if (!w->mapped) return SPOT_OK;
    SPOT_TRY(spot_failures_json(w->c, &json, &n, &w->failures, w->r));
    spot_page_block(w->p, "failures", json, n);
    free(json);
    return SPOT_OK;
}

/* ---- what only the page has ---- */

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
        spot_json_object(w->p->at, NULL);
        spot_page_text(w->p, "name", w->r->cfg->model[m].name);
        write_region(w, &w->r->cfg->model[m]);
        spot_json_end(w->p->at);
    }
    spot_json_end(w->p->at);
}

static void write_head(spot_examine_page *w)
{
    const spot_examine_config *cfg = w->r->cfg;
    spot_page *p = w->p;
    const char *name;

    spot_page_text(p, "source", w->dir);
    spot_quantities_describe(p->at, "columns", spot_examine_curves(w->r));
    spot_json_array(p->at, "classes", 0, 0);
    for (int k = 0; *(name = spot_examine_class(cfg, k)); k++) spot_page_text(p, NULL, name);
    spot_json_end(p->at);
    spot_json_array(p->at, "examiners", 0, 0);
    for (int e = 0; e < cfg->examiners; e++) spot_page_text(p, NULL, spot_examine_label(&cfg->examiner[e]));
    spot_json_end(p->at);
}

/* ---- the page ---- */

static spot_status write_page(spot_examine_page *w)
{
    w->p->frame = "examine.html";
    SPOT_TRY(write_study(w));
    write_head(w);
    write_models(w);
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
