/* tree_split.c - splits on the CPU: threads own columns. */
#include "fit/tree_cut.h"

#include <math.h>
#include <omp.h>

#include "core/problems.h"
#include "core/sort.h"

/* 2 row + y in the order of column f, into its half of level 0. key: 2 n */
static void sort_column(const spot_tree_problem *p, int f, uint64_t *key)
{
    uint32_t *order = p->order + (size_t)f * 2 * p->n;
    const float *x = p->x + (size_t)f * p->n;

    for (int i = 0; i < p->n; i++) key[i] = spot_key_with(x[i], (uint32_t)i * 2 + p->y[i]);
    key = spot_sort(key, key + p->n, p->n, 32);
    for (int i = 0; i < p->n; i++) order[i] = (uint32_t)key[i];
}

static spot_status sort_cpu(spot_ctx *c, spot_arena *scratch, int problems, const spot_tree_problem *p)
{
    size_t mark = scratch->used, each = 2 * (size_t)SPOT_MOST(problems, p, n);
    uint64_t *key;

    SPOT_TRY(SPOT_TAKE(c, scratch, key, each * c->threads));
    for (int q = 0; q < problems; q++) {
#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
        for (int f = 0; f < p[q].d; f++) sort_column(&p[q], f, key + each * omp_get_thread_num());
    }
    scratch->used = mark;
    return SPOT_OK;
}

/* The best cut of one node in one column: x of the column, its order within the node. */
static spot_tree_cut search_span(const float *x, const uint32_t *order, spot_tree_span s, double weight)
{
    const int rows = s.end - s.begin;
    spot_tree_cut best = { INFINITY, 0, 0 };
    float here = x[order[0] / 2], next = rows > 1 ? x[order[1] / 2] : here;
    int ones = 0, gap_before = 1, gap = rows > 1 && spot_tree_gap(here, next);

    for (int i = 1; i < rows; i++) {      /* the cut before row i; gap: whether it is one */
        int y_before = order[i - 1] & 1, y = order[i] & 1, gap_after = 1;
        here = next;
        if (i + 1 < rows) {
            next = x[order[i + 1] / 2];
            gap_after = spot_tree_gap(here, next);
        }
        ones += y_before;
        if (gap && !(gap_before && gap_after && y_before == y)) {
            double impurity = spot_tree_price(rows, s.ones, i, ones, weight);
            if (impurity < best.impurity) best = (spot_tree_cut){ impurity, i, ones };
        }
        gap_before = gap;
        gap = gap_after;
    }
    return best;
}

static spot_status search_cpu(spot_ctx *c, int problems, const spot_tree_problem *p)
{
    for (int q = 0; q < problems; q++) {
        const spot_tree_problem *one = &p[q];
#pragma omp parallel num_threads(c->threads)
        {
#pragma omp for schedule(dynamic)
            for (int f = 0; f < one->d; f++)
                for (int k = 0; k < one->nodes; k++)
                    one->cut[(size_t)f * one->nodes + k] =
                        search_span(one->x + (size_t)f * one->n, spot_tree_order(one, f) + one->span[k].begin, one->span[k],
                                    one->weight);
#pragma omp for schedule(static)
            for (int k = 0; k < one->nodes; k++) one->split[k] = spot_tree_best(one, k);
        }
    }
    return SPOT_OK;
}

static void part_span(const spot_tree_problem *p, int f, spot_tree_span s, const spot_tree_split *by)
{
    const uint32_t *order = spot_tree_order(p, f);
    const float *x = p->x + (size_t)by->feature * p->n;
    uint32_t *next = spot_tree_next(p, f);
    int left = s.begin, right = s.begin + by->rows;

    for (int i = s.begin; i < s.end; i++) {
        int goes_left = x[order[i] / 2] <= by->threshold;
        next[goes_left ? left : right] = order[i];
        left += goes_left;
        right += 1 - goes_left;
    }
}

static spot_status part_cpu(spot_ctx *c, int problems, const spot_tree_problem *p)
{
    for (int q = 0; q < problems; q++) {
        const spot_tree_problem *one = &p[q];
#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
        for (int f = 0; f < one->d; f++)
            for (int k = 0; k < one->nodes; k++)
                if (one->split[k].feature >= 0) part_span(one, f, one->span[k], &one->split[k]);
    }
    return SPOT_OK;
}

const spot_tree_ops spot_tree_cpu = { .sort = sort_cpu, .search = search_cpu, .part = part_cpu };

spot_status spot_tree_sort(spot_ctx *c, spot_arena *scratch, int problems, const spot_tree_problem *p)
{
    for (int q = 0; q < problems; q++)
        if (p[q].n < 1 || p[q].d < 1)
            return spot_fail(c, SPOT_INVALID, "tree.sort, problem %d: (%d,%d)", q, p[q].n, p[q].d);
    SPOT_DISPATCH(c, tree, sort, scratch, problems, p);
}

static spot_status check_level(spot_ctx *c, const char *op, int problems, const spot_tree_problem *p)
{
    for (int q = 0; q < problems; q++)
        if (p[q].n < 1 || p[q].d < 1 || p[q].nodes < 0 || !(p[q].weight > 0 && p[q].weight < INFINITY))
            return spot_fail(c, SPOT_INVALID, "tree.%s, problem %d: %d nodes of (%d,%d), a one weighs %g", op, q, p[q].nodes,
                             p[q].n, p[q].d, p[q].weight);
    return SPOT_OK;
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

size_t spot_tree_scratch(int n, int threads)
{
    return 2 * (size_t)n * sizeof(uint64_t) * (size_t)threads + 64;
}
