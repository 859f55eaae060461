/* tree_grow.c - grows decision trees level by level, all problems together. The device searches splits and moves rows; the host
 * keeps the nodes and renumbers them depth first at the end. */
#include "spotter/tree.h"

#include <math.h>

#include "core/device.h"
#include "fit/tree_split.h"

/* A node of a growing tree; its rows' place in the order of the columns. */
typedef struct { spot_tree_node node; int begin; } bud;

typedef struct {
    int  n, ones;
    int  nodes, level;         /* so far, level by level; the first of the newest level */
    bud *bud;
    int *which;                /* bud of each node to split on this level */
} growth;

/* The state of a call. Spans and splits of all problems are contiguous, for one copy each way. */
typedef struct {
    growth            *grow;      /* (problems) */
    spot_tree_problem *op;        /* (problems) */
    spot_tree_span    *span, *span_there;      /* there: where the device sees them, the same on the CPU */
    spot_tree_split   *split, *split_there;
    float             *column;    /* of one problem, on its way to the device; NULL on the CPU */
} work;

/* Most nodes of a tree; most nodes of one level that have both outcomes. */
static int most_nodes(int n, int depth)
{
    return depth < 30 && (2 << depth) - 1 < 2 * n - 1 ? (2 << depth) - 1 : 2 * n - 1;
}

static int most_split(int n, int depth)
{
    int most = n / 2 > 1 ? n / 2 : 1;

    return 1 << (depth - 1) < most ? 1 << (depth - 1) : most;
}

static spot_status check_problem(spot_ctx *c, int problem, spot_mat x, const uint8_t *y, int depth)
{
    if (depth < 1 || depth > SPOT_MAX_TREE_DEPTH)
        return spot_fail(c, SPOT_INVALID, "tree of depth %d; it must lie in 1..%d", depth, SPOT_MAX_TREE_DEPTH);
    if (x.rows < 1 || x.cols < 1 || x.rows > INT32_MAX / 2)
        return spot_fail(c, SPOT_INVALID, "tree, problem %d: (%d,%d)", problem, x.rows, x.cols);
    for (size_t i = 0; i < (size_t)x.rows * (size_t)x.cols; i++)
        if (!isfinite(x.v[i]))
            return spot_fail(c, SPOT_INPUT, "tree, problem %d: row %zu, column %zu is %g; it must be a finite number", problem,
                             i / (size_t)x.cols, i % (size_t)x.cols, x.v[i]);
    for (int i = 0; i < x.rows; i++)
        if (y[i] > 1) return spot_fail(c, SPOT_INVALID, "tree, problem %d: outcome %d of row %d", problem, y[i], i);
    return SPOT_OK;
}

/* Allocates; also in counting arenas. there: the arena of the device, on the CPU a itself. */
static spot_status take_work(spot_ctx *c, spot_arena *a, spot_arena *there, int problems, work *w, const spot_mat *x, int depth)
{
    int split = 0, apart = a != there;
    size_t largest = 0;

    SPOT_TRY(SPOT_TAKE(c, a, w->grow, problems));
    SPOT_TRY(SPOT_TAKE(c, a, w->op, problems));
    for (int p = 0; p < problems; p++) {
        spot_tree_problem op = { .n = x[p].rows, .d = x[p].cols };
        growth g = { .n = x[p].rows };
        size_t values = (size_t)op.n * (size_t)op.d;
        SPOT_TRY(SPOT_TAKE(c, a, g.bud, most_nodes(op.n, depth)));
        SPOT_TRY(SPOT_TAKE(c, a, g.which, most_split(op.n, depth)));
        SPOT_TRY(SPOT_TAKE(c, there, op.x, values));
        SPOT_TRY(SPOT_TAKE(c, there, op.y, op.n));
        SPOT_TRY(SPOT_TAKE(c, there, op.order, 2 * values));
        SPOT_TRY(SPOT_TAKE(c, there, op.cut, (size_t)op.d * (size_t)most_split(op.n, depth)));
        split += most_split(op.n, depth);
        if (values > largest) largest = values;
        if (a->counting) continue;
        w->grow[p] = g;
        w->op[p] = op;
    }
    SPOT_TRY(SPOT_TAKE(c, a, w->span, split));
    SPOT_TRY(SPOT_TAKE(c, a, w->split, split));
    w->span_there = w->span;
    w->split_there = w->split;
    w->column = NULL;
    if (!apart) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(c, a, w->column, largest));
    SPOT_TRY(SPOT_TAKE(c, there, w->span_there, split));
    return SPOT_TAKE(c, there, w->split_there, split);
}

