/* tree_grow.c - grows decision trees level by level. The device searches splits and moves rows; the host keeps the nodes and
 * numbers them depth first at the end. On the CPU a thread grows a tree, or all share each in turn where there are fewer trees
 * than threads. On CUDA the trees of a wave grow together. */
#include "stats/trees.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/twin.h"
#include "core/device.h"
#include "core/problems.h"
#include "core/team.h"
#include "fit/tree_cut.h"

#define WAVE ((size_t)4 << 30)         /* bytes of device memory that the trees of a wave may take together */

/* A node of a growing tree; where its rows begin in the order of the columns. number_nodes: begin is the number of nodes of its
 * subtree, place its number in the finished tree. */
typedef struct { spot_tree_node node; int begin, place; } bud;

typedef struct {
    int     nodes, level;      /* so far, level by level; the first of the newest level */
    bud    *bud;
    double *sum;               /* (nodes, classes) */
    int    *which;             /* bud of each node to split on this level */
    double  unit;              /* a row's weight is a whole number of units */
    spot_twin weight;          /* (rows) */
} growth;

/* Trees that grow together. Spans and splits of all are contiguous, for one copy each way. */
typedef struct {
    growth            *grow;      /* (trees) */
    spot_tree_problem *op;        /* (trees) */
    spot_twin span, sum, split, left;
    int classes;                  /* the most: the width of sum and left */
} wave;

typedef struct { int rows, d, classes, weighted; } size_of_tree;

typedef struct { const spot_tree_task *task; spot_tree *out; } tree_job;

/* -- sizes ---------------------------------------------------------------------------------------------------------------- */

/* Most nodes of a tree; most nodes of one level that have two classes. */
static int most_nodes(int n, int depth)
{
    return depth && depth < 30 && (2 << depth) - 1 < 2 * n - 1 ? (2 << depth) - 1 : 2 * n - 1;
}

static int most_split(int n, int depth)
{
    int most = n / 2 > 1 ? n / 2 : 1;

    return depth && depth <= 30 && 1 << (depth - 1) < most ? 1 << (depth - 1) : most;
}

/* Allocates a wave; also in counting arenas. there: the arena of the device, on the CPU a itself. */
static spot_status take_wave(spot_ctx *c, spot_arena *a, spot_arena *on_device, wave *w, int trees, const size_of_tree *size,
                             const spot_tree_config *cfg, int threads)
{
    size_t nodes = 0;

    w->classes = SPOT_MOST(trees, size, classes);
    SPOT_TRY(SPOT_TAKE(c, a, w->grow, trees));
    SPOT_TRY(SPOT_TAKE(c, a, w->op, trees));
    for (int i = 0; i < trees; i++) {
        size_of_tree s = size[i];
        size_t split = (size_t)most_split(s.rows, cfg->depth), most = (size_t)most_nodes(s.rows, cfg->depth);
        spot_tree_problem op = { 0 };
        growth g = { 0 };
        SPOT_TRY(SPOT_TAKE(c, a, g.bud, most));
        SPOT_TRY(SPOT_TAKE(c, a, g.sum, most * (size_t)s.classes));
        SPOT_TRY(SPOT_TAKE(c, a, g.which, split));
        if (s.weighted) SPOT_TRY(spot_twin_take(c, a, on_device, &g.weight, (size_t)s.rows * sizeof *op.weight));
        if (spot_tree_has_list(c, s.d, cfg)) {
            SPOT_TRY(SPOT_TAKE(c, on_device, op.room, spot_tree_room(s.rows, threads)));
            SPOT_TRY(SPOT_TAKE(c, on_device, op.order, 2 * (size_t)s.rows));
        } else
            SPOT_TRY(SPOT_TAKE(c, on_device, op.order, 2 * (size_t)s.rows * (size_t)s.d));
        SPOT_TRY(SPOT_TAKE(c, on_device, op.cut, split * (size_t)spot_tree_tries(s.d, cfg)));
        if (spot_tree_tries(s.d, cfg) < s.d) SPOT_TRY(SPOT_TAKE(c, on_device, op.drawn, split * (size_t)s.d));
        nodes += split;
        if (a->counting) continue;
        w->grow[i] = g;
        w->op[i] = op;
    }
    SPOT_TRY(spot_twin_take(c, a, on_device, &w->span, nodes * sizeof(spot_tree_span)));
    SPOT_TRY(spot_twin_take(c, a, on_device, &w->split, nodes * sizeof(spot_tree_split)));
    SPOT_TRY(spot_twin_take(c, a, on_device, &w->sum, nodes * (size_t)w->classes * sizeof(double)));
    return spot_twin_take(c, a, on_device, &w->left, nodes * (size_t)w->classes * sizeof(double));
}

