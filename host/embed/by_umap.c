/* by_umap.c - what UMAP needs before its descent: neighbours, their strengths, the graph, a first map. The first map is made on
 * the host; all else is the device's. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "affinity.h"
#include "device.h"
#include "neighbours.h"
#include "reduce.h"
#include "spectral.h"
#include "umap.h"

enum { GROUP = 16, ABREAST = 50 };     /* problems whose neighbours are sought at a time; steps between looks at the clock */
enum { PARTS = 2 };                    /* steps that an epoch is cut into: an edge is due in one of them */

/* A problem on its way; what the host reads of its graph is the graph itself on the CPU. */
typedef struct {
    spot_affinity_graph graph;
    spot_umap_layout layout;
    spot_spectral start;
    int *row_start, *row_to, *order;
    float *weight, *y;
} course;

typedef struct { double x, y; } curve_point;

static double curve_error(const curve_point *p, int count, double a, double b)
{
    double sum = 0;

    for (int i = 0; i < count; i++) {
        double off = 1 / (1 + a * pow(p[i].x, 2 * b)) - p[i].y;
        sum += off * off;
    }
    return sum;
}

/* Levenberg and Marquardt's method from a = b = 1, as many steps as two parameters can need. */
void spot_umap_curve(double *a, double *b, double min_dist, double spread)
{
    enum { POINTS = 300, TRIES = 200 };
    curve_point p[POINTS];
    double damp = 1e-3, error;

    for (int i = 0; i < POINTS; i++) {
        double x = 3 * spread * i / (POINTS - 1);
        p[i] = (curve_point){ x, x < min_dist ? 1 : exp(-(x - min_dist) / spread) };
    }
    *a = *b = 1;
    error = curve_error(p, POINTS, *a, *b);
    for (int t = 0; t < TRIES; t++) {
        double aa = 0, ab = 0, bb = 0, ga = 0, gb = 0;

        for (int i = 1; i < POINTS; i++) {       /* at x = 0 the curve is 1, whatever a and b */
            double power = pow(p[i].x, 2 * *b), f = 1 / (1 + *a * power);
            double da = -power * f * f, db = da * *a * 2 * log(p[i].x), off = f - p[i].y;
            aa += da * da, ab += da * db, bb += db * db;
            ga += da * off, gb += db * off;
        }
        double p1 = aa * (1 + damp), p2 = bb * (1 + damp), det = p1 * p2 - ab * ab;
        double next_a = *a - (p2 * ga - ab * gb) / det, next_b = *b - (p1 * gb - ab * ga) / det;
        double next = next_a > 0 && next_b > 0 ? curve_error(p, POINTS, next_a, next_b) : INFINITY;
        if (next < error) {
            *a = next_a, *b = next_b, error = next;
            damp /= 10;
        } else {
            damp *= 10;
        }
    }
}

static spot_status take_course(spot_ctx *c, spot_arena *h, spot_arena *a, course *w)
{
    spot_affinity_graph *g = &w->graph;
    spot_umap_layout *u = &w->layout;
    size_t room = spot_affinity_room(g->n, g->k), map = (size_t)u->dim * g->n;
    int *order;

    SPOT_TRY(SPOT_TAKE(c, a, g->start, g->n + 1));
    SPOT_TRY(SPOT_TAKE(c, a, g->to, room));
    SPOT_TRY(SPOT_TAKE(c, a, g->joint, room));
    SPOT_TRY(SPOT_TAKE(c, a, order, g->n));
    SPOT_TRY(SPOT_TAKE(c, a, u->y[0], map));
    SPOT_TRY(SPOT_TAKE(c, a, u->y[1], map));
    SPOT_TRY(SPOT_TAKE(c, h, w->start.piece, g->n));
    u->start = w->row_start = g->start;
    u->to = w->row_to = g->to;
    u->weight = w->weight = g->joint;
    u->order = w->order = order;
    w->y = u->y[0];
    if (!c->device) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(c, h, w->row_start, g->n + 1));
    SPOT_TRY(SPOT_TAKE(c, h, w->row_to, room));
    SPOT_TRY(SPOT_TAKE(c, h, w->weight, room));
    SPOT_TRY(SPOT_TAKE(c, h, w->order, g->n));
    return SPOT_TAKE(c, h, w->y, map);
}

