/* slice_versions_named.c - questions about rows that were named before: all, a class, a guard. */
#include "versions/slice_versions_steps.h"

#include <math.h>
#include <string.h>

#include "discover/subject/subject_memory.h"
#include "versions/slice_versions_ask.h"

static bool has_rows_of_all(const spot_subject *s) { return s->target && s->classes > 1; }

/* The rows of class cls, or of a guard, into row (NULL: only their number). */
static int rows_of(const spot_subject *s, int cls, const uint8_t *in, int *row)
{
    int n = 0;

    for (int i = 0; i < s->n; i++) {
        if (in ? !in[i] : !spot_subject_is_of(s, i, cls)) continue;
        if (row) row[n] = i;
        n++;
    }
    return n;
}

size_t spot_judging_named_rows(const spot_subject *s, const spot_versions_options *o)
{
    size_t n = 0;

    for (int k = has_rows_of_all(s) ? SPOT_ALL_CLASSES : 0; k < s->classes; k++) n += (size_t)rows_of(s, k, NULL, NULL);
    for (int g = 0; g < o->guards; g++) n += (size_t)rows_of(s, 0, o->guard[g].in, NULL);
    return n;
}

/* All rows and classes; returns the rest of j->named. */
static int *ask_classes(spot_judging *j, int *row)
{
    const spot_subject *s = j->s[0];
    spot_versions *v = j->v;

    for (int cls = has_rows_of_all(s) ? SPOT_ALL_CLASSES : 0; cls < s->classes; cls++) {
        spot_version_class *x = &v->of[v->classes];
        const int n = rows_of(s, cls, NULL, row);
        if (!n) continue;
        *x = (spot_version_class){ .cls = cls, .counts = { .margin = v->margin, .beyond = v->beyond } };
        spot_questions_add(&j->ask, cls < 0 ? SPOT_ASK_ALL : SPOT_ASK_CLASS, &x->counts, row, n, cls);
        row += n;
        v->classes++;
    }
    return row;
}

static spot_status ask_guards(spot_judging *j, int *row)
{
    spot_versions *v = j->v;

    for (; v->guards < j->o->guards; v->guards++) {
        const spot_version_guard *g = &j->o->guard[v->guards];
        spot_version_class *x = &v->guard[v->guards];
        const size_t size = strlen(g->name) + 1;
        const int n = rows_of(j->s[0], g->cls, g->in, row);
        char *name;
        SPOT_TRY(SPOT_TAKE(j->c, &v->arena, name, size));
        memcpy(name, g->name, size);
        *x = (spot_version_class){ .cls = g->cls, .name = name, .counts = { .margin = v->margin, .beyond = v->beyond } };
        if (!isnan(g->margin)) x->counts.margin = x->counts.beyond = g->margin;
        spot_questions_add(&j->ask, SPOT_ASK_GUARD, &x->counts, row, n, g->cls);
        row += n;
    }
    return SPOT_OK;
}

static void count_strata(spot_judging *j)
{
    const spot_subject *s = j->s[0];

    for (int k = 0; k < s->classes; k++)
        for (int u = 0; u < SPOT_VERSIONS; u++) {
            spot_stratum *all = &j->whole[u][k];
            *all = (spot_stratum){ 0 };
            for (int i = 0; i < s->n; i++)
                if (spot_subject_is_of(s, i, k)) all->rows++, all->group += spot_subject_wrong(j->s[u], i, k);
        }
}

spot_status spot_judging_named(spot_judging *j)
{
    SPOT_TRY(SPOT_TAKE(j->c, &j->v->arena, j->v->of, j->s[0]->classes + 1));
    SPOT_TRY(SPOT_TAKE(j->c, &j->v->arena, j->v->guard, j->o->guards));
    count_strata(j);
    return ask_guards(j, ask_classes(j, j->named));
}
