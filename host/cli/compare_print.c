/* compare_print.c - two versions of a classifier in words and tables, at most 100 columns wide. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/compare.h"

enum { NAMED = 10, CLASSES = 20, SLICES = 20, NAME = 120, NAMES = 18 };

static double percent(int part, int rows) { return rows ? 100.0 * part / rows : 0; }

/* "places & colour=grey", "slice 3 of places", "all rows". */
static const char *name_slice(char text[NAME], const spot_versions *v, int i, const spot_subject *s)
{
    const spot_version_slice *p = &v->slice[i];
    const char *cls = p->cls < 0 ? "all rows" : s->class_name[p->cls];

    if (p->rule) snprintf(text, NAME, "%s%s%s", p->cls < 0 ? "" : cls, p->cls < 0 ? "" : " & ", p->rule);
    else snprintf(text, NAME, "slice %d of %s", i + 1, cls);
    return spot_plain(text);
}

static const char *name_class(char text[NAME], const spot_version_class *x, const spot_subject *s)
{
    snprintf(text, NAME, "%s", x->name ? x->name : x->cls < 0 ? "all rows" : s->class_name[x->cls]);
    return spot_plain(text);
}

/* ---- what changed, in words ---- */

static void say(const char *name, spot_change_verdict verdict, const spot_version_counts *k)
{
    printf("  %s: %s, %.0f -> %.0f %% wrong on %d rows", spot_change_verdict_name(verdict), name, 100 * k->before,
           percent(k->wrong[1], k->rows), k->rows);
    if (k->groups) printf(" in %d groups", k->groups);
    printf("; %d turned wrong, %d right\n", k->lost, k->gained);
}

static bool is_worse(spot_change_verdict v) { return v == SPOT_CHANGE_WORSE || v == SPOT_CHANGE_NEW; }
static bool is_better(spot_change_verdict v) { return v == SPOT_CHANGE_BETTER || v == SPOT_CHANGE_MENDED; }

/* All that is worse, or better: all rows, classes, guards, slices. */
static void say_changed(const spot_versions *v, const spot_subject *s, bool (*is)(spot_change_verdict))
{
    char text[NAME];

    for (int i = 0; i < v->classes; i++)
        if (is(v->of[i].verdict)) say(name_class(text, &v->of[i], s), v->of[i].verdict, &v->of[i].counts);
    for (int i = 0; i < v->guards; i++)
        if (is(v->guard[i].verdict)) say(name_class(text, &v->guard[i], s), v->guard[i].verdict, &v->guard[i].counts);
    for (int i = 0; i < v->slices; i++)
        if (is(v->slice[i].verdict)) say(name_slice(text, v, i, s), v->slice[i].verdict, &v->slice[i].counts);
}

/* ---- tables ---- */

static const char head[] = "verdict    rows before    now  change [low, high]    lost gained       p   needs";

static void print_line(const char *name, spot_change_verdict verdict, const spot_version_counts *k)
{
    if (strlen(name) > NAMES) printf("%s\n", name), name = "";           /* the numbers stand below a long name */
    spot_text_column(stdout, name, NAMES);
    printf("%-7s  %6d %4.0f %% %4.0f %%  %+5.1f [%+5.1f, %+5.1f]  %4d %6d %7.1g", spot_change_verdict_name(verdict), k->rows,
           100 * k->before, percent(k->wrong[1], k->rows), 100 * k->change.value, 100 * k->corrected.low,
           100 * k->corrected.high, k->lost, k->gained, is_better(verdict) ? k->p_better : k->p_worse);
    if (verdict == SPOT_CHANGE_PENDING && k->needed < 1e7) printf(" %7.0f\n", ceil(k->needed));
    else printf("%s\n", verdict == SPOT_CHANGE_PENDING ? "       -" : "");
}

static void print_classes(const spot_versions *v, const spot_subject *s)
{
    char text[NAME];
    int left = 0, shown = 0;

    printf("\n%-20s%s\n", v->guards ? "classes and guards" : "classes", head);
    for (int i = 0; i < v->classes; i++) {
        const spot_version_class *x = &v->of[i];
        if (x->cls >= 0 && !is_worse(x->verdict) && !is_better(x->verdict) && shown >= CLASSES) {
            left++;
            continue;
        }
        shown++;
        print_line(name_class(text, x, s), x->verdict, &x->counts);
    }
    if (left) printf("and %d more, none of them worse or better\n", left);
    for (int i = 0; i < v->guards; i++) print_line(name_class(text, &v->guard[i], s), v->guard[i].verdict, &v->guard[i].counts);
}

