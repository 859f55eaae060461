/* tree_tables.c - tables that trees are grown from: checked, in columns on the device, sorted; and trees of two classes that
 * weigh the same. */
#include "stats/trees.h"

#include <math.h>
#include <string.h>

#include "base/twin.h"
#include "core/device.h"
#include "fit/tree_cut.h"

static spot_status check_table(spot_ctx *c, int problem, const spot_tree_table *t)
{
    spot_mat x = t->x;

    if (t->classes < 2 || t->classes > SPOT_TREE_CLASSES)
        return spot_fail(c, SPOT_INVALID, "tree, problem %d: %d classes; there must be 2..%d", problem, t->classes,
                         SPOT_TREE_CLASSES);
    if (x.rows < 1 || x.cols < 1 || x.rows > INT32_MAX >> spot_tree_bits(t->classes))
        return spot_fail(c, SPOT_INVALID, "tree, problem %d: (%d,%d)", problem, x.rows, x.cols);
    for (size_t i = 0; i < (size_t)x.rows * (size_t)x.cols; i++)
        if (!isfinite(x.v[i]))
            return spot_fail(c, SPOT_INPUT, "{tree.value} tree, problem %d: row %zu, column %zu is %g; it must be a finite "
                             "number", problem, i / (size_t)x.cols, i % (size_t)x.cols, x.v[i]);
    for (int i = 0; i < x.rows; i++)
        if (t->y[i] >= t->classes)
            return spot_fail(c, SPOT_INVALID, "{tree.outcome} tree, problem %d: outcome %d of row %d", problem, t->y[i], i);
    for (int k = 0; t->class_weight && k < t->classes; k++)
        if (!(t->class_weight[k] > 0 && t->class_weight[k] < INFINITY))
            return spot_fail(c, SPOT_INVALID, "tree, problem %d: class %d weighs %g", problem, k, t->class_weight[k]);
    return SPOT_OK;
}

/* A table's columns on their way to the device, and the class weights of all tables, for one copy. Unused on the CPU. */
typedef struct { float *column; spot_twin weight; } crossing;

