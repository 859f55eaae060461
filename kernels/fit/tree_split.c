/* tree_split.c - splits on the CPU: threads own columns. */
#include "fit/tree_cut.h"

#include <math.h>
#include <omp.h>

#include "core/problems.h"
#include "core/sort.h"

/* The rows in the order of column f. key: 2 rows */
static void sort_column(const spot_tree_problem *p, int f, uint64_t *key)
{
    uint32_t *sorted = spot_tree_sorted(p, f), *place = sorted + p->rows;
    const float *x = p->x + (size_t)f * p->rows;
    const int bits = spot_tree_bits(p->classes);

    for (int i = 0; i < p->rows; i++) key[i] = spot_key_with(x[i], (uint32_t)i << bits | p->y[i]);
    key = spot_sort(key, key + p->rows, p->rows, 32);
    for (int i = 0; i < p->rows; i++) sorted[i] = (uint32_t)key[i];
    for (int i = 0; i < p->rows; i++) place[sorted[i] >> bits] = (uint32_t)i;
}

static spot_status sort_cpu(spot_ctx *c, spot_arena *scratch, int problems, const spot_tree_problem *p)
{
    size_t mark = scratch->used, each = 2 * (size_t)SPOT_MOST(problems, p, rows);
    uint64_t *key;

    SPOT_TRY(SPOT_TAKE(c, scratch, key, each * c->threads));
    for (int q = 0; q < problems; q++) {
#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
        for (int f = 0; f < p[q].d; f++) sort_column(&p[q], f, key + each * omp_get_thread_num());
    }
    scratch->used = mark;
    return SPOT_OK;
}

/* Is the order of column 0 the only one that the tree keeps? */
static int has_list(const spot_tree_problem *p) { return p->tries < p->d; }

static int columns_kept(const spot_tree_problem *p) { return has_list(p) ? 1 : p->d; }

static void keep_column(const spot_tree_problem *p, int f)
{
    const uint32_t *sorted = spot_tree_sorted(p, f);
    uint32_t *order = p->order + (size_t)f * 2 * p->n;
    const int bits = spot_tree_bits(p->classes);
    int m = 0;

    if (!p->weight) memcpy(order, sorted, (size_t)p->n * sizeof *order);
    for (int i = 0; p->weight && m < p->n; i++) {
        order[m] = sorted[i];
        m += p->weight[sorted[i] >> bits] > 0;
    }
}

/* Scratch of a thread: a node's rows in the order of a column; which places of that order are taken, 64 to a word; and which
 * of these words are not 0. The two sets are empty between calls. */
typedef struct { uint32_t *row; uint64_t *taken, *words; } sorter;

static size_t words_of(size_t bits) { return bits / 64 + 1; }

static size_t room_of(int rows)
{
    return ((size_t)rows + 15) / 16 * 16 + 2 * (words_of((size_t)rows) + words_of(words_of((size_t)rows)) + 16);
}

static sorter sorter_of(const spot_tree_problem *p, int thread)
{
    uint32_t *room = p->room + room_of(p->rows) * (size_t)thread;
    uint64_t *taken = (uint64_t *)(room + ((size_t)p->rows + 15) / 16 * 16);

    return (sorter){ room, taken, taken + words_of((size_t)p->rows) };
}

static void clear_sorter(const spot_tree_problem *p, sorter s)
{
    memset(s.taken, 0, (words_of((size_t)p->rows) + words_of(words_of((size_t)p->rows))) * sizeof *s.taken);
}

/* The rows of node k in the order of column f: each place is marked, and the marks are read in order. */
static const uint32_t *order_rows(const spot_tree_problem *p, int k, int f, sorter s)
{
    const uint32_t *list = spot_tree_order(p, 0), *sorted = spot_tree_sorted(p, f), *place = sorted + p->rows;
    const int bits = spot_tree_bits(p->classes);
    const size_t words = words_of(words_of((size_t)p->rows));
    uint32_t *row = s.row;

    for (int i = p->span[k].begin; i < p->span[k].end; i++) {
        uint32_t at = place[list[i] >> bits];
        s.taken[at / 64] |= 1ull << at % 64;
        s.words[at / 4096] |= 1ull << at / 64 % 64;
    }
    for (size_t v = 0; v < words; v++) {
        for (uint64_t some = s.words[v]; some; some &= some - 1) {
            size_t w = v * 64 + (size_t)__builtin_ctzll(some);
            for (uint64_t all = s.taken[w]; all; all &= all - 1) *row++ = sorted[w * 64 + (size_t)__builtin_ctzll(all)];
            s.taken[w] = 0;
        }
        s.words[v] = 0;
    }
    return s.row;
}

