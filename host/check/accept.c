/* accept.c - makes a run the new baseline and adds the acceptance to its history. */
#define _POSIX_C_SOURCE 200809L
#include "check/layers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"

/* Splits "METHOD:METRIC" and *rest. A method's name may contain colons, so the metric, one of a few words, is searched. */
static spot_status parse_quarantine(spot_ctx *c, const spot_baseline *b, spot_quarantine *q, const char *words,
                                    const char **rest)
{
    char mark[24];

    for (q->metric = 0; q->metric < SPOT_CHECK_METRICS; q->metric++) {
        if (!spot_baseline_has_metric(b, q->metric)) continue;
        int n = snprintf(mark, sizeof mark, ":%s", spot_check_metric(q->metric));
        for (const char *at = strstr(words, mark); at; at = strstr(at + 1, mark)) {
            if (at[n] && at[n] != '=') continue;
            snprintf(q->method, sizeof q->method, "%.*s", (int)(at - words), words);
            *rest = at + n;
            return SPOT_OK;
        }
    }
    return spot_fail(c, SPOT_USAGE,
                     b->shifts ? "{quarantine.form} \"%s\" is no METHOD:METRIC with impact, slope, passed, classes or bits for "
                         "METRIC and a source and shift for METHOD, such as \"sd, in the snow:slope\""
                     : "{quarantine.form} \"%s\" is no METHOD:METRIC with dr, fdr, learned or bits for METRIC, such as "
                         "spotlight:fdr", words);
}

static void release_quarantine(spot_baseline *b, const spot_quarantine *what)
{
    int n = 0;

    for (int i = 0; i < b->quarantines; i++)
        if (b->quarantine[i].metric != what->metric || strcmp(b->quarantine[i].method, what->method))
            b->quarantine[n++] = b->quarantine[i];
    b->quarantines = n;
}

static bool find_shift(const spot_shift_counts *s, const char *name)
{
    for (int i = 0; i < s->folders; i++)
        if (s->folder[i].base >= 0 && !strcmp(s->folder[i].name, name)) return true;
    return false;
}

/* Whether the run has this number: METHOD is empty for a number of the whole run, else one of the run's methods. */
static bool run_has(const spot_baseline *b, const spot_quarantine *q)
{
    if (b->shifts) return *q->method ? find_shift(b->shifts, q->method) : q->metric == SPOT_CHECK_BITS;
    bool whole_run = q->metric == SPOT_CHECK_LEARNED || (q->metric == SPOT_CHECK_BITS && !*q->method);

    return whole_run ? !*q->method : spot_baseline_find(b, q->method, "") >= 0;
}

/* Copies the old quarantine but for methods that are gone, then releases and adds. */
static spot_status set_quarantine(spot_ctx *c, spot_baseline *b, const spot_baseline *before, const spot_accept_options *o)
{
    spot_quarantine q;
    const char *rest;

    b->quarantine = calloc((size_t)before->quarantines + SPOT_ACCEPT_WORDS, sizeof *b->quarantine);
    if (!b->quarantine) return spot_fail(c, SPOT_NOMEM, "no memory for the quarantine");
    for (int i = 0; i < before->quarantines; i++) {
        if (run_has(b, &before->quarantine[i])) b->quarantine[b->quarantines++] = before->quarantine[i];
        else spot_log(c, SPOT_LOG_INFO, "%s:%s leaves the quarantine: the run has no such method", before->quarantine[i].method,
                      spot_check_metric(before->quarantine[i].metric));
    }
    for (int i = 0; i < o->releases; i++) {
        int n = b->quarantines;
        SPOT_TRY(parse_quarantine(c, b, &q, o->release[i], &rest));
        release_quarantine(b, &q);
        if (*rest || n == b->quarantines) return spot_fail(c, SPOT_USAGE, "\"%s\" is not in quarantine", o->release[i]);
    }
    for (int i = 0; i < o->quarantines; i++) {
        memset(&q, 0, sizeof q);
        SPOT_TRY(parse_quarantine(c, b, &q, o->quarantine[i], &rest));
        if (*rest != '=' || !rest[1])
            return spot_fail(c, SPOT_USAGE, "{quarantine.no_reason} a quarantine needs a reason: \"%s=REASON\"",
                             o->quarantine[i]);
        if (!run_has(b, &q)) return spot_fail(c, SPOT_USAGE, "{quarantine.unknown} \"%s\": the run has no method and metric of "
                                              "this name", o->quarantine[i]);
        snprintf(q.reason, sizeof q.reason, "%s", rest + 1);
        release_quarantine(b, &q);
        b->quarantine[b->quarantines++] = q;
    }
    if (b->quarantines > SPOT_BASELINE_MOST) return spot_fail(c, SPOT_USAGE, "more than %d in quarantine", SPOT_BASELINE_MOST);
    return SPOT_OK;
}