static void print_slices(const spot_versions *v, const spot_subject *s)
{
    int shown = 0, folded[SPOT_CHANGE_NEW + 1] = { 0 };
    char text[NAME];

    for (int i = 0; i < v->slices; i++) {
        const spot_version_slice *p = &v->slice[i];
        if ((!is_worse(p->verdict) && !is_better(p->verdict)) || shown >= SLICES) {
            folded[p->verdict]++;
            continue;
        }
        if (!shown++) printf("\n%-20s%s\n", "slices", head);
        print_line(name_slice(text, v, i, s), p->verdict, &p->counts);
    }
    if (!v->slices) printf("\nno blindspot of either version is confirmed, and no slice changed\n");
    for (int k = 0; k <= SPOT_CHANGE_NEW; k++)
        if (folded[k]) printf("%s%d slice%s %s", k && folded[0] ? ", " : "\n", folded[k], folded[k] == 1 ? "" : "s",
                              spot_change_verdict_name((spot_change_verdict)k));
    if (v->slices > shown) printf("; --out and --json have them\n");
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

/* ---- how it was judged ---- */

static void print_spread(const spot_versions *v)
{
    const spot_version_spread *x = &v->spread;

    if (x->files)
        printf("Before: the mean of %d trainings of version 1, between two of which a class moves by up to %.1f points\n"
               "(95 %%). ", x->files + 1, 100 * x->move);
    else
        printf("An equal training moves classes by a few points, too; --retrain measures by how many here. ");
    if (v->beyond < v->margin) printf("Worse: more than these trainings differ by.\n");
    else printf("Worse:\nmore than %.3g points, beyond chance: the low end is above it.\n", 100 * v->beyond);
    printf("Same: the high end is below %.3g points.\n", 100 * v->margin);
}

/* Slices that an equal training might have moved as well. */
static void print_shift(const spot_versions *v)
{
    const spot_version_shift *x = &v->shift;

    if (!x->freedom) return;
    printf("A slice's log odds must change, too, by more than those of %d slices do (by %.2g, standard deviation %.2g)",
           x->slices, x->middle, x->spread);
    if (x->as_others) printf(";\n%d changed in errors alone, as an equal training does, and %s pending", x->as_others,
                             x->as_others == 1 ? "is" : "are");
    printf(".\n");
}

static void print_rules(const spot_versions *v)
{
    static const char *const whose[] = { "of neither version", "of one source", "of both versions" };

    printf("\nChance of \"worse\" where nothing is: %.3g %% in all; ", 100 * v->level);
    for (int l = 0, n = 0; l < SPOT_ASK_LEVELS; l++)
        if (v->tests[l]) printf("%s%s %.3g %%", n++ ? ", " : "", spot_version_level_name((spot_version_level)l),
                                100 * v->level * v->share[l]);
    printf(", and\nwhat is left by levels before it. Slices were searched in features %s.\n", whose[v->features]);
    print_spread(v);
    print_shift(v);
    printf("change: points, with the corrected ends [low, high]; lost: turned wrong; gained: turned right;\n"
           "needs: %s of this kind that would decide, if the change stays as it is (-: no number does)\n",
           v->of->counts.groups ? "groups" : "rows");
}

void cli_versions_print(const spot_versions *v, const spot_subject *s)
{
    printf("%s -> %s%s%s, %d rows: %s\n", v->name[0], v->name[1], *v->data ? ", " : "", v->data, v->n,
           v->failed ? "worse" : "nothing is shown to be worse");
    if (v->equal) printf("both versions have the same rows wrong\n");
    if (spot_subject_is_grouped(s)) printf("rows are in %d groups, which the tests take as wholes\n", s->groups);
    say_changed(v, s, is_worse);
    say_changed(v, s, is_better);
    print_classes(v, s);
    print_slices(v, s);
    print_outside(v, s);
    print_rules(v);
}
