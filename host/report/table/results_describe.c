/* results_describe.c - see results_describe.h. */
#include "report/table/results_describe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef spot_results results;

/* ---- a method's numbers over ECs ---- */

typedef struct { const results *r; const spot_results_method *m; } method_row;

static const method_row *method_of(const void *row) { return row; }

/* An average of the method's summary, by its place there. */
static const spot_average *average_at(const void *row, int at)
{
    return (const spot_average *)(const void *)((const char *)&method_of(row)->m->sum + at);
}

static void average(spot_quantity_value *v, const void *row, int at)
{
    const spot_results_method *m = method_of(row)->m;
    const bool known = at != offsetof(spot_summary, fdr) || spot_results_knows_fdr(method_of(row)->r);

    spot_quantity_average(v, average_at(row, at), known ? m->failed + m->sum.not_learned : 0);
}

static void count_values(spot_quantity_value *v, const void *row, int at) { v->value = average_at(row, at)->n; }

/* Those that the average leaves out by its own rule. */
static void count_left_out(spot_quantity_value *v, const void *row, int at) { v->value = average_at(row, at)->left_out; }

static void numbered_name(spot_quantity_value *v, const void *row)
{
    v->value = (double)(method_of(row)->m - method_of(row)->r->method + 1);
    v->text = method_of(row)->m->name;
}

static void not_learned_by_all(spot_quantity_value *v, const void *row)
{
    v->value = method_of(row)->r->include_all ? 0 : method_of(row)->r->not_learned;
}

static void trust(spot_quantity_value *v, const void *row)
{
    v->value = method_of(row)->m->trust;
    v->n = method_of(row)->m->slices;
}

static void put_trust(spot_json *j, const void *row)
{
    spot_json_object(j, SPOT_RESULTS_TRUST);
    spot_json_put_real(j, "value", method_of(row)->m->trust);
    spot_json_put_int(j, "slices", method_of(row)->m->slices);
    spot_json_end(j);
}

#define AT(field) .index = offsetof(spot_summary, field)
#define MEAN(name_, field, ...) { .name = name_, .type = SPOT_AS_AVERAGE, .get_at = average, AT(field), .title = __VA_ARGS__ }
#define COUNT(name_, get_, field, title_) \
    { .name = name_, .type = SPOT_AS_INT, .get_at = get_, AT(field), .title = title_, .unit = SPOT_UNIT_COUNT }

static const spot_quantity name[] = {
    SPOT_COMPUTED("name", SPOT_AS_TEXT, numbered_name, .title = "method"), SPOT_QUANTITIES_END
};

static const spot_quantity dr[] = {
    MEAN("dr", dr, "DR (s.e.)", .label = "Discovery rate (DR)", .direction = SPOT_HIGHER_IS_BETTER,
         .about = "share of the blindspots that are found"),
    COUNT("dr.n", count_values, dr, "ECs"),
    SPOT_QUANTITIES_END
};

static const spot_quantity fdr[] = {
    MEAN("fdr", fdr, "FDR (s.e.)", .label = "False discovery rate (FDR)", .direction = SPOT_LOWER_IS_BETTER,
         .about = "share of the first u hypotheses that are false"),
    COUNT("fdr.n", count_values, fdr, "ECs"),
    SPOT_QUANTITIES_END
};

static const spot_quantity covered = {
    .name = "covered", .type = SPOT_AS_REAL, .label = "Blindspots covered", .direction = SPOT_HIGHER_IS_BETTER,
    .about = "share of the blindspots of a level that are found"
};

const spot_quantity *spot_results_rate(spot_rate rate)
{
    return rate == SPOT_RATE_DR ? dr : rate == SPOT_RATE_FDR ? fdr : &covered;
}

static const spot_quantity failures[] = {
#define S(name_, NAME, about_) MEAN(#name_, failure[SPOT_##NAME], #name_, .about = "missed blindspots: images " about_)
    S(not_returned, NOT_RETURNED, "in no hypothesis"), S(found, FOUND, "in a hypothesis that belongs to the blindspot"),
    S(merged, MERGED, "in a hypothesis that has mostly images of blindspots"), S(impure, IMPURE, "in other hypotheses"),
#undef S
    SPOT_QUANTITIES_END
};

