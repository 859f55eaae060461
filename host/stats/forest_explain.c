/* forest_explain.c - exact TreeSHAP with path-dependent expectations (Lundberg et al. 2020).
 *
 * On the path to a leaf of value v, feature i has z_i, the product of the cover ratios of the edges that it decides, and o_i, 1
 * if the row takes all of them and 0 otherwise. With D features on the path, its part of the leaf's value is
 *
 *   v (o_i - z_i) sum over sets T of the others |T|! (D - 1 - |T|)! / D! prod_T o_j prod_rest z_j
 * = v (o_i - z_i) integral over u in 0..1 of prod_{j != i} (o_j u + z_j (1 - u)),
 *
 * because t! (D - 1 - t)! / D! is the integral of u^t (1 - u)^(D - 1 - t). The integrand has degree D - 1, for which
 * Gauss-Legendre quadrature with half as many points is exact. All its terms are positive, so nothing cancels. A tree is
 * written down as the steps of a walk, depth first, with all that does not depend on a row. Blocks of rows then walk it: down,
 * the product grows by one factor at each step; up, the leaves below an edge add up. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "stats/forest_grow.h"

#define LEAST_Z 1e-100          /* far below any share of rows: a file's covers may be what they like, and 1 / z stays finite */

enum { LANES = 8, BLOCKS = 16 };       /* rows of a block; most blocks that walk a tree one after another */

typedef double  lanes __attribute__((vector_size(8 * LANES), may_alias));
typedef int64_t masks __attribute__((vector_size(8 * LANES), may_alias));

/* The edge to a node, and the node. */
typedef struct {
    double threshold;          /* of the parent */
    double z;                  /* of the edge's feature, from the root down to here */
    int feature, goes_left;    /* the edge's */
    int depth;                 /* from 1: below the root */
    int before;                /* depth of the lowest edge above with the same feature; 0: none */
    const double *share;       /* (classes): a leaf's; NULL: no leaf */
} step;

/* Numbers of a step and a point u. With v = z (1 - u), a factor is o u + v, and o is 0 or 1. */
typedef struct {
    double v;
    double credit;             /* w ((1 - z) / (u + v) + 1 / (1 - u)): credit of o = 1 less that of o = 0 */
    double undo, undo_taken;   /* 1 / factor of the edge `before`: undo + undo_taken o */
} point;

/* All threads share this. */
typedef struct {
    const spot_forest *f;
    int depth, most;           /* the greatest depth; the most points */
    int nodes;                 /* the most of a tree */
    int *points;               /* (trees) */
    double *u, *w;             /* the sets of 1, 2, ..., most points, one after another */
} plan;

/* A thread's. */
typedef struct {
    int steps, points;
    step   *step;              /* (steps) of the tree that is walked */
    point  *point;             /* (steps, points) */
    const double *u;           /* (points) */
    double *missed;            /* (points): credit of o = 0, -w / (1 - u) */
    int    *stack;             /* (depth): nodes on the path */
    int    *place;             /* (depth): steps on the path */
    lanes  *taken;             /* (depth): o of the edge's feature */
    lanes  *product;           /* (depth, points) */
    lanes  *below;             /* (depth, classes, points): product times share, all leaves below */
    lanes  *part;              /* (points) */
    lanes  *x;                 /* (BLOCKS, features) */
    lanes  *value;             /* (BLOCKS, features, classes) */
} walk;

static size_t set_of(int points) { return (size_t)points * (size_t)(points - 1) / 2; }

/* Gauss-Legendre points and weights on 0..1, by Newton's method from the usual guess. */
static void find_points(double *u, double *w, int points)
{
    for (int i = 0; i < points; i++) {
        double x = cos(3.14159265358979323846 * (i + 0.75) / (points + 0.5)), slope = 1;
        for (int turn = 0; turn < 100; turn++) {
            double p = 1, before = 0, move;
            for (int n = 1; n <= points; n++) {
                double next = ((2 * n - 1) * x * p - (n - 1) * before) / n;
                before = p;
                p = next;
            }
            slope = points * (x * p - before) / (x * x - 1);
            move = p / slope;
            x -= move;
            if (fabs(move) < 1e-16) break;
        }
        u[i] = (1 - x) / 2;
        w[i] = 1 / ((1 - x * x) * slope * slope);
    }
}