/* The weighted graphs of at most GROUP problems, from their features. */
static spot_status weigh(spot_ctx *c, spot_arena *a, int problems, course *w, const spot_view *views)
{
    spot_neighbours near[GROUP];
    spot_umap_row row[GROUP];
    spot_affinity_graph graph[GROUP];
    size_t mark = a->used;

    for (int p = 0; p < problems; p++) {
        int n = w[p].graph.n, k = w[p].graph.k, *column;
        size_t edges = (size_t)n * k;
        float *x, *distance, *strength, *rho, *sigma;

        graph[p] = w[p].graph;
        SPOT_TRY(spot_reduce_features(c, a, &x, &views[p]));
        SPOT_TRY(SPOT_TAKE(c, a, column, edges));
        SPOT_TRY(SPOT_TAKE(c, a, distance, edges));
        SPOT_TRY(SPOT_TAKE(c, a, strength, edges));
        SPOT_TRY(SPOT_TAKE(c, a, rho, n));
        SPOT_TRY(SPOT_TAKE(c, a, sigma, n));
        SPOT_TRY(SPOT_TAKE(c, a, graph[p].begin, n + 2));
        SPOT_TRY(SPOT_TAKE(c, a, graph[p].edge, edges));
        near[p] = (spot_neighbours){ { x, n, views[p].d }, k, column, distance };
        row[p] = (spot_umap_row){ { distance, n, k }, strength, rho, sigma };
        graph[p].column = column;
        graph[p].p = strength;
    }
    SPOT_TRY(spot_neighbours_find(c, a, problems, near));
    a->used = mark;
    if (a->counting) return SPOT_OK;
    SPOT_TRY(spot_umap_strengths(c, problems, row));
    return spot_affinity_joint(c, problems, graph);
}

/* The graph to the host; from there its greatest weight, and its points by how often they are drawn, the busiest first. */
static spot_status look(spot_ctx *c, spot_arena *h, course *w)
{
    int n = w->graph.n, *count, *key;
    size_t mark = h->used;
    float most = 0;

    SPOT_TRY(SPOT_TAKE(c, h, count, n + 2));
    SPOT_TRY(SPOT_TAKE(c, h, key, n));
    h->used = mark;
    if (h->counting) return SPOT_OK;
    if (c->device) {
        SPOT_TRY(spot_device_copy(c, w->row_start, w->graph.start, (size_t)(n + 1) * sizeof(int)));
        SPOT_TRY(spot_device_copy(c, w->row_to, w->graph.to, (size_t)w->row_start[n] * sizeof(int)));
        SPOT_TRY(spot_device_copy(c, w->weight, w->graph.joint, (size_t)w->row_start[n] * sizeof(float)));
    }
    for (int e = 0; e < w->row_start[n]; e++) most = w->weight[e] > most ? w->weight[e] : most;
    w->layout.scale = 1 / (most * PARTS);
    memset(count, 0, (size_t)(n + 2) * sizeof *count);
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int e = w->row_start[i]; e < w->row_start[i + 1]; e++) sum += w->weight[e] / most;
        key[i] = n - (int)fminf(4 * sum, (float)n);
        count[key[i] + 1]++;
    }
    for (int q = 0; q <= n; q++) count[q + 1] += count[q];
    for (int i = 0; i < n; i++) w->order[count[key[i]]++] = i;
    return c->device ? spot_device_copy(c, (int *)w->layout.order, w->order, (size_t)n * sizeof(int)) : SPOT_OK;
}

/* The first maps. Where a graph falls to pieces, they lie as the principal components of the features have them. */
static spot_status begin(spot_ctx *c, spot_arena *h, spot_arena *a, int problems, course *w, spot_spectral *start,
                         spot_points *out, const spot_view *views)
{
    for (int p = 0; p < problems; p++) {
        start[p] = w[p].start;
        start[p].n = w[p].graph.n;
        start[p].dim = w[p].layout.dim;
        start[p].start = w[p].row_start;
        start[p].to = w[p].row_to;
        start[p].weight = w[p].weight;
        start[p].place = out[p].at;
        start[p].y = w[p].y;
    }
    SPOT_TRY(spot_spectral_components(c, h, problems, start));
    for (int p = 0; p < problems; p++)
        if (h->counting || start[p].pieces > 1) SPOT_TRY(spot_pca_map(c, h, a, 1, &out[p], &views[p]));
    SPOT_TRY(spot_spectral_map(c, h, problems, start));
    for (int p = 0; p < problems && !h->counting; p++) {
        spot_log(c, SPOT_LOG_DEBUG, "EC %u: UMAP's graph of %d points is in %d pieces", start[p].seed.ec, start[p].n,
                 start[p].pieces);
        if (c->device)
            SPOT_TRY(spot_device_copy(c, w[p].layout.y[0], w[p].y, (size_t)start[p].dim * start[p].n * sizeof(float)));
    }
    return SPOT_OK;
}

