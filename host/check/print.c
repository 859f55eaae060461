/* print.c - prints a check as text or as JSON. */
#include "check/night.h"

#include <math.h>
#include <string.h>

#include "check/layers.h"
#include "result/columns.h"

/* ---- text ---- */

static const char *color_of(const spot_check_line *l)
{
    if (spot_verdict_fails(l->verdict)) return l->quarantined ? "33" : "31";
    return l->verdict == SPOT_INCONCLUSIVE ? "33" : l->verdict == SPOT_NOT_COMPARABLE ? "2" : "32";
}

static bool fails(const spot_check_line *l) { return !l->quarantined && spot_verdict_fails(l->verdict); }

static void upper(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from);
    for (; *to; to++)
        if (*to >= 'a' && *to <= 'z') *to = (char)(*to - 'a' + 'A');
}

/* "spotlight DR 0.79 -> 0.71 (-0.08, 95 % -0.11..-0.05, margin 0.02, 100 pairs)" and the reason. */
static void print_headline(FILE *f, const spot_check *k, const spot_check_line *l, bool color)
{
    char verdict[24], metric[24], text[700];
    bool rate = !strcmp(l->metric, "dr") || !strcmp(l->metric, "fdr");
    const char *whose = l->paired ? "pairs" : !strcmp(l->layer, "paper") ? "ECs, the paper's before"
                      : k->of_shifts ? "independent classes" : "other ECs";
    int n;

    upper(verdict, sizeof verdict, spot_verdict_name(l->verdict));
    upper(metric, sizeof metric, l->metric);
    n = snprintf(text, sizeof text, "%s%s%s", l->method[0] || *metric ? l->method : l->layer,
                 *metric && l->method[0] ? " " : "", rate ? metric : l->metric);
    if (!isnan(l->low))
        n += snprintf(text + n, sizeof text - (size_t)n, " %.3f -> %.3f (%+.3f, 95 %% %+.3f..%+.3f, margin %.3g, %d %s)",
                      l->before, l->now, l->now - l->before, l->low, l->high, l->margin, l->n, whose);
    if (l->why[0]) snprintf(text + n, sizeof text - (size_t)n, "%s%s", isnan(l->low) ? ": " : "; ", l->why);
    if (color) fprintf(f, "\033[%sm%s\033[0m: ", color_of(l), verdict);
    spot_note(f, false, color ? "%s%s" : "%s: %s", color ? "" : verdict, text);
}

/* Counts the layer's lines in words ("12 same, 2 inconclusive"); returns how many are inconclusive. */
static int count_words(char *text, size_t size, const spot_check *k, const char *layer)
{
    int n[SPOT_VERDICTS] = { 0 };
    size_t used = 0;

    snprintf(text, size, "in quarantine");
    for (int i = 0; i < k->lines; i++) n[k->line[i].verdict] += !strcmp(k->line[i].layer, layer) && !k->line[i].quarantined;
    for (int v = 0; v < SPOT_VERDICTS; v++)
        if (n[v] && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%d %s", used ? ", " : "", n[v], spot_verdict_name(v));
    return n[SPOT_INCONCLUSIVE];
}

typedef struct { const spot_check_line *l; char who[sizeof((spot_check_line *)0)->method], verdict[32]; } number_row;

static long count_lines(const void *root) { return ((const spot_check *)root)->lines; }

static bool get_number(void *out, const void *root, long i)
{
    const spot_check_line *l = &((const spot_check *)root)->line[i];
    number_row *x = out;

    *x = (number_row){ .l = l };
    if (!strcmp(l->layer, "paper")) snprintf(x->who, sizeof x->who, "%.20s, paper", l->method);
    else snprintf(x->who, sizeof x->who, "%s", l->method[0] ? l->method : "(the run)");
    snprintf(x->verdict, sizeof x->verdict, "%s%s", spot_verdict_name(l->verdict), l->quarantined ? " (q)" : "");
    return !isnan(l->now);
}

static const spot_quantity metric[] = { SPOT_QUANTITY(NULL, spot_check_line, metric, .title = "metric"), SPOT_QUANTITIES_END };

#define ROWS(whose) { SPOT_QUANTITY(NULL, number_row, who, .title = whose), SPOT_BEHIND(NULL, number_row, l, metric), \
                      SPOT_QUANTITY(NULL, number_row, verdict, .title = "verdict"), \
                      SPOT_BEHIND(NULL, number_row, l, spot_check_values), SPOT_QUANTITIES_END }
static const spot_quantity of_method[] = ROWS("method"), of_shift[] = ROWS("shift");

static void print_numbers(FILE *f, const spot_check *k, bool marked)
{
    spot_quantity list = SPOT_ROWS(NULL, SPOT_AS_LIST, of_method, number_row, count_lines, get_number, .keep = true);

    if (k->of_shifts) list.rows = of_shift;
    list.title = marked ? "Numbers; (q): in quarantine, fails nothing" : "Numbers";
    spot_result_print(f, SPOT_TABLE_TEXT, &list, k);
}

void spot_check_print(FILE *f, const spot_check *k, bool color)
{
    char bits[120], numbers[160];
    bool unpaired = false, table = false, marked = false;
    int open;

    count_words(bits, sizeof bits, k, "bits");
    open = count_words(numbers, sizeof numbers, k, "pairs");
    if (!k->failed)                                        /* a night with inconclusive numbers is not called fine */
        fprintf(f, "%s%s%s: numbers %s; bits %s\n", color ? "\033[32m" : "",
                open ? "nothing is shown to be worse" : "the night is fine", color ? "\033[0m" : "", numbers, bits);
    for (int i = 0; i < k->lines; i++)
        if (fails(&k->line[i])) print_headline(f, k, &k->line[i], color);
    for (int i = 0; i < k->lines; i++) {
        const spot_check_line *l = &k->line[i];
        table |= !isnan(l->now);
        marked |= l->quarantined;
        unpaired |= !strcmp(l->layer, "pairs") && !l->paired;
    }
    if (unpaired && k->of_shifts)
        spot_note(f, false, "The runs have no common class or no common model: independent runs are compared.");
    else if (unpaired)
        spot_note(f, false, "No EC is the baseline's (another seed or other scenes): means of independent ECs are compared.");
    if (table) print_numbers(f, k, marked);
    fprintf(f, "\n");
    for (int i = 0; i < k->lines; i++)
        if (!fails(&k->line[i]) && (k->line[i].why[0] || k->line[i].verdict == SPOT_BETTER))
            print_headline(f, k, &k->line[i], color);
    spot_note(f, false, "baseline: %s", k->baseline);
    spot_note(f, false, "run:      %s", k->run);
}

/* ---- JSON ---- */

spot_status spot_check_print_json(spot_ctx *c, FILE *f, const spot_check *k)
{
    spot_check copy = *k;
    spot_json j;

    SPOT_TRY(spot_json_open(c, &j));
    spot_night_describe(&j, &copy, NULL, NULL);
    spot_json_print(&j, f);
    return SPOT_OK;
}
