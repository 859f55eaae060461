/* local.c - a share of the budget uniform, then normal steps around the best points so far, around each as often. */
#include <stdlib.h>
#include <string.h>

#include "examine/examiners.h"
#include "spotter/rng.h"

typedef struct {
    spot_arena a;
    spot_examiner_search search;
    spot_local_config cfg;
    int told, held;                    /* held: best points, the same number for each problem */
    double *at;                        /* (problems, best, dims): the greatest loss first */
    double *loss;                      /* (problems, best) */
} local_state;

static spot_status take(spot_ctx *c, spot_arena *a, local_state *s)
{
    size_t points = (size_t)s->search.problems * (size_t)s->cfg.best;

    SPOT_TRY(SPOT_TAKE(c, a, s->loss, points));
    return SPOT_TAKE(c, a, s->at, points * (size_t)s->search.space->dims);
}

static size_t bytes(const spot_examiner_config *cfg, const spot_examiner_search *s)
{
    local_state counted = { .a = spot_arena_counting(), .search = *s, .cfg = cfg->local };
    spot_ctx quiet = { 0 };

    take(&quiet, &counted.a, &counted);
    return sizeof(local_state) + counted.a.peak;
}

static void close(void *p)
{
    local_state *s = p;

    spot_arena_close(&s->a);
    free(s);
}

static spot_status open(spot_ctx *c, void **out, const spot_examiner_config *cfg, const spot_examiner_search *search)
{
    local_state *s = calloc(1, sizeof *s);
    spot_status status;

    if (!s) return spot_fail(c, SPOT_NOMEM, "no memory for an examiner");
    s->search = *search;
    s->cfg = cfg->local;
    status = spot_arena_open(c, &s->a, bytes(cfg, search));
    if (status == SPOT_OK) status = take(c, &s->a, s);
    if (status != SPOT_OK) close(s);
    else *out = s;
    return status;
}

static int wants(const void *p) { return ((const local_state *)p)->cfg.batch; }

static void step_from_best(double *x, const local_state *s, int i, int index)
{
    const int dims = s->search.space->dims;
    spot_rng r = spot_rng_at(s->search.seed, SPOT_RNG_EXAMINER, s->search.number[i], (uint32_t)index);
    const double *from = s->at + ((size_t)i * (size_t)s->cfg.best + (size_t)(index % s->held)) * (size_t)dims;

    for (int d = 0; d < dims; d++)
        x[d] = spot_examiner_fold(from[d] + s->cfg.sigma * spot_rng_normal(&r), s->search.space->turns[d]);
}

static spot_status ask(spot_ctx *c, void *p, double *at, int n)
{
    const local_state *s = p;
    (void)c;

    for (int i = 0; i < s->search.problems; i++)
        for (int k = s->told; k < s->told + n; k++, at += s->search.space->dims)
            if (!s->held || k < s->cfg.uniform * s->search.budget) spot_examiner_uniform(at, &s->search, i, k);
            else step_from_best(at, s, i, k);
    return SPOT_OK;
}

/* The first of points with equal losses counts as better. */
static int insert(double *best_at, double *best, int held, int most, const double *at, double loss, size_t dims)
{
    int j = held < most ? held : most - 1;

    if (held == most && !(loss > best[j])) return held;
    for (; j > 0 && loss > best[j - 1]; j--) {
        best[j] = best[j - 1];
        memcpy(best_at + (size_t)j * dims, best_at + (size_t)(j - 1) * dims, dims * sizeof *at);
    }
    best[j] = loss;
    memcpy(best_at + (size_t)j * dims, at, dims * sizeof *at);
    return held < most ? held + 1 : held;
}

static spot_status tell(spot_ctx *c, void *p, const double *at, const double *loss, int n)
{
    local_state *s = p;
    const size_t dims = (size_t)s->search.space->dims, best = (size_t)s->cfg.best;
    int held = s->held;
    (void)c;

    for (size_t i = 0; i < (size_t)s->search.problems; i++) {
        held = s->held;
        for (int k = 0; k < n; k++, at += dims, loss++)
            held = insert(s->at + i * best * dims, s->loss + i * best, held, s->cfg.best, at, *loss, dims);
    }
    s->held = held;
    s->told += n;
    return SPOT_OK;
}

#define S SPOT_EXAMINER_ROW
static const spot_setting settings[] = {
    S("batch",   INT,  local.batch,   "number of renders in a batch", SPOT_IN(1, SPOT_EXAMINER_MOST), SPOT_DEF(32)),
    S("uniform", REAL, local.uniform, "share of the renders that are uniform", SPOT_IN(0, 1), SPOT_DEF(0.5)),
    S("best",    INT,  local.best,    "best points from which steps begin", SPOT_IN(1, 10000), SPOT_DEF(5)),
    S("sigma",   REAL, local.sigma,   "standard deviation of a step, in shares of each range", SPOT_IN(0, 1), SPOT_DEF(0.05)),
    SPOT_END
};

const spot_examiner_kind spot_examiner_local = { .title = "random, then local search", .settings = settings, .bytes = bytes,
                                                 .open = open, .close = close, .wants = wants, .ask = ask, .tell = tell };
