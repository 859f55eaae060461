/* test_cuda_tree.c - ops on rows with an outcome of two values: information of features, splits of decision trees; and whole
 * trees. */
#define _GNU_SOURCE   /* setenv */
#include "check_op.h"

#include "fit/information.h"
#include "fit/tree_split.h"
#include "noise.h"
#include "spotter/forest.h"

static int threads_of(const spot_op_run *r) { return r->c->device ? 0 : r->c->threads; }

/* -- information -------------------------------------------------------------------------------------------------------- */

/* rows, features, rows of class 1: one row, one feature, a class of none, of one (with and without given noise), ends of warps
 * and blocks, many ties. */
static const int table_sizes[][SPOT_OP_SIZES] = {
    { 1, 1, 0 }, { 33, 4, 0 }, { 50, 7, 20 }, { 64, 3, 1 }, { 257, 5, 60 }, { 31, 40, 31 }, { 130, 2, 128 },
    { 65, 3, 1 },
};
enum { TABLES = LEN(table_sizes), TREES = 58 };

static uint8_t *table_classes(int q, const int *size)
{
    uint8_t *y = calloc((size_t)size[0], 1);

    for (int i = 0; i < size[0]; i++) y[i] = q < TABLES ? i * 7 % size[0] < size[2] : i % 3 == q % 3;
    return y;
}

static float *table_values(int q, const int *size, const uint8_t *y)
{
    float *x = normals((size_t)size[0] * size[1], 7, q);

    for (int i = 0; i < size[0] * size[1]; i++) {
        int j = i % size[1];
        x[i] += y[i / size[1]] * (float)(j % 3);
        x[i] = j % 4 == 3 ? 2 : j % 3 ? fmaxf(0, x[i]) : roundf(2 * x[i]);
    }
    return x;
}

/* Noise is given to every third problem. */
static void make_information(spot_op_run *r, void *problem, const int *size)
{
    spot_information_problem *p = problem;
    size_t values = (size_t)size[0] * size[1];
    spot_rng rng = noise_at(8, r->number);
    uint8_t *y = table_classes(r->number, size);
    double *noise = r->number % 3 ? NULL : normal_doubles(&rng, values);

    for (size_t i = 0; noise && r->number % 2 && i < values; i++) noise[i] = 0;
    *p = (spot_information_problem){ .n = size[0], .d = size[1], .seed = { 3, (uint32_t)r->number } };
    p->x = spot_op_given(r, table_values(r->number, size, y), values * sizeof(float));
    p->y = spot_op_given(r, y, (size_t)size[0]);
    p->noise = spot_op_given(r, noise, values * sizeof *noise);
    p->information = spot_op_out(r, "information", SPOT_OP_DOUBLE, (size_t)size[1], 0);
}

static spot_status run_information(spot_op_run *r, void *problems, int count)
{
    spot_arena *a;

    SPOT_TRY(spot_op_scratch(r, &a, spot_information_scratch(r->problems, 257, 40, threads_of(r))));
    SPOT_OP(r, spot_information_mutual(r->c, a, count, problems));
    return SPOT_OK;
}

static spot_status check_information(spot_op_run *r, void *problem)
{
    const spot_information_problem *p = problem;
    double got[40];

    SPOT_TRY(spot_op_fetch(r, got, p->information, (size_t)p->d * sizeof *got));
    if (r->number == 2 || r->number == 4) assert_true(got[2] > 0 && got[3] == 0);
    if (r->number == 1) assert_true(got[0] < 1e-12);
    return SPOT_OK;
}

static const spot_op information = { "information", sizeof(spot_information_problem), make_information, run_information,
                                     check_information, false };

/* -- splits of trees, level by level ------------------------------------------------------------------------------------ */

enum { DEPTH = 9, MOST_NODES = 2 * 257, MOST_CLASSES = 17 };
enum { ROWS, COLUMNS, CLASSES, TRIES, GINI, WEIGHTS };         /* tree_sizes; tries 0: all columns */
enum { ALIKE, BALANCED, COUNTS, LARGE };                       /* weights: none; of classes; few, some 0; to 2^44 */

