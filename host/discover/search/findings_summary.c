/* findings_summary.c - the sentences on top of terminal and page (spotter/discover.h). All numbers are of the findings but two:
 * how many new rows tell whether a cause is still there, and what the judging rows would have confirmed. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "discover/search/entry_facts.h"
#include "stats/statistics.h"

enum { CAUSES = 3, WORST = 3, FEWEST = 10, MOST = 1000 };      /* named causes and classes; new rows that are asked for */

#define POWER 0.8                      /* that a cause which is still there is seen in the new rows */
#define LEVEL 0.05                     /* of the test of new rows */

typedef struct {
    spot_top_lines *out;
    const spot_slice_list *e;
    const spot_findings *f;
    const spot_subject *s;
    const spot_discover_options *o;
    const char *found;
} teller;

__attribute__((format(printf, 2, 3)))
static void say(spot_top_lines *out, const char *fmt, ...)
{
    va_list args;

    if (out->lines == SPOT_SUMMARY_LINES) return;
    va_start(args, fmt);
    vsnprintf(out->line[out->lines++], SPOT_SUMMARY_LINE, fmt, args);
    va_end(args);
}

/* At the end of the last line. */
__attribute__((format(printf, 2, 3)))
static void go_on(spot_top_lines *out, const char *fmt, ...)
{
    char *line = out->line[out->lines - 1];
    const size_t used = strlen(line);
    va_list args;

    va_start(args, fmt);
    vsnprintf(line + used, SPOT_SUMMARY_LINE - used, fmt, args);
    va_end(args);
}

static double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

/* ---- accuracy ---- */

static void tell_accuracy(const teller *t)
{
    const spot_answers *a = &t->e->answers;
    const double all = percent((double)a->wrong, (double)a->all);
    int named = 0;

    say(t->out, "%.1f %% of %ld %s are right", 100 - all, a->all, t->s->target ? "rows" : "answers");
    for (int i = 0; i < t->e->classes && named < WORST && t->e->classes > 1; i++) {
        const spot_class_errors *k = &t->e->cls[i];
        const double own = percent((double)k->wrong, (double)k->rows);
        spot_class_title name, to;
        if (own <= all || k->rows < t->o->least) continue;
        go_on(t->out, "%s%s (%.0f %% of %ld", named++ ? ", " : "; most often wrong: ",
              spot_class_called(name, t->s, k->cls), own, k->rows);
        if (k->taken >= 0 && 2 * k->taken_rows > k->wrong && t->s->classes > 2)
            go_on(t->out, ", mostly taken for %s", spot_class_called(to, t->s, k->taken));
        go_on(t->out, ")");
    }
    go_on(t->out, ".");
}

/* ---- causes ---- */

static bool is_told(const teller *t, const spot_entry *x)
{
    return !x->folded && x->claim == (t->o->proof ? SPOT_SLICE_CONFIRMED : SPOT_SLICE_OPEN);
}

static int count_told(const teller *t)
{
    int n = 0;

    for (int i = 0; i < t->e->count; i++) n += is_told(t, &t->e->entry[i]);
    return n;
}

static void tell_causes(const teller *t)
{
    for (int i = 0; i < t->e->count && i < CAUSES; i++) {
        const spot_entry *x = &t->e->entry[i];
        if (!is_told(t, x)) return;
        say(t->out, "%d. %s: %.0f %% wrong (%s: %.0f %%), %d rows, %.0f %% of all errors", x->number, x->title,
            percent(x->judged_wrong, x->judged), x->cls < 0 ? "their classes" : "its class", 100 * x->class_rate, x->size,
            100 * x->share);
        if (x->rule_items && !x->exact)
            go_on(t->out, "; the rule alone: %.0f %% of %d rows", percent(x->rule_wrong, x->rule_rows), x->rule_rows);
        go_on(t->out, ".");
    }
}

/* Rows of a cause, and as many of its class, in which the difference is seen with POWER: the usual formula of two shares. */
static int new_rows(const spot_entry *x)
{
    const double p = x->class_rate, q = fmin(0.99, p + x->shrunk), mean = (p + q) / 2;
    const double z = spot_normal_quantile(1 - LEVEL) * sqrt(2 * mean * (1 - mean))
                   + spot_normal_quantile(POWER) * sqrt(p * (1 - p) + q * (1 - q));
    const double n = q > p ? ceil(z * z / ((q - p) * (q - p))) : MOST;

    return n < FEWEST ? FEWEST : n < MOST ? (int)n : MOST;
}

