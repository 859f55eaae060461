/* tables_data.c - the tables for programs.
 *
 * CSV is one tidy table: method,ec,quantity,value,se,n,left_out. An empty ec is the mean over ECs, an empty method a quantity
 * of the EC itself; missing values are empty. By factor: "dr[blindspots=2]", "covered[specificity=5]",
 * "covered[presence of a circle=with]"; n and left_out count ECs, for "covered" blindspots, for the rank correlation of
 * coherence and precision slices. */
#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "result/columns.h"
#include "report/table/factors.h"

static void csv_head(FILE *f, const char *method, int ec, const char *quantity)
{
    spot_csv_text(f, method, ",");
    if (ec >= 0) fprintf(f, "%d", ec);
    fprintf(f, ",%s,", quantity);
}

static void csv_value(FILE *f, const char *method, int ec, const char *quantity, double v)
{
    csv_head(f, method, ec, quantity);
    spot_csv_number(f, v, ",,,\n");
}

static void csv_mean(FILE *f, const char *method, const char *quantity, double mean, double se, int n, int left_out)
{
    csv_head(f, method, -1, quantity);
    spot_csv_number(f, mean, ",");
    spot_csv_number(f, se, ",");
    fprintf(f, "%d,%d\n", n, left_out);
}

static void csv_average(FILE *f, const char *method, const char *quantity, const spot_average *a, int left_out)
{
    csv_mean(f, method, quantity, a->n ? a->mean : NAN, a->n ? a->se : NAN, a->n, a->left_out + left_out);
}

static int left_out(const spot_results *t, int b)
{
    return t->method[b].failed + t->method[b].sum.not_learned;
}

static void csv_factors(FILE *f, const spot_results *t, int b)
{
    char quantity[96];
    spot_factor_row row;

    for (int i = 0; spot_factor_next(t, &i, &row);) {
        spot_estimate e = spot_factor(t, b, row.rate, row.level);
        snprintf(quantity, sizeof quantity, "%s[%s=%s]", spot_rate_name(row.rate), row.factor, row.value);
        csv_mean(f, t->method[b].name, quantity, e.mean, e.se, e.n, e.left_out);
    }
}

void spot_table_print_csv(FILE *f, const spot_results *t)
{
    char name[32];

    fputs("method,ec,quantity,value,se,n,left_out\n", f);
    for (int b = 0; b < t->methods; b++) {
        const spot_results_method *m = &t->method[b];
        csv_average(f, m->name, "dr", &m->sum.dr, left_out(t, b));
        csv_average(f, m->name, "fdr", &m->sum.fdr, spot_results_knows_fdr(t) ? left_out(t, b) : 0);
        for (int k = 0; k < SPOT_FAILURES; k++)
            csv_average(f, m->name, spot_failure_name(k), &m->sum.failure[k], left_out(t, b));
        for (int k = 0; k < SPOT_BESIDES; k++)
            csv_average(f, m->name, spot_beside_name(k), &m->sum.beside[k], left_out(t, b));
        csv_mean(f, m->name, SPOT_RESULTS_TRUST, m->trust, NAN, m->slices, 0);
        csv_factors(f, t, b);
    }
    for (int i = 0; i < t->ecs; i++) {
        const spot_results_ec *e = &t->ec[i];
        csv_value(f, "", e->index, "blindspots", e->blindspots);
        csv_value(f, "", e->index, "learned", e->status ? NAN : e->learned);
        csv_value(f, "", e->index, "outside", e->status ? NAN : e->outside);
        if (e->induce) {
            snprintf(name, sizeof name, "induce_%s", spot_induce_name(e->induce - 1));
            csv_value(f, "", e->index, name, e->strength);
        }
        if (!e->status) csv_value(f, "", e->index, "error_outside", spot_error_rate(e->severity.outside));
        for (int m = 0; m < e->blindspots; m++) {
            snprintf(name, sizeof name, "specificity_%d", m);
            csv_value(f, "", e->index, name, e->specificity[m]);
            snprintf(name, sizeof name, "inside_%d", m);
            csv_value(f, "", e->index, name, e->status ? NAN : e->inside[m]);
            snprintf(name, sizeof name, "error_%d", m);
            csv_value(f, "", e->index, name, e->status ? NAN : spot_error_rate(e->severity.inside[m]));
        }
        for (int b = 0; b < t->methods; b++) {
            const spot_results_method *m = &t->method[b];
            if (!m->scored[i]) continue;
            csv_value(f, m->name, e->index, "dr", m->rates[i].dr);
            csv_value(f, m->name, e->index, "fdr", m->rates[i].fdr);
            csv_value(f, m->name, e->index, "u", m->rates[i].u);
            for (int k = 0; k < SPOT_BESIDES; k++)
                csv_value(f, m->name, e->index, spot_beside_name(k), m->rates[i].beside[k]);
        }
    }
}

static void json_average(spot_json *j, const char *key, const spot_average *a, int more_left_out)
{
    spot_json_object(j, key);
    spot_json_put_real(j, "mean", a->n ? a->mean : NAN);
    spot_json_put_real(j, "se", a->n ? a->se : NAN);
    spot_json_put_int(j, "n", a->n);
    spot_json_put_int(j, "left_out", a->left_out + more_left_out);
    spot_json_end(j);
}

