/* check_ci.c - see check_ci.h. */
#include "check/check_ci.h"

#include <math.h>
#include <string.h>

#include "check/layers.h"

typedef struct { const spot_check_line *l; const char *verdict; int rule; } check_row;

static const spot_ci_rule rules[] = {
    [SPOT_SAME] = { "same", "the difference lies within the margin", SPOT_CI_FINE },
    [SPOT_BETTER] = { "better", "the number is better than the baseline's", SPOT_CI_FINE },
    [SPOT_WORSE] = { "worse", "the number is worse than the baseline's by more than the margin", SPOT_CI_FAILED },
    [SPOT_INCONCLUSIVE] = { "inconclusive", "no verdict is shown; more ECs would decide", SPOT_CI_OPEN },
    [SPOT_TOO_GOOD] = { "too good", "the number is out of its range, or better than the paper's by more than the margin",
                        SPOT_CI_FAILED },
    [SPOT_BROKEN] = { "broken", "bits that must be equal differ, or something is missing", SPOT_CI_FAILED },
    [SPOT_NOT_COMPARABLE] = { "not comparable", "the two are not made with the same settings", SPOT_CI_OPEN },
    [SPOT_VERDICTS] = { "in quarantine", "the number fails, and the baseline says that this fails nothing", SPOT_CI_WARNING },
};

static long count_lines(const void *root) { return ((const spot_check *)root)->lines; }

static bool get_line(void *out, const void *root, long i)
{
    const spot_check_line *l = &((const spot_check *)root)->line[i];
    const int rule = l->quarantined && spot_verdict_fails(l->verdict) ? SPOT_VERDICTS : (int)l->verdict;

    *(check_row *)out = (check_row){ l, rules[rule].word, rule };
    return true;
}

static void reason(spot_quantity_value *v, const void *row)
{
    const spot_check_line *l = row;

    if (*l->why) v->text = l->why;
}

static const spot_quantity head[] = {
#define S(name_, ...) SPOT_QUANTITY(#name_, spot_check_line, name_, .title = __VA_ARGS__)
    S(layer, "layer"), S(method, "method"), S(metric, "metric"), SPOT_QUANTITIES_END
#undef S
};

static const spot_quantity why[] = { SPOT_COMPUTED("why", SPOT_AS_TEXT, reason, .title = "why"), SPOT_QUANTITIES_END };

static const spot_quantity line[] = {
    SPOT_BEHIND(NULL, check_row, l, head), SPOT_QUANTITY("verdict", check_row, verdict, .title = "verdict"),
    SPOT_BEHIND(NULL, check_row, l, spot_check_values), SPOT_BEHIND(NULL, check_row, l, why), SPOT_QUANTITIES_END
};

static int judge(char name[SPOT_CI_NAME], const void *row)
{
    const spot_check_line *l = ((const check_row *)row)->l;

    snprintf(name, SPOT_CI_NAME, "%s: %s%s%s", l->layer, *l->method ? l->method : "the run", *l->metric ? ", " : "", l->metric);
    return ((const check_row *)row)->rule;
}

void spot_check_ci(spot_ci_report *r, const spot_check *k)
{
    int failed = 0, marked = 0;

    *r = (spot_ci_report){ .command = "check", .failed = k->failed, .root = k, .judge = judge, .rules = SPOT_VERDICTS + 1,
                           .named = { "layer", "method", "metric", "verdict" } };
    r->list = (spot_quantity)SPOT_ROWS("lines", SPOT_AS_LIST, line, check_row, count_lines, get_line);
    memcpy(r->rule, rules, sizeof rules);
    for (int i = 0; i < k->lines; i++) {
        const bool fails = spot_verdict_fails(k->line[i].verdict);
        failed += fails && !k->line[i].quarantined, marked += fails && k->line[i].quarantined;
    }
    snprintf(r->subject, sizeof r->subject, "run: %s; baseline: %s", k->run, k->baseline);
    if (failed) snprintf(r->verdict, sizeof r->verdict, "%d of %d lines fail", failed, k->lines);
    else snprintf(r->verdict, sizeof r->verdict, "nothing is shown to be worse in %d lines", k->lines);
    if (marked) snprintf(r->verdict + strlen(r->verdict), 64, "; %d in quarantine", marked);
}