static spot_status descend(spot_ctx *c, int problems, const spot_umap_layout *u)
{
    int steps = 0;

    for (int p = 0; p < problems; p++) steps = u[p].steps > steps ? u[p].steps : steps;
    for (int done = 0; done < steps; done += ABREAST) {
        int count = steps - done < ABREAST ? steps - done : ABREAST;

        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(spot_umap_advance(c, problems, u, done, count));
        spot_tell(c, "umap", (int)u->ec, done + count, steps, "");
    }
    return SPOT_OK;
}

/* y (dim, n) to out (n, dim). */
static spot_status hand_out(spot_ctx *c, spot_points *out, const course *w)
{
    int n = w->graph.n, dim = w->layout.dim;
    const float *last = w->layout.y[w->layout.steps % 2];

    if (c->device) SPOT_TRY(spot_device_copy(c, w->y, last, (size_t)dim * n * sizeof *last));
    if (c->device) last = w->y;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < dim; k++) {
            if (!isfinite(last[(size_t)k * n + i]))
                return spot_fail(c, SPOT_NUMERIC, "EC %u: UMAP left the finite numbers at point %d; lower its lr",
                                 w->layout.ec, i);
            out->at[(size_t)i * dim + k] = last[(size_t)k * n + i];
        }
    return SPOT_OK;
}

static spot_status set_up(spot_ctx *c, course *w, const spot_view *v, int dim, spot_seed seed, const spot_umap_config *cfg)
{
    int n = v->n, k = cfg->neighbours < n ? cfg->neighbours : n, epochs = cfg->epochs ? cfg->epochs : n <= 10000 ? 500 : 200;
    double a, b;

    spot_umap_curve(&a, &b, cfg->min_dist, cfg->spread);
    if (dim > SPOT_UMAP_MOST_DIM)
        return spot_fail(c, SPOT_UNSUPPORTED, "UMAP maps to at most %d dimensions, not to %d", SPOT_UMAP_MOST_DIM, dim);
    *w = (course){ .graph = { .n = n, .k = k - 1, .fuzzy = 1 }, .start = { .seed = seed } };
    w->layout = (spot_umap_layout){ .n = n, .dim = dim, .steps = epochs * PARTS, .negatives = cfg->negatives,
                                    .seed = seed.seed, .ec = seed.ec, .a = (float)a, .b = (float)b, .lr = (float)cfg->lr };
    return SPOT_OK;
}

static spot_status solve(spot_ctx *c, spot_arena *h, spot_arena *a, int problems, course *w, spot_points *out,
                         const spot_view *views, const spot_seed *seeds, const spot_umap_config *cfg)
{
    spot_spectral *start;
    spot_umap_layout *layout;

    for (int p = 0; p < problems; p++) {
        SPOT_TRY(set_up(c, &w[p], &views[p], out[p].d, seeds[p], cfg));
        SPOT_TRY(take_course(c, h, a, &w[p]));
        if (views[p].n < cfg->neighbours && !h->counting)
            spot_log(c, SPOT_LOG_WARN, "EC %u: %d points have no %d neighbours, UMAP uses all", seeds[p].ec, views[p].n,
                     cfg->neighbours);
    }
    for (int p = 0; p < problems; p += GROUP)
        SPOT_TRY(weigh(c, a, problems - p < GROUP ? problems - p : GROUP, w + p, views + p));
    for (int p = 0; p < problems; p++) SPOT_TRY(look(c, h, &w[p]));
    start = calloc((size_t)problems, sizeof *start);
    layout = calloc((size_t)problems, sizeof *layout);
    if (!start || !layout) return spot_fail(c, SPOT_NOMEM, "no memory for %d UMAP problems", problems);
    spot_status s = begin(c, h, a, problems, w, start, out, views);
    for (int p = 0; p < problems; p++) layout[p] = w[p].layout;
    if (s == SPOT_OK && !h->counting) s = descend(c, problems, layout);
    free(start), free(layout);
    SPOT_TRY(s);
    for (int p = 0; p < problems && !h->counting; p++) SPOT_TRY(hand_out(c, &out[p], &w[p]));
    return SPOT_OK;
}

spot_status spot_umap_map(spot_ctx *c, spot_arena *host, spot_arena *work, int problems, spot_points *out,
                          const spot_view *views, const spot_seed *seeds, const spot_umap_config *cfg)
{
    size_t mark = work->used, mark_host = host->used;
    course *w = calloc((size_t)problems, sizeof *w);
    spot_status s = w ? solve(c, host, work, problems, w, out, views, seeds, cfg)
                      : spot_fail(c, SPOT_NOMEM, "no memory for %d UMAP problems", problems);

    free(w);
    host->used = mark_host;
    work->used = mark;
    return s;
}
