/* lines.c - the lines of a check: verdicts, sentences, names of ECs. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "check/layers.h"
#include "report/table/results_describe.h"
#include "spotter/shifts.h"

enum { NAMED = 5 };                    /* ECs named in a sentence */

const char *spot_verdict_name(spot_verdict v)
{
    static const char *const name[SPOT_VERDICTS] = { "same", "better", "worse", "inconclusive", "too good", "broken",
                                                     "not comparable" };
    return v >= 0 && v < SPOT_VERDICTS ? name[v] : "unknown";
}

/* A metric that check alone has. */
static const spot_quantity own[] = {
    { .name = "learned", .type = SPOT_AS_REAL, .direction = SPOT_HIGHER_IS_BETTER }, SPOT_QUANTITIES_END
};

int spot_check_direction(int metric)
{
    const spot_quantity *const described[] = { spot_results_methods[0].rows, spot_shifts_table.rows, own };
    const spot_quantity *q = NULL;

    for (int i = 0; i < 3 && !q; i++) q = spot_quantity_find(described[i], spot_check_metric(metric));
    return q ? spot_quantity_change(q, 0, 1) : 0;
}

static void difference(spot_quantity_value *v, const void *row)
{
    v->value = ((const spot_check_line *)row)->now - ((const spot_check_line *)row)->before;
}

const spot_quantity spot_check_values[] = {
#define S(name_, ...) SPOT_QUANTITY(#name_, spot_check_line, name_, .title = __VA_ARGS__)
    S(before, "before", .about = "the baseline's, or the paper's"), S(now, "now", .about = "the run's"),
    SPOT_COMPUTED("difference", SPOT_AS_REAL, difference, .title = "diff", .format = "%+.3f", .about = "now less before"),
    S(low, "95 % low", .format = "%+.3f"), S(high, "high", .format = "%+.3f"), S(margin, "margin", .format = "%.3g"),
    S(p, "p", .format = "%.2g"), S(n, "n", .unit = SPOT_UNIT_COUNT, .about = "pairs, or ECs or classes of the run"),
    S(left_out, "left out", .unit = SPOT_UNIT_COUNT, .about = "those that one side lacks"), SPOT_QUANTITIES_END
#undef S
};

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