/* -- a tree's rows and root ------------------------------------------------------------------------------------------------ */

/* Writes weights in whole units: themselves if they are whole, else rounded to 2^-52 of their total. */
static double count_units(double *unit, const double *weight, int rows)
{
    double total = 0, scale = 1;
    bool whole = true;
    int power;

    for (int i = 0; i < rows; i++) {
        total += weight[i];
        whole = whole && weight[i] == floor(weight[i]);
    }
    if (!whole || total > 0x1p52) {
        (void)frexp(total, &power);
        scale = ldexp(1, 52 - power);
    }
    for (int i = 0; i < rows; i++) unit[i] = weight[i] > 0 ? fmax(1, rint(weight[i] * scale)) : 0;
    return 1 / scale;
}

/* Weights to the device, and the root of tree i. */
static spot_status start_tree(spot_ctx *c, wave *w, int i, const spot_trees *t, const spot_tree_task *task)
{
    const spot_tree_table *table = &t->table[task->table];
    const spot_tree_problem *shared = &t->op[task->table];
    spot_tree_problem *op = &w->op[i];
    growth *g = &w->grow[i];
    spot_twin weight = g->weight;
    double *unit = weight.here;

    *op = (spot_tree_problem){ .rows = shared->rows, .d = shared->d, .classes = shared->classes, .x = shared->x,
        .y = shared->y, .sorted = shared->sorted, .class_weight = shared->class_weight, .criterion = t->cfg.criterion,
        .order = op->order, .room = op->room, .cut = op->cut, .drawn = op->drawn,
        .tries = spot_tree_tries(shared->d, &t->cfg), .seed = task->seed };
    g->unit = 1;
    if (task->weight) {
        weight.bytes = (size_t)op->rows * sizeof *unit;
        g->unit = count_units(unit, task->weight, op->rows);
        SPOT_TRY(spot_twin_push(c, &weight));
        op->weight = weight.on_device;
    }
    memset(g->sum, 0, (size_t)op->classes * sizeof *g->sum);
    for (int r = 0; r < op->rows; r++) {
        double v = task->weight ? unit[r] : 1;
        op->n += v > 0;
        g->sum[table->y[r]] += v;
    }
    g->level = 0;
    g->nodes = 1;
    g->bud[0] = (bud){ { -1, -1, -1, op->n, 0 }, 0, 0 };
    return SPOT_OK;
}

/* -- levels ---------------------------------------------------------------------------------------------------------------- */

/* A node whose impurity is no more than rounding is a leaf, as in scikit-learn. */
static bool is_mixed(const spot_tree_problem *op, const double *sum, const double *class_weight)
{
    double w = 0;
    int held = 0;

    for (int k = 0; k < op->classes; k++) {
        held += sum[k] > 0;
        w += class_weight ? class_weight[k] * sum[k] : sum[k];
    }
    return held > 1 && spot_tree_impurity(op->criterion, op->classes, sum, sum, 0, class_weight) / w > DBL_EPSILON;
}

