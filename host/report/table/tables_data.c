/* tables_data.c - the tables for programs.
 *
 * CSV is one tidy table: method,ec,quantity,value,se,n,left_out. An empty ec is the mean over ECs, an empty method a quantity
 * of the EC itself; missing values are empty. By factor: "dr[blindspots=2]", "covered[specificity=5]",
 * "covered[presence of a circle=with]"; n and left_out count ECs, for "covered" blindspots, for the rank correlation of
 * coherence and precision slices. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/table/factors.h"
#include "report/table/results_describe.h"
#include "result/columns.h"

/* ec -1: none. */
typedef struct { FILE *f; const char *method; int ec; } tidy;

static void put_head(const tidy *t, const char *quantity)
{
    spot_csv_text(t->f, t->method, ",");
    if (t->ec >= 0) fprintf(t->f, "%d", t->ec);
    fprintf(t->f, ",%s,", quantity);
}

static void put_value(const tidy *t, const char *quantity, double v)
{
    put_head(t, quantity);
    spot_csv_number(t->f, v, ",,,\n");
}

static void put_mean(const tidy *t, const char *quantity, double mean, double se, int n, int left_out)
{
    put_head(t, quantity);
    spot_csv_number(t->f, mean, ",");
    spot_csv_number(t->f, se, ",");
    fprintf(t->f, "%d,%d\n", n, left_out);
}

static void put_quantity(void *user, const spot_quantity *q, const void *row)
{
    const spot_quantity_value v = spot_quantity_of(q, row);

    if (!q->name || strchr(q->name, '.') || v.text) return;
    if (v.n >= 0) put_mean(user, q->name, v.value, v.spread, v.n, v.left_out);
    else put_value(user, q->name, v.value);
}

static void put_factors(const tidy *to, const spot_results *t, int b)
{
    char quantity[96];
    spot_factor_row row;

    for (int i = 0; spot_factor_next(t, &i, &row);) {
        spot_estimate e = spot_factor(t, b, row.rate, row.level);
        snprintf(quantity, sizeof quantity, "%s[%s=%s]", spot_results_rate(row.rate)->name, row.factor, row.value);
        put_mean(to, quantity, e.mean, e.se, e.n, e.left_out);
    }
}

static void put_ec(const tidy *to, const spot_results_ec *e)
{
    char name[32];

    put_value(to, "blindspots", e->blindspots);
    put_value(to, "learned", e->status ? NAN : e->learned);
    put_value(to, "outside", e->status ? NAN : e->outside);
    if (e->induce) {
        snprintf(name, sizeof name, "induce_%s", spot_induce_name(e->induce - 1));
        put_value(to, name, e->strength);
    }
    if (!e->status) put_value(to, "error_outside", spot_error_rate(e->severity.outside));
    for (int m = 0; m < e->blindspots; m++) {
        snprintf(name, sizeof name, "specificity_%d", m);
        put_value(to, name, e->specificity[m]);
        snprintf(name, sizeof name, "inside_%d", m);
        put_value(to, name, e->status ? NAN : e->inside[m]);
        snprintf(name, sizeof name, "error_%d", m);
        put_value(to, name, e->status ? NAN : spot_error_rate(e->severity.inside[m]));
    }
}

void spot_table_print_csv(FILE *f, const spot_results *t)
{
    fputs("method,ec,quantity,value,se,n,left_out\n", f);
    for (int b = 0; b < t->methods; b++) {
        tidy of = { f, t->method[b].name, -1 };
        spot_results_visit_method(t, b, put_quantity, &of);
        put_factors(&of, t, b);
    }
    for (int i = 0; i < t->ecs; i++) {
        put_ec(&(tidy){ f, "", t->ec[i].index }, &t->ec[i]);
        for (int b = 0; b < t->methods; b++)
            if (t->method[b].scored[i])
                spot_results_visit_rates(t, b, i, put_quantity, &(tidy){ f, t->method[b].name, t->ec[i].index });
    }
}

spot_status spot_table_print_json(spot_ctx *c, FILE *f, const spot_results *t)
{
    spot_json j;

    SPOT_TRY(spot_json_open(c, &j));
    spot_quantities_put(&j, spot_results_document, t);
    spot_json_print(&j, f);
    return SPOT_OK;
}
