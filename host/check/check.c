/* check.c - compares a run with a baseline in three layers and gives one verdict. */
#include "check/layers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void describe_run(char *text, size_t size, const spot_baseline *b)
{
    snprintf(text, size, "%d ECs, numbers %d, spotter %s on %s, profile %s, config %s", b->ecs, b->numbers, b->build, b->device,
             b->profile, b->config);
}

/* Finds each EC of the baseline in the run. Both lists ascend. */
static void align_ecs(spot_checking *g)
{
    for (int i = 0, j = 0; i < g->before.ecs; i++) {
        while (j < g->now.ecs && g->now.ec[j].index < g->before.ec[i].index) j++;
        g->at[i] = j < g->now.ecs && g->now.ec[j].index == g->before.ec[i].index ? j : -1;
        g->paired |= spot_check_is_pair(g, i);
    }
    g->same_config = !strcmp(g->before.config, g->now.config) && g->before.numbers == g->now.numbers;
}

static spot_status compare_runs(spot_checking *g)
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
    align_ecs(g);
    k->numbers = g->now.numbers;
    memcpy(k->build, g->now.build, sizeof k->build);
    memcpy(k->device, g->now.device, sizeof k->device);
    memcpy(k->config, g->now.config, sizeof k->config);
    describe_run(k->run, sizeof k->run, &g->now);
    n = a ? snprintf(k->baseline, sizeof k->baseline, "accepted %.10s; ", a->date) : 0;
    describe_run(k->baseline + n, sizeof k->baseline - (size_t)n, &g->before);
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
    if (s == SPOT_OK) s = compare_runs(&g);
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
