/* layer_bits.c - checks that results are equal to the bit where this is promised, and that nothing is missing. */
#include "check/layers.h"

#include <stdlib.h>
#include <string.h>

#include "study/keys.h"

static void bits_ecs(spot_checking *g)
{
    spot_check_line *l = spot_check_add(g, "bits", "", "ecs", SPOT_SAME);
    char words[300];
    spot_config then;
    spot_names others = { 0 };

    if (!g->same_config) {
        l->verdict = SPOT_NOT_COMPARABLE;
        if (g->before.numbers != g->now.numbers)
            spot_because(l, "numbers %d, %d in the baseline", g->now.numbers, g->before.numbers);
        if (spot_config_parse(g->c, &then, g->before.text, strlen(g->before.text), "the baseline's config") == SPOT_OK
            && spot_config_differences(words, sizeof words, &then, &g->r->cfg))
            spot_because(l, "another config, the baseline's in brackets: %s", words);
        spot_forget(g->c);
        spot_memory_close(&then.memory);
        return;
    }
    for (int i = 0; i < g->before.ecs; i++) {
        if (g->at[i] < 0) continue;
        l->n++;
        if (!spot_check_is_pair(g, i)) spot_names_add(&others, g->before.ec[i].index);
    }
    if (!others.n) return;
    l->verdict = SPOT_BROKEN;
    spot_because(l, "%d of %d ECs are others than with the baseline's same config and numbers: %s", others.n, l->n,
                 others.text);
}

/* Names the part in which the segments of EC i differ. */
static void name_difference(spot_checking *g, spot_check_line *l, int i)
{
    int j = g->at[i], index = g->before.ec[i].index, m = 0, k = -1;

    for (; m < g->before.methods; m++) {
        k = spot_baseline_find(&g->now, g->before.method[m].name, "");
        if (k >= 0 && strcmp(g->before.method[m].found[i].hash, g->now.method[k].found[j].hash)) break;
    }
    if (m == g->before.methods) {
        spot_because(l, "EC %d: no method differs, its training does", index);
        return;
    }
    const spot_baseline_found *x = &g->before.method[m].found[i], *y = &g->now.method[k].found[j];
    if (x->covered != y->covered && (x->covered < 0 || y->covered < 0))
        spot_because(l, "EC %d, %s: %s", index, g->before.method[m].name, x->covered < 0 ? "failed before" : "failed");
    else if (x->covered != y->covered)
        spot_because(l, "EC %d, %s: covers %d of %d blindspots, %d before", index, g->before.method[m].name, y->covered,
                     g->now.ec[j].blindspots, x->covered);
    else if (x->u != y->u || x->strangers != y->strangers)
        spot_because(l, "EC %d, %s: %d of its first %d hypotheses belong to none, %d of %d before", index,
                     g->before.method[m].name, y->strangers, y->u, x->strangers, x->u);
    else
        spot_because(l, "EC %d, %s: other hypotheses, which cover the same", index, g->before.method[m].name);
}

const char *spot_check_no_promise(char *text, size_t size, const spot_baseline *a, const spot_baseline *b)
{
    *text = 0;
    if (!a->platform[0] || !b->platform[0])
        snprintf(text, size, "the %s's logs name no platform, or several", b->platform[0] ? "baseline" : "run");
    else if (strcmp(a->build, b->build)) snprintf(text, size, "build %s, %s in the baseline", b->build, a->build);
    else if (strcmp(a->platform, b->platform)) snprintf(text, size, "on %s; the baseline's on %s", b->platform, a->platform);
    return text;
}

/* Compares segments whenever they could be equal. A difference is "broken" only if equal bits are promised. */
static void bits_segments(spot_checking *g)
{
    const spot_baseline *a = &g->before, *b = &g->now;
    spot_check_line *l = spot_check_add(g, "bits", "", "segments", SPOT_SAME);
    spot_names others = { 0 };
    char why[1200];
    int first = -1;

    if (!g->same_config || strcmp(a->device, b->device)) {
        l->verdict = SPOT_NOT_COMPARABLE;
        if (!g->same_config) spot_because(l, "another config or other numbers");
        else spot_because(l, "on %s, the baseline's on %s", b->device, a->device);
        return;
    }
    for (int i = 0; i < a->ecs; i++) {
        if (g->at[i] < 0) continue;
        l->n++;
        if (!strcmp(a->ec[i].segment, b->ec[g->at[i]].segment)) continue;
        if (first < 0) first = i;
        spot_names_add(&others, a->ec[i].index);
    }
    if (first < 0) return;
    l->verdict = *spot_check_no_promise(why, sizeof why, a, b) ? SPOT_NOT_COMPARABLE : SPOT_BROKEN;
    spot_because(l, "%d of %d segments differ (%s)%s%s", others.n, l->n, others.text,
                 *why ? "; nothing else was promised: " : ", though config, numbers, build and platform are the same", why);
    name_difference(g, l, first);
}

static void bits_scores(spot_checking *g)
{
    const spot_scores_check *s = &g->scores;
    spot_check_line *l = spot_check_add(g, "bits", "", "scores",
                                        s->impossible ? SPOT_TOO_GOOD : s->wrong ? SPOT_BROKEN : SPOT_SAME);

    l->n = s->scores;
    if (l->verdict) spot_because(l, "%d of %d scores do not follow from their own segment: %s", s->wrong, s->scores, s->first);
}

/* ECs and methods that the run lacks, and new methods. */
static void bits_present(spot_checking *g)
{
    spot_names gone = { 0 };
    spot_check_line *l;

    /* A run with another seed may have fewer ECs than the baseline, but all of its planned ones. */
    for (int i = 0; (g->paired || g->same_config || g->r->planned > g->r->ecs) && i < g->before.ecs; i++)
        if (g->at[i] < 0) spot_names_add(&gone, g->before.ec[i].index);
    if (gone.n || g->r->bad) {
        l = spot_check_add(g, "bits", "", "present", SPOT_BROKEN);
        l->n = g->before.ecs - gone.n;
        l->left_out = gone.n;
        if (gone.n) spot_because(l, "%d of the baseline's %d ECs have no whole segment: %s", gone.n, g->before.ecs, gone.text);
        if (g->r->bad) spot_because(l, "%d segments are damaged or of another config", g->r->bad);
    }
    for (int m = 0; m < g->before.methods; m++) {
        const char *method = g->before.method[m].name;
        if (spot_baseline_find(&g->now, method, g->before.method[m].settings) >= 0) continue;
        l = spot_check_add(g, "bits", method, "present", SPOT_BROKEN);
        spot_because(l, "the run has no method of this name or with these settings");
    }
    for (int m = 0; m < g->now.methods; m++) {
        if (spot_baseline_find(&g->before, g->now.method[m].name, g->now.method[m].settings) >= 0) continue;
        l = spot_check_add(g, "bits", g->now.method[m].name, "present", SPOT_NOT_COMPARABLE);
        spot_because(l, "new: the baseline does not know it; `spotter accept` takes it in");
    }
}

void spot_check_bits(spot_checking *g)
{
    int from = g->k->lines;

    bits_ecs(g);
    bits_segments(g);
    bits_scores(g);
    bits_present(g);
    for (; from < g->k->lines; from++) spot_check_quarantine(g, &g->k->line[from], SPOT_CHECK_BITS);
}
