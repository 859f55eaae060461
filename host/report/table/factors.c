/* factors.c - see factors.h. Indices: i is an EC of the run, b a method, m a blindspot of the EC; in row_at and spot_factor_at
 * i is a row of all possible ones. */
#include "report/table/factors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_ec_at(const spot_results_ec *e, spot_level l)
{
    return (l.blindspots < 0 || e->blindspots == l.blindspots) && (!l.induce || e->induce == l.induce) &&
           (!l.complexity || e->rollable == l.complexity);
}

/* 1 + the bin of the error inside blindspot m, of which the last has an error of 1, too; 0 where it was not measured. */
static int severity_of(const spot_results_ec *e, int m)
{
    const spot_errors in = e->severity.inside[m];
    int bin = in.rows ? in.wrong * SPOT_SEVERITIES / in.rows : -1;

    return 1 + (bin < SPOT_SEVERITIES ? bin : SPOT_SEVERITIES - 1);
}

static bool is_at_level(const spot_results_ec *e, int m, spot_level l)
{
    return (!l.severity || severity_of(e, m) == l.severity) && (l.specificity < 0 || e->specificity[m] == l.specificity) &&
           (l.feature < 0 || (e->rendered && (int)(e->features[m] >> l.feature & 1) == l.has));
}

/* Whether a counted EC has the level. */
static bool has_level(const spot_results *r, spot_level l)
{
    for (int i = 0; i < r->ecs; i++) {
        const spot_results_ec *e = &r->ec[i];
        if (!e->counted || !is_ec_at(e, l)) continue;
        for (int m = 0; m < e->blindspots; m++)
            if (is_at_level(e, m, l)) return true;
    }
    return false;
}

static double clamp(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

/* Wilson's interval (1927), z = 1.96. */
static void set_wilson(spot_estimate *e)
{
    const double z = 1.96;
    double n = e->n, p = e->mean, middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    double half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));

    e->se = sqrt(p * (1 - p) / n);
    e->low = clamp(middle - half);
    e->high = clamp(middle + half);
}

spot_estimate spot_share(int count, int of)
{
    spot_estimate e = { NAN, NAN, NAN, NAN, of, 0 };

    if (!of) return e;
    e.mean = (double)count / of;
    set_wilson(&e);
    return e;
}

static void set_normal(spot_estimate *e, double squares)
{
    e->se = e->n > 1 ? sqrt(squares / (e->n - 1) / e->n) : NAN;
    e->low = e->n > 1 ? clamp(e->mean - 1.96 * e->se) : NAN;
    e->high = e->n > 1 ? clamp(e->mean + 1.96 * e->se) : NAN;
}

/* Whether the EC has a DR above 0 and no FDR: its FDR cannot be known (spot_results_knows_fdr), and no number counts it. An EC
 * with DR = 0 has no FDR either, but for that reason, and is left out. */
static bool is_unknown(const spot_results *r, int b, int i)
{
    const spot_rates *s = &r->method[b].rates[i];

    return r->ec[i].counted && r->method[b].scored[i] && s->dr > 0 && isnan(s->fdr);
}

/* Number of ECs of the level that are done, or of their blindspots. */
static int count_done(const spot_results *r, int b, spot_rate rate, spot_level l)
{
    int n = 0;

    for (int i = 0; i < r->ecs; i++) {
        const spot_results_ec *e = &r->ec[i];
        if (!is_ec_at(e, l)) continue;
        if (rate != SPOT_RATE_COVERED) n += e->blindspots > 0 && (rate != SPOT_RATE_FDR || !is_unknown(r, b, i));
        for (int m = 0; m < e->blindspots && rate == SPOT_RATE_COVERED; m++) n += is_at_level(e, m, l);
    }
    return n;
}

/* Returns the number of values of EC i, and their sum. FDR leaves out DR = 0; both leave out what is undefined. */
static int add_ec_values(const spot_results *r, int b, int i, spot_rate rate, spot_level l, double *sum)
{
    const spot_results_ec *e = &r->ec[i];
    const spot_rates *s = &r->method[b].rates[i];
    int n = 0;

    *sum = 0;
    if (!e->counted || !r->method[b].scored[i] || !is_ec_at(e, l)) return 0;
    if (rate == SPOT_RATE_FDR && !(s->dr > 0)) return 0;
    if (rate != SPOT_RATE_COVERED) {
        const double x = rate == SPOT_RATE_DR ? s->dr : s->fdr;
        return isnan(x) ? 0 : (*sum = x, 1);
    }
    for (int m = 0; m < e->blindspots; m++)
        if (is_at_level(e, m, l)) n++, *sum += s->covered[m];
    return n;
}

