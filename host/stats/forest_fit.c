/* forest_fit.c - random forests: rows drawn for every tree, all trees of all forests grown in one batch. Boosting is in
 * forest_boost.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/forest_grow.h"

static spot_status start_forest(spot_ctx *c, spot_forest *f, const spot_forest_rows *rows, const spot_forest_config *cfg)
{
    spot_mat x = rows->x;

    SPOT_TRY(spot_forest_take(c, f, x.cols, rows->classes, cfg->trees, 1));
    f->profile = cfg->profile;
    f->trees = 0;
    memcpy(f->least, x.v, (size_t)x.cols * sizeof *x.v);
    memcpy(f->most, x.v, (size_t)x.cols * sizeof *x.v);
    for (int i = 1; i < x.rows; i++)
        for (int j = 0; j < x.cols; j++) {
            float v = x.v[(size_t)i * (size_t)x.cols + (size_t)j];
            if (v < f->least[j]) f->least[j] = v;
            if (v > f->most[j]) f->most[j] = v;
        }
    return SPOT_OK;
}

/* The seed of tree t's columns, and the weights of the rows: how often each was drawn, times its own. */
static uint64_t draw_rows(double *weight, const spot_forest_rows *rows, int t, bool bootstrap)
{
    spot_rng r = spot_rng_at(rows->seed.seed, SPOT_RNG_FOREST, rows->seed.ec, (uint32_t)t);
    uint64_t seed = spot_rng_u32(&r);
    int n = rows->x.rows;

    seed = seed << 32 | spot_rng_u32(&r);
    for (int i = 0; i < n; i++) weight[i] = !bootstrap;
    for (int i = 0; bootstrap && i < n; i++) weight[spot_rng_below(&r, (uint32_t)n)]++;
    for (int i = 0; rows->weight && i < n; i++) weight[i] *= rows->weight[i];
    return seed;
}

/* Trees [first, first + count) of all forests' trees, forest after forest. */
static spot_status grow_batch(spot_ctx *c, const spot_forest_fitting *b, const spot_forest_rows *rows, int first, int count,
                              size_t most_rows)
{
    const spot_forest_config *cfg = b->cfg;
    double *weight;
    spot_tree *tree;
    spot_tree_task *task;

    SPOT_TRY(SPOT_TAKE(c, b->a, tree, count));
    SPOT_TRY(SPOT_TAKE(c, b->a, task, count));
    SPOT_TRY(SPOT_TAKE(c, b->a, weight, most_rows * (size_t)count));
#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (int i = 0; i < count; i++) {
        int forest = (first + i) / cfg->trees;
        double *own = weight + most_rows * (size_t)i;
        task[i] = (spot_tree_task){ forest, own, 0 };
        task[i].seed = draw_rows(own, &rows[forest], (first + i) % cfg->trees, cfg->bootstrap);
    }
    SPOT_TRY(spot_trees_grow(c, b->a, b->trees, count, tree, task));
    for (int i = 0; i < count; i++) SPOT_TRY(spot_forest_add(c, &b->out[(first + i) / cfg->trees], &tree[i]));
    return SPOT_OK;
}

static int batch_size(int all, size_t most_rows)
{
    size_t count = SPOT_FOREST_BATCH / (most_rows * sizeof(double));

    return count < 1 ? 1 : count < (size_t)all ? (int)count : all;
}

static spot_status fit_bagged(spot_ctx *c, const spot_forest_fitting *b, const spot_forest_rows *rows, int forests,
                              size_t most_rows)
{
    int all = forests * b->cfg->trees, size = batch_size(all, most_rows);

    for (int first = 0; first < all; first += size) {
        size_t mark = b->a->used;
        spot_status s = grow_batch(c, b, rows, first, all - first < size ? all - first : size, most_rows);
        b->a->used = mark;
        SPOT_TRY(s);
    }
    return SPOT_OK;
}