/* Appends the step to child `node` of the path's last node, at `depth`. */
static void add_step(walk *s, const spot_forest *f, int first, int depth, int node, int goes_left)
{
    const spot_forest_node *parent = f->node + first + s->stack[depth - 1], *child = f->node + first + node;
    const double *share = f->share + (size_t)(first + node) * f->classes;
    step *to = &s->step[s->steps];
    point *at = s->point + (size_t)s->steps * s->points;
    double z_before = 1;

    *to = (step){ parent->threshold, child->cover / parent->cover, parent->feature, goes_left, depth, depth - 1,
                  child->feature < 0 ? share : NULL };
    while (to->before > 0 && s->step[s->place[to->before]].feature != to->feature) to->before--;
    if (to->before > 0) z_before = s->step[s->place[to->before]].z;
    to->z = fmax(to->z * z_before, LEAST_Z);
    for (int q = 0; q < s->points; q++) {
        const double u = s->u[q], v_before = z_before * (1 - u), w = -s->missed[q] * (1 - u);
        at[q].v = to->z * (1 - u);
        at[q].credit = w * (1 - to->z) / (u + at[q].v) - s->missed[q];
        at[q].undo = 1 / v_before;
        at[q].undo_taken = 1 / (u + v_before) - at[q].undo;
    }
    s->stack[depth] = node;
    s->place[depth] = s->steps++;
}

/* Writes tree t down as steps. */
static void list_steps(walk *s, const plan *p, int t)
{
    const spot_forest *f = p->f;
    const spot_forest_node *tree = f->node + f->start[t];
    int depth = 0;

    s->points = p->points[t];
    s->u = p->u + set_of(s->points);
    for (int q = 0; q < s->points; q++) s->missed[q] = -p->w[set_of(s->points) + (size_t)q] / (1 - s->u[q]);
    s->steps = 0;
    s->stack[0] = 0;
    while (tree[s->stack[depth]].feature >= 0 || depth) {
        if (tree[s->stack[depth]].feature >= 0) {
            add_step(s, f, f->start[t], depth + 1, tree[s->stack[depth]].left, 1);
            depth++;
            continue;
        }
        while (depth && s->stack[depth] == tree[s->stack[depth - 1]].right) depth--;      /* its parent is done */
        if (!depth) return;
        add_step(s, f, f->start[t], depth, tree[s->stack[depth - 1]].right, 0);
    }
}

/* Goes down: o and the product with the step's factor. */
static void go_down(walk *s, const step *to, const point *at, const lanes *x)
{
    const masks left = x[to->feature] <= to->threshold, goes = to->goes_left ? left : ~left;
    const lanes *above = s->product + (size_t)(to->depth - 1) * s->points, one = (lanes){ 0 } + 1;
    lanes *product = s->product + (size_t)to->depth * s->points, before = to->before ? s->taken[to->before] : one, taken;

    taken = s->taken[to->depth] = (lanes)((masks)before & goes);
    if (to->before)
        for (int q = 0; q < s->points; q++)
            product[q] = above[q] * (at[q].undo + before * at[q].undo_taken) * (taken * s->u[q] + at[q].v);
    else
        for (int q = 0; q < s->points; q++) product[q] = above[q] * (taken * s->u[q] + at[q].v);
}

/* (o - z) times weight over the factor. Where an edge above has the same feature, that edge takes all leaves below it for its
 * own, with its o and z, and this is taken off here; `missed` is in both. */
static void find_part(walk *s, const step *to)
{
    const point *at = s->point + (size_t)s->place[to->depth] * s->points;
    const lanes taken = s->taken[to->depth];

    if (to->before) {
        const point *old = s->point + (size_t)s->place[to->before] * s->points;
        const lanes before = s->taken[to->before];
        for (int q = 0; q < s->points; q++) s->part[q] = taken * at[q].credit - before * old[q].credit;
    } else
        for (int q = 0; q < s->points; q++) s->part[q] = taken * at[q].credit + s->missed[q];
}