spot_estimate spot_factor(const spot_results *r, int b, spot_rate rate, spot_level l)
{
    spot_estimate e = { NAN, NAN, NAN, NAN, 0, 0 };
    double sum = 0, squares = 0, x;

    for (int i = 0; i < r->ecs; i++) {
        e.n += add_ec_values(r, b, i, rate, l, &x);
        sum += x;
    }
    e.left_out = count_done(r, b, rate, l) - e.n;
    if (!e.n) return e;
    e.mean = sum / e.n;
    for (int i = 0; i < r->ecs && rate != SPOT_RATE_COVERED; i++)
        if (add_ec_values(r, b, i, rate, l, &x)) squares += (x - e.mean) * (x - e.mean);
    if (rate == SPOT_RATE_COVERED) set_wilson(&e);
    else set_normal(&e, squares);
    return e;
}

/* Where each factor's rows end; the next factor's begin there. Factors of ECs have a row for DR and one for FDR. */
enum { BY_NUMBER = 2 * SPOT_MAX_BLINDSPOTS, BY_SPECIFICITY = BY_NUMBER + SPOT_MAX_TRIPLETS,
       BY_FEATURE = BY_SPECIFICITY + 2 * SPOT_FEATURE_COUNT, BY_INDUCE = BY_FEATURE + 2 * SPOT_INDUCE_COUNT,
       BY_COMPLEXITY = BY_INDUCE + 2 * SPOT_MAX_TRIPLETS, BY_SEVERITY = BY_COMPLEXITY + SPOT_SEVERITIES };

/* Row i of all possible rows. */
static void row_at(int i, spot_factor_row *row)
{
    *row = (spot_factor_row){ .level = SPOT_EVERY, .rate = SPOT_RATE_COVERED };
    if (i < BY_NUMBER) {
        row->rate = i < SPOT_MAX_BLINDSPOTS ? SPOT_RATE_DR : SPOT_RATE_FDR;
        row->level.blindspots = i % SPOT_MAX_BLINDSPOTS + 1;
        strcpy(row->factor, "blindspots");
        snprintf(row->value, sizeof row->value, "%d", row->level.blindspots);
    } else if (i < BY_SPECIFICITY) {
        row->level.specificity = i - BY_NUMBER + 1;
        strcpy(row->factor, "specificity");
        snprintf(row->value, sizeof row->value, "%d", row->level.specificity);
    } else if (i < BY_FEATURE) {
        row->level.feature = (i - BY_SPECIFICITY) / 2;
        row->level.has = i % 2;
        snprintf(row->factor, sizeof row->factor, "%s", spot_feature_name(row->level.feature));
        strcpy(row->value, row->level.has ? "with" : "without");
    } else if (i < BY_INDUCE) {
        row->rate = (i - BY_FEATURE) % 2 ? SPOT_RATE_FDR : SPOT_RATE_DR;
        row->level.induce = (i - BY_FEATURE) / 2 + 1;
        strcpy(row->factor, "induce");
        snprintf(row->value, sizeof row->value, "%s", spot_induce_name(row->level.induce - 1));
    } else if (i < BY_COMPLEXITY) {
        row->rate = (i - BY_INDUCE) % 2 ? SPOT_RATE_FDR : SPOT_RATE_DR;
        row->level.complexity = (i - BY_INDUCE) / 2 + 1;
        strcpy(row->factor, "complexity");
        snprintf(row->value, sizeof row->value, "%d", row->level.complexity);
    } else {
        row->level.severity = i - BY_COMPLEXITY + 1;
        strcpy(row->factor, "severity");
        snprintf(row->value, sizeof row->value, "%.1f to %.1f", (row->level.severity - 1.) / SPOT_SEVERITIES,
                 (double)row->level.severity / SPOT_SEVERITIES);
    }
}

bool spot_factor_is_of_planting(const spot_factor_row *row)
{
    return row->level.induce || row->level.complexity || row->level.severity;
}

long spot_factor_count(void) { return BY_SEVERITY; }

bool spot_factor_at(const spot_results *r, int i, spot_factor_row *row)
{
    spot_level with;

    row_at(i, row);
    with = row->level;
    with.has = 1;                              /* a feature that defines no blindspot has no rows */
    return (row->rate != SPOT_RATE_FDR || spot_results_knows_fdr(r)) && has_level(r, row->level)
        && (with.feature < 0 || has_level(r, with));
}

bool spot_factor_next(const spot_results *r, int *i, spot_factor_row *row)
{
    while (*i < BY_SEVERITY)
        if (spot_factor_at(r, (*i)++, row)) return true;
    return false;
}
