/* failure_findings.c - clusters of failures -> rules -> findings: a rule is found on one half of the random renders and tested
 * on the other. Conditions are drawn alike for every object, so an object that fails often makes no rule look better: Fisher's
 * test on the renders of several objects errs on the safe side. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examine/examine_networks.h"
#include "examine/failure_parts.h"
#include "examine/failure_rules.h"
#include "spotter/rng.h"
#include "stats/group_sums.h"
#include "stats/statistics.h"

enum { LEAST_FAILURES = 5, POINTS = 1 << 16 };

/* One half of the valid renders. p: of the true class; in strength mode 1 - p, so that what is looked for has the lowest. */
typedef struct { spot_failure_rows rows; spot_conditions *at; float *p; uint8_t *fails; bool above;
                 int *object, objects; } half;         /* object (rows.n): of each render */

static spot_status open_half(spot_ctx *c, half *h, const spot_random_renders *r, int odd, spot_failure_cut cut)
{
    const size_t n = (size_t)r->n + 1;
    int k = 0, failures = 0, object = -1;

    h->object = malloc(n * sizeof *h->object);
    h->at = malloc(n * sizeof *h->at);
    h->p = malloc(n * sizeof *h->p);
    h->fails = malloc(n);
    if (!h->object || !h->at || !h->p || !h->fails) return spot_fail(c, SPOT_NOMEM, "no memory for %d renders", r->n);
    for (int i = 0; i < r->n; i++) {
        object += !i || r->number[i] <= r->number[i - 1];
        if (!r->valid[i] || r->number[i] % 2 != odd) continue;
        h->object[k] = object;
        h->at[k] = r->at[i], h->p[k] = cut.above ? 1 - r->p[i] : r->p[i];
        h->fails[k] = spot_failure_is(cut, r->p[i]);
        failures += h->fails[k++];
    }
    h->rows = (spot_failure_rows){ k, h->at, h->fails, failures };
    h->above = cut.above;
    h->objects = object + 1;
    return SPOT_OK;
}

static void close_half(half *h) { free(h->object), free(h->at), free(h->p), free(h->fails); }

/* ---- rules ---- */

typedef struct { spot_failure_rule rule; const char *source; } candidate;

/* One rule after another, each the best on the renders that the rules before it do not have; of equally good ones the first of
 * fewer limits. Else a rule that only touches a region of failures, or surrounds it, would stand beside it as another one. */
static int choose_rules(candidate *list, int n, const spot_failure_rows *rows)
{
    spot_failure_rule kept[SPOT_FAILURE_RULES];
    int k = 0;

    for (; k < n && k < SPOT_FAILURE_RULES; k++) {
        candidate best;
        double most = 0;
        int at = -1;
        for (int i = k; i < n; i++) {
            const double worth = spot_rule_worth(&list[i].rule, kept, k, rows);
            if (worth > most || (at >= 0 && worth == most && list[i].rule.limits < list[at].rule.limits)) most = worth, at = i;
        }
        if (at < 0) break;
        best = list[at];
        memmove(&list[k + 1], &list[k], (size_t)(at - k) * sizeof *list);
        list[k] = best;
        kept[k] = best.rule;
    }
    return k;
}

static spot_status list_rules(spot_ctx *c, candidate *list, int *n, const half *h, const spot_failure_clusters *clusters,
                              const spot_factor_space *s)
{
    spot_rule_search *f = spot_rule_search_open(&h->rows, s);

    *n = 0;
    if (!f) return spot_fail(c, SPOT_NOMEM, "no memory to look for rules in %d renders", h->rows.n);
    for (int k = 0; k < clusters->n; k++) {
        candidate *to = &list[*n];
        spot_rule_find(f, &to->rule, clusters->cluster[k].member);
        to->source = clusters->cluster[k].source;
        *n += to->rule.limits > 0;
    }
    spot_rule_search_close(f);
    *n = choose_rules(list, *n, &h->rows);
    return SPOT_OK;
}

/* ---- tests ---- */

/* The renders of one object depend on each other: the interval of a share for other objects is that of the objects' shares
 * where there are several. */
static void widen(spot_interval *share, const spot_group_sums *by_object)
{
    if (by_object->n < 2) return;
    *share = spot_wider(*share, spot_group_mean(by_object, 0.025));
    share->low = fmax(share->low, 0);
}

