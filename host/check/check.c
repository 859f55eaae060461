/* check.c - compares a run with a baseline in three layers and gives one verdict. */
#define _POSIX_C_SOURCE 200809L
#include "check/layers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spotter/work.h"
#include "study/yaml.h"

static void describe_run(char *text, size_t size, const spot_baseline *b)
{
    if (b->shifts) {
        snprintf(text, size, "%d folders of shifts, %d classes, %d models, numbers %d, spotter %s, config %s",
                 b->shifts->folders, b->shifts->classes, b->shifts->models, b->numbers,
                 *b->build ? b->build : "of several builds", b->config);
        return;
    }
    snprintf(text, size, "%d ECs, numbers %d, spotter %s on %s, profile %s, config %s", b->ecs, b->numbers, b->build, b->device,
             b->profile, b->config);
}

/* Finds each EC of the baseline in the run. Both lists ascend. */
static void align_ecs(spot_checking *g)
{
    g->same_config = !strcmp(g->before.config, g->now.config) && g->before.numbers == g->now.numbers;
    for (int i = 0, j = 0; i < g->before.ecs; i++) {
        while (j < g->now.ecs && g->now.ec[j].index < g->before.ec[i].index) j++;
        g->at[i] = j < g->now.ecs && g->now.ec[j].index == g->before.ec[i].index ? j : -1;
        g->paired |= spot_check_is_pair(g, i);
    }
}

/* Memory for the lines, and for the values of ECs or classes of both sides. */
static spot_status take_memory(spot_checking *g)
{
    const spot_shift_counts *a = g->before.shifts, *b = g->now.shifts;
    const size_t n = a ? (size_t)a->classes + (size_t)b->classes + 1 : (size_t)g->before.ecs + (size_t)g->now.ecs + 1;
    const size_t lines = a ? 6 + 5 * (size_t)a->folders + (size_t)b->folders : SPOT_CHECK_LINES;

    g->k->line = calloc(lines, sizeof *g->k->line);
    g->at = calloc(n, sizeof *g->at);
    g->x = calloc(2 * n, sizeof *g->x);
    if (!g->k->line || !g->at || !g->x) return spot_fail(g->c, SPOT_NOMEM, "no memory to compare %zu values", n);
    g->y = g->x + n;
    return SPOT_OK;
}

static spot_status compare_layers(spot_checking *g)
{
    if (g->before.shifts) return spot_check_shifts(g);
    spot_check_bits(g);
    SPOT_TRY(spot_check_pairs(g));
    return spot_check_paper(g);
}

static spot_status compare_runs(spot_checking *g)
{
    spot_check *k = g->k;
    const spot_acceptance *a = g->before.acceptances ? &g->before.acceptance[g->before.acceptances - 1] : NULL;
    int n;

    SPOT_TRY(take_memory(g));
    align_ecs(g);
    k->of_shifts = g->before.shifts != NULL;
    k->numbers = g->now.numbers;
    memcpy(k->build, g->now.build, sizeof k->build);
    memcpy(k->device, g->now.device, sizeof k->device);
    memcpy(k->config, g->now.config, sizeof k->config);
    describe_run(k->run, sizeof k->run, &g->now);
    n = a ? snprintf(k->baseline, sizeof k->baseline, "accepted %.10s; ", a->date) : 0;
    describe_run(k->baseline + n, sizeof k->baseline - (size_t)n, &g->before);
    SPOT_TRY(compare_layers(g));
    for (int i = 0; i < k->lines; i++) k->failed |= !k->line[i].quarantined && spot_verdict_fails(k->line[i].verdict);
    return SPOT_OK;
}

/* Whether the directory has a run of shifts. */
static spot_status find_study(spot_ctx *c, bool *shifts, const char *run)
{
    char path[1200], name[64] = "";

    snprintf(path, sizeof path, "%s/config.yaml", run);
    if (!access(path, F_OK)) SPOT_TRY(spot_yaml_word(c, name, sizeof name, path, "study"));
    *shifts = !strcmp(name, spot_shifts_study.name);
    return SPOT_OK;
}

spot_status spot_baseline_of_run(spot_ctx *c, spot_baseline *b, spot_results **r, spot_scores_check *k, const char *run)
{
    spot_shifts_results own;
    bool shifts;
    spot_status s;

    *r = NULL;
    SPOT_TRY(find_study(c, &shifts, run));
    if (!shifts) {
        SPOT_TRY(spot_results_read(c, r, run, false));
        return spot_baseline_gather(c, b, *r, k);
    }
    s = spot_shifts_read(c, &own, run);
    if (s == SPOT_OK) s = spot_baseline_gather_shifts(c, b, &own, run);
    spot_shifts_close(&own);
    return s;
}

static spot_status check_studies(spot_ctx *c, const spot_checking *g, const char *baseline, const char *run)
{
    static const char *const name[] = { "a sweep", "shifts" };

    if (!g->before.shifts == !g->now.shifts) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "%s is a baseline of %s, and %s is a run of %s", baseline,
                     name[g->before.shifts != NULL], run, name[g->now.shifts != NULL]);
}

spot_status spot_check_run(spot_ctx *c, spot_check **check, const char *baseline, const char *run)
{
    spot_checking g = { .c = c, .k = *check = calloc(1, sizeof **check) };
    spot_status s;

    if (!g.k) return spot_fail(c, SPOT_NOMEM, "no memory to check %s", run);
    s = spot_baseline_read(c, &g.before, baseline);
    if (s == SPOT_OK) s = spot_baseline_of_run(c, &g.now, &g.r, &g.scores, run);
    if (s == SPOT_OK) s = check_studies(c, &g, baseline, run);
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
