/* slice_table.c - see slice_table.h. */
#include "cli/slice_table.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "bdm/methods.h"
#include "cli/slice_words.h"
#include "discover/proof_files.h"

typedef struct { const spot_finding *f; int k; } line;

static void print_name(const char *text, int width)
{
    int n = 0;

    for (; *text && n < width; text++) {
        if (((unsigned char)*text & 0xc0) != 0x80) n++;
        putchar((unsigned char)*text < ' ' || *text == 127 ? '?' : *text);
    }
    while (((unsigned char)*text & 0xc0) == 0x80) putchar(*text++);
    printf("%*s", width - n, "");
}

/* *all: malloc'd, the *n slices of all findings in their order. */
static spot_status list_slices(spot_ctx *c, line **all, int *n, const spot_findings *f)
{
    spot_slice_place *order;

    SPOT_TRY(spot_slice_order(c, &order, n, f));
    *all = malloc(((size_t)*n + 1) * sizeof **all);
    for (int i = 0; *all && i < *n; i++) (*all)[i] = (line){ &f->finding[order[i].finding], order[i].slice };
    free(order);
    return *all ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the table");
}

/* ---- with proofs ---- */

static void print_proved(const line *l, int number, const spot_subject *s, const spot_discover_options *d)
{
    const spot_slice *p = &l->f->slice[l->k];
    const spot_proof *q = p->proof;
    char names[400];

    printf("%4d  %-9s  ", number, spot_claim_name(q->claim));
    print_name(l->f->cls < 0 ? "(all)" : s->class_name[l->f->cls], 15);
    printf("  %6d  %6d  %3.0f %%  %3.0f %%  %+4.0f %%  ", p->size, q->judged, 100.0 * q->wrong / q->judged, 100 * q->class_rate,
           100 * q->shrunk);
    print_name(q->predicted < 0 ? "-" : s->class_name[q->predicted], 12);
    printf("  %7.2g  ", q->p);
    printf("%.16s\n", spot_proof_methods(names, sizeof names, q, d));
    cli_slice_words(p);
}

/* The slices of a cause as one line; below it their classes. */
static void print_cause(int cause, int number, const spot_findings *f, const spot_subject *s)
{
    const spot_cause x = spot_cause_of(f, cause);
    char text[40];

    snprintf(text, sizeof text, "%d classes", x.classes);
    printf("%4d  %-9s  ", number, spot_claim_name(SPOT_CLAIM_CONFIRMED));
    print_name(text, 15);
    printf("  %6d  %6d  %3.0f %%  %3.0f %%  %+4.0f %%  ", x.size, x.judged, 100.0 * x.judged_wrong / x.judged,
           100 * x.class_rate, 100 * x.shrunk);
    print_name(s->class_name[x.predicted], 12);
    printf("  %7.2g  one cause\n      %d slices that are alike, %.0f %% of their wrong rows taken for this class; rows: ", x.p,
           x.slices, 100 * x.predicted_share);
    for (int i = 0, shown = 0; i < f->count; i++) {
        int rows = 0;
        for (int k = 0; k < f->finding[i].slices; k++)
            if (f->finding[i].slice[k].proof->cause == cause) rows += f->finding[i].slice[k].size;
        if (!rows) continue;
        snprintf(text, sizeof text, "%.30s", s->class_name[f->finding[i].cls]);
        printf("%s%d of %s", shown++ ? ", " : "", rows, spot_plain(text));
    }
    printf("\n");
}

/* Whether one of the first n slices has the cause; 0: none has. */
static bool has_cause(const line *all, int n, int cause)
{
    bool has = false;

    for (int i = 0; i < n && cause; i++) has |= all[i].f->slice[all[i].k].proof->cause == cause;
    return has;
}

/* The slices of a cause are one line, with the number of the first. Returns how many lines there are; prints `top` of them. */
static int print_lines(const line *all, int n, const spot_findings *f, const spot_subject *s, const spot_discover_options *d,
                       int top)
{
    int lines = 0;

    for (int i = 0; i < n; i++) {
        const int cause = all[i].f->slice[all[i].k].proof->cause;
        if (has_cause(all, i, cause) || ++lines > top) continue;
        if (cause) print_cause(cause, i + 1, f, s);
        else print_proved(&all[i], i + 1, s, d);
    }
    return lines;
}

