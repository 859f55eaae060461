/* slice_order.c - the one order of the slices of all findings: console, page, slices.csv and slices.json number by it. */
#include <math.h>
#include <stdlib.h>

#include "spotter/discover.h"

static bool stands_out(const spot_finding *f, const spot_slice *s)
{
    return f->n > s->size && s->error_rate > (double)(f->wrong - s->wrong) / (f->n - s->size);
}

spot_slice_kind spot_slice_kind_of(const spot_finding *f, const spot_slice *s)
{
    const spot_proof *p = s->proof;

    if (!p) return stands_out(f, s) ? SPOT_SLICE_OPEN : SPOT_SLICE_FINE;
    if (p->claim != SPOT_CLAIM_CHANCE) return p->claim == SPOT_CLAIM_CONFIRMED ? SPOT_SLICE_CONFIRMED : SPOT_SLICE_SUGGESTED;
    return p->excess.value <= 0 ? SPOT_SLICE_FINE : SPOT_SLICE_CHANCE;
}

static double weight_of(const spot_finding *f, const spot_slice *s)
{
    const spot_proof *p = s->proof;

    if (!p) return s->wrong - (f->n ? (double)s->size * f->wrong / f->n : 0);
    return isfinite(p->shrunk) ? p->shrunk : isfinite(p->excess.value) ? p->excess.value : -1;
}

/* Two places are never the same. */
static int compare_places(const void *a, const void *b)
{
    const spot_slice_place *x = a, *y = b;

    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return x->finding != y->finding ? x->finding - y->finding : x->slice - y->slice;
}

spot_status spot_slice_order(spot_ctx *c, spot_slice_place **order, int *n, const spot_findings *f)
{
    size_t slices = 0;

    *n = 0;
    for (int i = 0; i < f->count; i++) slices += (size_t)f->finding[i].slices;
    *order = malloc((slices + 1) * sizeof **order);
    if (!*order) return spot_fail(c, SPOT_NOMEM, "no memory for the order of %zu slices", slices);
    for (int i = 0; i < f->count; i++)
        for (int k = 0; k < f->finding[i].slices; k++) {
            const spot_finding *g = &f->finding[i];
            const spot_slice *s = &g->slice[k];
            (*order)[(*n)++] = (spot_slice_place){ i, k, s->size, spot_slice_kind_of(g, s), weight_of(g, s) };
        }
    qsort(*order, slices, sizeof **order, compare_places);
    return SPOT_OK;
}

spot_status spot_slice_numbers(spot_ctx *c, int **number, const spot_findings *f)
{
    spot_slice_place *order;
    int n;

    *number = NULL;
    SPOT_TRY(spot_slice_order(c, &order, &n, f));
    *number = calloc((size_t)f->count * SPOT_MAX_HYPOTHESES + 1, sizeof **number);
    for (int i = 0; *number && i < n; i++) (*number)[order[i].finding * SPOT_MAX_HYPOTHESES + order[i].slice] = i + 1;
    free(order);
    return *number ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the numbers of %d slices", n);
}