static void tell_test(const teller *t, const spot_entry *x)
{
    const spot_slice *head = spot_slice_at(t->f, *x->member);
    const int n = new_rows(x);

    if (t->s->image)
        go_on(t->out, "about %d new pictures of %d, and as many others, tell whether it holds: spotter gather %s --slice %d%s "
              "--images NEW --encoder CLIP.safetensors --most %d --out NEW%d", n, x->number, t->found, x->number,
              head->words ? "" : " --text \"ITS WORDS\"", n, x->number);
    else
        go_on(t->out, "about %d new rows of %d tell whether it holds: spotter assign %s -e E2 -y Y2 -p P2 --out new.csv", n,
              x->number, t->found);
}

static void tell_next(const teller *t, int causes)
{
    say(t->out, "Next: look at the %s of 1", t->s->image ? "pictures" : "rows");
    if (causes > 1) go_on(t->out, "%s%d", causes == 2 ? " and " : " to ", causes);
    go_on(t->out, "; ");
    if (t->f->suspects.known && t->f->suspects.count)
        go_on(t->out, "check the labels of %d rows, which may be wrong; ", t->f->suspects.count);
    if (t->o->proof) tell_test(t, t->e->entry);
    else go_on(t->out, "chance alone gives some such groups, so leave --no-proof out for a test");
}

/* ---- nothing is confirmed ---- */

/* The class with most rows and a wrong one. */
static const spot_finding *largest(const teller *t)
{
    const spot_finding *best = NULL;

    for (int i = 0; i < t->f->count; i++) {
        const spot_finding *g = &t->f->finding[i];
        if (g->wrong && (!best || (g->cls >= 0) > (best->cls >= 0) || (g->cls >= 0 && g->n > best->n))) best = g;
    }
    return best;
}

/* The least wrong ones of m judged rows that are confirmed, if all tests were apart: at least that is; m + 1: none. */
static int least_wrong(const teller *t, int judging, int wrong, int m, int tests)
{
    int w = (int)((double)m * wrong / judging);

    while (w <= m && (w > wrong || spot_hypergeometric_tail(judging, wrong, m, w) > t->o->proof->level / tests)) w++;
    return w;
}

static void tell_power(const teller *t, int tests)
{
    const spot_finding *g = largest(t);
    const spot_proof_options *p = t->o->proof;
    char whose[200] = "Of all rows";
    spot_class_title name;
    int judging, wrong, m, w;

    if (!g || spot_subject_is_grouped(t->s)) return;     /* rows of a group count less than rows */
    judging = (int)(g->n * (p->parts == 1 ? p->holdout : 0.5));
    wrong = (int)((double)judging * g->wrong / g->n);
    m = judging / 10 > 5 ? judging / 10 : judging < 5 ? judging : 5;
    if (m < 1) return;
    w = least_wrong(t, judging, wrong, m, tests > 1 ? tests : 1);
    if (g->cls >= 0) snprintf(whose, sizeof whose, "In %s", spot_class_called(name, t->s, g->cls));
    if (w > m || w > wrong)
        say(t->out, "%s, %d of whose %d rows judge, no group of %d rows could have been confirmed: there are too few rows.",
            whose, judging, g->n, m);
    else
        say(t->out, "%s, a group of which %d rows are judged would have been confirmed with %d wrong ones (%.0f %%; its class: "
            "%.0f %%).", whose, m, w, percent(w, m), percent(g->wrong, g->n));
}

static void tell_nothing(const teller *t)
{
    const spot_entry *first = t->e->count && t->e->entry->claim == SPOT_SLICE_SUGGESTED ? t->e->entry : NULL;
    const int tests = t->e->slices && t->o->proof ? spot_slice_at(t->f, *t->e->place)->proof->tests : 0;

    if (!t->o->proof) {
        say(t->out, "No group fails more often than the rest of its class.");
        return;
    }
    if (tests) say(t->out, "No group of rows is proved to fail more often than its class (%d tests at level %g).", tests,
                   t->o->proof->level);
    else say(t->out, "No group of rows to test: none fails more often than its class in the half that was searched.");
    tell_power(t, tests);
    if (first) {
        say(t->out, "Suggested, %d. %s: %.0f %% of %d judged rows are wrong (class: %.0f %%).", first->number, first->title,
            percent(first->judged_wrong, first->judged), first->judged, 100 * first->class_rate);
        say(t->out, "Next: ");
        tell_test(t, first);
    } else say(t->out, "Next: collect more rows; with four times as many, about half of this excess would be confirmed.");
}

void spot_findings_summary(spot_top_lines *out, const spot_slice_list *e, const spot_findings *f, const spot_subject *s,
                           const spot_discover_options *o, const char *found)
{
    const teller t = { out, e, f, s, o, found ? found : "FOUND" };
    char note[SPOT_FINDINGS_NOTE];
    int causes;

    out->lines = 0;
    if (*spot_findings_note(note, f, s)) {
        say(out, "%s", note);
        return;
    }
    tell_accuracy(&t);
    causes = count_told(&t);
    if (causes) tell_causes(&t);
    else tell_nothing(&t);
    if (causes) tell_next(&t, causes);
}