static const spot_quantity beside[] = {
#define X(NAME, name_, head) MEAN(#name_, beside[SPOT_##NAME], head),
    SPOT_BESIDE(X)
#undef X
    SPOT_QUANTITIES_END
};

static const spot_quantity trusts[] = {
    SPOT_COMPUTED(SPOT_RESULTS_TRUST, SPOT_AS_REAL, trust, .title = "rank corr.", .put = put_trust), SPOT_QUANTITIES_END
};

static const spot_quantity counts[] = {
    SPOT_QUANTITY("not_learned", spot_results_method, sum.not_learned),
    SPOT_QUANTITY("failed", spot_results_method, failed, .title = "failed", .unit = SPOT_UNIT_COUNT,
                  .direction = SPOT_LOWER_IS_BETTER, .about = "ECs without a score"),
    SPOT_QUANTITIES_END
};

/* ---- a method's numbers by factor ---- */

typedef struct { spot_factor_row f; spot_estimate e; } factor_item;

static long count_factors(const void *row)
{
    (void)row;
    return spot_factor_count();
}

static bool get_factor(void *out, const void *row, long i)
{
    const results *r = method_of(row)->r;
    factor_item *x = out;

    if (!spot_factor_at(r, (int)i, &x->f)) return false;
    x->e = spot_factor(r, (int)(method_of(row)->m - r->method), x->f.rate, x->f.level);
    return true;
}

void spot_results_factor_mean(spot_quantity_value *v, const void *row, int index)
{
    factor_item x;

    if (get_factor(&x, row, index)) v->value = x.e.mean;
}

static void rate_name(spot_quantity_value *v, const void *row)
{
    v->text = spot_results_rate(((const factor_item *)row)->f.rate)->name;
}

static const spot_quantity factor[] = {
#define S(name_, field) SPOT_QUANTITY(name_, factor_item, field)
    SPOT_COMPUTED("quantity", SPOT_AS_TEXT, rate_name), S("factor", f.factor), S("value", f.value), S("mean", e.mean),
    S("se", e.se), S("low", e.low), S("high", e.high), S("n", e.n), S("left_out", e.left_out),
#undef S
    SPOT_QUANTITIES_END
};

/* ---- tables of methods ---- */

static long count_methods(const void *root) { return ((const results *)root)->methods; }

static bool get_method(void *out, const void *root, long b)
{
    *(method_row *)out = (method_row){ root, &((const results *)root)->method[b] };
    return true;
}

static const spot_quantity numbers[] = {
    SPOT_HERE(NULL, name), SPOT_HERE(NULL, dr), SPOT_HERE(NULL, fdr), SPOT_HERE(NULL, failures), SPOT_HERE("beside", beside),
    SPOT_HERE(NULL, trusts), SPOT_BEHIND(NULL, method_row, m, counts), SPOT_QUANTITIES_END
};

static const spot_quantity method[] = {
    SPOT_HERE(NULL, numbers),
    SPOT_ROWS("by_factor", SPOT_AS_LIST, factor, factor_item, count_factors, get_factor),
    SPOT_QUANTITIES_END
};

const spot_quantity spot_results_methods[] = {
    SPOT_ROWS("methods", SPOT_AS_LIST, numbers, method_row, count_methods, get_method), SPOT_QUANTITIES_END
};

#define NOT_LEARNED { .type = SPOT_AS_INT, .get = not_learned_by_all, .title = "not learned", .unit = SPOT_UNIT_COUNT }
#define METHODS(rows_, ...) SPOT_ROWS(NULL, SPOT_AS_LIST, rows_, method_row, count_methods, get_method, .title = __VA_ARGS__)

static const spot_quantity means[] = {
    SPOT_HERE(NULL, name), SPOT_HERE(NULL, dr), NOT_LEARNED, SPOT_BEHIND(NULL, method_row, m, counts), SPOT_QUANTITIES_END
};

