/* check.c - a run against a baseline: what the layers share, and the whole. */
#include "check/layers.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMED = 5 };                    /* ECs named in a sentence */

const char *spot_verdict_name(spot_verdict v)
{
    static const char *const name[SPOT_VERDICTS] = { "same", "better", "worse", "inconclusive", "too good", "broken",
                                                     "not comparable" };
    return v >= 0 && v < SPOT_VERDICTS ? name[v] : "unknown";
}

bool spot_verdict_fails(spot_verdict v) { return v == SPOT_WORSE || v == SPOT_TOO_GOOD || v == SPOT_BROKEN; }

spot_check_line *spot_check_add(spot_checking *g, const char *layer, const char *method, const char *metric, spot_verdict v)
{
    spot_check_line *l = &g->k->line[g->k->lines++];

    *l = (spot_check_line){ .layer = layer, .verdict = v, .paired = g->paired, .before = NAN, .now = NAN, .low = NAN,
                            .high = NAN, .margin = NAN, .p = NAN };
    snprintf(l->method, sizeof l->method, "%s", method);
    snprintf(l->metric, sizeof l->metric, "%s", metric);
    return l;
}

void spot_because(spot_check_line *l, const char *fmt, ...)
{
    size_t n = strlen(l->why);
    va_list args;

    if (n) n += (size_t)snprintf(l->why + n, sizeof l->why - n, "; ");
    if (n >= sizeof l->why) return;
    va_start(args, fmt);
    vsnprintf(l->why + n, sizeof l->why - n, fmt, args);
    va_end(args);
}

void spot_names_add(spot_names *w, int ec)
{
    size_t n = strlen(w->text);

    if (w->n++ < NAMED) snprintf(w->text + n, sizeof w->text - n, "%s%d", n ? ", " : "EC ", ec);
    else if (w->n == NAMED + 2) snprintf(w->text + n, sizeof w->text - n, ", ...");
}

void spot_check_quarantine(const spot_checking *g, spot_check_line *l, int metric)
{
    const spot_quarantine *q = spot_baseline_quarantined(&g->before, l->method, metric);

    if (!q) return;
    l->quarantined = true;
    spot_because(l, "in quarantine: %s", q->reason);
}

bool spot_check_is_pair(const spot_checking *g, int i)
{
    return g->at[i] >= 0 && !strcmp(g->before.ec[i].definition, g->now.ec[g->at[i]].definition);
}

static void describe(char *text, size_t size, const spot_baseline *b)
{
    snprintf(text, size, "%d ECs, numbers %d, spotter %s on %s, profile %s, config %s", b->ecs, b->numbers, b->build, b->device,
             b->profile, b->config);
}

/* Both lists of ECs ascend. */
static void align(spot_checking *g)
{
    for (int i = 0, j = 0; i < g->before.ecs; i++) {
        while (j < g->now.ecs && g->now.ec[j].index < g->before.ec[i].index) j++;
        g->at[i] = j < g->now.ecs && g->now.ec[j].index == g->before.ec[i].index ? j : -1;
        g->paired |= spot_check_is_pair(g, i);
    }
    g->same_config = !strcmp(g->before.config, g->now.config) && g->before.numbers == g->now.numbers;
}

static spot_status compare(spot_checking *g)
{
    spot_check *k = g->k;
    const spot_acceptance *a = g->before.acceptances ? &g->before.acceptance[g->before.acceptances - 1] : NULL;
    size_t ecs = (size_t)g->before.ecs + (size_t)g->now.ecs + 1;
    int n;

    k->line = calloc(SPOT_CHECK_LINES, sizeof *k->line);
    g->at = calloc(ecs, sizeof *g->at);
    g->x = calloc(2 * ecs, sizeof *g->x);
    if (!k->line || !g->at || !g->x) return spot_fail(g->c, SPOT_NOMEM, "no memory to compare %d ECs", g->now.ecs);
    g->y = g->x + ecs;
    align(g);
    k->numbers = g->now.numbers;
    memcpy(k->build, g->now.build, sizeof k->build);
    memcpy(k->device, g->now.device, sizeof k->device);
    memcpy(k->config, g->now.config, sizeof k->config);
    describe(k->run, sizeof k->run, &g->now);
    n = a ? snprintf(k->baseline, sizeof k->baseline, "accepted %.10s; ", a->date) : 0;
    describe(k->baseline + n, sizeof k->baseline - (size_t)n, &g->before);
    spot_check_bits(g);
    SPOT_TRY(spot_check_pairs(g));
    SPOT_TRY(spot_check_paper(g));
    for (int i = 0; i < k->lines; i++) k->failed |= !k->line[i].quarantined && spot_verdict_fails(k->line[i].verdict);
    return SPOT_OK;
}

spot_status spot_check_run(spot_ctx *c, spot_check **check, const char *baseline, const char *run)
{
    spot_checking g = { .c = c, .k = *check = calloc(1, sizeof **check) };
    spot_status s;

    if (!g.k) return spot_fail(c, SPOT_NOMEM, "no memory to check %s", run);
    s = spot_baseline_read(c, &g.before, baseline);
    if (s == SPOT_OK) s = spot_results_read(c, &g.r, run, false);
    if (s == SPOT_OK) s = spot_baseline_gather(c, &g.now, g.r, &g.scores);
    if (s == SPOT_OK) s = compare(&g);
    free(g.at);
    free(g.x);
    spot_baseline_free(&g.now);
    spot_baseline_free(&g.before);
    spot_results_free(g.r);
    return s;
}

void spot_check_free(spot_check *check)
{
    if (check) free(check->line);
    free(check);
}