/* Tests rule k of the list on the renders that the rules before it do not have. by_object: of those outside it and inside. */
static void test_rule(spot_failure_finding *f, const half *h, const spot_failure_rule *rule, int k,
                      spot_group_sums by_object[2])
{
    int n[2] = { 0, 0 }, failures[2] = { 0, 0 };
    double sum[2] = { 0, 0 };

    for (int in = 0; in < 2; in++) spot_group_sums_clear(&by_object[in]);
    for (int i = 0; i < h->rows.n; i++) {
        const int in = spot_failure_rule_holds(&f->rule, &h->at[i]);
        if (spot_rules_hold(rule, k, &h->at[i])) continue;
        spot_group_sums_add(&by_object[in], h->object[i], h->fails[i]);
        n[in]++, failures[in] += h->fails[i], sum[in] += h->above ? 1 - h->p[i] : h->p[i];
    }
    f->renders = n[1], f->renders_outside = n[0];
    f->mean_inside = n[1] ? sum[1] / n[1] : NAN, f->mean_outside = n[0] ? sum[0] / n[0] : NAN;
    f->inside = spot_share_of(failures[1], n[1]), f->outside = spot_share_of(failures[0], n[0]);
    widen(&f->inside, &by_object[1]), widen(&f->outside, &by_object[0]);
    f->covered = h->rows.failures ? (double)failures[1] / h->rows.failures : NAN;
    f->p = spot_hypergeometric_tail(n[0] + n[1], failures[0] + failures[1], n[1], failures[1]);
    f->adjusted = f->p;
}

spot_status spot_failure_find_rules(spot_ctx *c, spot_failure_finding *finding, int *n, const spot_random_renders *r,
                                    const spot_factor_space *s, spot_failure_cut cut)
{
    half seen = { .at = NULL }, unseen = { .at = NULL };
    spot_group_sums by_object[2] = { { 0 }, { 0 } };
    spot_failure_clusters clusters = { 0 };
    candidate list[SPOT_FAILURE_CLUSTERS];
    spot_failure_rule rule[SPOT_FAILURE_RULES];
    spot_status how = open_half(c, &seen, r, 0, cut);

    *n = 0;
    if (how == SPOT_OK) how = open_half(c, &unseen, r, 1, cut);
    for (int in = 0; in < 2 && how == SPOT_OK; in++) how = spot_group_sums_open(c, &by_object[in], unseen.objects);
    if (how == SPOT_OK && seen.rows.failures >= LEAST_FAILURES) {
        how = spot_failure_clusters_find(c, &clusters, &seen.rows, seen.p, s);
        if (how == SPOT_OK) how = list_rules(c, list, n, &seen, &clusters, s);
        for (int i = 0; how == SPOT_OK && i < *n; i++) {
            spot_failure_finding *f = &finding[i];
            *f = (spot_failure_finding){ .rule = list[i].rule, .rank = i, .overlap = NAN, .learned = -1 };
            rule[i] = list[i].rule;
            spot_failure_rule_words(f->words, sizeof f->words, &f->rule, s);
            snprintf(f->source, sizeof f->source, "%s", list[i].source);
            f->volume = spot_failure_rule_volume(&f->rule, s);
            test_rule(f, &unseen, rule, i, by_object);
        }
    }
    spot_failure_clusters_close(&clusters);
    spot_group_sums_close(&by_object[0]), spot_group_sums_close(&by_object[1]);
    close_half(&seen), close_half(&unseen);
    return how;
}

/* Failures of the test inside, beyond the share outside. */
static double gain_of(const spot_failure_finding *f)
{
    return f->renders && f->renders_outside ? f->renders * (f->inside.value - f->outside.value) : 0;
}

static int in_order(const void *a, const void *b)
{
    const spot_failure_finding *x = a, *y = b;
    const double p = gain_of(x), q = gain_of(y);

    if (x->confirmed != y->confirmed) return x->confirmed ? -1 : 1;
    if (p != q) return p < q ? 1 : -1;
    if (x->cls != y->cls) return x->cls < y->cls ? -1 : 1;
    return strcmp(x->words, y->words);
}

spot_status spot_failure_confirm(spot_ctx *c, spot_failure_finding *finding, int n)
{
    spot_ranked_p *scratch = malloc(((size_t)n + 1) * (sizeof *scratch + sizeof(double)));
    double *p = scratch ? (double *)(scratch + n) : NULL;

    if (!scratch) return spot_fail(c, SPOT_NOMEM, "no memory to test %d findings", n);
    for (int i = 0; i < n; i++) p[i] = finding[i].p;
    spot_holm(p, n, scratch);
    for (int i = 0; i < n; i++)
        finding[i].adjusted = p[i], finding[i].confirmed = spot_is_significant(p[i], SPOT_LEVEL);
    if (n) qsort(finding, (size_t)n, sizeof *finding, in_order);
    free(scratch);
    return SPOT_OK;
}

/* ---- the planted region ---- */

double spot_failure_overlap(const spot_failure_rule *rule, const spot_examine_model *m, const spot_factor_space *s,
                            const spot_conditions *fixed, int objects)
{
    int both = 0, either = 0;

    for (int i = 0; i < POINTS; i++) {
        const spot_conditions at = spot_examine_chance(s, &fixed[i % objects], 1, 0, i);
        const bool planted = spot_examine_in_region(m, &at, 0), found = spot_failure_rule_holds(rule, &at);
        both += planted && found, either += planted || found;
    }
    return either ? (double)both / either : NAN;
}