static spot_status copy(spot_ctx *c, void *to, const void *from, size_t bytes)
{
    return to == from || !bytes ? SPOT_OK : spot_device_copy(c, to, from, bytes);
}

/* Transposes rows to columns in bands of 16, which share cache lines. */
static void transpose(spot_ctx *c, float *to, spot_mat x)
{
    enum { BAND = 16 };

#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (int j0 = 0; j0 < x.cols; j0 += BAND)
        for (int i = 0; i < x.rows; i++)
            for (int j = j0; j < j0 + BAND && j < x.cols; j++)
                to[(size_t)j * (size_t)x.rows + (size_t)i] = x.v[(size_t)i * (size_t)x.cols + (size_t)j];
}

/* Copies a problem's outcomes and, unless they are `there`, its columns to the device, and adds the root of its tree. */
static spot_status start_tree(spot_ctx *c, work *w, int p, spot_mat x, const float *there, const uint8_t *y)
{
    spot_tree_problem *op = &w->op[p];
    growth *g = &w->grow[p];
    float *columns = w->column ? w->column : (float *)op->x;

    if (there) op->x = there;
    else {
        transpose(c, columns, x);
        SPOT_TRY(copy(c, (float *)op->x, columns, (size_t)x.rows * (size_t)x.cols * sizeof *columns));
    }
    SPOT_TRY(spot_device_copy(c, (uint8_t *)op->y, y, (size_t)x.rows));
    for (int i = 0; i < g->n; i++) g->ones += y[i];
    op->weight = g->ones && g->ones < g->n ? (double)(g->n - g->ones) / g->ones : 1;
    g->bud[g->nodes++] = (bud){ { -1, -1, -1, g->n, g->ones, 0 }, 0 };
    return SPOT_OK;
}

/* Lists the newest level's nodes with both outcomes; returns their number in all problems. */
static int list_level(work *w, int problems, int level)
{
    int count = 0;

    for (int p = 0; p < problems; p++) {
        growth *g = &w->grow[p];
        spot_tree_problem *op = &w->op[p];
        op->level = level;
        op->nodes = 0;
        op->span = w->span_there + count;
        op->split = w->split_there + count;
        for (int i = g->level; i < g->nodes; i++) {
            const bud *b = &g->bud[i];
            if (!b->node.ones || b->node.ones == b->node.rows) continue;
            g->which[op->nodes++] = i;
            w->span[count++] = (spot_tree_span){ b->begin, b->begin + b->node.rows, b->node.ones };
        }
        g->level = g->nodes;
    }
    return count;
}

/* Adds two children to each node that is split. */
static void add_children(growth *g, const spot_tree_split *split, int nodes)
{
    for (int k = 0; k < nodes; k++) {
        const spot_tree_split *s = &split[k];
        bud *b = &g->bud[g->which[k]];
        if (s->feature < 0) continue;
        b->node.feature = s->feature;
        b->node.threshold = s->threshold;
        b->node.left = g->nodes;
        b->node.right = g->nodes + 1;
        g->bud[g->nodes++] = (bud){ { -1, -1, -1, s->rows, s->ones, 0 }, b->begin };
        g->bud[g->nodes++] = (bud){ { -1, -1, -1, b->node.rows - s->rows, b->node.ones - s->ones, 0 }, b->begin + s->rows };
    }
}

static spot_status grow_trees(spot_ctx *c, work *w, int problems, int depth)
{
    for (int level = 0; level < depth; level++) {
        size_t count = (size_t)list_level(w, problems, level);
        SPOT_TRY(spot_check_stop(c));
        if (!count) break;
        SPOT_TRY(copy(c, w->span_there, w->span, count * sizeof *w->span));
        SPOT_TRY(spot_tree_search(c, problems, w->op));
        SPOT_TRY(copy(c, w->split, w->split_there, count * sizeof *w->split));
        for (int p = 0; p < problems; p++)
            add_children(&w->grow[p], w->split + (w->op[p].split - w->split_there), w->op[p].nodes);
        if (level + 1 < depth) SPOT_TRY(spot_tree_part(c, problems, w->op));
    }
    return SPOT_OK;
}