/* One row, ends of warps and blocks, many classes and ties, columns drawn, of which none or only the last can be cut. */
static const int tree_sizes[][SPOT_OP_SIZES] = {
    { 1, 1, 2, 0, 0, BALANCED }, { 33, 4, 2, 0, 0, BALANCED }, { 50, 7, 3, 3, 1, COUNTS }, { 64, 3, 5, 2, 0, LARGE },
    { 257, 5, 2, 0, 0, BALANCED }, { 31, 12, 17, 3, 1, ALIKE }, { 130, 2, 3, 1, 1, COUNTS }, { 65, 3, 2, 0, 1, LARGE },
    { 100, 9, 3, 3, 1, COUNTS }, { 70, 8, 4, 1, 0, COUNTS },
};

/* The nodes of a tree in the order of their levels, and the outcome of every split. */
typedef struct {
    spot_tree_problem op;
    spot_tree_span span[MOST_NODES];        /* of the newest level */
    double sum[MOST_NODES * MOST_CLASSES];  /* (its nodes, classes) */
    double left[MOST_NODES * MOST_CLASSES]; /* (MOST_NODES, MOST_CLASSES): of all splits */
    uint32_t *kept;                         /* (2, d, n): the orders of levels 0 and 1, 0 outside their spans */
    int splits, feature[MOST_NODES], rows[MOST_NODES];
    double threshold[MOST_NODES];
} tree_problem;

static float *columns_of(const float *x, const int *size)
{
    size_t n = (size_t)size[0], d = (size_t)size[1];
    float *column = malloc(n * d * sizeof *column);

    for (size_t e = 0; e < n * d; e++) column[e % d * n + e / d] = x[e];
    return column;
}

static uint8_t *tree_classes(int q, const int *size)
{
    uint8_t *y = calloc((size_t)size[ROWS], 1);
    spot_rng r = noise_at(9, q);

    for (int i = 0; i < size[ROWS]; i++) y[i] = (uint8_t)spot_rng_below(&r, (uint32_t)size[CLASSES]);
    return y;
}

/* In problem 9 all columns but the last are constant. */
static float *tree_values(int q, const int *size, const uint8_t *y)
{
    float *x = table_values(q, size, y);

    for (int i = 0; size == tree_sizes[9] && i < size[ROWS] * size[COLUMNS]; i++)
        x[i] = i % size[COLUMNS] == size[COLUMNS] - 1 ? x[i - 1] + (float)(i % 13) : 2;
    return x;
}

static double *tree_weights(int q, const int *size)
{
    double *w = malloc((size_t)size[ROWS] * sizeof *w);
    spot_rng r = noise_at(10, q);

    for (int i = 0; i < size[ROWS]; i++)
        w[i] = size[WEIGHTS] == LARGE ? 1 + (double)spot_rng_u32(&r) * spot_rng_below(&r, 4096) : spot_rng_below(&r, 4);
    w[size[ROWS] - 1] = 1;
    return w;
}

