/* compare_print.c - the table of two versions of a classifier, at most 100 columns wide. */
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "cli/compare.h"

enum { NAMED = 10, CLASSES = 20 };

static const char head[] = "class           verdict    rows  before    now  class      change [95 %]   lost gained p (Holm)";

static double percent(int part, int rows) { return rows ? 100.0 * part / rows : 0; }

static void print_line(const char *name, spot_change_verdict verdict, const spot_version_counts *k, double class_rate,
                       spot_interval by)
{
    spot_text_column(stdout, name, 14);
    printf("%-7s  %6d  %4.0f %%  %3.0f %%", spot_change_verdict_name(verdict), k->rows, percent(k->wrong[0], k->rows),
           percent(k->wrong[1], k->rows));
    if (isnan(class_rate)) printf("       ");
    else printf("  %3.0f %%", 100 * class_rate);
    printf("  %+4.0f [%+4.0f, %+4.0f]  %5d %6d %8.2g\n", 100 * by.value, 100 * by.low, 100 * by.high, k->lost, k->gained,
           fmin(k->p_worse, k->p_better));
}

static void print_slices(const spot_versions *v, const spot_subject *s)
{
    const char *turn = spot_subject_is_grouped(s) ? "groups" : "rows";
    int pending = 0, enough = 0;

    printf("\n  #  %s\n", head);
    for (int i = 0; i < v->slices; i++) {
        const spot_version_slice *p = &v->slice[i];
        printf("%3d  ", i + 1);
        print_line(p->cls < 0 ? "(all)" : s->class_name[p->cls], p->verdict, &p->counts, p->class_rate[1], p->change);
        if (p->verdict != SPOT_CHANGE_PENDING) continue;
        pending++;
        if (p->counts.enough > enough) enough = p->counts.enough;
    }
    if (!v->slices) printf("     no blindspot of either version is confirmed, and no slice changed\n");
    if (pending)
        printf("\npending: the rows cannot tell, and nothing fails by it. A change is shown where %d %s or\n"
               "more turn, all of them wrong or all of them right; where %s turn both ways it takes more:\n"
               "collect such rows.\n", enough, turn, turn);
}

static void print_classes(const spot_versions *v, const spot_subject *s)
{
    int left = 0, shown = 0;

    printf("\nwhole%s\n", head + 5);
    for (int i = 0; i < v->classes; i++) {
        const spot_version_class *x = &v->of[i];
        const bool changed = x->verdict == SPOT_CHANGE_WORSE || x->verdict == SPOT_CHANGE_BETTER;
        if (x->cls >= 0 && !changed && shown >= CLASSES) {
            left++;
            continue;
        }
        shown++;
        print_line(x->cls < 0 ? "(all rows)" : s->class_name[x->cls], x->verdict, &x->counts, NAN, x->change);
    }
    if (left) printf("and %d more, none of them worse or better\n", left);
}

static void print_outside(const spot_versions *v, const spot_subject *s)
{
    if (!v->outside) return;
    printf("\n%d row%s outside these slices turned wrong: ", v->outside, v->outside == 1 ? "" : "s");
    for (int i = 0; i < v->outside && i < NAMED; i++) {
        char name[200];
        snprintf(name, sizeof name, "%d", v->lost[i].row);
        if (s->id) snprintf(name, sizeof name, "%.60s", s->id[v->lost[i].row]);
        printf("%s%s", i ? i % 5 ? ", " : ",\n  " : "", spot_plain(name));
    }
    printf("%s\n", v->outside > NAMED ? ", ...; --json and --out name all" : "");
}

void cli_versions_print(const spot_versions *v, const spot_subject *s)
{
    printf("%s -> %s%s%s, %d rows: %s\n", v->name[0], v->name[1], *v->data ? ", " : "", v->data, v->n,
           v->failed ? "worse" : "nothing is shown to be worse");
    if (v->equal) printf("both versions have the same rows wrong\n");
    if (spot_subject_is_grouped(s)) printf("rows are in %d groups; p is of whole groups\n", s->groups);
    print_slices(v, s);
    print_classes(v, s);
    print_outside(v, s);
    printf("\nrows: those that are compared; class: error rate in the class now; change: in points\n"
           "lost: right before, wrong now; gained: wrong before, right now; p: of the likelier direction\n");
}
