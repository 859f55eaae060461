/* confidence_chunks.c - `confidence`: the rows about which the classifier is wrong, greatest error first (of equal errors the
 * earlier row), cut into chunks of `rows`. What a user sees who sorts the errors and has no method. A chunk is a hypothesis;
 * its score is its mean error. The last chunk may have fewer rows.
 *
 * A new row about which the classifier is wrong belongs to the first chunk whose least error it reaches. Assigning fitted rows
 * gives their chunks again, except where equal errors lie in two chunks: then all of them come into the first. */
#include <math.h>

#include "bdm/fit.h"
#include "bdm/methods.h"
#include "bdm/slices.h"

typedef struct { spot_rank *order, *ranks; int *label; } space;

static spot_status take_space(spot_ctx *c, spot_arena *a, space *s, int n, int top)
{
    SPOT_TRY(SPOT_TAKE(c, a, s->order, n));
    SPOT_TRY(SPOT_TAKE(c, a, s->ranks, top));
    return SPOT_TAKE(c, a, s->label, n);
}

/* Cuts the sorted errors into chunks; least (top): each chunk's least error. Returns the number of chunks. */
static int cut_errors(const space *s, double *least, const spot_view *v, const spot_bdm_config *cfg)
{
    int wrong = 0, chunks = 0;

    for (int i = 0; i < v->n; i++) {
        s->label[i] = -1;
        if (spot_is_wrong(v, i)) s->order[wrong++] = (spot_rank){ .which = i, .score = spot_view_error(v, i) };
    }
    spot_ranks_sort(s->order, wrong);
    for (int i = 0; i < wrong && i / cfg->plain.rows < cfg->top; i++) {
        chunks = 1 + i / cfg->plain.rows;
        s->label[s->order[i].which] = chunks - 1;
        least[chunks - 1] = s->order[i].score;
    }
    return chunks;
}

static spot_status solve_problem(spot_ctx *c, const space *s, const spot_bdm_group *g, int p)
{
    const spot_view *v = &g->views[p];
    double least[SPOT_MAX_HYPOTHESES];
    spot_labels l = { .n = v->n, .slices = cut_errors(s, least, v, g->cfg), .label = s->label };

    spot_slices_rank(s->ranks, &l, v);
    for (int k = 0; k < l.slices; k++) s->ranks[k].score = s->ranks[k].error;
    spot_slices_collect(&g->out[p], g->row[p], s->ranks, l.slices, &l, g->cfg->top);
    if (!l.slices)
        spot_log_of(c, SPOT_LOG_WARN, g->seeds[p].ec, "none of the %d images fails, so there are no errors to sort", v->n);
    return g->fits ? spot_fit_put(c, &g->fits[p], "least", SPOT_F64, least, g->out[p].len, 0, NULL) : SPOT_OK;
}

static spot_status solve_group(spot_ctx *c, spot_arena *host, spot_arena *work, const spot_bdm_group *g)
{
    for (int p = 0; p < g->problems; p++) {
        const size_t mark = host->used;
        space s;
        SPOT_TRY(take_space(c, host, &s, g->points[p].n, g->cfg->top));
        if (!work->counting) SPOT_TRY(solve_problem(c, &s, g, p));
        host->used = mark;
    }
    return SPOT_OK;
}

static spot_status assign(spot_ctx *c, spot_arena *a, const spot_assignment *to)
{
    const spot_fit_tensor *least;

    SPOT_TRY(spot_fit_wants_confidence(c, to->rows, "confidence"));
    SPOT_TRY(spot_fit_shares(c, to->fit, "least", to->hypotheses, 0, &least));
    if (a->counting) return SPOT_OK;
    for (int i = 0; i < to->rows->n; i++) {
        int k = 0;
        while (k < to->hypotheses && spot_view_error(to->rows, i) < ((const double *)least->data)[k]) k++;
        if (k < to->hypotheses && spot_is_wrong(to->rows, i)) to->member[(size_t)i * to->hypotheses + k] = 1;
    }
    return SPOT_OK;
}

static const spot_setting settings[] = {
    SPOT_BDM_ROW("rows", INT, plain.rows, "rows of a chunk", SPOT_IN(1, 1e9), SPOT_DEF(25)),
    SPOT_END
};

const spot_method spot_method_confidence = { .own_rows = true, .settings = settings, .solve = solve_group, .assign = assign };
