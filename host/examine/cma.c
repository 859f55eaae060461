/* cma.c - CMA-ES with restarts.
 *
 * The distribution has no bounds; a point that it draws is folded into the cube (a turn goes on round the circle, another range
 * is reflected), so the landscape that it sees is continuous and has no edge. A population is the first one times a power of
 * two and takes so many asks: each ask wants the first population's number, whichever restart a problem is in. */
#include <math.h>
#include <stdlib.h>

#include "examine/evolution.h"
#include "examine/examiners.h"

typedef struct {
    spot_evolution e;
    int filled, starts;                /* points of the generation that are told; searches begun */
    double *y, *loss;                  /* (most, dims), (most) */
} search;

typedef struct {
    spot_arena a;
    spot_examiner_search search;
    spot_cma_config cfg;
    int first, most, told;             /* least and greatest population */
    search *of;                        /* (problems) */
    int *order;                        /* (most): scratch */
    double *mean;                      /* (dims): scratch */
} cma_state;

static cma_state state_of(const spot_examiner_config *cfg, const spot_examiner_search *s)
{
    cma_state r = { .search = *s, .cfg = cfg->cma, .first = cfg->cma.population };

    if (!r.first) r.first = 4 + (int)floor(3 * log(s->space->dims));
    /* A generation of more than a tenth of the budget is too few of them. */
    for (r.most = r.first; cfg->cma.doubled && 2 * r.most <= s->budget / 10 && 2 * r.most <= SPOT_EXAMINER_MOST;) r.most *= 2;
    return r;
}

static spot_status take(spot_ctx *c, spot_arena *a, cma_state *s)
{
    const size_t most = (size_t)s->most, dims = (size_t)s->search.space->dims;

    SPOT_TRY(SPOT_TAKE(c, a, s->order, most));
    SPOT_TRY(SPOT_TAKE(c, a, s->mean, dims));
    SPOT_TRY(SPOT_TAKE(c, a, s->of, s->search.problems));
    for (int i = 0; i < s->search.problems; i++) {
        search none, *r = a->counting ? &none : &s->of[i];
        SPOT_TRY(spot_evolution_take(c, a, &r->e, (int)dims, s->most));
        SPOT_TRY(SPOT_TAKE(c, a, r->y, most * dims));
        SPOT_TRY(SPOT_TAKE(c, a, r->loss, most));
    }
    return SPOT_OK;
}

static size_t bytes(const spot_examiner_config *cfg, const spot_examiner_search *s)
{
    cma_state counted = state_of(cfg, s);
    spot_ctx quiet = { 0 };

    counted.a = spot_arena_counting();
    take(&quiet, &counted.a, &counted);
    return sizeof(cma_state) + counted.a.peak;
}

/* Search number `starts` begins at uniform point number `starts`. */
static void begin(cma_state *s, int i)
{
    search *r = &s->of[i];
    int population = s->first;

    for (int k = 0; k < r->starts && 2 * population <= s->most; k++) population *= 2;
    spot_examiner_uniform(s->mean, &s->search, i, r->starts++);
    spot_evolution_begin(&r->e, s->mean, s->cfg.sigma, population);
    r->filled = 0;
}

static void close(void *p)
{
    cma_state *s = p;

    spot_arena_close(&s->a);
    free(s);
}

static spot_status open(spot_ctx *c, void **out, const spot_examiner_config *cfg, const spot_examiner_search *of)
{
    cma_state *s;
    spot_status status;

    if (cfg->cma.population && cfg->cma.population < 4)
        return spot_fail(c, SPOT_USAGE, "{cma.population} cma.population is %d; it takes 0 or an integer from 4",
                         cfg->cma.population);
    s = malloc(sizeof *s);
    if (!s) return spot_fail(c, SPOT_NOMEM, "no memory for an examiner");
    *s = state_of(cfg, of);
    status = spot_arena_open(c, &s->a, bytes(cfg, of));
    if (status == SPOT_OK) status = take(c, &s->a, s);
    if (status != SPOT_OK) {
        close(s);
        return status;
    }
    for (int i = 0; i < of->problems; i++) {
        s->of[i].starts = 0;
        begin(s, i);
    }
    *out = s;
    return SPOT_OK;
}

static int wants(const void *p) { return ((const cma_state *)p)->first; }

static void draw_point(const cma_state *s, double *x, int i, int k)
{
    const search *r = &s->of[i];
    const int dims = s->search.space->dims;
    spot_rng rng = spot_rng_at(s->search.seed, SPOT_RNG_EXAMINER, s->search.number[i], (uint32_t)(s->told + k));
    double *y = r->y + (r->filled + k) * dims;

    spot_evolution_draw(&r->e, y, &rng);
    for (int d = 0; d < dims; d++) x[d] = spot_examiner_fold(r->e.mean[d] + r->e.sigma * y[d], s->search.space->turns[d]);
}

static spot_status ask(spot_ctx *c, void *p, double *at, int n)
{
    const cma_state *s = p;
    (void)c;

    for (int i = 0; i < s->search.problems; i++)
        for (int k = 0; k < n; k++, at += s->search.space->dims) draw_point(s, at, i, k);
    return SPOT_OK;
}

/* Also where steps have grown beyond the cube, which a flat landscape does. */
static bool is_over(const search *r, double tolerance)
{
    const double step = r->e.sigma * r->e.length[r->e.dims - 1];
    double least = r->loss[0], most = r->loss[0];

    for (int k = 1; k < r->e.rates.population; k++) {
        least = fmin(least, r->loss[k]);
        most = fmax(most, r->loss[k]);
    }
    return most - least <= tolerance || step <= tolerance || step > 10;
}

static spot_status tell(spot_ctx *c, void *p, const double *at, const double *loss, int n)
{
    cma_state *s = p;
    (void)c, (void)at;

    for (int i = 0; i < s->search.problems; i++) {
        search *r = &s->of[i];
        for (int k = 0; k < n; k++) r->loss[r->filled++] = *loss++;
        if (r->filled < r->e.rates.population) continue;
        r->filled = 0;
        if (!spot_evolution_learn(&r->e, r->y, r->loss, s->order) || is_over(r, s->cfg.tolerance)) begin(s, i);
    }
    s->told += n;
    return SPOT_OK;
}

#define S SPOT_EXAMINER_ROW
static const spot_setting settings[] = {
    S("population", INT,    cma.population, "renders of an object in a generation; 0: 4 + 3 log(factors)",
      SPOT_IN(0, SPOT_EXAMINER_MOST), SPOT_DEF(0)),
    S("sigma",      REAL,   cma.sigma,      "first standard deviation, in shares of each range", SPOT_IN(0.001, 1),
      SPOT_DEF(0.25)),
    S("doubled",    SWITCH, cma.doubled,    "a restart has twice the population, up to a tenth of the renders", SPOT_SWITCH,
      SPOT_DEF(1)),
    S("tolerance",  REAL,   cma.tolerance,
      "difference of the losses of a generation, or step, at or below which a search begins anew elsewhere", SPOT_IN(0, 1),
      SPOT_DEF(1e-4)),
    SPOT_END
};

const spot_examiner_kind spot_examiner_cma = { .title = "CMA-ES with restarts", .settings = settings, .bytes = bytes,
                                               .open = open, .close = close, .wants = wants, .ask = ask, .tell = tell };
