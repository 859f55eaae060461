/* confusion_cells.c - `confusion`: the cells of the confusion matrix, label by label, and within a label prediction by
 * prediction: the baseline of dcbench (Eyuboglu et al. 2022), in its order. A row is predicted positive where its confidence is
 * above 1/2; dcbench's slices are soft: the probability of the cell's prediction. Cells without rows are left out. The score is
 * the number of cells of the matrix that follow.
 *
 * In a sweep all rows are positive: the first hypothesis has all errors, the second all rows that are right. A new row belongs
 * to its cell; assigning a fitted row gives its cell again. */
#include "bdm/fit.h"
#include "bdm/methods.h"
#include "bdm/slices.h"

enum { CELLS = 4 };

static int cell_of(const spot_view *v, int i)
{
    return 2 * spot_view_positive(v, i) + (v->confidence[i] > 0.5f);
}

static spot_status solve_problem(spot_ctx *c, int *label, const spot_bdm_group *g, int p)
{
    const spot_view *v = &g->views[p];
    spot_labels l = { .n = v->n, .slices = CELLS, .label = label };
    spot_rank ranks[CELLS];
    int *cell, len;

    for (int i = 0; i < v->n; i++) label[i] = cell_of(v, i);
    len = spot_slices_rank(ranks, &l, v);
    for (int k = 0; k < len; k++) ranks[k].score = CELLS - 1 - ranks[k].which;
    spot_slices_collect(&g->out[p], g->row[p], ranks, len, &l, g->cfg->top);
    if (!g->fits) return SPOT_OK;
    SPOT_TRY(spot_fit_put(c, &g->fits[p], "cell", SPOT_I32, NULL, g->out[p].len, 0, &cell));
    for (int k = 0; k < g->out[p].len; k++) cell[k] = ranks[k].which;
    return SPOT_OK;
}

static spot_status solve_group(spot_ctx *c, spot_arena *host, spot_arena *work, const spot_bdm_group *g)
{
    for (int p = 0; p < g->problems; p++) {
        const size_t mark = host->used;
        int *label;
        SPOT_TRY(SPOT_TAKE(c, host, label, g->points[p].n));
        if (!work->counting) SPOT_TRY(solve_problem(c, label, g, p));
        host->used = mark;
    }
    return SPOT_OK;
}

static spot_status assign(spot_ctx *c, spot_arena *a, const spot_assignment *to)
{
    const int *cell;

    SPOT_TRY(spot_fit_wants_confidence(c, to->rows, "confusion"));
    SPOT_TRY(spot_fit_indices(c, to->fit, "cell", to->hypotheses, 0, CELLS - 1, &cell));
    for (int i = 0; !a->counting && i < to->rows->n; i++)
        for (int k = 0; k < to->hypotheses; k++) to->member[(size_t)i * to->hypotheses + k] = cell[k] == cell_of(to->rows, i);
    return SPOT_OK;
}

const spot_method spot_method_confusion = { .own_rows = true, .solve = solve_group, .assign = assign };
