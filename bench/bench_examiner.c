/* bench_examiner.c - examiners: the time of the search alone, beside the renders and looks that it asks for. The landscape is a
 * bowl, which takes no time. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "spotter/examiner.h"

enum { MOST = 64 };

typedef struct {
    int method, objects, budget;
    double best;                       /* the greatest loss that was found, of the worst object */
    double *at, *loss;                 /* (objects, budget, dims), (objects, budget) */
    uint32_t number[MOST];
} examiner_state;

/* 0 at the middle of the cube; -dims / 12 is the mean. */
static double bowl(const double *x, int dims)
{
    double sum = 0;

    for (int d = 0; d < dims; d++) sum -= (x[d] - .5) * (x[d] - .5);
    return sum;
}

static spot_status search(spot_ctx *c, examiner_state *s, spot_examiner *e, int dims, double *best)
{
    for (int n; (n = spot_examiner_wants(e));) {
        SPOT_TRY(spot_examiner_ask(c, e, s->at));
        for (int i = 0; i < s->objects * n; i++) {
            s->loss[i] = bowl(s->at + (size_t)i * (size_t)dims, dims);
            best[i / n] = fmax(best[i / n], s->loss[i]);
        }
        SPOT_TRY(spot_examiner_tell(c, e, s->loss));
    }
    return SPOT_OK;
}

static spot_status run(spot_ctx *c, void *p)
{
    examiner_state *s = p;
    const spot_examiner_config cfg = spot_examiner_defaults(s->method);
    const spot_factor_space space = spot_factor_space_paper();
    const spot_examiner_search of = { &space, s->objects, s->budget, 1, s->number };
    double best[MOST];
    spot_examiner *e;
    spot_status status;

    for (int i = 0; i < s->objects; i++) best[i] = -INFINITY;
    SPOT_TRY(spot_examiner_open(c, &e, &cfg, &of));
    status = search(c, s, e, space.dims, best);
    spot_examiner_close(e);
    s->best = 0;
    for (int i = 0; i < s->objects; i++) s->best = fmin(s->best, best[i]);
    return status;
}

/* size: method, objects, renders of an object */
static spot_status open(spot_ctx *c, void **out, const int *size, spot_bench_work *work)
{
    examiner_state *s = *out = calloc(1, sizeof *s);

    if (!s) return spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    s->method = size[0], s->objects = size[1], s->budget = size[2];
    s->loss = malloc((size_t)s->objects * (size_t)s->budget * sizeof *s->loss);
    s->at = malloc((size_t)s->objects * (size_t)s->budget * SPOT_FACTORS * sizeof *s->at);
    if (!s->loss || !s->at) return spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    for (int i = 0; i < s->objects; i++) s->number[i] = (uint32_t)i;
    work->items = (double)s->objects * s->budget;
    return SPOT_OK;
}

/* The least that any search does: half of the mean distance. */
static spot_status check(spot_ctx *c, void *p)
{
    examiner_state *s = p;

    SPOT_TRY(run(c, p));
    if (!(s->best > -9.0 / 24))
        return spot_fail(c, SPOT_CHECK, "%s found %g at best; uniform points have %g in the mean",
                         spot_examiner_name(s->method), s->best, -9.0 / 12);
    return SPOT_OK;
}

static void close(spot_ctx *c, void *p)
{
    examiner_state *s = p;
    (void)c;

    if (!s) return;
    free(s->at), free(s->loss), free(s);
}

static const spot_bench_kind kind = { open, check, run, close };

#define ROW(name, METHOD, objects, budget, small) \
    { "examiner", name, "renders", SPOT_ON_CPU, &kind, { SPOT_EXAMINER_##METHOD, objects, budget }, \
      { SPOT_EXAMINER_##METHOD, 2, small } }

const spot_bench_row spot_bench_examiner[] = {
    ROW("random, 10 objects, 1,000 renders", RANDOM, 10, 1000, 100),
    ROW("local, 10 objects, 1,000 renders", LOCAL, 10, 1000, 100),
    ROW("cem, 10 objects, 1,000 renders", CEM, 10, 1000, 100),
    ROW("cma, 10 objects, 1,000 renders", CMA, 10, 1000, 100),
    { .op = NULL },
};
