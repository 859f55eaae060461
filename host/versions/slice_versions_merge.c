/* slice_versions_merge.c - slices that are nearly the same rows become one, about which there is one question. */
#include "versions/slice_versions_steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "versions/slice_versions_ask.h"

enum { IN_SLICE = 1, COMPARED = 2 };

/* Rules lead, then the surest proof, then the most rows: nothing of that knows the versions. */
static int leaders_first(const void *a, const void *b)
{
    const spot_compared *x = a, *y = b;

    if (!x->rule != !y->rule) return x->rule ? -1 : 1;
    if (x->is.proof_p != y->is.proof_p) return x->is.proof_p < y->is.proof_p ? -1 : 1;
    if (x->rows != y->rows) return y->rows - x->rows;
    if (x->is.cls != y->is.cls) return x->is.cls - y->is.cls;
    return x->rows ? memcmp(x->row, y->row, (size_t)x->rows * sizeof *x->row) : 0;
}

static double jaccard(const spot_compared *a, const spot_compared *b)
{
    int both = 0;

    for (int i = 0, k = 0; i < a->rows && k < b->rows;) {
        if (a->row[i] == b->row[k]) both++, i++, k++;
        else if (a->row[i] < b->row[k]) i++;
        else k++;
    }
    return (double)both / fmax(1, a->rows + b->rows - both);
}

/* Each piece joins the first leader that it is like, or leads a slice of its own. */
static void merge_pieces(spot_judging *j)
{
    spot_compared *of = j->list->of;

    if (j->list->n) qsort(of, (size_t)j->list->n, sizeof *of, leaders_first);
    for (int i = 0; i < j->list->n; i++) {
        int g = 0;
        while (g < j->v->slices && (of[j->leader[g]].is.cls != of[i].is.cls
                                    || jaccard(&of[j->leader[g]], &of[i]) < j->o->proof.same)) g++;
        if (g == j->v->slices) j->leader[j->v->slices++] = i;
        j->group[i] = g;
    }
}

static int smallest_first(const void *a, const void *b)
{
    return ((const spot_version_piece *)a)->found - ((const spot_version_piece *)b)->found;
}

static spot_status keep_pieces(spot_judging *j, spot_version_slice *p, int g)
{
    spot_version_piece *piece;
    int n = 0;

    for (int i = 0; i < j->list->n; i++) p->pieces += j->group[i] == g;
    SPOT_TRY(SPOT_TAKE(j->c, &j->v->arena, piece, p->pieces));
    for (int i = 0; i < j->list->n; i++)
        if (j->group[i] == g) piece[n++] = j->list->of[i].is;
    qsort(piece, (size_t)n, sizeof *piece, smallest_first);
    p->piece = piece;
    return SPOT_OK;
}

static spot_status keep_rule(spot_judging *j, spot_version_slice *p, const char *rule)
{
    const size_t size = rule ? strlen(rule) + 1 : 0;
    char *copy;

    if (!rule) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(j->c, &j->v->arena, copy, size));
    p->rule = memcpy(copy, rule, size);
    return SPOT_OK;
}

/* A rule's slice has its rows alone, another one those of all its pieces. */
static void mark_rows(spot_judging *j, const spot_version_slice *p, int g)
{
    for (int i = 0; i < j->list->n; i++) {
        const spot_compared *x = &j->list->of[i];
        if (j->group[i] != g || (p->rule && i != j->leader[g])) continue;
        for (int k = 0; k < x->rows; k++) j->mark[x->row[k]] |= IN_SLICE;
        for (int k = 0; k < x->is.compared; k++) j->mark[x->at[k]] |= COMPARED;
    }
}

/* The rows with a mark, and the rates of the classes of those that are compared. */
static spot_status keep_rows(spot_judging *j, spot_version_slice *p)
{
    const spot_subject *s = j->s[0];
    int size = 0, compared = 0;

    for (int i = 0; i < s->n; i++) size += j->mark[i] != 0, compared += (j->mark[i] & COMPARED) != 0;
    SPOT_TRY(SPOT_TAKE(j->c, &j->v->arena, p->row, size));
    SPOT_TRY(SPOT_TAKE(j->c, &j->v->arena, p->at, compared));
    for (int i = 0; i < s->n; i++) {
        if (j->mark[i]) p->row[p->size++] = i;
        if (!(j->mark[i] & COMPARED)) continue;
        p->at[p->compared++] = i;
        for (int u = 0; u < SPOT_VERSIONS; u++) {
            const spot_stratum *k = &j->whole[u][spot_version_class_of(p, s, i)];
            p->class_rate[u] += (double)k->group / k->rows / compared;
        }
    }
    memset(j->mark, 0, (size_t)s->n);
    return SPOT_OK;
}

spot_status spot_judging_slices(spot_judging *j)
{
    spot_versions *v = j->v;

    merge_pieces(j);
    SPOT_TRY(SPOT_TAKE(j->c, &v->arena, v->slice, v->slices));
    for (int g = 0; g < v->slices; g++) {
        spot_version_slice *p = &v->slice[g];
        *p = (spot_version_slice){ .cls = j->list->of[j->leader[g]].is.cls,
                                   .counts = { .margin = v->margin, .beyond = v->beyond } };
        SPOT_TRY(keep_rule(j, p, j->list->of[j->leader[g]].rule));
        mark_rows(j, p, g);
        SPOT_TRY(keep_pieces(j, p, g));
        SPOT_TRY(keep_rows(j, p));
        spot_questions_add(&j->ask, SPOT_ASK_SLICE, &p->counts, p->at, p->compared, p->cls);
    }
    return SPOT_OK;
}