static void print_claims(const line *all, int n, const spot_proof_options *p)
{
    int claims[3] = { 0, 0, 0 };

    for (int i = 0; i < n; i++) claims[all[i].f->slice[all[i].k].proof->claim]++;
    if (n)
        printf("%d confirmed of %d tests at level %g%s; ", claims[SPOT_CLAIM_CONFIRMED], all->f->slice[all->k].proof->tests,
               p->level, claims[SPOT_CLAIM_CONFIRMED] ? "" : ": no blindspot is proved");
    else printf("no slice to test\n");
    if (n && p->chance)
        printf("%d suggested: better than the best of %d searches in errors without structure; ", claims[SPOT_CLAIM_SUGGESTED],
               p->chance);
    if (n) printf("%d may be chance\n", claims[SPOT_CLAIM_CHANCE]);
}

/* The rate is that of the judged rows. */
static spot_status print_proofs(spot_ctx *c, const spot_findings *f, const spot_subject *s, const spot_discover_options *d,
                                int top)
{
    line *all;
    int n, lines;

    SPOT_TRY(list_slices(c, &all, &n, f));
    printf("   #  claim      class              size  judged   rate  class  excess  predicted           p  found by\n");
    lines = print_lines(all, n, f, s, d, top);
    if (lines > top) printf("and %d more\n", lines - top);
    print_claims(all, n, d->proof);
    free(all);
    return SPOT_OK;
}

static spot_status print_slices(spot_ctx *c, const spot_findings *f, const spot_subject *s, const spot_discover_options *d,
                               int top)
{
    line *all;
    int n;

    SPOT_TRY(list_slices(c, &all, &n, f));
    printf("   #  class                 method                   seed    size  errors  rate  share  score\n");
    for (int i = 0; i < n && i < top; i++) {
        const spot_finding *g = all[i].f;
        const spot_slice *p = &g->slice[all[i].k];
        char name[80];
        printf("%4d  ", i + 1);
        print_name(g->cls < 0 ? "(all)" : s->class_name[g->cls], 20);
        printf("  ");
        print_name(spot_bdm_name(&d->bdm[g->bdm], name, sizeof name), 20);
        printf("  %7llu  %6d  %6d  %3.0f %%  %3.0f %%  %.4g\n", (unsigned long long)g->seed, p->size, p->wrong,
               100 * p->error_rate, 100 * p->share, p->score);
        cli_slice_words(p);
    }
    if (n > top) printf("and %d more\n", n - top);
    if (!n) printf("no slices\n");
    free(all);
    return SPOT_OK;
}

static void print_left_out(const spot_findings *f, const spot_subject *s, const spot_discover_options *d)
{
    enum { NAMED = 5 };
    char name[200];
    int few = 0;

    if (!f->left_out) return;
    for (int i = 0; i < f->left_out; i++) few += spot_subject_rows(s, f->left_class[i]) < d->least;
    printf("left out: %d with fewer than %d rows, %d without a wrong one (", few, d->least, f->left_out - few);
    for (int i = 0; i < f->left_out && i < NAMED; i++) {
        if (i) printf(", ");
        snprintf(name, sizeof name, "%s", s->class_name[f->left_class[i]]);
        fputs(spot_plain(name), stdout);
    }
    printf("%s)\n", f->left_out > NAMED ? ", ...; slices.json names all" : "");
}

spot_status cli_slice_table(spot_ctx *c, const spot_findings *f, const spot_subject *s, const spot_discover_options *d, int top)
{
    SPOT_TRY(d->proof ? print_proofs(c, f, s, d, top) : print_slices(c, f, s, d, top));
    print_left_out(f, s, d);
    return SPOT_OK;
}

spot_status cli_slice_of_table(spot_ctx *c, const spot_finding **g, const spot_slice **s, int *slices, const spot_findings *f,
                               int number)
{
    line *all;

    *g = NULL, *s = NULL;
    SPOT_TRY(list_slices(c, &all, slices, f));
    if (number >= 1 && number <= *slices) {
        *g = all[number - 1].f;
        *s = &(*g)->slice[all[number - 1].k];
    }
    free(all);
    return SPOT_OK;
}