/* Numbers node i and all below it, depth first; returns its new number. */
static int number_nodes(spot_tree *t, const growth *g, int i)
{
    int at = t->nodes++;

    t->node[at] = g->bud[i].node;
    if (t->node[at].feature < 0) t->leaves++;
    else {
        t->node[at].left = number_nodes(t, g, g->bud[i].node.left);
        t->node[at].right = number_nodes(t, g, g->bud[i].node.right);
    }
    return at;
}

static spot_status fit_trees(spot_ctx *c, spot_arena *a, spot_arena *there, int problems, spot_tree *out, const spot_mat *x,
                             const float *const *there_x, const uint8_t *const *y, int depth)
{
    work w;

    SPOT_TRY(take_work(c, a, there, problems, &w, x, depth));
    for (int p = 0; p < problems; p++) SPOT_TRY(start_tree(c, &w, p, x[p], there_x ? there_x[p] : NULL, y[p]));
    SPOT_TRY(spot_tree_sort(c, there, problems, w.op));
    SPOT_TRY(grow_trees(c, &w, problems, depth));
    for (int p = 0; p < problems; p++) {
        out[p].weight = w.op[p].weight;
        out[p].nodes = out[p].leaves = 0;
        number_nodes(&out[p], &w.grow[p], 0);
    }
    return SPOT_OK;
}

spot_status spot_tree_fit(spot_ctx *c, spot_arena *a, int problems, spot_tree *out, const spot_mat *x,
                          const uint8_t *const *y, int depth)
{
    return spot_tree_fit_on(c, a, problems, out, x, NULL, y, depth);
}

spot_status spot_tree_fit_on(spot_ctx *c, spot_arena *a, int problems, spot_tree *out, const spot_mat *x,
                             const float *const *there_x, const uint8_t *const *y, int depth)
{
    spot_arena there = spot_arena_counting(), counted = there;
    size_t mark;
    spot_status s;
    work w;

    for (int p = 0; p < problems; p++) SPOT_TRY(check_problem(c, p, x[p], y[p], depth));
    for (int p = 0; p < problems; p++) SPOT_TRY(SPOT_TAKE(c, a, out[p].node, most_nodes(x[p].rows, depth)));
    mark = a->used;
    if (!c->device) s = fit_trees(c, a, a, problems, out, x, NULL, y, depth);
    else {
        SPOT_TRY(take_work(c, &counted, &there, problems, &w, x, depth));
        SPOT_TRY(spot_arena_open_device(c, &there, there.peak));
        s = fit_trees(c, a, &there, problems, out, x, there_x, y, depth);
        spot_arena_close(&there);
    }
    a->used = mark;
    return s;
}

int spot_tree_leaf(const spot_tree *t, const float *row)
{
    int at = 0;

    while (t->node[at].feature >= 0)
        at = row[t->node[at].feature] <= t->node[at].threshold ? t->node[at].left : t->node[at].right;
    return at;
}

spot_bytes spot_tree_needs(const spot_ctx *c, int problems, const int *n, int d, int depth)
{
    spot_arena a = spot_arena_counting(), there = a;
    spot_ctx quiet = { 0 };
    spot_tree_node *node;
    int largest = 0;
    work w;

    for (int p = 0; p < problems; p++) SPOT_TAKE(&quiet, &a, node, most_nodes(n[p], depth));
    for (int p = 0; p < problems; p++) {
        spot_mat x = { NULL, n[p], d };
        take_work(&quiet, &a, c->device ? &there : &a, 1, &w, &x, depth);      /* one by one it is a little more */
        if (n[p] > largest) largest = n[p];
    }
    if (!c->device) return (spot_bytes){ a.peak + spot_tree_scratch(largest, c->threads), 0 };
    return (spot_bytes){ a.peak, there.peak };
}
