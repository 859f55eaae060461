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
    int positive = !v->label || v->label[i];

    return 2 * positive + (v->confidence[i] > 0.5f);
}

static spot_status find(spot_ctx *c, spot_arena *a, int problems, spot_hypotheses *out, spot_fit *fits, const spot_view *views,
                        const spot_points *points, const spot_seed *seeds, const spot_bdm_config *cfg)
{
    (void)points, (void)seeds;
    for (int p = 0; p < problems; p++) {
        spot_rank ranks[CELLS];
        int *label, *rows, *cell, len;
        size_t mark;
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(SPOT_TAKE(c, a, rows, views[p].n));
        mark = a->used;
        SPOT_TRY(SPOT_TAKE(c, a, label, views[p].n));
        for (int i = 0; i < views[p].n; i++) label[i] = cell_of(&views[p], i);
        spot_labels l = { .n = views[p].n, .slices = CELLS, .label = label };
        len = spot_slices_rank(ranks, &l, &views[p]);
        for (int k = 0; k < len; k++) ranks[k].score = CELLS - 1 - ranks[k].which;
        spot_slices_collect(&out[p], rows, ranks, len, &l, cfg->top);
        a->used = mark;
        if (!fits) continue;
        SPOT_TRY(spot_fit_put(c, &fits[p], "cell", SPOT_I32, NULL, out[p].len, 0, (void **)&cell));
        for (int k = 0; k < out[p].len; k++) cell[k] = ranks[k].which;
    }
    return SPOT_OK;
}

static spot_status assign(spot_ctx *c, spot_arena *a, uint8_t *member, int hypotheses, const spot_view *rows,
                          const spot_points *points, const spot_fit *fit, const spot_bdm_config *cfg)
{
    const int *cell;

    (void)points, (void)cfg;
    SPOT_TRY(spot_fit_wants_confidence(c, rows, "confusion"));
    SPOT_TRY(spot_fit_indices(c, fit, "cell", hypotheses, 0, CELLS - 1, &cell));
    for (int i = 0; !a->counting && i < rows->n; i++)
        for (int k = 0; k < hypotheses; k++) member[(size_t)i * hypotheses + k] = cell[k] == cell_of(rows, i);
    return SPOT_OK;
}

static spot_bytes needs(const spot_ctx *c, int problems, const int *n, int d, const spot_bdm_config *cfg)
{
    spot_arena a = spot_arena_counting();
    spot_ctx quiet = { 0 };
    int *rows, *label;

    (void)c, (void)d, (void)cfg;
    for (int p = 0; p < problems; p++) {
        size_t mark;
        SPOT_TAKE(&quiet, &a, rows, n[p]);
        mark = a.used;
        SPOT_TAKE(&quiet, &a, label, n[p]);
        a.used = mark;
    }
    return (spot_bytes){ a.peak + SPOT_SLICES_SLACK, 0 };
}

const spot_method spot_method_confusion = { .find = find, .needs = needs, .assign = assign };
