/* bench_barlow.c - the whole of Barlow, for one EC or many at once: information of every feature, a tree over 128 of them, its
 * leaves. Peer: bench/peers/barlow_sklearn.py, on the same rows. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "spotter/bdm.h"

typedef struct {
    int problems;
    spot_bdm_config  cfg;
    spot_view       *view;      /* (problems) */
    spot_points     *points;
    spot_seed       *seed;
    spot_hypotheses *found;
    spot_arena       arena;     /* on the host; on a GPU the copies are timed, too */
} barlow;

static void close_barlow(spot_ctx *c, void *state)
{
    barlow *s = state;

    (void)c;
    spot_arena_close(&s->arena);
    for (int p = 0; s->view && p < s->problems; p++) free(s->view[p].feature), free(s->view[p].confidence);
    free(s->view), free(s->points), free(s->seed), free(s->found);
    free(s);
}

/* Number i of quadratic sequences, uniform and then normal; the peer's script has the same formulas. */
static double uniform(double i, double a, double b) { return fmod(i * a + fmod(i * i * b, 1), 1); }

static double normal(double i)
{
    double u = uniform(i + 1, 0.6180339887, 0.4142135624), v = uniform(i + 1, 0.7320508076, 0.2360679775);

    return sqrt(-2 * log(u + 1e-9)) * cos(6.283185307179586 * v);
}

/* Rectified features, a quarter of them 0; about one row in ten fails, by some features and by chance, so that a tree
 * continues to split. */
static void fill_view(const spot_view *v, int problem)
{
    for (int i = 0; i < v->n; i++) {
        double row = i + (double)problem * v->n, reason = 1.2 * normal(1e9 + row);
        float *x = v->feature + (size_t)i * v->d;
        for (int j = 0; j < v->d; j++) x[j] = (float)fmax(0, normal(row * v->d + j) + 0.7);
        for (int j = 0; j < 4; j++) reason += (j % 2 ? -1 : 1) * x[j * v->d / 4];
        v->confidence[i] = reason > 2.7 ? 0.2f : 0.9f;
    }
}

/* size: problems, rows, features, depth. */
static spot_status open_barlow(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    barlow *s = *state = calloc(1, sizeof *s);
    size_t count = (size_t)size[0], n = (size_t)size[1], d = (size_t)size[2];
    int *rows = malloc(count * sizeof *rows);
    spot_status e = SPOT_OK;

    if (s) {
        s->problems = size[0];
        s->view = calloc(count, sizeof *s->view), s->points = calloc(count, sizeof *s->points);
        s->seed = calloc(count, sizeof *s->seed), s->found = calloc(count, sizeof *s->found);
    }
    if (!s || !rows || !s->view || !s->points || !s->seed || !s->found)
        e = spot_fail(c, SPOT_NOMEM, "no memory for the views of a bench");
    for (int p = 0; p < size[0] && e == SPOT_OK; p++) {
        spot_view *v = &s->view[p];
        *v = (spot_view){ .n = size[1], .d = size[2], .feature = malloc(n * d * sizeof(float)),
                          .confidence = malloc(n * sizeof(float)) };
        if (!v->feature || !v->confidence) e = spot_fail(c, SPOT_NOMEM, "no memory for a view of a bench");
        else fill_view(v, p);
        s->points[p] = (spot_points){ .n = v->n, .d = v->d, .at = v->feature };
        s->seed[p] = (spot_seed){ 1, (uint32_t)p };
        rows[p] = v->n;
    }
    if (e == SPOT_OK) {
        s->cfg = spot_bdm_defaults(SPOT_BARLOW);
        s->cfg.barlow.depth = size[3];
        work->items = s->problems;
        e = spot_arena_open(c, &s->arena, spot_bdm_needs(c, s->problems, rows, size[2], &s->cfg).host);
    }
    free(rows);
    return e;
}

static spot_status run_barlow(spot_ctx *c, void *state)
{
    barlow *s = state;

    s->arena.used = 0;
    return spot_bdm_find(c, &s->arena, s->problems, s->found, s->view, s->points, s->seed, &s->cfg);
}

/* Each leaf's score follows from its rows; no row twice; best first; at least one leaf, better than chance. */
static spot_status check_problem(spot_ctx *c, const spot_view *v, const spot_hypotheses *found)
{
    int failures = 0, rows = 0, last = -1;
    double before = INFINITY;

    for (int i = 0; i < v->n; i++) failures += v->confidence[i] < 0.5f;
    for (int k = 0; k < found->len; k++) {
        const spot_hypothesis *h = &found->h[k];
        double t = 0;
        for (int i = 0; i < h->len; i++) t += v->confidence[h->row[i]] < 0.5f;
        rows += h->len;
        for (int i = 1; i < h->len; i++) if (h->row[i] <= h->row[i - 1]) last = h->row[i];
        SPOT_TRY(spot_bench_near(c, "score of leaf", (size_t)k, h->score, t / h->len * t / failures, 1e-12));
        if (!(h->score <= before)) last = k;
        before = h->score;
    }
    if (last >= 0 || !found->len || rows > v->n || !(found->h[0].score > (double)failures / v->n))
        return spot_fail(c, SPOT_CHECK, "barlow: %d leaves with %d rows, the best of score %g", found->len, rows,
                         found->len ? found->h[0].score : 0);
    return SPOT_OK;
}

static spot_status check_barlow(spot_ctx *c, void *state)
{
    barlow *s = state;

    SPOT_TRY(run_barlow(c, state));
    for (int p = 0; p < s->problems; p++) SPOT_TRY(check_problem(c, &s->view[p], &s->found[p]));
    return SPOT_OK;
}

static const spot_bench_kind kind = { open_barlow, check_barlow, run_barlow, close_barlow };

const spot_bench_row spot_bench_barlow[] = {
    { "barlow", "3,200 x 512, depth 11", "views", SPOT_ON_CPU, &kind, { 1, 3200, 512, 11 }, { 1, 200, 140, 4 } },
    { "barlow", "100 ECs of 3,200 x 512, depth 11", "views", SPOT_ON_CUDA, &kind, { 100, 3200, 512, 11 }, { 2, 60, 8, 3 } },
    { .op = NULL },
};
