/* slice_table.c - see slice_table.h. */
#include "cli/slice_table.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "bdm/methods.h"
#include "cli/slice_words.h"

typedef struct { const spot_finding *f; int k; } line;

/* Errors times error rate: defined for the slices of every method. */
static double slice_weight(const line *l)
{
    const spot_slice *s = &l->f->slice[l->k];

    return s->wrong * s->error_rate;
}

static int heavier_first(const void *a, const void *b)
{
    double x = slice_weight(a), y = slice_weight(b);
    const line *l = a, *m = b;

    if (x != y) return x < y ? 1 : -1;
    return l->f != m->f ? (l->f < m->f ? -1 : 1) : l->k - m->k;
}

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

static spot_status print_slices(spot_ctx *c, const spot_findings *f, const spot_subject *s, const spot_discover_options *d,
                               int top)
{
    line *all = malloc(((size_t)f->count * SPOT_MAX_HYPOTHESES + 1) * sizeof *all);
    int n = 0;

    if (!all) return spot_fail(c, SPOT_NOMEM, "no memory for the table");
    for (int i = 0; i < f->count; i++)
        for (int k = 0; k < f->finding[i].slices; k++) all[n++] = (line){ &f->finding[i], k };
    qsort(all, (size_t)n, sizeof *all, heavier_first);
    printf("rank  class                 method                   seed    size  errors  rate  share  score\n");
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
    SPOT_TRY(print_slices(c, f, s, d, top));
    print_left_out(f, s, d);
    return SPOT_OK;
}