static const spot_quantity means_with_fdr[] = {
    SPOT_HERE(NULL, name), SPOT_HERE(NULL, dr), SPOT_HERE(NULL, fdr), NOT_LEARNED, SPOT_BEHIND(NULL, method_row, m, counts),
    COUNT(NULL, count_left_out, fdr, "DR = 0"), SPOT_QUANTITIES_END
};

const spot_quantity spot_results_names = METHODS(name, NULL);

const spot_quantity spot_results_means[2] = {
    METHODS(means, "Means over ECs, and the ECs that each leaves out", .keep = true),
    METHODS(means_with_fdr, "Means over ECs, and the ECs that each leaves out", .keep = true),
};

static const spot_quantity besides[] = {
    SPOT_HERE(NULL, name), SPOT_HERE("beside", beside), SPOT_HERE(NULL, trusts), SPOT_QUANTITIES_END
};

const spot_quantity spot_results_besides = METHODS(besides, "Beside DR and FDR: means (s.e.) over the ECs that define them");

static const spot_quantity all_failures[] = {
    SPOT_HERE(NULL, name), SPOT_HERE(NULL, failures), COUNT(NULL, count_values, failure[0], "ECs"),
    COUNT(NULL, count_left_out, failure[0], "DR = 1"), SPOT_QUANTITIES_END
};

const spot_quantity spot_results_failures = METHODS(
    all_failures, "Why blindspots were missed: shares of their images, means over ECs with DR < 1", .keep = true);

void spot_results_visit_method(const spot_results *r, int b, spot_quantity_visitor *visit, void *user)
{
    spot_quantities_visit(numbers, &(method_row){ r, &r->method[b] }, visit, user);
}

/* ---- an EC ---- */

/* An EC that failed to train has no numbers. specificity, inside: of all blindspots, for tables. */
typedef struct {
    const results *r;
    const spot_results_ec *e;
    int index, blindspots;
    const char *status, *induce, *learned;
    double outside, error_outside, strength;
    char specificity[64], inside[96];
} ec_row;

static const ec_row *ec_of(const void *row) { return row; }

static void put_blindspots(spot_json *j, const void *row)
{
    const spot_results_ec *e = ec_of(row)->e;

    spot_json_array(j, "blindspots", e->blindspots, e->blindspots);
    for (int m = 0; m < e->blindspots; m++) {
        spot_json_object(j, NULL);
        spot_json_put_int(j, "specificity", e->specificity[m]);
        spot_json_put_real(j, "inside", e->status ? NAN : e->inside[m]);
        spot_json_put_real(j, "error", e->status ? NAN : spot_error_rate(e->severity.inside[m]));
        spot_json_end(j);
    }
    spot_json_end(j);
}

/* A method's numbers of an EC. */
typedef struct { const char *name; double dr, fdr, u, beside[SPOT_BESIDES]; } rate_row;

static long count_rates(const void *row) { return ec_of(row)->r->methods; }

static bool get_rates(void *out, const void *row, long b)
{
    const spot_results_method *m = &ec_of(row)->r->method[b];
    const long i = ec_of(row)->e - ec_of(row)->r->ec;
    rate_row *x = out;

    *x = (rate_row){ m->name, NAN, NAN, NAN, { 0 } };
    for (int k = 0; k < SPOT_BESIDES; k++) x->beside[k] = m->scored[i] ? m->rates[i].beside[k] : NAN;
    if (m->scored[i]) x->dr = m->rates[i].dr, x->fdr = m->rates[i].fdr, x->u = m->rates[i].u;
    return true;
}

void spot_results_ec_rate(spot_quantity_value *v, const void *row, int index)
{
    rate_row x;

    get_rates(&x, row, index / 2);
    v->value = index % 2 ? x.fdr : x.dr;
}

static const spot_quantity beside_of_ec[] = {
#define X(NAME, name_, head) SPOT_QUANTITY(#name_, rate_row, beside[SPOT_##NAME]),
    SPOT_BESIDE(X)
#undef X
    SPOT_QUANTITIES_END
};

static const spot_quantity rates[] = {
#define S(name_) SPOT_QUANTITY(#name_, rate_row, name_)
    S(name), S(dr), S(fdr), S(u), SPOT_HERE("beside", beside_of_ec), SPOT_QUANTITIES_END
#undef S
};

