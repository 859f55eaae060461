/* coherence.c - how tightly a hypothesis hangs together, without labels: its share of the edges of a graph of nearest
 * neighbours. */
#include <math.h>
#include <stdlib.h>

#include "core/device.h"
#include "map/neighbours.h"
#include "spotter/metric.h"

/* The op's arrays in the memory of c's device. x: receives room for the features; NULL: they are there. */
static spot_status take_graph(spot_ctx *c, spot_arena *a, spot_neighbours *s, float **x, int n, int d, int k)
{
    *s = (spot_neighbours){ .x = { NULL, n, d }, .k = k };
    if (x) SPOT_TRY(SPOT_TAKE(c, a, *x, (size_t)n * (size_t)d));
    SPOT_TRY(SPOT_TAKE(c, a, s->column, (size_t)n * (size_t)k));
    return SPOT_TAKE(c, a, s->near, (size_t)n * (size_t)k);
}

static int within(int n, int k) { return k < n ? k : n - 1; }

spot_bytes spot_metric_graph_needs(const spot_ctx *c, int n, int d, int k)
{
    spot_ctx quiet = *c;
    spot_arena a = spot_arena_counting();
    spot_neighbours s;
    float *x;

    if (within(n, k) < 1) return (spot_bytes){ 0, 0 };
    take_graph(&quiet, &a, &s, c->device ? &x : NULL, n, d, within(n, k));
    spot_neighbours_find(&quiet, &a, 1, &s);
    return c->device ? (spot_bytes){ 0, a.peak } : (spot_bytes){ a.peak, 0 };
}

static spot_status find_graph(spot_ctx *c, spot_arena *a, int *column, const spot_view *v, int k)
{
    const float *on_device = c->device ? v->device_feature : v->feature;
    size_t edges = (size_t)v->n * (size_t)k;
    spot_neighbours s;
    float *x = NULL;

    SPOT_TRY(take_graph(c, a, &s, on_device ? NULL : &x, v->n, v->d, k));
    if (x) SPOT_TRY(spot_device_copy(c, x, v->feature, (size_t)v->n * (size_t)v->d * sizeof *x));
    s.x.v = x ? x : (float *)on_device;
    SPOT_TRY(spot_neighbours_find(c, a, 1, &s));
    return spot_device_copy(c, column, s.column, edges * sizeof *column);
}

spot_status spot_metric_graph(spot_ctx *c, int *column, int *used, const spot_view *view, int k)
{
    spot_bytes needs = spot_metric_graph_needs(c, view->n, view->d, k);
    spot_arena a;
    spot_status s;

    *used = within(view->n, k);
    if (*used < 1) return SPOT_OK;
    SPOT_TRY(spot_arena_open_device(c, &a, c->device ? needs.device : needs.host));
    s = find_graph(c, &a, column, view, *used);
    spot_arena_close(&a);
    return s;
}

static double edges_within(const spot_hypothesis *h, const unsigned char *in, const int *column, int k)
{
    double edges = 0;

    for (int i = 0; i < h->len; i++)
        for (int j = 0; j < k; j++) edges += in[column[(size_t)h->row[i] * k + j]];
    return edges;
}

spot_status spot_metric_coherence(spot_ctx *c, spot_score *s, const spot_hypotheses *found, const int *column, int n, int k)
{
    unsigned char *in = calloc((size_t)n + 1, 1);
    double sum = 0;
    int some = 0;

    if (!in) return spot_fail(c, SPOT_NOMEM, "no memory for the coherence of %d rows", n);
    for (int m = 0; m < s->hypotheses && k > 0; m++) {
        const spot_hypothesis *h = &found->h[m];
        if (!h->len) continue;
        for (int i = 0; i < h->len; i++) in[h->row[i]] = 1;
        s->coherence[m] = edges_within(h, in, column, k) / ((double)h->len * k);
        for (int i = 0; i < h->len; i++) in[h->row[i]] = 0;
        sum += s->coherence[m];
        some++;
    }
    free(in);
    s->beside[SPOT_COHERENCE] = some ? sum / some : NAN;
    return SPOT_OK;
}
