/* bench_spotlight.c - ten spotlights, each of 1,000 steps, one after another. Peer: bench/peers/spotlight_torch.py, on the
 * same rows. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "op_views.h"

enum { GROUPS = 16 };

/* 16 groups, like features after a ReLU, and confidences that fall from group to group; the peer's script has the same. */
static void fill_view(const spot_view *v)
{
    for (int i = 0; i < v->n; i++) {
        int g = i % GROUPS;
        for (int j = 0; j < v->d; j++) {
            double centre = fmod((g + 1) * (j + 1) * 0.6180339887, 1), noise = fmod((i + 1) * (j + 1) * 0.7548776662, 1);
            v->feature[(size_t)i * v->d + j] = (float)(2 * centre + noise);
        }
        v->confidence[i] = (float)(1 / (1 + exp(3 - 0.5 * g - fmod((i + 1) * 0.5698402910, 1))));
    }
}

static void make_lights(spot_op_run *r, void *problem, const int *size)
{
    spot_op_views *p = problem;
    const spot_op_views *first = r->problem;
    spot_bdm_config cfg = spot_bdm_defaults(SPOT_SPOTLIGHT);

    cfg.spotlight.steps = size[2];
    cfg.top = size[3];
    spot_op_make_views(r, p, &cfg, size[0]);
    if (r->number) {
        p->view = first->view, p->points = first->points;
        return;
    }
    spot_op_make_features(r, p, size[1]);
    if (r->status == SPOT_OK) fill_view(&p->view);
}

/* The first spotlight has exactly the worst group, and every problem finds the same. */
static spot_status check_lights(spot_op_run *r, void *problem)
{
    const spot_op_views *p = problem, *first = r->problem;
    const spot_hypothesis *h = &p->found.h[0];
    int others = 0;

    if (p->found.len < 1) return spot_fail(r->c, SPOT_CHECK, "problem %d: no spotlight", r->number);
    for (int i = 0; i < h->len; i++) others += h->row[i] % GROUPS != 0;
    if (!others && h->score == first->found.h[0].score) return SPOT_OK;
    return spot_fail(r->c, SPOT_CHECK, "problem %d: %d of the first spotlight's %d rows are not of the worst group; its score "
                     "is %.10g, the first problem's %.10g", r->number, others, h->len, h->score, first->found.h[0].score);
}

const spot_op spot_op_spotlight = { "spotlight", sizeof(spot_op_views), make_lights, spot_op_run_views, check_lights,
                                    false };

/* size: problems, rows of each, columns, steps, spotlights. */
static spot_status open_lights(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    work->items = (double)size[0] * size[3] * size[4];
    work->bytes = work->items * (double)size[1] * size[2] * sizeof(float);
    return spot_op_bench_open(c, state, &spot_op_spotlight, size[0],
                              (int[SPOT_OP_SIZES]){ size[1], size[2], size[3], size[4] });
}

static const spot_bench_kind kind = { open_lights, spot_op_bench_check_all, spot_op_find_views, spot_op_bench_close };

const spot_bench_row spot_bench_spotlight[] = {
    { "spotlight", "10 of 1,000 steps, 3,200 x 512", "steps", SPOT_ON_CPU, &kind, { 1, 3200, 512, 1000, 10 },
      { 1, 320, 32, 500, 1 } },
    { "spotlight", "4 ECs, 10 of 1,000 steps, 1,000 x 256", "steps", SPOT_ON_CPU, &kind, { 4, 1000, 256, 1000, 10 },
      { 2, 320, 32, 500, 1 } },
    { "spotlight", "100 ECs, 10 of 1,000 steps, 3,200 x 512", "steps", SPOT_ON_CUDA, &kind, { 100, 3200, 512, 1000, 10 },
      { 2, 320, 32, 500, 1 } },
    { .op = NULL },
};