enum { LANES = 8, BLOCK = 32, SEEN = BLOCK + LANES };      /* cuts side by side; of a block; rows that a block looks at */

#define FOR_LANES(j, count) for (int j##0 = 0; j##0 < (count); j##0 += LANES) for (int j = j##0; j < j##0 + LANES; j++)

/* The rows about a block's cuts: cut j is between rows j + 1 and j + 2. */
typedef struct {
    uint32_t cls[SEEN];
    int32_t  gap[SEEN];        /* may a cut be before this row? */
    double   weight[SEEN];
} block;

/* Reads the rows from first - 2 on for `count` cuts, of which cut 0 is before row `first`. What lies outside the node is read
 * as its first or last row. */
static inline __attribute__((always_inline)) void read_block(block *b, const uint32_t *order, const float *x,
                                                             const double *weight, int first, int count, int rows, int bits)
{
    const int seen = (count + LANES - 1) / LANES * LANES + LANES, held = first + count < rows ? count + 3 : count + 2;
    uint32_t at[SEEN];
    float value[SEEN];

    at[0] = first > 1 ? order[first - 2] : order[0];
    memcpy(at + 1, order + first - 1, (size_t)(held - 1) * sizeof *at);
    for (int j = held; j < seen; j++) at[j] = at[held - 1];
    FOR_LANES(j, seen) {
        b->cls[j] = at[j] & ((1u << bits) - 1);
        value[j] = x[at[j] >> bits];
        b->weight[j] = weight ? weight[at[j] >> bits] : 1;
    }
    b->gap[0] = 0;
    for (int j = 1; j < seen; j++) b->gap[j] = spot_tree_gap(value[j - 1], value[j]);
    if (first == 1) b->gap[1] = 1;
    if (held == count + 2) b->gap[held] = 1;
}

/* The best cut of node k in column f, whose order of the node's rows this is. classes, criterion and whether there are weights
 * are constants where it is called. */
static inline __attribute__((always_inline)) spot_tree_cut search_span(const spot_tree_problem *p, int k, int f,
                                                                       const uint32_t *order, int classes,
                                                                       spot_tree_criterion criterion, const double *weight,
                                                                       const double *class_weight)
{
    const int bits = spot_tree_bits(classes), rows = p->span[k].end - p->span[k].begin;
    const float *x = p->x + (size_t)f * p->rows;
    spot_tree_cut best = { INFINITY, 0 };
    double all[SPOT_TREE_CLASSES], sum[SPOT_TREE_CLASSES] = { 0 };
    block b;

    for (int y = 0; y < classes; y++) all[y] = p->sum[(size_t)k * classes + y];
    for (int first = 1; first < rows; first += BLOCK) {
        const int count = rows - first < BLOCK ? rows - first : BLOCK;
        double left[SPOT_TREE_CLASSES][BLOCK], price[BLOCK];
        read_block(&b, order, x, weight, first, count, rows, bits);
        for (int y = 0; y < classes; y++)
            FOR_LANES(j, count) left[y][j] = b.cls[j + 1] == (uint32_t)y ? b.weight[j + 1] : 0;
        for (int j = 0; j < count; j++)
            for (int y = 0; y < classes; y++) left[y][j] = sum[y] += left[y][j];
        FOR_LANES(j, count) {
            double own[SPOT_TREE_CLASSES];
            int inside = b.gap[j + 1] & b.gap[j + 3] & (b.cls[j + 1] == b.cls[j + 2]);      /* between two rows of one class */
            for (int y = 0; y < classes; y++) own[y] = left[y][j];
            price[j] = spot_tree_price(criterion, classes, own, all, class_weight);
            price[j] = b.gap[j + 2] & !inside & (j < count) ? price[j] : INFINITY;
        }
        for (int j = 0; j < count; j++)
            if (price[j] < best.impurity) best = (spot_tree_cut){ price[j], first + j };
    }
    return best;
}

