/* op_views.c - problems of whole methods: memory on the host, calls of the reducer and of the method. */
#include "op_views.h"

#include <math.h>
#include <string.h>

void spot_op_make_views(spot_op_run *r, spot_op_views *p, const spot_bdm_config *cfg, int n)
{
    size_t rows = (size_t)n;

    p->cfg = *cfg;
    p->seed = (spot_seed){ 1, (uint32_t)r->number };
    p->view = (spot_view){ .n = n, .confidence = spot_op_host(r, rows * sizeof(float)) };
    p->points = (spot_points){ .n = n, .objective = NAN };
    p->list = spot_op_host(r, rows * sizeof *p->list);
    spot_op_told(r, "hypotheses", &p->found.len, SPOT_OP_INT, 1, 0);
    spot_op_told(r, "rows of hypotheses", p->list, SPOT_OP_INT, rows, 0);
    spot_op_told(r, "scores", p->score, SPOT_OP_DOUBLE, SPOT_MAX_HYPOTHESES, 1e-8);
}

void spot_op_make_features(spot_op_run *r, spot_op_views *p, int features)
{
    p->view.d = p->points.d = features;
    p->view.feature = p->points.at = spot_op_host(r, (size_t)p->view.n * (size_t)features * sizeof(float));
}

static size_t needed(spot_ctx *c, const spot_op_views *p, int count, const int *rows)
{
    size_t bytes = spot_bdm_needs(c, count, rows, p->points.d, &p->cfg).host;

    return bytes + (p->reduced ? spot_embed_needs(c, count, rows, p->view.d, &p->cfg.embed).host : 0);
}

/* Room for the answers of all calls of a run: of one call, or of one for each problem. */
static spot_status open_answers(spot_op_run *r, const spot_op_views *p, int count, const int *rows)
{
    size_t bytes = count == r->problems ? needed(r->c, p, count, rows) : 0;

    for (int q = 0; count < r->problems && q < r->problems; q++) bytes += needed(r->c, p, 1, &p[q].view.n);
    return spot_op_answers(r, bytes);
}

static spot_status find(spot_op_run *r, spot_op_views *p, int count)
{
    const int *rows = SPOT_OP_ALL(r, p, view.n, count);
    const spot_view *view = SPOT_OP_ALL(r, p, view, count);
    const spot_seed *seed = SPOT_OP_ALL(r, p, seed, count);
    spot_points *points = (void *)SPOT_OP_ALL(r, p, points, count);
    spot_hypotheses *found = (void *)SPOT_OP_ALL(r, p, found, count);

    if (p == r->problem) SPOT_TRY(open_answers(r, p, count, rows));
    if (p->reduced) SPOT_OP(r, spot_embed_fit(r->c, &r->answers, count, points, view, seed, &p->cfg.embed));
    SPOT_OP(r, spot_bdm_find(r->c, &r->answers, count, found, view, points, seed, &p->cfg));
    for (int q = 0; q < count; q++) p[q].points = points[q], p[q].found = found[q];
    return SPOT_OK;
}

static void write_down(spot_op_views *p)
{
    memset(p->list, 0, (size_t)p->view.n * sizeof *p->list);
    memset(p->score, 0, sizeof p->score);
    for (int k = 0; k < p->found.len; k++) {
        const spot_hypothesis *h = &p->found.h[k];
        p->score[k] = h->score;
        for (int i = 0; i < h->len; i++) p->list[h->row[i]] = (int)(65u * (unsigned)p->list[h->row[i]] + (unsigned)k + 1);
    }
}

spot_status spot_op_run_views(spot_op_run *r, void *problems, int count)
{
    spot_op_views *p = problems;

    if (!count) return SPOT_OK;
    SPOT_TRY(find(r, p, count));
    for (int q = 0; q < count; q++) write_down(&p[q]);
    return SPOT_OK;
}

spot_status spot_op_find_views(spot_ctx *c, void *state)
{
    spot_op_run *r = state;

    (void)c;
    return find(r, r->problem, r->problems);
}
