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
    memcpy(r.beside, s->beside, sizeof r.beside);
    memcpy(r.covered, s->covered, sizeof r.covered);
    return r;
}

static void add_rates(spot_summary *s, spot_summary *sum, int pass, const spot_rates *r)
{
    bool missed = r->dr < 1;               /* false without blindspots, where dr is NaN */

    if (!isnan(r->dr)) add_value(&s->dr, &sum->dr.mean, pass, r->dr);
    if (!isnan(r->fdr)) add_value(&s->fdr, &sum->fdr.mean, pass, r->fdr);
    for (int f = 0; f < SPOT_FAILURES && missed; f++)
        add_value(&s->failure[f], &sum->failure[f].mean, pass, r->failure[f]);
    for (int b = 0; b < SPOT_BESIDES; b++)
        if (!isnan(r->beside[b])) add_value(&s->beside[b], &sum->beside[b].mean, pass, r->beside[b]);
}

static void finish_rates(spot_summary *s, const spot_summary *sum, int pass)
{
    finish_average(&s->dr, sum->dr.mean, pass);
    finish_average(&s->fdr, sum->fdr.mean, pass);
    for (int f = 0; f < SPOT_FAILURES; f++) finish_average(&s->failure[f], sum->failure[f].mean, pass);
    for (int b = 0; b < SPOT_BESIDES; b++) finish_average(&s->beside[b], sum->beside[b].mean, pass);
}

void spot_metric_summarise(spot_summary *s, const spot_rates *rates, const bool *use, int n)
{
    memset(s, 0, sizeof *s);
    for (int i = 0; i < n; i++) {
        const spot_rates *r = &rates[i];
        if (use && !use[i]) { s->not_learned++; continue; }
        s->dr.left_out += isnan(r->dr);
        s->fdr.left_out += r->dr == 0;
        for (int f = 0; f < SPOT_FAILURES; f++) s->failure[f].left_out += r->dr == 1;
        for (int b = 0; b < SPOT_BESIDES; b++) s->beside[b].left_out += isnan(r->beside[b]);
    }
    for (int pass = 0; pass < 2; pass++) {
        spot_summary sum = { 0 };          /* its means are the sums */
        for (int i = 0; i < n; i++)
            if (!use || use[i]) add_rates(s, &sum, pass, &rates[i]);
        finish_rates(s, &sum, pass);
    }
}

static const char *const beside_names[] = {
#define X(NAME, name, head) #name,
    SPOT_BESIDE(X)
#undef X
};

const char *spot_beside_name(int b) { return b >= 0 && b < SPOT_BESIDES ? beside_names[b] : "unknown"; }

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