/* Lists the newest level's nodes to split; returns their number in all trees. */
static int list_level(wave *w, int trees, const spot_trees *t, const tree_job *job, int level)
{
    spot_tree_span *span = w->span.here;
    double *sum = w->sum.here;
    size_t count = 0, sums = 0;

    for (int q = 0; q < trees; q++) {
        const double *class_weight = t->table[job[q].task->table].class_weight;
        growth *g = &w->grow[q];
        spot_tree_problem *op = &w->op[q];
        op->level = level;
        op->nodes = 0;
        op->span = (spot_tree_span *)w->span.on_device + count;
        op->split = (spot_tree_split *)w->split.on_device + count;
        op->sum = (double *)w->sum.on_device + sums;
        op->left = (double *)w->left.on_device + sums;
        for (int i = g->level; i < g->nodes; i++) {
            const bud *b = &g->bud[i];
            const double *own = g->sum + (size_t)i * (size_t)op->classes;
            if (!is_mixed(op, own, class_weight)) continue;
            g->which[op->nodes++] = i;
            span[count++] = (spot_tree_span){ b->begin, b->begin + b->node.rows, i };
            memcpy(sum + sums, own, (size_t)op->classes * sizeof *own);
            sums += (size_t)op->classes;
        }
        g->level = g->nodes;
    }
    w->span.bytes = count * sizeof *span;
    w->split.bytes = count * sizeof(spot_tree_split);
    w->sum.bytes = w->left.bytes = sums * sizeof *sum;
    return (int)count;
}

/* Adds two children to each node that is split. */
static void add_children(growth *g, const spot_tree_split *split, const double *left, int nodes, int classes)
{
    for (int k = 0; k < nodes; k++) {
        const spot_tree_split *s = &split[k];
        bud *b = &g->bud[g->which[k]];
        double *sum = g->sum + (size_t)g->nodes * (size_t)classes;
        const double *own = g->sum + (size_t)g->which[k] * (size_t)classes;
        if (s->feature < 0) continue;
        b->node.feature = s->feature;
        b->node.threshold = s->threshold;
        b->node.left = g->nodes;
        b->node.right = g->nodes + 1;
        for (int j = 0; j < classes; j++) {
            sum[j] = left[(size_t)k * (size_t)classes + (size_t)j];
            sum[classes + j] = own[j] - sum[j];
        }
        g->bud[g->nodes++] = (bud){ { -1, -1, -1, s->rows, 0 }, b->begin, 0 };
        g->bud[g->nodes++] = (bud){ { -1, -1, -1, b->node.rows - s->rows, 0 }, b->begin + s->rows, 0 };
    }
}

static spot_status grow_levels(spot_ctx *c, wave *w, int trees, const spot_trees *t, const tree_job *job)
{
    for (int level = 0; !t->cfg.depth || level < t->cfg.depth; level++) {
        int count = list_level(w, trees, t, job, level);
        SPOT_TRY(spot_check_stop(c));
        if (!count) break;
        SPOT_TRY(spot_twin_push(c, &w->span));
        SPOT_TRY(spot_twin_push(c, &w->sum));
        SPOT_TRY(spot_tree_search(c, trees, w->op));
        SPOT_TRY(spot_twin_pull(c, &w->split));
        SPOT_TRY(spot_twin_pull(c, &w->left));
        for (int q = 0; q < trees; q++) {
            const spot_tree_problem *op = &w->op[q];
            const spot_tree_split *split = (spot_tree_split *)w->split.here
                                         + (op->split - (spot_tree_split *)w->split.on_device);
            const double *left = (double *)w->left.here + (op->left - (double *)w->left.on_device);
            add_children(&w->grow[q], split, left, op->nodes, op->classes);
        }
        if (level + 1 != t->cfg.depth) SPOT_TRY(spot_tree_part(c, trees, w->op));
    }
    return SPOT_OK;
}

/* -- whole trees ----------------------------------------------------------------------------------------------------------- */