/* A copy of search_span for each common case; the last takes any. */
static spot_tree_cut search_any(const spot_tree_problem *p, int k, int f, sorter s)
{
    const uint32_t *order = has_list(p) ? order_rows(p, k, f, s) : spot_tree_order(p, f) + p->span[k].begin;
    const double *cw = p->class_weight;
    const int entropy = p->criterion == SPOT_TREE_ENTROPY;

    if (p->classes == 2 && entropy && !p->weight && cw) return search_span(p, k, f, order, 2, SPOT_TREE_ENTROPY, NULL, cw);
    if (p->classes == 2 && !entropy && p->weight && !cw) return search_span(p, k, f, order, 2, SPOT_TREE_GINI, p->weight, NULL);
    if (p->classes == 3 && !entropy && p->weight && !cw) return search_span(p, k, f, order, 3, SPOT_TREE_GINI, p->weight, NULL);
    return search_span(p, k, f, order, p->classes, p->criterion, p->weight, cw);
}

/* The split of node k by its cut in a column, and what lies on its left. */
static spot_tree_split cut_node(const spot_tree_problem *p, int k, int feature, int rows, sorter s)
{
    const int bits = spot_tree_bits(p->classes);
    const uint32_t *order = has_list(p) ? order_rows(p, k, feature, s) : spot_tree_order(p, feature) + p->span[k].begin;
    double *left = p->left + (size_t)k * p->classes;

    for (int i = 0; i < rows; i++) left[order[i] & ((1u << bits) - 1)] += p->weight ? p->weight[order[i] >> bits] : 1;
    return spot_tree_split_at(p, order, feature, rows);
}

/* Splits node k by its best cut; where none of its columns can be cut, by the first of the others that can. */
static void split_node(const spot_tree_problem *p, int k, sorter s)
{
    const int best = spot_tree_best(p, k);
    spot_tree_split *split = &p->split[k];

    *split = (spot_tree_split){ 0, -1, 0 };
    for (int j = 0; j < p->classes; j++) p->left[(size_t)k * p->classes + j] = 0;
    if (best >= 0) *split = cut_node(p, k, spot_tree_column(p, k, best), p->cut[(size_t)k * p->tries + best].rows, s);
    else if (p->tries < p->d) spot_tree_draw(p, k, p->d);
    for (int j = p->tries; split->feature < 0 && j < p->d; j++) {
        int feature = spot_tree_column(p, k, j);
        spot_tree_cut cut = search_any(p, k, feature, s);
        if (cut.rows) *split = cut_node(p, k, feature, cut.rows, s);
    }
}

static void search_column(const spot_tree_problem *p, int j, sorter s)
{
    for (int k = 0; k < p->nodes; k++) p->cut[(size_t)k * p->tries + j] = search_any(p, k, spot_tree_column(p, k, j), s);
}

static sorter open_sorter(const spot_tree_problem *p, int thread)
{
    sorter s = { 0 };

    if (has_list(p)) {
        s = sorter_of(p, thread);
        clear_sorter(p, s);
    }
    return s;
}

static void search_alone(const spot_tree_problem *p)
{
    sorter s = open_sorter(p, 0);

    for (int k = 0; p->tries < p->d && k < p->nodes; k++) spot_tree_draw(p, k, p->tries);
    for (int j = 0; j < p->tries; j++) search_column(p, j, s);
    for (int k = 0; k < p->nodes; k++) split_node(p, k, s);
}

static void search_together(const spot_tree_problem *p, int threads)
{
#pragma omp parallel num_threads(threads)
    {
        sorter s = open_sorter(p, omp_get_thread_num());
#pragma omp for schedule(static)
        for (int k = 0; k < p->nodes; k++)
            if (p->tries < p->d) spot_tree_draw(p, k, p->tries);
#pragma omp for schedule(dynamic)
        for (int j = 0; j < p->tries; j++) search_column(p, j, s);
#pragma omp for schedule(dynamic)
        for (int k = 0; k < p->nodes; k++) split_node(p, k, s);
    }
}

/* A region of one thread would cost more than a small tree's level: each of its barriers is a system call. */
static spot_status search_cpu(spot_ctx *c, int problems, const spot_tree_problem *p)
{
    for (int q = 0; q < problems; q++)
        if (c->threads == 1) search_alone(&p[q]);
        else search_together(&p[q], c->threads);
    return SPOT_OK;
}

