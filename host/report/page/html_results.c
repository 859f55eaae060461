/* html_results.c - a run's results on a page: facts for its head, the table of methods, the paper's figures. */
#include <stdio.h>
#include <stdlib.h>

#include "report/figure/figures.h"
#include "report/page/html_results.h"
#include "report/table/results_describe.h"

static void write_fact(spot_page *p, const char *name, const char *value, const char *note)
{
    spot_json_array(p->at, NULL, 0, 0);
    spot_page_text(p, NULL, name);
    spot_page_text(p, NULL, value);
    spot_page_text(p, NULL, note);
    spot_json_end(p->at);
}

static void write_facts(spot_page *p, const spot_results *r)
{
    char value[32], note[160];
    int best = -1;

    spot_json_array(p->at, "facts", 0, 0);
    snprintf(value, sizeof value, "%d", r->ecs);
    snprintf(note, sizeof note, "of %d planned%s", r->planned, r->not_learned ? "" : ", all learned");
    if (r->not_learned) snprintf(note, sizeof note, "of %d planned, %d not learned", r->planned, r->not_learned);
    write_fact(p, "ECs", value, note);
    snprintf(value, sizeof value, "%d", r->methods);
    write_fact(p, "methods", value, NULL);
    for (int b = 0; b < r->methods; b++)
        if (r->method[b].sum.dr.n && (best < 0 || r->method[b].sum.dr.mean > r->method[best].sum.dr.mean)) best = b;
    if (best >= 0) {
        snprintf(value, sizeof value, "%.2f", r->method[best].sum.dr.mean);
        write_fact(p, "best discovery rate", value, r->method[best].name);
    }
    spot_json_end(p->at);
}

/* The methods as the run's JSON has them, and the columns of two tables. */
static void write_methods(spot_page *p, const spot_results *r)
{
    char counted[300], origin[300];

    spot_quantities_put(p->at, spot_results_methods, r);
    spot_quantities_describe(p->at, "columns", &spot_results_methods[0]);
    if (spot_results_has_any_beside(r)) spot_quantities_describe(p->at, "beside", &spot_results_besides);
    spot_page_text(p, "beside_title", spot_results_besides.title);
    spot_page_text(p, "beside_note", spot_results_has_beside(r, SPOT_COHERENCE) ? SPOT_RESULTS_RANK : NULL);
    spot_page_print(p, "caption", "Discovery rate and false discovery rate, means over ECs (standard errors); then why "
                    "blindspots were missed, as shares of their images. %s; %s.",
                    spot_results_counted(counted, sizeof counted, r), spot_results_origin(origin, sizeof origin, r));
}

static spot_status write_figure(spot_ctx *c, void *user, int number, const spot_chart *chart)
{
    spot_page *p = user;
    char *svg;
    size_t n;

    SPOT_TRY(spot_chart_svg(c, &svg, &n, chart));
    spot_page_element(p, 'f', number, svg, n);
    free(svg);
    spot_json_object(p->at, NULL);
    spot_json_put_int(p->at, "number", number);
    spot_page_text(p, "title", chart->title);
    spot_page_text(p, "caption", chart->caption);
    spot_json_end(p->at);
    return SPOT_OK;
}

/* A run with too many methods for one drawing, or without counted ECs, has no figures; the page gives the reason. */
static spot_status write_figures(spot_page *p, const spot_results *r)
{
    char why[1024] = "";
    spot_status s;

    spot_json_array(p->at, "figures", 0, 0);
    s = spot_figures_take(p->c, r, write_figure, p);
    spot_json_end(p->at);
    if (s != SPOT_USAGE && s != SPOT_INPUT) return s;
    snprintf(why, sizeof why, "%s", spot_message(p->c, s));
    spot_forget(p->c);
    spot_page_text(p, "no_figures", why);
    return SPOT_OK;
}

spot_status spot_page_results(spot_page *p, const spot_results *r)
{
    write_facts(p, r);
    write_methods(p, r);
    return write_figures(p, r);
}