/* Memory of a fit on the host: tables, and a batch of trees with their weights. */
static spot_status count_room(spot_ctx *c, size_t *bytes, int forests, const spot_tree_table *table,
                              const spot_forest_config *cfg, const spot_tree_config *tree, size_t most_rows, int most_columns)
{
    int all = forests * (cfg->profile == SPOT_FOREST_BAGGED ? cfg->trees : 1), batch = batch_size(all, most_rows);
    const size_t most = (size_t)(batch > forests ? batch : forests);
    int *rows = malloc((size_t)batch * sizeof *rows);

    if (!rows) return spot_fail(c, SPOT_NOMEM, "no memory for a forest");
    for (int i = 0; i < batch; i++) rows[i] = (int)most_rows;
    *bytes = spot_trees_needs(c, forests, table).host +
             spot_trees_grow_needs(c, batch, rows, most_columns, SPOT_MOST(forests, table, classes), tree).host +
             spot_arena_room(most * sizeof(spot_tree)) + spot_arena_room(most * sizeof(spot_tree_task)) +
             spot_arena_room((size_t)batch * most_rows * sizeof(double)) +
             spot_arena_room((size_t)forests * sizeof(spot_boosting)) +
             (size_t)forests * spot_arena_room(most_rows * sizeof(double)) + spot_arena_room(most_rows * sizeof(int));
    free(rows);
    return SPOT_OK;
}

static spot_status fit_forests(spot_ctx *c, int forests, spot_forest *out, const spot_forest_rows *rows, spot_tree_table *table,
                               const spot_forest_config *cfg)
{
    spot_forest_fitting b = { .out = out, .cfg = cfg };
    spot_tree_config tree = cfg->tree;
    size_t most_rows = 0, bytes = 0;
    int most_columns = 0;
    spot_arena a = { 0 };
    spot_status s;

    for (int i = 0; i < forests; i++) {
        table[i] = (spot_tree_table){ .x = rows[i].x, .y = rows[i].y, .classes = rows[i].classes };
        if ((size_t)rows[i].x.rows > most_rows) most_rows = (size_t)rows[i].x.rows;
        if (rows[i].x.cols > most_columns) most_columns = rows[i].x.cols;
    }
    if (tree.columns == SPOT_ROOT_OF_COLUMNS) tree.columns = (int)sqrt(most_columns);
    SPOT_TRY(count_room(c, &bytes, forests, table, cfg, &tree, most_rows, most_columns));
    SPOT_TRY(spot_arena_open(c, &a, bytes));
    b.a = &a;
    s = spot_trees_open(c, &a, &b.trees, forests, table, &tree);
    for (int i = 0; i < forests && s == SPOT_OK; i++) s = start_forest(c, &out[i], &rows[i], cfg);
    if (s == SPOT_OK)
        s = cfg->profile == SPOT_FOREST_BAGGED ? fit_bagged(c, &b, rows, forests, most_rows)
                                               : spot_forest_boost(c, &b, rows, forests);
    spot_trees_close(b.trees);
    spot_arena_close(&a);
    return s;
}

spot_status spot_forest_fit(spot_ctx *c, int forests, spot_forest *out, const spot_forest_rows *rows,
                            const spot_forest_config *cfg)
{
    spot_tree_table *table;
    spot_status s;

    if (cfg->trees < 1 || !(cfg->rate > 0 && cfg->rate < INFINITY) || cfg->tree.columns < SPOT_ROOT_OF_COLUMNS ||
        (unsigned)cfg->profile >= SPOT_FOREST_PROFILES || forests < 1 || forests > INT32_MAX / cfg->trees)
        return spot_fail(c, SPOT_INVALID, "{forest.training} %d forests of profile %d, %d trees, %d columns, learning rate %g",
                         forests, cfg->profile, cfg->trees, cfg->tree.columns, cfg->rate);
    for (int i = 0; i < forests; i++)
        if (rows[i].x.rows < 1 || rows[i].x.cols != rows[0].x.cols)
            return spot_fail(c, SPOT_INVALID, "forest %d of (%d,%d); all need a row and %d columns", i, rows[i].x.rows,
                             rows[i].x.cols, rows[0].x.cols);
    memset(out, 0, (size_t)forests * sizeof *out);
    table = malloc((size_t)forests * sizeof *table);
    if (!table) return spot_fail(c, SPOT_NOMEM, "no memory for %d forests", forests);
    s = fit_forests(c, forests, out, rows, table, cfg);
    for (int i = 0; s != SPOT_OK && i < forests; i++) spot_forest_close(&out[i]);
    free(table);
    return s;
}