/* Writes the tree with its nodes depth first, left before right. A child comes after its parent in the order of growth. */
static void number_nodes(spot_tree *t, growth *g, int classes)
{
    t->nodes = g->nodes;
    t->leaves = 0;
    t->classes = classes;
    for (int i = g->nodes - 1; i >= 0; i--) {
        bud *b = &g->bud[i];
        b->begin = b->node.feature < 0 ? 1 : 1 + g->bud[b->node.left].begin + g->bud[b->node.right].begin;
    }
    g->bud[0].place = 0;
    for (int i = 0; i < g->nodes; i++) {
        const bud *b = &g->bud[i];
        spot_tree_node *node = &t->node[b->place];
        double *sum = t->sum + (size_t)b->place * (size_t)classes;
        *node = b->node;
        for (int k = 0; k < classes; k++) sum[k] = g->unit * g->sum[(size_t)i * (size_t)classes + (size_t)k];
        t->leaves += node->feature < 0;
        if (node->feature < 0) continue;
        node->left = g->bud[b->node.left].place = b->place + 1;
        node->right = g->bud[b->node.right].place = b->place + 1 + g->bud[b->node.left].begin;
    }
}

static spot_status grow_wave(spot_ctx *c, wave *w, int trees, const spot_trees *t, const tree_job *job)
{
    for (int q = 0; q < trees; q++) SPOT_TRY(start_tree(c, w, q, t, job[q].task));
    SPOT_TRY(spot_tree_keep(c, trees, w->op));
    SPOT_TRY(grow_levels(c, w, trees, t, job));
    for (int q = 0; q < trees; q++) number_nodes(job[q].out, &w->grow[q], w->op[q].classes);
    return SPOT_OK;
}

static size_of_tree size_of(const spot_trees *t, const spot_tree_task *task)
{
    spot_mat x = t->table[task->table].x;

    return (size_of_tree){ x.rows, x.cols, t->table[task->table].classes, task->weight != NULL };
}

/* The CPU: a job is a tree, a lane the wave of one tree. */
typedef struct { size_of_tree size; const spot_tree_config *cfg; } largest;

static spot_status take_lane(spot_ctx *c, spot_arena *a, void *own, const void *most, int threads)
{
    const largest *m = most;

    return take_wave(c, a, a, own, 1, &m->size, m->cfg, threads);
}

static spot_status run_lane(spot_ctx *c, void *own, void *job, const void *cfg, int threads)
{
    spot_ctx alone = *c;
    spot_status s;

    alone.threads = threads;
    s = grow_wave(&alone, own, 1, cfg, job);
    return s == SPOT_OK ? s : spot_fail_from(c, s, &alone);
}

static spot_status grow_in_lanes(spot_ctx *c, spot_arena *a, int trees, tree_job *job, const spot_trees *t, const largest *most)
{
    static const spot_job_kind kind = { sizeof(wave), sizeof(tree_job), take_lane, run_lane };

    return spot_run_jobs(c, a, &kind, spot_abreast(trees, c->threads), most, trees, job, t);
}

static spot_status grow_in_waves(spot_ctx *c, spot_arena *a, int trees, const size_of_tree *size, const tree_job *job,
                                 const spot_trees *t)
{
    for (int first = 0, count; first < trees; first += count) {
        spot_arena counted = spot_arena_counting(), on_device = counted;
        size_t mark = a->used;
        spot_status s;
        wave w;
        for (count = 0; first + count < trees && (!count || on_device.peak < WAVE); count++)
            SPOT_TRY(take_wave(c, &counted, &on_device, &w, 1, size + first + count, &t->cfg, 0));
        SPOT_TRY(spot_arena_open_device(c, &on_device, on_device.peak));
        s = take_wave(c, a, &on_device, &w, count, size + first, &t->cfg, 0);
        if (s == SPOT_OK) s = grow_wave(c, &w, count, t, job + first);
        spot_arena_close(&on_device);
        a->used = mark;
        SPOT_TRY(s);
    }
    return SPOT_OK;
}

