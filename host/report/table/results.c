/* results.c - segments -> averages: DR, FDR and the failure categories of every method. */
#include "report/table/results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quote.h"
#include "report/table/features.h"
#include "spotter/interval.h"

static double best_precision(const spot_score *s, int h)
{
    double best = 0;

    for (int m = 0; m < s->blindspots; m++) best = fmax(best, s->bp[h][m]);
    return best;
}

/* Where the false share is unknown, as among real pictures, a slice may have a reason that the truth does not name. */
static void add_slices(spot_results_method *m, const spot_score *s)
{
    if (!s->blindspots || isnan(s->beside[SPOT_FALSE_SHARE])) return;
    for (int h = 0; h < s->hypotheses; h++) {
        if (isnan(s->coherence[h])) continue;
        m->coherence[m->slices] = s->coherence[h];
        m->precision[m->slices++] = best_precision(s, h);
    }
}

static void add_ec(spot_results *t, const spot_segment *s)
{
    spot_results_ec *e = &t->ec[t->ecs];

    *e = (spot_results_ec){ .index = s->index, .status = s->status, .blindspots = s->blindspots,
                             .rendered = s->rollable[0] };
    if (!e->rendered) snprintf(e->task, sizeof e->task, "%.*s", (int)sizeof e->task - 1, s->layers);
    memcpy(e->specificity, s->specificity, sizeof e->specificity);
    memcpy(e->inside, s->lesson.inside, sizeof e->inside);
    for (int m = 0; m < s->blindspots; m++)
        if (e->rendered) spot_features_read(&e->features[m], s->blindspot[m]);
    e->outside = s->lesson.outside;
    while (e->induce < SPOT_INDUCE_COUNT && strcmp(s->induce, spot_induce_name(e->induce))) e->induce++;
    e->induce = e->induce < SPOT_INDUCE_COUNT ? e->induce + 1 : 0;
    e->strength = s->strength;
    e->severity = s->severity;
    for (const char *at = s->rollable; *at; at++) e->rollable += at == s->rollable || *at == ' ';
    e->learned = !s->status && s->lesson.learned;
    e->counted = !s->status && (s->lesson.learned || t->include_all);
    t->not_learned += !s->status && !s->lesson.learned;
    t->untrained += s->status != SPOT_OK;
    for (int b = 0; b < t->methods && b < s->methods; b++) {
        spot_results_method *m = &t->method[b];
        m->scored[t->ecs] = s->method[b].status == SPOT_OK;
        m->rates[t->ecs] = spot_metric_rates(&s->method[b].score);
        if (e->counted && m->scored[t->ecs]) add_slices(m, &s->method[b].score);
        if (!e->counted || m->scored[t->ecs]) continue;
        if (!m->gave_up++) snprintf(m->why, sizeof m->why, "EC %d: %s", s->index, s->method[b].message);
    }
    t->ecs++;
}

/* Whether the segment has the run's config. Config, build, device and metric come from the first whole segment, which made the
 * numbers; the config file may have changed since. */
static bool has_config(spot_results *t, const spot_segment *s)
{
    if (!t->config[0]) {
        memcpy(t->config, s->config, sizeof t->config);
        memcpy(t->build, s->build, sizeof t->build);
        memcpy(t->device, s->device, sizeof t->device);
        t->numbers = s->numbers;
        t->metric = s->metric;
    }
    return !strcmp(t->config, s->config);
}

static spot_status read_segments(spot_ctx *c, spot_results *t, const int *index, int n, spot_segment *s)
{
    char why[1300];

    for (int i = 0; i < n; i++) {
        spot_segment_state state;
        SPOT_TRY(spot_segment_read(c, t->dir, index[i], s, &state, why, sizeof why));
        if (state == SPOT_SEGMENT_WHOLE && !has_config(t, s)) {
            spot_log(c, SPOT_LOG_WARN, "%s is of another config and not counted", why);
            t->bad++;
        } else if (state == SPOT_SEGMENT_DAMAGED) {
            spot_log(c, SPOT_LOG_WARN, "%s; it is not counted", why);
            t->bad++;
        } else if (state == SPOT_SEGMENT_WHOLE) {
            add_ec(t, s);
        }
    }
    return SPOT_OK;
}

/* Whether coherence, which needs no truth, tells good slices from bad. */
static spot_status correlate_slices(spot_ctx *c, spot_results *t)
{
    for (int b = 0; b < t->methods; b++) {
        spot_results_method *m = &t->method[b];
        spot_interval rho;
        SPOT_TRY(spot_rank_correlation(c, &rho, m->coherence, m->precision, m->slices, 0));
        m->trust = rho.value;
    }
    return SPOT_OK;
}

/* Averages each method over its scored ECs; rates and use have room for them. */
static void summarise_methods(spot_results *t, spot_rates *rates, bool *use)
{
    for (int b = 0; b < t->methods; b++) {
        spot_results_method *m = &t->method[b];
        int n = 0;
        for (int i = 0; i < t->ecs; i++) {
            m->failed += t->ec[i].status || (t->ec[i].counted && !m->scored[i]);
            if (!m->scored[i]) continue;
            rates[n] = m->rates[i];
            use[n++] = t->ec[i].counted;
        }
        spot_metric_summarise(&m->sum, rates, use, n);
        if (!spot_results_knows_fdr(t)) m->sum.fdr = (spot_average){ NAN, NAN, 0, 0 };
    }
}

