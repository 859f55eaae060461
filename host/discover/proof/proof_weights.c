/* proof_weights.c - how the level is shared among the slices of a family, by what the part that found them says of them.
 *
 * A method that looks at the errors cuts slices around single ones, and few of these are groups of rows. So the rows of the
 * finding part are asked first, as the judging rows are afterwards: a row belongs where most of its nearest rows do, the row
 * itself and rows of its group left out. Where the rows that so belong do not fail more often than their classes, the slice
 * has the weight LIGHT in place of 1, and p / weight is corrected in place of p. The slice's own rows do not tell this: a
 * method that puts wrong rows into a slice finds them wrong.
 *
 * No error of a judging row is looked at, so the level holds whatever the weights are (Genovese, Roeder and Wasserman 2006).
 * How much more is confirmed: bench/studies/discover.md. */
#include <math.h>

#include "discover/proof/proof_groups.h"
#include "discover/search/vote.h"


#define LIGHT 0.1
#define BACKED 1.282                   /* standard deviations above the rate of the classes: one in ten by chance */

static int least_of(int a, int b) { return a < b ? a : b; }

/* Place in finder[q] of the row that is asked as number i; the rows asked are spread over all. */
static int asked_place(const spot_proved *k, int q, int i)
{
    return (int)((long long)i * k->finders[q] / k->asked[q]);
}

size_t spot_peers_bytes(const spot_discover_options *o, int rows)
{
    const size_t asked = (size_t)least_of(rows, 2 * SPOT_FINDERS);

    return asked * ((size_t)o->proof->neighbours + SPOT_LOOKED + 1) * sizeof(int) + (size_t)rows * sizeof(int)
         + 4 * SPOT_ALIGN;
}

/* peers: those of nearest that are other rows than finder[q][at], and of other groups; the nearest first. */
static void keep_peers(const spot_proving *j, spot_proved *k, int q, int i, const int *nearest, int looked)
{
    const int own = asked_place(k, q, i), *row = k->row, *finder = k->finder[q];
    int *peer = k->peers[q] + (size_t)i * (size_t)j->p.neighbours, kept = 0;

    for (int t = 0; t < looked && kept < j->p.neighbours; t++) {
        const int at = nearest[t];
        if (at == own || (j->seen && j->s->group[row[finder[at]]] == j->s->group[row[finder[own]]])) continue;
        peer[kept++] = at;
    }
    while (kept < j->p.neighbours) peer[kept++] = -1;
}

spot_status spot_find_peers(spot_proving *j, spot_proved *k, int q)
{
    const int n = k->finders[q], looked = least_of(n, j->seen ? SPOT_LOOKED + j->p.neighbours : j->p.neighbours + 1);
    int *row, *asked, *nearest;
    size_t mark;

    k->asked[q] = least_of(n, SPOT_FINDERS);
    if (!n) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(j->c, &j->a, k->peers[q], (size_t)k->asked[q] * (size_t)j->p.neighbours));
    mark = j->a.used;
    SPOT_TRY(SPOT_TAKE(j->c, &j->a, row, n));
    SPOT_TRY(SPOT_TAKE(j->c, &j->a, asked, k->asked[q]));
    SPOT_TRY(SPOT_TAKE(j->c, &j->a, nearest, (size_t)k->asked[q] * (size_t)looked));
    for (int i = 0; i < n; i++) row[i] = k->row[k->finder[q][i]];
    for (int i = 0; i < k->asked[q]; i++) asked[i] = row[asked_place(k, q, i)];
    SPOT_TRY(spot_nearest_rows(j->c, &j->a, nearest, (spot_some_rows){ j->s->feature, asked, k->asked[q] },
                               (spot_some_rows){ j->s->feature, row, n }, j->s->d, looked));
    for (int i = 0; i < k->asked[q]; i++) keep_peers(j, k, q, i, nearest + (size_t)i * (size_t)looked, looked);
    j->a.used = mark;
    return SPOT_OK;
}

/* Rows of the finding part that most of their peers bring into the slice. */
static spot_counted count_joined(const spot_proving *j, const spot_proved *k, const spot_judged *g)
{
    const int q = g->said.part;
    spot_counted n = { 0, 0, 0 };

    for (int i = 0; i < k->asked[q]; i++) {
        const int own = k->finder[q][asked_place(k, q, i)];
        const int *peer = k->peers[q] + (size_t)i * (size_t)j->p.neighbours;
        const spot_stratum *t = &k->tally[q][spot_stratum_of(j, k, k->row[own])];
        int in = 0, peers = 0;
        for (; peers < j->p.neighbours && peer[peers] >= 0; peers++) in += spot_has_bit(g->found, k->finder[q][peer[peers]]);
        if (2 * in <= peers) continue;
        n.rows++;
        n.wrong += k->is_wrong[own];
        n.base += (double)t->group / t->rows;
    }
    return n;
}

bool spot_is_backed(const spot_proving *j, const spot_proved *k, const spot_judged *g, spot_counted found)
{
    const spot_counted n = g->said.rule.items ? found : count_joined(j, k, g);

    return n.rows && n.wrong - n.base - 0.5 >= BACKED * sqrt(n.base * (1 - n.base / n.rows));
}

double spot_weight_of(const spot_judged *g) { return g->backed ? 1 : LIGHT; }
