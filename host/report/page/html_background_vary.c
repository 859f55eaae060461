/* html_background_vary.c - the settings of a run and of its variants, with their numbers over all models. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/page/html_background.h"

/* "72 %, kernel 16" and the like: what a row of the page's table says of a run. */
static void write_settings(spot_page *p, const spot_background_config *cfg)
{
    spot_page_text(p, "choice", spot_background_choice_name(cfg->suite.choice));
    spot_json_put_int(p->at, "n", cfg->suite.n);
    spot_page_print(p, "seed", "%llu", (unsigned long long)cfg->suite.seed);
    spot_json_put_int(p->at, "part", cfg->data.part);
    spot_json_put_int(p->at, "levels", cfg->ontology.levels);
    spot_json_put_int(p->at, "kernel", cfg->measure.kernel);
    spot_page_real(p, "sigma", cfg->measure.sigma);
}

/* The mean over models that have the number; NaN: none has. */
typedef struct { double sum; int n; } mean;

static void add(mean *m, double v)
{
    if (isfinite(v)) m->sum += v, m->n++;
}

static double value_of(const mean *m) { return m->n ? m->sum / m->n : NAN; }

static void write_means(spot_page *p, const spot_background_results *r, const spot_verdict_report *v)
{
    const bool judged = v->scores.splits > 0;
    mean suite = { 0 }, steady = { 0 }, turned = { 0 }, coverage = { 0 };

    for (int u = 0; u < r->units; u++) {
        add(&suite, r->summary[u].accuracy[SPOT_SET_SUITE].value);
        add(&steady, r->summary[u].steady.value);
        add(&turned, r->summary[u].turned.value);
        add(&coverage, r->unit[u].coverage[1]);
    }
    spot_page_real(p, "suite", value_of(&suite));
    spot_page_real(p, "steady", value_of(&steady));
    spot_page_real(p, "turned", value_of(&turned));
    spot_page_real(p, "coverage", value_of(&coverage));
    spot_page_real(p, "forest", judged ? v->scores.assessor[SPOT_ASSESSOR_FOREST].of_accuracy.mean : NAN);
    spot_page_real(p, "worst", judged ? v->scores.assessor[SPOT_ASSESSOR_WORST].of_accuracy.mean : NAN);
}

static void write_run(spot_page *p, const char *name, const spot_background_results *r, const spot_verdict_report *v)
{
    spot_json_object(p->at, NULL);
    spot_page_text(p, "name", name);
    write_settings(p, r->cfg);
    write_means(p, r, v);
    spot_json_end(p->at);
}

/* A variant that is not computed yet is left out. */
static spot_status write_variant(spot_background_page *w, const char *name, const char *dir)
{
    spot_background_results r;
    spot_verdict_report v = { 0 };
    spot_status s = spot_background_read(w->c, &r, dir);

    if (s == SPOT_IO || r.missing) spot_forget(w->c), s = SPOT_OK;
    else if (s == SPOT_OK) {
        s = spot_verdict_report_make(w->c, &v, &r, dir);
        if (s == SPOT_OK) write_run(w->p, name, &r, &v);
    }
    spot_verdict_report_free(&v);
    spot_background_close(&r);
    return s;
}

spot_status spot_background_page_variants(spot_background_page *w)
{
    const spot_background_config *cfg = w->r->cfg;
    char path[1300];
    spot_status s = SPOT_OK;

    spot_json_array(w->p->at, "variants", 0, 0);
    if (cfg->variants) write_run(w->p, "the config's own", w->r, &w->verdict);
    for (int k = 0; k < cfg->variants && s == SPOT_OK; k++) {
        spot_background_variant_path(path, sizeof path, w->dir, cfg, k);
        s = write_variant(w, cfg->variant[k].name, path);
        if (s == SPOT_OK) s = spot_check_stop(w->c);
    }
    spot_json_end(w->p->at);
    return s;
}
