/* bench_spotlight.c - ten spotlights, each of 1,000 steps, one after another. Peer: bench/peers/spotlight_torch.py, on the
 * same rows. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "spotter/bdm.h"

enum { GROUPS = 16 };

typedef struct {
    int problems, rows;
    spot_bdm_config cfg;
    spot_view *view;           /* (problems), all of the same rows */
    spot_points *points;
    spot_seed *seed;
    spot_hypotheses *found;
    float *x, *confidence;     /* (rows, d), (rows) */
    spot_arena arena;
} lights;

static void close_lights(spot_ctx *c, void *state)
{
    lights *s = state;

    (void)c;
    spot_arena_close(&s->arena);
    free(s->view), free(s->points), free(s->seed), free(s->found), free(s->x), free(s->confidence);
    free(s);
}

/* 16 groups, like features after a ReLU, and confidences that fall from group to group; the peer's script has the same. */
static void fill_rows(lights *s, int d)
{
    for (int i = 0; i < s->rows; i++) {
        int g = i % GROUPS;
        for (int j = 0; j < d; j++) {
            double centre = fmod((g + 1) * (j + 1) * 0.6180339887, 1), noise = fmod((i + 1) * (j + 1) * 0.7548776662, 1);
            s->x[(size_t)i * d + j] = (float)(2 * centre + noise);
        }
        s->confidence[i] = (float)(1 / (1 + exp(3 - 0.5 * g - fmod((i + 1) * 0.5698402910, 1))));
    }
}

/* size: problems, rows of each, columns, steps, spotlights. */
static spot_status open_lights(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    lights *s = *state = calloc(1, sizeof *s);
    size_t many = (size_t)size[0], n = (size_t)size[1], d = (size_t)size[2];
    int *rows = malloc(many * sizeof *rows);
    spot_status e = SPOT_OK;

    if (s) {
        s->problems = size[0], s->rows = size[1];
        s->view = calloc(many, sizeof *s->view), s->points = calloc(many, sizeof *s->points);
        s->seed = calloc(many, sizeof *s->seed), s->found = calloc(many, sizeof *s->found);
        s->x = malloc(n * d * sizeof *s->x), s->confidence = malloc(n * sizeof *s->confidence);
    }
    if (!s || !rows || !s->view || !s->points || !s->seed || !s->found || !s->x || !s->confidence)
        e = spot_fail(c, SPOT_NOMEM, "no memory for the spotlights of a bench");
    if (e == SPOT_OK) {
        fill_rows(s, size[2]);
        s->cfg = spot_bdm_defaults(SPOT_SPOTLIGHT);
        s->cfg.spotlight.steps = size[3];
        s->cfg.top = size[4];
        for (int p = 0; p < size[0]; p++) {
            rows[p] = size[1];
            s->view[p] = (spot_view){ .n = size[1], .d = size[2], .feature = s->x, .confidence = s->confidence };
            s->points[p] = (spot_points){ .n = size[1], .d = size[2], .at = s->x };
            s->seed[p] = (spot_seed){ 1, (uint32_t)p };
        }
        work->items = (double)size[0] * size[3] * size[4];
        work->bytes = work->items * (double)(n * d * sizeof *s->x);
        e = spot_arena_open(c, &s->arena, spot_bdm_needs(c, size[0], rows, size[2], &s->cfg).host);
    }
    free(rows);
    return e;
}

static spot_status run_lights(spot_ctx *c, void *state)
{
    lights *s = state;

    s->arena.used = 0;
    return spot_bdm_find(c, &s->arena, s->problems, s->found, s->view, s->points, s->seed, &s->cfg);
}

/* The first spotlight has exactly the worst group, and every problem finds the same. */
static spot_status check_lights(spot_ctx *c, void *state)
{
    lights *s = state;

    SPOT_TRY(run_lights(c, state));
    for (int p = 0; p < s->problems; p++) {
        const spot_hypothesis *h = &s->found[p].h[0];
        int others = 0;
        if (s->found[p].len < 1) return spot_fail(c, SPOT_CHECK, "problem %d: no spotlight", p);
        for (int i = 0; i < h->len; i++) others += h->row[i] % GROUPS != 0;
        if (others || !(h->score == s->found[0].h[0].score))
            return spot_fail(c, SPOT_CHECK, "problem %d: %d of the first spotlight's %d rows are not of the worst group; its "
                             "score is %.10g, the first problem's %.10g", p, others, h->len, h->score, s->found[0].h[0].score);
    }
    return SPOT_OK;
}

static const spot_bench_kind kind = { open_lights, check_lights, run_lights, close_lights };

const spot_bench_row spot_bench_spotlight[] = {
    { "spotlight", "10 of 1,000 steps, 3,200 x 512", "steps", SPOT_ON_CPU, &kind, { 1, 3200, 512, 1000, 10 },
      { 1, 320, 32, 500, 1 } },
    { "spotlight", "4 ECs, 10 of 1,000 steps, 1,000 x 256", "steps", SPOT_ON_CPU, &kind, { 4, 1000, 256, 1000, 10 },
      { 2, 320, 32, 500, 1 } },
    { "spotlight", "100 ECs, 10 of 1,000 steps, 3,200 x 512", "steps", SPOT_ON_CUDA, &kind, { 100, 3200, 512, 1000, 10 },
      { 2, 320, 32, 500, 1 } },
    { .op = NULL },
};
