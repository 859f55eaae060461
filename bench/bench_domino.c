/* bench_domino.c - Domino from features to hypotheses, PCA to 128 dimensions and 25 slices, for one EC or many at once.
 * Peer: bench/peers/domino_pypi.py, on the same features. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "spotter/bdm.h"

enum { GROUPS = 24 };

typedef struct {
    int problems;
    spot_bdm_config cfg;
    spot_view *view;           /* (problems) */
    spot_points *points;
    spot_hypotheses *found;
    spot_seed *seed;
    spot_arena arena;          /* on a GPU the copies are timed, too */
} slices;

static void close_slices(spot_ctx *c, void *state)
{
    slices *s = state;

    (void)c;
    spot_arena_close(&s->arena);
    for (int p = 0; s->view && p < s->problems; p++) free(s->view[p].feature), free(s->view[p].confidence);
    free(s->view), free(s->points), free(s->found), free(s->seed);
    free(s);
}

/* Rectified features of 24 groups of different sizes, and confidences that depend on the group; the peer's script has the same
 * formulas. */
static void fill_view(spot_view *v, int problem)
{
    for (int row = 0; row < v->n; row++) {
        int i = row + problem * v->n, g = i * 7 % GROUPS % (GROUPS - i % 5);
        for (int j = 0; j < v->d; j++) {
            double fine = 3.46 * (fmod(43758.5453 * (2 + sin(12.9898 * i + 78.233 * j)), 1) - 0.5), slow = 0;
            for (int r = 0; r < 3; r++) slow += sin(0.37 * (g + 1) * (r + 1) + 0.11 * j * (r + 1)) / (r + 1);
            v->feature[(size_t)row * v->d + j] = (float)fmax(slow + 0.5 * fine + 0.4, 0);
            if (!j) v->confidence[row] = (float)(1 / (1 + exp(-(3 - 0.3 * g + fine))));
        }
    }
}

/* size: problems, rows of each, features, dimensions, slices. */
static spot_status open_slices(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    slices *s = *state = calloc(1, sizeof *s);
    size_t n = (size_t)size[0];
    int *rows = malloc(n * sizeof *rows);
    spot_status e = SPOT_OK;

    if (s) {
        s->problems = size[0];
        s->view = calloc(n, sizeof *s->view), s->points = calloc(n, sizeof *s->points);
        s->found = calloc(n, sizeof *s->found), s->seed = calloc(n, sizeof *s->seed);
    }
    if (!s || !rows || !s->view || !s->points || !s->found || !s->seed)
        e = spot_fail(c, SPOT_NOMEM, "no memory for the slices of a bench");
    for (int p = 0; p < size[0] && e == SPOT_OK; p++) {
        spot_view *v = &s->view[p];
        rows[p] = size[1];
        s->seed[p] = (spot_seed){ 1, (uint32_t)p };
        *v = (spot_view){ .n = size[1], .d = size[2], .feature = malloc((size_t)size[1] * size[2] * sizeof(float)),
                          .confidence = malloc((size_t)size[1] * sizeof(float)) };
        if (v->feature && v->confidence) fill_view(v, p);
        else e = spot_fail(c, SPOT_NOMEM, "no memory for %d rows of a bench", size[1]);
    }
    if (e == SPOT_OK) {
        s->cfg = spot_bdm_defaults(SPOT_DOMINO);
        s->cfg.embed.dim = size[3];
        s->cfg.domino.components = size[4];
        work->items = s->problems;
        e = spot_arena_open(c, &s->arena, spot_embed_needs(c, s->problems, rows, size[2], &s->cfg.embed).host
                                          + spot_bdm_needs(c, s->problems, rows, size[3], &s->cfg).host);
    }
    free(rows);
    return e;
}

static spot_status run_slices(spot_ctx *c, void *state)
{
    slices *s = state;

    s->arena.used = 0;
    SPOT_TRY(spot_embed_fit(c, &s->arena, s->problems, s->points, s->view, s->seed, &s->cfg.embed));
    return spot_bdm_find(c, &s->arena, s->problems, s->found, s->view, s->points, s->seed, &s->cfg);
}

/* Every row occurs once; errors and order agree with the list. */
static spot_status check_problem(spot_ctx *c, const spot_view *v, const spot_hypotheses *found)
{
    int rows = 0;
    double sum = 0;

    for (int k = 0; k < found->len; k++) {
        const spot_hypothesis *h = &found->h[k];
        double error = 0;
        for (int i = 0; i < h->len; i++) {
            error += spot_view_error(v, h->row[i]);
            sum += h->row[i];
        }
        rows += h->len;
        if (!(fabs(error / h->len - h->mean_error) <= 1e-9) || (k && !(h->score <= found->h[k - 1].score)))
            return spot_fail(c, SPOT_CHECK, "hypothesis %d: mean error %.10g and score %.10g; its rows' mean error is %.10g", k,
                             h->mean_error, h->score, error / h->len);
    }
    if (rows != v->n || sum != 0.5 * v->n * (v->n - 1.0))
        return spot_fail(c, SPOT_CHECK, "%d rows in hypotheses, of %d", rows, v->n);
    return SPOT_OK;
}

static spot_status check_slices(spot_ctx *c, void *state)
{
    slices *s = state;

    SPOT_TRY(run_slices(c, state));
    for (int p = 0; p < s->problems; p++) SPOT_TRY(check_problem(c, &s->view[p], &s->found[p]));
    return SPOT_OK;
}

static const spot_bench_kind kind = { open_slices, check_slices, run_slices, close_slices };

const spot_bench_row spot_bench_domino[] = {
    { "domino", "3,200 x 512, PCA 128, K = 25", "ECs", SPOT_ON_CPU, &kind, { 1, 3200, 512, 128, 25 }, { 1, 90, 12, 6, 5 } },
    { "domino", "8 ECs, 3,200 x 512, PCA 128, K = 25", "ECs", SPOT_ON_CPU, &kind, { 8, 3200, 512, 128, 25 },
      { 2, 70, 9, 20, 6 } },
    { "domino", "100 ECs, 3,200 x 512, PCA 128, K = 25", "ECs", SPOT_ON_CUDA, &kind, { 100, 3200, 512, 128, 25 },
      { 2, 70, 9, 6, 6 } },
    { .op = NULL },
};
