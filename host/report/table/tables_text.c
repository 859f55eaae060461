/* tables_text.c - the tables as plain text in columns, or as Markdown. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ranges.h"
#include "result/columns.h"
#include "report/table/factors.h"
#include "report/table/results_describe.h"

enum { METHODS_IN_A_ROW = 8, ECS_SHOWN = 200 };

static void print_table(FILE *f, bool markdown, const spot_wide_list *w, const spot_results *r)
{
    spot_result_print(f, markdown ? SPOT_TABLE_MD : SPOT_TABLE_TEXT, &w->list, r);
}

/* DR by number of blindspots, covered blindspots by specificity. The features do not fit in a line. */
static bool is_plain(const spot_factor_row *row) { return row->level.feature < 0 && !spot_factor_is_of_planting(row); }

static bool is_of_induce    (const spot_factor_row *row) { return row->level.induce; }
static bool is_of_complexity(const spot_factor_row *row) { return row->level.complexity; }
static bool is_of_severity  (const spot_factor_row *row) { return row->level.severity; }

/* Each factor of planting stands apart, since a line has room for one; a factor of one level says no more than the means. */
static void print_factors(FILE *f, bool markdown, const spot_results *r)
{
    static const struct { const char *title; bool (*is_of)(const spot_factor_row *); } all[] = {
        { "By factor: DR by number of blindspots, blindspots covered by specificity (more in csv, json)", is_plain },
        { "DR by the way of planting (induce)", is_of_induce },
        { "DR by complexity: the number of attributes that vary", is_of_complexity },
        { "Blindspots covered by severity: the classifier's error inside, on test positives", is_of_severity },
    };
    static const char *const before[] = { "DR, ", "", "covered, " };
    spot_factor_row row;
    spot_wide_list t;

    for (int k = 0; k < 4; k++) {
        spot_wide_begin(&t, &spot_results_names, all[k].title);
        for (int i = 0; i < spot_factor_count(); i++)
            if (spot_factor_at(r, i, &row) && row.rate != SPOT_RATE_FDR && all[k].is_of(&row))
                spot_wide_add(&t, spot_results_factor_mean, i, "%s%s", k ? "" : before[row.rate], row.value);
        if (!k || t.columns > 2) print_table(f, markdown, &t, r);
    }
}

static void print_ecs(FILE *f, bool markdown, const spot_results *r)
{
    const bool few = r->methods <= METHODS_IN_A_ROW;
    spot_wide_list t;

    spot_wide_begin(&t, &spot_results_ecs, few
                    ? "ECs: accuracy outside and inside the blindspots, then DR and FDR of each method"
                    : "ECs: accuracy outside and inside the blindspots (DR and FDR of so many methods: see csv, json)");
    for (int b = 0; b < r->methods && few; b++) {
        spot_wide_add(&t, spot_results_ec_rate, 2 * b, "DR %d", b + 1);
        if (spot_results_knows_fdr(r))
            spot_wide_add(&t, spot_results_ec_rate, 2 * b + 1, "FDR %d", b + 1)->beside = true;
    }
    print_table(f, markdown, &t, r);
}

/* Full names of shortened methods, and reasons of failures. */
static void note_methods(FILE *f, bool markdown, const spot_results *t)
{
    spot_short_name shorter;
    char text[1300];
    int notes = 0;

    for (int b = 0; b < t->methods; b++) {
        const spot_results_method *m = &t->method[b];
        bool cut = !markdown && strcmp(spot_shorten(shorter, m->name), m->name);
        if ((cut || m->gave_up) && !notes++) fputc('\n', f);
        if (cut) spot_note(f, false, "%d %s is %s", b + 1, shorter, m->name);
        if (*spot_results_failed(text, sizeof text, m))
            spot_note(f, markdown, "%d %s %s", b + 1, markdown ? m->name : shorter, text);
    }
}

/* Lists the ECs that failed to train or to learn; runs of many ECs get this instead of a line each. */
static void note_ecs(FILE *f, bool markdown, const spot_results *t)
{
    int *which = malloc((size_t)t->ecs * sizeof *which);
    char text[400];

    fputc('\n', f);
    spot_note(f, markdown, "%d ECs have a line each in --format csv and --format json", t->ecs);
    for (int failed = 0; failed < 2 && which; failed++) {
        int n = 0;
        for (int i = 0; i < t->ecs; i++)
            if (failed ? t->ec[i].status : !t->ec[i].status && !t->ec[i].learned) which[n++] = t->ec[i].index;
        if (n)
            spot_note(f, markdown, "%s: %s", failed ? "failed to train" : "did not learn their blindspots",
                      spot_ranges(text, sizeof text, which, n));
    }
    free(which);
}

void spot_table_print_text(FILE *f, const spot_results *t, bool markdown)
{
    const spot_table_format format = markdown ? SPOT_TABLE_MD : SPOT_TABLE_TEXT;
    const spot_metric_config *m = &t->metric;
    const char *sign = m->profile == SPOT_PROFILE_WORKSHOP ? ">" : ">=";
    char text[600];

    fprintf(f, markdown ? "# %s\n\n" : "%s\n\n", t->dir);
    spot_note(f, markdown, "%d of %d ECs are done; of these %d failed to train and %d did not learn their blindspots (%s)",
              t->ecs, t->planned, t->untrained, t->not_learned,
              t->include_all ? "averaged all the same" : "left out of averages");
    if (t->bad)
        spot_note(f, markdown, "%d result segment%s damaged or of another config and not counted", t->bad,
                  t->bad == 1 ? " is" : "s are");
    spot_note(f, markdown, "%s", spot_results_origin(text, sizeof text, t));
    if (!t->ecs) return;
    spot_note(f, markdown, "profile %s: a hypothesis belongs to a blindspot at BP %s %g, a blindspot is found at BR %s %g; "
              "top %d hypotheses", spot_profile_name(m->profile), sign, m->lambda_p, sign, m->lambda_r, m->top);
    spot_note(f, markdown, "%s", spot_results_knows_fdr(t) ? SPOT_RESULTS_U
              : "no FDR: real pictures may have blindspots that nobody planted");
    spot_result_print(f, format, &spot_results_means[spot_results_knows_fdr(t)], t);
    note_methods(f, markdown, t);
    if (spot_results_has_any_beside(t)) spot_result_print(f, format, &spot_results_besides, t);
    if (spot_results_has_beside(t, SPOT_COHERENCE))
        spot_note(f, markdown, "%s", SPOT_RESULTS_RANK);
    spot_result_print(f, format, &spot_results_failures, t);
    print_factors(f, markdown, t);
    if (t->ecs > ECS_SHOWN) note_ecs(f, markdown, t);
    else print_ecs(f, markdown, t);
}