static spot_status check_tasks(spot_ctx *c, const spot_trees *t, int trees, const spot_tree_task *task)
{
    for (int i = 0; i < trees; i++) {
        double total = 0;
        if (task[i].table < 0 || task[i].table >= t->tables)
            return spot_fail(c, SPOT_INVALID, "tree %d is of table %d; there are %d", i, task[i].table, t->tables);
        if (!task[i].weight) continue;
        for (int r = 0; r < t->table[task[i].table].x.rows; r++) {
            double v = task[i].weight[r];
            if (!(v >= 0 && v < INFINITY))
                return spot_fail(c, SPOT_INVALID, "tree %d: row %d weighs %g; it must be a finite number from 0", i, r, v);
            total += v;
        }
        if (!(total > 0 && total < INFINITY))
            return spot_fail(c, SPOT_INVALID, "tree %d: the weights of its rows add up to %g", i, total);
    }
    return SPOT_OK;
}

/* Arrays of the finished trees, of their jobs and sizes; also in counting arenas. */
static spot_status take_trees(spot_ctx *c, spot_arena *a, int trees, spot_tree *out, const size_of_tree *size, int depth)
{
    spot_tree t = { 0 };

    for (int i = 0; i < trees; i++) {
        int most = most_nodes(size[i].rows, depth);
        SPOT_TRY(SPOT_TAKE(c, a, t.node, most));
        SPOT_TRY(SPOT_TAKE(c, a, t.sum, (size_t)most * (size_t)size[i].classes));
        if (!a->counting) out[i] = t;
    }
    return SPOT_OK;
}

spot_status spot_trees_grow(spot_ctx *c, spot_arena *a, const spot_trees *t, int trees, spot_tree *out,
                            const spot_tree_task *task)
{
    largest most = { { 0 }, &t->cfg };
    size_of_tree *size;
    tree_job *job;
    spot_status s;
    size_t mark;

    SPOT_TRY(check_tasks(c, t, trees, task));
    if (!trees) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(c, a, size, trees));
    SPOT_TRY(SPOT_TAKE(c, a, job, trees));
    for (int i = 0; i < trees; i++) {
        size[i] = size_of(t, &task[i]);
        job[i] = (tree_job){ &task[i], &out[i] };
        if (size[i].rows > most.size.rows) most.size.rows = size[i].rows;
        if (size[i].d > most.size.d) most.size.d = size[i].d;
        if (size[i].classes > most.size.classes) most.size.classes = size[i].classes;
        most.size.weighted |= size[i].weighted;
    }
    SPOT_TRY(take_trees(c, a, trees, out, size, t->cfg.depth));
    mark = a->used;
    s = c->device ? grow_in_waves(c, a, trees, size, job, t) : grow_in_lanes(c, a, trees, job, t, &most);
    a->used = mark;
    return s;
}

spot_bytes spot_trees_grow_needs(const spot_ctx *c, int trees, const int *rows, int columns, int classes,
                                 const spot_tree_config *cfg)
{
    largest most = { { spot_most(trees, rows, sizeof *rows), columns, classes, true }, cfg };
    spot_arena a = spot_arena_counting(), on_device = a;
    spot_ctx quiet = { .device = c->device, .threads = c->threads };
    size_of_tree *size;
    tree_job *job;
    wave w;

    if (!trees) return (spot_bytes){ 0, 0 };
    SPOT_TAKE(&quiet, &a, size, trees);
    SPOT_TAKE(&quiet, &a, job, trees);
    for (int i = 0; i < trees; i++) {
        size_of_tree one = { rows[i], columns, classes, true };
        take_trees(&quiet, &a, 1, NULL, &one, cfg->depth);
        if (c->device && on_device.peak < WAVE) take_wave(&quiet, &a, &on_device, &w, 1, &one, cfg, 0);
    }
    if (!c->device) grow_in_lanes(&quiet, &a, trees, NULL, NULL, &most);
    return (spot_bytes){ a.peak, on_device.peak };
}