static void make_tree(spot_op_run *r, void *problem, const int *size)
{
    tree_problem *p = problem;
    size_t n = (size_t)size[ROWS], d = (size_t)size[COLUMNS], classes = (size_t)size[CLASSES];
    uint8_t *y = tree_classes(r->number, size);
    float *x = tree_values(r->number, size, y);
    double *weight = size[WEIGHTS] >= COUNTS ? tree_weights(r->number, size) : NULL, class_weight[MOST_CLASSES];
    int held = 0;

    p->op = (spot_tree_problem){ .rows = size[ROWS], .d = size[COLUMNS], .classes = size[CLASSES], .seed = 5,
        .tries = size[TRIES] ? size[TRIES] : size[COLUMNS], .criterion = size[GINI] ? SPOT_TREE_GINI : SPOT_TREE_ENTROPY };
    for (size_t i = 0; i < n; i++) {
        p->op.n += !weight || weight[i] > 0;
        p->sum[y[i]] += weight ? weight[i] : 1;
    }
    for (size_t k = 0; k < classes; k++) {
        held += p->sum[k] > 0;
        class_weight[k] = 1 + (double)k / 3;
    }
    p->op.nodes = held > 1;
    p->span[0] = (spot_tree_span){ 0, p->op.n, 0 };
    p->op.x = spot_op_given(r, columns_of(x, size), n * d * sizeof *x);
    p->op.y = spot_op_given(r, y, n);
    p->op.weight = spot_op_given(r, weight, n * sizeof *weight);
    if (size[WEIGHTS] == BALANCED) p->op.class_weight = spot_op_input(r, class_weight, classes * sizeof *class_weight);
    p->op.sorted = spot_op_room(r, 2 * n * d * sizeof *p->op.sorted);
    p->op.order = spot_op_room(r, 2 * n * d * sizeof *p->op.order);
    p->op.room = spot_op_room(r, spot_tree_room(size[ROWS], 3) * sizeof *p->op.room);
    p->kept = spot_op_out(r, "orders of rows", SPOT_OP_INT, 2 * n * d, 0);
    p->op.span = spot_op_room(r, n * sizeof *p->op.span);
    p->op.drawn = spot_op_room(r, n * d * sizeof *p->op.drawn);
    p->op.sum = spot_op_room(r, n * classes * sizeof *p->op.sum);
    p->op.left = spot_op_room(r, n * classes * sizeof *p->op.left);
    p->op.cut = spot_op_room(r, n * d * sizeof *p->op.cut);
    p->op.split = spot_op_room(r, n * sizeof *p->op.split);
    spot_op_told(r, "splits", &p->splits, SPOT_OP_INT, 1, 0);
    spot_op_told(r, "features", p->feature, SPOT_OP_INT, MOST_NODES, 0);
    spot_op_told(r, "rows on the left", p->rows, SPOT_OP_INT, MOST_NODES, 0);
    spot_op_told(r, "weights on the left", p->left, SPOT_OP_DOUBLE, MOST_NODES * MOST_CLASSES, 0);
    spot_op_told(r, "thresholds", p->threshold, SPOT_OP_DOUBLE, MOST_NODES, 0);
    free(x);
}

/* Outside the spans an order has whatever the device left there; of drawn columns the CPU keeps the order of the first. */
static spot_status keep_order(spot_op_run *r, const tree_problem *p, int nodes)
{
    size_t rows = (size_t)p->op.rows, n = (size_t)p->op.n, d = (size_t)p->op.d, half = (size_t)p->op.level;
    uint32_t *order = malloc(2 * rows * d * sizeof *order), *kept = calloc(rows * d, sizeof *kept);

    SPOT_TRY(spot_op_fetch(r, order, p->op.order, 2 * n * d * sizeof *order));
    for (size_t j = 0; j < (p->op.tries < p->op.d ? 1 : d); j++)
        for (int k = 0; k < nodes; k++)
            memcpy(kept + j * n + p->span[k].begin, order + (2 * j + half) * n + p->span[k].begin,
                   (size_t)(p->span[k].end - p->span[k].begin) * sizeof *order);
    SPOT_TRY(spot_device_copy(r->c, p->kept + half * rows * d, kept, rows * d * sizeof *kept));
    free(order), free(kept);
    return SPOT_OK;
}

static void add_node(tree_problem *p, spot_tree_span span, const double *sum, double *next)
{
    int held = 0;

    for (int k = 0; k < p->op.classes; k++) held += sum[k] > 0;
    if (held < 2) return;
    memcpy(next + p->op.nodes * p->op.classes, sum, (size_t)p->op.classes * sizeof *sum);
    p->span[p->op.nodes++] = span;
}

