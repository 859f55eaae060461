/* by_umap.c - prepares UMAP's descent: neighbours, their strengths, the graph, the initial map. The host computes the initial
 * map, the device everything else. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/device.h"
#include "map/affinity.h"
#include "map/neighbours.h"
#include "map/umap.h"
#include "models/reduce.h"
#include "models/spectral.h"

enum { GROUP = 16, ABREAST = 50 };     /* problems in one search of neighbours; steps between reports of progress */
enum { PARTS = 2 };                    /* steps of an epoch: an edge is due in one of them */

/* A batch. Each problem has its graph and layout on the device, and the host's input for the initial map, which on the CPU is
 * the same memory. */
typedef struct {
    int problems;
    spot_affinity_graph *graph;
    spot_umap_layout *layout;
    spot_spectral *start;
    int **order;               /* the host's copies of layout's order */
} umap_batch;

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

/* Levenberg and Marquardt's method from a = b = 1, with enough steps for two parameters. */
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

        for (int i = 1; i < POINTS; i++) {       /* at x = 0 the curve is 1 for all a and b */
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

/* Allocates a problem for the life of the batch. */
static spot_status take_problem(spot_ctx *c, spot_arena *h, spot_arena *a, umap_batch *b, int p)
{
    spot_affinity_graph *g = &b->graph[p];
    spot_umap_layout *u = &b->layout[p];
    spot_spectral *s = &b->start[p];
    size_t room = spot_affinity_room(g->n, g->k), map = (size_t)u->dim * g->n;
    int *row, *to;
    float *weight;

    SPOT_TRY(SPOT_TAKE(c, a, g->start, g->n + 1));
    SPOT_TRY(SPOT_TAKE(c, a, g->to, room));
    SPOT_TRY(SPOT_TAKE(c, a, g->joint, room));
    SPOT_TRY(SPOT_TAKE(c, a, b->order[p], g->n));
    SPOT_TRY(SPOT_TAKE(c, a, u->y[0], map));
    SPOT_TRY(SPOT_TAKE(c, a, u->y[1], map));
    SPOT_TRY(SPOT_TAKE(c, h, s->piece, g->n));
    u->start = s->start = g->start;
    u->to = s->to = g->to;
    u->weight = s->weight = g->joint;
    u->order = b->order[p];
    s->y = u->y[0];
    if (!c->device) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(c, h, row, g->n + 1));
    SPOT_TRY(SPOT_TAKE(c, h, to, room));
    SPOT_TRY(SPOT_TAKE(c, h, weight, room));
    s->start = row, s->to = to, s->weight = weight;
    SPOT_TRY(SPOT_TAKE(c, h, b->order[p], g->n));
    return SPOT_TAKE(c, h, s->y, map);
}