bool spot_results_has_beside(const spot_results *r, int beside)
{
    for (int b = 0; b < r->methods; b++)
        if (r->method[b].sum.beside[beside].n) return true;
    return false;
}

bool spot_results_has_any_beside(const spot_results *r)
{
    for (int k = 0; k < SPOT_BESIDES; k++)
        if (spot_results_has_beside(r, k)) return true;
    return false;
}

static spot_status gather_results(spot_ctx *c, spot_results *t, const int *index, int n)
{
    size_t room = (size_t)n + 1, methods = (size_t)t->methods + 1;
    spot_segment *s = calloc(1, sizeof *s);
    spot_status status;

    t->ec = calloc(room, sizeof *t->ec);
    t->rates = calloc(room * methods, sizeof *t->rates);         /* a column for each method, and one for the summary */
    t->flags = calloc(room * methods, sizeof *t->flags);
    t->slices = calloc(room * methods * 2 * SPOT_MAX_HYPOTHESES, sizeof *t->slices);
    if (!s || !t->ec || !t->rates || !t->flags || !t->slices) {
        spot_segment_free(s);
        return spot_fail(c, SPOT_NOMEM, "no memory for the results of %d ECs", n);
    }
    for (int b = 0; b < t->methods; b++) {
        t->method[b].rates = t->rates + room * (size_t)b;
        t->method[b].scored = t->flags + room * (size_t)b;
        t->method[b].coherence = t->slices + room * 2 * SPOT_MAX_HYPOTHESES * (size_t)b;
        t->method[b].precision = t->method[b].coherence + room * SPOT_MAX_HYPOTHESES;
    }
    status = read_segments(c, t, index, n, s);
    spot_segment_free(s);
    if (status == SPOT_OK) status = correlate_slices(c, t);
    if (status == SPOT_OK) summarise_methods(t, t->rates + room * (methods - 1), t->flags + room * (methods - 1));
    return status;
}

static spot_status load_plan(spot_ctx *c, spot_results *t)
{
    char path[1200];

    snprintf(path, sizeof path, "%s/config.yaml", t->dir);
    SPOT_TRY(spot_config_load(c, &t->cfg, path));
    t->planned = t->cfg.ecs;
    t->methods = t->cfg.bdms;
    t->metric = t->cfg.metric;
    for (int b = 0; b < t->methods; b++) spot_bdm_name(&t->cfg.bdm[b], t->method[b].name, sizeof t->method[b].name);
    return SPOT_OK;
}

spot_status spot_results_read(spot_ctx *c, spot_results **r, const char *dir, bool include_all)
{
    spot_results *t = *r = calloc(1, sizeof *t);
    int *index = NULL, n = 0;
    spot_status s;

    if (!t) return spot_fail(c, SPOT_NOMEM, "no memory for the results of %s", dir);
    t->dir = dir;
    t->include_all = include_all;
    s = spot_segment_list(c, dir, &index, &n);
    if (s == SPOT_OK) s = load_plan(c, t);
    if (s == SPOT_OK) s = gather_results(c, t, index, n);
    free(index);
    return s;
}

void spot_results_free(spot_results *r)
{
    if (!r) return;
    spot_memory_close(&r->cfg.memory);
    free(r->rates);
    free(r->flags);
    free(r->slices);
    free(r->ec);
    free(r);
}

spot_status spot_results_verdict(spot_ctx *c, const spot_results *r)
{
    if (!r->bad) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "%d result segment%s of %s %s damaged or of another config; `spotter sweep` makes %s again",
                     r->bad, r->bad == 1 ? "" : "s", r->dir, r->bad == 1 ? "is" : "are", r->bad == 1 ? "it" : "them");
}

const char *spot_results_counted(char *text, size_t size, const spot_results *r)
{
    int counted = 0;
    size_t n;

    for (int i = 0; i < r->ecs; i++) counted += r->ec[i].counted;
    n = (size_t)snprintf(text, size, "%d of %d ECs counted; left out: %d did not learn their blindspots%s, %d failed to train",
                         counted, r->planned, r->include_all ? 0 : r->not_learned,
                         r->include_all ? " (--all: they are counted)" : "", r->untrained);
    if (r->planned > r->ecs && n < size)
        n += (size_t)snprintf(text + n, size - n, ", %d are not done", r->planned - r->ecs);
    return text;
}

const char *spot_results_origin(char *text, size_t size, const spot_results *r)
{
    spot_quoted config, out;
    char path[1200];

    snprintf(path, sizeof path, "%s/config.yaml", r->dir);
    if (!r->config[0])
        snprintf(text, size, "nothing is done yet; `spotter sweep %s --out %s` does it", spot_quote(config, path),
                 spot_quote(out, r->dir));
    else
        snprintf(text, size, "config %s, profile %s, numbers %d, spotter %s on %s", r->config,
                 spot_profile_name(r->metric.profile), r->numbers, r->build[0] ? r->build : "-",
                 r->device[0] ? r->device : "-");
    return text;
}

const char *spot_results_failed(char *text, size_t size, const spot_results_method *m)
{
    *text = 0;
    if (m->gave_up)
        snprintf(text, size, "failed in %d of the %d ECs counted; %s", m->gave_up,
                 m->gave_up + m->sum.dr.n + m->sum.dr.left_out, m->why);
    return text;
}