/* Goes up from a leaf, whose share is the value of the product. */
static void leave_leaf(walk *s, const step *to, int classes, lanes *value)
{
    const lanes *product = s->product + (size_t)to->depth * s->points;
    lanes sum = { 0 };

    for (int q = 0; q < s->points; q++) sum += s->part[q] * product[q];
    for (int k = 0; k < classes; k++) {
        lanes *above = s->below + ((size_t)(to->depth - 1) * classes + k) * s->points;
        value[to->feature * classes + k] += sum * to->share[k];
        for (int q = 0; q < s->points; q++) above[q] += product[q] * to->share[k];
    }
}

static void leave_node(walk *s, const step *to, int classes, lanes *value)
{
    for (int k = 0; k < classes; k++) {
        const lanes *below = s->below + ((size_t)to->depth * classes + k) * s->points;
        lanes *above = s->below + ((size_t)(to->depth - 1) * classes + k) * s->points, sum = { 0 };
        for (int q = 0; q < s->points; q++) {
            sum += s->part[q] * below[q];
            above[q] += below[q];
        }
        value[to->feature * classes + k] += sum;
    }
}

/* Goes up until the path ends at depth `to`. */
static int go_up(walk *s, int depth, int to, int classes, lanes *value)
{
    for (; depth > to; depth--) {
        const step *at = &s->step[s->place[depth]];
        find_part(s, at);
        if (at->share) leave_leaf(s, at, classes, value);
        else leave_node(s, at, classes, value);
    }
    return depth;
}

static void walk_tree(walk *s, int classes, const lanes *x, lanes *value)
{
    const size_t clear = (size_t)classes * s->points;
    int depth = 0;

    for (int q = 0; q < s->points; q++) s->product[q] = (lanes){ 0 } + 1;
    memset(s->below, 0, clear * sizeof *s->below);
    for (int i = 0; i < s->steps; i++) {
        const step *to = &s->step[i];
        depth = go_up(s, depth, to->depth - 1, classes, value) + 1;
        s->place[depth] = i;
        go_down(s, to, s->point + (size_t)i * s->points, x);
        if (!to->share) memset(s->below + (size_t)depth * clear, 0, clear * sizeof *s->below);
    }
    go_up(s, depth, 0, classes, value);
}

/* Rows [first, first + count) of x; the last block repeats the last row. */
static void explain_blocks(walk *s, const plan *p, spot_mat x, int first, int count, double *value)
{
    const spot_forest *f = p->f;
    const size_t values = (size_t)f->features * f->classes;
    const int blocks = (count + LANES - 1) / LANES;

    for (int r = 0; r < blocks * LANES; r++) {
        const float *row = x.v + (size_t)(first + (r < count ? r : count - 1)) * x.cols;
        for (int j = 0; j < f->features; j++) s->x[(size_t)(r / LANES) * f->features + j][r % LANES] = row[j];
    }
    memset(s->value, 0, (size_t)blocks * values * sizeof *s->value);
    for (int t = 0; t < f->trees; t++) {
        list_steps(s, p, t);
        for (int b = 0; b < blocks; b++)
            walk_tree(s, f->classes, s->x + (size_t)b * f->features, s->value + (size_t)b * values);
    }
    for (int r = 0; r < count; r++)
        for (size_t j = 0; j < values; j++)
            value[(size_t)(first + r) * values + j] = s->value[(size_t)(r / LANES) * values + j][r % LANES] / f->trees;
}

/* base: the mean over trees of the leaves' shares, weighed by cover. Finds depth and points of every tree. level: (nodes) */
static void measure(plan *p, double *base, int *level)
{
    const spot_forest *f = p->f;

    for (int k = 0; k < f->classes; k++) base[k] = 0;
    p->depth = p->most = p->nodes = 1;
    for (int t = 0; t < f->trees; t++) {
        const spot_forest_node *node = f->node + f->start[t];
        int nodes = f->start[t + 1] - f->start[t], deepest = 0;
        level[0] = 0;
        for (int i = 0; i < nodes; i++) {
            const double *share = f->share + (size_t)(f->start[t] + i) * f->classes;
            if (level[i] > deepest) deepest = level[i];
            if (node[i].feature >= 0) level[node[i].left] = level[node[i].right] = level[i] + 1;
            for (int k = 0; node[i].feature < 0 && k < f->classes; k++)
                base[k] += node[i].cover / node[0].cover * share[k] / f->trees;
        }
        if (deepest >= p->depth) p->depth = deepest + 1;
        if (nodes > p->nodes) p->nodes = nodes;
        if (deepest > f->features) deepest = f->features;      /* different features on a path */
        p->points[t] = deepest < 2 ? 1 : (deepest + 1) / 2;
        if (p->points[t] > p->most) p->most = p->points[t];
    }
}