/* Writes down the splits of a level and makes the spans of the next one: children with two classes. */
static spot_status next_level(spot_op_run *r, tree_problem *p)
{
    static double next[MOST_NODES * MOST_CLASSES], left[MOST_NODES * MOST_CLASSES];
    spot_tree_span old[MOST_NODES];
    spot_tree_split split[MOST_NODES];
    int nodes = p->op.nodes, classes = p->op.classes;

    SPOT_TRY(spot_op_fetch(r, split, p->op.split, (size_t)nodes * sizeof *split));
    SPOT_TRY(spot_op_fetch(r, left, p->op.left, (size_t)(nodes * classes) * sizeof *left));
    memcpy(old, p->span, sizeof old);
    p->op.level++;
    p->op.nodes = 0;
    for (int k = 0; k < nodes; k++, p->splits++) {
        const spot_tree_split *s = &split[k];
        double right[MOST_CLASSES];
        int middle = old[k].begin + s->rows;
        p->feature[p->splits] = s->feature;
        if (s->feature < 0) continue;
        p->rows[p->splits] = s->rows, p->threshold[p->splits] = s->threshold;
        for (int y = 0; y < classes; y++) {
            right[y] = p->sum[k * classes + y] - left[k * classes + y];
            p->left[p->splits * MOST_CLASSES + y] = left[k * classes + y];
        }
        add_node(p, (spot_tree_span){ old[k].begin, middle, 2 * p->splits + 1 }, left + k * classes, next);
        add_node(p, (spot_tree_span){ middle, old[k].end, 2 * p->splits + 2 }, right, next);
    }
    memcpy(p->sum, next, sizeof next);
    return p->op.level == 1 ? keep_order(r, p, p->op.nodes) : SPOT_OK;
}

static spot_status run_tree(spot_op_run *r, void *problems, int count)
{
    tree_problem *p = problems;
    spot_arena *a;

    SPOT_TRY(spot_op_scratch(r, &a, spot_tree_scratch(257, r->c->threads)));
    SPOT_OP(r, spot_tree_sort(r->c, a, count, SPOT_OP_ALL(r, p, op, count)));
    SPOT_OP(r, spot_tree_keep(r->c, count, SPOT_OP_ALL(r, p, op, count)));
    for (int q = 0; q < count && !r->misplaced; q++) SPOT_TRY(keep_order(r, &p[q], 1));
    for (int level = 0; level < DEPTH; level++) {
        for (int q = 0; q < count && !r->misplaced; q++) {
            size_t nodes = (size_t)p[q].op.nodes;
            SPOT_TRY(spot_device_copy(r->c, (void *)p[q].op.span, p[q].span, nodes * sizeof *p->span));
            SPOT_TRY(spot_device_copy(r->c, (void *)p[q].op.sum, p[q].sum, nodes * (size_t)p[q].op.classes * sizeof *p->sum));
        }
        SPOT_OP(r, spot_tree_search(r->c, count, SPOT_OP_ALL(r, p, op, count)));
        SPOT_OP(r, spot_tree_part(r->c, count, SPOT_OP_ALL(r, p, op, count)));
        for (int q = 0; q < count && !r->misplaced; q++) SPOT_TRY(next_level(r, &p[q]));
    }
    return SPOT_OK;
}

