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

static spot_status find(spot_ctx *c, spot_arena *a, int problems, spot_hypotheses *out, spot_fit *fits, const spot_view *views,
                        const spot_points *points, const spot_seed *seeds, const spot_bdm_config *cfg)
{
    (void)points;
    for (int p = 0; p < problems; p++) {
        double least[SPOT_MAX_HYPOTHESES];
        size_t mark;
        space s;
        int *rows;
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(SPOT_TAKE(c, a, rows, views[p].n));
        mark = a->used;
        SPOT_TRY(take_space(c, a, &s, views[p].n, cfg->top));
        spot_labels l = { .n = views[p].n, .slices = cut_errors(&s, least, &views[p], cfg), .label = s.label };
        spot_slices_rank(s.ranks, &l, &views[p]);
        for (int k = 0; k < l.slices; k++) s.ranks[k].score = s.ranks[k].error;
        spot_slices_collect(&out[p], rows, s.ranks, l.slices, &l, cfg->top);
        if (fits) SPOT_TRY(spot_fit_put(c, &fits[p], "least", SPOT_F64, least, out[p].len, 0, NULL));
        if (!l.slices)
            spot_log_of(c, SPOT_LOG_WARN, seeds[p].ec, "none of the %d images fails, so there are no errors to sort",
                        views[p].n);
        a->used = mark;
    }
    return SPOT_OK;
}

static spot_status assign(spot_ctx *c, spot_arena *a, uint8_t *member, int hypotheses, const spot_view *rows,
                          const spot_points *points, const spot_fit *fit, const spot_bdm_config *cfg)
{
    const spot_fit_tensor *least;

    (void)points, (void)cfg;
    SPOT_TRY(spot_fit_wants_confidence(c, rows, "confidence"));
    SPOT_TRY(spot_fit_shares(c, fit, "least", hypotheses, 0, &least));
    if (a->counting) return SPOT_OK;
    for (int i = 0; i < rows->n; i++) {
        int k = 0;
        while (k < hypotheses && spot_view_error(rows, i) < ((const double *)least->data)[k]) k++;
        if (k < hypotheses && spot_is_wrong(rows, i)) member[(size_t)i * hypotheses + k] = 1;
    }
    return SPOT_OK;
}

static spot_bytes needs(const spot_ctx *c, int problems, const int *n, int d, const spot_bdm_config *cfg)
{
    spot_arena a = spot_arena_counting();
    spot_ctx quiet = { 0 };
    space s;
    int *rows;

    (void)c, (void)d;
    for (int p = 0; p < problems; p++) {
        size_t mark;
        SPOT_TAKE(&quiet, &a, rows, n[p]);
        mark = a.used;
        take_space(&quiet, &a, &s, n[p], cfg->top);
        a.used = mark;
    }
    return (spot_bytes){ a.peak + SPOT_SLICES_SLACK, 0 };
}

static const spot_setting settings[] = {
    SPOT_BDM_ROW("rows", INT, plain.rows, "rows of a chunk", SPOT_IN(1, 1e9), SPOT_DEF(25)),
    SPOT_END
};

const spot_method spot_method_confidence = { .settings = settings, .find = find, .needs = needs, .assign = assign };