static spot_status take_walk(spot_ctx *c, spot_arena *a, walk *s, const plan *p)
{
    const size_t depth = (size_t)p->depth, points = (size_t)p->most, classes = (size_t)p->f->classes;
    const size_t features = (size_t)p->f->features;

    SPOT_TRY(SPOT_TAKE(c, a, s->step, p->nodes));
    SPOT_TRY(SPOT_TAKE(c, a, s->point, (size_t)p->nodes * points));
    SPOT_TRY(SPOT_TAKE(c, a, s->missed, points));
    SPOT_TRY(SPOT_TAKE(c, a, s->stack, depth));
    SPOT_TRY(SPOT_TAKE(c, a, s->place, depth));
    SPOT_TRY(SPOT_TAKE(c, a, s->taken, depth));
    SPOT_TRY(SPOT_TAKE(c, a, s->product, depth * points));
    SPOT_TRY(SPOT_TAKE(c, a, s->below, depth * points * classes));
    SPOT_TRY(SPOT_TAKE(c, a, s->part, points));
    SPOT_TRY(SPOT_TAKE(c, a, s->x, BLOCKS * features));
    return SPOT_TAKE(c, a, s->value, BLOCKS * features * classes);
}

/* Points and a walk for each thread; also in a counting arena. */
static spot_status take_walks(spot_ctx *c, spot_arena *a, plan *p, walk **own)
{
    SPOT_TRY(SPOT_TAKE(c, a, p->u, set_of(p->most + 1)));
    SPOT_TRY(SPOT_TAKE(c, a, p->w, set_of(p->most + 1)));
    SPOT_TRY(SPOT_TAKE(c, a, *own, c->threads));
    for (int i = 0; i < c->threads; i++) {
        walk one = { 0 };
        SPOT_TRY(take_walk(c, a, &one, p));
        if (!a->counting) (*own)[i] = one;
    }
    return SPOT_OK;
}

static spot_status explain_rows(spot_ctx *c, plan *p, spot_mat x, double *value)
{
    spot_arena count = spot_arena_counting(), a = { 0 };
    spot_status s;
    walk *own;

    SPOT_TRY(take_walks(c, &count, p, &own));
    SPOT_TRY(spot_arena_open(c, &a, count.peak));
    s = take_walks(c, &a, p, &own);
    for (int points = 1; s == SPOT_OK && points <= p->most; points++)
        find_points(p->u + set_of(points), p->w + set_of(points), points);
    if (s == SPOT_OK) {
        int blocks = (x.rows + LANES - 1) / LANES, each = (blocks + c->threads - 1) / c->threads;
        int rows = (each < 1 ? 1 : each < BLOCKS ? each : BLOCKS) * LANES;
#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
        for (int first = 0; first < x.rows; first += rows)
            explain_blocks(&own[omp_get_thread_num()], p, x, first, x.rows - first < rows ? x.rows - first : rows, value);
    }
    spot_arena_close(&a);
    return s;
}

spot_status spot_forest_explain(spot_ctx *c, const spot_forest *f, spot_mat x, double *base, double *value)
{
    plan p = { .f = f };
    int *level;
    spot_status s;

    if (f->profile != SPOT_FOREST_BAGGED)
        return spot_fail(c, SPOT_INVALID, "{forest.shap_of_boosted} TreeSHAP explains the mean of trees; a boosted forest's "
                         "shares are no such mean");
    SPOT_TRY(spot_forest_check_rows(c, f, x));
    p.points = malloc((size_t)f->trees * sizeof *p.points);
    level = malloc((size_t)f->start[f->trees] * sizeof *level);
    if (!p.points || !level) s = spot_fail(c, SPOT_NOMEM, "no memory to explain %d trees", f->trees);
    else {
        measure(&p, base, level);
        s = explain_rows(c, &p, x, value);
    }
    free(p.points), free(level);
    return s;
}