static void set_margins(spot_baseline *b, const spot_baseline *before, const spot_accept_options *o)
{
    const double asked[SPOT_CHECK_METRICS] = { o->margin_dr, o->margin_fdr, o->margin_learned, 0, o->margin_impact,
                                               o->margin_slope, o->margin_passed, o->margin_classes };
    static const double usual[SPOT_CHECK_METRICS] = { 0.02, 0.02, 0.02, 0, 0.02, 0.05, 0.05, 0.05 };

    for (int m = 0; m < SPOT_CHECK_METRICS; m++)
        if (spot_baseline_has_margin(b, m))
            b->margin[m] = asked[m] > 0 ? asked[m] : before->margin[m] > 0 ? before->margin[m] : usual[m];
    if (b->shifts) return;
    b->paper_margin = o->margin_paper > 0 ? o->margin_paper : before->paper_margin > 0 ? before->paper_margin : 0.1;
}

/* Control characters become spaces, since the reason is shown on one line. */
static void copy_plain(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from);
    for (; *to; to++)
        if ((unsigned char)*to < ' ' || *to == 0x7f) *to = ' ';
}

static void add_mean(spot_baseline *b, spot_acceptance *a, int method, int metric)
{
    spot_average v = spot_baseline_average(b, method, metric);
    spot_baseline_mean *m = &a->mean[a->means++];

    *m = (spot_baseline_mean){ .metric = metric, .n = v.n, .mean = v.mean, .se = v.se };
    if (metric != SPOT_CHECK_LEARNED) snprintf(m->method, sizeof m->method, "%s", b->method[method].name);
}