void spot_results_visit_rates(const spot_results *r, int b, int i, spot_quantity_visitor *visit, void *user)
{
    rate_row x;

    get_rates(&x, &(ec_row){ .r = r, .e = &r->ec[i] }, b);
    spot_quantities_visit(rates, &x, visit, user);
}

static void put_learned(spot_json *j, const void *row)
{
    bool learned = ec_of(row)->e->learned;

    spot_json_bool(j, "learned", &learned);
}

static const spot_quantity ec[] = {
#define S(name_, field, ...) SPOT_QUANTITY(name_, ec_row, field, __VA_ARGS__)
    S("ec", index, .title = "EC", .unit = SPOT_UNIT_COUNT), SPOT_QUANTITY("status", ec_row, status), SPOT_WRITTEN(put_learned),
    S(NULL, blindspots, .title = "blindspots", .unit = SPOT_UNIT_COUNT),
    S(NULL, specificity, .title = "specificity", .right = true), S("outside", outside, .title = "outside"),
    S(NULL, inside, .title = "inside", .right = true), S(NULL, learned, .title = "learned", .right = true),
    S("induce", induce, .optional = true), S("strength", strength, .optional = true),
#undef S
    SPOT_QUANTITY("error_outside", ec_row, error_outside),
    SPOT_WRITTEN(put_blindspots),
    SPOT_ROWS("methods", SPOT_AS_LIST, rates, rate_row, count_rates, get_rates),
    SPOT_QUANTITIES_END
};

static long count_ecs(const void *root) { return ((const results *)root)->ecs; }

static bool get_ec(void *out, const void *root, long i)
{
    const spot_results_ec *e = &((const results *)root)->ec[i];
    ec_row *x = out;
    size_t s = 0, k = 0;

    *x = (ec_row){ root, e, e->index, e->blindspots, spot_status_name((spot_status)e->status),
                   e->induce ? spot_induce_name(e->induce - 1) : NULL, e->status ? "failed" : e->learned ? "yes" : "no",
                   e->status ? NAN : e->outside, e->status ? NAN : spot_error_rate(e->severity.outside),
                   e->induce ? e->strength : NAN, "-", "-" };
    for (int m = 0; m < e->blindspots; m++) {
        s += (size_t)snprintf(x->specificity + s, sizeof x->specificity - s, "%s%d", m ? " " : "", e->specificity[m]);
        if (e->status) continue;
        k += (size_t)snprintf(x->inside + k, sizeof x->inside - k, "%s", m ? " " : "");
        k += (size_t)snprintf(x->inside + k, sizeof x->inside - k, isnan(e->inside[m]) ? "-" : "%.3f", e->inside[m]);
    }
    return true;
}

const spot_quantity spot_results_ecs = SPOT_ROWS("ecs", SPOT_AS_LIST, ec, ec_row, count_ecs, get_ec);

/* ---- the document ---- */

static void profile(spot_quantity_value *v, const void *row)
{
    v->text = spot_profile_name(((const results *)row)->metric.profile);
}

static void meaning_of_u(spot_quantity_value *v, const void *row)
{
    (void)row;
    v->text = SPOT_RESULTS_U;
}

const spot_quantity spot_results_document[] = {
#define S(name_, field) SPOT_QUANTITY(name_, results, field)
    S("run", dir), S("config", config), S("numbers", numbers), S("build", build), S("device", device),
    SPOT_COMPUTED("profile", SPOT_AS_TEXT, profile), S("lambda_p", metric.lambda_p), S("lambda_r", metric.lambda_r),
    S("top", metric.top), SPOT_COMPUTED("u", SPOT_AS_TEXT, meaning_of_u), S("planned", planned), S("done", ecs),
    S("not_learned", not_learned), S("damaged", bad),
#undef S
    SPOT_ROWS("methods", SPOT_AS_LIST, method, method_row, count_methods, get_method),
    SPOT_ROWS("ecs", SPOT_AS_LIST, ec, ec_row, count_ecs, get_ec),
    SPOT_QUANTITIES_END
};