/* Allocates; also in counting arenas. there: the arena of the device, on the CPU a itself. */
static spot_status take_tables(spot_ctx *c, spot_arena *a, spot_arena *on_device, spot_tree_problem **op, crossing *by,
                               int tables, const spot_tree_table *table)
{
    size_t largest = 0, most_rows = 0, weights = 0;
    char *scratch;

    SPOT_TRY(SPOT_TAKE(c, a, *op, tables));
    for (int p = 0; p < tables; p++) {
        const spot_tree_table *t = &table[p];
        spot_tree_problem one = { .rows = t->x.rows, .d = t->x.cols, .classes = t->classes, .x = t->on_device, .y = t->y,
                                  .class_weight = t->class_weight };
        size_t values = (size_t)one.rows * (size_t)one.d;
        if (!c->device || !t->on_device) SPOT_TRY(SPOT_TAKE(c, on_device, one.x, values));
        if (!t->on_device && values > largest) largest = values;
        if ((size_t)one.rows > most_rows) most_rows = (size_t)one.rows;
        SPOT_TRY(SPOT_TAKE(c, on_device, one.sorted, 2 * values));
        if (c->device) SPOT_TRY(SPOT_TAKE(c, on_device, one.y, one.rows));
        if (t->class_weight) weights += (size_t)one.classes;
        if (!a->counting) (*op)[p] = one;
    }
    if (c->device) {
        SPOT_TRY(spot_twin_take(c, a, on_device, &by->weight, weights * sizeof(double)));
        return SPOT_TAKE(c, a, by->column, largest);
    }
    if (a->counting) return SPOT_TAKE(c, a, scratch, spot_tree_scratch((int)most_rows, c->threads));
    return SPOT_OK;
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

/* Copies a table to the device, unless its columns are there. */
static spot_status fill_table(spot_ctx *c, const spot_tree_problem *op, float *column, const spot_tree_table *t)
{
    if (!c->device) transpose(c, (float *)op->x, t->x);
    else if (!t->on_device) {
        transpose(c, column, t->x);
        SPOT_TRY(spot_device_copy(c, (float *)op->x, column, (size_t)op->rows * (size_t)op->d * sizeof *column));
    }
    return spot_device_copy(c, (uint8_t *)op->y, t->y, (size_t)op->rows);
}

/* Copies the class weights of all tables to the device. */
static spot_status fill_weights(spot_ctx *c, spot_trees *t, const spot_twin *weight)
{
    size_t at = 0;

    for (int p = 0; p < t->tables; p++) {
        size_t classes = (size_t)t->op[p].classes;
        if (!t->table[p].class_weight) continue;
        memcpy((double *)weight->here + at, t->table[p].class_weight, classes * sizeof(double));
        t->op[p].class_weight = (double *)weight->on_device + at;
        at += classes;
    }
    return at ? spot_twin_push(c, weight) : SPOT_OK;
}

static spot_status open_tables(spot_ctx *c, spot_arena *a, spot_trees *t)
{
    spot_arena counted = spot_arena_counting(), on_device = counted;
    spot_tree_problem *op;
    crossing by = { 0 };

    if (c->device) {
        SPOT_TRY(take_tables(c, &counted, &on_device, &op, &by, t->tables, t->table));
        SPOT_TRY(spot_arena_open_device(c, &t->on_device, on_device.peak));
    }
    SPOT_TRY(take_tables(c, a, c->device ? &t->on_device : a, &t->op, &by, t->tables, t->table));
    for (int p = 0; p < t->tables; p++) SPOT_TRY(fill_table(c, &t->op[p], by.column, &t->table[p]));
    if (c->device) SPOT_TRY(fill_weights(c, t, &by.weight));
    return spot_tree_sort(c, c->device ? &t->on_device : a, t->tables, t->op);
}

spot_status spot_trees_open(spot_ctx *c, spot_arena *a, spot_trees **out, int tables, const spot_tree_table *table,
                            const spot_tree_config *cfg)
{
    spot_status s;

    *out = NULL;
    if (cfg->depth < 0 || cfg->columns < 0)
        return spot_fail(c, SPOT_INVALID, "trees of depth %d over %d columns", cfg->depth, cfg->columns);
    for (int p = 0; p < tables; p++) SPOT_TRY(check_table(c, p, &table[p]));
    SPOT_TRY(SPOT_TAKE(c, a, *out, 1));
    **out = (spot_trees){ .cfg = *cfg, .tables = tables, .table = table };
    s = open_tables(c, a, *out);
    if (s != SPOT_OK) {
        spot_trees_close(*out);
        *out = NULL;
    }
    return s;
}

void spot_trees_close(spot_trees *t)
{
    if (t) spot_arena_close(&t->on_device);
}

spot_bytes spot_trees_needs(const spot_ctx *c, int tables, const spot_tree_table *table)
{
    spot_arena a = spot_arena_counting(), on_device = a;
    spot_ctx quiet = { .device = c->device, .threads = c->threads };
    spot_tree_problem *op;
    spot_trees *t;
    crossing by;

    SPOT_TAKE(&quiet, &a, t, 1);
    take_tables(&quiet, &a, c->device ? &on_device : &a, &op, &by, tables, table);
    return (spot_bytes){ a.peak, on_device.peak };
}

/* -- two classes that weigh the same -------------------------------------------------------------------------------------- */

static spot_tree_config plain(int depth) { return (spot_tree_config){ SPOT_TREE_ENTROPY, depth, 0 }; }

spot_status spot_tree_fit(spot_ctx *c, spot_arena *a, int problems, spot_tree *out, const spot_mat *x,
                          const uint8_t *const *y, int depth)
{
    return spot_tree_fit_on(c, a, problems, out, x, NULL, y, depth);
}

spot_status spot_tree_fit_on(spot_ctx *c, spot_arena *a, int problems, spot_tree *out, const spot_mat *x,
                             const float *const *on_device, const uint8_t *const *y, int depth)
{
    spot_tree_config cfg = plain(depth);
    spot_tree_table *table;
    spot_tree_task *task;
    spot_trees *trees;
    double *weight;
    spot_status s;

    if (depth < 1 || depth > SPOT_MAX_TREE_DEPTH)
        return spot_fail(c, SPOT_INVALID, "{tree.depth} tree of depth %d; it must lie in 1..%d", depth, SPOT_MAX_TREE_DEPTH);
    SPOT_TRY(SPOT_TAKE(c, a, table, problems));
    SPOT_TRY(SPOT_TAKE(c, a, task, problems));
    SPOT_TRY(SPOT_TAKE(c, a, weight, 2 * (size_t)problems));
    for (int p = 0; p < problems; p++) {
        int ones = 0;
        for (int i = 0; i < x[p].rows; i++) ones += y[p][i] != 0;
        weight[2 * p] = 1;
        weight[2 * p + 1] = ones && ones < x[p].rows ? (double)(x[p].rows - ones) / ones : 1;
        table[p] = (spot_tree_table){ x[p], y[p], 2, weight + 2 * p, on_device ? on_device[p] : NULL };
        task[p] = (spot_tree_task){ .table = p };
    }
    SPOT_TRY(spot_trees_open(c, a, &trees, problems, table, &cfg));
    s = spot_trees_grow(c, a, trees, problems, out, task);
    spot_trees_close(trees);
    return s;
}

spot_bytes spot_tree_needs(const spot_ctx *c, int problems, const int *n, int d, int depth)
{
    static const double alike[2] = { 1, 1 };
    spot_tree_config cfg = plain(depth);
    spot_bytes all = spot_trees_grow_needs(c, problems, n, d, 2, &cfg);

    for (int p = 0; p < problems; p++) {      /* one by one it is a little more */
        spot_tree_table table = { .x = { NULL, n[p], d }, .classes = 2, .class_weight = alike };
        spot_bytes open = spot_trees_needs(c, 1, &table);
        all.host += open.host;
        all.device += open.device;
    }
    all.host += spot_arena_room((size_t)problems * sizeof(spot_tree_table))
              + spot_arena_room((size_t)problems * sizeof(spot_tree_task)) + spot_arena_room((size_t)problems * sizeof alike);
    return all;
}

int spot_tree_leaf(const spot_tree *t, const float *row)
{
    int at = 0;

    while (t->node[at].feature >= 0)
        at = row[t->node[at].feature] <= t->node[at].threshold ? t->node[at].left : t->node[at].right;
    return at;
}
