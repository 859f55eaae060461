/* output_order.c - see output_order.h. */
#include "models/output_order.h"

#include <math.h>
#include <stdlib.h>

enum { ENOUGH = 5 };               /* rows of a class, on average */

typedef struct { int count, cls, answer; } pairing;

/* Most first, then by class and answer. */
static int compare_pairings(const void *a, const void *b)
{
    const pairing *x = a, *y = b;

    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    return x->cls != y->cls ? (x->cls > y->cls) - (x->cls < y->cls) : (x->answer > y->answer) - (x->answer < y->answer);
}

/* Counts the answers. Returns how many different pairs of class and answer there are. */
static int count_pairings(pairing *p, const int *cls, const int *answer, int rows)
{
    int n = 0, pairs = 0;

    for (int i = 0; i < rows; i++)
        if (answer[i] >= 0) p[n++] = (pairing){ 1, cls[i], answer[i] };
    qsort(p, (size_t)n, sizeof *p, compare_pairings);
    for (int i = 0; i < n; i++)
        if (pairs && p[pairs - 1].cls == p[i].cls && p[pairs - 1].answer == p[i].answer) p[pairs - 1].count++;
        else p[pairs++] = p[i];
    qsort(p, (size_t)pairs, sizeof *p, compare_pairings);
    return pairs;
}

spot_status spot_output_order(spot_ctx *c, double *accuracy, const int *cls, const int *answer, int n, int classes)
{
    pairing *p = malloc(((size_t)n + 1) * sizeof *p);
    char *used = calloc(2 * (size_t)classes + 1, 1), *taken;
    int most = 0, right = 0;

    *accuracy = NAN;
    if (!p || !used) return free(p), free(used), spot_fail(c, SPOT_NOMEM, "no memory for %d answers of a model", n);
    taken = used + classes;
    for (int i = 0; i < n; i++) right += answer[i] == cls[i];
    for (int i = 0, pairs = count_pairings(p, cls, answer, n); i < pairs; i++) {
        if (used[p[i].cls] || taken[p[i].answer]) continue;
        used[p[i].cls] = taken[p[i].answer] = 1;
        most += p[i].count;
    }
    if (n >= ENOUGH * classes && most >= 2 * right && 2 * most >= n) *accuracy = (double)most / n;
    free(p), free(used);
    return SPOT_OK;
}