/* A span's rows have the weights by class that the splits promised, and the tree grew. */
static spot_status check_tree(spot_op_run *r, void *problem)
{
    const tree_problem *p = problem;
    size_t n = (size_t)p->op.n, d = (size_t)p->op.d, rows = (size_t)p->op.rows;
    uint32_t *order = malloc(2 * n * d * sizeof *order);
    double *weight = malloc(rows * sizeof *weight);
    int bits = 1;

    while (1 << bits < p->op.classes) bits++;
    SPOT_TRY(spot_op_fetch(r, order, p->op.order, 2 * n * d * sizeof *order));
    if (p->op.weight) SPOT_TRY(spot_op_fetch(r, weight, p->op.weight, rows * sizeof *weight));
    for (int k = 0; k < p->op.nodes; k++)
        for (size_t j = 0; j < (p->op.tries < p->op.d ? 1 : d); j++) {
            double sum[MOST_CLASSES] = { 0 };
            for (int i = p->span[k].begin; i < p->span[k].end; i++) {
                uint32_t row = order[(2 * j + (size_t)p->op.level % 2) * n + (size_t)i];
                sum[row & ((1u << bits) - 1)] += p->op.weight ? weight[row >> bits] : 1;
            }
            for (int y = 0; y < p->op.classes; y++) assert_true(sum[y] == p->sum[k * p->op.classes + y]);
        }
    assert_true(r->number != 4 || p->splits > 2 * DEPTH);
    for (int k = 0; r->number == 9 && k < p->splits; k++) assert_true(p->feature[k] == 7 || p->feature[k] == -1);
    assert_true(r->number != 9 || p->feature[0] == 7);
    free(order), free(weight);
    return SPOT_OK;
}

static const spot_op tree = { "tree", sizeof(tree_problem), make_tree, run_tree, check_tree, false };

/* -- whole trees, whose arrays lie on the host --------------------------------------------------------------------------- */

static spot_arena fit_trees(spot_ctx *c, spot_tree *out, const spot_mat *x, const uint8_t *const *y)
{
    spot_bytes all = { 0, 0 };
    spot_arena a;

    for (int q = 0; q < TREES; q++) {
        spot_bytes one = spot_tree_needs(c, 1, &x[q].rows, x[q].cols, 9);
        all.host += one.host;
        all.device += one.device;
    }
    assert_true((all.device > 0) == (c->device != NULL));
    CHECK_OK(c, spot_arena_open(c, &a, all.host));
    CHECK_OK(c, spot_tree_fit(c, &a, TREES, out, x, y, 9));
    return a;
}

TEST_ON_CUDA(trees_agree)
{
    spot_ctx cpu = check_ctx(2), c;
    spot_tree want[TREES], got[TREES];
    const uint8_t *y[TREES];
    spot_mat x[TREES];
    spot_arena a, b;
    int nodes = 0;

    for (int q = 0; q < TREES; q++) {
        const int *size = table_sizes[q < TABLES ? q : q % 2 ? 1 : 0];
        y[q] = table_classes(q, size);
        x[q] = (spot_mat){ table_values(q, size, y[q]), size[0], size[1] };
    }
    a = fit_trees(&cpu, want, x, y);
    for (int s = 0; s < LEN(schedules); s = schedule_after(s, 2)) {
        open_cuda(&c, s);
        b = fit_trees(&c, got, x, y);
        for (int q = 0; q < TREES; q++) {
            assert_true(got[q].nodes == want[q].nodes && got[q].leaves == want[q].leaves);
            for (int k = 0; k < got[q].nodes; k++) {
                const spot_tree_node *u = &got[q].node[k], *v = &want[q].node[k];
                assert_true(u->feature == v->feature && u->left == v->left && u->right == v->right && u->rows == v->rows);
                assert_true(got[q].sum[2 * k + 1] == want[q].sum[2 * k + 1] && u->threshold == v->threshold);
            }
        }
        spot_arena_close(&b);
        spot_device_close(&c);
    }
    for (int q = 0; q < TREES; q++) nodes += want[q].nodes;
    assert_true(nodes > 5 * TREES);
    spot_arena_close(&a);
    for (int q = 0; q < TREES; q++) free((void *)y[q]), free(x[q].v);
}

int main(void)
{
    static op_row rows[] = {      /* problems: more than go into one launch; after the first round small ones */
        OP_ROW(information, table_sizes, .problems = 58, .again = 2, .step = 2),
        OP_ROW(tree, tree_sizes, .problems = TREES, .again = 2, .step = 2),
    };

    return run_ops(rows, LEN(rows));
}
