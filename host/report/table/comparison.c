/* comparison.c - see comparison.h: quantities of a comparison, and its formats for programs. */
#include "report/table/comparison.h"

#include <math.h>

#include "base/json.h"
#include "result/columns.h"

int spot_comparison_quantities(const spot_comparison *t)
{
    static const int n[] = { [SPOT_RATES_BOTH] = 2, [SPOT_RATES_DR] = 1, [SPOT_RATES_FAILURES] = SPOT_FAILURES };
    return n[t->paper->quantities];
}

bool spot_comparison_is_failures(const spot_comparison *t) { return t->paper->quantities == SPOT_RATES_FAILURES; }

const char *spot_comparison_quantity(const spot_comparison *t, int q)
{
    return spot_comparison_is_failures(t) ? spot_failure_name(q) : q ? "fdr" : "dr";
}

static const spot_summary *summary(const spot_comparison_line *l) { return &l->run->method[l->method].sum; }

const char *spot_comparison_method(const spot_comparison_line *l) { return l->run ? l->run->method[l->method].name : ""; }

spot_average spot_comparison_ours(const spot_comparison *t, const spot_comparison_line *l, int q)
{
    const spot_average none = { NAN, NAN, 0, 0 };

    if (!l->run) return none;
    if (spot_comparison_is_failures(t)) return summary(l)->failure[q];
    return q ? summary(l)->fdr : summary(l)->dr;
}

double spot_comparison_apart(const spot_comparison *t, const spot_comparison_line *l, int q, double *se)
{
    spot_average a = spot_comparison_ours(t, l, q);
    double theirs = isnan(l->paper->se[q]) ? 0 : l->paper->se[q];

    *se = a.n ? sqrt(theirs * theirs + a.se * a.se) : NAN;
    if (!(*se > 0) || isnan(l->paper->value[q])) return NAN;
    return a.mean == l->paper->value[q] ? 0 : (a.mean - l->paper->value[q]) / *se;
}

const char *spot_comparison_differs(char text[SPOT_DIFFERS], const spot_comparison_line *l)
{
    *text = 0;
    return l->run ? spot_paper_method_differs(text, SPOT_DIFFERS, &l->run->cfg.bdm[l->method], l->paper) : text;
}

/* ---- formats ---- */

static int left_out(const spot_comparison_line *l, const spot_average *a)
{
    return a->left_out + l->run->method[l->method].failed + summary(l)->not_learned;
}

void spot_comparison_print_csv(FILE *f, const spot_comparison *t)
{
    char words[SPOT_DIFFERS];
    double se;

    fputs("table,row,method,run,config,profile,quantity,value,se,n,left_out,paper,paper_se,apart_in_se,method_differs,"
          "run_differs\n", f);
    for (int i = 0; i < t->lines; i++)
        for (int q = 0; q < spot_comparison_quantities(t); q++) {
            const spot_comparison_line *l = &t->line[i];
            spot_average a = spot_comparison_ours(t, l, q);
            fprintf(f, "%d,", t->paper->number);
            spot_csv_text(f, l->paper->name, ",");
            spot_csv_text(f, spot_comparison_method(l), ",");
            spot_csv_text(f, l->run ? l->run->dir : "", ",");
            fprintf(f, "%s,%s,%s,", l->run ? l->run->config : "", l->run ? spot_profile_name(l->run->metric.profile) : "",
                    spot_comparison_quantity(t, q));
            spot_csv_number(f, a.n ? a.mean : NAN, ",");
            spot_csv_number(f, a.n ? a.se : NAN, ",");
            if (l->run) fprintf(f, "%d,%d,", a.n, left_out(l, &a));
            else fputs(",,", f);
            spot_csv_number(f, l->paper->value[q], ",");
            spot_csv_number(f, l->paper->se[q], ",");
            spot_csv_number(f, spot_comparison_apart(t, l, q, &se), ",");
            spot_csv_text(f, spot_comparison_differs(words, l), ",");
            *words = 0;
            if (l->run) spot_paper_run_differs(words, sizeof words, &l->run->cfg);
            spot_csv_text(f, words, "\n");
        }
}

static void json_line(spot_json *j, const spot_comparison *t, const spot_comparison_line *l)
{
    char words[SPOT_DIFFERS];
    double se;

    spot_json_object(j, NULL);
    spot_json_put_text(j, "row", l->paper->name);
    spot_json_put_text(j, "needs", l->paper->needs);
    spot_json_put_text(j, "method", spot_comparison_method(l));
    spot_json_put_text(j, "run", l->run ? l->run->dir : "");
    spot_json_put_text(j, "differs", spot_comparison_differs(words, l));
    for (int q = 0; q < spot_comparison_quantities(t); q++) {
        spot_average a = spot_comparison_ours(t, l, q);
        spot_json_object(j, spot_comparison_quantity(t, q));
        spot_json_put_real(j, "mean", a.n ? a.mean : NAN);
        spot_json_put_real(j, "se", a.n ? a.se : NAN);
        spot_json_put_int(j, "n", a.n);
        spot_json_put_int(j, "left_out", l->run ? left_out(l, &a) : 0);
        spot_json_put_real(j, "paper", l->paper->value[q]);
        spot_json_put_real(j, "paper_se", l->paper->se[q]);
        spot_json_put_real(j, "apart_in_se", spot_comparison_apart(t, l, q, &se));
        spot_json_end(j);
    }
    spot_json_end(j);
}

spot_status spot_comparison_print_json(spot_ctx *c, FILE *f, const spot_comparison *t)
{
    char words[SPOT_DIFFERS];
    spot_json j;

    SPOT_TRY(spot_json_open(c, &j));
    spot_json_put_int(&j, "table", t->paper->number);
    spot_json_put_text(&j, "title", t->paper->title);
    spot_json_put_text(&j, "paper_over", t->paper->over);
    spot_json_array(&j, "runs", t->runs, t->runs);
    for (int r = 0; r < t->runs; r++) {
        spot_paper_run_differs(words, sizeof words, &t->run[r]->cfg);
        spot_json_object(&j, NULL);
        spot_json_put_text(&j, "run", t->run[r]->dir);
        spot_json_put_text(&j, "config", t->run[r]->config);
        spot_json_put_text(&j, "profile", spot_profile_name(t->run[r]->metric.profile));
        spot_json_put_int(&j, "numbers", t->run[r]->numbers);
        spot_json_put_int(&j, "planned", t->run[r]->planned);
        spot_json_put_int(&j, "done", t->run[r]->ecs);
        spot_json_put_int(&j, "not_learned", t->run[r]->not_learned);
        spot_json_put_int(&j, "untrained", t->run[r]->untrained);
        spot_json_put_text(&j, "differs", words);
        spot_json_end(&j);
    }
    spot_json_end(&j);
    spot_json_array(&j, "rows", t->lines, t->lines);
    for (int i = 0; i < t->lines; i++) json_line(&j, t, &t->line[i]);
    spot_json_end(&j);
    spot_json_print(&j, f);
    return SPOT_OK;
}
