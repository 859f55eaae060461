/* ranking.c - hypotheses as rankings of rows: precision at k and average precision, as dcbench and GESD define them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spotter/metric.h"

enum { P10, P25, AP, NUMBERS };

/* Higher keys come first; of equal ones the higher `then`, then the lower row. Rows with both equal are one step of AP. */
typedef struct { double key, then; int row; } entry;

static int by_key(const void *a, const void *b)
{
    const entry *x = a, *y = b;

    if (x->key != y->key) return x->key < y->key ? 1 : -1;
    if (x->then != y->then) return x->then < y->then ? 1 : -1;
    return x->row - y->row;
}

static bool is_member(const spot_hypothesis *h, int *at, int row)
{
    if (*at == h->len || h->row[*at] != row) return false;
    ++*at;
    return true;
}

/* Orders of all rows of the view: by the hypothesis, by its complement, or as GESD does, members before all others. */
typedef enum { BY_WEIGHT, BY_COMPLEMENT, MEMBERS_FIRST } row_order;

static void rank_rows(entry *e, const spot_hypothesis *h, const spot_view *v, row_order order)
{
    for (int i = 0, at = 0; i < v->n; i++) {
        bool in = is_member(h, &at, i);
        double weight = h->weight ? h->weight[i] : in;
        e[i] = order == MEMBERS_FIRST ? (entry){ in, weight, i } : (entry){ order == BY_COMPLEMENT ? -weight : weight, 0, i };
    }
    qsort(e, (size_t)v->n, sizeof *e, by_key);
}

static int hits_among(const entry *e, int first, const spot_truth *truth, int m)
{
    int hits = 0;

    for (int i = 0; i < first; i++) hits += truth->mask[e[i].row] >> m & 1;
    return hits;
}

/* The sum over steps of (rise of recall) x precision. */
static double average_precision(const entry *e, const spot_truth *truth, int m, int size)
{
    double sum = 0;
    int hits = 0, before = 0;

    for (int i = 0; i < truth->n; i++) {
        hits += truth->mask[e[i].row] >> m & 1;
        if (i + 1 < truth->n && e[i + 1].key == e[i].key && e[i + 1].then == e[i].then) continue;
        sum += (double)(hits - before) / size * hits / (i + 1);
        before = hits;
    }
    return sum;
}

static int least(int a, int b) { return a < b ? a : b; }

static void rank_for_dcbench(double best[NUMBERS], const entry *e, const spot_truth *truth, int m, int size)
{
    const int ten = least(10, truth->n), more = least(25, truth->n);
    double ap = average_precision(e, truth, m, size);

    if (ap <= best[AP]) return;
    best[AP] = ap;
    best[P10] = (double)hits_among(e, ten, truth, m) / ten;
    best[P25] = (double)hits_among(e, more, truth, m) / more;
}

static void rank_for_gesd(double best[NUMBERS], const entry *e, const spot_truth *truth, int m, int size, int members)
{
    best[P10] = fmax(best[P10], (double)hits_among(e, least(10, members), truth, m) / least(10, size));
    best[P25] = fmax(best[P25], (double)hits_among(e, least(25, members), truth, m) / least(25, size));
    best[AP] = fmax(best[AP], average_precision(e, truth, m, size));
}

static spot_status check_ranking(spot_ctx *c, const spot_score *s, const spot_hypotheses *found, const spot_view *view,
                                 const spot_truth *truth)
{
    if (view->n != truth->n || s->blindspots != truth->blindspots || s->hypotheses > found->len)
        return spot_fail(c, SPOT_INVALID, "{ranking.sizes} a score of %d hypotheses and %d blindspots, a list of %d, a view of "
                         "%d rows and a truth of %d rows and %d blindspots", s->hypotheses, s->blindspots, found->len, view->n,
                         truth->n, truth->blindspots);
    for (int k = 0; k < s->hypotheses; k++) {
        const float *weight = found->h[k].weight;
        if (weight && found->n != view->n)
            return spot_fail(c, SPOT_INVALID, "{ranking.rows} weights of %d rows for a view of %d", found->n, view->n);
        for (int i = 0; weight && i < view->n; i++)
            if (!isfinite(weight[i]))
                return spot_fail(c, SPOT_INVALID, "{ranking.weight} hypothesis %d gives row %d the weight %g; it must be "
                                 "finite", k, i, weight[i]);
    }
    return SPOT_OK;
}

static void set_means(spot_score *s, double dcbench[][NUMBERS], double gesd[][NUMBERS])
{
    for (int i = 0; i < NUMBERS; i++) {
        double sums[2] = { 0 };
        for (int m = 0; m < s->blindspots; m++) {
            sums[0] += dcbench[m][i];
            sums[1] += gesd[m][i];
        }
        s->beside[SPOT_DCBENCH_P10 + i] = sums[0] / s->blindspots;
        s->beside[SPOT_GESD_P10 + i] = sums[1] / s->blindspots;
    }
}

spot_status spot_metric_rank(spot_ctx *c, spot_score *s, const spot_hypotheses *found, const spot_view *view,
                             const spot_truth *truth)
{
    double dcbench[SPOT_MAX_BLINDSPOTS][NUMBERS] = { { 0 } }, gesd[SPOT_MAX_BLINDSPOTS][NUMBERS] = { { 0 } };
    entry *e;

    SPOT_TRY(check_ranking(c, s, found, view, truth));
    if (!s->blindspots) return SPOT_OK;
    e = malloc((size_t)view->n * sizeof *e);
    if (!e) return spot_fail(c, SPOT_NOMEM, "no memory to rank %d rows", view->n);
    for (int order = BY_WEIGHT; order <= BY_COMPLEMENT; order++)
        for (int k = 0; k < s->hypotheses; k++) {
            rank_rows(e, &found->h[k], view, (row_order)order);
            for (int m = 0; m < s->blindspots; m++) rank_for_dcbench(dcbench[m], e, truth, m, s->size[m]);
        }
    for (int k = 0; k < s->hypotheses; k++) {
        rank_rows(e, &found->h[k], view, MEMBERS_FIRST);
        for (int m = 0; m < s->blindspots; m++) rank_for_gesd(gesd[m], e, truth, m, s->size[m], found->h[k].len);
    }
    free(e);
    set_means(s, dcbench, gesd);
    return SPOT_OK;
}
