/* islands.c - an island is the row with the greatest error and its nearest rows; the next one starts among the others. */
#include "bdm/methods.h"

#include <stdlib.h>

typedef struct { double far; int row; } neighbour;
typedef struct { neighbour *near; int *island; } space;     /* (n) each; island: of each row; -1: none */

static int nearer(const void *a, const void *b)
{
    const neighbour *p = a, *q = b;
    return p->far < q->far ? -1 : p->far > q->far ? 1 : p->row - q->row;    /* no ties: the same order everywhere */
}

/* The worst row outside all islands; -1 if the classifier is right about all of them. */
static int worst_row(const spot_view *v, const int *island)
{
    int best = -1;
    for (int i = 0; i < v->n; i++)
        if (island[i] < 0 && spot_view_error(v, i) > (best < 0 ? 0.5 : spot_view_error(v, best))) best = i;
    return best;
}

/* Makes island k around a row, with a twentieth of all rows. Writes them, ascending, to *row and moves *row behind them. */
static void fill_island(spot_hypothesis *h, int k, int **row, const space *s, const spot_view *v, const spot_points *p, int at)
{
    int others = 0;
    for (int i = 0; i < v->n; i++) {
        if (s->island[i] >= 0) continue;
        s->near[others++] = (neighbour){ 0, i };
        for (int j = 0; j < p->d; j++) {
            double x = p->at[(size_t)i * p->d + j] - p->at[(size_t)at * p->d + j];
            s->near[others - 1].far += x * x;
        }
    }
    qsort(s->near, (size_t)others, sizeof *s->near, nearer);
    for (int i = 0; i < others && i <= v->n / 20; i++) s->island[s->near[i].row] = k;
    *h = (spot_hypothesis){ .row = *row, .score = spot_view_error(v, at) };
    for (int i = 0; i < v->n; i++)
        if (s->island[i] == k) h->row[h->len++] = i, h->mean_error += spot_view_error(v, i);
    h->mean_error /= h->len;
    *row += h->len;
}

static spot_status take_space(spot_ctx *c, spot_arena *a, space *s, int n)
{
    SPOT_TRY(SPOT_TAKE(c, a, s->near, n));
    return SPOT_TAKE(c, a, s->island, n);
}

static spot_status solve_group(spot_ctx *c, spot_arena *host, spot_arena *work, const spot_bdm_group *g)
{
    for (int p = 0, centre; p < g->problems; p++) {
        const spot_view *v = &g->views[p];
        spot_hypotheses *out = &g->out[p];
        int *row;
        space s;
        SPOT_TRY(take_space(c, host, &s, g->points[p].n));
        if (work->counting) continue;
        row = g->row[p];
        for (int i = 0; i < v->n; i++) s.island[i] = -1;
        for (; out->len < g->cfg->top && (centre = worst_row(v, s.island)) >= 0; out->len++)
            fill_island(&out->h[out->len], out->len, &row, &s, v, &g->points[p], centre);
        out->components = out->len;
    }
    return SPOT_OK;
}

static void defaults(spot_bdm_config *cfg) { cfg->embed.method = SPOT_REDUCE_PCA; }     /* cfg->embed.dim is 2 */
const spot_method spot_method_islands = { .defaults = defaults, .solve = solve_group };