static void part_span(const spot_tree_problem *p, int f, spot_tree_span s, const spot_tree_split *by, int bits)
{
    const uint32_t *order = spot_tree_order(p, f);
    const float *x = p->x + (size_t)by->feature * p->rows;
    uint32_t *next = spot_tree_next(p, f);
    int left = s.begin, right = s.begin + by->rows;

    for (int i = s.begin; i < s.end; i++) {
        int goes_left = x[order[i] >> bits] <= by->threshold;
        next[goes_left ? left : right] = order[i];
        left += goes_left;
        right += 1 - goes_left;
    }
}

static void part_column(const spot_tree_problem *p, int f)
{
    const int bits = spot_tree_bits(p->classes);

    for (int k = 0; k < p->nodes; k++)
        if (p->split[k].feature >= 0 && spot_tree_goes_on(p, k)) part_span(p, f, p->span[k], &p->split[k], bits);
}

/* Runs `on` for every kept column. */
static void for_columns(const spot_tree_problem *p, int threads, void (*on)(const spot_tree_problem *p, int f))
{
    const int columns = columns_kept(p);

    if (threads > 1 && columns > 1) {
#pragma omp parallel for num_threads(threads) schedule(dynamic)
        for (int f = 0; f < columns; f++) on(p, f);
    } else
        for (int f = 0; f < columns; f++) on(p, f);
}

static spot_status part_cpu(spot_ctx *c, int problems, const spot_tree_problem *p)
{
    for (int q = 0; q < problems; q++)
        if (p[q].nodes) for_columns(&p[q], c->threads, part_column);
    return SPOT_OK;
}

static spot_status keep_cpu(spot_ctx *c, int problems, const spot_tree_problem *p)
{
    for (int q = 0; q < problems; q++) for_columns(&p[q], c->threads, keep_column);
    return SPOT_OK;
}

const spot_tree_ops spot_tree_cpu = { .sort = sort_cpu, .keep = keep_cpu, .search = search_cpu, .part = part_cpu };

static spot_status check_table(spot_ctx *c, const char *op, int problems, const spot_tree_problem *p)
{
    for (int q = 0; q < problems; q++)
        if (p[q].rows < 1 || p[q].d < 1 || p[q].classes < 2 || p[q].classes > SPOT_TREE_CLASSES ||
            p[q].rows > INT32_MAX >> spot_tree_bits(p[q].classes))
            return spot_fail(c, SPOT_INVALID, "tree.%s, problem %d: (%d,%d) of %d classes", op, q, p[q].rows, p[q].d,
                             p[q].classes);
    return SPOT_OK;
}

static spot_status check_level(spot_ctx *c, const char *op, int problems, const spot_tree_problem *p)
{
    SPOT_TRY(check_table(c, op, problems, p));
    for (int q = 0; q < problems; q++)
        if (p[q].n < 1 || p[q].n > p[q].rows || p[q].nodes < 0 || p[q].tries < 1 || p[q].tries > p[q].d ||
            (!p[q].weight && p[q].n < p[q].rows))
            return spot_fail(c, SPOT_INVALID, "tree.%s, problem %d: %d nodes of %d of %d rows look at %d of %d columns", op, q,
                             p[q].nodes, p[q].n, p[q].rows, p[q].tries, p[q].d);
    return SPOT_OK;
}

spot_status spot_tree_sort(spot_ctx *c, spot_arena *scratch, int problems, const spot_tree_problem *p)
{
    SPOT_TRY(check_table(c, "sort", problems, p));
    SPOT_DISPATCH(c, tree, sort, scratch, problems, p);
}

spot_status spot_tree_keep(spot_ctx *c, int problems, const spot_tree_problem *p)
{
    SPOT_TRY(check_level(c, "keep", problems, p));
    SPOT_DISPATCH(c, tree, keep, problems, p);
}

spot_status spot_tree_search(spot_ctx *c, int problems, const spot_tree_problem *p)
{
    SPOT_TRY(check_level(c, "search", problems, p));
    SPOT_DISPATCH(c, tree, search, problems, p);
}

spot_status spot_tree_part(spot_ctx *c, int problems, const spot_tree_problem *p)
{
    SPOT_TRY(check_level(c, "part", problems, p));
    SPOT_DISPATCH(c, tree, part, problems, p);
}

size_t spot_tree_room(int rows, int threads) { return room_of(rows) * (size_t)threads; }

size_t spot_tree_scratch(int rows, int threads)
{
    return spot_arena_room(2 * (size_t)rows * sizeof(uint64_t) * (size_t)threads);
}