/* Computes the weighted graphs of at most GROUP problems from their features. */
static spot_status find_graphs(spot_ctx *c, spot_arena *a, int problems, const spot_affinity_graph *to, const spot_view *views)
{
    spot_neighbours near[GROUP];
    spot_umap_row row[GROUP];
    spot_affinity_graph graph[GROUP];
    size_t mark = a->used;

    for (int p = 0; p < problems; p++) {
        int n = to[p].n, k = to[p].k, *column;
        size_t edges = (size_t)n * k;
        float *distance, *strength, *rho, *sigma;
        const float *x;

        graph[p] = to[p];
        SPOT_TRY(spot_reduce_features(c, a, &x, &views[p]));
        SPOT_TRY(SPOT_TAKE(c, a, column, edges));
        SPOT_TRY(SPOT_TAKE(c, a, distance, edges));
        SPOT_TRY(SPOT_TAKE(c, a, strength, edges));
        SPOT_TRY(SPOT_TAKE(c, a, rho, n));
        SPOT_TRY(SPOT_TAKE(c, a, sigma, n));
        SPOT_TRY(SPOT_TAKE(c, a, graph[p].begin, n + 2));
        SPOT_TRY(SPOT_TAKE(c, a, graph[p].edge, edges));
        near[p] = (spot_neighbours){ { (float *)x, n, views[p].d }, k, column, distance };
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

/* Sorts the points by the frequency of their edges, highest first. count is (n + 2), key (n). */
static void sort_points(const spot_spectral *s, float most, int *order, int *count, int *key)
{
    memset(count, 0, (size_t)(s->n + 2) * sizeof *count);
    for (int i = 0; i < s->n; i++) {
        float sum = 0;
        for (int e = s->start[i]; e < s->start[i + 1]; e++) sum += s->weight[e] / most;
        key[i] = s->n - (int)fminf(4 * sum, (float)s->n);
        count[key[i] + 1]++;
    }
    for (int q = 0; q <= s->n; q++) count[q + 1] += count[q];
    for (int i = 0; i < s->n; i++) order[count[key[i]]++] = i;
}

/* Copies the graph to the host, and computes scale and order for the descent. */
static spot_status read_graph(spot_ctx *c, spot_arena *h, umap_batch *b, int p)
{
    const spot_affinity_graph *g = &b->graph[p];
    const spot_spectral *s = &b->start[p];
    size_t mark = h->used;
    int *count, *key;
    float most = 0;

    SPOT_TRY(SPOT_TAKE(c, h, count, g->n + 2));
    SPOT_TRY(SPOT_TAKE(c, h, key, g->n));
    h->used = mark;
    if (h->counting) return SPOT_OK;
    if (c->device) {
        SPOT_TRY(spot_device_copy(c, (int *)s->start, g->start, (size_t)(g->n + 1) * sizeof *g->start));
        SPOT_TRY(spot_device_copy(c, (int *)s->to, g->to, (size_t)s->start[g->n] * sizeof *g->to));
        SPOT_TRY(spot_device_copy(c, (float *)s->weight, g->joint, (size_t)s->start[g->n] * sizeof *g->joint));
    }
    for (int e = 0; e < s->start[g->n]; e++) most = s->weight[e] > most ? s->weight[e] : most;
    b->layout[p].scale = 1 / (most * PARTS);
    sort_points(s, most, b->order[p], count, key);
    return c->device ? spot_device_copy(c, (int *)b->layout[p].order, b->order[p], (size_t)g->n * sizeof(int)) : SPOT_OK;
}

/* Computes the initial maps. The pieces of a disconnected graph lie at their positions on the principal components. */
static spot_status start_maps(spot_ctx *c, spot_arena *h, spot_arena *a, umap_batch *b, spot_points *out,
                              const spot_view *views)
{
    SPOT_TRY(spot_spectral_components(c, h, b->problems, b->start));
    for (int p = 0; p < b->problems; p++)
        if (h->counting || b->start[p].pieces > 1) {
            SPOT_TRY(spot_pca_map(c, h, a, 1, &out[p], &views[p]));
            if (!h->counting) SPOT_TRY(spot_points_fetch(c, &out[p]));
        }
    SPOT_TRY(spot_spectral_map(c, h, b->problems, b->start));
    for (int p = 0; p < b->problems && !h->counting; p++) {
        const spot_spectral *s = &b->start[p];
        spot_log_of(c, SPOT_LOG_DEBUG, s->seed.ec, "UMAP's graph of %d points is in %d pieces", s->n, s->pieces);
        if (c->device) SPOT_TRY(spot_device_copy(c, b->layout[p].y[0], s->y, (size_t)s->dim * s->n * sizeof *s->y));
    }
    return SPOT_OK;
}

static spot_status run_steps(spot_ctx *c, int problems, const spot_umap_layout *u)
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
static spot_status copy_map(spot_ctx *c, spot_points *out, const spot_umap_layout *u)
{
    const spot_rows_pick_problem pick = { .n = u->n, .d = u->dim, .x = u->y[u->steps % 2], .x_row = 1, .x_column = (size_t)u->n,
                                          .y = spot_points_target(c, out), .y_row = (size_t)u->dim, .y_column = 1 };

    out->objective = NAN;
    return spot_rows_pick(c, 1, &pick);
}

static spot_status open_batch(spot_ctx *c, spot_arena *h, spot_arena *a, umap_batch *b, const spot_reduction *r,
                              const spot_umap_config *cfg)
{
    double curve_a, curve_b;

    spot_umap_curve(&curve_a, &curve_b, cfg->min_dist, cfg->spread);
    for (int p = 0; p < b->problems; p++) {
        int n = r->views[p].n, k = cfg->neighbours < n ? cfg->neighbours : n, dim = r->out[p].d;
        int epochs = cfg->epochs ? cfg->epochs : n <= 10000 ? 500 : 200;

        if (dim > SPOT_UMAP_MOST_DIM)
            return spot_fail(c, SPOT_UNSUPPORTED, "{umap.dimensions} UMAP maps to at most %d dimensions, not to %d",
                             SPOT_UMAP_MOST_DIM, dim);
        if (n < cfg->neighbours && !h->counting)
            spot_log_of(c, SPOT_LOG_WARN, r->seeds[p].ec, "%d points have no %d neighbours, UMAP uses all", n, cfg->neighbours);
        b->graph[p] = (spot_affinity_graph){ .n = n, .k = k - 1, .fuzzy = 1 };
        b->layout[p] = (spot_umap_layout){ .n = n, .dim = dim, .steps = epochs * PARTS, .negatives = cfg->negatives,
                                           .seed = r->seeds[p].seed, .ec = r->seeds[p].ec, .a = (float)curve_a,
                                           .b = (float)curve_b, .lr = (float)cfg->lr };
        b->start[p] = (spot_spectral){ .n = n, .dim = dim, .place = r->out[p].at, .seed = r->seeds[p] };
        SPOT_TRY(take_problem(c, h, a, b, p));
    }
    return SPOT_OK;
}

static spot_status map_all(spot_ctx *c, spot_arena *h, spot_arena *a, umap_batch *b, const spot_reduction *r,
                           const spot_umap_config *cfg)
{
    SPOT_TRY(open_batch(c, h, a, b, r, cfg));
    for (int p = 0; p < r->problems; p += GROUP)
        SPOT_TRY(find_graphs(c, a, r->problems - p < GROUP ? r->problems - p : GROUP, b->graph + p, r->views + p));
    for (int p = 0; p < r->problems; p++) SPOT_TRY(read_graph(c, h, b, p));
    SPOT_TRY(start_maps(c, h, a, b, r->out, r->views));
    if (h->counting) return SPOT_OK;
    SPOT_TRY(run_steps(c, r->problems, b->layout));
    for (int p = 0; p < r->problems; p++) SPOT_TRY(copy_map(c, &r->out[p], &b->layout[p]));
    return SPOT_OK;
}

spot_status spot_umap_map(spot_ctx *c, spot_arena *host, spot_arena *work, const spot_reduction *r, const spot_umap_config *cfg)
{
    size_t mark = work->used, mark_host = host->used, n = (size_t)r->problems;
    umap_batch b = { r->problems, calloc(n, sizeof *b.graph), calloc(n, sizeof *b.layout), calloc(n, sizeof *b.start),
                calloc(n, sizeof *b.order) };
    spot_status s = b.graph && b.layout && b.start && b.order
                  ? map_all(c, host, work, &b, r, cfg)
                  : spot_fail(c, SPOT_NOMEM, "no memory for %d UMAP problems", r->problems);

    free(b.graph), free(b.layout), free(b.start), free(b.order);
    host->used = mark_host;
    work->used = mark;
    return s;
}
