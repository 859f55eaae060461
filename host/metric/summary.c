/* summary.c - averages over ECs, with standard errors and the numbers of excluded ECs. */
#include "spotter/metric.h"

#include <math.h>
#include <string.h>

/* Two passes over the same ECs: pass 0 sums the values, pass 1 the squared differences from the mean. */
static void add_value(spot_average *a, double *sum, int pass, double x)
{
    if (pass == 0) { a->n++; *sum += x; }
    else           { *sum += (x - a->mean) * (x - a->mean); }
}

static void finish_average(spot_average *a, double sum, int pass)
{
    if (pass == 0) a->mean = a->n ? sum / a->n : NAN;
    else           a->se   = a->n > 1 ? sqrt(sum / (a->n - 1) / a->n) : NAN;
}

/* An EC's share of failure f: the mean over its blindspots that are not covered. */
static double failure_share(const spot_score *s, int f)
{
    double sum = 0;
    int n = 0;

    for (int m = 0; m < s->blindspots; m++)
        if (!s->covered[m]) { sum += s->failure[m][f]; n++; }
    return sum / n;
}

spot_rates spot_metric_rates(const spot_score *s)
{
    spot_rates r = { .u = s->u, .dr = s->dr, .fdr = s->fdr };

    for (int f = 0; f < SPOT_FAILURES; f++) r.failure[f] = failure_share(s, f);
    memcpy(r.covered, s->covered, sizeof r.covered);
    return r;
}

void spot_metric_summarise(spot_summary *s, const spot_rates *rates, const bool *use, int n)
{
    memset(s, 0, sizeof *s);
    for (int i = 0; i < n; i++) {
        if (use && !use[i]) { s->not_learned++; continue; }
        s->fdr.left_out += !(rates[i].dr > 0);
        for (int f = 0; f < SPOT_FAILURES; f++) s->failure[f].left_out += rates[i].dr == 1;
    }
    for (int pass = 0; pass < 2; pass++) {
        double dr = 0, fdr = 0, failure[SPOT_FAILURES] = { 0 };
        for (int i = 0; i < n; i++) {
            if (use && !use[i]) continue;
            add_value(&s->dr, &dr, pass, rates[i].dr);
            if (!isnan(rates[i].fdr)) add_value(&s->fdr, &fdr, pass, rates[i].fdr);
            for (int f = 0; f < SPOT_FAILURES && rates[i].dr != 1; f++)
                add_value(&s->failure[f], &failure[f], pass, rates[i].failure[f]);
        }
        finish_average(&s->dr, dr, pass);
        finish_average(&s->fdr, fdr, pass);
        for (int f = 0; f < SPOT_FAILURES; f++) finish_average(&s->failure[f], failure[f], pass);
    }
}

const char *spot_profile_name(int profile)
{
    static const char *const name[] = { "tmlr", "workshop" };
    return profile == SPOT_PROFILE_TMLR || profile == SPOT_PROFILE_WORKSHOP ? name[profile] : "unknown";
}

const char *spot_failure_name(int failure)
{
    static const char *const name[SPOT_FAILURES] = { "not_returned", "found", "merged", "impure" };
    return failure >= 0 && failure < SPOT_FAILURES ? name[failure] : "unknown";
}