/* Moves the history from `before` to b and adds this acceptance. */
static spot_status set_history(spot_ctx *c, spot_baseline *b, spot_baseline *before, const char *reason)
{
    spot_acceptance *all = calloc((size_t)before->acceptances + 1, sizeof *all), *a = all ? &all[before->acceptances] : NULL;
    time_t now = time(NULL);
    struct tm utc;

    if (before->acceptances == SPOT_BASELINE_MOST) {
        free(all);
        return spot_fail(c, SPOT_USAGE, "the baseline was accepted %d times; begin a new file", SPOT_BASELINE_MOST);
    }
    if (a) a->mean = calloc(b->shifts ? (size_t)b->shifts->means + 1 : 2 * SPOT_MAX_BDMS + 1, sizeof *a->mean);
    if (!a || !a->mean) {
        free(all);
        return spot_fail(c, SPOT_NOMEM, "no memory for the history");
    }
    if (before->acceptances) memcpy(all, before->acceptance, (size_t)before->acceptances * sizeof *all);
    b->acceptance = all;
    b->acceptances = before->acceptances + 1;
    before->acceptances = 0;
    strftime(a->date, sizeof a->date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    copy_plain(a->reason, sizeof a->reason, reason);
    memcpy(a->build, b->build, sizeof a->build);
    a->numbers = b->numbers;
    if (b->shifts) {
        memcpy(a->mean, b->shifts->mean, (size_t)b->shifts->means * sizeof *a->mean);
        a->means = b->shifts->means;
        return SPOT_OK;
    }
    add_mean(b, a, 0, SPOT_CHECK_LEARNED);
    for (int m = 0; m < b->methods; m++) {
        add_mean(b, a, m, SPOT_CHECK_DR);
        add_mean(b, a, m, SPOT_CHECK_FDR);
    }
    return SPOT_OK;
}

static void warn_few(spot_ctx *c, const spot_shift_counts *s, const char *run)
{
    if (s->classes < SPOT_CHECK_FEWEST_CLASSES || s->models < SPOT_CHECK_FEWEST_CLASSES)
        spot_log(c, SPOT_LOG_WARN, "%s has %d classes and %d models; below %d classes every difference, and below %d "
                 "models every difference of a slope, is inconclusive", run, s->classes, s->models, SPOT_CHECK_FEWEST_CLASSES,
                 SPOT_CHECK_FEWEST_CLASSES);
}

/* Refuses a run that cannot be a baseline. */
static spot_status check_run(spot_ctx *c, const spot_results *r, const spot_scores_check *k)
{
    int counted = r->ecs - r->not_learned - r->untrained;

    SPOT_TRY(spot_results_verdict(c, r));
    if (!r->ecs || r->ecs < r->planned)
        return spot_fail(c, SPOT_INPUT, "%s has %d of its %d ECs; `spotter sweep` does the rest, then it can be accepted",
                         r->dir, r->ecs, r->planned);
    if (k->wrong || k->impossible)
        return spot_fail(c, SPOT_INPUT, "{accept.segment} %s is not what Spotter made: %s", r->dir, k->first);
    if (counted < SPOT_CHECK_FEWEST)
        spot_log(c, SPOT_LOG_WARN, "%d ECs of %s learned their blindspots; below %d every difference in DR or "
                 "FDR is inconclusive", counted, r->dir, SPOT_CHECK_FEWEST);
    return SPOT_OK;
}

static spot_status write_baseline(spot_ctx *c, spot_baseline *b, spot_baseline *before, const char *path,
                                  const spot_accept_options *o)
{
    char *text;
    size_t n;
    spot_status s;

    set_margins(b, before, o);
    SPOT_TRY(set_quarantine(c, b, before, o));
    SPOT_TRY(set_history(c, b, before, o->reason));
    SPOT_TRY(spot_baseline_print(c, b, &text, &n));
    s = spot_file_write(c, path, text, n);
    free(text);
    return s;
}

spot_status spot_accept(spot_ctx *c, const char *run, const char *baseline, const spot_accept_options *o)
{
    spot_baseline b = { 0 }, before = { 0 };
    spot_scores_check k;
    spot_results *r = NULL;
    spot_status s = SPOT_OK;

    if (!o->reason || !o->reason[strspn(o->reason, " \t\n")])
        return spot_fail(c, SPOT_INPUT, "{accept.no_reason} why is this run the baseline from now on? Say it with --reason");
    if (!access(baseline, F_OK)) s = spot_baseline_read(c, &before, baseline);
    if (s == SPOT_OK) s = spot_baseline_of_run(c, &b, &r, &k, run);
    if (s == SPOT_OK && *before.config && !before.shifts != !b.shifts)
        s = spot_fail(c, SPOT_USAGE, "%s is the baseline of another study than %s; begin a new file", baseline, run);
    if (s == SPOT_OK && r) s = check_run(c, r, &k);
    if (s == SPOT_OK && b.shifts) warn_few(c, b.shifts, run);
    if (s == SPOT_OK) s = write_baseline(c, &b, &before, baseline, o);
    spot_results_free(r);
    spot_baseline_free(&before);
    spot_baseline_free(&b);
    return s;
}