static void json_factors(spot_json *j, const spot_results *t, int b)
{
    spot_factor_row row;

    spot_json_array(j, "by_factor", 0, 0);
    for (int i = 0; spot_factor_next(t, &i, &row);) {
        spot_estimate e = spot_factor(t, b, row.rate, row.level);
        spot_json_object(j, NULL);
        spot_json_put_text(j, "quantity", spot_rate_name(row.rate));
        spot_json_put_text(j, "factor", row.factor);
        spot_json_put_text(j, "value", row.value);
        spot_json_put_real(j, "mean", e.mean);
        spot_json_put_real(j, "se", e.se);
        spot_json_put_real(j, "low", e.low);
        spot_json_put_real(j, "high", e.high);
        spot_json_put_int(j, "n", e.n);
        spot_json_put_int(j, "left_out", e.left_out);
        spot_json_end(j);
    }
    spot_json_end(j);
}

static void json_method(spot_json *j, const spot_results *t, int b)
{
    const spot_results_method *m = &t->method[b];

    spot_json_object(j, NULL);
    spot_json_put_text(j, "name", m->name);
    json_average(j, "dr", &m->sum.dr, left_out(t, b));
    json_average(j, "fdr", &m->sum.fdr, spot_results_knows_fdr(t) ? left_out(t, b) : 0);
    for (int k = 0; k < SPOT_FAILURES; k++)
        json_average(j, spot_failure_name(k), &m->sum.failure[k], left_out(t, b));
    spot_json_object(j, "beside");
    for (int k = 0; k < SPOT_BESIDES; k++)
        json_average(j, spot_beside_name(k), &m->sum.beside[k], left_out(t, b));
    spot_json_end(j);
    spot_json_object(j, SPOT_RESULTS_TRUST);
    spot_json_put_real(j, "value", m->trust);
    spot_json_put_int(j, "slices", m->slices);
    spot_json_end(j);
    spot_json_put_int(j, "not_learned", m->sum.not_learned);
    spot_json_put_int(j, "failed", m->failed);
    json_factors(j, t, b);
    spot_json_end(j);
}

static void json_ec(spot_json *j, const spot_results *t, int i)
{
    const spot_results_ec *e = &t->ec[i];
    bool learned = e->learned;

    spot_json_object(j, NULL);
    spot_json_put_int(j, "ec", e->index);
    spot_json_put_text(j, "status", spot_status_name((spot_status)e->status));
    spot_json_bool(j, "learned", &learned);
    spot_json_put_real(j, "outside", e->status ? NAN : e->outside);
    if (e->induce) {
        spot_json_put_text(j, "induce", spot_induce_name(e->induce - 1));
        spot_json_put_real(j, "strength", e->strength);
    }
    spot_json_put_real(j, "error_outside", e->status ? NAN : spot_error_rate(e->severity.outside));
    spot_json_array(j, "blindspots", e->blindspots, e->blindspots);
    for (int m = 0; m < e->blindspots; m++) {
        spot_json_object(j, NULL);
        spot_json_put_int(j, "specificity", e->specificity[m]);
        spot_json_put_real(j, "inside", e->status ? NAN : e->inside[m]);
        spot_json_put_real(j, "error", e->status ? NAN : spot_error_rate(e->severity.inside[m]));
        spot_json_end(j);
    }
    spot_json_end(j);
    spot_json_array(j, "methods", t->methods, t->methods);
    for (int b = 0; b < t->methods; b++) {
        const spot_results_method *m = &t->method[b];
        spot_json_object(j, NULL);
        spot_json_put_text(j, "name", m->name);
        spot_json_put_real(j, "dr", m->scored[i] ? m->rates[i].dr : NAN);
        spot_json_put_real(j, "fdr", m->scored[i] ? m->rates[i].fdr : NAN);
        spot_json_object(j, "beside");
        for (int k = 0; k < SPOT_BESIDES; k++)
            spot_json_put_real(j, spot_beside_name(k), m->scored[i] ? m->rates[i].beside[k] : NAN);
        spot_json_end(j);
        spot_json_end(j);
    }
    spot_json_end(j);
    spot_json_end(j);
}

spot_status spot_table_print_json(spot_ctx *c, FILE *f, const spot_results *t)
{
    spot_json j;

    SPOT_TRY(spot_json_open(c, &j));
    spot_json_put_text(&j, "run", t->dir);
    spot_json_put_text(&j, "config", t->config);
    spot_json_put_int(&j, "numbers", t->numbers);
    spot_json_put_text(&j, "build", t->build);
    spot_json_put_text(&j, "device", t->device);
    spot_json_put_text(&j, "profile", spot_profile_name(t->metric.profile));
    spot_json_put_real(&j, "lambda_p", t->metric.lambda_p);
    spot_json_put_real(&j, "lambda_r", t->metric.lambda_r);
    spot_json_put_int(&j, "top", t->metric.top);
    spot_json_put_text(&j, "u", SPOT_RESULTS_U);
    spot_json_put_int(&j, "planned", t->planned);
    spot_json_put_int(&j, "done", t->ecs);
    spot_json_put_int(&j, "not_learned", t->not_learned);
    spot_json_put_int(&j, "damaged", t->bad);
    spot_json_array(&j, "methods", t->methods, t->methods);
    for (int b = 0; b < t->methods; b++) json_method(&j, t, b);
    spot_json_end(&j);
    spot_json_array(&j, "ecs", t->ecs, t->ecs);
    for (int i = 0; i < t->ecs; i++) json_ec(&j, t, i);
    spot_json_end(&j);
    spot_json_print(&j, f);
    return SPOT_OK;
}
